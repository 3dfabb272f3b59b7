//! Tasks on tokio: worker threads that steal from each other (R-1 to R-3), or the thread of `block_on` alone (R-4).
//!
//! ```text
//!  main: spawn ─► injection queue ─┐            ┌─► waiting (sleep: timer wheel; Mutex; join): no worker
//!                                  ▼            │        │ woken: slot, ring or injection queue
//!  pending ──────────────────► queued ──► running ◄──────┘
//!                                  ▲            ├─► queued (yield, budget): again after the next poll of the driver
//!                                  │            ├─► blocked (block on a worker, monitor): holds the worker
//!                                  └────────────┼── queued, blocked on a thread of its own (spawn_blocking)
//!                                               └─► done
//!
//!  worker: ─► every 61st turn: poll the driver if nobody else has it ─► slot ─► ring ─► injection queue ─► steal ─┐
//!          ▲                                                                                    nothing found │
//!          └──── woken, or a timer has fired ◄── parked on the driver (the first) or on a condition variable ◄────┘
//! ```
//!
//! Modelled, after tokio 1.54.1: a spawn from outside goes to the injection queue, one from a worker to its LIFO slot,
//! whose occupant moves to the ring (R-1); 256 places in the ring, whose second half overflows to the injection queue;
//! three polls from the slot in a row, then the ring, and thieves that never take a slot (R-3); 128 operations a poll;
//! the injection queue first every so many turns, tuned to 200 us, or every 31 (R-4); batches from it; thieves take
//! half a ring, and at most half of the workers search; a wake-up only where nobody searches; a timer wheel of 1 ms
//! with its cascades, polled by a worker that parks or at its 61st turn (R-2), so that nobody fires a timer while the
//! worker that had the driver is in a task and the others are parked; `yield_now` that waits for a poll of the driver;
//! `spawn_blocking` on up to 512 threads.
//! `Mutex` and `Semaphore` hand over fairly; a monitor is `std::sync::Mutex` and blocks its worker, as does every wait
//! inside of one, for a guard cannot be held across an `await`.
//! Not modelled: I/O readiness (an `io` step is a `sleep`), `block_in_place`, the 10 s after which an idle thread of
//! `spawn_blocking` ends, the eventfd that a sleep writes to when nobody is parked on the driver.
//! Knobs: `flavor`, `workers`, `blocking`, the `tokio_*` costs.
//! Known divergence: all workers are parked when the run begins, the first of them on the driver; a join wakes its
//! task once, as `JoinSet` does at its end; `sleep(0)` returns at once, where tokio may wait for the next millisecond.

mod blocking;
mod current_thread;
mod multi_thread;
mod queues;
mod task;
mod timers;

use self::current_thread::CurrentThread;
use self::multi_thread::MultiThread;
use super::Scheduler;
use crate::kernel::Kernel;
use crate::locks::Locks;
use crate::plan::ModelPlan;
use crate::scenario::Flavor;

/// The model.
#[derive(Clone, Debug)]
pub(crate) enum Tokio {
    /// Worker threads.
    MultiThread(MultiThread),
    /// One thread.
    CurrentThread(CurrentThread),
}

impl Tokio {
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let ModelPlan::Tokio { flavor, workers, blocking } = kernel.plan.model else {
            unreachable!("the plan is for this model")
        };
        match flavor {
            Flavor::MultiThread => Self::MultiThread(MultiThread::new(kernel, workers, blocking)),
            Flavor::CurrentThread => Self::CurrentThread(CurrentThread::new(kernel, blocking)),
        }
    }
}

impl Scheduler for Tokio {
    #[inline]
    fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        match self {
            Self::MultiThread(runtime) => runtime.resume(kernel, thread),
            Self::CurrentThread(runtime) => runtime.resume(kernel, thread),
        }
    }

    fn deadline(&mut self, kernel: &mut Kernel, task: u32) {
        match self {
            Self::MultiThread(runtime) => runtime.timers().overdue(kernel, task),
            Self::CurrentThread(runtime) => runtime.timers().overdue(kernel, task),
        }
    }

    fn choices(&self) -> u64 {
        match self {
            Self::MultiThread(runtime) => runtime.choices(),
            Self::CurrentThread(_) => 0,
        }
    }

    fn locks(&self) -> &Locks {
        match self {
            Self::MultiThread(runtime) => runtime.locks(),
            Self::CurrentThread(runtime) => runtime.locks(),
        }
    }
}
