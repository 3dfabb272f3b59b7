//! What the submitter is to hand over next, and when: times that are known, or in a closed loop the ends of tasks.
//!
//! A submitter that is a thread waits here; one that is a coroutine waits as its runtime does.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use parkbench_engine::{Plan, Submissions};

/// What the submitter does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It hands this task over.
    Submit(u32),
    /// It waits for so long, or until it is woken.
    Wait(Duration),
    /// It waits until it is woken.
    WaitForAnEnd,
    /// It has handed every task over.
    Nothing,
}

impl Next {
    /// Waits on this thread, where that is what the submitter does: until the time has passed, or the thread is unparked.
    pub(crate) fn park(self) {
        match self {
            Self::Submit(_) => {}
            Self::Wait(early) => thread::park_timeout(early),
            Self::WaitForAnEnd | Self::Nothing => thread::park(),
        }
    }
}

/// The arrivals of a run in which tasks arrive because others have ended.
#[derive(Debug)]
pub(crate) struct ClosedArrivals {
    /// Tasks before the first of each class, and whether its tasks arrive.
    classes: Vec<(u32, bool)>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    submissions: Submissions,
    /// Tasks that have not been handed over.
    left: u32,
    /// [ns] Until when the submitter waits; an arrival before that has to wake it.
    waits_until: u64,
}

impl ClosedArrivals {
    /// Of this plan; `None` where every arrival is known beforehand.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let submissions = plan.submissions();
        let arriving = plan.classes.iter().filter(|class| class.parent.is_none());
        let left = arriving.map(|class| class.count).sum();
        submissions.is_closed().then(|| Self {
            classes: plan.classes.iter().map(|class| (class.first, class.parent.is_none())).collect(),
            state: Mutex::new(State { submissions, left, waits_until: 0 }),
        })
    }

    /// What the submitter does at `now` [ns], counted from the first submission.
    pub(crate) fn next(&self, now: u64) -> Next {
        let mut state = self.state();
        if state.left == 0 {
            return Next::Nothing;
        }
        if let Some(task) = state.submissions.next_by(now) {
            (state.left, state.waits_until) = (state.left - 1, 0);
            return Next::Submit(task);
        }
        let due = state.submissions.due();
        state.waits_until = due.unwrap_or(u64::MAX);
        due.map_or(Next::WaitForAnEnd, |due| Next::Wait(Duration::from_nanos(due - now)))
    }

    /// The task has ended at `now` [ns], or never begins; whether the submitter waits for longer than it should.
    pub(crate) fn ended(&self, task: u32, now: u64) -> bool {
        let class = self.classes.partition_point(|&(first, _)| first <= task) - 1;
        let (_, arrives) = self.classes[class];
        if !arrives {
            return false;
        }
        let mut state = self.state();
        state.submissions.ended(class, now);
        let wakes = state.submissions.due().is_some_and(|due| due < state.waits_until);
        if wakes {
            // Once is enough.
            state.waits_until = 0;
        }
        wakes
    }

    /// No method leaves it half-changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::Scenario;

    use super::*;

    fn arrivals(tasks: &str) -> Option<ClosedArrivals> {
        let text = format!(
            r#"{{"version":1,"name":"x","machine":{{"cores":4}},"tasks":[{tasks}],"runs":[{{"model":"thread-pool"}}]}}"#
        );
        ClosedArrivals::of(&Plan::new(&Scenario::from_json(&text).unwrap(), 0).unwrap())
    }

    #[test]
    fn a_user_sends_the_next_task_after_the_end_of_the_last() {
        assert!(arrivals(r#"{"count":2,"steps":["yield"]}"#).is_none());
        let arrivals = arrivals(
            r#"{"count":3,"arrival":{"closed-loop":{"users":2,"think":"10 ns"}},"steps":["yield"]},
               {"count":1,"at":"50 ns","steps":[{"spawn":{"count":1,"steps":["yield"]}},"join"]}"#,
        )
        .unwrap();
        assert_eq!([0, 0].map(|now| arrivals.next(now)), [Next::Submit(0), Next::Submit(1)]);
        assert_eq!(arrivals.next(1), Next::Wait(Duration::from_nanos(49)));
        // The user's next is due before that.
        assert!(arrivals.ended(1, 20));
        assert_eq!(arrivals.next(20), Next::Wait(Duration::from_nanos(10)));
        // All tasks of this loop have been sent, or will be.
        assert!(!arrivals.ended(0, 25));
        assert_eq!(arrivals.next(31), Next::Submit(2));
        assert_eq!(arrivals.next(31), Next::Wait(Duration::from_nanos(19)));
        assert_eq!([50, 50].map(|now| arrivals.next(now)), [Next::Submit(3), Next::Nothing]);
        // Nobody waits for the end of a task that another has started, nor for one after the last.
        assert!(!arrivals.ended(4, 60) && !arrivals.ended(2, 70));
        assert_eq!(arrivals.next(80), Next::Nothing);
    }

    #[test]
    fn the_submitter_waits_for_an_end_where_all_users_do() {
        let one = r#"{"count":2,"arrival":{"closed-loop":{"users":1,"think":"5 ns"}},"steps":["yield"]}"#;
        let arrivals = arrivals(one).unwrap();
        assert_eq!([0, 1].map(|now| arrivals.next(now)), [Next::Submit(0), Next::WaitForAnEnd]);
        assert!(arrivals.ended(0, 9));
        assert_eq!(arrivals.next(14), Next::Submit(1));
    }
}
