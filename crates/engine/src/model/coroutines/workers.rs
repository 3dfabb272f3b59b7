//! `CoroutineScheduler`: who has a permit, who is parked, and where a worker looks for work (K-3, K-5).
//!
//! What a worker does with what it finds is not known here.

use std::collections::VecDeque;

use rand_pcg::Pcg32;

use super::queues::{Item, Local, Stolen};
use crate::kernel::Kernel;
use crate::rng::{Purpose, between, stream};
use crate::state::Role;

#[derive(Clone, Debug, Default)]
struct Worker {
    local: Local,
    permit: bool,
}

/// Where an item comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A thread that is no worker.
    Outside,
    /// This worker.
    Worker(usize),
    /// This worker, which lets others go first.
    Yield(usize),
}

/// What a worker finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Item(Item),
    /// [ns] Nothing until then, when a slot can be stolen.
    Later(u64),
    Nothing,
}

/// The scheduler. All its items are of one kind: CPU work, or blocking work.
#[derive(Clone, Debug)]
pub(super) struct Workers {
    /// Whether the items are blocking work, which needs no permit.
    blocking_work: bool,
    core: u32,
    first: u32,
    each: Vec<Worker>,
    /// Parked workers; the last to park is woken first.
    parked: Vec<u32>,
    permits: u32,
    /// Workers' queues that hold something, so that a thief need not look at all of them.
    full: usize,
    global: VecDeque<Item>,
    /// Blocking items dispatched and not ended.
    blocking: u32,
    coin: Pcg32,
}

impl Workers {
    /// What the coin will say next.
    pub(super) fn choices(&self) -> u64 {
        between(&mut self.coin.clone(), 0, u64::MAX)
    }

    /// Core workers, parked.
    pub(super) fn new(kernel: &mut Kernel, blocking_work: bool) -> Self {
        let core = kernel.plan.cores.max(2);
        let mut this = Self {
            blocking_work,
            core,
            first: kernel.threads.len() as u32,
            each: Vec::new(),
            parked: Vec::new(),
            permits: core,
            full: 0,
            global: VecDeque::new(),
            blocking: 0,
            coin: stream(kernel.plan.seed, Purpose::Scheduler, 0),
        };
        for number in 1..=core {
            let thread = kernel.add_parked_thread(Role::Worker, format!("DefaultDispatcher-worker-{number}"));
            this.each.push(Worker::default());
            this.parked.insert(0, thread);
        }
        this
    }

    /// The worker's index.
    pub(super) fn index(&self, thread: u32) -> usize {
        (thread - self.first) as usize
    }

    /// Hands an item to the scheduler and wakes a worker for it. K-3: from outside to the global queue. K-4: from a
    /// worker to its own; one in blocking work keeps no CPU work to itself.
    pub(super) fn dispatch(&mut self, kernel: &mut Kernel, item: Item, from: Origin) {
        self.blocking += u32::from(self.blocking_work);
        let (index, fair) = match from {
            Origin::Outside => (None, false),
            Origin::Worker(index) => (Some(index), false),
            Origin::Yield(index) => (Some(index), true),
        };
        let left = match index.filter(|&index| self.blocking_work || self.each[index].permit) {
            Some(index) => {
                let local = &mut self.each[index].local;
                self.full += usize::from(local.is_empty());
                if fair { local.add_last(item) } else { local.add(item, kernel.now) }
            }
            None => Some(item),
        };
        if let Some(item) = left {
            self.global.push_back(item);
        }
        self.signal(kernel);
    }

    /// A loop of blocking work, or of a view, ends its turn on the worker and goes on as another item.
    pub(super) fn hand_on(&mut self, kernel: &mut Kernel, item: Item, index: usize) {
        self.end_blocking();
        self.dispatch(kernel, item, Origin::Worker(index));
    }

    /// [ns] What waking or creating a worker costs the caller of a dispatch now.
    pub(super) fn dispatch_cost(&self, kernel: &Kernel) -> u64 {
        // A blocking item counts before the scheduler looks for a worker.
        self.signal_cost(kernel, u32::from(self.blocking_work))
    }

    fn signal_cost(&self, kernel: &Kernel, more_blocking: u32) -> u64 {
        if self.parked.iter().rev().any(|&thread| kernel.is_parked(thread)) {
            kernel.plan.costs.kt_unpark
        } else if self.may_create(more_blocking) {
            kernel.plan.costs.thread_create
        } else {
            0
        }
    }

    /// Fewer workers than `core` are free of blocking work.
    fn may_create(&self, more_blocking: u32) -> bool {
        (self.each.len() as u32).saturating_sub(self.blocking + more_blocking) < self.core
    }

    /// Wakes the worker that parked last, or creates one if there are too few.
    fn signal(&mut self, kernel: &mut Kernel) {
        if let Some(thread) = self.parked.pop() {
            kernel.wake(thread);
        } else if self.may_create(0) {
            self.each.push(Worker::default());
            let name = format!("DefaultDispatcher-worker-{}", self.each.len());
            let thread = kernel.add_thread(Role::Worker, name);
            kernel.wake(thread);
        }
    }

    /// K-6: a worker that starts blocking work gives its permit back and signals. Returns what that costs it.
    pub(super) fn begin_blocking(&mut self, kernel: &mut Kernel, index: usize) -> u64 {
        if !self.blocking_work || !std::mem::take(&mut self.each[index].permit) {
            return 0;
        }
        self.permits += 1;
        let cost = self.signal_cost(kernel, 0);
        self.signal(kernel);
        cost
    }

    /// Blocking work has ended.
    pub(super) fn end_blocking(&mut self) {
        self.blocking -= u32::from(self.blocking_work);
    }

    /// Nothing to do: the worker parks, where it is woken by the next dispatch, or for as long as a slot is too young,
    /// where no dispatch wakes it.
    pub(super) fn park(&mut self, kernel: &mut Kernel, index: usize, until: Option<u64>) {
        if std::mem::take(&mut self.each[index].permit) {
            self.permits += 1;
        }
        let thread = self.first + index as u32;
        if let Some(until) = until {
            kernel.park_until(thread, until);
        } else {
            self.parked.push(thread);
            kernel.park(thread);
        }
    }

    /// K-5.
    pub(super) fn find(&mut self, kernel: &Kernel, index: usize) -> Found {
        if !self.each[index].permit && self.permits > 0 {
            self.permits -= 1;
            self.each[index].permit = true;
        }
        let permit = self.each[index].permit;
        if !permit && !self.blocking_work {
            return Found::Nothing;
        }
        let has_local = !self.each[index].local.is_empty();
        let global_first = permit
            && has_local
            && !self.global.is_empty()
            && between(&mut self.coin, 0, 2 * u64::from(self.core) - 1) == 0;
        if has_local && !global_first {
            let local = &mut self.each[index].local;
            let item = if permit { local.poll() } else { local.poll_blocking() };
            self.full -= usize::from(local.is_empty());
            if let Some(item) = item {
                return Found::Item(item);
            }
        }
        if let Some(item) = self.global.pop_front() {
            return Found::Item(item);
        }
        self.steal(kernel.now, index)
    }

    /// One item, from a random worker on.
    fn steal(&mut self, now: u64, index: usize) -> Found {
        if self.full == 0 {
            return Found::Nothing;
        }
        let count = self.each.len();
        let start = between(&mut self.coin, 0, count as u64 - 1) as usize;
        let mut later: Option<u64> = None;
        for victim in (0..count).map(|offset| (start + offset) % count).filter(|&victim| victim != index) {
            let local = &mut self.each[victim].local;
            match local.steal(now) {
                Stolen::Item(item) => {
                    self.full -= usize::from(local.is_empty());
                    return Found::Item(item);
                }
                Stolen::YoungUntil(time) => later = Some(later.map_or(time, |known| known.min(time))),
                Stolen::Nothing => {}
            }
        }
        later.map_or(Found::Nothing, Found::Later)
    }
}
