//! What a task does: steps, durations, locks and semaphores as they stand in a file.
//!
//! Types only; reading is in `amounts`, checking in `validate`, resolving in `plan`.

use serde::{Deserialize, Serialize};

use crate::quantity::{Milli, Nanos};

/// One part of a task. In a file: `{ cpu = "20 us" }`, `{ lock = { name = "agent" } }`, `"yield"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Computes.
    Cpu(CpuWork),
    /// Waits in a way that the runtime can suspend: sleep, socket, remote call.
    Io(Duration),
    /// Waits in a way that the runtime cannot suspend: native call, file read, `Thread.sleep` in a coroutine.
    Block(Block),
    /// Takes a lock; `unlock` must follow.
    Lock(LockSpec),
    /// Gives the lock of this name back.
    Unlock(String),
    /// Takes a permit of a semaphore, such as a connection of a pool; `release` must follow.
    Acquire(SemaphoreSpec),
    /// Gives a permit of this semaphore back.
    Release(String),
    /// Lets others run first: `Thread.yield`, `yield()`, `yield_now`, `Gosched`.
    Yield,
    /// Starts other tasks, which run beside this one.
    Spawn(SpawnSpec),
    /// Waits until every task that this one has spawned has ended.
    Join,
    /// The same steps several times; draws differ from time to time.
    Repeat(Repeat),
}

/// A wait that the runtime cannot suspend, and what kind of call it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// How long.
    pub time: Duration,
    /// What the task waits in.
    pub kind: BlockKind,
}

impl From<Duration> for Block {
    fn from(time: Duration) -> Self {
        Self { time, kind: BlockKind::Native }
    }
}

impl Serialize for Block {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        if self.kind == BlockKind::Native {
            return self.time.serialize(serializer);
        }
        let mut table = serializer.serialize_struct("Block", 2)?;
        table.serialize_field("time", &self.time)?;
        table.serialize_field("kind", &self.kind)?;
        table.end()
    }
}

/// What a task waits in that the runtime cannot suspend. Only virtual threads tell the kinds apart (T-13 to T-17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// A native or foreign call: holds its carrier, and nobody makes up for it.
    #[default]
    Native,
    /// Reading or writing a file through a buffer: JDK 21 and 22 add a carrier meanwhile, later ones do not (T-17).
    File,
    /// `FileChannel.force`, a synchronous write, a DNS look-up: every JDK adds a carrier meanwhile (T-17).
    Fsync,
    /// `Object.wait` with this timeout, which nobody notifies: gives the innermost monitor up meanwhile. JDK 21 to 23
    /// add a carrier (T-13), later ones unmount (T-14).
    ObjectWait,
}

/// An amount of computation: a time, or iterations of the seed's loop (`sum += i * i`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CpuWork {
    /// Iterations; the profile's `cpu_iteration` says how long one takes.
    Iterations(Iterations),
    /// A time on a core.
    Time(Duration),
}

/// Iterations of the seed's loop, `sum += i * i`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Iterations {
    /// How many.
    #[cfg_attr(feature = "schema", schemars(range(max = super::validate::MAX_ITERATIONS)))]
    pub iterations: u64,
}

/// A length of time, the same for every task or drawn per task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Duration {
    /// Always the same.
    Constant(Nanos),
    /// Drawn for each task.
    Drawn(Distribution),
}

/// A distribution of durations; draws are whole nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Every nanosecond from the first to the second, both included, is equally likely.
    Uniform(Nanos, Nanos),
    /// Exponential with this mean.
    Exponential(Nanos),
    /// Lognormal: the logarithm is normally distributed.
    Lognormal(Lognormal),
    /// Bounded Pareto: many short and a few long ones.
    Pareto(Pareto),
    /// One of these, each as likely as it is frequent in the list.
    Empirical(#[cfg_attr(feature = "schema", schemars(schema_with = "super::schema::empirical"))] Vec<Nanos>),
}

/// A lognormal distribution: many near the median, a few much longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a lognormal distribution such as { median = \"50 ms\", sigma = 0.5 }")]
pub struct Lognormal {
    /// Half of the draws are shorter.
    pub median: Nanos,
    /// Standard deviation of the logarithm, from 0 to 4.
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schema::sigma"))]
    pub sigma: Milli,
}

/// A Pareto distribution between two bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    deny_unknown_fields,
    expecting = "a Pareto distribution such as { min = \"1 ms\", max = \"1 s\", shape = 1.2 }"
)]
pub struct Pareto {
    /// The shortest.
    pub min: Nanos,
    /// The longest.
    pub max: Nanos,
    /// How fast the tail falls, from 0.1 to 10; below 2 the tail is heavy.
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schema::shape"))]
    pub shape: Milli,
}

/// A lock to take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a lock such as { name = \"a\" }")]
pub struct LockSpec {
    /// Which one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub name: String,
    /// How it is implemented.
    #[serde(default)]
    pub kind: LockKind,
    /// One for all tasks, or one for each.
    #[serde(default)]
    pub scope: LockScope,
    /// `new ReentrantLock(true)`: nobody overtakes those who wait. Only for `reentrant`; a `Mutex` is always fair.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fair: bool,
    /// `tryLock`: if another task holds the lock, gives back every lock that it holds, waits this long and starts
    /// again with the first of them. Only for `reentrant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Duration>,
}

/// How a lock is implemented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LockKind {
    /// `synchronized`; `sync.Mutex` in Go, `std::sync::Mutex` on tokio.
    #[default]
    Monitor,
    /// `ReentrantLock` on threads; `kotlinx.coroutines.sync.Mutex` and `tokio::sync::Mutex` in coroutines.
    Reentrant,
    /// The initialiser of a class: pins a virtual thread on every JDK, and whoever needs the class meanwhile (T-15).
    ClassInitializer,
    /// A native frame on the stack, which no other task waits for: pins a virtual thread on every JDK (T-15).
    NativeFrame,
}

impl LockKind {
    /// Whether it is a lock that a run may replace by a lock of another kind.
    pub const fn is_replaceable(self) -> bool {
        matches!(self, Self::Monitor | Self::Reentrant)
    }
}

/// How many locks a name stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LockScope {
    /// One lock that all tasks share.
    #[default]
    Shared,
    /// Each task has a lock of its own, so nobody ever waits for it.
    Task,
}

/// A semaphore to take a permit of: `java.util.concurrent.Semaphore`, `kotlinx.coroutines.sync.Semaphore`,
/// `tokio::sync::Semaphore`, a buffered channel in Go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a semaphore such as { name = \"connection\", permits = 20 }")]
pub struct SemaphoreSpec {
    /// Which one; all tasks share it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub name: String,
    /// How many tasks may hold it at a time.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_THREADS)))]
    pub permits: u32,
    /// `new Semaphore(n, true)`: nobody overtakes those who wait. Those of coroutines always are.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fair: bool,
}

/// Tasks to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "tasks to spawn such as { count = 3, steps = [{ io = \"1 s\" }] }")]
pub struct SpawnSpec {
    /// A word for a person, such as `tool`.
    #[serde(default = "default_child_name")]
    pub name: String,
    /// How many each time.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_TASKS)))]
    pub count: u32,
    /// What each of them does, in order.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = super::MAX_STEPS)))]
    pub steps: Vec<Step>,
}

/// Steps to repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "steps to repeat such as { times = 5, steps = [{ io = \"1 s\" }] }")]
pub struct Repeat {
    /// How many times in all.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_OPS)))]
    pub times: u32,
    /// The steps.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = super::MAX_STEPS)))]
    pub steps: Vec<Step>,
}

fn default_child_name() -> String {
    "child".to_owned()
}

const fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}
