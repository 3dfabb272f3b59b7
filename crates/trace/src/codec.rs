//! The binary container of a recording, version 1: what a worker hands to the page and what a file holds.
//!
//! Layout, little-endian, every part a multiple of 8 bytes:
//!
//! ```text
//! 4  magic "PBTR"
//! 4  version, 1
//! 4  bytes of the header, padding included
//! 4  zero
//! 8  number of task records, n
//! 8  number of thread records, m
//!    header: JSON object with `totals`, `thread_info` and, where there are any, `findings`, padded with spaces
//! 8n task times, 4n task subjects, 4n task tags
//! 8m thread times, 4m thread subjects, 4m thread tags
//! ```
//!
//! Reading checks the container only; whether the records are sound is for [`Trace::new`](crate::Trace::new).

use parkbench_engine::{Finding, Recording, Records, ThreadInfo, Totals};
use serde::{Deserialize, Serialize};

use crate::error::TraceError;

/// The version of the container that this crate writes and reads.
pub const CONTAINER_VERSION: u32 = 1;

const MAGIC: [u8; 4] = *b"PBTR";
/// Bytes before the header.
const PREFIX: usize = 32;
/// Bytes of one record.
const RECORD: usize = 16;
/// [bytes] Every part is a multiple of it, so that its numbers can be read in place.
const ALIGNMENT: usize = 8;

#[derive(Serialize)]
struct HeaderRef<'a> {
    totals: &'a Totals,
    thread_info: &'a [ThreadInfo],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    findings: &'a [Finding],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    totals: Totals,
    thread_info: Vec<ThreadInfo>,
    #[serde(default)]
    findings: Vec<Finding>,
}

/// Where the bytes of a container are read from: from memory, or from a buffer outside of it that is never copied as a
/// whole. Little-endian.
pub trait Source {
    /// How many bytes are left.
    fn left(&self) -> usize;
    /// The next bytes; the caller asks for no more than are left.
    fn bytes(&mut self, count: usize) -> Vec<u8>;
    /// The next numbers, from a place that is a multiple of 8 bytes away from the start.
    fn wide(&mut self, count: usize) -> Vec<u64>;
    /// The next numbers, from a place that is a multiple of 4 bytes away from the start.
    fn narrow(&mut self, count: usize) -> Vec<u32>;
}

/// Where the bytes of a container are written to. Little-endian.
pub trait Sink {
    /// These bytes are next.
    fn bytes(&mut self, values: &[u8]);
    /// These numbers are next, at a place that is a multiple of 8 bytes away from the start.
    fn wide(&mut self, values: &[u64]);
    /// These numbers are next, at a place that is a multiple of 4 bytes away from the start.
    fn narrow(&mut self, values: &[u32]);
}

/// A recording that is about to be written.
pub struct Encoder<'a> {
    recording: &'a Recording,
    header: Vec<u8>,
    counts: [usize; 2],
}

impl<'a> Encoder<'a> {
    /// Of a recording. Columns of unequal length, which no sound recording has, are cut to the shortest.
    pub fn new(recording: &'a Recording) -> Self {
        let Recording { totals, thread_info, findings, .. } = recording;
        // Writing numbers, strings and lists to memory has no way to fail; an empty header is refused when it is read.
        let mut header = serde_json::to_vec(&HeaderRef { totals, thread_info, findings }).unwrap_or_default();
        header.resize(header.len().next_multiple_of(ALIGNMENT), b' ');
        let counts = [&recording.tasks, &recording.threads].map(record_count);
        Self { recording, header, counts }
    }

    /// How many bytes will be written.
    pub fn length(&self) -> usize {
        PREFIX + self.header.len() + (self.counts[0] + self.counts[1]) * RECORD
    }

    /// Writes them.
    pub fn write(&self, sink: &mut impl Sink) {
        let mut prefix = Vec::with_capacity(PREFIX);
        prefix.extend(MAGIC);
        prefix.extend(CONTAINER_VERSION.to_le_bytes());
        prefix.extend((self.header.len() as u32).to_le_bytes());
        prefix.extend([0; 4]);
        for count in self.counts {
            prefix.extend((count as u64).to_le_bytes());
        }
        sink.bytes(&prefix);
        sink.bytes(&self.header);
        for (records, count) in [&self.recording.tasks, &self.recording.threads].into_iter().zip(self.counts) {
            sink.wide(&records.time[..count]);
            sink.narrow(&records.subject[..count]);
            sink.narrow(&records.tag[..count]);
        }
    }
}

/// Writes a recording to memory; see [`Encoder`].
pub fn encode(recording: &Recording) -> Vec<u8> {
    let encoder = Encoder::new(recording);
    let mut bytes = Vec::with_capacity(encoder.length());
    encoder.write(&mut bytes);
    bytes
}

/// Reads a recording from memory; see [`decode_from`].
pub fn decode(mut bytes: &[u8]) -> Result<Recording, TraceError> {
    decode_from(&mut bytes)
}

/// Reads a recording, column by column. Never panics, and never reserves more memory than a small multiple of the bytes
/// that are there.
pub fn decode_from(source: &mut impl Source) -> Result<Recording, TraceError> {
    let value = source.left();
    // Too few bytes are named after what is wrong with those that are there.
    let prefix = source.bytes(PREFIX.min(value));
    let mut rest = prefix.as_slice();
    let truncated = || TraceError::Length { value, expected: PREFIX as u128 };
    let magic: [u8; 4] = take_array(&mut rest).ok_or_else(truncated)?;
    if magic != MAGIC {
        return Err(TraceError::Magic { value: String::from_utf8_lossy(&magic).into_owned() });
    }
    let version = u32::from_le_bytes(take_array(&mut rest).ok_or_else(truncated)?);
    if version != CONTAINER_VERSION {
        return Err(TraceError::Version { value: version, allowed: CONTAINER_VERSION });
    }
    let header_length = u32::from_le_bytes(take_array(&mut rest).ok_or_else(truncated)?);
    let _padding: [u8; 4] = take_array(&mut rest).ok_or_else(truncated)?;
    let tasks = u64::from_le_bytes(take_array(&mut rest).ok_or_else(truncated)?);
    let threads = u64::from_le_bytes(take_array(&mut rest).ok_or_else(truncated)?);
    // The lengths are compared before anything is reserved: afterwards every count fits the bytes that are there.
    let expected =
        PREFIX as u128 + u128::from(header_length) + (u128::from(tasks) + u128::from(threads)) * RECORD as u128;
    if expected != value as u128 {
        return Err(TraceError::Length { value, expected });
    }
    let wrong = |message: String| TraceError::Header { message };
    if !(header_length as usize).is_multiple_of(ALIGNMENT) {
        return Err(wrong(format!("{header_length} bytes; allowed: a multiple of {ALIGNMENT}")));
    }
    let header = source.bytes(header_length as usize);
    let header = std::str::from_utf8(&header).map_err(|error| wrong(error.to_string()))?;
    let Header { totals, thread_info, findings } =
        serde_json::from_str(header).map_err(|error| wrong(error.to_string()))?;
    let [tasks, threads] = [tasks, threads].map(|count| read_records(source, count as usize));
    Ok(Recording { tasks, threads, thread_info, totals, findings })
}

fn record_count(records: &Records) -> usize {
    records.time.len().min(records.subject.len()).min(records.tag.len())
}

fn take_array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

/// The next `count` records; the caller has checked that they are there.
fn read_records(source: &mut impl Source, count: usize) -> Records {
    Records { time: source.wide(count), subject: source.narrow(count), tag: source.narrow(count) }
}

impl Source for &[u8] {
    fn left(&self) -> usize {
        self.len()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        self.split_off(..count).unwrap_or_default().to_vec()
    }

    fn wide(&mut self, count: usize) -> Vec<u64> {
        let column = self.split_off(..count * size_of::<u64>()).unwrap_or_default();
        column.as_chunks().0.iter().map(|&chunk| u64::from_le_bytes(chunk)).collect()
    }

    fn narrow(&mut self, count: usize) -> Vec<u32> {
        let column = self.split_off(..count * size_of::<u32>()).unwrap_or_default();
        column.as_chunks().0.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect()
    }
}

impl Sink for Vec<u8> {
    fn bytes(&mut self, values: &[u8]) {
        self.extend(values);
    }

    fn wide(&mut self, values: &[u64]) {
        self.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn narrow(&mut self, values: &[u32]) {
        self.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;
    use crate::testkit::{any_recording, small};
    use proptest::prelude::*;

    #[track_caller]
    fn check(spoil: impl FnOnce(&mut Vec<u8>), expect: &str) {
        let mut bytes = encode(&small());
        spoil(&mut bytes);
        let error = decode(&bytes).unwrap_err().to_string();
        assert!(error.starts_with(expect), "{error}");
    }

    #[test]
    fn findings_travel_with_the_recording() {
        use parkbench_engine::{Scenario, Simulation};
        let text = r#"{"version":1,"name":"stuck","profile":"zero","machine":{"cores":2},"runs":[{"model":"thread-pool"}],
            "tasks":[{"count":2,"steps":[{"spawn":{"steps":[{"io":"1 ms"}]}},"join"]}]}"#;
        let recording = Simulation::new(&Scenario::from_json(text).unwrap(), 0).unwrap().run();
        assert_eq!(recording.findings.len(), 1);
        assert_eq!(decode(&encode(&recording)).unwrap(), recording);
    }

    #[test]
    fn wrong_bytes_are_named() {
        check(Vec::clear, "length: 0 bytes; allowed: 32 bytes");
        check(|b| b[0] = b'p', "magic: \"pBTR\"; allowed: \"PBTR\"");
        check(|b| b[4] = 2, "version: 2; allowed: 1");
        check(|b| b.push(0), "length: ");
        check(|b| b.truncate(100), "length: 100 bytes");
        check(|b| b[16..24].fill(0xff), "length: ");
        check(|b| b[32] = b'[', "header: ");
        // Four bytes of the header less, and a record's worth of bytes that is not one.
        check(
            |b| {
                b[8] -= 4;
                b.truncate(b.len() - 4);
            },
            "header: ",
        );
    }

    #[test]
    fn columns_are_aligned_for_typed_arrays() {
        let bytes = encode(&small());
        assert_eq!(bytes.len() % 8, 0);
        let header = u32::from_le_bytes(bytes[8..12].try_into().unwrap());
        assert_eq!(header % 8, 0);
    }

    proptest! {
        #[test]
        fn reads_back(recording in any_recording()) {
            prop_assert_eq!(decode(&encode(&recording)), Ok(recording));
        }

        #[test]
        fn mutated_bytes_never_panic(
            recording in any_recording(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            cut in any::<prop::sample::Index>(),
            cuts in any::<bool>(),
        ) {
            let mut bytes = encode(&recording);
            for (at, value) in edits {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            if cuts {
                bytes.truncate(cut.index(bytes.len()));
            }
            // Whatever is read is either refused or sound enough to be used.
            if let Ok(trace) = decode(&bytes).and_then(Trace::new) {
                prop_assert!(trace.task_count() <= 1_000_000);
                let lanes = crate::Lanes::new(&trace);
                prop_assert_eq!(lanes.thread_count(), trace.thread_info().len());
                crate::Metrics::of(&trace);
            }
        }

        #[test]
        fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut with_magic = b"PBTR\x01\0\0\0".to_vec();
            with_magic.extend(&bytes);
            prop_assert!(decode(&bytes).is_err());
            let _ = decode(&with_magic);
        }
    }
}
