//! Deterministic discrete-event simulation of task schedulers: scenario in, recording out.
//!
//! No I/O, no clock, no thread, no float in the run, no panic on a scenario that validates.

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
mod submit;
mod timer;

pub use error::{FieldError, ScenarioError};
pub use plan::{Class, LockRef, ModelPlan, Op, Plan, Span};
pub use profile::{COSTS, CostEntry, CostInfo, CostProfile, Costs, PROFILE_NAMES, Unit};
pub use quantity::{Bytes, MAX_BYTES, MAX_NANOS, Nanos, QuantityError};
pub use recording::{NO_TASK, NO_WORKER, Recording, Records, TaskTag, ThreadInfo, ThreadTag, Totals};
pub use scenario::{
    CpuWork, DEFAULT_JDK, Dispatcher, Distribution, Duration, Iterations, LockKind, LockScope, LockSpec, MAX_CORES,
    MAX_RUNS, MAX_STEPS, MAX_TASKS, MAX_THREADS, Machine, Metric, Model, PRESET_NAMES, Reference, RunSpec,
    SCENARIO_VERSION, Scenario, Step, TaskClass, preset,
};
pub use sim::{MAX_EVENTS, Progress, Simulation};
pub use state::{Activity, Reason, Role, TaskState};
