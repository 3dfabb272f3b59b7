//! The queue of one worker (K-4), and a view of a dispatcher that runs a limited number of coroutines at once (K-6, K-7).

use std::collections::VecDeque;

/// K-4: usable slots of a worker's ring.
const RING: usize = 127;
/// [ns] K-5: age from which a slot can be stolen.
const STEAL_AGE: u64 = 100_000;

/// What the scheduler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A coroutine.
    Task(u32),
    /// A loop of a view, with its first coroutine.
    Loop(u32),
}

/// The LIFO slot `lastScheduledTask` and the ring.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    /// The item, and when it was dispatched.
    slot: Option<(Item, u64)>,
    ring: VecDeque<Item>,
}

/// What a thief gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stolen {
    Item(Item),
    /// [ns] The slot is too young until then.
    YoungUntil(u64),
    Nothing,
}

impl Local {
    pub(super) fn is_empty(&self) -> bool {
        self.slot.is_none() && self.ring.is_empty()
    }

    /// Puts an item into the slot. Returns what has found no room in the ring.
    pub(super) fn add(&mut self, item: Item, now: u64) -> Option<Item> {
        let (previous, _) = self.slot.replace((item, now))?;
        self.add_last(previous)
    }

    /// The fair path: puts an item at the end of the ring. Returns it if there is no room.
    pub(super) fn add_last(&mut self, item: Item) -> Option<Item> {
        if self.ring.len() == RING {
            return Some(item);
        }
        self.ring.push_back(item);
        None
    }

    pub(super) fn poll(&mut self) -> Option<Item> {
        self.slot.take().map(|(item, _)| item).or_else(|| self.ring.pop_front())
    }

    /// As `poll`, for a worker without a permit, which takes blocking work from the end of the ring.
    pub(super) fn poll_blocking(&mut self) -> Option<Item> {
        self.slot.take().map(|(item, _)| item).or_else(|| self.ring.pop_back())
    }

    pub(super) fn steal(&mut self, now: u64) -> Stolen {
        if let Some(item) = self.ring.pop_front() {
            return Stolen::Item(item);
        }
        match self.slot {
            Some((item, since)) if now >= since + STEAL_AGE => {
                self.slot = None;
                Stolen::Item(item)
            }
            Some((_, since)) => Stolen::YoungUntil(since + STEAL_AGE),
            None => Stolen::Nothing,
        }
    }
}

/// `LimitedDispatcher`: what is dispatched to it, and how many loops run it.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// Coroutines without a loop.
    queue: VecDeque<u32>,
    loops: u32,
    limit: u32,
}

impl View {
    pub(super) fn new(limit: u32) -> Self {
        Self { queue: VecDeque::new(), loops: 0, limit }
    }

    /// Whether it runs as many loops as it may, so that a dispatch starts none.
    pub(super) fn is_full(&self) -> bool {
        self.loops >= self.limit
    }

    /// A coroutine is dispatched. Returns the first coroutine of the loop that has to be started, if one has to.
    pub(super) fn dispatch(&mut self, task: u32) -> Option<u32> {
        self.queue.push_back(task);
        if self.is_full() {
            return None;
        }
        self.loops += 1;
        self.queue.pop_front()
    }

    /// A loop has run its coroutine. Returns the next; without one the loop is over.
    pub(super) fn next(&mut self) -> Option<u32> {
        let next = self.queue.pop_front();
        self.loops -= u32::from(next.is_none());
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_8_the_last_goes_first_and_what_finds_no_room_overflows() {
        let mut local = Local::default();
        for task in 1..=4 {
            assert_eq!(local.add(Item::Task(task), 0), None);
        }
        let order: Vec<Item> = std::iter::from_fn(|| local.poll()).collect();
        assert_eq!(order, [4, 1, 2, 3].map(Item::Task));
        // The slot and 127 in the ring; every further one pushes the occupant of the slot out.
        let overflow: Vec<Item> = (1..=131).filter_map(|task| local.add(Item::Task(task), 0)).collect();
        assert_eq!(overflow, [128, 129, 130].map(Item::Task));
        assert_eq!(local.poll(), Some(Item::Task(131)));
        assert_eq!(local.poll(), Some(Item::Task(1)));
        assert_eq!(local.add_last(Item::Task(132)), None);
        assert_eq!(local.add_last(Item::Task(133)), Some(Item::Task(133)));
    }

    #[test]
    fn a_thief_takes_one_from_the_ring_or_an_old_slot() {
        let mut local = Local::default();
        assert_eq!(local.steal(0), Stolen::Nothing);
        local.add(Item::Task(1), 0);
        local.add(Item::Task(2), 5);
        assert_eq!(local.steal(6), Stolen::Item(Item::Task(1)));
        assert_eq!(local.steal(STEAL_AGE + 4), Stolen::YoungUntil(STEAL_AGE + 5));
        assert_eq!(local.steal(STEAL_AGE + 5), Stolen::Item(Item::Task(2)));
        assert!(local.is_empty());
    }

    #[test]
    fn a_view_starts_a_loop_for_each_up_to_its_limit() {
        let mut view = View::new(2);
        assert_eq!([1, 2, 3, 4].map(|task| view.dispatch(task)), [Some(1), Some(2), None, None]);
        assert_eq!([view.next(), view.next(), view.next()], [Some(3), Some(4), None]);
        assert_eq!(view.dispatch(5), Some(5));
    }
}
