//! A fixed pool of OS threads with one FIFO queue: the thread pool that is measured.
//!
//! It follows `ThreadPoolExecutor` (P-1): while there are fewer threads than the pool's size, a submission starts a
//! thread with the task as its first; every other task goes to the tail of one unbounded queue behind one mutex.
//! A thread for each task is the same without the queue: a thread ends with its task.
//! Every wait, `io` or `block`, is `std::thread::sleep` and holds the thread (P-2); locks are `std::sync::Mutex`, and a
//! semaphore is one with a condition variable.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::Context as _;

use super::cpu;
use super::slots::Slots;
use super::workload::{Action, Which, Workload};

/// [bytes] Address space for the stack of a pool thread: the JVM's default on Linux.
const STACK: usize = 1 << 20;

/// Runs the workload to its end on `threads` threads, or on one for each task; [ns] from the first submission until the
/// submitter has seen the last task end.
pub(crate) fn run(workload: &Workload, slots: &Slots, threads: Option<u32>) -> anyhow::Result<u64> {
    let most = threads.unwrap_or_else(|| workload.task_count());
    let queue = &Queue::default();
    let shared: Vec<Guard> = workload.permits().map(Guard::new).collect();
    let submitter = thread::current();
    let execute = &|task: u32| {
        slots.began(task);
        perform(workload, task, &shared);
        if slots.ended(task) {
            submitter.unpark();
        }
    };
    thread::scope(|scope| {
        // Closes the queue on every way out, so that the threads end and with them the scope.
        let _closer = Closer(queue);
        let mut started = 0;
        for (task, after) in workload.submissions() {
            thread::sleep(slots.until(after));
            slots.submitted(task);
            if started == most {
                queue.push(task);
                continue;
            }
            let worker = move || {
                execute(task);
                while let Some(task) = threads.and_then(|_| queue.take()) {
                    execute(task);
                }
            };
            thread::Builder::new()
                .name(format!("pool-{started}"))
                .stack_size(STACK)
                .spawn_scoped(scope, worker)
                .with_context(|| format!("thread {} of {most} could not be created", started + 1))?;
            started += 1;
        }
        while !slots.all_ended() {
            thread::park();
        }
        Ok(slots.since_first_submission())
    })
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
            Action::Io(wait) | Action::Block(wait) => thread::sleep(wait),
            Action::Lock(Which::Shared(lock)) => held.push(lock_of(&shared[lock].lock)),
            Action::Lock(Which::Own(lock)) => held.push(lock_of(&own[lock])),
            Action::Unlock => drop(held.pop()),
            Action::Acquire(number) => shared[number].acquire(),
            Action::Release(number) => shared[number].release(),
            Action::Yield => thread::yield_now(),
        }
    }
}

/// A lock and a semaphore of one number, of which a scenario uses one.
struct Guard {
    lock: Mutex<()>,
    permits: Mutex<u32>,
    free: Condvar,
}

impl Guard {
    fn new(permits: u32) -> Self {
        Self { lock: Mutex::new(()), permits: Mutex::new(permits), free: Condvar::new() }
    }

    fn acquire(&self) {
        let mut permits = lock_of(&self.permits);
        while *permits == 0 {
            permits = self.free.wait(permits).unwrap_or_else(PoisonError::into_inner);
        }
        *permits -= 1;
    }

    fn release(&self) {
        *lock_of(&self.permits) += 1;
        self.free.notify_one();
    }
}

/// The tasks that wait for a thread.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<u32>,
    closed: bool,
}

impl Queue {
    fn push(&self, task: u32) {
        lock_of(&self.state).tasks.push_back(task);
        self.ready.notify_one();
    }

    /// The oldest task; waits for one; `None` once the queue is closed and empty.
    fn take(&self) -> Option<u32> {
        let mut state = lock_of(&self.state);
        loop {
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            if state.closed {
                return None;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Closes the queue when it is dropped.
struct Closer<'a>(&'a Queue);

impl Drop for Closer<'_> {
    fn drop(&mut self) {
        lock_of(&self.0.state).closed = true;
        self.0.ready.notify_all();
    }
}

/// Takes a mutex whose data cannot be left half-changed by a panic.
fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
