//! The memory of traces and figures made before, kept for the next ones.
//!
//! Nothing of a trace itself is kept, so that the next one does not depend on it.

use crate::times::{Life, TaskTimes};

/// Memory that traces and figures have left; see [`Trace::new_in`](crate::Trace::new_in) and
/// [`Metrics::of_in`](crate::Metrics::of_in).
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) previous: Vec<u32>,
    pub(crate) last: Vec<u32>,
    pub(crate) lives: Vec<Life>,
    pub(crate) times: TaskTimes,
}
