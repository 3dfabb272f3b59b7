//! smol: an executor with as many threads as the run has workers, the timer of `async-io`, the locks of `async-lock`.
//!
//! Each worker is a thread in `smol::block_on`, as smol's own global executor starts them; while it has no task it may
//! be the one that waits for the timer. The submitter is a thread outside them. A `block` step on blocking threads is
//! `smol::unblock`, on up to 500 threads.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use smol::Executor;
use smol::future::{pending, yield_now};
use smol::lock::{Mutex, MutexGuard, Semaphore};

use super::{Asynchronous, Blocks, submit};
use crate::measure::slots::Slots;
use crate::measure::workload::Workload;

/// Runs the workload to its end on so many workers; [ns] from the first submission until the submitter has seen the last
/// task end.
///
/// The workers end with the process.
pub(crate) fn run(workload: &Arc<Workload>, slots: &Arc<Slots>, workers: u32, blocks: Blocks) -> anyhow::Result<u64> {
    // Never dropped, as the tasks themselves.
    let executor: &'static Executor<'static> = Box::leak(Box::new(Executor::new()));
    for worker in 0..workers {
        thread::Builder::new()
            .name(format!("smol-{worker}"))
            .spawn(|| smol::block_on(executor.run(pending::<()>())))
            .with_context(|| format!("worker {} of smol could not be started", worker + 1))?;
    }
    // Its own waits are few, and no part of what is measured.
    Ok(smol::block_on(submit(Smol(executor), workload, slots, blocks)))
}

/// An executor.
pub(super) struct Smol(&'static Executor<'static>);

impl Asynchronous for Smol {
    type Lock = Mutex<()>;
    type Held<'a> = MutexGuard<'a, ()>;
    type Permits = Semaphore;
    type Handle = smol::Task<()>;

    fn lock() -> Mutex<()> {
        Mutex::new(())
    }

    async fn hold(lock: &Mutex<()>) -> MutexGuard<'_, ()> {
        lock.lock().await
    }

    fn permits(count: usize) -> Semaphore {
        Semaphore::new(count)
    }

    async fn acquire(permits: &Semaphore) {
        permits.acquire().await.forget();
    }

    fn release(permits: &Semaphore) {
        permits.add_permits(1);
    }

    async fn sleep(wait: Duration) {
        smol::Timer::after(wait).await;
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        yield_now()
    }

    fn block_elsewhere(wait: Duration) -> impl Future<Output = ()> + Send {
        smol::unblock(move || thread::sleep(wait))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> smol::Task<()> {
        self.0.spawn(task)
    }

    fn join(handle: smol::Task<()>) -> impl Future<Output = ()> + Send {
        handle
    }

    fn forget(handle: smol::Task<()>) {
        // Dropped, it would be cancelled.
        handle.detach();
    }
}
