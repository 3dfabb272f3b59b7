//! `sysmon`: preempts goroutines that have run for long, and takes the Ps of Ms in calls that block.

use super::{Go, SYSMON, Work};
use crate::kernel::{Kernel, NEVER, Status};
use crate::queue::Event;
use crate::state::Activity;

/// [ns] A goroutine that has run for so long must make way.
const SLICE: u64 = 10_000_000;

/// [ns] Its shortest and its longest sleep, and after how many rounds in vain it begins to sleep longer.
const SHORTEST: u64 = 20_000;
const LONGEST: u64 = 10_000_000;
const PATIENCE: u32 = 50;

#[derive(Clone, Debug, Default)]
pub(super) struct Sysmon {
    /// Rounds in vain.
    idle: u32,
    /// [ns] Its sleep.
    delay: u64,
    /// [ns] When it wakes, or [`NEVER`].
    wakes_at: u64,
    /// All Ps are idle: it sleeps until the first timer, or until a call returns.
    deep: bool,
}

impl Go {
    /// Sleeps for one round.
    pub(super) fn sysmon_sleeps(&mut self, kernel: &mut Kernel) {
        let sysmon = &mut self.sysmon;
        if sysmon.idle == 0 {
            sysmon.delay = SHORTEST;
        } else if sysmon.idle > PATIENCE {
            sysmon.delay = (sysmon.delay * 2).min(LONGEST);
        }
        let until = kernel.now + sysmon.delay + kernel.plan.costs.go_usleep;
        self.sysmon_until(kernel, until);
    }

    fn sysmon_until(&mut self, kernel: &mut Kernel, time: u64) {
        self.sysmon.wakes_at = time;
        if time != NEVER {
            kernel.queue.push_late(time, Event::Deadline(SYSMON));
        }
    }

    /// A call begins or returns where all Ps were idle.
    pub(super) fn wake_sysmon(&mut self, kernel: &mut Kernel) {
        if std::mem::take(&mut self.sysmon.deep) {
            self.sysmon.idle = 0;
            self.sysmon.delay = SHORTEST;
            self.sysmon_until(kernel, kernel.now);
        }
    }

    /// Where all sleep until the same timer, `sysmon` wakes before the M that polls.
    pub(super) fn sysmon_first(&mut self, kernel: &mut Kernel) {
        if self.sysmon.deep {
            self.sysmon(kernel);
        }
    }

    /// Handles its deadline.
    pub(super) fn sysmon(&mut self, kernel: &mut Kernel) {
        if self.sysmon.wakes_at != kernel.now {
            return;
        }
        let was_deep = std::mem::take(&mut self.sysmon.deep);
        let first = self.first_timer;
        if !was_deep && self.idle_procs.len() == self.procs.len() && first > kernel.now {
            self.sysmon.deep = true;
            self.sysmon_until(kernel, first);
            return;
        }
        let mut taken = false;
        for proc in 0..self.procs.len() {
            taken |= self.retake(kernel, proc);
        }
        self.sysmon.idle = if taken { 0 } else { self.sysmon.idle.saturating_add(1) };
        self.sysmon_sleeps(kernel);
    }

    /// Preempts whoever has run too long on the P, and takes the P if its M is in a call; whether it has done that.
    fn retake(&mut self, kernel: &mut Kernel, proc: usize) -> bool {
        let now = kernel.now;
        let (nobody_idle, state) = (self.spinning + self.idle_procs.len() == 0, &mut self.procs[proc]);
        let Some(machine) = state.machine else { return false };
        if matches!(kernel.thread(machine).status, Status::Absent | Status::Waking) {
            return false;
        }
        let mut long = false;
        if state.seen_tick.0 != state.tick {
            state.seen_tick = (state.tick, now);
        } else if state.seen_tick.1 + SLICE <= now {
            long = true;
        }
        let (in_syscall, empty) = (state.in_syscall, state.is_empty());
        if in_syscall && !long && state.seen_syscall.0 != state.syscall_tick {
            state.seen_syscall = (state.syscall_tick, now);
            return false;
        }
        let recent = state.seen_syscall.1 + SLICE > now;
        if long {
            self.preempt(kernel, machine);
        }
        if !in_syscall || empty && !nobody_idle && recent {
            return false;
        }
        self.take_proc(machine, proc);
        self.hand_off(kernel, proc);
        true
    }

    /// Asks the goroutine on this M to make way, at once where it computes. An M in a call, or between goroutines, is
    /// left alone.
    fn preempt(&mut self, kernel: &mut Kernel, machine: u32) {
        let Work::Run(task) = self.machines[machine as usize].work else { return };
        self.machines[machine as usize].preempt = true;
        if kernel.thread(machine).burst == Activity::Running
            && let Some(left) = kernel.cut_burst(machine)
        {
            self.left.insert(task, left);
        }
    }

    /// The P leaves the M, which is in a call.
    pub(super) fn take_proc(&mut self, machine: u32, proc: usize) {
        self.release(machine);
        self.procs[proc].syscall_tick += 1;
    }

    /// Gives the P to another M if there is work for it (`handoffp`).
    fn hand_off(&mut self, kernel: &mut Kernel, proc: usize) {
        if !self.procs[proc].is_empty() || !self.global.is_empty() {
            self.start(kernel, proc, false, None);
        } else if self.spinning + self.idle_procs.len() == 0 {
            self.spinning += 1;
            self.need_spinning = false;
            self.start(kernel, proc, true, None);
        } else if self.idle_procs.len() + 1 == self.procs.len() && self.poller.is_none() {
            // The last P that is not idle: somebody must wait for the timers.
            self.start(kernel, proc, false, None);
        } else {
            self.idle_procs.push(proc);
            if let Some(first) = self.procs[proc].first_timer() {
                self.wake_poller(kernel, first, None);
            }
        }
    }
}
