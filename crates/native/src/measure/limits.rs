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
    let (wanted, most, what, each) = match runtime {
        Runtime::May { .. } if tasks > limits.green_threads() => {
            (tasks, limits.green_threads(), "tasks", MAPPINGS_PER_STACK)
        }
        Runtime::ThreadPerTask => (tasks, limits.threads(), "tasks", MAPPINGS_PER_THREAD),
        Runtime::Jvm(jvm) => match jvm.kind {
            Kind::JavaThreadPerTask => (tasks, limits.green_threads(), "tasks", MAPPINGS_PER_STACK),
            // Threads of a pool are as many as there are tasks at most.
            Kind::JavaPool => {
                let threads = u64::from(jvm.threads).min(tasks);
                (threads, limits.green_threads(), "threads", MAPPINGS_PER_STACK)
            }
            _ => (u64::from(jvm.threads), limits.green_threads(), "threads", MAPPINGS_PER_STACK),
        },
        Runtime::TokioCurrentThread => return None,
        Runtime::Pool { threads } => (u64::from(*threads).min(tasks), limits.threads(), "threads", MAPPINGS_PER_THREAD),
        Runtime::May { workers: threads } | Runtime::Tokio { workers: threads } => {
            (u64::from(*threads), limits.threads(), "threads", MAPPINGS_PER_THREAD)
        }
    };
    (wanted > most).then(|| {
        let advice = if what == "tasks" { format!("; use --tasks {most}") } else { String::new() };
        format!(
            "{wanted} {what} are more than this machine holds, up to {most}, for each has {each} memory mappings and \
             vm.max_map_count is {mappings}{advice}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::jvm::Version;
    use crate::measure::select::{Wanted, plan};

    const LIMITS: Limits = Limits { cores: 2, mappings: 65_530 };

    fn scenario(steps: &str, tasks: u64, size: u32) -> Scenario {
        let text = format!(
            r#"{{"version":1,"name":"x","machine":{{"cores":4}},"tasks":[{steps}],"runs":[
                {{"model":"thread-pool","size":{size}}},{{"model":"green-threads"}}]}}"#
        );
        Scenario::from_json(&text.replace("COUNT", &tasks.to_string())).unwrap()
    }

    /// The runtimes that this machine cannot hold, with the reason.
    #[track_caller]
    fn check_limits(tasks: u64, size: u32, expect: &[(&str, &str)]) {
        let scenario = scenario(WAIT, tasks, size);
        let java = Version { feature: 25, text: "25".to_owned() };
        let wanted = [Wanted::All, Wanted::Named(Kind::ThreadPerTask), Wanted::Named(Kind::JavaThreadPerTask)];
        let planned = plan(&scenario, &wanted, Ok(&java)).unwrap().0;
        let reasons: Vec<_> = planned
            .iter()
            .filter_map(|planned| Some((planned.runtime.kind(), too_large(&scenario, &planned.runtime, LIMITS)?)))
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
        check_limits(15_000, 4, &[]);
        check_limits(15_001, 4, &[("thread-per-task", "15001 tasks are more than this machine holds, up to 15000")]);
        check_limits(
            15_001,
            15_001,
            &[
                ("pool", "15001 threads are more than this machine holds, up to 15000, for each has 4 memory mappings"),
                ("thread-per-task", "15001 tasks"),
            ],
        );
        check_limits(
            30_001,
            4,
            &[
                ("may", "30001 tasks are more than this machine holds, up to 30000, for each has 2 memory mappings"),
                ("thread-per-task", "30001 tasks"),
                ("java-thread-per-task", "30001 tasks"),
            ],
        );
    }
}
