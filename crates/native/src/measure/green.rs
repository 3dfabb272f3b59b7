//! `may`'s coroutines with stacks of their own: the green threads that are measured.
//!
//! An `io` wait is `may::coroutine::sleep` and gives the worker away; a `block` wait is `std::thread::sleep` and holds
//! it. After a sleep `may` resumes a coroutine on its timer thread, so each one yields before it goes on; without
//! that all work after a wait would be done by one thread. Locks are `may::sync::Mutex`, which never hold a worker.

#![allow(unsafe_code)]

use std::sync::{Arc, PoisonError};
use std::thread::{self, Thread};

use anyhow::{Context as _, anyhow};
use may::coroutine::{self, JoinHandle};
use may::sync::{Mutex, MutexGuard, Semphore};

use super::arrivals::Next;
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
    let tasks = Arc::new(Tasks {
        workload: Arc::clone(workload),
        slots: Arc::clone(slots),
        shared: workload.permits().map(guard).collect(),
        submitter: thread::current(),
    });
    let mut agenda = slots.agenda(workload);
    loop {
        match agenda() {
            Next::Submit(task) => drop(spawn(&tasks, task)?),
            _ if slots.all_ended() => return Ok(slots.since_first_submission()),
            next => next.park(),
        }
    }
}

/// What every green thread needs.
struct Tasks {
    workload: Arc<Workload>,
    slots: Arc<Slots>,
    shared: Vec<Guard>,
    submitter: Thread,
}

fn spawn(tasks: &Arc<Tasks>, task: u32) -> anyhow::Result<JoinHandle<anyhow::Result<()>>> {
    tasks.slots.submitted(task);
    let own = Arc::clone(tasks);
    let body = move || {
        own.slots.began(task);
        let outcome = perform(&own, task);
        if own.slots.ended(task) {
            own.submitter.unpark();
        }
        outcome
    };
    // SAFETY: a coroutine may be resumed on another thread, so its body must keep no reference to thread-local
    // data across a wait, and it must fit its stack. `perform` uses no thread-local data of its own and holds a few
    // words; between waits it calls only the clock, `spin`, sleeps, mutexes, semaphores, this function and some small
    // allocations. In a traced run `Marks` reads a number of the thread, in a function that is never inlined and
    // returns before the next wait.
    unsafe { coroutine::Builder::new().spawn(body) }
        .with_context(|| format!("green thread {} could not be created", task + 1))
}

/// Starts the workers, which the first coroutine does: as with tokio, that is no part of the run.
fn start() -> anyhow::Result<()> {
    // SAFETY: the body does nothing.
    let first = unsafe { coroutine::Builder::new().spawn(|| ()) }.context("may could not be started")?;
    first.join().map_err(|_| anyhow!("may could not be started"))
}

/// The body of a task.
fn perform(tasks: &Arc<Tasks>, task: u32) -> anyhow::Result<()> {
    let own: Vec<Mutex<()>> = (0..tasks.workload.own_locks(task)).map(|_| Mutex::new(())).collect();
    let mut held: Vec<MutexGuard<'_, ()>> = Vec::new();
    let mut children = Vec::new();
    for action in tasks.workload.actions(task) {
        tasks.slots.mark(task, action);
        match action {
            Action::Spin(_) | Action::Compute(_) => action.compute(),
            Action::Io(wait) => {
                coroutine::sleep(wait);
                tasks.slots.mark_fired(task);
                coroutine::yield_now();
            }
            Action::Block(wait) => thread::sleep(wait),
            Action::Lock(Which::Shared(lock)) => held.push(lock_of(&tasks.shared[lock].0)),
            Action::Lock(Which::Own(lock)) => held.push(lock_of(&own[lock])),
            Action::Unlock => drop(held.pop()),
            Action::Acquire(number) => tasks.shared[number].1.wait(),
            Action::Release(number) => tasks.shared[number].1.post(),
            Action::Yield => coroutine::yield_now(),
            Action::Spawn(child) => children.push(spawn(tasks, child)?),
            Action::Join => {
                for child in children.drain(..) {
                    child.join().map_err(|_| anyhow!("a task that another started has failed"))??;
                }
            }
        }
        tasks.slots.mark(task, action);
    }
    Ok(())
}

/// Takes a mutex that protects no data.
fn lock_of(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
