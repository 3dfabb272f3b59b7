//! How the times of tasks are distributed: histograms whose buckets are 0.1 % wide at most, which can be merged and sent
//! from one process to another.
//!
//! The summaries of a result file are exact and are not made from these.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize};

/// Significant decimal digits that are kept of a time.
const DIGITS: u8 = 3;

/// How latency and response time of the same tasks are distributed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Histograms {
    /// [ns] Start of the body to its end.
    #[serde(rename = "latency_histogram")]
    pub(crate) latency: Histogram,
    /// [ns] Submission to end.
    #[serde(rename = "response_histogram")]
    pub(crate) response: Histogram,
}

/// Counts of times in nanoseconds.
///
/// Written as the base64 text of the format V2 with DEFLATE, which the `HdrHistogram` of every language reads.
#[derive(Clone, PartialEq)]
pub(crate) struct Histogram(Hdr<u64>);

// Its counts are whole numbers.
impl Eq for Histogram {}

// Not its thousands of counts.
impl fmt::Debug for Histogram {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Histogram({} times from {} to {} ns)", self.0.len(), self.0.min(), self.0.max())
    }
}

impl Histograms {
    /// Of these latencies and response times [ns].
    pub(crate) fn of(latency: &[u64], response: &[u64]) -> Self {
        Self { latency: Histogram::of(latency), response: Histogram::of(response) }
    }

    /// Of the tasks of all of these.
    pub(crate) fn merged<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        parts.fold(Self::default(), |mut whole, part| {
            whole.add(part);
            whole
        })
    }

    /// Adds the tasks of another.
    pub(crate) fn add(&mut self, other: &Self) {
        self.latency.add(&other.latency);
        self.response.add(&other.response);
    }
}

impl Default for Histogram {
    fn default() -> Self {
        // Grows with the longest time.
        Self(Hdr::new(DIGITS).expect("a number of digits that is allowed"))
    }
}

impl Histogram {
    /// Of these times [ns].
    pub(crate) fn of(times: &[u64]) -> Self {
        let mut histogram = Self::default();
        for &time in times {
            histogram.0.record(time).expect("a histogram that grows has room for every time");
        }
        histogram
    }

    /// Adds the times of another.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("a histogram that grows has room for every time");
    }

    /// How many times there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// How many times are at most as long as each of these bounds [ns], which rise.
    ///
    /// A time that this histogram cannot tell from a longer one counts as that one, so no time is said to be shorter
    /// than it was: a sleep of 50 ms is never among those of at most 50 ms because its bucket begins there.
    pub(crate) fn cumulative(&self, bounds: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; bounds.len()];
        for step in self.0.iter_recorded() {
            let longest = self.0.highest_equivalent(step.value_iterated_to());
            let first = bounds.partition_point(|&bound| bound < longest);
            if let Some(count) = counts.get_mut(first) {
                *count += step.count_at_value();
            }
        }
        let mut sum = 0;
        for count in &mut counts {
            sum += *count;
            *count = sum;
        }
        counts
    }
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.0, &mut bytes).map_err(S::Error::custom)?;
        BASE64.encode(bytes).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = BASE64.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)?;
        let mut histogram = Deserializer::new().deserialize(&mut &bytes[..]).map_err(D::Error::custom)?;
        histogram.auto(true);
        Ok(Self(histogram))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_is_written_is_read_and_can_still_grow() {
        for times in [vec![], vec![0], vec![7, 50 * MS, 50 * MS + 60_000, 42_000 * MS], vec![u64::MAX / 4]] {
            let text = serde_json::to_string(&Histogram::of(&times)).unwrap();
            assert!(text.starts_with("\"HISTFAAA"), "{text}");
            let mut read: Histogram = serde_json::from_str(&text).unwrap();
            assert_eq!((&read, read.count()), (&Histogram::of(&times), times.len() as u64));
            let more = Histogram::of(&[3_600_000 * MS]);
            read.add(&more);
            assert_eq!(read, Histogram::of(&[&times[..], &[3_600_000 * MS]].concat()));
        }
        for text in ["\"\"", "\"%\"", "\"AAAA\"", "7"] {
            assert!(serde_json::from_str::<Histogram>(text).is_err(), "{text}");
        }
    }

    #[track_caller]
    fn check_cumulative(times: &[u64], bounds: &[u64], expect: &[u64]) {
        assert_eq!(Histogram::of(times).cumulative(bounds), expect, "{times:?} {bounds:?}");
    }

    #[test]
    fn no_time_is_said_to_be_shorter_than_it_was() {
        check_cumulative(&[], &[1, 2], &[0, 0]);
        check_cumulative(&[0, 1, 1, 2, 9], &[0, 1, 2, 5], &[1, 3, 4, 4]);
        // A bucket that begins just below 50 ms ends above it.
        check_cumulative(&[50 * MS - 100, 50 * MS, 50 * MS + 60_000], &[25 * MS, 50 * MS, 100 * MS], &[0, 0, 3]);
        check_cumulative(&[49 * MS; 3], &[25 * MS, 50 * MS, 100 * MS], &[0, 3, 3]);
    }

    #[test]
    fn a_whole_has_the_tasks_of_its_parts() {
        let parts = [Histograms::of(&[1, 2], &[3, 4]), Histograms::of(&[9 * MS], &[10 * MS])];
        assert_eq!(Histograms::merged(parts.iter()), Histograms::of(&[1, 2, 9 * MS], &[3, 4, 10 * MS]));
    }
}
