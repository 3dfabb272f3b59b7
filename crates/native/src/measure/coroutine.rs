//! The bodies of tasks as coroutines, the same for every asynchronous runtime, and how they are submitted.
//!
//! An `io` wait is the runtime's own sleep; tokio's timer counts in milliseconds. A `block` wait is `std::thread::sleep`
//! and holds the worker, or is made on one of the runtime's threads for blocking calls, as the run says. Locks are the
//! runtime's own, which never hold a worker. What is particular to a runtime is in the files of `coroutine`.

mod on_smol;
mod on_tokio;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use smol::future::or;
use tokio::sync::Notify;

use super::arrivals::Next;
use super::slots::Slots;
use super::workload::{Action, Needs, Which, Workload};

pub(super) use on_smol::run as run_smol;
pub(super) use on_tokio::run as run_tokio;

/// Where `block` steps are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Blocks {
    /// In the task, which holds its worker.
    #[default]
    OnWorker,
    /// On a thread of the runtime that is there for them, while the task waits without its worker.
    Elsewhere,
}

/// What tasks need of an asynchronous runtime.
trait Asynchronous: Send + Sync + 'static {
    /// A lock that holds no worker.
    type Lock: Send + Sync;
    /// A lock that is held until this is dropped.
    type Held<'a>: Send;
    /// A semaphore that holds no worker.
    type Permits: Send + Sync;
    /// A task that was started.
    type Handle: Send;

    fn lock() -> Self::Lock;
    fn hold(lock: &Self::Lock) -> impl Future<Output = Self::Held<'_>> + Send;
    fn permits(count: usize) -> Self::Permits;
    fn acquire(permits: &Self::Permits) -> impl Future<Output = ()> + Send;
    fn release(permits: &Self::Permits);
    fn sleep(wait: Duration) -> impl Future<Output = ()> + Send;
    fn yield_now() -> impl Future<Output = ()> + Send;
    /// Blocks another thread for so long.
    fn block_elsewhere(wait: Duration) -> impl Future<Output = ()> + Send;
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Self::Handle;
    fn join(handle: Self::Handle) -> impl Future<Output = ()> + Send;
    /// Lets the task go on, though nobody waits for it.
    fn forget(handle: Self::Handle) {
        drop(handle);
    }
}

/// Submits every task and waits for all of them; [ns] from the first submission until the submitter has seen the last
/// task end.
async fn submit<R: Asynchronous>(runtime: R, workload: &Arc<Workload>, slots: &Arc<Slots>, blocks: Blocks) -> u64 {
    // Never dropped: a reference that is counted is one more place at which all workers meet. The process ends with
    // the run.
    let tasks: &'static Tasks<R> = Box::leak(Box::new(Tasks {
        runtime,
        blocks,
        workload: Arc::clone(workload),
        slots: Arc::clone(slots),
        shared: workload.permits().map(|permits| (R::lock(), R::permits(permits as usize))).collect(),
        wakes: Notify::new(),
    }));
    let mut handles = Vec::with_capacity(workload.task_count() as usize);
    let mut agenda = slots.agenda(workload);
    loop {
        match agenda() {
            Next::Submit(task) => handles.push(spawn(tasks, task)),
            Next::Wait(early) => or(R::sleep(early), tasks.wakes.notified()).await,
            // One wait for all: to join one after the other would wake this thread for many of them, on a core that they
            // need.
            Next::Nothing if slots.all_ended() => break,
            Next::WaitForAnEnd | Next::Nothing => tasks.wakes.notified().await,
        }
    }
    for handle in handles {
        R::join(handle).await;
    }
    slots.since_first_submission()
}

/// What every task needs.
struct Tasks<R: Asynchronous> {
    runtime: R,
    blocks: Blocks,
    workload: Arc<Workload>,
    slots: Arc<Slots>,
    /// A lock and a semaphore of each number, of which a scenario uses one.
    shared: Vec<(R::Lock, R::Permits)>,
    /// The submitter is to look again.
    wakes: Notify,
}

fn spawn<R: Asynchronous>(tasks: &'static Tasks<R>, task: u32) -> R::Handle {
    tasks.slots.submitted(task);
    // What a task may need makes it larger, and making and touching larger tasks takes longer.
    match tasks.workload.needs(task) {
        Needs::Nothing => tasks.runtime.spawn(async move { compute(tasks, task) }),
        Needs::Waits if tasks.blocks == Blocks::OnWorker => tasks.runtime.spawn(plain(tasks, task)),
        _ => tasks.runtime.spawn(body(tasks, task)),
    }
}

/// A task that only computes.
fn compute<R: Asynchronous>(tasks: &'static Tasks<R>, task: u32) {
    tasks.slots.began(task);
    tasks.workload.actions(task).for_each(Action::compute);
    ended(tasks, task);
}

/// The body has ended; the last one wakes the submitter, and one after which another arrives.
fn ended<R: Asynchronous>(tasks: &Tasks<R>, task: u32) {
    if tasks.slots.ended(task) {
        tasks.wakes.notify_one();
    }
}

/// A task that only computes, waits and yields.
async fn plain<R: Asynchronous>(tasks: &'static Tasks<R>, task: u32) {
    tasks.slots.began(task);
    let mut step = 0;
    while let Some(action) = tasks.workload.action(task, step) {
        step += 1;
        if !action.stops() {
            action.compute();
            continue;
        }
        tasks.slots.mark_stop(task);
        match action {
            Action::Io(wait) => R::sleep(wait).await,
            Action::Block(wait) => thread::sleep(wait),
            _ => R::yield_now().await,
        }
        tasks.slots.mark_stop(task);
    }
    ended(tasks, task);
}

/// A task that may do anything.
async fn body<R: Asynchronous>(tasks: &'static Tasks<R>, task: u32) {
    tasks.slots.began(task);
    perform(tasks, task).await;
    ended(tasks, task);
}

/// The body of a task.
async fn perform<R: Asynchronous>(tasks: &'static Tasks<R>, task: u32) {
    let (workload, shared) = (&tasks.workload, &tasks.shared);
    let mut children = Vec::new();
    let own: Vec<R::Lock> = (0..workload.own_locks(task)).map(|_| R::lock()).collect();
    let mut held: Vec<R::Held<'_>> = Vec::new();
    for action in workload.actions(task) {
        tasks.slots.mark(task, action);
        match action {
            Action::Spin(_) | Action::Compute(_) => action.compute(),
            Action::Io(wait) => R::sleep(wait).await,
            Action::Block(wait) if tasks.blocks == Blocks::Elsewhere => R::block_elsewhere(wait).await,
            Action::Block(wait) => thread::sleep(wait),
            Action::Lock(Which::Shared(lock)) => held.push(R::hold(&shared[lock].0).await),
            Action::Lock(Which::Own(lock)) => held.push(R::hold(&own[lock]).await),
            Action::Unlock => drop(held.pop()),
            Action::Acquire(number) => R::acquire(&shared[number].1).await,
            Action::Release(number) => R::release(&shared[number].1),
            Action::Yield => R::yield_now().await,
            Action::Spawn(child) => children.push(spawn(tasks, child)),
            Action::Join => {
                for child in children.drain(..) {
                    R::join(child).await;
                }
            }
        }
        tasks.slots.mark(task, action);
    }
    children.into_iter().for_each(R::forget);
}

#[cfg(test)]
mod tests {
    use parkbench_engine::Scenario;

    use super::on_tokio::Tokio;
    use super::*;

    #[test]
    fn a_plain_task_is_as_small_as_one_written_by_hand() {
        let text = r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":1,"steps":[{"io":"1 ms"}]}],
            "runs":[{"model":"coroutines"}]}"#;
        let workload = Arc::new(Workload::new(&Scenario::from_json(text).unwrap(), 0).unwrap());
        let slots = Arc::new(Slots::new(1));
        let (runtime, blocks) = (Tokio, Blocks::OnWorker);
        let wakes = Notify::new();
        let tasks: &'static _ =
            Box::leak(Box::new(Tasks { runtime, blocks, workload, slots, shared: Vec::new(), wakes }));
        let by_hand = async { tokio::time::sleep(Duration::from_millis(1)).await };
        // More by a reference, two numbers and the state of two places to wait.
        let (own, least, any) = (size_of_val(&plain(tasks, 0)), size_of_val(&by_hand), size_of_val(&body(tasks, 0)));
        assert!(own <= least + 32 && own < any, "{own} {least} {any}");
        assert!(size_of_val(&async move { compute(tasks, 0) }) <= 24);
    }
}
