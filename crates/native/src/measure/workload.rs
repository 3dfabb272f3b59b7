//! The engine's plan of a run as real runtimes execute it: counts and durations that are ready to use.
//!
//! What a wait or a lock is in each runtime is decided in `pool`, `green` and `coroutine`.

use std::ops::RangeFrom;
use std::time::Duration;

use parkbench_engine::{GuardKind, LockRef, Op, Plan, Scenario, ScenarioError, Span};

use super::cpu;

/// All tasks of one run; each does what the simulated one does, with the same draws.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    plan: Plan,
    /// By class.
    needs: Vec<Needs>,
}

/// What a task needs of its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// A thread: it only computes.
    Nothing,
    /// It waits and yields as well.
    Waits,
    /// It may do anything.
    All,
}

/// One step of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Compute for so many iterations.
    Spin(u64),
    /// Compute for so many nanoseconds on a core.
    Compute(u64),
    /// Wait in a way that the runtime can suspend.
    Io(Duration),
    /// Wait and hold the thread.
    Block(Duration),
    /// Take this lock.
    Lock(Which),
    /// Give the lock that was taken last back.
    Unlock,
    /// Take a permit of the guard of this number.
    Acquire(usize),
    /// Give one back.
    Release(usize),
    /// Let others run first.
    Yield,
    /// Start this task.
    Spawn(u32),
    /// Wait until every task that this one has started has ended.
    Join,
}

impl Needs {
    fn of(ops: &[Op]) -> Self {
        let computes = |op: &Op| matches!(op, Op::Iterations(..) | Op::Cpu(_));
        let waits = |op: &Op| computes(op) || matches!(op, Op::Io(_) | Op::Backoff(_) | Op::Block(..) | Op::Yield);
        if ops.iter().all(computes) {
            Self::Nothing
        } else if ops.iter().all(waits) {
            Self::Waits
        } else {
            Self::All
        }
    }
}

impl Action {
    /// Computes, where that is the step; the other steps are the runtimes'.
    pub(crate) fn compute(self) {
        match self {
            Self::Spin(iterations) => {
                cpu::spin(iterations);
            }
            Self::Compute(ns) => cpu::compute(ns),
            _ => {}
        }
    }

    /// Whether it can hold its task up; a lock of the task's own cannot.
    pub(crate) const fn stops(self) -> bool {
        match self {
            Self::Io(_) | Self::Block(_) | Self::Acquire(_) | Self::Yield | Self::Join => true,
            Self::Lock(which) => matches!(which, Which::Shared(_)),
            Self::Spin(_) | Self::Compute(_) | Self::Unlock | Self::Release(_) | Self::Spawn(_) => false,
        }
    }
}

/// Which lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// One that all tasks share, by its number.
    Shared(usize),
    /// One of the task's own, a new one each time.
    Own(usize),
}

impl Workload {
    /// Prepares run number `run` of the scenario.
    pub(crate) fn new(scenario: &Scenario, run: usize) -> Result<Self, ScenarioError> {
        let plan = Plan::new(scenario, run)?;
        let needs = plan.classes.iter().map(|class| Needs::of(&class.ops[..usize::from(class.end)])).collect();
        Ok(Self { plan, needs })
    }

    /// The plan that it follows.
    pub(crate) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The task that starts this one; `None` for one that arrives.
    pub(crate) fn parent(&self, task: u32) -> Option<u32> {
        self.plan.parent(task)
    }

    /// The task and all that it starts, and those start.
    pub(crate) fn family(&self, task: u32) -> usize {
        let of_child = |action| if let Action::Spawn(child) = action { self.family(child) } else { 0 };
        1 + self.actions(task).map(of_child).sum::<usize>()
    }

    /// Whether tasks start others.
    pub(crate) fn spawns(&self) -> bool {
        self.plan.classes.iter().any(|class| class.parent.is_some())
    }

    /// Tasks in all, those that others start included.
    pub(crate) const fn task_count(&self) -> u32 {
        self.plan.tasks
    }

    /// The permits of every lock and semaphore that tasks share, by its number; 1 for a lock.
    pub(crate) fn permits(&self) -> impl Iterator<Item = u32> + '_ {
        self.plan.guards.iter().map(|guard| guard.permits)
    }

    /// Every task in the order of submission, with the time after the first submission before which it must not be
    /// submitted; of a closed loop only each user's first.
    pub(crate) fn submissions(&self) -> impl Iterator<Item = (u32, Duration)> + '_ {
        let submissions = self.plan.submissions();
        let first = submissions.due().unwrap_or(0);
        submissions.map(move |(due, task)| (task, Duration::from_nanos(due - first)))
    }

    /// Times that the task takes a lock of its own.
    pub(crate) fn own_locks(&self, task: u32) -> usize {
        let own = |op: &&Op| matches!(op, Op::Lock(lock) if lock.shared.is_none());
        self.plan.class_of(task).ops.iter().filter(own).count()
    }

    /// What the task does, in order.
    pub(crate) fn actions(&self, task: u32) -> impl Iterator<Item = Action> + '_ {
        let mut own = 0..;
        let number = self.class(task);
        let class = &self.plan.classes[number];
        let ops = class.ops[..usize::from(class.end)].iter().enumerate();
        // To make a task is a part of starting it.
        ops.filter(|(_, op)| !matches!(op, Op::Prepare(_)))
            .map(move |(step, op)| self.action_of(task, number, step, op, &mut own))
    }

    /// What the task needs; where that is not all, [`Workload::action`] says what it does.
    pub(crate) fn needs(&self, task: u32) -> Needs {
        self.needs[self.class(task)]
    }

    /// What a task that does not need all does at this step, the first of which is 0; `None` at its end.
    ///
    /// A task that asks for each step keeps the number of the next one only, so it is as small as one written by hand.
    pub(crate) fn action(&self, task: u32, step: u16) -> Option<Action> {
        let number = self.class(task);
        let class = &self.plan.classes[number];
        let op = class.ops.get(usize::from(step)).filter(|_| step < class.end)?;
        Some(self.action_of(task, number, usize::from(step), op, &mut (0..)))
    }

    /// The number of a task's class.
    fn class(&self, task: u32) -> usize {
        self.plan.classes.partition_point(|class| class.first + class.count <= task)
    }

    fn action_of(&self, task: u32, class: usize, step: usize, op: &Op, own: &mut RangeFrom<usize>) -> Action {
        let ns = |step: usize, span: &Span| self.plan.duration(task, step, span);
        match op {
            Op::Iterations(iterations, _) => Action::Spin(*iterations),
            Op::Cpu(span) => Action::Compute(ns(step, span)),
            Op::Io(span) | Op::Backoff(span) => Action::Io(Duration::from_nanos(ns(step, span))),
            Op::Block(_, span) => Action::Block(Duration::from_nanos(ns(step, span))),
            Op::Lock(lock) => match lock.shared.map(|number| number as usize) {
                Some(number) if lock.kind == GuardKind::Semaphore => Action::Acquire(number),
                Some(number) => Action::Lock(Which::Shared(number)),
                None => Action::Lock(Which::Own(own.next().unwrap_or_default())),
            },
            Op::Unlock(LockRef { shared: Some(number), kind: GuardKind::Semaphore }) => {
                Action::Release(*number as usize)
            }
            // Locks are given back in reverse order, as `validate` has checked.
            Op::Unlock(_) => Action::Unlock,
            Op::Yield => Action::Yield,
            Op::Spawn(child) => Action::Spawn(self.plan.child(task, class, *child)),
            Op::Join => Action::Join,
            Op::TryLock(..) | Op::Prepare(_) | Op::Jump(_) | Op::End => {
                unreachable!("`check` refuses what a measurement cannot do yet")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_do_what_the_scenario_says() {
        let text = r#"{"version":1,"name":"x","machine":{"cores":4},"runs":[{"model":"thread-pool"}],"tasks":[
            {"count":2,"at":"5 ms","steps":[{"lock":{"name":"a","scope":"task"}},{"lock":{"name":"b"}},
                {"cpu":"20 us"},{"unlock":"b"},{"unlock":"a"},{"io":{"uniform":["2 s","2.2 s"]}}]},
            {"count":1,"at":"1 ms","steps":[{"repeat":{"times":2,"steps":[{"cpu":{"iterations":7}}]}},{"block":"3 ms"},
                "yield"]}]}"#;
        let workload = Workload::new(&Scenario::from_json(text).unwrap(), 0).unwrap();
        let ms = Duration::from_millis;
        let submissions: Vec<_> = workload.submissions().collect();
        assert_eq!(submissions, [(2, ms(0)), (0, ms(4)), (1, ms(4))]);
        assert_eq!((workload.task_count(), workload.own_locks(0)), (3, 1));
        assert_eq!(workload.permits().collect::<Vec<_>>(), [1]);
        let first: Vec<_> = workload.actions(0).collect();
        let locked = [Action::Lock(Which::Own(0)), Action::Lock(Which::Shared(0)), Action::Compute(20_000)];
        assert_eq!(first[..3], locked);
        assert_eq!(first[3..5], [Action::Unlock; 2]);
        assert!(matches!(first[5], Action::Io(wait) if (ms(2_000)..=ms(2_200)).contains(&wait)));
        assert_eq!(
            workload.actions(2).collect::<Vec<_>>(),
            [Action::Spin(7), Action::Spin(7), Action::Block(ms(3)), Action::Yield]
        );
        for (task, needs) in [(0, Needs::All), (2, Needs::Waits)] {
            assert_eq!(workload.needs(task), needs);
        }
        assert_eq!(Needs::of(&[Op::Iterations(1, Span::Constant(0))]), Needs::Nothing);
        let steps: Vec<_> = (0..).map_while(|step| workload.action(2, step)).collect();
        assert_eq!(steps, workload.actions(2).collect::<Vec<_>>());
        // The same draw for the same task, another one for another.
        assert_eq!(workload.actions(0).collect::<Vec<_>>(), first);
        assert_ne!(workload.actions(1).collect::<Vec<_>>(), first);
    }
}
