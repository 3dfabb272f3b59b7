//! Carriers and their queues: who is idle, who is woken, who takes what, and who makes up for a carrier that blocks
//! (T-2, T-3, T-16). What a carrier does with a green thread is not decided here.

use std::collections::VecDeque;

use crate::kernel::Kernel;
use crate::state::Role;

/// An entry of a run queue: a green thread to mount, or on JDK 25 an expiry to run, which readies one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Mount(u32),
    Expiry(u32),
}

/// What a carrier is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Nothing: it looks for a task.
    None,
    /// Looks for work before it parks.
    Spinning,
    /// Mounts the task.
    Mounting(u32),
    /// Runs the task.
    Running(u32),
    /// Puts the deadline of the task, which has unmounted, into its timer under the lock (T-9).
    Inserting { task: u32, deadline: u64 },
}

/// How a carrier stands to a call that blocks it and that the pool makes up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compensation {
    /// It is in no such call, or the pool could not make up for it.
    None,
    /// It starts this thread, the carrier that takes its place.
    Creating(u32),
    /// It blocks, and does not count as active until the call is over.
    Blocked,
}

#[derive(Clone, Debug)]
pub(super) struct Carrier {
    pub(super) work: Work,
    /// The queue that it took from last.
    source: usize,
    /// It has been woken and has not taken anything yet; if more is there, it wakes the next (T-3).
    activated: bool,
    pub(super) compensation: Compensation,
}

impl Carrier {
    const fn new() -> Self {
        Self { work: Work::None, source: SUBMITTED, activated: false, compensation: Compensation::None }
    }
}

/// The queue of whatever is submitted from outside, or as if from there.
pub(super) const SUBMITTED: usize = 0;

/// Carriers, from the start as many as the parallelism, and their queues.
#[derive(Clone, Debug)]
pub(super) struct Carriers {
    pub(super) list: Vec<Carrier>,
    first: u32,
    /// The first of the threads that make up for blocked ones; they follow upon all other threads.
    first_spare: u32,
    parallelism: u32,
    max_pool: u32,
    min_runnable: u32,
    /// Carriers that are neither idle nor in a call that has been made up for. One that is pinned counts.
    active: u32,
    /// Idle carriers, spinning or parked, as (thread, index); the last to become idle is woken first.
    idle: Vec<(u32, u32)>,
    /// The outside queues: of the submitter, of each timer thread, of the unblocker thread; then one for each carrier.
    queues: Vec<VecDeque<Entry>>,
    outside: usize,
    /// Entries in all queues.
    pub(super) queued: usize,
}

impl Carriers {
    /// Makes the threads of the carriers.
    pub(super) fn new(kernel: &mut Kernel, parallelism: u32, max_pool: u32, min_runnable: u32, timers: usize) -> Self {
        let first = kernel.threads.len() as u32;
        for index in 1..=parallelism {
            kernel.add_parked_thread(Role::Worker, name(index));
        }
        let outside = timers + 2;
        Self {
            list: vec![Carrier::new(); parallelism as usize],
            first,
            first_spare: u32::MAX,
            parallelism,
            max_pool,
            min_runnable,
            active: 0,
            idle: (0..parallelism).rev().map(|index| (first + index, index)).collect(),
            queues: vec![VecDeque::new(); outside + parallelism as usize],
            outside,
            queued: 0,
        }
    }

    /// Every thread that the model has from the start has been made.
    pub(super) fn spares_follow(&mut self, kernel: &Kernel) {
        self.first_spare = kernel.threads.len() as u32;
    }

    /// The carrier that a thread is, if it is one.
    #[inline]
    pub(super) fn position(&self, thread: u32) -> Option<usize> {
        let index = thread.wrapping_sub(self.first);
        if index < self.parallelism {
            return Some(index as usize);
        }
        thread.checked_sub(self.first_spare).map(|spare| (spare + self.parallelism) as usize)
    }

    /// The queue of timer thread number `timer`.
    pub(super) const fn of_timer(timer: usize) -> usize {
        SUBMITTED + 1 + timer
    }

    /// The queue of the unblocker thread.
    pub(super) const fn of_unblocker(&self) -> usize {
        self.outside - 1
    }

    /// The carrier's own queue.
    pub(super) const fn own(&self, index: usize) -> usize {
        self.outside + index
    }

    pub(super) fn is_empty(&self, queue: usize) -> bool {
        self.queues[queue].is_empty()
    }

    /// Puts an entry at the end of a queue and wakes an idle carrier if the queue was empty (T-3).
    pub(super) fn push(&mut self, kernel: &mut Kernel, queue: usize, entry: Entry) {
        let queue = &mut self.queues[queue];
        let was_empty = queue.is_empty();
        queue.push_back(entry);
        self.queued += 1;
        if was_empty {
            self.signal(kernel);
        }
    }

    /// Puts an entry at the end of a queue and wakes nobody (T-6).
    pub(super) fn push_lazily(&mut self, queue: usize, entry: Entry) {
        self.queues[queue].push_back(entry);
        self.queued += 1;
    }

    /// `signalWork`: wakes an idle carrier, unless as many are active as should be.
    fn signal(&mut self, kernel: &mut Kernel) {
        if self.active < self.parallelism {
            self.activate(kernel);
        }
    }

    /// Wakes the carrier that became idle last; `false` if none is idle.
    fn activate(&mut self, kernel: &mut Kernel) -> bool {
        let Some((thread, index)) = self.idle.pop() else { return false };
        self.active += 1;
        let carrier = &mut self.list[index as usize];
        carrier.activated = true;
        if carrier.work == Work::Spinning {
            carrier.work = Work::None;
            kernel.interrupt(thread);
        } else {
            kernel.wake(thread);
        }
        true
    }

    /// The carrier has found nothing.
    pub(super) fn deactivate(&mut self, thread: u32, index: usize) {
        self.active -= 1;
        self.idle.push((thread, index as u32));
        self.list[index].activated = false;
        self.list[index].work = Work::Spinning;
    }

    /// The next entry for this carrier: its own queue first, then the queue it took from last and the ones after it.
    #[inline]
    pub(super) fn take(&mut self, kernel: &mut Kernel, index: usize) -> Option<Entry> {
        if self.queued == 0 { None } else { self.take_first(kernel, index) }
    }

    /// There must be an entry.
    fn take_first(&mut self, kernel: &mut Kernel, index: usize) -> Option<Entry> {
        let own = self.own(index);
        let entry = match self.queues[own].pop_front() {
            Some(entry) => Some(entry),
            None => self.take_from_others(index),
        };
        self.queued -= 1;
        let activated = std::mem::take(&mut self.list[index].activated);
        if activated && self.queued > 0 {
            self.signal(kernel);
        }
        entry
    }

    /// The first entry of the queue that the carrier took from last, or of the ones after it. There must be one.
    fn take_from_others(&mut self, index: usize) -> Option<Entry> {
        let mut queue = self.list[index].source;
        for _ in 0..self.queues.len() {
            let entry = self.queues[queue].pop_front();
            if entry.is_some() {
                self.list[index].source = queue;
                return entry;
            }
            queue = if queue + 1 == self.queues.len() { 0 } else { queue + 1 };
        }
        None
    }

    /// `tryCompensate`, in the order of T-16, for a carrier that is about to block. If that takes another carrier, its
    /// thread has to be created first; then this says so, and `created` must follow.
    pub(super) fn compensate(&mut self, kernel: &mut Kernel, index: usize) {
        if !self.idle.is_empty() && self.active <= self.parallelism {
            // (a) An idle carrier takes over.
            self.active -= 1;
            self.activate(kernel);
        } else if self.active > self.min_runnable && self.total() >= self.parallelism {
            // (b) Enough others are active.
            self.active -= 1;
        } else if self.total() < self.max_pool && (kernel.threads.len() as u32) < kernel.plan.max_threads {
            // (c) One more carrier.
            let thread = kernel.add_thread(Role::Worker, name(self.total() + 1));
            self.list.push(Carrier { activated: true, ..Carrier::new() });
            self.queues.push(VecDeque::new());
            self.list[index].compensation = Compensation::Creating(thread);
            return;
        } else {
            // (d) Nothing can be done; the carrier stays active.
            return;
        }
        self.list[index].compensation = Compensation::Blocked;
    }

    /// The carrier has started the one that takes its place.
    pub(super) fn created(&mut self, kernel: &mut Kernel, index: usize, thread: u32) {
        kernel.wake(thread);
        self.list[index].compensation = Compensation::Blocked;
    }

    /// The call is over: the carrier is active again, even if that is one too many.
    pub(super) fn end_compensation(&mut self, index: usize) {
        if self.list[index].compensation == Compensation::Blocked {
            self.list[index].compensation = Compensation::None;
            self.active += 1;
        }
    }

    fn total(&self) -> u32 {
        self.list.len() as u32
    }
}

fn name(number: u32) -> String {
    format!("ForkJoinPool-1-worker-{number}")
}
