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

/// The submitting thread, where it is not a worker itself.
#[derive(Clone, Debug)]
pub(crate) struct Submitter {
    pub(crate) thread: u32,
    current: Option<u32>,
}

impl Submitter {
    /// The thread `main`, which starts at once.
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let thread = kernel.add_thread(Role::Submitter, "main".to_owned());
        kernel.wake_after(thread, 0);
        Self { thread, current: None }
    }

    /// The submitter is on a core and has nothing to do.
    pub(crate) fn resume(&mut self, kernel: &mut Kernel, model: &mut impl Accept) {
        loop {
            self.hand_over(kernel, model);
            if self.go_on(kernel, model) {
                return;
            }
        }
    }

    /// The first half of `resume`: what was being submitted has been.
    pub(crate) fn hand_over(&mut self, kernel: &mut Kernel, model: &mut impl Accept) {
        if let Some(task) = self.current.take() {
            model.accept(kernel, task);
        }
    }

    /// The second half of `resume`: the next task, or the end. `false` if that task has been submitted already.
    pub(crate) fn go_on(&mut self, kernel: &mut Kernel, model: &mut impl Accept) -> bool {
        if kernel.all_done() {
            kernel.finished = true;
            return true;
        }
        if let Some(task) = kernel.next_arrived() {
            self.current = Some(task);
            let cost = model.submit_cost(kernel, task);
            kernel.work_event(self.thread, cost, Activity::Overhead, NO_TASK)
        } else {
            kernel.await_arrival(self.thread);
            true
        }
    }

    /// The last task has ended; the submitter learns of it after `delay`.
    pub(crate) fn join(&self, kernel: &mut Kernel, delay: u64) {
        kernel.wake_after(self.thread, delay);
    }
}
