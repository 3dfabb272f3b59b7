//! tokio: its runtimes, sleeps, locks and blocking threads.
//!
//! `Dispatchers.Default` and `Dispatchers.IO` become a multi-thread runtime with as many workers as they run coroutines
//! at once; `runBlocking` becomes a current-thread runtime. The submitter is the thread in `block_on`, outside the
//! workers. A `block` step on blocking threads is `spawn_blocking`.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use tokio::runtime::Builder;
use tokio::sync::{Mutex, MutexGuard, Semaphore};
use tokio::task::JoinHandle;

use super::{Asynchronous, Blocks, submit};
use crate::measure::slots::Slots;
use crate::measure::workload::Workload;

/// Runs the workload to its end on so many workers, or on the caller's thread alone when there are none; [ns] from the
/// first submission until the submitter has seen the last task end.
pub(crate) fn run(
    workload: &Arc<Workload>,
    slots: &Arc<Slots>,
    workers: Option<u32>,
    blocks: Blocks,
) -> anyhow::Result<u64> {
    let mut builder = match workers {
        Some(workers) => {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(workers as usize);
            builder
        }
        None => Builder::new_current_thread(),
    };
    let runtime = builder.enable_time().build().context("the tokio runtime could not be started")?;
    Ok(runtime.block_on(submit(Tokio, workload, slots, blocks)))
}

/// The runtime that the calling thread is in.
pub(super) struct Tokio;

impl Asynchronous for Tokio {
    type Lock = Mutex<()>;
    type Held<'a> = MutexGuard<'a, ()>;
    type Permits = Semaphore;
    type Handle = JoinHandle<()>;

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
        // Nobody closes it.
        if let Ok(permit) = permits.acquire().await {
            permit.forget();
        }
    }

    fn release(permits: &Semaphore) {
        permits.add_permits(1);
    }

    fn sleep(wait: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(wait)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }

    async fn block_elsewhere(wait: Duration) {
        // One that has failed has printed why.
        let _ = tokio::task::spawn_blocking(move || thread::sleep(wait)).await;
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        tokio::spawn(task)
    }

    async fn join(handle: JoinHandle<()>) {
        // One that has failed has printed why, and the run has no end.
        let _ = handle.await;
    }
}
