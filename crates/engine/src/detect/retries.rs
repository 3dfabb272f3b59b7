//! The retries since the last progress, and whether they repeat: the suspicion of a livelock. Bounded memory.
//!
//! Progress is a step that a task begins for the first time. Each lock tried in vain is one retry of the log; progress
//! empties it. What the suspicion is worth is judged in `livelock`.

/// Retries after which the log is looked at, and again whenever it has twice as many.
const FIRST_LOOK: usize = 64;
/// Most retries in the log, 16 MiB; then it begins anew.
const MOST: usize = 1 << 19;
/// How often a period must have been repeated.
const REPEATS: usize = 4;
/// The same where it might have gone otherwise by chance.
const REPEATS_BY_CHANCE: usize = 64;

/// One lock tried in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// [ns]
    pub(crate) time: u64,
    pub(crate) task: u32,
    /// The step that has tried.
    pub(crate) step: u16,
    /// Hash of what else must be equal for the future to be: context switches since the retry before, and, where
    /// threads have waited for a core, how far the thread's CPU time is ahead.
    pub(crate) hidden: u64,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetryLog {
    retries: Vec<Retry>,
    /// The count of progress that the log belongs to.
    progress: u64,
    /// [ns] The first retry since the last progress.
    since: u64,
    /// Time to look at it.
    pub(crate) due: bool,
    /// When it was looked at before, nothing but its retries could happen, and they were as hopeless.
    pub(crate) hopeless: bool,
    #[cfg(test)]
    pub(crate) looks_away: bool,
}

impl RetryLog {
    /// A lock has been tried in vain, when this much progress had been made in the run.
    pub(crate) fn push(&mut self, progress: u64, retry: Retry) {
        if progress != self.progress || self.retries.is_empty() {
            self.progress = progress;
            self.since = retry.time;
            self.hopeless = false;
            self.retries.clear();
        } else if self.retries.len() == MOST {
            self.retries.clear();
        }
        self.retries.push(retry);
        let count = self.retries.len();
        self.due = count >= FIRST_LOOK && count.is_power_of_two();
        #[cfg(test)]
        {
            self.due &= !self.looks_away;
        }
    }

    /// [ns] The first retry since the last progress.
    pub(crate) fn since(&self) -> u64 {
        self.since
    }

    /// Retries in the log.
    pub(crate) fn len(&self) -> usize {
        self.retries.len()
    }

    /// The last period, if the second half of the log is the same retries at the same distances at least four times; by
    /// `chance`, that is where it might have gone otherwise, 64 times.
    ///
    /// Without chance all that is hidden has repeated as well, perhaps after several of the periods that are returned.
    pub(crate) fn period(&self, chance: bool) -> Option<&[Retry]> {
        let window = self.window();
        let seen = shortest_period(window, |_| 0);
        let (whole, repeats) =
            if chance { (seen, REPEATS_BY_CHANCE) } else { (shortest_period(window, |retry| retry.hidden), REPEATS) };
        (whole > 0 && whole * repeats < window.len()).then(|| &window[window.len() - seen..])
    }

    /// The second half of the log.
    pub(crate) fn window(&self) -> &[Retry] {
        &self.retries[self.retries.len() / 2..]
    }

    /// [ns] How long the second half of the log took.
    pub(crate) fn window_ns(&self) -> u64 {
        let window = self.window();
        window.last().map_or(0, |last| last.time - window[0].time)
    }

    /// [ns] The last retry.
    pub(crate) fn last_ns(&self) -> u64 {
        self.retries.last().map_or(0, |retry| retry.time)
    }

    /// [ns] The time of the retry before the last `count` ones.
    pub(crate) fn time_before(&self, count: usize) -> u64 {
        self.retries.len().checked_sub(count + 1).map_or(0, |place| self.retries[place].time)
    }
}

/// The least distance at which all retries but the first, which has no gap before it, are equal.
fn shortest_period(window: &[Retry], hidden: impl Fn(&Retry) -> u64) -> usize {
    let same = |a: usize, b: usize| {
        let (one, other) = (&window[a], &window[b]);
        let gap = |at: usize| window[at].time - window[at - 1].time;
        (one.task, one.step, hidden(one)) == (other.task, other.step, hidden(other)) && gap(a) == gap(b)
    };
    // The failure function of Knuth, Morris and Pratt over the window from its second on.
    let count = window.len().saturating_sub(1);
    let mut border = vec![0_u32; count];
    for at in 1..count {
        let mut length = border[at - 1] as usize;
        while length > 0 && !same(at + 1, length + 1) {
            length = border[length - 1] as usize;
        }
        border[at] = (length + usize::from(same(at + 1, length + 1))) as u32;
    }
    count - border.last().map_or(0, |&length| length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of (gap, task) pairs.
    fn log(retries: impl Iterator<Item = (u64, u32)>) -> RetryLog {
        let mut log = RetryLog::default();
        let mut time = 0;
        for (gap, task) in retries {
            time += gap;
            log.push(0, Retry { time, task, step: 1, hidden: 0 });
        }
        log
    }

    #[test]
    fn a_period_is_found_behind_what_came_before_it() {
        let turns = [(3, 0), (4, 1), (3, 0), (5, 1)];
        let repeated = log((0..20).map(|i| (i, 7)).chain(turns.into_iter().cycle()).take(64));
        let period = repeated.period(false).unwrap();
        assert_eq!(period.len(), 4);
        assert_eq!(repeated.len(), 64);
        let last = period.last().unwrap().time;
        assert_eq!(last - repeated.time_before(4), 15);
        assert!(repeated.due);
    }

    #[test]
    fn what_drifts_has_no_period() {
        assert!(log((0..64).map(|i| (i, 0))).period(false).is_none());
        // Seven different ones are too many for 32 to be four times the same.
        let nine = [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7), (2, 8)];
        assert!(log(nine.into_iter().cycle().take(64)).period(false).is_none());
        assert_eq!(log(nine.into_iter().cycle().take(128)).period(false).map(<[_]>::len), Some(9));
    }

    #[test]
    fn progress_empties_the_log() {
        let mut log = log((0..63).map(|_| (1, 0)));
        assert!(!log.due);
        log.push(1, Retry { time: 99, task: 0, step: 1, hidden: 0 });
        assert_eq!(log.len(), 1);
        for _ in 0..MOST {
            log.push(1, Retry { time: 99, task: 0, step: 1, hidden: 0 });
        }
        assert_eq!(log.len(), 1, "it begins anew when it is full");
    }
}
