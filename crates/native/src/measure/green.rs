//! `may`'s coroutines with stacks of their own: the green threads that are measured.
//!
//! An `io` wait is `may::coroutine::sleep` and gives the worker away; a `block` wait is `std::thread::sleep` and holds
//! it. After a sleep `may` resumes a coroutine on its timer thread, so each one yields before it goes on; without
//! that all work after a wait would be done by one thread. Locks are `may::sync::Mutex`, which never hold a worker.

#![allow(unsafe_code)]

use std::sync::{Arc, PoisonError};
use std::thread;

use anyhow::{Context as _, anyhow};
use may::coroutine;
use may::sync::{Mutex, MutexGuard, Semphore};

use super::cpu;
use super::slots::Slots;
use super::workload::{Action, Which, Workload};

/// [words] Stack of a coroutine: 32 KiB, `may`'s default.
const STACK_WORDS: usize = 0x1000;

/// A lock and a semaphore of one number, of which a scenario uses one.
type Guard = (Mutex<()>, Semphore);

/// Runs the workload to its end on `workers` workers; [ns] from the first submission until the submitter has seen the
/// last task end.
///
/// The number of workers can be set once in a process, so a process can call this once.
pub(crate) fn run(workload: &Arc<Workload>, slots: &Arc<Slots>, workers: u32) -> anyhow::Result<u64> {
    may::config().set_workers(workers as usize).set_stack_size(STACK_WORDS);
    start()?;
    let guard = |permits: u32| (Mutex::new(()), Semphore::new(permits as usize));
    let shared: Arc<Vec<Guard>> = Arc::new(workload.permits().map(guard).collect());
    let submitter = thread::current();
    for (task, after) in workload.submissions() {
        thread::sleep(slots.until(after));
        let (workload, run_slots) = (Arc::clone(workload), Arc::clone(slots));
        let (shared, submitter) = (Arc::clone(&shared), submitter.clone());
        let body = move || {
            run_slots.began(task);
            perform(&workload, task, &shared);
            if run_slots.ended(task) {
                submitter.unpark();
            }
        };
        slots.submitted(task);
        // SAFETY: a coroutine may be resumed on another thread, so its body must keep no reference to thread-local
        // data across a wait, and it must fit its stack. `perform` uses no thread-local data of its own and holds a few
        // words; between waits it calls only the clock, `spin`, sleeps, mutexes, semaphores and two small allocations.
        unsafe { coroutine::Builder::new().spawn(body) }
            .with_context(|| format!("green thread {} could not be created", task + 1))?;
    }
    while !slots.all_ended() {
        thread::park();
    }
    Ok(slots.since_first_submission())
}

/// Starts the workers, which the first coroutine does: as with tokio, that is no part of the run.
fn start() -> anyhow::Result<()> {
    // SAFETY: the body does nothing.
    let first = unsafe { coroutine::Builder::new().spawn(|| ()) }.context("may could not be started")?;
    first.join().map_err(|_| anyhow!("may could not be started"))
}

/// The body of a task.
fn perform(workload: &Workload, task: u32, shared: &[Guard]) {
    let own: Vec<Mutex<()>> = (0..workload.own_locks(task)).map(|_| Mutex::new(())).collect();
    let mut held: Vec<MutexGuard<'_, ()>> = Vec::new();
    for action in workload.actions(task) {
        match action {
            Action::Spin(iterations) => {
                cpu::spin(iterations);
            }
            Action::Io(wait) => {
                coroutine::sleep(wait);
                coroutine::yield_now();
            }
            Action::Block(wait) => thread::sleep(wait),
            Action::Lock(Which::Shared(lock)) => held.push(lock_of(&shared[lock].0)),
            Action::Lock(Which::Own(lock)) => held.push(lock_of(&own[lock])),
            Action::Unlock => drop(held.pop()),
            Action::Acquire(number) => shared[number].1.wait(),
            Action::Release(number) => shared[number].1.post(),
            Action::Yield => coroutine::yield_now(),
        }
    }
}

/// Takes a mutex that protects no data.
fn lock_of(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
