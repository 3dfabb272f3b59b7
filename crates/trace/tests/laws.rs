//! The laws that hold for every run of the real engine, over all presets and models.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::LazyLock;

use parkbench_engine::{
    Activity, LockScope, Model, PRESET_NAMES, Scenario, Simulation, Step, TaskState, TaskTag, preset,
};
use parkbench_trace::{Lanes, Metrics, StateCursor, Trace, compare, decode, encode, in_flight_peak, integrals};

/// Every run of every preset, simulated once for all tests.
static RUNS: LazyLock<Vec<(Scenario, usize, Trace)>> = LazyLock::new(|| {
    let scenarios = PRESET_NAMES.iter().map(|name| preset(name).unwrap());
    let runs = scenarios.flat_map(|scenario| (0..scenario.runs.len()).map(move |run| (scenario.clone(), run)));
    runs.map(|(scenario, run)| {
        let recording = Simulation::new(&scenario, run).unwrap().run();
        (scenario, run, Trace::new(recording).unwrap())
    })
    .collect()
});

fn every_run(check: impl Fn(&Scenario, usize, &Trace)) {
    RUNS.iter().for_each(|(scenario, run, trace)| check(scenario, *run, trace));
}

/// Whether a task that does this makes or wakes other tasks.
fn hands_on(step: &Step) -> bool {
    match step {
        Step::Spawn(_) | Step::Release(_) => true,
        Step::Lock(lock) => lock.scope == LockScope::Shared,
        Step::Repeat(repeat) => repeat.steps.iter().any(hands_on),
        _ => false,
    }
}

/// [ns] All the time from the arrival of a task, where it has one, until the submitter has reached it.
fn arrived_before(trace: &Trace) -> u128 {
    let records = &trace.recording().tasks;
    let (mut arrived, mut sum) = (vec![None; trace.task_count()], 0);
    for (record, &at) in records.time.iter().enumerate() {
        let arrival = &mut arrived[records.subject[record] as usize];
        if let Some(before) = arrival.take() {
            sum += u128::from(at - before);
        }
        *arrival = (TaskTag::unpack(records.tag[record]).unwrap().state == TaskState::Pending).then_some(at);
    }
    sum
}

#[test]
fn time_is_conserved() {
    every_run(|scenario, run, trace| {
        let (at, lanes) = (format!("{} {run}", scenario.name), Lanes::new(trace));
        let metrics = Metrics::of(trace);
        for worker in &metrics.workers {
            let sum = worker.busy_ns + worker.idle_ns + worker.overhead_ns + worker.blocked_ns + worker.preempted_ns;
            assert_eq!(sum, metrics.makespan_ns, "{at}: {}", worker.name);
        }
        // Two streams, one truth: the time that tasks ran is the time that threads ran tasks.
        let whole = integrals(trace, 0, trace.end_ns(), 1)[0].sums;
        let tasks = |state: TaskState| whole[state as usize];
        let threads = |activity: Activity| -> u128 {
            (0..trace.thread_info().len() as u32).map(|thread| u128::from(lanes.totals(thread).get(activity))).sum()
        };
        // A task that spawns others or wakes them runs, while its thread is at the scheduler's work of handing them on.
        let (ran, running) = (tasks(TaskState::Running), threads(Activity::Running));
        let hands_on = scenario.tasks.iter().any(|class| class.steps.iter().any(hands_on));
        let handing_on = if hands_on { threads(Activity::Overhead) } else { 0 };
        assert!(running <= ran && ran <= running + handing_on, "{at}: ran {ran}, running {running}");
        // A blocked thread is held by a task that waits; such a task may outlast it while its thread gets back to a core.
        // One that waits for a lock holds a pool thread; a green thread or coroutine may wait for it without a thread.
        let most_held = tasks(TaskState::Blocked) + tasks(TaskState::LockWait);
        let pool = scenario.runs[run].model == Model::ThreadPool;
        let held = if pool { most_held } else { tasks(TaskState::Blocked) };
        let (blocked, getting_back) = (
            threads(Activity::Blocked),
            threads(Activity::Waking) + threads(Activity::Overhead) + threads(Activity::Preempted),
        );
        assert!(blocked <= most_held && held <= blocked + getting_back, "{at}: held {held}, blocked {blocked}");
        // No core does two things at once.
        let on_core = threads(Activity::Running) + threads(Activity::Overhead);
        assert!(on_core <= u128::from(scenario.machine.cores) * u128::from(trace.end_ns()), "{at}: cores");
        // Little's law, exactly: the time that tasks spend in the system is the number in it, added up over time.
        let in_system: u128 = whole.iter().sum::<u128>()
            - [TaskState::Pending, TaskState::Done, TaskState::Failed].map(tasks).iter().sum::<u128>()
            + arrived_before(trace);
        for (name, summary, sum) in
            [("response", metrics.response_ns, in_system), ("queue", metrics.queue_ns, tasks(TaskState::Queued))]
        {
            // The mean is rounded.
            let mean = u128::from(summary.mean) * u128::from(summary.count);
            assert!(mean.abs_diff(sum) <= u128::from(summary.count), "{at}: {name} {mean} for {sum}");
        }
        assert_eq!(whole.iter().sum::<u128>(), trace.task_count() as u128 * u128::from(trace.end_ns()));
    });
}

#[test]
fn tasks_end_and_their_times_add_up() {
    every_run(|scenario, run, trace| {
        let at = format!("{} {run}", scenario.name);
        let metrics = Metrics::of(trace);
        assert_eq!(Some(u64::from(metrics.tasks)), scenario.task_count_with_spawned(), "{at}");
        assert_eq!(metrics.tasks, metrics.tasks_done + metrics.tasks_failed, "{at}");
        // Tasks fail only where the OS has a limit, and each for a reason.
        assert!(metrics.tasks_failed == 0 || scenario.machine.max_threads.is_some(), "{at}");
        assert_eq!(metrics.failures.iter().map(|failures| failures.tasks).sum::<u32>(), metrics.tasks_failed, "{at}");
        let mut cursor = StateCursor::new(trace);
        cursor.seek(trace, trace.end_ns());
        let ended = [TaskState::Done, TaskState::Failed].map(|state| cursor.counts()[state as usize]);
        assert_eq!(ended, [metrics.tasks_done, metrics.tasks_failed], "{at}");
        assert!(metrics.response_ns.max <= metrics.makespan_ns, "{at}");
        let (latency, response) = (metrics.latency_ns, metrics.response_ns);
        assert!(latency.count == response.count && latency.mean <= response.mean, "{at}: {latency:?} {response:?}");
        assert_eq!(metrics.in_flight_peak, in_flight_peak(trace));
        assert!((1..=metrics.tasks).contains(&metrics.in_flight_peak), "{at}");
        for task in [0, metrics.tasks / 2, metrics.tasks - 1] {
            let history = trace.history(task);
            assert!(history.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns), "{at}");
            let end = history.last().map(|record| record.tag.state);
            assert_eq!(end, Some(cursor.tag(task).state), "{at}");
            assert!(matches!(end, Some(TaskState::Done | TaskState::Failed)), "{at}: {end:?}");
        }
    });
}

#[test]
fn a_recording_survives_its_bytes() {
    every_run(|_, _, trace| assert_eq!(decode(&encode(trace.recording())).as_ref(), Ok(trace.recording())));
}

#[test]
fn figures_are_near_the_published_ones_that_do_not_contradict_themselves() {
    every_run(|scenario, run, trace| {
        for comparison in compare(scenario, run, &Metrics::of(trace)) {
            let residual = match comparison.contradiction {
                None => comparison.residual_percent,
                Some(_) => comparison.residual_to_consistent_percent,
            };
            let near = residual.map(|percent| percent.abs() <= 5.0);
            // Without a value that is consistent there is nothing to be near to.
            assert!(near.unwrap_or(comparison.contradiction.is_some()), "{} {run}: {comparison:?}", scenario.name);
        }
    });
}
