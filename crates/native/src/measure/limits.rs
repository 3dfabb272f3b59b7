//! Whether this machine can hold the threads and stacks of a runtime at all.
//!
//! Arithmetic on the scenario alone; the machine's limits come in as numbers.

use parkbench_engine::Scenario;

use super::kind::Kind;
use super::runtime::Runtime;

/// What the machine allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Processors that this process may use.
    pub(crate) cores: u32,
    /// Memory mappings of a process (`vm.max_map_count`).
    pub(crate) mappings: u64,
    /// Threads at once: the smallest of the limits that are known.
    pub(crate) most_threads: Option<ThreadLimit>,
}

/// A limit on threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadLimit {
    /// So many.
    pub(crate) threads: u64,
    /// What sets it.
    pub(crate) name: &'static str,
}

/// Mappings that the process itself needs.
const OWN_MAPPINGS: u64 = 4_000;
/// Mappings of an OS thread started by Rust: stack and signal stack, each with its guard (B3 of the runtime facts).
const MAPPINGS_PER_THREAD: u64 = 4;
/// Mappings of a guarded coroutine stack (R-6).
const MAPPINGS_PER_STACK: u64 = 2;

impl Limits {
    /// Live green threads, in whole thousands below what the mappings allow.
    pub(crate) fn green_threads(self) -> u64 {
        self.mappings.saturating_sub(OWN_MAPPINGS) / MAPPINGS_PER_STACK / 1_000 * 1_000
    }

    /// Threads, in whole thousands below what the mappings allow.
    pub(crate) fn threads(self) -> u64 {
        self.mappings.saturating_sub(OWN_MAPPINGS) / MAPPINGS_PER_THREAD / 1_000 * 1_000
    }
}

/// Why this machine cannot hold the threads of this runtime, if it cannot.
pub(crate) fn too_large(scenario: &Scenario, runtime: &Runtime, limits: Limits) -> Option<String> {
    let tasks = scenario.task_count_with_spawned().unwrap_or_else(|| scenario.task_count());
    let mappings = limits.mappings;
    let by_mappings = mapped(runtime, tasks, limits).map(|(wanted, most, each)| {
        (wanted, most, format!("for each has {each} memory mappings and vm.max_map_count is {mappings}"))
    });
    let by_threads = os_threads(runtime, tasks)
        .zip(limits.most_threads)
        .map(|(wanted, limit)| (wanted, limit.threads, format!("for {} allows no more", limit.name)));
    let over = [by_mappings, by_threads].into_iter().flatten().filter(|(wanted, most, _)| wanted > most);
    // The one that is left when another is raised would be the next to refuse it.
    let (wanted, most, why) = over.min_by_key(|(_, most, _)| *most)?;
    let a_task_each = runtime.kind() == Kind::May || runtime.threads() == u32::MAX;
    let what = if a_task_each { "tasks" } else { "threads" };
    let advice = if a_task_each { format!("; use --tasks {most}") } else { String::new() };
    Some(format!("{wanted} {what} are more than this machine holds, up to {most}, {why}{advice}"))
}

/// What the runtime has for its tasks that has memory mappings of its own: how many, how many fit, mappings of each.
fn mapped(runtime: &Runtime, tasks: u64, limits: Limits) -> Option<(u64, u64, u64)> {
    Some(match runtime.kind() {
        // Its workers are few; each task has a stack.
        Kind::May => (tasks, limits.green_threads(), MAPPINGS_PER_STACK),
        kind if kind.is_jvm() => (os_threads(runtime, tasks)?, limits.green_threads(), MAPPINGS_PER_STACK),
        _ => (os_threads(runtime, tasks)?, limits.threads(), MAPPINGS_PER_THREAD),
    })
}

/// OS threads that the runtime needs for its tasks; `None` where it needs none but its own.
fn os_threads(runtime: &Runtime, tasks: u64) -> Option<u64> {
    match runtime.kind() {
        Kind::TokioCurrent | Kind::KotlinEventLoop => None,
        // Their workers are there before the first task.
        Kind::May | Kind::Tokio | Kind::Smol => Some(runtime.threads().into()),
        _ => Some(u64::from(runtime.threads()).min(tasks)),
    }
}

/// The reason why a run has failed, and where it got no thread, the limits that may be why.
pub(crate) fn explained(reason: &str, limit: Option<ThreadLimit>) -> String {
    // The words of Rust's standard library, of Java, of its virtual machine and of the runner.
    let starved = ["Resource temporarily unavailable", "unable to create native thread", "(EAGAIN)", "got no thread"];
    match limit.filter(|_| starved.iter().any(|words| reason.contains(words))) {
        Some(ThreadLimit { threads, name }) => {
            format!("{reason}; {name} allows {threads} threads in all: raise it, or use fewer")
        }
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::jvm::Version;
    use crate::measure::select::{Wanted, plan};

    const LIMITS: Limits = Limits { cores: 2, mappings: 65_530, most_threads: None };

    fn scenario(steps: &str, tasks: u64, size: u32) -> Scenario {
        let text = format!(
            r#"{{"version":1,"name":"x","machine":{{"cores":4}},"tasks":[{steps}],"runs":[
                {{"model":"thread-pool","size":{size}}},{{"model":"green-threads"}}]}}"#
        );
        Scenario::from_json(&text.replace("COUNT", &tasks.to_string())).unwrap()
    }

    /// The runtimes that this machine cannot hold, with the reason.
    #[track_caller]
    fn check_limits(limits: Limits, tasks: u64, size: u32, expect: &[(&str, &str)]) {
        let scenario = scenario(WAIT, tasks, size);
        let java = Version { feature: 25, text: "25".to_owned() };
        let wanted = [Wanted::All, Wanted::Named(Kind::ThreadPerTask), Wanted::Named(Kind::JavaThreadPerTask)];
        let planned = plan(&scenario, &wanted, Ok(&java)).unwrap().0;
        let reasons: Vec<_> = planned
            .iter()
            .filter_map(|planned| Some((planned.runtime.kind(), too_large(&scenario, &planned.runtime, limits)?)))
            .collect();
        assert_eq!(reasons.len(), expect.len(), "{reasons:?}");
        for ((kind, reason), (word, start)) in reasons.iter().zip(expect) {
            assert_eq!(kind.as_str(), *word);
            assert!(reason.starts_with(start), "{reason}");
        }
    }

    const WAIT: &str = r#"{"count":COUNT,"steps":[{"io":"1 ms"}]}"#;

    #[test]
    fn what_the_machine_cannot_hold_has_a_reason() {
        check_limits(LIMITS, 15_000, 4, &[]);
        check_limits(
            LIMITS,
            15_001,
            4,
            &[("thread-per-task", "15001 tasks are more than this machine holds, up to 15000")],
        );
        check_limits(
            LIMITS,
            15_001,
            15_001,
            &[
                ("pool", "15001 threads are more than this machine holds, up to 15000, for each has 4 memory mappings"),
                ("thread-per-task", "15001 tasks"),
            ],
        );
        check_limits(
            LIMITS,
            30_001,
            4,
            &[
                ("may", "30001 tasks are more than this machine holds, up to 30000, for each has 2 memory mappings"),
                ("thread-per-task", "30001 tasks"),
                ("java-thread-per-task", "30001 tasks"),
            ],
        );
    }

    #[test]
    fn a_limit_on_threads_counts_threads_alone() {
        let most_threads = Some(ThreadLimit { threads: 100, name: "ulimit -u" });
        let limits = Limits { most_threads, ..LIMITS };
        check_limits(limits, 100, 4, &[]);
        let expect =
            "101 tasks are more than this machine holds, up to 100, for ulimit -u allows no more; use --tasks 100";
        check_limits(limits, 101, 4, &[("thread-per-task", expect), ("java-thread-per-task", expect)]);
        let pool = "101 threads are more than this machine holds, up to 100, for ulimit -u allows no more";
        let all = [("pool", pool), ("java-pool", pool), ("thread-per-task", expect), ("java-thread-per-task", expect)];
        check_limits(limits, 101, 500, &all);
    }

    #[test]
    fn the_tightest_limit_is_the_one_that_is_named() {
        let limits = |threads| Limits { most_threads: Some(ThreadLimit { threads, name: "ulimit -u" }), ..LIMITS };
        let check = |threads, expect| {
            let stacks = "50000 tasks";
            let expect = [("may", stacks), ("thread-per-task", expect), ("java-thread-per-task", stacks)];
            check_limits(limits(threads), 50_000, 4, &expect);
        };
        check(14_999, "50000 tasks are more than this machine holds, up to 14999, for ulimit -u");
        check(15_001, "50000 tasks are more than this machine holds, up to 15000, for each has 4 memory mappings");
    }

    #[test]
    fn a_run_without_a_thread_names_the_limit() {
        let limit = Some(ThreadLimit { threads: 50, name: "ulimit -u" });
        for (reason, explained_by) in [
            ("thread 49 could not be created: Resource temporarily unavailable (os error 11)", true),
            ("java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory", true),
            ("task 7 of 9 got no thread: x", true),
            ("signal: 9 (SIGKILL)", false),
        ] {
            assert_eq!(
                explained(reason, limit).ends_with("ulimit -u allows 50 threads in all: raise it, or use fewer"),
                explained_by
            );
            assert_eq!(explained(reason, None), reason);
        }
    }
}
