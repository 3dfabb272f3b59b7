//! Goroutines: the scheduler of Go 1.26 (G-1), read in `runtime/proc.go`, as a variant of green threads.
//!
//! An M is an OS thread, a P is a licence to run Go code with a queue of its own; there are `GOMAXPROCS` Ps. The
//! goroutine `main` submits the tasks: it runs on a P itself, sleeps until the next arrival, and waits for the last.
//!
//! ```text
//!  pending ──go──► queued ───switch───► running ──────────────────────────────► done
//!                    ▲                   │ │ │ │
//!                    │ Gosched, or 10 ms │ │ │ │
//!                    ├───────────────────┘ │ │ └ block ─► blocked (holds its M; sysmon takes the P for other work)
//!                    │ ready: runnext      │ └── lock ──► lock-wait (holds nothing)
//!                    └─── waiting ◄────────┘ io: timer of the P
//!
//!  M:  stopped ─startm─► spinning ─found─► runs goroutines ─nothing left─► polls for timers, or stopped
//! ```
//!
//! Modelled: `runnext`, which inherits the time slice; the queue of 256 of each P, half of which overflows to the global
//! queue; the global queue first at each 61st tick; batches from the global queue; stealing half of a random P's queue
//! in four rounds, its `runnext` and timers in the last, and `runnext` of a busy P only after 3 us; no more spinning Ms
//! than half of the busy Ps, and one wake-up at a time; timers in a heap of each P, fired by whoever looks for work
//! there; one idle M that polls until the first timer, in whole milliseconds of `epoll_wait`; `sysmon`, which sleeps 20 us
//! and up to 10 ms where nothing happens, preempts whoever has run for 10 ms and takes the P of an M in a call that
//! blocks; the return from such a call to the old P, an idle one, or the global queue; `sync.Mutex` with its normal
//! and its starvation mode of 1 ms; semaphores and fair locks as channels, which hand over in order; the end of the
//! program when it needs more threads than there may be (10,000 by default).
//! Not modelled: garbage collection, stacks that grow, `LockOSThread`, the spinning of `Mutex.Lock` before it waits,
//! sockets apart from timers, the CPU time of `sysmon` and of a look through other Ps, timers that are stopped, waits of
//! Ms for each other at the global queue.
//! Knobs: `workers` (`GOMAXPROCS`), the `go_*` costs, `thread_wake`, `thread_create`, `timer_lateness` of the M that
//! polls, and the lateness of sleeps for `block` steps.
//! Seen on real Go with one P: the orders of `tests/data/go/orders.txt` (`cargo xtask go`).
//! Known divergences: a step that computes can be preempted anywhere, the scheduler's own work only after it; every
//! `block` is a system call (a wait in `Object.wait` parks the goroutine, as `sync.Cond` does); monitors are mutexes,
//! and frames on the stack hold nothing; the real runtime starts with a few ticks and threads from its own start-up;
//! where it dies for want of threads, every task that has not ended fails; where all sleep until the same timer, `sysmon`
//! wakes before whoever polls.

mod find;
mod machine;
mod mutex;
mod proc;
mod run;
mod sysmon;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rand_pcg::Pcg32;

use self::find::Search;
use self::machine::Machine;
use self::mutex::Mutexes;
use self::proc::Proc;
use self::sysmon::Sysmon;
use super::Scheduler;
use crate::kernel::{Kernel, NEVER};
use crate::locks::Locks;
use crate::plan::ModelPlan;
use crate::recording::NO_TASK;
use crate::rng::{Purpose, between, stream};
use crate::scenario::MAX_TASKS;
use crate::state::{Activity, Reason, TaskState};

/// The goroutine `main`, where others are tasks.
const MAIN: u32 = (1 << 21) - 2;
/// `sysmon`, among deadlines.
const SYSMON: u32 = (1 << 21) - 1;
const _: () = assert!(MAX_TASKS < MAIN as u64);

/// What an M is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Looks for a goroutine, with a P.
    Look,
    /// Looks through the other Ps.
    Steal(Search),
    /// Fires the timer of a goroutine, of its own P or of one that it searches.
    Fire(u32, Option<Search>),
    /// Switches to a goroutine.
    Switch(u32),
    /// Runs a goroutine.
    Run(u32),
    /// Puts the timer of a goroutine that has parked into the P's heap: its deadline in ns.
    Insert(u32, u64),
    /// In a call that blocks.
    Syscall(u32),
    /// Waits for the first timer, without a P; whether it was spinning before.
    Poll(bool),
    /// Has nothing to do and no P.
    Stop,
}

/// The model.
#[derive(Clone, Debug)]
pub(crate) struct Go {
    procs: Vec<Proc>,
    /// By thread number, for there are no other threads.
    machines: Vec<Machine>,
    /// Stopped Ms; the last to stop is started first.
    idle_machines: Vec<u32>,
    /// Idle Ps; the last to become idle is used first.
    idle_procs: Vec<usize>,
    /// The global queue.
    global: VecDeque<u32>,
    /// Goroutines in the queues of Ps.
    local: usize,
    /// Ms that spin, or have been woken to.
    spinning: usize,
    /// An M that goes idle is asked to spin instead, for somebody found work and no idle P.
    need_spinning: bool,
    /// The M that polls, and until when, in ns.
    poller: Option<u32>,
    poll_until: u64,
    /// Steps between Ps that reach every P.
    strides: Vec<u32>,
    rng: Pcg32,
    timers: u64,
    /// [ns] When the first timer of all is due, or [`NEVER`].
    first_timer: u64,
    /// [ns] When the sleep of each task ends, or [`NEVER`].
    wakes: Vec<u64>,
    /// [ns] What is left of the computing step of each task that has been preempted.
    left: BTreeMap<u32, u64>,
    sysmon: Sysmon,
    mutexes: Mutexes,
    /// The task that `main` is submitting.
    submitting: Option<u32>,
    /// `main` is neither running nor in a queue.
    main_waits: bool,
    /// [ns] Timers of `main`.
    main_timers: BTreeSet<u64>,
}

impl Go {
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let ModelPlan::Go { workers } = kernel.plan.model else { unreachable!("the plan is for this model") };
        let count = workers as usize;
        let mut go = Self {
            procs: vec![Proc::default(); count],
            machines: Vec::new(),
            idle_machines: Vec::new(),
            idle_procs: (0..count).rev().collect(),
            global: VecDeque::new(),
            local: 0,
            spinning: 0,
            need_spinning: false,
            poller: None,
            poll_until: NEVER,
            strides: find::strides(workers),
            rng: stream(kernel.plan.seed, Purpose::Scheduler, 0),
            timers: 0,
            first_timer: NEVER,
            wakes: vec![NEVER; kernel.plan.tasks as usize],
            left: BTreeMap::new(),
            sysmon: Sysmon::default(),
            mutexes: Mutexes::new(kernel),
            submitting: None,
            main_waits: false,
            main_timers: BTreeSet::new(),
        };
        // The first M has the first P and runs `main`.
        let first = go.add_machine(kernel);
        if let Some(proc) = go.idle_procs.pop() {
            go.acquire(first, proc);
            go.put(first, MAIN, false);
        }
        kernel.wake_after(first, 0);
        go.sysmon_sleeps(kernel);
        go
    }
}

impl Scheduler for Go {
    #[inline]
    fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        while !kernel.finished {
            let machine = &mut self.machines[thread as usize];
            let debt = std::mem::take(&mut machine.debt);
            let task = match machine.work {
                Work::Run(task) | Work::Switch(task) if task != MAIN => task,
                _ => NO_TASK,
            };
            if kernel.busy(thread, debt, Activity::Overhead, task) {
                return;
            }
            let goes_on = match self.machines[thread as usize].work {
                Work::Look | Work::Stop => self.look(kernel, thread),
                Work::Steal(search) => self.steal(kernel, thread, search),
                Work::Fire(goroutine, search) => self.fired(kernel, thread, goroutine, search),
                Work::Switch(goroutine) => {
                    self.machines[thread as usize].work = Work::Run(goroutine);
                    true
                }
                Work::Run(MAIN) => self.run_main(kernel, thread),
                Work::Run(task) => self.run(kernel, thread, task),
                Work::Insert(goroutine, deadline) => {
                    self.machines[thread as usize].work = Work::Look;
                    self.add_timer(kernel, thread, goroutine, deadline);
                    true
                }
                Work::Syscall(task) => self.exit_syscall(kernel, thread, task),
                Work::Poll(spun) => self.polled(kernel, thread, spun),
            };
            if !goes_on {
                return;
            }
        }
    }

    fn deadline(&mut self, kernel: &mut Kernel, task: u32) {
        if task == SYSMON {
            self.sysmon(kernel);
        } else if self.wakes[task as usize] == kernel.now {
            // Nobody has looked at the timers of its P yet.
            kernel.task_suspended(task, TaskState::Waiting, Reason::TimerBacklog);
        }
    }

    fn choices(&self) -> u64 {
        between(&mut self.rng.clone(), 0, u64::MAX)
    }

    fn locks(&self) -> &Locks {
        self.mutexes.locks()
    }
}
