//! Before a measurement: how long a repetition should take, and whether this machine can run it at all.
//!
//! Arithmetic on the scenario alone; the machine's limits come in as numbers.

use parkbench_engine::{
    Arrival, CpuWork, Duration, FieldError, LockKind, LockScope, LockSpec, Model, Scenario, Span, Step,
};

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

/// Refuses what no runtime can measure, or might never end.
pub(crate) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    check_known(scenario)?;
    check_lock_order(scenario)
}

/// Why this machine cannot hold the threads of this runtime, if it cannot.
pub(crate) fn too_large(scenario: &Scenario, runtime: &Runtime, limits: Limits) -> Option<String> {
    let tasks = scenario.task_count();
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

/// Refuses what the engine can simulate and a measurement cannot do yet.
fn check_known(scenario: &Scenario) -> Result<(), FieldError> {
    let refuse = |field: String, value: &str, allowed: &str| Err(FieldError::new(field, value, allowed));
    if scenario.mix.is_some() {
        return refuse("mix".to_owned(), "a mix", "classes with counts in a measurement");
    }
    for (index, class) in scenario.tasks.iter().enumerate() {
        if matches!(class.arrival, Arrival::ClosedLoop(_)) {
            let field = format!("tasks[{index}].arrival");
            return refuse(field, "closed-loop", "at-once, every, poisson, bursts, times in a measurement");
        }
        for (number, step) in class.steps.iter().enumerate() {
            let field = format!("tasks[{index}].steps[{number}]");
            let allowed = "cpu, io, block, lock, unlock in a measurement";
            match step {
                Step::Acquire(_) | Step::Release(_) => return refuse(field, "a semaphore", allowed),
                Step::Yield => return refuse(field, "yield", allowed),
                Step::Spawn(_) | Step::Join => return refuse(field, "spawned tasks", allowed),
                Step::Repeat(_) => return refuse(field, "a repetition", allowed),
                Step::Lock(lock) if lock.retry.is_some() => {
                    return refuse(format!("{field}.lock.retry"), "a retry", "locks without retry in a measurement");
                }
                Step::Lock(lock) if !lock.kind.is_replaceable() => {
                    return refuse(format!("{field}.lock.kind"), "pins", "monitor, reentrant in a measurement");
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Real threads that take two locks in both orders may wait for each other without end.
fn check_lock_order(scenario: &Scenario) -> Result<(), FieldError> {
    let mut orders: Vec<(&str, &str)> = Vec::new();
    for class in &scenario.tasks {
        let mut held: Vec<&str> = Vec::new();
        for step in &class.steps {
            match step {
                Step::Lock(lock) if lock.scope == LockScope::Shared => {
                    orders.extend(held.iter().map(|outer| (*outer, lock.name.as_str())));
                    held.push(&lock.name);
                }
                Step::Unlock(name) => held.retain(|known| known != name),
                _ => {}
            }
        }
    }
    // Takes away every lock that no other precedes; what cannot be taken away is in a circle.
    while let Some(&(free, _)) = orders.iter().find(|(outer, _)| !orders.iter().any(|(_, inner)| inner == outer)) {
        orders.retain(|(outer, _)| *outer != free);
    }
    match orders.first() {
        None => Ok(()),
        Some((a, b)) => Err(FieldError::new(
            "tasks",
            format!("taking {a:?} before {b:?} in one place and after it in another"),
            "the same order of locks everywhere in a measurement, for real tasks could wait for each other without end",
        )),
    }
}

/// [ns] Mean times of a task of one class.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    cpu: u128,
    io: u128,
    block: u128,
}

impl Mean {
    fn add(&mut self, step: &Step, iteration_ps: u64) {
        match step {
            Step::Cpu(CpuWork::Iterations(work)) => {
                self.cpu += u128::from(work.iterations) * u128::from(iteration_ps) / 1_000;
            }
            Step::Cpu(CpuWork::Time(length)) => self.cpu += mean(length),
            Step::Io(length) => self.io += mean(length),
            Step::Block(block) => self.block += mean(&block.time),
            // `check` refuses the others.
            _ => {}
        }
    }

    const fn total(self) -> u128 {
        self.cpu + self.io + self.block
    }
}

/// [ns] What a repetition takes at least, with no overhead at all.
pub(crate) fn makespan_ns(scenario: &Scenario, runtime: &Runtime, cores: u32, iteration_ps: u64) -> u64 {
    let threads = u128::from(runtime.threads().max(1));
    let (mut cpu, mut on_threads, mut longest, mut latest) = (0, 0, 0, 0);
    let mut locks: Vec<(&str, u128)> = Vec::new();
    let pins = |lock: &LockSpec| runtime.holds_in_monitors() && runtime.lock(lock) != LockKind::Reentrant;
    for class in &scenario.tasks {
        let (mut monitors, mut pinned): (Vec<&str>, u128) = (Vec::new(), 0);
        let mut task = Mean::default();
        let mut held: Vec<&str> = Vec::new();
        for step in &class.steps {
            let mut one = Mean::default();
            one.add(step, iteration_ps);
            task.add(step, iteration_ps);
            match step {
                Step::Lock(lock) if pins(lock) => monitors.push(&lock.name),
                Step::Unlock(name) => monitors.retain(|known| known != name),
                _ if !monitors.is_empty() => pinned += one.io,
                _ => {}
            }
            match step {
                Step::Lock(lock) if lock.scope == LockScope::Shared => held.push(&lock.name),
                Step::Unlock(name) => held.retain(|known| known != name),
                _ => {
                    let time = one.total() * u128::from(class.count);
                    for name in &held {
                        match locks.iter_mut().find(|(known, _)| known == name) {
                            Some((_, sum)) => *sum += time,
                            None => locks.push((name, time)),
                        }
                    }
                }
            }
        }
        let holding = match runtime {
            _ if runtime.model() == Model::ThreadPool => task.total(),
            _ => task.cpu + task.block + pinned,
        };
        cpu += task.cpu * u128::from(class.count);
        on_threads += u128::from(class.count).div_ceil(threads) * holding;
        longest = task.total().max(longest);
        latest = u128::from(class.at.0.saturating_add(class.arrival.mean_end_ns(class.count))).max(latest);
    }
    let serial = locks.iter().map(|(_, sum)| *sum).max().unwrap_or(0);
    let busy = (cpu / u128::from(cores.max(1))).max(on_threads).max(longest).max(serial);
    u64::try_from(latest + busy).unwrap_or(u64::MAX)
}

fn mean(length: &Duration) -> u128 {
    u128::from(Span::from(length).mean())
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;
    use crate::measure::jvm::Version;
    use crate::measure::select::{Wanted, plan};

    const LIMITS: Limits = Limits { cores: 2, mappings: 65_530 };

    #[track_caller]
    fn check_estimates(name: &str, expect_ms: &[u64]) {
        let scenario = preset(name).unwrap();
        let estimates = plan(&scenario, &[Wanted::Rust], Err("none"))
            .unwrap()
            .0
            .into_iter()
            .map(|p| makespan_ns(&scenario, &p.runtime, 2, 300) / 1_000_000);
        assert_eq!(estimates.collect::<Vec<_>>(), expect_ms, "{name}");
    }

    #[test]
    fn estimates_of_the_presets() {
        check_estimates("io-bound", &[41_700, 50, 50]);
        check_estimates("cpu-bound", &[150, 150, 150]);
        check_estimates("high-concurrency", &[834, 1, 1]);
        check_estimates("llm-agents", &[42_000, 2_100, 2_100]);
        check_estimates("pinning", &[2_100]);
    }

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

    #[track_caller]
    fn check_order(classes: &str, expect: bool) {
        let error = check(&scenario(classes, 10, 4)).err().map(|error| error.to_string());
        assert_eq!(error.as_ref().is_none_or(|error| !error.contains("order of locks")), expect, "{error:?}");
    }

    #[test]
    fn locks_in_both_orders_are_refused() {
        let class = |a: &str, b: &str| {
            format!(
                r#"{{"count":COUNT,"steps":[{{"lock":{{"name":"{a}"}}}},{{"lock":{{"name":"{b}"}}}},{{"unlock":"{b}"}},{{"unlock":"{a}"}}]}}"#
            )
        };
        check_order(&[class("a", "b"), class("a", "b"), class("b", "c")].join(","), true);
        check_order(&[class("a", "b"), class("b", "c"), class("c", "a")].join(","), false);
    }

    #[test]
    fn a_monitor_holds_the_carrier_before_jdk_24() {
        let steps = r#"{"count":COUNT,"steps":[{"lock":{"name":"a","scope":"task"}},{"io":"1 ms"},{"unlock":"a"}]}"#;
        let scenario = scenario(steps, 100, 50);
        for (feature, expect) in [(21, 25_000_000), (25, 1_000_000)] {
            let java = Version { feature, text: feature.to_string() };
            let planned = plan(&scenario, &[Wanted::Named(Kind::JavaVirtual)], Ok(&java)).unwrap().0;
            assert_eq!(makespan_ns(&scenario, &planned[0].runtime, 2, 300), expect);
        }
    }

    #[test]
    fn a_shared_lock_makes_its_section_serial() {
        let steps = r#"{"count":COUNT,"steps":[{"lock":{"name":"a"}},{"io":"1 ms"},{"unlock":"a"},{"io":"1 ms"}]}"#;
        let scenario = scenario(steps, 100, 50);
        for planned in plan(&scenario, &[], Err("none")).unwrap().0 {
            assert_eq!(makespan_ns(&scenario, &planned.runtime, 2, 300), 100_000_000);
        }
    }
}
