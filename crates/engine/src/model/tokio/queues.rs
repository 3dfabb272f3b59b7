//! The queue of one worker, and how often it looks at the injection queue. Who runs what is decided elsewhere.

use std::collections::VecDeque;

/// Places in a worker's ring.
const CAPACITY: usize = 256;
/// [ns] Time after which a worker should have looked at the injection queue.
const TARGET: u64 = 200_000;
/// Turns between two looks at the injection queue, before anything is known.
const START_INTERVAL: u32 = 61;
/// Fractional bits of the mean time of a poll.
const FRACTION: u32 = 10;

/// A worker's LIFO slot and ring.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    pub(super) slot: Option<u32>,
    ring: VecDeque<u32>,
}

impl Local {
    pub(super) fn len(&self) -> usize {
        self.ring.len() + usize::from(self.slot.is_some())
    }

    /// Whether there is something to steal.
    pub(super) fn has_ring(&self) -> bool {
        !self.ring.is_empty()
    }

    pub(super) fn pop(&mut self) -> Option<u32> {
        self.slot.take().or_else(|| self.ring.pop_front())
    }

    /// Puts a task into the slot. Returns whether there is something for another worker: the former occupant.
    pub(super) fn push_slot(&mut self, task: u32, inject: &mut VecDeque<u32>) -> bool {
        let previous = self.slot.replace(task);
        if let Some(previous) = previous {
            self.push_ring(previous, inject);
        }
        previous.is_some()
    }

    /// Puts a task at the end of the ring; where that is full, its second half and the task overflow.
    pub(super) fn push_ring(&mut self, task: u32, inject: &mut VecDeque<u32>) {
        if self.ring.len() < CAPACITY {
            self.ring.push_back(task);
        } else {
            inject.extend(self.ring.drain(CAPACITY / 2..));
            inject.push_back(task);
        }
    }

    /// Takes a batch from the injection queue, of which the first task is returned.
    pub(super) fn refill(&mut self, inject: &mut VecDeque<u32>, workers: usize) -> Option<u32> {
        let room = (CAPACITY - self.ring.len()).min(CAPACITY / 2);
        let batch = (inject.len() / workers + 1).min(room).max(1);
        let first = inject.pop_front()?;
        let rest = (batch - 1).min(inject.len());
        self.ring.extend(inject.drain(..rest));
        Some(first)
    }

    /// Takes half of another worker's ring, of which the last task is returned.
    pub(super) fn steal(&mut self, victim: &mut Self) -> Option<u32> {
        if self.ring.len() > CAPACITY / 2 {
            return None;
        }
        let half = victim.ring.len() - victim.ring.len() / 2;
        self.ring.extend(victim.ring.drain(..half));
        if half > 0 { self.ring.pop_back() } else { None }
    }
}

/// How often a worker looks at the injection queue first: often enough for [`TARGET`], by the mean time of its polls.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Turns.
    pub(super) interval: u32,
    /// [ns, fixed point] Exponentially weighted mean.
    mean: u64,
    /// [ns] When the batch in progress began, and the polls in it.
    since: u64,
    polls: u32,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { interval: START_INTERVAL, mean: (TARGET << FRACTION) / u64::from(START_INTERVAL), since: 0, polls: 0 }
    }

    pub(super) fn start(&mut self, now: u64) {
        self.since = now;
        self.polls = 0;
    }

    pub(super) fn poll(&mut self) {
        self.polls += 1;
    }

    /// The batch is over: its mean counts 1 - 0.9^polls.
    pub(super) fn end(&mut self, now: u64) {
        if self.polls == 0 {
            return;
        }
        let mean = (u128::from(now - self.since) << FRACTION) / u128::from(self.polls);
        // 0.9 to the power of the polls, with 32 fractional bits.
        let keep = (0..self.polls).fold(1_u128 << 32, |keep, _| keep * 9 / 10);
        self.mean = ((mean * ((1 << 32) - keep) + u128::from(self.mean) * keep) >> 32) as u64;
    }

    pub(super) fn tune(&mut self) {
        let next = (TARGET << FRACTION).checked_div(self.mean).map_or(127, |turns| turns.clamp(2, 127)) as u32;
        if self.interval.abs_diff(next) > 2 {
            self.interval = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_half_of_a_full_ring_overflows() {
        let (mut local, mut inject) = (Local::default(), VecDeque::new());
        for task in 0..CAPACITY as u32 {
            local.push_ring(task, &mut inject);
        }
        assert!(inject.is_empty());
        local.push_ring(256, &mut inject);
        assert_eq!(inject, (128..=256).collect::<VecDeque<u32>>());
        assert_eq!(local.ring, (0..128).collect::<VecDeque<u32>>());
    }

    #[test]
    fn a_thief_takes_the_older_half_and_never_the_slot() {
        let (mut victim, mut thief, mut inject) = (Local::default(), Local::default(), VecDeque::new());
        assert!(!victim.push_slot(9, &mut inject));
        assert_eq!(thief.steal(&mut victim), None);
        for task in 0..5 {
            victim.push_ring(task, &mut inject);
        }
        assert_eq!(thief.steal(&mut victim), Some(2));
        assert_eq!((thief.ring, victim.ring, victim.slot), ([0, 1].into(), [3, 4].into(), Some(9)));
    }

    #[test]
    fn a_batch_is_a_workers_share() {
        let mut inject: VecDeque<u32> = (0..10).collect();
        let mut local = Local::default();
        assert_eq!(local.refill(&mut inject, 4), Some(0));
        assert_eq!((local.ring.len(), inject.len()), (2, 7));
        let mut inject: VecDeque<u32> = (0..1_000).collect();
        let mut local = Local::default();
        assert_eq!(local.refill(&mut inject, 1), Some(0));
        assert_eq!((local.ring.len(), inject.len()), (127, 872));
    }

    #[test]
    fn the_interval_follows_the_time_of_polls() {
        for (poll, expect) in [(0, 127), (1_000, 127), (3_279, 61), (10_000, 20), (1_000_000, 2)] {
            let mut pace = Pace::new();
            pace.start(0);
            (0..200).for_each(|_| pace.poll());
            pace.end(poll * 200);
            pace.tune();
            assert!(pace.interval.abs_diff(expect) <= 1, "{poll} ns: {}", pace.interval);
        }
    }
}
