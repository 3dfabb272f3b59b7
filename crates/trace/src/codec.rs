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

/// Writes a recording. Columns of unequal length, which no sound recording has, are cut to the shortest.
pub fn encode(recording: &Recording) -> Vec<u8> {
    let Recording { totals, thread_info, findings, .. } = recording;
    let header = HeaderRef { totals, thread_info, findings };
    // Writing numbers, strings and lists to memory has no way to fail; an empty header is refused when it is read.
    let mut header = serde_json::to_vec(&header).unwrap_or_default();
    header.resize(header.len().next_multiple_of(8), b' ');
    let counts = [&recording.tasks, &recording.threads].map(record_count);
    let mut bytes = Vec::with_capacity(PREFIX + header.len() + (counts[0] + counts[1]) * RECORD);
    bytes.extend(MAGIC);
    bytes.extend(CONTAINER_VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend([0; 4]);
    for count in counts {
        bytes.extend((count as u64).to_le_bytes());
    }
    bytes.extend(header);
    for (records, count) in [(&recording.tasks, counts[0]), (&recording.threads, counts[1])] {
        bytes.extend(records.time[..count].iter().flat_map(|time| time.to_le_bytes()));
        bytes.extend(records.subject[..count].iter().flat_map(|subject| subject.to_le_bytes()));
        bytes.extend(records.tag[..count].iter().flat_map(|tag| tag.to_le_bytes()));
    }
    bytes
}

/// Reads a recording. Never panics, and never reserves more memory than a small multiple of the bytes given.
pub fn decode(bytes: &[u8]) -> Result<Recording, TraceError> {
    let mut rest = bytes;
    let truncated = || TraceError::Length { value: bytes.len(), expected: PREFIX as u128 };
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
    if expected != bytes.len() as u128 {
        return Err(TraceError::Length { value: bytes.len(), expected });
    }
    let (header, mut columns) = rest.split_at(header_length as usize);
    let wrong = |message: String| TraceError::Header { message };
    let header = std::str::from_utf8(header).map_err(|error| wrong(error.to_string()))?;
    let Header { totals, thread_info, findings } =
        serde_json::from_str(header).map_err(|error| wrong(error.to_string()))?;
    let tasks = take_records(&mut columns, tasks as usize);
    let threads = take_records(&mut columns, threads as usize);
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
fn take_records(rest: &mut &[u8], count: usize) -> Records {
    let mut column = |width: usize| {
        let (head, tail) = rest.split_at(count * width);
        *rest = tail;
        head
    };
    let (time, subject, tag) = (column(8), column(4), column(4));
    let narrow = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect();
    Records {
        time: time.as_chunks().0.iter().map(|&chunk| u64::from_le_bytes(chunk)).collect(),
        subject: narrow(subject),
        tag: narrow(tag),
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
