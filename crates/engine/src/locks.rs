//! Locks that tasks share: who holds each and who waits, in order of arrival.
//!
//! `synchronized` and `ReentrantLock` (by default) let a running task take a lock that has just been given back
//! before the waiter that was woken for it arrives ("barging"); `kotlinx` `Mutex` hands over to the first waiter.
//! How a task waits, and what waking costs, is the model's business.

use std::collections::VecDeque;

/// One lock.
#[derive(Clone, Debug, Default)]
struct Lock {
    holder: Option<u32>,
    waiters: VecDeque<u32>,
    /// The first waiter has been woken and has not tried yet.
    heir_woken: bool,
}

/// All shared locks, by number.
#[derive(Clone, Debug)]
pub(crate) struct Locks {
    locks: Vec<Lock>,
}

impl Locks {
    pub(crate) fn new(count: u32) -> Self {
        Self { locks: vec![Lock::default(); count as usize] }
    }

    /// The task takes the lock if nobody holds it; otherwise it becomes the last waiter, or stays the first if it
    /// has been woken for the lock and another task was faster.
    pub(crate) fn acquire(&mut self, lock: u32, task: u32) -> bool {
        let lock = &mut self.locks[lock as usize];
        let heir = lock.waiters.front() == Some(&task);
        if heir {
            lock.heir_woken = false;
        }
        if lock.holder.is_some() {
            if !heir {
                lock.waiters.push_back(task);
            }
            return false;
        }
        if heir {
            lock.waiters.pop_front();
        }
        lock.holder = Some(task);
        true
    }

    /// The lock is free; returns the waiter to wake, which must call `acquire` again.
    pub(crate) fn release(&mut self, lock: u32) -> Option<u32> {
        let lock = &mut self.locks[lock as usize];
        lock.holder = None;
        if lock.heir_woken {
            return None;
        }
        let heir = lock.waiters.front().copied();
        lock.heir_woken = heir.is_some();
        heir
    }

    /// The first waiter holds the lock from now on; returns it.
    pub(crate) fn hand_over(&mut self, lock: u32) -> Option<u32> {
        let lock = &mut self.locks[lock as usize];
        lock.holder = lock.waiters.pop_front();
        lock.holder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_task_may_barge_and_the_heir_stays_first() {
        let mut locks = Locks::new(1);
        assert!(locks.acquire(0, 1));
        assert!(!locks.acquire(0, 2));
        assert!(!locks.acquire(0, 3));
        assert_eq!(locks.release(0), Some(2));
        assert!(locks.acquire(0, 4), "4 barges");
        assert_eq!(locks.release(0), None, "2 is on its way already");
        assert!(locks.acquire(0, 4), "4 barges again");
        assert!(!locks.acquire(0, 2), "2 comes too late and stays first");
        assert_eq!(locks.release(0), Some(2));
        assert!(locks.acquire(0, 2));
        assert_eq!(locks.release(0), Some(3));
    }

    #[test]
    fn a_hand_over_is_fair() {
        let mut locks = Locks::new(1);
        assert!(locks.acquire(0, 1));
        assert!(!locks.acquire(0, 2));
        assert_eq!(locks.hand_over(0), Some(2));
        assert!(!locks.acquire(0, 3), "2 holds it");
        assert_eq!(locks.hand_over(0), Some(3));
        assert_eq!(locks.hand_over(0), None);
        assert!(locks.acquire(0, 4));
    }
}
