//! Who goes past those that wait for a lock: the standstills of its queue.
//!
//! A *standstill* of a lock is a time in which some task waits for it and none that waits gets it, while others, which
//! did not wait, take it again and again. Only the longest of each run is kept, and only those that are a starvation (`detect::starvation`).

use super::Waiter;
use crate::finding::{MAX_NAMED, STARVES_NS};

/// A standstill in which others took the lock less often is not kept.
const LEAST_TIMES: u32 = 100;

/// What has happened at one lock since one of those who wait got it, or since somebody waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Passing {
    /// [ns] When that was.
    since: u64,
    /// How often others took it.
    times: u32,
    /// The first of those who took it, each once.
    by: Vec<u32>,
}

/// A standstill that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standstill {
    /// The lock's number.
    pub(crate) lock: u32,
    /// [ns] When one who waited got it before, or the first began to wait.
    pub(crate) from: u64,
    /// [ns] When one who waited got it.
    pub(crate) to: u64,
    /// How often others took it.
    pub(crate) times: u32,
    /// The first of them.
    pub(crate) by: Vec<u32>,
    /// How many had waited for at least [`STARVES_NS`].
    pub(crate) starved: u32,
    /// The first of them.
    pub(crate) first_starved: Vec<u32>,
}

/// The longest standstill so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Standstills {
    longest: Option<Standstill>,
}

impl Standstills {
    /// The longest that is long enough, the first of several.
    pub(super) const fn longest(&self) -> Option<&Standstill> {
        self.longest.as_ref()
    }

    /// One of those who wait for the lock gets it at `now`; it is still among the waiters.
    pub(super) fn served(&mut self, lock: u32, passing: &Passing, waiters: impl Iterator<Item = Waiter>, now: u64) {
        let longest = self.longest.as_ref().map_or(0, |longest| longest.to - longest.from);
        let lasted = now - passing.since;
        if passing.times < LEAST_TIMES || lasted < STARVES_NS || lasted <= longest {
            return;
        }
        let mut starved = 0;
        let mut first_starved = Vec::new();
        for waiter in waiters.filter(|waiter| now - waiter.since >= STARVES_NS) {
            starved += 1;
            if first_starved.len() < MAX_NAMED {
                first_starved.push(waiter.task);
            }
        }
        let (from, times, by) = (passing.since, passing.times, passing.by.clone());
        self.longest = Some(Standstill { lock, from, to: now, times, by, starved, first_starved });
    }
}

impl Passing {
    /// Somebody waits, and nobody did; or one of those who wait has got it.
    pub(super) fn restart(&mut self, now: u64) {
        self.since = now;
        self.times = 0;
        self.by.clear();
    }

    /// A task that did not wait has taken the lock, and others wait.
    pub(super) fn pass(&mut self, task: u32) {
        self.times += 1;
        if self.by.len() < MAX_NAMED && !self.by.contains(&task) {
            self.by.push(task);
        }
    }
}
