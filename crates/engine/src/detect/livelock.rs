//! Livelock: tasks keep trying their locks, and no task gets any further, for ever.
//!
//! Precisely, at a retry (a `tryLock` in vain) all of this holds:
//!
//! 1. No task has begun a step for the first time since the log of retries began, at least 64 retries ago.
//! 2. Either the second half of the log is one period at least four times: the same tasks at the same steps, the same
//!    nanoseconds apart, with the same context switches between and, where threads had to wait for a core, the same lead
//!    of each thread's CPU time. Where the scheduler has made random choices meanwhile, such as whom to steal from, it is
//!    64 times, whatever is not seen.
//!    Or, after 1,024 retries, every task that tries tries a lock that can never be given back: who has it waits for a
//!    lock of another such one, or for the end of one of those who try. Then the times do not matter, and there is no
//!    period.
//! 3. That half took 10 ms or has 65,536 retries: whoever had been woken before has run.
//! 4. No task will arrive, and every other task that has not ended waits for a lock, for children, or for a worker; none
//!    computes, sleeps or makes a call that ends by itself. All of this held already when the log was half as long, so
//!    that who waits for a worker now has not just come back from a sleep.
//!
//! A retry waits for as long each time, for a draw belongs to a task and a step, so what has come back to the same state
//! goes through the same states again and cannot end. A workload that does end fails 1, 2 or 4.
//! Tasks that give way to each other, and whose periods have no common multiple within half a million retries, are not
//! judged; their run is given up.

use std::collections::{BTreeMap, BTreeSet};

use super::retries::Retry;
use super::waits::resource;
use super::{Waits, deadlock};
use crate::finding::{Finding, FindingKind, MAX_NAMED, Resource, ResourceKind, TaskName, Wait};
use crate::kernel::{Kernel, Status};
use crate::locks::Locks;
use crate::plan::Op;
use crate::recording::NO_TASK;
use crate::state::{Role, TaskState};

/// [ns] Longer than a wake-up, a switch and a slice together.
const SETTLED_NS: u64 = 10_000_000;
/// Retries after which the time does not matter.
const SETTLED_RETRIES: usize = 1 << 16;
/// Retries after which there need not be a period.
const LONG: usize = 1 << 10;

/// The livelock that the run is in, and before it the deadlock of other tasks that is its cause, if there is one;
/// nothing if it may still end. `chance`: the model has chosen at random since the second half of the log began.
pub(crate) fn livelock(kernel: &mut Kernel, locks: &Locks, chance: bool) -> Vec<Finding> {
    let period = kernel.retry_log.period(chance).map(<[Retry]>::to_vec);
    let futile = || {
        let is_long = kernel.retry_log.len() >= LONG;
        is_long.then(|| futile(kernel, &Waits::new(kernel, locks, false))).flatten()
    };
    let tasks = period.as_deref().map(tasks_of).or_else(futile).filter(|tasks| nothing_else_moves(kernel, tasks));
    let before = std::mem::replace(&mut kernel.retry_log.hopeless, tasks.is_some());
    kernel.recorder.settle();
    let kernel: &Kernel = kernel;
    let log = &kernel.retry_log;
    let settled = log.window_ns() >= SETTLED_NS || log.len() / 2 >= SETTLED_RETRIES;
    let (Some(tasks), true) = (tasks, before && settled) else { return Vec::new() };
    let waits = Waits::new(kernel, locks, false);
    let period_ns = period.as_ref().map(|period| log.last_ns() - log.time_before(period.len()));
    let describe = |&task: &u32| {
        let tries = describe(kernel, &waits, period.as_deref().unwrap_or(log.window()), task);
        if period.is_some() { tries } else { Wait { times: 0, ..tries } }
    };
    let livelock = Finding {
        kind: FindingKind::Livelock,
        from_ns: log.since(),
        to_ns: kernel.now,
        tasks: tasks.len() as u32,
        circle: 0,
        period_ns,
        waits: tasks.iter().take(MAX_NAMED).map(describe).collect(),
    };
    deadlock::among_others(&waits, kernel.recorder.task_records(), kernel.now).into_iter().chain([livelock]).collect()
}

/// The tasks of these retries, ascending.
fn tasks_of(retries: &[Retry]) -> Vec<u32> {
    retries.iter().map(|retry| retry.task).collect::<BTreeSet<u32>>().into_iter().collect()
}

/// The tasks that try, ascending, if each tries a lock that is never given back.
fn futile(kernel: &Kernel, waits: &Waits<'_>) -> Option<Vec<u32>> {
    let mut tries: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for retry in kernel.retry_log.window() {
        tries.entry(retry.task).or_default().extend(tried(kernel, retry));
    }
    let stuck = deadlock::stuck(waits, &tries);
    tries.keys().all(|task| stuck.binary_search(task).is_ok()).then(|| tries.into_keys().collect())
}

/// Condition 4.
fn nothing_else_moves(kernel: &Kernel, retrying: &[u32]) -> bool {
    let retries = |task: u32| retrying.binary_search(&task).is_ok();
    let inert = |task: u32| match kernel.state(task) {
        TaskState::Done | TaskState::Failed | TaskState::Pending | TaskState::Queued | TaskState::LockWait => true,
        TaskState::Waiting | TaskState::Blocked => kernel.tasks.joining.get(task as usize) == Some(&true),
        TaskState::Running | TaskState::Preempted => false,
    };
    let submits = kernel.threads.iter().zip(&kernel.thread_info).any(|(thread, info)| {
        info.role == Role::Submitter
            && thread.task == NO_TASK
            && !matches!(thread.status, Status::Parked | Status::Absent)
    });
    !submits && kernel.nothing_arrives() && (0..kernel.plan.tasks).all(|task| retries(task) || inert(task))
}

/// What a task tries in vain, and who has it meanwhile.
fn describe(kernel: &Kernel, waits: &Waits<'_>, period: &[Retry], task: u32) -> Wait {
    let own: Vec<&Retry> = period.iter().filter(|retry| retry.task == task).collect();
    let tried = own.first().and_then(|retry| tried(kernel, retry));
    let times = own.iter().filter(|retry| self::tried(kernel, retry) == tried).count() as u32;
    let keeps = own.first().map_or(Vec::new(), |retry| keeps(kernel, retry));
    let goal =
        tried.map_or(Resource { kind: ResourceKind::Worker, name: String::new() }, |lock| resource(kernel, lock));
    let mut holders: Vec<u32> = Vec::new();
    for other in period.iter().filter(|other| other.task != task) {
        if tried.is_some_and(|lock| self::keeps(kernel, other).contains(&lock)) {
            holders.push(other.task);
        }
    }
    holders.extend(tried.into_iter().flat_map(|lock| waits.holders(lock)).copied().filter(|&holder| holder != task));
    holders.sort_unstable();
    holders.dedup();
    let held_by: Vec<TaskName> = holders.into_iter().take(MAX_NAMED).map(|holder| waits.name(holder)).collect();
    let holds = keeps.into_iter().take(MAX_NAMED).map(|lock| resource(kernel, lock)).collect();
    Wait { task: waits.name(task), holds, wants: goal, held_by, times }
}

/// The lock that the retry was for.
fn tried(kernel: &Kernel, retry: &Retry) -> Option<u32> {
    match kernel.plan.classes[kernel.class_index(retry.task)].ops.get(usize::from(retry.step)) {
        Some(Op::TryLock(lock, _)) => lock.shared,
        _ => None,
    }
}

/// What the task had when it tried.
fn keeps(kernel: &Kernel, retry: &Retry) -> Vec<u32> {
    kernel.held(retry.task, usize::from(retry.step)).into_iter().filter_map(|lock| lock.shared).collect()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use proptest::prelude::*;

    use crate::finding::FindingKind;
    use crate::scenario::Scenario;
    use crate::sim::Simulation;

    const RUNS: [&str; 9] = [
        r#"{ model = "green-threads", runtime = "go" }"#,
        r#"{ model = "thread-pool", size = 8 }"#,
        r#"{ model = "green-threads", jdk = 21 }"#,
        r#"{ model = "green-threads", jdk = 25 }"#,
        r#"{ model = "coroutines", dispatcher = "default" }"#,
        r#"{ model = "coroutines", dispatcher = "io" }"#,
        r#"{ model = "coroutines", dispatcher = "event-loop" }"#,
        r#"{ model = "coroutines", runtime = "tokio" }"#,
        r#"{ model = "coroutines", runtime = "tokio", flavor = "current-thread" }"#,
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 40 } else { 1_000 }))]

        /// Who goes on beyond a livelock for ten times as many events as it took to find it still makes none.
        #[test]
        fn a_livelock_is_for_ever(
            takers in prop::collection::vec((0_u64..3, 0_u64..4, 0_u64..4, 1_u64..4, 0..6_u32), 2..5),
            run in 0..RUNS.len(),
            cores in 1_u32..4,
            costs in any::<bool>(),
        ) {
            let class = |&(at, cpu, io, retry, how): &(u64, u64, u64, u64, u32)| {
                let (first, second) = if how % 2 == 0 { ("a", "b") } else { ("b", "a") };
                let tries = |lock: &str| {
                    let every = if how < 2 { format!("\"{retry} ms\"") } else { format!("{{ exponential = \"{retry} ms\" }}") };
                    format!("{{ lock = {{ name = \"{lock}\", kind = \"reentrant\", retry = {every} }} }}")
                };
                if how > 3 {
                    // A child that tries what its parent keeps, or what others do.
                    let child = if at == 0 { first } else { second };
                    return format!(
                        "{{ count = 1, at = \"{at} ms\", steps = [{}, {{ cpu = \"{cpu} ms\" }}, \
                         {{ spawn = {{ steps = [{}, {{ io = \"{io} ms\" }}, {{ unlock = \"{child}\" }}] }} }}, \"join\", \
                         {{ unlock = \"{first}\" }}] }}",
                        tries(first), tries(child)
                    );
                }
                format!(
                    "{{ count = 1, at = \"{at} ms\", steps = [{{ lock = {{ name = \"{first}\", kind = \"reentrant\" }} }}, \
                     {{ cpu = \"{cpu} ms\" }}, {{ io = \"{io} ms\" }}, {}, {{ unlock = \"{second}\" }}, {{ unlock = \"{first}\" }}] }}",
                    tries(second)
                )
            };
            let classes: Vec<String> = takers.iter().map(class).collect();
            let text = format!(
                "version = 1\nname = \"test\"\nprofile = \"{}\"\ntasks = [{}]\nruns = [{}]\nmachine = {{ cores = {cores} }}\n",
                if costs { "linux-default" } else { "zero" }, classes.join(", "), RUNS[run]
            );
            let scenario = Scenario::from_toml(&text).unwrap();
            let mut simulation = Simulation::new(&scenario, 0).unwrap().with_max_events(20_000);
            let end = loop {
                let progress = simulation.step(10_000);
                if progress.finished {
                    break progress;
                }
            };
            let done = end.tasks_done;
            let recording = simulation.into_recording();
            if recording.findings.iter().any(|finding| finding.kind == FindingKind::Livelock) {
                let mut beyond = Simulation::new(&scenario, 0).unwrap().looking_away();
                prop_assert_eq!(beyond.step(10 * end.events).tasks_done, done, "{}", text);
            } else {
                // What chance keeps from repeating is given up without a finding.
                prop_assert!(recording.totals.unfinished == 0 || end.given_up, "{}", text);
            }
        }
    }
}
