//! The runs of one request, shared between workers: which is next, what has come of each, and what that means for all of
//! them. The answer does not depend on who was faster. No browser here.

use parkbench_engine::Scenario;

use super::job::Broken;

/// Workers of a page at most, however many cores there are: each has a memory of its own.
const MOST_WORKERS: usize = 4;
/// Tasks of a run above which two workers are enough: each holds all records of its run.
const MANY_TASKS: u64 = 100_000;

/// How many workers are worth having for a request.
pub fn workers_for(runs: usize, tasks: u64, cores: usize) -> usize {
    let most = if tasks > MANY_TASKS { 2 } else { MOST_WORKERS };
    runs.min(cores).clamp(1, most)
}

/// The runs of a scenario that are simulated exactly as the runs of the same number in the scenario before.
pub fn unchanged(before: &Scenario, now: &Scenario) -> Vec<usize> {
    let rest = |scenario: &Scenario| Scenario { runs: Vec::new(), ..scenario.clone() };
    if rest(before) != rest(now) {
        return Vec::new();
    }
    let pairs = before.runs.iter().zip(&now.runs).enumerate();
    pairs.filter(|(_, (before, now))| before == now).map(|(run, _)| run).collect()
}

/// See the module; `T` is what is made of a run.
#[derive(Debug)]
pub struct Shares<T> {
    parts: Vec<Part<T>>,
    /// The runs that nobody has begun, the next one last.
    waiting: Vec<usize>,
    most_records: u64,
}

#[derive(Debug)]
enum Part<T> {
    /// Not handed out, or in progress with so many tasks ended.
    Open {
        done: u64,
    },
    Ended {
        value: T,
        done: u64,
        records: u64,
    },
    Broken(Broken),
}

impl<T> Shares<T> {
    /// Of so many runs, which may have so many records together. `work` is what each run is expected to take, in any
    /// unit, where that is known: the longest are handed out first, so that all workers end at about the same time.
    pub fn new(runs: usize, most_records: u64, work: &[u64]) -> Self {
        let mut waiting: Vec<usize> = (0..runs).rev().collect();
        if work.len() == runs {
            waiting.sort_by_key(|&run| work[run]);
        }
        Self { parts: (0..runs).map(|_| Part::Open { done: 0 }).collect(), waiting, most_records }
    }

    /// Whether a run is waiting to be handed out. After one that broke off, none is.
    pub fn waiting(&self) -> bool {
        !self.waiting.is_empty() && !self.parts.iter().any(|part| matches!(part, Part::Broken(_)))
    }

    /// The next run to hand out.
    pub fn take(&mut self) -> Option<usize> {
        if self.waiting() { self.waiting.pop() } else { None }
    }

    /// How many records the runs that have ended have left for another.
    pub fn room(&self) -> u64 {
        self.most_records.saturating_sub(self.records())
    }

    /// A run tells how many of its tasks have ended.
    pub fn progress(&mut self, run: usize, tasks: u64) {
        if let Some(Part::Open { done }) = self.parts.get_mut(run) {
            *done = tasks;
        }
    }

    /// Tasks that have ended, in all runs.
    pub fn done(&self) -> u64 {
        let done = |part: &Part<T>| match part {
            Part::Open { done } | Part::Ended { done, .. } => *done,
            Part::Broken(_) => 0,
        };
        self.parts.iter().map(done).sum()
    }

    /// A run of so many tasks has ended, with so many records; it may be one that was not handed out.
    pub fn end(&mut self, run: usize, value: T, done: u64, records: u64) {
        self.waiting.retain(|&waiting| waiting != run);
        if let Some(part) = self.parts.get_mut(run) {
            *part = Part::Ended { value, done, records };
        }
    }

    /// A run has broken off.
    pub fn fail(&mut self, run: usize, why: Broken) {
        if let Some(part) = self.parts.get_mut(run) {
            *part = Part::Broken(why);
        }
    }

    /// Why the request breaks off, as soon as that is certain: of several reasons that of the first run, in their order.
    pub fn broken(&self) -> Option<Broken> {
        let mut records = 0_u64;
        for (run, part) in self.parts.iter().enumerate() {
            match part {
                Part::Open { .. } => return None,
                Part::Ended { records: own, .. } => {
                    records = records.saturating_add(*own);
                    if records > self.most_records {
                        return Some(Broken::TooManyRecords { run, most: self.most_records });
                    }
                }
                Part::Broken(Broken::TooManyRecords { .. }) => {
                    return Some(Broken::TooManyRecords { run, most: self.most_records });
                }
                Part::Broken(why) => return Some(why.clone()),
            }
        }
        None
    }

    /// Whether every run has ended.
    pub fn complete(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Ended { .. }))
    }

    /// What was made of the runs that have ended, in the order of the runs.
    pub fn into_values(self) -> Vec<T> {
        let value = |part| match part {
            Part::Ended { value, .. } => Some(value),
            Part::Open { .. } | Part::Broken(_) => None,
        };
        self.parts.into_iter().filter_map(value).collect()
    }

    fn records(&self) -> u64 {
        let records = |part: &Part<T>| if let Part::Ended { records, .. } = part { *records } else { 0 };
        self.parts.iter().map(records).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;

    #[test]
    fn runs_are_handed_out_in_their_order_and_come_back_in_it() {
        let mut shares = Shares::new(3, 100, &[]);
        assert_eq!([shares.take(), shares.take()], [Some(0), Some(1)]);
        shares.progress(0, 4);
        shares.end(1, "b", 10, 60);
        assert_eq!((shares.done(), shares.room(), shares.complete()), (14, 40, false));
        assert_eq!([shares.take(), shares.take()], [Some(2), None]);
        shares.end(2, "c", 10, 10);
        shares.end(0, "a", 10, 30);
        assert_eq!((shares.done(), shares.broken(), shares.complete()), (30, None, true));
        assert_eq!(shares.into_values(), ["a", "b", "c"]);
    }

    #[test]
    fn a_run_that_is_known_is_not_handed_out() {
        let mut shares = Shares::new(3, 100, &[]);
        shares.end(1, "b", 10, 60);
        assert_eq!((shares.done(), shares.room()), (10, 40));
        assert_eq!([shares.take(), shares.take(), shares.take()], [Some(0), Some(2), None]);
    }

    #[test]
    fn only_runs_that_a_change_does_not_reach_are_unchanged() {
        #[track_caller]
        fn check(change: fn(&mut Scenario), expect: &[usize]) {
            let before = preset("io-bound").unwrap();
            let mut now = before.clone();
            change(&mut now);
            assert_eq!(unchanged(&before, &now), expect);
        }
        check(|_| {}, &[0, 1, 2]);
        check(|now| now.runs[0].size = Some(7), &[1, 2]);
        check(|now| now.runs.truncate(2), &[0, 1]);
        check(|now| now.runs.swap(0, 1), &[2]);
        check(|now| now.seed += 1, &[]);
        check(|now| now.machine.cores += 1, &[]);
        check(|now| now.tasks[0].count += 1, &[]);
        check(|now| now.profile = "none".to_owned(), &[]);
    }

    #[test]
    fn the_longest_runs_are_handed_out_first() {
        let order = |work: &[u64]| {
            let mut shares = Shares::<()>::new(3, 100, work);
            std::iter::from_fn(|| shares.take()).collect::<Vec<_>>()
        };
        assert_eq!(order(&[5, 1, 9]), [2, 0, 1]);
        assert_eq!(order(&[4, 4, 4]), [0, 1, 2]);
        assert_eq!(order(&[1, 9]), [0, 1, 2], "of another scenario");
    }

    /// What breaks off, whatever the order in which the runs end: `None` for one that failed by itself.
    #[track_caller]
    fn check(records: [Option<u64>; 3], expect: &Broken) {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut shares = Shares::new(3, 100, &[]);
            while shares.take().is_some() {}
            let mut found = None;
            for run in order {
                match records[run] {
                    Some(records) => shares.end(run, (), 1, records),
                    None => shares.fail(run, Broken::other(&format!("run {run}"))),
                }
                found = found.or_else(|| shares.broken());
            }
            assert_eq!(found.as_ref(), Some(expect), "{order:?}");
        }
    }

    #[test]
    fn the_first_run_that_breaks_off_is_named_whoever_was_faster() {
        let too_many = |run| Broken::TooManyRecords { run, most: 100 };
        check([Some(50), Some(60), Some(60)], &too_many(1));
        check([Some(50), Some(50), Some(1)], &too_many(2));
        check([Some(50), None, None], &Broken::other(&"run 1"));
        check([Some(101), None, Some(0)], &too_many(0));
        check([None, Some(101), Some(0)], &Broken::other(&"run 0"));
    }

    #[test]
    fn nothing_is_handed_out_after_a_failure() {
        let mut shares = Shares::<()>::new(3, 100, &[]);
        shares.take();
        shares.take();
        // A worker that had less room says less; the page's own limit is told.
        shares.fail(1, Broken::TooManyRecords { run: 1, most: 7 });
        assert_eq!((shares.waiting(), shares.take(), shares.broken()), (false, None, None));
        shares.end(0, (), 1, 93);
        assert_eq!(shares.broken(), Some(Broken::TooManyRecords { run: 1, most: 100 }));
    }

    #[test]
    fn as_many_workers_as_runs_and_cores_within_limits() {
        for (runs, tasks, cores, expect) in [
            (3, 10_000, 2, 2),
            (3, 10_000, 64, 3),
            (6, 10_000, 64, 4),
            (1, 10_000, 8, 1),
            (3, 1_000_000, 8, 2),
            (3, 9, 0, 1),
        ] {
            assert_eq!(workers_for(runs, tasks, cores), expect, "{runs} runs, {tasks} tasks, {cores} cores");
        }
    }
}
