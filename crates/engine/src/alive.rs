//! Which OS threads exist: how many at a time, how many the OS allows (P-6), and how one ends.
//!
//! When a thread is created and by whom is the model's business; what it does in between is in `kernel`.

use crate::kernel::{Kernel, NEVER, Status};
use crate::recording::NO_TASK;
use crate::state::Activity;

/// Threads that exist for the OS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alive {
    pub(crate) now: u32,
    /// Most at one time: so many stacks the process needs (P-7).
    pub(crate) peak: u32,
}

impl Kernel {
    /// Whether the OS lets the process have one more thread (P-6).
    pub(crate) fn can_create_thread(&self) -> bool {
        self.alive.now < self.plan.max_threads
    }

    /// Counts a thread that did not exist until now.
    pub(crate) fn born(&mut self, thread: u32) {
        if self.thread(thread).status == Status::Absent {
            self.alive.now += 1;
            self.alive.peak = self.alive.peak.max(self.alive.now);
        }
    }

    /// The thread exists from now on, and is parked.
    pub(crate) fn born_parked(&mut self, thread: u32) {
        self.born(thread);
        self.thread_mut(thread).status = Status::Parked;
        self.record_thread(thread, Activity::Idle, NO_TASK);
    }

    /// The thread ends and gives its core and its stack back. Its number may be given to a new thread.
    pub(crate) fn end_thread(&mut self, thread: u32) {
        self.record_thread(thread, Activity::Absent, NO_TASK);
        self.leave(thread, Status::Absent, NO_TASK);
        self.alive.now -= 1;
        let state = self.thread_mut(thread);
        state.vruntime = 0;
        state.remaining = 0;
    }

    /// A parked thread that would have woken at a time waits without limit from now on.
    pub(crate) fn park_on(&mut self, thread: u32) {
        self.thread_mut(thread).wake_at = NEVER;
    }
}
