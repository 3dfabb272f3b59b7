//! The submitter: the thread that hands every task over, one after the other, and then waits for the last to end.

use crate::kernel::Kernel;
use crate::recording::NO_TASK;
use crate::state::{Activity, Role};

/// What a model does with a task that is handed over.
pub(crate) trait Accept {
    /// [ns] What handing `task` over costs the submitter, as things stand when it begins.
    fn submit_cost(&mut self, kernel: &mut Kernel, task: u32) -> u64;
    /// The task has been handed over.
    fn accept(&mut self, kernel: &mut Kernel, task: u32);
}

/// The order in which tasks are submitted: by time, then as in the file.
#[derive(Clone, Debug)]
pub(crate) struct Submissions {
    classes: Vec<(u64, u32, u32)>,
    class: usize,
    index: u32,
}

/// What to submit next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing before this time.
    Wait(u64),
    /// This task.
    Task(u32),
    /// Nothing any more.
    End,
}

impl Submissions {
    pub(crate) fn new(kernel: &Kernel) -> Self {
        let class = |index: usize| {
            let class = &kernel.plan.classes[index];
            (class.at, class.first, class.count)
        };
        Self { classes: kernel.plan.submission_order().into_iter().map(class).collect(), class: 0, index: 0 }
    }

    pub(crate) fn next(&mut self, now: u64) -> Next {
        let Some(&(at, first, count)) = self.classes.get(self.class) else { return Next::End };
        if at > now {
            return Next::Wait(at);
        }
        let task = first + self.index;
        self.index += 1;
        if self.index == count {
            self.index = 0;
            self.class += 1;
        }
        Next::Task(task)
    }
}

/// The submitting thread, where it is not a worker itself.
#[derive(Clone, Debug)]
pub(crate) struct Submitter {
    pub(crate) thread: u32,
    submissions: Submissions,
    current: Option<u32>,
}

impl Submitter {
    /// The thread `main`, which starts at once.
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let thread = kernel.add_thread(Role::Submitter, "main".to_owned());
        kernel.wake_after(thread, 0);
        Self { thread, submissions: Submissions::new(kernel), current: None }
    }

    /// The submitter is on a core and has nothing to do.
    pub(crate) fn resume(&mut self, kernel: &mut Kernel, model: &mut impl Accept) {
        if let Some(task) = self.current.take() {
            model.accept(kernel, task);
        }
        if kernel.all_done() {
            kernel.finished = true;
            return;
        }
        match self.submissions.next(kernel.now) {
            Next::Wait(at) => kernel.park_until(self.thread, at),
            Next::Task(task) => {
                self.current = Some(task);
                let cost = model.submit_cost(kernel, task);
                kernel.busy_event(self.thread, cost, Activity::Overhead, NO_TASK);
            }
            Next::End => kernel.park(self.thread),
        }
    }

    /// The last task has ended; the submitter learns of it after `delay`.
    pub(crate) fn join(&self, kernel: &mut Kernel, delay: u64) {
        kernel.wake_after(self.thread, delay);
    }
}
