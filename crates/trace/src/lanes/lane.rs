//! The spans of one thread, 12 bytes each: a span begins where the one before it ends.

use parkbench_engine::{Activity, NO_TASK, ThreadTag};

/// One thing that a thread did; never of no length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// [ns] Start.
    pub start_ns: u64,
    /// [ns] End, not included.
    pub end_ns: u64,
    /// What it did.
    pub activity: Activity,
    /// For which task, or [`NO_TASK`].
    pub task: u32,
}

/// The spans of a thread in time order, without a gap from 0 to the end of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane<'a> {
    /// [ns] The end of each span.
    ends: &'a [u64],
    /// What each is, packed.
    tags: &'a [u32],
}

impl<'a> Lane<'a> {
    /// A lane of these columns, which have one length.
    pub(super) fn new(ends: &'a [u64], tags: &'a [u32]) -> Self {
        debug_assert_eq!(ends.len(), tags.len());
        Self { ends, tags }
    }

    /// Number of spans.
    pub fn len(self) -> usize {
        self.ends.len()
    }

    /// Whether there is none, as for a thread that does not exist.
    pub fn is_empty(self) -> bool {
        self.ends.is_empty()
    }

    /// The span of this number.
    pub fn get(self, index: usize) -> Option<Span> {
        let (&end_ns, &tag) = (self.ends.get(index)?, self.tags.get(index)?);
        let start_ns = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        // Tags were packed here.
        let idle = ThreadTag { activity: Activity::Absent, task: NO_TASK };
        let ThreadTag { activity, task } = ThreadTag::unpack(tag).unwrap_or(idle);
        Some(Span { start_ns, end_ns, activity, task })
    }

    /// All spans.
    pub fn iter(self) -> impl Iterator<Item = Span> + 'a {
        self.range(0, self.len())
    }

    /// The spans from number `from` to number `to`, not included.
    pub(super) fn range(self, from: usize, to: usize) -> impl Iterator<Item = Span> + 'a {
        (from..to).filter_map(move |index| self.get(index))
    }

    /// Number of spans that end by `t_ns`.
    pub(super) fn ended_by(self, t_ns: u64) -> usize {
        self.ends.partition_point(|&end| end <= t_ns)
    }

    /// Number of spans after number `from` that end by `t_ns`; fast if they are few, as they are from one column to the
    /// next.
    pub(super) fn gallop(self, from: usize, t_ns: u64) -> usize {
        let ends = &self.ends[from..];
        let mut reach = 1;
        while reach < ends.len() && ends[reach - 1] <= t_ns {
            reach *= 2;
        }
        let low = reach / 2;
        low + ends[low..reach.min(ends.len())].partition_point(|&end| end <= t_ns)
    }
}
