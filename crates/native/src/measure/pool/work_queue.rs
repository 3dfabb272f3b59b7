//! Where tasks wait for a thread of the pool and threads for a task: a FIFO queue, or a hand-over from thread to thread.
//!
//! Which task comes here, and what becomes of one that is not taken, is decided in `pool`.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::super::runtime::Admission;
use super::lock_of;

/// After so long an idle thread of a cached pool ends, as one of `newCachedThreadPool` does.
const KEEP_ALIVE: Duration = Duration::from_mins(1);

/// The queue of a pool.
pub(super) enum WorkQueue {
    /// Tasks wait, and the oldest goes to the next thread that is free: `LinkedBlockingQueue`.
    Fifo(Fifo),
    /// No task waits; one goes to the thread that became idle last: `SynchronousQueue`.
    HandOver(HandOver),
}

impl WorkQueue {
    pub(super) fn new(admission: Admission) -> Self {
        match admission {
            Admission::Unbounded => Self::Fifo(Fifo::new(usize::MAX)),
            Admission::Bounded { capacity: 0, .. } => Self::HandOver(HandOver::new(None)),
            Admission::Bounded { capacity, .. } => Self::Fifo(Fifo::new(capacity as usize)),
            Admission::Cached => Self::HandOver(HandOver::new(Some(KEEP_ALIVE))),
        }
    }

    /// Takes the task if there is room for it, or an idle thread to hand it to; returns whether it has.
    pub(super) fn offer(&self, task: u32) -> bool {
        match self {
            Self::Fifo(queue) => queue.offer(task),
            Self::HandOver(queue) => queue.offer(task),
        }
    }

    /// The next task for this thread, which waits for one; `None` once it is to end.
    pub(super) fn take(&self) -> Option<u32> {
        match self {
            Self::Fifo(queue) => queue.take(),
            Self::HandOver(queue) => queue.take(),
        }
    }

    /// No further task will come: threads that wait end.
    pub(super) fn close(&self) {
        match self {
            Self::Fifo(queue) => queue.close(),
            Self::HandOver(queue) => queue.close(),
        }
    }
}

/// Tasks behind one mutex.
pub(super) struct Fifo {
    capacity: usize,
    state: Mutex<Tasks>,
    ready: Condvar,
}

#[derive(Default)]
struct Tasks {
    waiting: VecDeque<u32>,
    closed: bool,
}

impl Fifo {
    fn new(capacity: usize) -> Self {
        Self { capacity, state: Mutex::default(), ready: Condvar::new() }
    }

    fn offer(&self, task: u32) -> bool {
        let mut state = lock_of(&self.state);
        let fits = state.waiting.len() < self.capacity;
        if fits {
            state.waiting.push_back(task);
            drop(state);
            self.ready.notify_one();
        }
        fits
    }

    fn take(&self) -> Option<u32> {
        let mut state = lock_of(&self.state);
        loop {
            if let Some(task) = state.waiting.pop_front() {
                return Some(task);
            }
            if state.closed {
                return None;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        lock_of(&self.state).closed = true;
        self.ready.notify_all();
    }
}

/// Threads that wait for a task, as a stack.
pub(super) struct HandOver {
    /// How long each waits; `None` for ever.
    keep_alive: Option<Duration>,
    state: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// The one that became idle last is the last.
    threads: Vec<Arc<Waiter>>,
    closed: bool,
}

/// A thread that waits.
struct Waiter {
    thread: Thread,
    /// What it has been given: a task, or `None` to end.
    given: OnceLock<Option<u32>>,
}

impl Waiter {
    fn give(&self, task: Option<u32>) {
        // Who has taken it off the stack is the only one to give it something.
        let _ = self.given.set(task);
        self.thread.unpark();
    }
}

impl HandOver {
    fn new(keep_alive: Option<Duration>) -> Self {
        Self { keep_alive, state: Mutex::default() }
    }

    fn offer(&self, task: u32) -> bool {
        let waiter = lock_of(&self.state).threads.pop();
        waiter.inspect(|waiter| waiter.give(Some(task))).is_some()
    }

    fn take(&self) -> Option<u32> {
        let waiter = Arc::new(Waiter { thread: thread::current(), given: OnceLock::new() });
        {
            let mut state = lock_of(&self.state);
            if state.closed {
                return None;
            }
            state.threads.push(Arc::clone(&waiter));
        }
        let begin = Instant::now();
        loop {
            if let Some(given) = waiter.given.get() {
                return *given;
            }
            let Some(limit) = self.keep_alive else {
                thread::park();
                continue;
            };
            match limit.checked_sub(begin.elapsed()) {
                Some(left) if !left.is_zero() => thread::park_timeout(left),
                // One that is no longer on the stack is about to be given something.
                _ if self.leaves(&waiter) => return None,
                _ => thread::park(),
            }
        }
    }

    /// Takes the thread off the stack; returns whether it was there.
    fn leaves(&self, waiter: &Arc<Waiter>) -> bool {
        let threads = &mut lock_of(&self.state).threads;
        let at = threads.iter().position(|other| Arc::ptr_eq(other, waiter));
        at.map(|at| threads.remove(at)).is_some()
    }

    fn close(&self) {
        let threads = {
            let mut state = lock_of(&self.state);
            state.closed = true;
            std::mem::take(&mut state.threads)
        };
        for waiter in threads {
            waiter.give(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::Rejection;

    use super::*;

    fn bounded(capacity: u32) -> WorkQueue {
        WorkQueue::new(Admission::Bounded { capacity, rejection: Rejection::Abort })
    }

    #[test]
    fn a_queue_takes_as_many_as_it_has_room_for_and_gives_the_oldest() {
        let queue = bounded(2);
        assert_eq!([7, 8, 9].map(|task| queue.offer(task)), [true, true, false]);
        assert_eq!(queue.take(), Some(7));
        assert!(queue.offer(9) && !queue.offer(10));
        queue.close();
        assert_eq!([queue.take(), queue.take(), queue.take()], [Some(8), Some(9), None]);
    }

    /// As [`HandOver::take`] sees it, but without a thread that waits.
    fn waits(queue: &HandOver) -> Arc<Waiter> {
        let waiter = Arc::new(Waiter { thread: thread::current(), given: OnceLock::new() });
        lock_of(&queue.state).threads.push(Arc::clone(&waiter));
        waiter
    }

    #[test]
    fn without_room_a_task_goes_to_the_thread_that_became_idle_last() {
        let WorkQueue::HandOver(queue) = bounded(0) else { panic!("it has no queue") };
        assert!(!queue.offer(1));
        let (first, last) = (waits(&queue), waits(&queue));
        assert!(queue.offer(2));
        assert_eq!((first.given.get(), last.given.get()), (None, Some(&Some(2))));
        assert!(queue.offer(3) && !queue.offer(4));
        assert_eq!(first.given.get(), Some(&Some(3)));
        let idle = waits(&queue);
        queue.close();
        assert_eq!(idle.given.get(), Some(&None));
        assert_eq!((queue.take(), queue.offer(5)), (None, false));
    }

    #[test]
    fn a_thread_waits_for_what_it_is_given_and_ends_after_its_time() {
        let queue = HandOver::new(Some(Duration::from_millis(1)));
        assert_eq!(queue.take(), None);
        assert!(!queue.offer(1));
        let queue = HandOver::new(None);
        thread::scope(|scope| {
            let thread = scope.spawn(|| [queue.take(), queue.take()]);
            while !queue.offer(6) {
                thread::yield_now();
            }
            queue.close();
            assert_eq!(thread.join().unwrap(), [Some(6), None]);
        });
    }
}
