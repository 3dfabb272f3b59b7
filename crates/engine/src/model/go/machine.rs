//! Ms: which exist, which has which P, and how they are started, stopped and woken from their poll.

use super::{Go, MAIN, Work};
use crate::kernel::Kernel;
use crate::state::{Reason, Role, TaskState};

/// Ms that a Go program may have unless it says otherwise (`debug.SetMaxThreads`), `sysmon`'s among them.
const MAX_MACHINES: usize = 10_000;

/// An M: an OS thread.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) work: Work,
    pub(super) proc: Option<usize>,
    /// The P that it had before its call.
    pub(super) old_proc: Option<usize>,
    /// It looks for work and runs nothing, or has been woken to.
    pub(super) spins: bool,
    /// `sysmon` has asked its goroutine to make way.
    pub(super) preempt: bool,
    /// [ns] What it still has to pay for waking others.
    pub(super) debt: u64,
}

impl Go {
    pub(super) fn add_machine(&mut self, kernel: &mut Kernel) -> u32 {
        let thread = kernel.add_thread(Role::Worker, format!("M{}", self.machines.len()));
        debug_assert_eq!(thread as usize, self.machines.len());
        self.machines.push(Machine {
            work: Work::Look,
            proc: None,
            old_proc: None,
            spins: false,
            preempt: false,
            debt: 0,
        });
        thread
    }

    pub(super) fn acquire(&mut self, machine: u32, proc: usize) {
        self.procs[proc].machine = Some(machine);
        self.procs[proc].in_syscall = false;
        self.machines[machine as usize].proc = Some(proc);
    }

    /// Takes the P away from its M.
    pub(super) fn release(&mut self, machine: u32) {
        if let Some(proc) = self.machines[machine as usize].proc.take() {
            self.procs[proc].machine = None;
            self.procs[proc].in_syscall = false;
        }
    }

    /// The M looks for work and is counted as spinning.
    pub(super) fn spin(&mut self, machine: u32) {
        if !std::mem::replace(&mut self.machines[machine as usize].spins, true) {
            self.spinning += 1;
            self.need_spinning = false;
        }
    }

    /// Starts one more M on an idle P if nobody spins (`wakep`).
    pub(super) fn wake_proc(&mut self, kernel: &mut Kernel, by: Option<u32>) {
        if self.spinning > 0 {
            return;
        }
        if let Some(proc) = self.idle_procs.pop() {
            self.spinning += 1;
            self.start(kernel, proc, true, by);
        } else {
            self.need_spinning = true;
        }
    }

    /// Starts an M with this P (`startm`); who spins has been counted. Whoever starts it pays for that.
    pub(super) fn start(&mut self, kernel: &mut Kernel, proc: usize, spins: bool, by: Option<u32>) {
        let costs = &kernel.plan.costs;
        let (unpark, create) = (costs.go_unpark, costs.thread_create);
        let (machine, cost) = match self.idle_machines.pop() {
            Some(machine) => (machine, unpark),
            // One more thread is `sysmon`'s.
            None if self.machines.len() + 1 >= MAX_MACHINES.min(kernel.plan.max_threads as usize) => {
                die(kernel);
                return;
            }
            None => (self.add_machine(kernel), create),
        };
        self.acquire(machine, proc);
        let state = &mut self.machines[machine as usize];
        state.work = Work::Look;
        state.spins = spins;
        if let Some(by) = by {
            self.machines[by as usize].debt += cost;
        }
        if kernel.is_parked(machine) {
            kernel.wake(machine);
        } else {
            kernel.wake_after(machine, create);
        }
    }

    /// The M has no P and waits until it is started again.
    pub(super) fn stop(&mut self, kernel: &mut Kernel, machine: u32) -> bool {
        self.machines[machine as usize].work = Work::Stop;
        self.idle_machines.push(machine);
        kernel.park(machine);
        false
    }

    /// Wakes the M that polls, for there is an earlier timer (`netpollBreak`).
    pub(super) fn break_poll(&mut self, kernel: &mut Kernel, by: Option<u32>) {
        if let Some(poller) = self.poller
            && kernel.is_parked(poller)
        {
            kernel.wake(poller);
            if let Some(by) = by {
                self.machines[by as usize].debt += kernel.plan.costs.go_unpark;
            }
        }
    }

    /// A timer is the first of its P: somebody must wait for it (`wakeNetPoller`).
    pub(super) fn wake_poller(&mut self, kernel: &mut Kernel, until: u64, by: Option<u32>) {
        if self.poller.is_none() {
            self.wake_proc(kernel, by);
        } else if self.poll_until > until {
            self.break_poll(kernel, by);
        }
    }

    /// Puts a goroutine into the queue of the M's P.
    pub(super) fn put(&mut self, machine: u32, goroutine: u32, next: bool) {
        let Some(proc) = self.machines[machine as usize].proc else {
            self.global.push_back(goroutine);
            return;
        };
        let over = self.procs[proc].put(goroutine, next);
        self.local += 1;
        self.local -= over.len();
        self.global.extend(over);
    }

    /// A goroutine can go on: it comes next on the P of whoever has woken it, and an idle P may steal it.
    pub(super) fn ready(&mut self, kernel: &mut Kernel, machine: u32, goroutine: u32) {
        self.put(machine, goroutine, true);
        self.wake_proc(kernel, Some(machine));
    }

    pub(super) fn wake_main(&mut self, kernel: &mut Kernel, machine: u32) {
        if std::mem::take(&mut self.main_waits) {
            self.ready(kernel, machine, MAIN);
        }
    }
}

/// A program that cannot have one more thread ends at once, and with it every goroutine.
fn die(kernel: &mut Kernel) {
    for task in 0..kernel.plan.tasks {
        if !matches!(kernel.state(task), TaskState::Done | TaskState::Failed) {
            kernel.task_suspended(task, TaskState::Failed, Reason::NativeThreads);
            kernel.done += 1;
        }
    }
    kernel.finished = true;
}
