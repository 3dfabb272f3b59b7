//! Deterministic discrete-event simulation of task schedulers: scenario in, recording out.
//!
//! No I/O, no clock, no thread, no float in the run, no panic on a scenario that validates.

mod draw;
mod error;
mod kernel;
mod locks;
mod model;
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
mod timer;

pub use draw::Span;
pub use error::{FieldError, ScenarioError};
pub use plan::{Class, LockRef, ModelPlan, Op, Plan};
pub use profile::{COSTS, CostEntry, CostInfo, CostProfile, Costs, PROFILE_NAMES, Unit};
pub use quantity::{Bytes, MAX_BYTES, MAX_NANOS, Milli, Nanos, QuantityError};
pub use recording::{NO_TASK, NO_WORKER, Recording, Records, TaskTag, ThreadInfo, ThreadTag, Totals};
pub use scenario::{
    Arrival, Bursts, CpuWork, DEFAULT_JDK, Dispatcher, Distribution, Duration, Iterations, LockKind, LockScope,
    LockSpec, Lognormal, MAX_CORES, MAX_RUNS, MAX_STEPS, MAX_TASKS, MAX_THREADS, Machine, Metric, Model, PRESET_NAMES,
    Pareto, Reference, RunSpec, SCENARIO_VERSION, Scenario, Step, TaskClass, preset,
};
pub use sim::{MAX_EVENTS, Progress, Simulation};
pub use state::{Activity, Reason, Role, TaskState};
pub use submissions::{Arrivals, Submissions};
