//! `sync.Mutex` in its two modes, and semaphores and fair locks that hand over like channels.
//!
//! In normal mode a running goroutine may take a mutex before the waiter that was woken for it. A waiter that is too
//! late after more than 1 ms turns the mutex to starvation mode: it is handed over in order, until a waiter has waited
//! for less, or is the last. Who runs is decided elsewhere.

use crate::kernel::{Kernel, NEVER};
use crate::locks::Locks;
use crate::plan::{Guard, GuardKind, LockRef};

/// [ns] A waiter that has waited longer starves.
const STARVES: u64 = 1_000_000;

#[derive(Clone, Debug)]
pub(super) struct Mutexes {
    locks: Locks,
    guards: Vec<Guard>,
    /// Which are in starvation mode.
    starving: Vec<bool>,
    /// [ns] Since when each task waits for a lock, or [`NEVER`].
    since: Vec<u64>,
    /// Which tasks have been handed what they wait for.
    handed: Vec<bool>,
}

/// Whom an unlock wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heir {
    /// Nobody.
    Nobody,
    /// This task, which holds the lock or will try again.
    Ready(u32),
    /// This task, which holds the lock and runs at once instead of whoever has given it back.
    InPlace(u32),
}

impl Mutexes {
    pub(super) fn new(kernel: &Kernel) -> Self {
        let (guards, tasks) = (kernel.plan.guards.clone(), kernel.plan.tasks as usize);
        let count = if guards.is_empty() { 0 } else { tasks };
        Self {
            locks: Locks::new(&guards),
            starving: vec![false; guards.len()],
            guards,
            since: vec![NEVER; count],
            handed: vec![false; count],
        }
    }

    pub(super) fn locks(&self) -> &Locks {
        &self.locks
    }

    fn is_mutex(&self, number: u32, lock: LockRef) -> bool {
        lock.kind != GuardKind::Semaphore && !self.guards[number as usize].fair
    }

    /// The task takes the lock, or waits for it.
    pub(super) fn acquire(&mut self, number: u32, lock: LockRef, task: u32, now: u64) -> bool {
        let (mutex, task_at) = (self.is_mutex(number, lock), task as usize);
        let since = self.since[task_at].min(now);
        let starved = now - since > STARVES;
        if std::mem::take(&mut self.handed[task_at]) {
            self.since[task_at] = NEVER;
            if !starved || !self.locks.has_waiters(number) {
                self.starving[number as usize] = false;
            }
            return true;
        }
        if self.locks.acquire(number, task, now) {
            self.since[task_at] = NEVER;
            return true;
        }
        self.since[task_at] = since;
        if mutex && starved {
            self.starving[number as usize] = true;
        }
        false
    }

    /// The task takes the lock if it is free.
    pub(super) fn try_acquire(&mut self, number: u32, task: u32) -> bool {
        self.locks.try_acquire(number, task)
    }

    pub(super) fn release(&mut self, number: u32, lock: LockRef, now: u64) -> Heir {
        let mutex = self.is_mutex(number, lock);
        let starving = self.starving[number as usize];
        if mutex && !starving {
            return self.locks.release(number).map_or(Heir::Nobody, Heir::Ready);
        }
        let Some(heir) = self.locks.hand_over(number, now) else { return Heir::Nobody };
        self.handed[heir as usize] = true;
        if mutex { Heir::InPlace(heir) } else { Heir::Ready(heir) }
    }
}
