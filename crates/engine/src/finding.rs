//! What is wrong with a run as a whole: deadlock, livelock or starvation, with the tasks and resources involved.
//!
//! Only the types live here, as they stand in recordings and result files; finding them is in `detect`.

use serde::{Deserialize, Serialize};

/// Most tasks that a finding names in one list; it counts the others.
pub const MAX_NAMED: usize = 8;

/// [ns] The shortest wait that is a starvation.
pub(crate) const STARVES_NS: u64 = 100_000_000;

/// One thing that is wrong with a run, and who is involved.
///
/// A run with a deadlock or a livelock ends unfinished, which is its result and no error; a starvation ends no run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Which of them.
    pub kind: FindingKind,
    /// [ns] When it began: when the last task of the circle waited, with the first retry without progress, or when a
    /// ready task was taken last before the starvation or the first one became ready; at a lock, when one that waited
    /// got it last or the first one began to wait.
    pub from_ns: u64,
    /// [ns] The end of the run; starvation: when a ready task was taken again, or one that waited got the lock.
    pub to_ns: u64,
    /// How many tasks cannot go on, repeat themselves, or are starved.
    pub tasks: u32,
    /// Deadlock: how many tasks wait in a circle, the last for the first; 0 where no circle was found.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub circle: u32,
    /// Livelock: [ns] After this time everything happens again; `None` where nothing repeats, and what the tasks try is
    /// never given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_ns: Option<u64>,
    /// The circle in its order, the tasks with the lowest numbers, or those starved longest; at most [`MAX_NAMED`].
    pub waits: Vec<Wait>,
}

/// The ways in which tasks keep each other from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Tasks wait for each other, and nothing is left that could wake them.
    Deadlock,
    /// Tasks run, try and give up again and again, and none gets any further.
    Livelock,
    /// Tasks are ready, and for long none of them is taken, because a few others keep the workers; or tasks wait for a
    /// lock, and for long others take it whenever it is given back.
    Starvation,
}

impl FindingKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Deadlock, Self::Livelock, Self::Starvation];

    /// The word used in files and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::Livelock => "livelock",
            Self::Starvation => "starvation",
        }
    }
}

/// A task that cannot go on, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The task.
    pub task: TaskName,
    /// What it has meanwhile; at most [`MAX_NAMED`].
    pub holds: Vec<Resource>,
    /// What it waits for.
    pub wants: Resource,
    /// Tasks that have it or must end first; at most [`MAX_NAMED`]. In a circle the next task is the first of them; in a
    /// starvation those that have had a worker longest, or the first that took the lock.
    pub held_by: Vec<TaskName>,
    /// Livelock: how often it tries in one period. Starvation at a lock: how often others took it meanwhile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub times: u32,
}

/// A task by its number and the name of its class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskName {
    /// Its number.
    pub id: u32,
    /// The name of its class.
    pub class: String,
}

/// What a task holds or waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// What kind of thing it is.
    pub kind: ResourceKind,
    /// The name of the lock or semaphore in the scenario, or of the thread; empty for any worker, and for children.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// Kinds of things that tasks hold and wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceKind {
    /// A lock.
    Lock,
    /// A permit of a semaphore.
    Permit,
    /// A lock or permit that is free and reserved for the task, which has been woken to take it and has not run yet.
    Turn,
    /// A thread of the model that runs tasks.
    Worker,
    /// The end of the tasks that it has spawned.
    Children,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}
