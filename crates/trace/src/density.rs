//! How many tasks were in each state, averaged over intervals, and the peak of tasks in flight.
//!
//! Sums are whole task-nanoseconds; a float appears only in the last division.

use parkbench_engine::TaskState;

use crate::trace::{STATES, Trace};

/// What the tasks did in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Integral {
    /// [ns] Start of the interval.
    pub from_ns: u64,
    /// [ns] End of the interval, not included.
    pub to_ns: u64,
    /// [task ns] Sum over the tasks of their time in each state; for an interval of no length, tasks in each state.
    pub sums: [u128; STATES],
}

impl Integral {
    /// Time-averaged number of tasks in each state.
    pub fn average(&self) -> [f32; STATES] {
        let width = (self.to_ns - self.from_ns).max(1);
        self.sums.map(|sum| (sum as f64 / width as f64) as f32)
    }
}

/// Time-averaged number of tasks in each state, for `buckets` equal parts of `from_ns..to_ns`.
///
/// Each bucket adds up to the number of tasks. A bucket of no length is the state at that instant.
pub fn density(trace: &Trace, from_ns: u64, to_ns: u64, buckets: usize) -> Vec<[f32; STATES]> {
    integrals(trace, from_ns, to_ns, buckets).iter().map(Integral::average).collect()
}

/// The exact sums behind [`density`]. O(records up to `to_ns` + buckets).
///
/// The bounds are `from + (to - from) * i / buckets`, rounded down, so neighbours share theirs and nothing is counted
/// twice; `to_ns` before `from_ns` counts as `from_ns`.
pub fn integrals(trace: &Trace, from_ns: u64, to_ns: u64, buckets: usize) -> Vec<Integral> {
    let bound = bounds(from_ns, to_ns, buckets);
    let records = &trace.recording().tasks;
    let mut sweep = Sweep::new(trace);
    let mut record = 0;
    let mut result = Vec::with_capacity(buckets);
    for i in 0..buckets {
        let (start, end) = (bound(i), bound(i + 1));
        while record < records.len() && records.time[record] <= start {
            sweep.apply(trace, record, start);
            record += 1;
        }
        if start == end {
            result.push(Integral { from_ns: start, to_ns: end, sums: sweep.counts.map(u128::from) });
            continue;
        }
        sweep.begin(start);
        while record < records.len() && records.time[record] < end {
            sweep.apply(trace, record, records.time[record]);
            record += 1;
        }
        result.push(Integral { from_ns: start, to_ns: end, sums: sweep.finish(end) });
    }
    result
}

/// Where part `i` of so many equal parts of `from_ns..to_ns` begins: `from + (to - from) * i / parts`, rounded down, in
/// 64 bits, for a division of 128 is slow in WebAssembly. `to_ns` before `from_ns` counts as `from_ns`.
pub(crate) fn bounds(from_ns: u64, to_ns: u64, parts: usize) -> impl Fn(usize) -> u64 {
    let parts = (parts as u64).max(1);
    let range = to_ns.saturating_sub(from_ns);
    let (step, rest) = (range / parts, range % parts);
    // Fewer than 2^32 parts, so that the product fits.
    move |i| from_ns + step * i as u64 + rest * i as u64 / parts
}

/// `count * ns` without the multiplication of 128 bits, which is a call in WebAssembly.
fn task_ns(count: u32, ns: u64) -> u128 {
    let count = u64::from(count);
    (u128::from((ns >> 32) * count) << 32) + u128::from((ns & 0xffff_ffff) * count)
}

/// Most tasks that had started and not ended at the same time.
///
/// A task starts with its first record that is neither pending nor queued, and it stays in flight when it is queued
/// again after a wait. A number that held for no time at all does not count.
pub fn in_flight_peak(trace: &Trace) -> u32 {
    let records = &trace.recording().tasks;
    let mut in_flight = vec![false; trace.task_count()];
    let (mut now, mut peak) = (0_u32, 0);
    for record in 0..records.len() {
        let task = records.subject[record] as usize;
        let flies = match TaskState::from_u8(trace.state_of(record)) {
            Some(TaskState::Pending | TaskState::Done | TaskState::Failed) | None => false,
            Some(TaskState::Queued) => in_flight[task],
            Some(_) => true,
        };
        now = now + u32::from(flies) - u32::from(in_flight[task]);
        in_flight[task] = flies;
        if records.time.get(record + 1) != Some(&records.time[record]) {
            peak = peak.max(now);
        }
    }
    peak
}

/// Counts by state and their integral since `begin`; a state's sum is brought up to date only when its count changes.
struct Sweep {
    counts: [u32; STATES],
    sums: [u128; STATES],
    since: [u64; STATES],
}

impl Sweep {
    fn new(trace: &Trace) -> Self {
        let mut counts = [0; STATES];
        counts[TaskState::Pending as usize] = trace.task_count() as u32;
        Self { counts, sums: [0; STATES], since: [0; STATES] }
    }

    fn begin(&mut self, at: u64) {
        self.sums = [0; STATES];
        self.since = [at; STATES];
    }

    fn settle(&mut self, state: usize, at: u64) {
        self.sums[state] += task_ns(self.counts[state], at - self.since[state]);
        self.since[state] = at;
    }

    fn apply(&mut self, trace: &Trace, record: usize, at: u64) {
        let (old, new) = (trace.state_before(record) as usize, trace.state_of(record) as usize);
        self.settle(old, at);
        self.settle(new, at);
        self.counts[old] -= 1;
        self.counts[new] += 1;
    }

    fn finish(&mut self, at: u64) -> [u128; STATES] {
        for state in 0..STATES {
            self.settle(state, at);
        }
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateCursor;
    use crate::testkit::{any_trace, small};
    use proptest::prelude::*;

    #[test]
    fn averages_of_the_small_run() {
        let trace = Trace::new(small()).unwrap();
        let sums = |from, to, buckets| integrals(&trace, from, to, buckets).iter().map(|i| i.sums).collect::<Vec<_>>();
        //                 pending queued running -  -  blocked - done
        let first = [10, 40, 20, 0, 0, 20, 0, 10, 0];
        assert_eq!(sums(0, 100, 2), [first, [0, 0, 10, 0, 0, 30, 0, 60, 0]]);
        assert_eq!(sums(45, 45, 1), [[0, 0, 1, 0, 0, 0, 0, 1, 0]]);
        assert_eq!(density(&trace, 0, 50, 1), [first.map(|sum| sum as f32 / 50.0)]);
        assert_eq!(in_flight_peak(&trace), 1);
        assert!(sums(0, 100, 0).is_empty());
    }

    /// The slow, obvious way: the state of every task at every nanosecond.
    fn brute(trace: &Trace, from: u64, to: u64) -> [u128; STATES] {
        let mut sums = [0; STATES];
        let mut cursor = StateCursor::new(trace);
        for at in from..to {
            cursor.seek(trace, at);
            for (sum, count) in sums.iter_mut().zip(cursor.counts()) {
                *sum += u128::from(count);
            }
        }
        sums
    }

    proptest! {
        #[test]
        fn sixty_four_bits_are_as_exact_as_more(
            from in any::<u32>(), range in any::<u64>(), parts in 1..5_000_usize, i in 0..5_000_usize, count in any::<u32>(),
        ) {
            let (from, i) = (u64::from(from), i.min(parts));
            let range = range.min(u64::MAX - from);
            let wide = u128::from(from) + u128::from(range) * i as u128 / parts as u128;
            prop_assert_eq!(u128::from(bounds(from, from + range, parts)(i)), wide);
            prop_assert_eq!(task_ns(count, range), u128::from(count) * u128::from(range));
        }

        #[test]
        fn every_bucket_holds_the_exact_sum(trace in any_trace(), from in 0_u64..1_000, width in 0_u64..600, buckets in 1_usize..9) {
            let list = integrals(&trace, from, from + width, buckets);
            prop_assert_eq!(list.len(), buckets);
            prop_assert_eq!((list[0].from_ns, list[buckets - 1].to_ns), (from, from + width));
            for part in &list {
                let tasks = trace.task_count() as u128;
                if part.from_ns < part.to_ns {
                    prop_assert_eq!(part.sums, brute(&trace, part.from_ns, part.to_ns));
                    prop_assert_eq!(part.sums.iter().sum::<u128>(), tasks * u128::from(part.to_ns - part.from_ns));
                } else {
                    prop_assert_eq!(part.sums, brute(&trace, part.from_ns, part.from_ns + 1));
                }
                prop_assert!((part.average().iter().sum::<f32>() - tasks as f32).abs() < 1e-3);
            }
        }

        #[test]
        fn the_peak_is_reached_and_never_passed(trace in any_trace()) {
            // Started and not ended, task by task, at every time that has a record.
            let mut peak = 0;
            for at in trace.recording().tasks.time.clone() {
                let mut now = 0;
                for task in 0..trace.task_count() as u32 {
                    let mut flies = false;
                    for record in trace.history(task).iter().filter(|record| record.start_ns <= at) {
                        flies = match record.tag.state {
                            TaskState::Pending | TaskState::Done | TaskState::Failed => false,
                            TaskState::Queued => flies,
                            _ => true,
                        };
                    }
                    now += u32::from(flies);
                }
                peak = peak.max(now);
            }
            prop_assert_eq!(in_flight_peak(&trace), peak);
        }
    }
}
