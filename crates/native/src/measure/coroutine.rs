//! tokio: the coroutines that are measured.
//!
//! An `io` wait is `tokio::time::sleep`, whose timer counts in milliseconds; a `block` wait is `std::thread::sleep` and
//! holds the worker, as the scenario's vocabulary says. Locks are `tokio::sync::Mutex`, which never hold a worker.
//! `Dispatchers.Default` and `Dispatchers.IO` become a multi-thread runtime with as many workers as they run coroutines
//! at once; `runBlocking` becomes a current-thread runtime. The submitter is the thread in `block_on`, outside the
//! workers (R-1).

use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use tokio::runtime::Builder;
use tokio::sync::{Mutex, MutexGuard, Notify, Semaphore};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::sleep;

use super::cpu;
use super::slots::Slots;
use super::workload::{Action, Which, Workload};

/// A lock and a semaphore of one number, of which a scenario uses one.
type Guard = (Mutex<()>, Semaphore);

/// Runs the workload to its end on so many workers, or on the caller's thread alone when there are none; [ns] from the
/// first submission until the submitter has seen the last task end.
pub(crate) fn run(workload: &Arc<Workload>, slots: &Arc<Slots>, workers: Option<u32>) -> anyhow::Result<u64> {
    let mut builder = match workers {
        Some(workers) => {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(workers as usize);
            builder
        }
        None => Builder::new_current_thread(),
    };
    let runtime = builder.enable_time().build().context("the tokio runtime could not be started")?;
    runtime.block_on(async {
        let guard = |permits: u32| (Mutex::new(()), Semaphore::new(permits as usize));
        // Never dropped: a reference that is counted is one more place at which all workers meet. The process ends with
        // the run.
        let tasks: &'static Tasks = Box::leak(Box::new(Tasks {
            workload: Arc::clone(workload),
            slots: Arc::clone(slots),
            shared: workload.permits().map(guard).collect(),
            all_ended: Notify::new(),
        }));
        let mut handles = Vec::with_capacity(workload.task_count() as usize);
        for (task, after) in workload.submissions() {
            let early = slots.until(after);
            if !early.is_zero() {
                sleep(early).await;
            }
            handles.push(spawn(tasks, task));
        }
        for handle in handles {
            // One that has failed has printed why, and the run has no end.
            let _ = handle.await;
        }
        // Tasks that others have started may still run.
        while !slots.all_ended() {
            tasks.all_ended.notified().await;
        }
        Ok(slots.since_first_submission())
    })
}

/// What every task needs.
struct Tasks {
    workload: Arc<Workload>,
    slots: Arc<Slots>,
    shared: Vec<Guard>,
    all_ended: Notify,
}

fn spawn(tasks: &'static Tasks, task: u32) -> JoinHandle<()> {
    tasks.slots.submitted(task);
    // What a task may need makes it larger, and making and touching larger tasks takes longer.
    if tasks.workload.is_plain(task) { tokio::spawn(plain(tasks, task)) } else { tokio::spawn(body(tasks, task)) }
}

/// A task that only computes, waits and yields.
async fn plain(tasks: &'static Tasks, task: u32) {
    tasks.slots.began(task);
    let mut step = 0;
    while let Some(action) = tasks.workload.action(task, step) {
        step += 1;
        if let Action::Spin(iterations) = action {
            cpu::spin(iterations);
            continue;
        }
        tasks.slots.mark_stop(task);
        match action {
            Action::Io(wait) => sleep(wait).await,
            Action::Block(wait) => thread::sleep(wait),
            _ => yield_now().await,
        }
        tasks.slots.mark_stop(task);
    }
    if tasks.slots.ended(task) {
        tasks.all_ended.notify_one();
    }
}

/// A task that may do anything.
async fn body(tasks: &'static Tasks, task: u32) {
    tasks.slots.began(task);
    perform(tasks, task).await;
    if tasks.slots.ended(task) {
        tasks.all_ended.notify_one();
    }
}

/// The body of a task.
async fn perform(tasks: &'static Tasks, task: u32) {
    let (workload, shared) = (&tasks.workload, &tasks.shared);
    let mut children = Vec::new();
    let own: Vec<Mutex<()>> = (0..workload.own_locks(task)).map(|_| Mutex::new(())).collect();
    let mut held: Vec<MutexGuard<'_, ()>> = Vec::new();
    for action in workload.actions(task) {
        tasks.slots.mark(task, action);
        match action {
            Action::Spin(iterations) => {
                cpu::spin(iterations);
            }
            Action::Io(wait) => sleep(wait).await,
            Action::Block(wait) => thread::sleep(wait),
            Action::Lock(Which::Shared(lock)) => held.push(shared[lock].0.lock().await),
            Action::Lock(Which::Own(lock)) => held.push(own[lock].lock().await),
            Action::Unlock => drop(held.pop()),
            Action::Acquire(number) => {
                // Nobody closes it.
                if let Ok(permit) = shared[number].1.acquire().await {
                    permit.forget();
                }
            }
            Action::Release(number) => shared[number].1.add_permits(1),
            Action::Yield => yield_now().await,
            Action::Spawn(child) => children.push(spawn(tasks, child)),
            Action::Join => {
                for child in children.drain(..) {
                    // One that has failed has printed why, and the run has no end.
                    let _ = child.await;
                }
            }
        }
        tasks.slots.mark(task, action);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use parkbench_engine::Scenario;

    use super::*;

    #[test]
    fn a_plain_task_is_as_small_as_one_written_by_hand() {
        let text = r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":1,"steps":[{"io":"1 ms"}]}],
            "runs":[{"model":"coroutines"}]}"#;
        let workload = Arc::new(Workload::new(&Scenario::from_json(text).unwrap(), 0, 1_000).unwrap());
        let slots = Arc::new(Slots::new(1));
        let tasks = Box::leak(Box::new(Tasks { workload, slots, shared: Vec::new(), all_ended: Notify::new() }));
        let by_hand = async { sleep(Duration::from_millis(1)).await };
        // More by a reference, two numbers and the state of two places to wait.
        let (own, least, any) = (size_of_val(&plain(tasks, 0)), size_of_val(&by_hand), size_of_val(&body(tasks, 0)));
        assert!(own <= least + 32 && own < any, "{own} {least} {any}");
    }
}
