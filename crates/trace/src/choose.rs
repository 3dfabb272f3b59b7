//! Which lanes to show when there are too many, and the rule in words, so that a page can say what it left out.

use parkbench_engine::{Activity, Role};
use serde::Serialize;

use crate::lanes::Lanes;

/// The lanes to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneChoice {
    /// Thread numbers, in the order in which to show them: submitter, timer and unblocker first, then workers by index.
    pub shown: Vec<u32>,
    /// Number of threads in all.
    pub total: usize,
    /// How they were chosen, to be read after "15 of 500 shown: ".
    pub rule: &'static str,
}

/// At most `max` lanes: threads that run no tasks first, then workers; if not all fit, those with the most time
/// running or blocked, and of equal ones the lower index.
pub fn choose_lanes(lanes: &Lanes, max: usize) -> LaneChoice {
    let total = lanes.thread_count();
    let is_worker = |thread: &u32| lanes.role(*thread) == Some(Role::Worker);
    let (mut workers, mut others): (Vec<u32>, Vec<u32>) = (0..total as u32).partition(is_worker);
    let rule = if total <= max {
        "all threads"
    } else {
        others.truncate(max);
        let work = |thread: u32| {
            let totals = lanes.totals(thread);
            totals.get(Activity::Running) + totals.get(Activity::Blocked)
        };
        // The sort is stable, so equal ones stay in the order of their index.
        workers.sort_by_key(|&thread| std::cmp::Reverse(work(thread)));
        workers.truncate(max - others.len());
        workers.sort_unstable();
        "threads that run no tasks, then the workers with the most time running or blocked"
    };
    others.extend(workers);
    LaneChoice { shown: others, total, rule }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;
    use crate::testkit::thread_records;
    use parkbench_engine::{NO_TASK, Recording, ThreadInfo, Totals};

    #[track_caller]
    fn check(max: usize, expect: &[u32], all: bool) {
        use Activity as A;
        let roles = [Role::Worker, Role::Worker, Role::Submitter, Role::Worker, Role::Timer, Role::Worker];
        let recording = Recording {
            threads: thread_records(&[
                (10, 3, A::Blocked, NO_TASK),
                (30, 1, A::Running, NO_TASK),
                (40, 5, A::Running, NO_TASK),
                (40, 0, A::Running, NO_TASK),
                (50, 0, A::Preempted, NO_TASK),
            ]),
            thread_info: roles.map(|role| ThreadInfo { role, name: String::new() }).to_vec(),
            totals: Totals { makespan_ns: 100, ..Totals::default() },
            ..Recording::default()
        };
        let lanes = Lanes::new(&Trace::new(recording).unwrap());
        let choice = choose_lanes(&lanes, max);
        assert_eq!(choice.shown, expect);
        assert_eq!((choice.total, choice.rule == "all threads"), (6, all));
    }

    #[test]
    fn the_busiest_workers_stay() {
        check(6, &[2, 4, 0, 1, 3, 5], true);
        check(9, &[2, 4, 0, 1, 3, 5], true);
        check(5, &[2, 4, 1, 3, 5], false);
        check(3, &[2, 4, 3], false);
        check(1, &[2], false);
        check(0, &[], false);
    }
}
