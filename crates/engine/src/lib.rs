//! Deterministic discrete-event simulation of task schedulers: scenario in, recording out.
//!
//! No I/O, no clock, no thread, no float in the run, no panic on a scenario that validates.

mod alive;
mod arena;
mod detect;
mod draw;
mod error;
mod finding;
#[cfg(feature = "internals")]
pub mod internals;
mod kernel;
mod locks;
mod model;
mod near;
mod os;
mod plan;
mod profile;
mod quantity;
mod queue;
mod recorder;
mod recording;
mod rng;
mod scenario;
mod sim;
mod state;
mod submissions;
mod submit;
mod tasks;
mod timer;

pub use arena::Arena;
pub use draw::Span;
pub use error::{FieldError, ScenarioError};
pub use finding::{Finding, FindingKind, MAX_NAMED, Resource, ResourceKind, TaskName, Wait};
pub use plan::{ChildRef, Class, Guard, GuardKind, LockRef, MixPlan, ModelPlan, Op, Parent, Plan};
pub use profile::{
    COSTS, CostEntry, CostInfo, CostProfile, Costs, PROFILE_NAMES, PROFILE_RUNTIMES, ProfileFile, ProfileMachine, Unit,
};
pub use quantity::{Bytes, MAX_BYTES, MAX_NANOS, Milli, Nanos, QuantityError};
pub use recording::{NO_TASK, NO_WORKER, Recording, Records, TaskTag, ThreadInfo, ThreadTag, Totals};
pub use scenario::{
    Arrival, Block, BlockKind, Blocking, Bursts, ClosedLoop, CpuWork, DEFAULT_JDK, Dispatcher, Distribution, Duration,
    Flavor, Iterations, LockKind, LockScope, LockSpec, Lognormal, MAX_CORES, MAX_DEPTH, MAX_OPS, MAX_RUNS, MAX_STEPS,
    MAX_TASKS, MAX_THREADS, Machine, Metric, Mix, Model, PRESET_NAMES, Pareto, PoolKind, Reference, Rejection, Repeat,
    RunSpec, Runtime, SCENARIO_VERSION, Scenario, SemaphoreSpec, SpawnSpec, Step, TaskClass, preset,
};
pub use sim::{MAX_EVENTS, MAX_RECORDS, Progress, Simulation};
pub use state::{Activity, Reason, Role, TaskState};
pub use submissions::{Arrivals, LoopPlan, Submissions};
