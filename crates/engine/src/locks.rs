//! Locks and semaphores that tasks share: how many permits are free and who waits, in order of arrival.
//!
//! `synchronized` and `ReentrantLock` (by default) let a running task take a lock that has just been given back
//! before the waiter that was woken for it arrives ("barging"); `kotlinx` `Mutex` hands over to the first waiter.
//! How a task waits, and what waking costs, is the model's business.

mod passing;

use std::collections::VecDeque;

use self::passing::{Passing, Standstills};
use crate::plan::Guard;

pub(crate) use self::passing::Standstill;

/// One lock or semaphore.
#[derive(Clone, Debug)]
struct Lock {
    /// Permits that nobody holds.
    free: u32,
    /// Nobody overtakes those who wait.
    fair: bool,
    waiters: VecDeque<Waiter>,
    /// Waiters that have been woken and have not tried yet.
    woken: u32,
    passing: Passing,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    task: u32,
    /// It has been woken and has not tried yet.
    woken: bool,
    /// [ns] When it came.
    since: u64,
}

/// All shared locks and semaphores, by number.
#[derive(Clone, Debug)]
pub(crate) struct Locks {
    locks: Vec<Lock>,
    standstills: Standstills,
}

impl Locks {
    pub(crate) fn new(guards: &[Guard]) -> Self {
        let lock = |guard: &Guard| Lock {
            free: guard.permits,
            fair: guard.fair,
            waiters: VecDeque::new(),
            woken: 0,
            passing: Passing::default(),
        };
        Self { locks: guards.iter().map(lock).collect(), standstills: Standstills::default() }
    }

    /// The task takes a permit if there is one; otherwise it becomes the last waiter, or keeps its place if it has been
    /// woken and another task was faster. `now` [ns].
    pub(crate) fn acquire(&mut self, number: u32, task: u32, now: u64) -> bool {
        let lock = &mut self.locks[number as usize];
        let place = lock.place_of_woken(task);
        if let Some(place) = place {
            lock.waiters[place].woken = false;
            lock.woken -= 1;
        }
        // A permit for everybody before it is left, or nobody minds.
        let turn = match place {
            Some(place) => !lock.fair || place < lock.free as usize,
            None => !lock.fair || lock.waiters.is_empty(),
        };
        if lock.free == 0 || !turn {
            if place.is_none() {
                if lock.waiters.is_empty() {
                    lock.passing.restart(now);
                }
                lock.waiters.push_back(Waiter { task, woken: false, since: now });
            }
            return false;
        }
        if let Some(place) = place {
            self.standstills.served(number, &lock.passing, lock.waiters.iter().copied(), now);
            lock.passing.restart(now);
            lock.waiters.remove(place);
        } else if !lock.waiters.is_empty() {
            lock.passing.pass(task);
        }
        lock.free -= 1;
        true
    }

    /// The task takes a permit if there is one, and never waits.
    pub(crate) fn try_acquire(&mut self, lock: u32, task: u32) -> bool {
        // `tryLock` overtakes even those who wait for a fair lock.
        let lock = &mut self.locks[lock as usize];
        let free = lock.free > 0;
        lock.free -= u32::from(free);
        if free && !lock.waiters.is_empty() {
            lock.passing.pass(task);
        }
        free
    }

    /// A permit is free; returns the waiter to wake, which must call `acquire` again.
    pub(crate) fn release(&mut self, lock: u32) -> Option<u32> {
        let lock = &mut self.locks[lock as usize];
        lock.free += 1;
        if lock.woken >= lock.free {
            return None;
        }
        let heir = lock.waiters.iter_mut().find(|waiter| !waiter.woken)?;
        heir.woken = true;
        lock.woken += 1;
        Some(heir.task)
    }

    /// Whether somebody waits.
    pub(crate) fn has_waiters(&self, lock: u32) -> bool {
        !self.locks[lock as usize].waiters.is_empty()
    }

    /// Permits that nobody holds.
    pub(crate) fn free(&self, lock: u32) -> u32 {
        self.locks[lock as usize].free
    }

    /// Who waits, in order of arrival, and whether it has been woken and has not tried yet.
    pub(crate) fn waiters(&self, lock: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.locks[lock as usize].waiters.iter().map(|waiter| (waiter.task, waiter.woken))
    }

    /// The longest time in which nobody who waited got a lock that others took, if it is a starvation.
    pub(crate) const fn longest_standstill(&self) -> Option<&Standstill> {
        self.standstills.longest()
    }

    /// The first waiter holds the permit from `now` [ns] on; returns it.
    pub(crate) fn hand_over(&mut self, number: u32, now: u64) -> Option<u32> {
        let lock = &mut self.locks[number as usize];
        if !lock.waiters.is_empty() {
            self.standstills.served(number, &lock.passing, lock.waiters.iter().copied(), now);
            lock.passing.restart(now);
        }
        let heir = lock.waiters.pop_front();
        lock.free += u32::from(heir.is_none());
        heir.map(|waiter| waiter.task)
    }
}

impl Lock {
    /// Where a task that has been woken stands among the waiters.
    fn place_of_woken(&self, task: u32) -> Option<usize> {
        let mut left = self.woken;
        for (place, waiter) in self.waiters.iter().enumerate() {
            if left == 0 {
                return None;
            }
            if waiter.woken && waiter.task == task {
                return Some(place);
            }
            left -= u32::from(waiter.woken);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locks(permits: u32, fair: bool) -> Locks {
        Locks::new(&[Guard { name: "a".to_owned(), permits, fair }])
    }

    #[test]
    fn a_running_task_may_barge_and_the_heir_stays_first() {
        let mut locks = locks(1, false);
        assert!(locks.acquire(0, 1, 0));
        assert!(!locks.acquire(0, 2, 0));
        assert!(!locks.acquire(0, 3, 0));
        assert_eq!(locks.release(0), Some(2));
        assert!(locks.acquire(0, 4, 0), "4 barges");
        assert_eq!(locks.release(0), None, "2 is on its way already");
        assert!(locks.acquire(0, 4, 0), "4 barges again");
        assert!(!locks.acquire(0, 2, 0), "2 comes too late and stays first");
        assert_eq!(locks.release(0), Some(2));
        assert!(locks.acquire(0, 2, 0));
        assert_eq!(locks.release(0), Some(3));
    }

    #[test]
    fn a_hand_over_is_fair() {
        let mut locks = locks(1, false);
        assert!(locks.acquire(0, 1, 0));
        assert!(!locks.acquire(0, 2, 0));
        assert_eq!(locks.hand_over(0, 0), Some(2));
        assert!(!locks.acquire(0, 3, 0), "2 holds it");
        assert_eq!(locks.hand_over(0, 0), Some(3));
        assert_eq!(locks.hand_over(0, 0), None);
        assert!(locks.acquire(0, 4, 0));
    }

    #[test]
    fn nobody_overtakes_at_a_fair_lock_but_who_only_tries() {
        let mut locks = locks(1, true);
        assert!(locks.acquire(0, 1, 0));
        assert!(!locks.acquire(0, 2, 0));
        assert!(!locks.acquire(0, 3, 0));
        assert_eq!(locks.release(0), Some(2));
        assert!(!locks.acquire(0, 4, 0), "2 and 3 are first");
        assert!(locks.acquire(0, 2, 0));
        assert_eq!(locks.release(0), Some(3));
        assert!(locks.try_acquire(0, 4), "tryLock barges");
        assert!(!locks.acquire(0, 3, 0), "3 stays first");
        assert_eq!(locks.release(0), Some(3));
        assert!(locks.acquire(0, 3, 0));
        assert_eq!(locks.release(0), Some(4));
    }

    #[test]
    fn a_semaphore_wakes_as_many_as_there_are_permits() {
        let mut locks = locks(2, false);
        assert!(locks.acquire(0, 1, 0) && locks.acquire(0, 2, 0));
        assert!(!locks.acquire(0, 3, 0) && !locks.acquire(0, 4, 0) && !locks.acquire(0, 5, 0));
        assert_eq!(locks.release(0), Some(3));
        assert_eq!(locks.release(0), Some(4));
        assert!(locks.acquire(0, 4, 0), "the second to be woken may be faster");
        assert!(locks.acquire(0, 6, 0), "6 barges");
        assert!(!locks.acquire(0, 3, 0), "3 keeps its place");
        assert_eq!(locks.release(0), Some(3));
        assert_eq!(locks.release(0), Some(5));
    }
}
