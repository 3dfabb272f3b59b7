//! Green threads: Java virtual threads of JDK 21 to 25 on carriers (T-1 to T-20).
//!
//! ```text
//!  pending ─start─► queued ──mount──► running ─────────────────────► done
//!                     ▲                │ │ │ │
//!                     │                │ │ │ └─ block; or io while pinned ──► blocked    (keeps its carrier; T-17 kinds
//!                     │                │ │ │                                              are made up for)
//!                     │ fire, resubmit │ │ └─ contended lock while pinned ──► lock-wait  (keeps its carrier)
//!                     │                │ └─── contended lock ──► lock-wait ─┐
//!                     │                └───── io, join ────────► waiting ───┤ leaves its carrier
//!                     └─────────────────────────────────────────────────────┘
//!
//!  carrier:  idle ─signal (active < parallelism), or makes up─► active ─nothing found─► spins ─► idle
//!                                                                 │ ▲
//!                                  call that is made up for (T-16)▼ │ call is over
//!                                                               blocked, not active
//! ```
//!
//! | | 21, 22 | 23 | 24 | 25 |
//! |---|---|---|---|---|
//! | inside a monitor, or entering one | pinned | pinned | unmounts | unmounts |
//! | `Object.wait` | carrier made up for | carrier made up for | unmounts | unmounts |
//! | class initialiser, native frame | pinned | pinned | pinned | pinned |
//! | buffered file I/O | carrier made up for | holds its carrier | holds its carrier | holds its carrier |
//! | fsync, DNS | made up for | made up for | made up for | made up for |
//! | timers | 1, fed under its lock | 1, fed under its lock | a power of 2, by carrier | 1, fed without lock; carriers run expiries |
//! | started by a green thread | own queue | own queue | outside queue | outside queue |
//!
//! Modelled: serial start on the submitter (T-1, T-20); FIFO queues, one for each carrier and one for each outside
//! submitter, with stealing from the oldest end (T-2); waking one idle carrier when a queue was empty, which wakes the
//! next (T-3), and none while as many are active as should be; idle carriers that look for work on their core for some
//! microseconds before they park; no time slicing (T-4); yields (T-7, T-8); the timers of every JDK (T-9, T-10, T-6);
//! pinning by monitors (T-12, T-13), class initialisers and native frames (T-15); monitors that unmount and the unblocker
//! thread (T-14); compensation (T-16) for the calls that have it (T-17); barging locks; and for
//! `may`, whose stacks are mapped, the 1,000 that it keeps (R-6).
//! Not modelled: the depth of the stack (T-11: `vt_resume` is one cost); notification of `Object.wait`; class loading; the
//! end of idle carriers after 30 s. Carriers exist from the start, as in a warm JVM.
//! Knobs: `jdk`, `carriers`, `max_pool`, `min_runnable`, the `vt_*` costs, and `thread_create` for a carrier that makes up.
//! Known divergences: a carrier goes on with the queue that it took from last and then looks at the others in turn; the
//! real pool starts at a random one. Yields and starts of all carriers share the submitter's outside queue; in the JDK each
//! carrier has one of a few by its probe, usually another one. The timer thread parks whenever it has nothing to do, so the count of OS switches is rather
//! high where expiries come one by one. Where the OS refuses another thread, the call goes on without a carrier to make
//! up for it; the JDK throws an error.

mod carriers;
mod jdk;
mod run;
mod timers;

use carriers::{Carriers, Entry, SUBMITTED, Work};
use jdk::Rules;
use run::Ran;
use timers::{Timers, Unblocker};

use super::Scheduler;
use crate::kernel::Kernel;
use crate::locks::Locks;
use crate::plan::ModelPlan;
use crate::recording::NO_TASK;
use crate::state::Activity;
use crate::submit::{Accept, Submitter};

/// Stacks that `may` has from the start, and the most that it keeps (R-6).
const KEPT_STACKS: u32 = 1_000;

/// The model.
#[derive(Clone, Debug)]
pub(crate) struct GreenThreads {
    submitter: Submitter,
    pool: Pool,
}

#[derive(Clone, Debug)]
struct Pool {
    rules: Rules,
    carriers: Carriers,
    timers: Timers,
    unblocker: Unblocker,
    locks: Locks,
    /// Stacks that no green thread has: what `may` maps, JDKs have in the heap.
    stacks: u32,
}

impl GreenThreads {
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let ModelPlan::GreenThreads { jdk, carriers, max_pool, min_runnable } = kernel.plan.model else {
            unreachable!("the plan is for this model")
        };
        let rules = Rules::of(jdk);
        let count = rules.timers(kernel.plan.cores);
        let submitter = Submitter::new(kernel);
        let mut carriers = Carriers::new(kernel, carriers, max_pool, min_runnable, count);
        let timers = Timers::new(kernel, |index| rules.timer_name(index, count), count);
        let unblocker = Unblocker::new(kernel, rules.monitors_unmount());
        carriers.spares_follow(kernel);
        let locks = Locks::new(&kernel.plan.guards);
        Self { submitter, pool: Pool { rules, carriers, timers, unblocker, locks, stacks: KEPT_STACKS } }
    }
}

impl Scheduler for GreenThreads {
    #[allow(clippy::inline_always, reason = "a part of the loop over events")]
    #[inline(always)]
    fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        if let Some(index) = self.pool.carriers.position(thread) {
            if self.pool.resume_carrier(kernel, thread, index) && kernel.all_done() {
                let delay = kernel.plan.costs.thread_wake + kernel.plan.costs.vt_join;
                self.submitter.join(kernel, delay);
            }
        } else if thread == self.submitter.thread {
            self.submitter.resume(kernel, &mut self.pool);
        } else if let Some(timer) = self.pool.timers.position(thread) {
            self.pool.resume_timer(kernel, timer);
        } else {
            debug_assert_eq!(thread, self.pool.unblocker.thread);
            self.pool.resume_unblocker(kernel);
        }
    }

    fn deadline(&mut self, kernel: &mut Kernel, task: u32) {
        self.pool.timers.expire(kernel, task);
    }

    fn locks(&self) -> &Locks {
        &self.pool.locks
    }
}

impl Accept for Pool {
    fn submit_cost(&mut self, kernel: &mut Kernel, _task: u32) -> u64 {
        kernel.plan.costs.vt_spawn + self.stack_cost(kernel)
    }

    /// T-1: one submission queue for everything that this thread starts. T-20: no limit.
    fn accept(&mut self, kernel: &mut Kernel, task: u32) {
        kernel.task_submitted(task);
        self.carriers.push(kernel, SUBMITTED, Entry::Mount(task));
    }
}

impl Pool {
    /// [ns] A green thread takes a stack, which is mapped if none is left.
    fn stack_cost(&mut self, kernel: &Kernel) -> u64 {
        match self.stacks.checked_sub(1) {
            Some(left) => {
                self.stacks = left;
                0
            }
            None => kernel.plan.costs.vt_stack,
        }
    }

    /// [ns] A green thread has ended: its stack is kept, or unmapped if there are enough.
    fn unstack_cost(&mut self, kernel: &Kernel) -> u64 {
        if self.stacks < KEPT_STACKS {
            self.stacks += 1;
            return 0;
        }
        kernel.plan.costs.vt_unmap
    }

    /// Returns whether a task has ended.
    #[allow(clippy::inline_always, reason = "a part of the loop over events")]
    #[inline(always)]
    fn resume_carrier(&mut self, kernel: &mut Kernel, thread: u32, index: usize) -> bool {
        let mut ended = false;
        loop {
            let running = match self.carriers.list[index].work {
                Work::None => match self.carriers.take(kernel, index) {
                    Some(Entry::Expiry(task)) => {
                        // T-6: lazily, that is without waking anybody, onto the queue of this very carrier.
                        self.carriers.push_lazily(self.carriers.own(index), Entry::Mount(task));
                        continue;
                    }
                    Some(Entry::Mount(task)) => {
                        let costs = &kernel.plan.costs;
                        let cost = if kernel.has_begun(task) { costs.vt_resume } else { costs.vt_first_run };
                        if kernel.work(thread, cost, Activity::Overhead, task) {
                            self.carriers.list[index].work = Work::Mounting(task);
                            return ended;
                        }
                        task
                    }
                    None => {
                        self.carriers.deactivate(thread, index);
                        if kernel.busy(thread, kernel.plan.costs.vt_spin, Activity::Overhead, NO_TASK) {
                            return ended;
                        }
                        continue;
                    }
                },
                Work::Spinning => {
                    self.carriers.list[index].work = Work::None;
                    kernel.park(thread);
                    return ended;
                }
                Work::Inserting { task, deadline } => {
                    self.timers.arm(kernel, deadline, task);
                    self.carriers.list[index].work = Work::None;
                    continue;
                }
                Work::Mounting(task) | Work::Running(task) => task,
            };
            self.carriers.list[index].work = Work::Running(running);
            match self.run(kernel, thread, index, running) {
                Ran::Busy => return ended,
                Ran::Unmounted => {}
                Ran::Ended => {
                    ended = true;
                    let cost = self.unstack_cost(kernel);
                    if kernel.busy(thread, cost, Activity::Overhead, NO_TASK) {
                        return ended;
                    }
                }
            }
        }
    }
}
