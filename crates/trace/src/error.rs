//! Why a recording or its bytes cannot be used; each message names the place, the value and what is allowed.

use thiserror::Error;

/// Which of the two streams of a recording.
pub(crate) const TASKS: &str = "tasks";
/// See [`TASKS`].
pub(crate) const THREADS: &str = "threads";

/// Why a recording or its bytes cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TraceError {
    /// The columns of a stream differ in length.
    #[error("{stream}: columns of {time}, {subject} and {tag} records; allowed: columns of one length")]
    ColumnLengths {
        /// `tasks` or `threads`.
        stream: &'static str,
        /// Length of the column of times.
        time: usize,
        /// Length of the column of subjects.
        subject: usize,
        /// Length of the column of tags.
        tag: usize,
    },
    /// A stream has more records than an index can name.
    #[error("{stream}: {records} records; allowed: up to {max}")]
    TooManyRecords {
        /// `tasks` or `threads`.
        stream: &'static str,
        /// How many.
        records: usize,
        /// The most allowed.
        max: usize,
    },
    /// A record is earlier than the one before it.
    #[error("{stream}[{record}].time: {value} ns; allowed: at least {min} ns, the time of the record before")]
    TimeGoesBack {
        /// `tasks` or `threads`.
        stream: &'static str,
        /// Index of the record.
        record: usize,
        /// [ns] Its time.
        value: u64,
        /// [ns] The time before it.
        min: u64,
    },
    /// A record is about a task or thread that does not exist, or names one in its tag.
    #[error("{stream}[{record}].{field}: {value}; allowed: less than {count}")]
    OutOfRange {
        /// `tasks` or `threads`.
        stream: &'static str,
        /// Index of the record.
        record: usize,
        /// `subject`, `worker` or `task`.
        field: &'static str,
        /// The value.
        value: u32,
        /// How many there are.
        count: usize,
    },
    /// A tag is in no list.
    #[error(
        "{stream}[{record}].tag: {value:#010x}; allowed: a state and a reason, or an activity, from the closed lists"
    )]
    UnknownTag {
        /// `tasks` or `threads`.
        stream: &'static str,
        /// Index of the record.
        record: usize,
        /// The value.
        value: u32,
    },
    /// More tasks than any scenario may have.
    #[error("totals.tasks: {value}; allowed: up to {max}")]
    TooManyTasks {
        /// The value.
        value: u32,
        /// The most allowed.
        max: u64,
    },
    /// More threads than a tag can name.
    #[error("thread_info: {value} threads; allowed: up to {max}")]
    TooManyThreads {
        /// The value.
        value: usize,
        /// The most allowed.
        max: usize,
    },
    /// The bytes do not start as a trace does.
    #[error("magic: {value:?}; allowed: \"PBTR\"")]
    Magic {
        /// The first bytes.
        value: String,
    },
    /// The bytes do not start as a trace file does.
    #[error("magic: {value:?}; allowed: \"PBTF\", the first bytes of a file that `parkbench measure --trace` writes")]
    FileMagic {
        /// The first bytes.
        value: String,
    },
    /// A run of a file is wrong.
    #[error("runs[{run}]: {error}")]
    InRun {
        /// Which.
        run: usize,
        /// What is wrong with it.
        error: Box<TraceError>,
    },
    /// A recording has not the tasks of its scenario.
    #[error("totals.tasks: {value}; allowed: {expected}, as the scenario says")]
    TaskCount {
        /// The value.
        value: u32,
        /// The scenario's.
        expected: u64,
    },
    /// Another version of the container.
    #[error("version: {value}; allowed: {allowed}")]
    Version {
        /// The version.
        value: u32,
        /// The version that this program reads.
        allowed: u32,
    },
    /// The header is not what it should be.
    #[error("header: {message}")]
    Header {
        /// What the reader says.
        message: String,
    },
    /// The bytes are fewer or more than the lengths in them say.
    #[error("length: {value} bytes; allowed: {expected} bytes, as the header says")]
    Length {
        /// How many there are.
        value: usize,
        /// How many there should be.
        expected: u128,
    },
}
