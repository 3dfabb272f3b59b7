//! The memory of finished runs, kept for the next ones: what a run needs for each task and each record is the same again.
//!
//! Nothing of a run itself is kept, so that the next one does not depend on it.

use std::collections::VecDeque;

use crate::kernel::Thread;
use crate::queue::EventQueue;
use crate::recording::{Recording, Records};
use crate::tasks::Task;

/// Memory that finished runs have left.
///
/// A run that starts with it takes all of it, and gives it back in two parts: at its end what only the engine needed, and
/// the columns of its recording once nobody reads them any more. It holds what the largest of them needed.
#[derive(Debug, Default)]
pub struct Arena {
    pub(crate) tasks: Vec<Task>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) queue: EventQueue,
    pub(crate) inbox: VecDeque<u32>,
    pub(crate) task_records: Records,
    pub(crate) thread_records: Records,
}

impl Arena {
    /// Takes the columns of a recording that nobody reads any more.
    pub fn reclaim(&mut self, recording: Recording) {
        let mut columns = [recording.tasks, recording.threads];
        columns.iter_mut().for_each(Records::clear);
        [self.task_records, self.thread_records] = columns;
    }
}
