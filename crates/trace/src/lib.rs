//! What happened in a run: state at any time, densities, lanes, statistics, comparison with published figures, files.
//!
//! Every number that is shown or exported is derived here from a [`Recording`](parkbench_engine::Recording), once.
//! Nothing here knows pixels, browsers or clocks; times are whole nanoseconds from the start of the run.

mod choose;
mod codec;
mod compare;
mod cursor;
mod density;
mod error;
mod file;
mod lanes;
mod metrics;
mod result;
mod summary;
#[cfg(test)]
mod testkit;
mod times;
mod trace;
mod workspace;

pub use choose::{LaneChoice, choose_lanes};
pub use codec::{CONTAINER_VERSION, Encoder, Sink, Source, decode, decode_from, encode};
pub use compare::{Comparison, compare};
pub use cursor::StateCursor;
pub use density::{Integral, density, in_flight_peak, integrals};
pub use error::TraceError;
pub use file::{AboutRun, TRACE_FILE_VERSION, TraceCost, TraceFile, TracedRun};
pub use lanes::{ACTIVITIES, ActivityTotals, Lane, LaneCell, Lanes, Span, severity};
pub use metrics::{MemoryBytes, Metrics, WorkerUse};
pub use result::{Origin, RESULT_VERSION, ResultFile, RunMemory, RunResult};
pub use summary::Summary;
pub use times::{Failures, Tally};
pub use trace::{STATES, TaskRecord, Trace};
pub use workspace::Workspace;
