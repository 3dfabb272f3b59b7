//! tokio: the coroutines that are measured.
//!
//! An `io` wait is `tokio::time::sleep`, whose timer counts in milliseconds; a `block` wait is `std::thread::sleep` and
//! holds the worker, as the scenario's vocabulary says. Locks are `tokio::sync::Mutex`, which never hold a worker.
//! `Dispatchers.Default` and `Dispatchers.IO` become a multi-thread runtime with as many workers as they run coroutines
//! at once; `runBlocking` becomes a current-thread runtime. The submitter is the thread in `block_on`, outside the
//! workers.

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
        let tasks = Arc::new(Tasks {
            workload: Arc::clone(workload),
            slots: Arc::clone(slots),
            shared: workload.permits().map(guard).collect(),
            all_ended: Notify::new(),
        });
        for (task, after) in workload.submissions() {
            let early = slots.until(after);
            if !early.is_zero() {
                sleep(early).await;
            }
            spawn(&tasks, task);
        }
        tasks.all_ended.notified().await;
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

fn spawn(tasks: &Arc<Tasks>, task: u32) -> JoinHandle<()> {
    tasks.slots.submitted(task);
    tokio::spawn(body(Arc::clone(tasks), task))
}

async fn body(tasks: Arc<Tasks>, task: u32) {
    tasks.slots.began(task);
    perform(&tasks, task).await;
    if tasks.slots.ended(task) {
        tasks.all_ended.notify_one();
    }
}

/// The body of a task.
async fn perform(tasks: &Arc<Tasks>, task: u32) {
    let (workload, shared) = (&tasks.workload, &tasks.shared);
    let mut children = Vec::new();
    let own: Vec<Mutex<()>> = (0..workload.own_locks(task)).map(|_| Mutex::new(())).collect();
    let mut held: Vec<MutexGuard<'_, ()>> = Vec::new();
    for action in workload.actions(task) {
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
    }
}
