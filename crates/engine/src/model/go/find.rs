//! Where an M finds its next goroutine: `schedule` and `findRunnable` of the runtime, in their order.

use rand_core::Rng as _;

use super::proc::{Proc, QUEUE};
use super::{Go, MAIN, Work};
use crate::kernel::{Kernel, NEVER, Status};
use crate::recording::NO_TASK;
use crate::state::{Activity, Reason, TaskState};

/// A P looks at the global queue first when its tick is a multiple of this.
const GLOBAL_TICK: u64 = 61;

/// Rounds of a search; in the last one timers and `runnext` are taken too.
const ROUNDS: u8 = 4;

/// [ns] For how long a thief leaves `runnext` to a P that is running.
const RUNNEXT_GRACE: u64 = 3_000;

/// How far a search through the other Ps is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Search {
    round: u8,
    /// The P that is looked at, the step to the one after it, and how many there still are.
    at: u32,
    stride: u32,
    left: u32,
    /// The `runnext` that it has left to its P for a moment.
    spared: Option<u32>,
    /// It has fired timers of this P, or of any.
    fired_here: bool,
    fired: bool,
}

/// Steps that have no divisor in common with the number of Ps, so that they reach all of them.
pub(super) fn strides(procs: u32) -> Vec<u32> {
    fn divisor(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { divisor(b, a % b) }
    }
    (1..=procs).filter(|&stride| divisor(stride, procs) == 1).collect()
}

impl Go {
    /// The M has a P and nothing to do.
    pub(super) fn look(&mut self, kernel: &mut Kernel, machine: u32) -> bool {
        let Some(proc) = self.machines[machine as usize].proc else { return self.stop(kernel, machine) };
        self.machines[machine as usize].work = Work::Look;
        if let Some(goroutine) = self.take_due(proc, kernel.now) {
            return self.fire(kernel, machine, goroutine, None);
        }
        if self.procs[proc].tick.is_multiple_of(GLOBAL_TICK)
            && let Some(goroutine) = self.global.pop_front()
        {
            return self.execute(kernel, machine, goroutine, false);
        }
        if let Some((goroutine, inherits)) = self.take_local(proc) {
            return self.execute(kernel, machine, goroutine, inherits);
        }
        if let Some(goroutine) = self.take_batch(proc) {
            return self.execute(kernel, machine, goroutine, false);
        }
        let busy = self.procs.len() - self.idle_procs.len();
        if self.machines[machine as usize].spins || 2 * self.spinning < busy {
            self.spin(machine);
            let search = self.round(0, false);
            return self.steal(kernel, machine, search);
        }
        let until = self.procs[proc].first_timer().unwrap_or(NEVER);
        self.rest(kernel, machine, proc, until)
    }

    fn take_local(&mut self, proc: usize) -> Option<(u32, bool)> {
        let taken = self.procs[proc].take();
        self.local -= usize::from(taken.is_some());
        taken
    }

    /// The first of the global queue; its share of the others goes to the P's queue.
    fn take_batch(&mut self, proc: usize) -> Option<u32> {
        let size = self.global.len();
        let share = (size / self.procs.len() + 1).min(size).min(QUEUE / 2);
        let first = self.global.pop_front()?;
        let others = self.global.drain(..share - 1);
        self.local += others.len();
        self.procs[proc].queue.extend(others);
        Some(first)
    }

    /// A round of a search, which begins at a random P and goes on by a random stride.
    fn round(&mut self, round: u8, fired: bool) -> Search {
        let count = self.procs.len() as u32;
        let draw = self.rng.next_u32();
        let stride = self.strides[(draw / count) as usize % self.strides.len()];
        Search { round, at: draw % count, stride, left: count, spared: None, fired_here: false, fired }
    }

    /// Goes on with a search through the other Ps, and rests if there is nothing.
    pub(super) fn steal(&mut self, kernel: &mut Kernel, machine: u32, search: Search) -> bool {
        let Some(proc) = self.machines[machine as usize].proc else { return self.stop(kernel, machine) };
        // Where there is nothing anywhere, the search would go through all Ps in vain.
        if (self.local > 0 || search.fired || self.first_timer <= kernel.now)
            && let Some(goes_on) = self.search(kernel, machine, proc, search)
        {
            return goes_on;
        }
        let until = self.first_timer;
        self.rest(kernel, machine, proc, until)
    }

    /// Looks at each of the other Ps in each round; `None` if there is nothing.
    fn search(&mut self, kernel: &mut Kernel, machine: u32, proc: usize, mut search: Search) -> Option<bool> {
        loop {
            let last = search.round + 1 == ROUNDS;
            if search.left == 0 {
                if last {
                    break;
                }
                search = self.round(search.round + 1, search.fired);
                continue;
            }
            let victim = search.at as usize;
            if victim != proc
                && let Some(goes_on) = self.rob(kernel, machine, (proc, victim), last, &mut search)
            {
                return Some(goes_on);
            }
            search.spared = None;
            search.at = (search.at + search.stride) % self.procs.len() as u32;
            search.left -= 1;
        }
        if search.fired {
            // What timers have made ready may be anywhere by now.
            self.machines[machine as usize].work = Work::Look;
            return Some(true);
        }
        None
    }

    /// Takes what there is at the victim: half of its queue; in the last round timers before and `runnext` after that.
    fn rob(
        &mut self,
        kernel: &mut Kernel,
        machine: u32,
        (proc, victim): (usize, usize),
        last: bool,
        search: &mut Search,
    ) -> Option<bool> {
        if last && let Some(goroutine) = self.take_due(victim, kernel.now) {
            search.fired_here = true;
            search.fired = true;
            return Some(self.fire(kernel, machine, goroutine, Some(*search)));
        }
        if std::mem::take(&mut search.fired_here)
            && let Some((goroutine, inherits)) = self.take_local(proc)
        {
            return Some(self.execute(kernel, machine, goroutine, inherits));
        }
        if let Some(goroutine) = self.grab(proc, victim) {
            return Some(self.execute(kernel, machine, goroutine, false));
        }
        let next = self.procs[victim].next.filter(|_| last)?;
        if search.spared != Some(next) && self.is_running(kernel, victim) {
            search.spared = Some(next);
            self.machines[machine as usize].work = Work::Steal(*search);
            kernel.park_until(machine, kernel.now + RUNNEXT_GRACE + kernel.plan.costs.go_usleep);
            return Some(false);
        }
        self.procs[victim].next = None;
        self.local -= 1;
        Some(self.execute(kernel, machine, next, false))
    }

    /// Takes half of the victim's queue, rounded up, and runs the last of that.
    fn grab(&mut self, proc: usize, victim: usize) -> Option<u32> {
        let size = self.procs[victim].queue.len();
        let mut grabbed: Vec<u32> = self.procs[victim].queue.drain(..size - size / 2).collect();
        let first = grabbed.pop()?;
        self.local -= 1;
        self.procs[proc].queue.extend(grabbed);
        Some(first)
    }

    /// The P has an M that runs Go code.
    fn is_running(&self, kernel: &Kernel, proc: usize) -> bool {
        let machine = self.procs[proc].machine.filter(|_| !self.procs[proc].in_syscall);
        machine.is_some_and(|machine| matches!(kernel.thread(machine).status, Status::OnCore | Status::RunQueue))
    }

    /// The goroutine of the P's first timer, if that is due: removes the timer.
    fn take_due(&mut self, proc: usize, now: u64) -> Option<u32> {
        if self.first_timer > now {
            return None;
        }
        let before = self.procs[proc].first_timer();
        let goroutine = self.procs[proc].take_due(now)?;
        if before == Some(self.first_timer) && self.procs[proc].first_timer() != before {
            self.first_timer = self.procs.iter().filter_map(Proc::first_timer).min().unwrap_or(NEVER);
        }
        Some(goroutine)
    }

    /// Gives the P back and waits: for the first timer, if nobody does yet, or until it is started again.
    fn rest(&mut self, kernel: &mut Kernel, machine: u32, proc: usize, mut until: u64) -> bool {
        if !self.machines[machine as usize].spins && self.need_spinning {
            self.spin(machine);
            self.machines[machine as usize].work = Work::Look;
            return true;
        }
        self.release(machine);
        self.idle_procs.push(proc);
        let spun = std::mem::take(&mut self.machines[machine as usize].spins);
        if spun {
            self.spinning -= 1;
            // Who stops spinning looks once more, for whoever made work meanwhile has woken nobody.
            if (self.local > 0 || !self.global.is_empty())
                && let Some(proc) = self.idle_procs.pop()
            {
                self.acquire(machine, proc);
                self.spin(machine);
                self.machines[machine as usize].work = Work::Look;
                return true;
            }
            until = until.min(self.first_timer);
        }
        if until == NEVER {
            return self.stop(kernel, machine);
        }
        if self.poller.is_none() {
            self.poller = Some(machine);
            self.poll_until = until;
            self.machines[machine as usize].work = Work::Poll(spun);
            let costs = &kernel.plan.costs;
            let (delay, tick) = (until.saturating_sub(kernel.now), costs.go_poll_tick);
            let wait = match (delay, tick) {
                (0, _) => 0,
                (_, 0) => delay + costs.timer_lateness,
                // `epoll_wait` counts in whole milliseconds: one where less is left, rounded down otherwise.
                _ => (delay / tick).max(1) * tick + costs.timer_lateness,
            };
            kernel.park_until(machine, kernel.now + wait);
            return false;
        }
        if self.poll_until > until {
            self.break_poll(kernel, Some(machine));
        }
        self.stop(kernel, machine)
    }

    /// The M has polled, and looks for work if there is a P.
    pub(super) fn polled(&mut self, kernel: &mut Kernel, machine: u32, spun: bool) -> bool {
        self.sysmon_first(kernel);
        self.poller = None;
        self.poll_until = NEVER;
        let Some(proc) = self.idle_procs.pop() else { return self.stop(kernel, machine) };
        self.acquire(machine, proc);
        if spun {
            self.spin(machine);
        }
        self.machines[machine as usize].work = Work::Look;
        true
    }

    /// The M stops spinning, for it has found something, and switches to that.
    pub(super) fn execute(&mut self, kernel: &mut Kernel, machine: u32, goroutine: u32, inherits: bool) -> bool {
        if std::mem::take(&mut self.machines[machine as usize].spins) {
            self.spinning -= 1;
            self.wake_proc(kernel, Some(machine));
        }
        let state = &mut self.machines[machine as usize];
        state.preempt = false;
        state.work = Work::Switch(goroutine);
        if let Some(proc) = state.proc {
            self.procs[proc].tick += u64::from(!inherits);
        }
        let task = if goroutine == MAIN { NO_TASK } else { goroutine };
        !kernel.busy(machine, kernel.plan.costs.go_switch, Activity::Overhead, task)
    }

    fn fire(&mut self, kernel: &mut Kernel, machine: u32, goroutine: u32, search: Option<Search>) -> bool {
        self.machines[machine as usize].work = Work::Fire(goroutine, search);
        !kernel.busy(machine, kernel.plan.costs.go_timer_fire, Activity::Overhead, NO_TASK)
    }

    /// A timer has made its goroutine ready, on the P of whoever fired it.
    pub(super) fn fired(&mut self, kernel: &mut Kernel, machine: u32, goroutine: u32, search: Option<Search>) -> bool {
        self.machines[machine as usize].work = search.map_or(Work::Look, Work::Steal);
        if goroutine == MAIN {
            while self.main_timers.first().is_some_and(|&due| due <= kernel.now) {
                self.main_timers.pop_first();
            }
            self.wake_main(kernel, machine);
        } else {
            self.wakes[goroutine as usize] = NEVER;
            kernel.task_suspended(goroutine, TaskState::Queued, Reason::Resumed);
            self.ready(kernel, machine, goroutine);
        }
        true
    }
}
