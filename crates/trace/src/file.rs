//! The trace file, version 1: recordings of runs, measured or simulated, with the scenario and the figures of each.
//!
//! Layout, little-endian, every part a multiple of 8 bytes:
//!
//! ```text
//! 4  magic "PBTF"
//! 4  version, 1
//! 8  bytes of the header, padding included
//!    header: JSON object with `scenario` and `runs`, padded with spaces; each run says how many `bytes` its recording has
//!    one recording for each run, as the container in `codec` has it
//! ```
//!
//! Only the file; how a measured run becomes a recording is decided where it is measured.

use parkbench_engine::{Recording, Scenario};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::codec::{decode, encode};
use crate::error::TraceError;
use crate::result::RunResult;
use crate::trace::Trace;

/// The version of the trace file that this crate writes and reads.
pub const TRACE_FILE_VERSION: u32 = 1;

const MAGIC: [u8; 4] = *b"PBTF";
/// Bytes before the header.
const PREFIX: usize = 16;

/// Recorded runs of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceFile {
    /// The scenario that was run.
    pub scenario: Scenario,
    /// Its runs.
    pub runs: Vec<TracedRun>,
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedRun {
    /// What it is and its figures.
    pub about: AboutRun,
    /// What happened.
    pub recording: Recording,
}

/// What a recorded run is, and what it gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AboutRun {
    /// The figures of the recorded run.
    pub result: RunResult,
    /// The runtime in full.
    pub runtime: String,
    /// The variants of the scenario that it stands for.
    pub stands_for: Vec<String>,
    /// What the recording has cost.
    pub cost: TraceCost,
}

/// What it has cost to record a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceCost {
    /// Times that were taken down.
    pub events: u64,
    /// [ps] To take down one, measured in the same process after the run.
    pub event_ps: u64,
    /// [ns] Median makespan of the repetitions that were not recorded.
    pub untraced_makespan_ns: u64,
}

#[derive(Serialize)]
struct HeaderRef<'a> {
    scenario: &'a Scenario,
    runs: Vec<EntryRef<'a>>,
}

#[derive(Serialize)]
struct EntryRef<'a> {
    #[serde(flatten)]
    about: &'a AboutRun,
    bytes: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// Read by the engine, which has the one reader of scenarios.
    scenario: Box<RawValue>,
    runs: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    result: RunResult,
    runtime: String,
    stands_for: Vec<String>,
    cost: TraceCost,
    bytes: u64,
}

impl TraceFile {
    /// The file as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let recordings: Vec<Vec<u8>> = self.runs.iter().map(|run| encode(&run.recording)).collect();
        let sizes = recordings.iter().map(Vec::len);
        let runs = self.runs.iter().zip(sizes).map(|(run, bytes)| EntryRef { about: &run.about, bytes }).collect();
        // Writing numbers, strings and lists to memory has no way to fail; an empty header is refused when it is read.
        let mut header = serde_json::to_vec(&HeaderRef { scenario: &self.scenario, runs }).unwrap_or_default();
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut bytes = Vec::with_capacity(PREFIX + header.len() + recordings.iter().map(Vec::len).sum::<usize>());
        bytes.extend(MAGIC);
        bytes.extend(TRACE_FILE_VERSION.to_le_bytes());
        bytes.extend((header.len() as u64).to_le_bytes());
        bytes.extend(header);
        bytes.extend(recordings.into_iter().flatten());
        bytes
    }

    /// Reads a file and checks all of it: the scenario, and every record.
    pub fn decode(bytes: &[u8]) -> Result<Self, TraceError> {
        let length = |expected: u128| TraceError::Length { value: bytes.len(), expected };
        let magic = bytes.get(..4).unwrap_or(bytes);
        if magic != MAGIC {
            return Err(TraceError::FileMagic { value: String::from_utf8_lossy(magic).into_owned() });
        }
        let (prefix, rest) = bytes.split_first_chunk::<PREFIX>().ok_or_else(|| length(PREFIX as u128))?;
        let version = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]);
        if version != TRACE_FILE_VERSION {
            return Err(TraceError::Version { value: version, allowed: TRACE_FILE_VERSION });
        }
        let header_bytes = u64::from_le_bytes(std::array::from_fn(|i| prefix[8 + i]));
        let after_header = PREFIX as u128 + u128::from(header_bytes);
        if after_header > bytes.len() as u128 {
            return Err(length(after_header));
        }
        let (header, mut rest) = rest.split_at(header_bytes as usize);
        let wrong = |message: String| TraceError::Header { message };
        let header = std::str::from_utf8(header).map_err(|error| wrong(error.to_string()))?;
        let Header { scenario, runs } = serde_json::from_str(header).map_err(|error| wrong(error.to_string()))?;
        let scenario = Scenario::from_json(scenario.get()).map_err(|error| wrong(format!("scenario: {error}")))?;
        let expected = runs.iter().fold(after_header, |sum, run| sum + u128::from(run.bytes));
        if expected != bytes.len() as u128 {
            return Err(length(expected));
        }
        let tasks = scenario.task_count_with_spawned();
        let mut read = Vec::with_capacity(runs.len());
        for (number, Entry { result, runtime, stands_for, cost, bytes }) in runs.into_iter().enumerate() {
            let (own, after) = rest.split_at(bytes as usize);
            rest = after;
            let in_run = |error| TraceError::InRun { run: number, error: Box::new(error) };
            let recording = Trace::new(decode(own).map_err(in_run)?).map_err(in_run)?.into_recording();
            let value = recording.totals.tasks;
            if let Some(expected) = tasks.filter(|&tasks| tasks != u64::from(value)) {
                return Err(in_run(TraceError::TaskCount { value, expected }));
            }
            read.push(TracedRun { about: AboutRun { result, runtime, stands_for, cost }, recording });
        }
        Ok(Self { scenario, runs: read })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;
    use parkbench_engine::{Simulation, preset};
    use proptest::prelude::*;

    fn file() -> TraceFile {
        let mut scenario = preset("io-bound").unwrap();
        scenario.tasks[0].count = 20;
        let run = |index| {
            let recording = Simulation::new(&scenario, index).unwrap().run();
            let metrics = Metrics::of(&Trace::new(recording.clone()).unwrap());
            let result = RunResult::simulated(&scenario, index, &metrics).unwrap();
            let cost = TraceCost { events: 60, event_ps: 40_000, untraced_makespan_ns: 7 };
            let about = AboutRun { result, runtime: "the engine".to_owned(), stands_for: Vec::new(), cost };
            TracedRun { about, recording }
        };
        let runs = (0..2).map(run).collect();
        TraceFile { scenario, runs }
    }

    #[test]
    fn a_file_reads_back() {
        let file = file();
        let bytes = file.encode();
        assert_eq!(bytes.len() % 8, 0);
        assert_eq!(TraceFile::decode(&bytes).unwrap(), file);
    }

    #[track_caller]
    fn check(spoil: impl FnOnce(&mut Vec<u8>), expect: &str) {
        let mut bytes = file().encode();
        spoil(&mut bytes);
        let error = TraceFile::decode(&bytes).unwrap_err().to_string();
        assert!(error.starts_with(expect), "{error}");
    }

    fn replace(bytes: &mut [u8], from: &str, to: &str) {
        assert_eq!(from.len(), to.len());
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }

    #[test]
    fn what_is_wrong_is_named() {
        check(Vec::clear, "magic: \"\"; allowed: \"PBTF\"");
        check(|bytes| bytes[0] = b'{', "magic: \"{BTF\"");
        check(|bytes| bytes[4] = 9, "version: 9; allowed: 1");
        check(|bytes| bytes.truncate(12), "length: 12 bytes; allowed: 16 bytes");
        check(|bytes| bytes[15] = 1, "length: ");
        check(|bytes| bytes.truncate(bytes.len() - 8), "length: ");
        check(|bytes| replace(bytes, "\"runtime\"", "\"rumtime\""), "header: unknown field `rumtime`");
        check(|bytes| replace(bytes, "\"cores\":12", "\"cores\": 0"), "header: scenario: ");
        check(|bytes| replace(bytes, "PBTR", "PBTX"), "runs[0]: magic: \"PBTX\"");
        check(|bytes| replace(bytes, "\"count\":20", "\"count\":21"), "runs[0]: totals.tasks: 20; allowed: 21");
    }

    proptest! {
        #[test]
        fn a_spoilt_file_never_panics(at in 0_usize..6_000, value: u8, cut in 0_usize..6_000) {
            let mut bytes = file().encode();
            let place = at % bytes.len();
            bytes[place] = value;
            let _ = TraceFile::decode(&bytes);
            let length = bytes.len();
            bytes.truncate(length - cut % length);
            let _ = TraceFile::decode(&bytes);
        }
    }
}
