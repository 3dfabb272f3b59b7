//! What goroutines do once they run: the steps of a task, `main`, sleeps, and the return from calls that block.

use std::cmp::Reverse;

use super::mutex::Heir;
use super::{Go, MAIN, Work};
use crate::kernel::Kernel;
use crate::plan::LockRef;
use crate::queue::Event;
use crate::recording::NO_TASK;
use crate::scenario::BlockKind;
use crate::state::{Activity, Reason, TaskState};
use crate::tasks::Next;

impl Go {
    /// Runs the task until its M works or waits (`false`), or has something else to do (`true`).
    pub(super) fn run(&mut self, kernel: &mut Kernel, machine: u32, task: u32) -> bool {
        kernel.task_running(task, machine);
        loop {
            if std::mem::take(&mut self.machines[machine as usize].preempt) {
                kernel.task_suspended(task, TaskState::Queued, Reason::TimeSlice);
                return self.make_way(kernel, machine, task);
            }
            if self.machines[machine as usize].debt > 0 || kernel.finished {
                return true;
            }
            if let Some(left) = self.left.remove(&task)
                && kernel.busy(machine, left, Activity::Running, task)
            {
                return false;
            }
            let Some(next) = kernel.next_op(task) else { break };
            match next {
                Next::Cpu(ns) => {
                    kernel.advance(task);
                    if kernel.busy(machine, ns, Activity::Running, task) {
                        return false;
                    }
                }
                Next::Io(ns, reason) => {
                    kernel.advance(task);
                    if ns > 0 {
                        return self.sleep(kernel, machine, task, ns, reason);
                    }
                }
                Next::Block(ns, BlockKind::ObjectWait) => {
                    kernel.advance(task);
                    if ns > 0 {
                        return self.sleep(kernel, machine, task, ns, Reason::Io);
                    }
                }
                Next::Block(ns, _) => {
                    kernel.advance(task);
                    if ns > 0 {
                        return self.enter_syscall(kernel, machine, task, ns);
                    }
                }
                Next::Lock(lock) => {
                    if let Some(number) = lock.shared
                        && !self.mutexes.acquire(number, lock, task, kernel.now)
                    {
                        kernel.task_suspended(task, TaskState::LockWait, lock.kind.reason());
                        self.machines[machine as usize].work = Work::Look;
                        return true;
                    }
                    kernel.entered(task, lock);
                    kernel.advance(task);
                }
                Next::TryLock(lock, otherwise) => {
                    let taken = lock.shared.is_none_or(|number| self.mutexes.try_acquire(number, task));
                    kernel.tried(task, lock, otherwise, taken);
                }
                Next::Unlock(lock) => {
                    kernel.advance(task);
                    kernel.left(task, lock);
                    if self.unlock(kernel, machine, task, lock) {
                        return true;
                    }
                }
                Next::Yield => {
                    kernel.advance(task);
                    kernel.task_suspended(task, TaskState::Queued, Reason::Yielded);
                    return self.make_way(kernel, machine, task);
                }
                Next::Prepare => {
                    kernel.advance(task);
                    if kernel.busy(machine, kernel.plan.costs.go_spawn, Activity::Overhead, task) {
                        return false;
                    }
                }
                Next::Spawn(child) => {
                    kernel.advance(task);
                    kernel.task_submitted(child);
                    self.ready(kernel, machine, child);
                }
                Next::Join => {
                    if !kernel.joined(task) {
                        kernel.task_suspended(task, TaskState::Waiting, Reason::Children);
                        self.machines[machine as usize].work = Work::Look;
                        return true;
                    }
                    kernel.advance(task);
                }
            }
        }
        self.end(kernel, machine, task);
        true
    }

    fn end(&mut self, kernel: &mut Kernel, machine: u32, task: u32) {
        self.machines[machine as usize].work = Work::Look;
        if let Some(parent) = kernel.task_done(task) {
            kernel.task_suspended(parent, TaskState::Queued, Reason::Resumed);
            self.ready(kernel, machine, parent);
        }
        if kernel.all_done() {
            self.wake_main(kernel, machine);
        } else if self.main_waits
            && let Some(due) = kernel.next_due()
        {
            // Closed loop: whoever waited for this task thinks and sends another.
            self.main_timer(kernel, machine, due);
        }
    }

    /// To the end of the global queue.
    fn make_way(&mut self, kernel: &mut Kernel, machine: u32, goroutine: u32) -> bool {
        self.global.push_back(goroutine);
        self.machines[machine as usize].work = Work::Look;
        self.wake_proc(kernel, Some(machine));
        true
    }

    /// Whether the task has given its M up.
    fn unlock(&mut self, kernel: &mut Kernel, machine: u32, task: u32, lock: LockRef) -> bool {
        let Some(number) = lock.shared else { return false };
        let (heir, in_place) = match self.mutexes.release(number, lock, kernel.now) {
            Heir::Nobody => return false,
            Heir::Ready(heir) => (heir, false),
            Heir::InPlace(heir) => (heir, true),
        };
        kernel.task_suspended(heir, TaskState::Queued, Reason::Resumed);
        self.ready(kernel, machine, heir);
        if in_place && !kernel.finished {
            kernel.task_suspended(task, TaskState::Queued, Reason::Yielded);
            self.put(machine, task, false);
            self.machines[machine as usize].work = Work::Look;
        }
        in_place
    }

    /// The task parks, then its M puts the timer into the heap of the P.
    fn sleep(&mut self, kernel: &mut Kernel, machine: u32, task: u32, ns: u64, reason: Reason) -> bool {
        let deadline = kernel.now + ns;
        kernel.task_suspended(task, TaskState::Waiting, reason);
        self.wakes[task as usize] = deadline;
        kernel.queue.push_late(deadline, Event::Deadline(task));
        self.machines[machine as usize].work = Work::Insert(task, deadline);
        !kernel.busy(machine, kernel.plan.costs.go_timer_insert, Activity::Overhead, NO_TASK)
    }

    pub(super) fn add_timer(&mut self, kernel: &mut Kernel, machine: u32, goroutine: u32, deadline: u64) {
        let Some(proc) = self.machines[machine as usize].proc else { return };
        let first = self.procs[proc].first_timer().is_none_or(|first| deadline < first);
        self.procs[proc].timers.push(Reverse((deadline, self.timers, goroutine)));
        self.timers += 1;
        self.first_timer = self.first_timer.min(deadline);
        if first {
            self.wake_poller(kernel, deadline, Some(machine));
        }
    }

    /// `main` sleeps until an arrival, if it does not yet.
    fn main_timer(&mut self, kernel: &mut Kernel, machine: u32, due: u64) {
        if self.main_timers.first().is_none_or(|&first| due < first) {
            self.main_timers.insert(due);
            self.add_timer(kernel, machine, MAIN, due);
        }
    }

    /// `main` submits what has arrived, and ends with the last task.
    pub(super) fn run_main(&mut self, kernel: &mut Kernel, machine: u32) -> bool {
        if let Some(task) = self.submitting.take() {
            kernel.task_submitted(task);
            self.ready(kernel, machine, task);
            return true;
        }
        if kernel.all_done() {
            kernel.record_thread(machine, Activity::Overhead, NO_TASK);
            kernel.finished = true;
            return false;
        }
        if std::mem::take(&mut self.machines[machine as usize].preempt) {
            return self.make_way(kernel, machine, MAIN);
        }
        kernel.arrive();
        if let Some(task) = kernel.next_arrived() {
            self.submitting = Some(task);
            kernel.busy_event(machine, kernel.plan.costs.go_spawn, Activity::Overhead, NO_TASK);
            return false;
        }
        self.main_waits = true;
        self.machines[machine as usize].work = Work::Look;
        if let Some(due) = kernel.next_due() {
            self.main_timer(kernel, machine, due);
        }
        true
    }

    fn enter_syscall(&mut self, kernel: &mut Kernel, machine: u32, task: u32, ns: u64) -> bool {
        let state = &mut self.machines[machine as usize];
        state.work = Work::Syscall(task);
        state.old_proc = state.proc;
        if let Some(proc) = state.proc {
            self.procs[proc].in_syscall = true;
        }
        self.wake_sysmon(kernel);
        kernel.block_for(machine, task, ns, Reason::BlockingCall);
        false
    }

    /// The call has returned: on with the same P, with the old one if its M is in a call, with an idle one, or into
    /// the global queue.
    pub(super) fn exit_syscall(&mut self, kernel: &mut Kernel, machine: u32, task: u32) -> bool {
        self.machines[machine as usize].work = Work::Run(task);
        if let Some(proc) = self.machines[machine as usize].proc {
            self.procs[proc].in_syscall = false;
            self.procs[proc].syscall_tick += 1;
            return true;
        }
        let old = self.machines[machine as usize].old_proc.take();
        let free = old.filter(|&proc| self.procs[proc].in_syscall);
        if let Some(proc) = free
            && let Some(other) = self.procs[proc].machine
        {
            self.take_proc(other, proc);
            self.acquire(machine, proc);
            self.procs[proc].syscall_tick += 1;
            return true;
        }
        if let Some(proc) = self.idle_procs.pop() {
            self.acquire(machine, proc);
            self.procs[proc].syscall_tick += 1;
            self.wake_sysmon(kernel);
            return true;
        }
        kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
        self.global.push_back(task);
        self.stop(kernel, machine)
    }
}
