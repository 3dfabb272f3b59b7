//! The figures of one run, each derived from its trace once; the page, the tables and the files all read these.

use parkbench_engine::{Activity, Finding, Recording, Role};
use serde::{Deserialize, Serialize};

use crate::lanes::ActivityTotals;
use crate::summary::Summary;
use crate::times::{Failures, Tallied, Tally};
use crate::trace::Trace;
use crate::workspace::Workspace;

/// Figures of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Tasks in the run.
    pub tasks: u32,
    /// Tasks that finished.
    pub tasks_done: u32,
    /// Tasks that ended without finishing.
    pub tasks_failed: u32,
    /// Those, by reason.
    pub failures: Vec<Failures>,
    /// Tasks that never ended, because they wait for each other.
    pub tasks_unfinished: u32,
    /// [ns] From the first submission until the submitter has seen the last task end.
    pub makespan_ns: u64,
    /// [tasks/s] Finished tasks by makespan; infinite for a run that took no time.
    pub throughput_per_s: f64,
    /// [ns] Start of the body to its end, queueing before the start excluded; over the tasks that finished.
    pub latency_ns: Summary,
    /// [ns] Submission to end; over the tasks that finished.
    pub response_ns: Summary,
    /// [ns] All the time a task was queued, before its start and after each wait; over the tasks that finished.
    pub queue_ns: Summary,
    /// Memory at the peak.
    pub memory_bytes: MemoryBytes,
    /// OS context switches of both kinds.
    pub os_switches: u64,
    /// OS context switches that a thread asked for by blocking or parking.
    pub voluntary_switches: u64,
    /// OS context switches forced on a thread.
    pub involuntary_switches: u64,
    /// [1/s] OS context switches by makespan; infinite for switches in a run that took no time.
    pub switches_per_second: f64,
    /// Most tasks that had started and not ended at one time.
    pub in_flight_peak: u32,
    /// [ns] Time in which some thread ran a task's code, summed over the threads.
    pub busy_ns: u64,
    /// [ns] Time in which some thread did the scheduler's own work, summed over the threads.
    pub overhead_ns: u64,
    /// Every thread, by index.
    pub workers: Vec<WorkerUse>,
    /// Events that the engine processed.
    pub events: u64,
    /// Hash of the record stream, as 16 hexadecimal digits.
    pub digest: String,
    /// What is wrong with the run as a whole.
    pub findings: Vec<Finding>,
    /// Records that are in these figures and have not been kept; 0 for a run with a trace.
    pub records_dropped: u64,
}

/// Memory at the peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryBytes {
    /// [bytes] Address space reserved.
    pub reserved: u64,
    /// [bytes] Resident.
    pub resident: u64,
}

/// What one thread did with its time; the five times add up to the makespan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerUse {
    /// As a thread dump would name it.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// [ns] Running a task's code.
    pub busy_ns: u64,
    /// [ns] Parked, on its way to a core, or not alive.
    pub idle_ns: u64,
    /// [ns] The scheduler's own work.
    pub overhead_ns: u64,
    /// [ns] Held by a task that waits.
    pub blocked_ns: u64,
    /// [ns] With work and without a core.
    pub preempted_ns: u64,
}

impl Metrics {
    /// Derives every figure. O(records + tasks).
    pub fn of(trace: &Trace) -> Self {
        Self::of_in(trace, &mut Workspace::default())
    }

    /// The same in memory that other figures have left, and leaves it to the next.
    pub fn of_in(trace: &Trace, workspace: &mut Workspace) -> Self {
        let mut tallied = Tally::of(trace, workspace);
        let metrics = Self::new(&mut tallied, trace.recording(), 0);
        workspace.times = tallied.tasks;
        metrics
    }

    /// The figures of a run whose records have all been given to the tally and not been kept. O(tasks).
    pub fn aggregated(tally: Tally, rest: &Recording) -> Self {
        let records = tally.records();
        let (end, threads) = (rest.totals.makespan_ns, rest.thread_info.len());
        Self::new(&mut tally.finish(end, threads, &mut Workspace::default()), rest, records)
    }

    fn new(tallied: &mut Tallied, recording: &Recording, records_dropped: u64) -> Self {
        let Tallied { tasks: times, failures, threads } = tallied;
        let totals = &recording.totals;
        let workers: Vec<_> = recording
            .thread_info
            .iter()
            .zip(threads)
            .map(|(info, totals)| WorkerUse::new(info.name.clone(), info.role, *totals))
            .collect();
        let os_switches = totals.voluntary_switches.saturating_add(totals.involuntary_switches);
        let sum = |part: fn(&WorkerUse) -> u64| workers.iter().map(part).fold(0, u64::saturating_add);
        Self {
            tasks: totals.tasks,
            tasks_done: times.done,
            tasks_failed: times.failed,
            failures: std::mem::take(failures),
            tasks_unfinished: totals.unfinished,
            makespan_ns: totals.makespan_ns,
            throughput_per_s: rate(u64::from(times.done), totals.makespan_ns),
            latency_ns: Summary::reorder(&mut times.latency),
            response_ns: Summary::reorder(&mut times.response),
            queue_ns: Summary::reorder(&mut times.queue),
            memory_bytes: MemoryBytes { reserved: totals.reserved_bytes, resident: totals.resident_bytes },
            os_switches,
            voluntary_switches: totals.voluntary_switches,
            involuntary_switches: totals.involuntary_switches,
            switches_per_second: rate(os_switches, totals.makespan_ns),
            in_flight_peak: times.in_flight_peak,
            busy_ns: sum(|worker| worker.busy_ns),
            overhead_ns: sum(|worker| worker.overhead_ns),
            workers,
            events: totals.events,
            digest: format!("{:016x}", totals.digest),
            findings: recording.findings.clone(),
            records_dropped,
        }
    }

    /// Share of the time of all cores in which they ran the code of tasks, 0 to 1; `None` for a run of no time.
    pub fn core_busy_share(&self, cores: u32) -> Option<f64> {
        share_of_cores(self.busy_ns, cores, self.makespan_ns)
    }

    /// Share of the time of all cores that went into the scheduler's own work, 0 to 1; `None` for a run of no time.
    pub fn core_overhead_share(&self, cores: u32) -> Option<f64> {
        share_of_cores(self.overhead_ns, cores, self.makespan_ns)
    }
}

impl WorkerUse {
    fn new(name: String, role: Role, totals: ActivityTotals) -> Self {
        Self {
            name,
            role,
            busy_ns: totals.get(Activity::Running),
            idle_ns: totals.get(Activity::Idle) + totals.get(Activity::Waking) + totals.get(Activity::Absent),
            overhead_ns: totals.get(Activity::Overhead),
            blocked_ns: totals.get(Activity::Blocked),
            preempted_ns: totals.get(Activity::Preempted),
        }
    }
}

fn share_of_cores(ns: u64, cores: u32, makespan_ns: u64) -> Option<f64> {
    let available = u128::from(cores) * u128::from(makespan_ns);
    (available > 0).then(|| ns as f64 / available as f64)
}

fn rate(count: u64, ns: u64) -> f64 {
    match (count, ns) {
        (0, _) => 0.0,
        (_, 0) => f64::INFINITY,
        (count, ns) => count as f64 * 1e9 / ns as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{any_trace, small};
    use proptest::prelude::*;

    #[test]
    fn figures_of_the_small_run() {
        let metrics = Metrics::of(&Trace::new(small()).unwrap());
        let summary = |mean, p50, max| Summary { count: 2, mean, p50, p95: max, p99: max, max };
        assert_eq!((metrics.tasks, metrics.tasks_done, metrics.tasks_failed), (2, 2, 0));
        assert_eq!(metrics.latency_ns, summary(40, 30, 50));
        assert_eq!(metrics.response_ns, summary(60, 40, 80));
        assert_eq!(metrics.queue_ns, summary(20, 10, 30));
        assert_eq!(metrics.throughput_per_s as u64, 20_000_000);
        assert_eq!((metrics.os_switches, metrics.switches_per_second as u64), (4, 40_000_000));
        assert_eq!(metrics.digest, "0000000000abcdef");
        assert_eq!((metrics.busy_ns, metrics.overhead_ns), (30, 12));
        assert_eq!(metrics.core_busy_share(2), Some(0.15));
        let worker = &metrics.workers[1];
        assert_eq!((worker.busy_ns, worker.idle_ns, worker.blocked_ns), (30, 20, 50));
    }

    proptest! {
        #[test]
        fn the_memory_of_other_traces_changes_nothing(traces in prop::collection::vec(any_trace(), 3)) {
            let mut workspace = Workspace::default();
            for fresh in traces {
                let trace = Trace::new_in(fresh.recording().clone(), &mut workspace).unwrap();
                prop_assert_eq!(Metrics::of_in(&trace, &mut workspace), Metrics::of(&fresh));
                let tasks = 0..fresh.task_count() as u32;
                prop_assert!(tasks.into_iter().all(|task| trace.history(task) == fresh.history(task)));
                prop_assert_eq!(&trace.into_recording_in(&mut workspace), fresh.recording());
            }
        }

        #[test]
        fn the_times_of_a_thread_add_up_to_the_makespan(trace in any_trace()) {
            let metrics = Metrics::of(&trace);
            for w in &metrics.workers {
                prop_assert_eq!(
                    w.busy_ns + w.idle_ns + w.overhead_ns + w.blocked_ns + w.preempted_ns, metrics.makespan_ns
                );
            }
            prop_assert_eq!(u64::from(metrics.tasks_done), metrics.queue_ns.count);
            prop_assert!(metrics.latency_ns.max <= metrics.response_ns.max);
        }
    }
}
