//! The threads of a pool: what each is in the middle of, which are idle, and the numbers that ended ones leave behind.
//!
//! Which task goes where is not decided here.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::kernel::Kernel;
use crate::scenario::PoolKind;
use crate::state::Role;

/// What a thread is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Nothing: it looks for a task, or does not exist.
    None,
    /// It is idle until a submitter gives it a task.
    Idle,
    /// It has been given the task and has to take it up.
    New(u32),
    /// It runs the task, or is about to.
    Running(u32),
    /// Its only task has ended, and so does it.
    Ending,
}

/// The threads.
#[derive(Clone, Debug)]
pub(super) struct Crew {
    kind: PoolKind,
    /// By thread number, that of `main` included.
    work: Vec<Work>,
    /// Workers that exist or have been decided on.
    pub(super) count: u32,
    /// Idle workers, the one that has been idle longest first.
    idle: VecDeque<u32>,
    /// Numbers of threads that have ended, the least first.
    ended: BinaryHeap<Reverse<u32>>,
    created: u32,
}

impl Crew {
    pub(super) fn new(kind: PoolKind, main: u32) -> Self {
        let work = vec![Work::None; main as usize + 1];
        Self { kind, work, count: 0, idle: VecDeque::new(), ended: BinaryHeap::new(), created: 0 }
    }

    pub(super) fn work(&self, thread: u32) -> Work {
        self.work[thread as usize]
    }

    pub(super) fn set(&mut self, thread: u32, work: Work) {
        self.work[thread as usize] = work;
    }

    /// A new thread, which starts with this work.
    pub(super) fn create(&mut self, kernel: &mut Kernel, work: Work) {
        let thread = self.ended.pop().map_or_else(|| self.add(kernel), |Reverse(thread)| thread);
        self.set(thread, work);
        kernel.wake(thread);
    }

    fn add(&mut self, kernel: &mut Kernel) -> u32 {
        let number = self.created;
        self.created += 1;
        let name = match self.kind {
            PoolKind::ThreadPerTask => format!("Thread-{number}"),
            _ => format!("pool-1-thread-{}", number + 1),
        };
        let thread = kernel.add_thread(Role::Worker, name);
        self.work.resize(thread as usize + 1, Work::None);
        thread
    }

    /// The thread has nothing more to do.
    pub(super) fn end(&mut self, kernel: &mut Kernel, thread: u32) {
        if self.work(thread) == Work::Idle {
            // Those that became idle first end first.
            if let Some(at) = self.idle.iter().position(|&other| other == thread) {
                self.idle.remove(at);
            }
        }
        self.set(thread, Work::None);
        self.count -= 1;
        self.ended.push(Reverse(thread));
        kernel.end_thread(thread);
    }

    pub(super) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// The thread waits for work: to be given to it, or to be looked for once it is woken; for ever or until a time.
    pub(super) fn idle(&mut self, kernel: &mut Kernel, thread: u32, given: bool, until: Option<u64>) {
        self.idle.push_back(thread);
        if given {
            self.set(thread, Work::Idle);
        }
        match until {
            Some(time) => kernel.park_until(thread, time),
            None => kernel.park(thread),
        }
    }

    /// As by a condition queue: who has waited longest is woken first, and looks for work.
    pub(super) fn wake_longest_idle(&mut self, kernel: &mut Kernel) {
        if let Some(thread) = self.idle.pop_front() {
            kernel.wake(thread);
        }
    }

    /// The thread that became idle last, which from now on waits for what it will be given. One whose time is up no
    /// longer counts.
    pub(super) fn reserve_idle(&mut self, kernel: &mut Kernel) -> Option<u32> {
        let at = self.idle.iter().rposition(|&thread| kernel.is_parked(thread))?;
        let thread = self.idle.remove(at)?;
        kernel.park_on(thread);
        Some(thread)
    }
}
