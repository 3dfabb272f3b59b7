//! The closed lists of the vocabulary: task states, the reason for each, and what a thread is doing.
//!
//! The numbers are part of the trace format and of the digest: add at the end, never renumber.

use serde::{Deserialize, Serialize};

macro_rules! closed_list {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $number:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant = $number,)* }

        impl $name {
            /// Every member, in order of its number.
            pub const ALL: [Self; [$($number),*].len()] = [$(Self::$variant),*];

            /// The member with this number, if there is one.
            pub const fn from_u8(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }

            /// The word used in files, links and tables.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

closed_list! {
    /// What a task is doing.
    TaskState {
        /// Not submitted yet.
        Pending = 0, "pending";
        /// Ready, but no worker has taken it.
        Queued = 1, "queued";
        /// Its code runs on a core.
        Running = 2, "running";
        /// It has a worker, and the worker has no core.
        Preempted = 3, "preempted";
        /// Suspended; it holds no worker.
        Waiting = 4, "waiting";
        /// It waits and holds its worker (pinned, where a green thread should have been able to let go).
        Blocked = 5, "blocked";
        /// It waits for a lock.
        LockWait = 6, "lock-wait";
        /// Finished.
        Done = 7, "done";
        /// Ended without finishing.
        Failed = 8, "failed";
    }
}

closed_list! {
    /// Why a task is in its state.
    Reason {
        /// The state says it all.
        None = 0, "none";
        /// The submitter has not reached it.
        NotSubmitted = 1, "not-submitted";
        /// Every worker is taken, or the one that was woken has not arrived.
        NoWorker = 2, "no-worker";
        /// Every core is taken by another thread.
        NoCore = 3, "no-core";
        /// A suspendable wait: sleep, socket, remote call.
        Io = 4, "io";
        /// The wait is over, and nobody has fired its timer yet: the timer thread is busy, or whoever looks after it (Go, tokio).
        TimerBacklog = 5, "timer-backlog";
        /// A call that the runtime cannot suspend; it holds the worker.
        BlockingCall = 6, "blocking-call";
        /// A monitor or native frame keeps the green thread on its carrier (T-12, T-15).
        Pinned = 7, "pinned";
        /// Another task holds the monitor.
        Monitor = 8, "monitor";
        /// Another task holds the lock.
        Lock = 9, "lock";
        /// Resumed, and every worker is taken.
        Resumed = 10, "resumed";
        /// It has arrived, and the submitter has not reached it.
        Arrived = 11, "arrived";
        /// It waits for the tasks that it has spawned.
        Children = 12, "children";
        /// Every permit of the semaphore is taken.
        Permit = 13, "permit";
        /// It has let others run first.
        Yielded = 14, "yielded";
        /// It could not take a lock, has given its locks back, and will try again.
        Retry = 15, "retry";
        /// Another task runs the initialiser of the class.
        ClassInitializer = 16, "class-initializer";
        /// The OS lets the process have no more threads: `unable to create native thread` (P-6).
        NativeThreads = 17, "unable-to-create-native-thread";
        /// The pool's queue was full.
        Rejected = 18, "rejected";
        /// The task that would have spawned it has failed.
        ParentFailed = 19, "parent-failed";
        /// Its time slice is over, and the runtime has taken its worker away (G-1).
        TimeSlice = 20, "time-slice";
    }
}

closed_list! {
    /// What a thread is doing.
    Activity {
        /// Not created yet, or ended.
        Absent = 0, "absent";
        /// Parked without work.
        Idle = 1, "idle";
        /// Woken, and on its way to a core.
        Waking = 2, "waking";
        /// The scheduler's own work: submit, dispatch, mount, switch, timers.
        Overhead = 3, "overhead";
        /// Runs a task's code.
        Running = 4, "running";
        /// Held by a task that waits.
        Blocked = 5, "blocked";
        /// Has work and no core.
        Preempted = 6, "preempted";
    }
}

closed_list! {
    /// What a thread is for.
    Role {
        /// Hands tasks over: the thread that calls `execute`, `start` or `launch`.
        Submitter = 0, "submitter";
        /// Runs tasks: pool thread, carrier, dispatcher thread, event loop.
        Worker = 1, "worker";
        /// Wakes sleepers.
        Timer = 2, "timer";
        /// Hands monitors over (JDK 24 and later).
        Unblocker = 3, "unblocker";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: Serialize>(member: T, expect: &str) {
        assert_eq!(serde_json::to_value(member).unwrap(), expect);
    }

    #[test]
    fn files_have_the_words_of_tables() {
        for state in TaskState::ALL {
            check(state, state.as_str());
        }
        for reason in Reason::ALL {
            check(reason, reason.as_str());
        }
        for activity in Activity::ALL {
            check(activity, activity.as_str());
        }
        for role in Role::ALL {
            check(role, role.as_str());
        }
    }

    #[test]
    fn numbers_read_back() {
        for state in TaskState::ALL {
            assert_eq!(TaskState::from_u8(state as u8), Some(state));
        }
        for reason in Reason::ALL {
            assert_eq!(Reason::from_u8(reason as u8), Some(reason));
        }
        assert_eq!(TaskState::from_u8(9), None);
        assert_eq!(Activity::from_u8(7), None);
        assert_eq!(Role::from_u8(4), None);
    }
}
