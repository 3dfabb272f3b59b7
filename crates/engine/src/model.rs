//! The models: each decides what its threads do next. One file per model, each with its model card.

mod coroutines;
mod event_loop;
mod go;
mod green_threads;
mod thread_pool;
mod tokio;

pub(crate) use coroutines::Coroutines;
pub(crate) use event_loop::EventLoop;
pub(crate) use go::Go;
pub(crate) use green_threads::GreenThreads;
pub(crate) use thread_pool::ThreadPool;
pub(crate) use tokio::Tokio;

use crate::kernel::Kernel;
use crate::locks::Locks;

/// A model as the simulation drives it.
pub(crate) trait Scheduler {
    /// The thread is on a core and has nothing to do.
    fn resume(&mut self, kernel: &mut Kernel, thread: u32);
    /// A deadline that the model has set for the task has passed.
    fn deadline(&mut self, kernel: &mut Kernel, task: u32);
    /// What the model will choose at random next, so that it can be told whether it has chosen meanwhile.
    fn choices(&self) -> u64 {
        0
    }
    /// The locks and semaphores, to see who waits for whom when the run has stopped.
    fn locks(&self) -> &Locks;
}
