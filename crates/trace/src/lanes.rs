//! What each thread did, as spans and as shares per pixel column.
//!
//! A column tells the share of every activity in it and the most severe one, so that merging hides nothing.
//! Colours and rows are the business of `parkbench-view`.

mod lane;

use parkbench_engine::{Activity, NO_TASK, Role, ThreadTag};

pub use lane::{Lane, Span};

use crate::density::bounds;
use crate::trace::Trace;

/// Number of activities; arrays by activity have this length and are indexed by `Activity as usize`.
pub const ACTIVITIES: usize = Activity::ALL.len();

/// How much an activity must not be hidden: blocked over preempted, overhead, waking, running, idle, absent.
pub const fn severity(activity: Activity) -> u8 {
    match activity {
        Activity::Blocked => 6,
        Activity::Preempted => 5,
        Activity::Overhead => 4,
        Activity::Waking => 3,
        Activity::Running => 2,
        Activity::Idle => 1,
        Activity::Absent => 0,
    }
}

/// Time per activity of one thread; the sum is the length of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActivityTotals {
    /// [ns] By `Activity as usize`.
    pub ns: [u64; ACTIVITIES],
}

impl ActivityTotals {
    /// [ns] Time in one activity.
    pub fn get(&self, activity: Activity) -> u64 {
        self.ns[activity as usize]
    }

    /// [ns] All activities together.
    pub fn sum(&self) -> u64 {
        self.ns.iter().sum()
    }
}

/// One pixel column of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneCell {
    /// Share of the column's time in each activity, by `Activity as usize`; adds up to 1.
    pub share: [f32; ACTIVITIES],
    /// Number of spans that reach into the column.
    pub spans: u32,
    /// The activity with the largest share; of equal ones the more severe.
    pub dominant: Activity,
    /// The most severe activity with any share at all.
    pub worst: Activity,
    /// The task, if there is only one span and it is for a task; else [`NO_TASK`].
    pub task: u32,
}

/// The spans of every thread with sums for fast reading at any zoom.
///
/// The spans of a lane follow each other without a gap from 0 to the end of the run.
#[derive(Clone, Debug)]
pub struct Lanes {
    end: u64,
    roles: Vec<Role>,
    /// Spans of thread `i` are those from `offsets[i]` to `offsets[i + 1]`.
    offsets: Vec<u32>,
    /// [ns] The end of each span; it begins where the one before it ends, or at 0.
    ends: Vec<u64>,
    /// What each span is, packed.
    tags: Vec<u32>,
    totals: Vec<ActivityTotals>,
    /// For each thread and each of its blocks of [`BLOCK`] spans: time per activity before the block.
    blocks: Vec<[u64; ACTIVITIES]>,
    /// Blocks of thread `i` start at `block_offsets[i]`.
    block_offsets: Vec<u32>,
}

/// Spans summed together; a column scans at most this many twice.
const BLOCK: usize = 16;

impl Lanes {
    /// Builds the lanes. O(thread records).
    pub fn new(trace: &Trace) -> Self {
        let end = trace.end_ns();
        let threads = trace.thread_info().len();
        let records = &trace.recording().threads;
        let mut lanes = Self {
            end,
            roles: trace.thread_info().iter().map(|info| info.role).collect(),
            offsets: vec![0],
            ends: Vec::with_capacity(records.len() + 2 * threads),
            tags: Vec::with_capacity(records.len() + 2 * threads),
            totals: Vec::with_capacity(threads),
            blocks: Vec::with_capacity(records.len() / BLOCK + threads),
            block_offsets: Vec::with_capacity(threads),
        };
        let (order, ends) = by_subject(&records.subject, threads);
        let mut from = 0;
        for to in ends {
            let changes = order[from..to].iter().filter_map(|&record| {
                let record = record as usize;
                Some((records.time[record].min(end), ThreadTag::unpack(records.tag[record])?))
            });
            lanes.append(changes);
            from = to;
        }
        lanes
    }

    /// [ns] The end of the time axis.
    pub fn end_ns(&self) -> u64 {
        self.end
    }

    /// Number of threads.
    pub fn thread_count(&self) -> usize {
        self.roles.len()
    }

    /// What a thread is for.
    pub fn role(&self, thread: u32) -> Option<Role> {
        self.roles.get(thread as usize).copied()
    }

    /// All spans of a thread in time order; empty for a thread that does not exist.
    pub fn lane(&self, thread: u32) -> Lane<'_> {
        let thread = thread as usize;
        match (self.offsets.get(thread), self.offsets.get(thread + 1)) {
            (Some(&from), Some(&to)) => {
                let range = from as usize..to as usize;
                Lane::new(&self.ends[range.clone()], &self.tags[range])
            }
            _ => Lane::default(),
        }
    }

    /// Time per activity of a thread over the run; the sum is [`Lanes::end_ns`].
    pub fn totals(&self, thread: u32) -> ActivityTotals {
        self.totals.get(thread as usize).copied().unwrap_or_default()
    }

    /// What a thread did at a time: the span that holds it, if the run is not over.
    pub fn at(&self, thread: u32, t_ns: u64) -> Option<Span> {
        self.lane(thread).get(self.index_at(thread, t_ns))
    }

    /// Time per activity between two times, of a thread. O(log spans).
    pub fn totals_between(&self, thread: u32, from_ns: u64, to_ns: u64) -> ActivityTotals {
        let until = |t_ns| self.sums_at(thread, self.index_at(thread, t_ns), t_ns);
        let (low, high) = (until(from_ns), until(to_ns.max(from_ns)));
        ActivityTotals { ns: std::array::from_fn(|i| high[i] - low[i]) }
    }

    /// The lane as `width_px` columns over `from_ns..to_ns`. O(width * log spans), whatever the zoom.
    ///
    /// A column of no length is what the thread does at that instant; outside the run a thread is absent.
    pub fn columns(&self, thread: u32, from_ns: u64, to_ns: u64, width_px: usize) -> Vec<LaneCell> {
        let bound = bounds(from_ns, to_ns, width_px);
        let lane = self.lane(thread);
        let (mut start, mut first) = (from_ns, self.index_at(thread, from_ns));
        let mut low = self.sums_at(thread, first, from_ns);
        let mut cells = Vec::with_capacity(width_px);
        for i in 0..width_px {
            let end = bound(i + 1);
            let next = first + lane.gallop(first, end);
            let high = self.sums_at(thread, next, end);
            if start == end {
                cells.push(LaneCell::single(lane.get(first)));
            } else {
                let inside = std::array::from_fn(|a| high[a] - low[a]);
                // The span that begins at `end` belongs to the next column.
                let after = next + usize::from(lane.get(next).is_some_and(|span| span.start_ns < end));
                cells.push(LaneCell::merged(inside, end - start, lane, first.min(after), after));
            }
            (start, first, low) = (end, next, high);
        }
        cells
    }

    /// Adds the lane of the next thread from its changes in time order.
    fn append(&mut self, changes: impl Iterator<Item = (u64, ThreadTag)>) {
        let first = self.ends.len();
        let mut tag = ThreadTag { activity: Activity::Absent, task: NO_TASK };
        let mut since = 0;
        for (at, next) in changes.chain([(self.end, tag)]) {
            if since < at {
                if self.tags[first..].last() == Some(&tag.pack()) {
                    self.ends.pop();
                } else {
                    self.tags.push(tag.pack());
                }
                self.ends.push(at);
            }
            (since, tag) = (at, next);
        }
        self.block_offsets.push(self.blocks.len() as u32);
        let mut before = [0; ACTIVITIES];
        for (number, span) in Lane::new(&self.ends[first..], &self.tags[first..]).iter().enumerate() {
            if number.is_multiple_of(BLOCK) {
                self.blocks.push(before);
            }
            before[span.activity as usize] += span.end_ns - span.start_ns;
        }
        self.offsets.push(self.ends.len() as u32);
        self.totals.push(ActivityTotals { ns: before });
    }

    /// Index in the lane of the span that holds `t_ns`; the length of the lane after the end.
    fn index_at(&self, thread: u32, t_ns: u64) -> usize {
        self.lane(thread).ended_by(t_ns)
    }

    /// Time per activity in `0..t_ns`, where `index` is [`Lanes::index_at`] of it.
    fn sums_at(&self, thread: u32, index: usize, t_ns: u64) -> [u64; ACTIVITIES] {
        let lane = self.lane(thread);
        if index == lane.len() {
            return self.totals(thread).ns;
        }
        let block = index / BLOCK;
        let mut sums = self.blocks[self.block_offsets[thread as usize] as usize + block];
        for span in lane.range(block * BLOCK, index + 1) {
            sums[span.activity as usize] += span.end_ns.min(t_ns) - span.start_ns.min(t_ns);
        }
        sums
    }
}

impl LaneCell {
    fn single(span: Option<Span>) -> Self {
        let (activity, task) = span.map_or((Activity::Absent, NO_TASK), |span| (span.activity, span.task));
        let mut share = [0.0; ACTIVITIES];
        share[activity as usize] = 1.0;
        Self { share, spans: u32::from(span.is_some()), dominant: activity, worst: activity, task }
    }

    /// The spans from number `from` to number `to`, which have these parts of a column.
    fn merged(mut inside: [u64; ACTIVITIES], width: u64, lane: Lane<'_>, from: usize, to: usize) -> Self {
        // After the end of the run a thread is absent.
        inside[Activity::Absent as usize] += width - inside.iter().sum::<u64>();
        let by = |key: fn(u64, Activity) -> (u64, u8)| {
            let present = Activity::ALL.into_iter().filter(|&a| inside[a as usize] > 0);
            present.max_by_key(|&a| key(inside[a as usize], a)).unwrap_or(Activity::Absent)
        };
        Self {
            share: inside.map(|ns| (ns as f64 / width as f64) as f32),
            spans: (to - from) as u32,
            dominant: by(|ns, activity| (ns, severity(activity))),
            worst: by(|_, activity| (0, severity(activity))),
            task: lane.get(from).filter(|_| to - from == 1).map_or(NO_TASK, |only| only.task),
        }
    }
}

/// The numbers of the records, those of subject 0 first and each subject's in their order; and where each ends.
fn by_subject(subjects: &[u32], count: usize) -> (Vec<u32>, Vec<usize>) {
    let mut ends = vec![0; count];
    for &subject in subjects {
        ends[subject as usize] += 1;
    }
    let mut sum = 0;
    for end in &mut ends {
        // For now where each begins; it moves to the end as records come in.
        sum += std::mem::replace(end, sum);
    }
    let mut order = vec![0; subjects.len()];
    for (record, &subject) in (0..).zip(subjects) {
        let slot = &mut ends[subject as usize];
        order[*slot] = record;
        *slot += 1;
    }
    (order, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{any_trace, small};
    use proptest::prelude::*;

    #[test]
    fn the_small_run_has_these_spans() {
        use Activity as A;
        let trace = Trace::new(small()).unwrap();
        let lanes = Lanes::new(&trace);
        let spans: Vec<_> = lanes.lane(1).iter().map(|s| (s.start_ns, s.end_ns, s.activity)).collect();
        assert_eq!(
            spans,
            [
                (0, 5, A::Absent),
                (5, 10, A::Waking),
                (10, 20, A::Running),
                (20, 40, A::Blocked),
                (40, 60, A::Running),
                (60, 90, A::Blocked),
                (90, 100, A::Idle)
            ]
        );
        assert_eq!(lanes.totals(1).get(A::Blocked), 50);
        assert_eq!(lanes.at(1, 20).unwrap().activity, A::Blocked);
        assert_eq!(lanes.at(1, 100), None);
        assert!(lanes.lane(2).is_empty());
    }

    #[test]
    fn a_merged_column_shows_its_worst_part() {
        let trace = Trace::new(small()).unwrap();
        let cells = Lanes::new(&trace).columns(1, 0, 100, 4);
        let read = |cell: &LaneCell| (cell.spans, cell.dominant, cell.worst, cell.task);
        assert_eq!(read(&cells[0]), (4, Activity::Running, Activity::Blocked, NO_TASK));
        assert_eq!(read(&cells[1]), (2, Activity::Blocked, Activity::Blocked, NO_TASK));
        assert_eq!(read(&cells[3]), (2, Activity::Blocked, Activity::Blocked, NO_TASK));
        assert!((cells[0].share[Activity::Running as usize] - 0.4).abs() < 1e-6);
        // Zoomed in below a nanosecond per column, and beyond the end.
        let cells = Lanes::new(&trace).columns(1, 89, 90, 3);
        assert!(cells.iter().all(|cell| read(cell) == (1, Activity::Blocked, Activity::Blocked, 1)));
        assert_eq!(read(&Lanes::new(&trace).columns(1, 200, 300, 1)[0]).1, Activity::Absent);
    }

    proptest! {
        #[test]
        fn lanes_cover_the_run(trace in any_trace()) {
            let lanes = Lanes::new(&trace);
            for thread in 0..trace.thread_info().len() as u32 {
                let mut at = 0;
                for span in lanes.lane(thread).iter() {
                    prop_assert_eq!(span.start_ns, at);
                    prop_assert!(span.end_ns > at);
                    at = span.end_ns;
                }
                prop_assert_eq!(at, trace.end_ns());
                prop_assert_eq!(lanes.totals(thread).sum(), trace.end_ns());
            }
        }

        #[test]
        fn a_column_is_what_its_spans_are(
            trace in any_trace(), from in 0_u64..800, width in 0_u64..900, columns in 1_usize..40,
        ) {
            let lanes = Lanes::new(&trace);
            let (from_wide, range) = (u128::from(from), u128::from(width));
            for thread in 0..4 {
                let cells = lanes.columns(thread, from, from + width, columns);
                prop_assert_eq!(cells.len(), columns);
                for (i, cell) in cells.iter().enumerate() {
                    let low = (from_wide + range * i as u128 / columns as u128) as u64;
                    let high = (from_wide + range * (i as u128 + 1) / columns as u128) as u64;
                    // A column of no length is one instant, which is read here as one nanosecond.
                    let high = high.max(low + 1);
                    let mut ns = [0; ACTIVITIES];
                    let mut inside = Vec::new();
                    for span in lanes.lane(thread).iter().filter(|s| s.start_ns < high && s.end_ns > low) {
                        ns[span.activity as usize] += span.end_ns.min(high) - span.start_ns.max(low);
                        inside.push(span);
                    }
                    ns[Activity::Absent as usize] += high - low - ns.iter().sum::<u64>();
                    let worst = Activity::ALL.into_iter().filter(|&a| ns[a as usize] > 0).max_by_key(|&a| severity(a));
                    prop_assert_eq!(Some(cell.worst), worst);
                    prop_assert_eq!(ns[cell.dominant as usize], *ns.iter().max().unwrap());
                    prop_assert_eq!(cell.spans as usize, inside.len());
                    prop_assert_eq!(cell.task, if let [only] = inside[..] { only.task } else { NO_TASK });
                    for (share, ns) in cell.share.iter().zip(ns) {
                        prop_assert!((share - ns as f32 / (high - low) as f32).abs() < 1e-5);
                    }
                    if low < trace.end_ns() {
                        prop_assert_eq!(lanes.totals_between(thread, low, high).sum(), high.min(trace.end_ns()) - low);
                    }
                }
            }
        }
    }
}
