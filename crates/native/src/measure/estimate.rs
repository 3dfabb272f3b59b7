//! Before a measurement: how long a repetition should take at least.
//!
//! Arithmetic on the plan alone.

use parkbench_engine::{LockRef, Model, Op, Plan, Scenario};

use super::runtime::Runtime;

/// [ns] Mean times of a task of one class.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    cpu: u128,
    io: u128,
    block: u128,
    /// The part of `io` inside monitors.
    monitors: u128,
}

impl Mean {
    fn of(op: &Op, iteration_ps: u64) -> Self {
        let mut mean = Self::default();
        match op {
            Op::Iterations(iterations, _) => {
                mean.cpu = u128::from(*iterations) * u128::from(iteration_ps) / 1_000;
            }
            Op::Cpu(span) => mean.cpu = span.mean().into(),
            Op::Io(span) => mean.io = span.mean().into(),
            Op::Block(_, span) => mean.block = span.mean().into(),
            // `check` refuses those of the others that take time.
            _ => {}
        }
        mean
    }

    const fn add(&mut self, other: Self) {
        self.cpu += other.cpu;
        self.io += other.io;
        self.block += other.block;
        self.monitors += other.monitors;
    }

    const fn total(self) -> u128 {
        self.cpu + self.io + self.block
    }
}

/// [ns] What a repetition takes at least, with no overhead at all; `plan` is the plan of the scenario's run.
pub(crate) fn makespan_ns(scenario: &Scenario, plan: &Plan, runtime: &Runtime, cores: u32, iteration_ps: u64) -> u64 {
    let threads = u128::from(runtime.threads().max(1));
    let (mut cpu, mut on_threads, mut longest) = (0, 0, 0);
    let mut guarded = vec![0_u128; plan.guards.len()];
    for class in &plan.classes {
        let count = u128::from(class.count);
        let mut task = Mean::default();
        let mut held: Vec<LockRef> = Vec::new();
        for op in &class.ops[..usize::from(class.end)] {
            let mut one = Mean::of(op, iteration_ps);
            match op {
                Op::Lock(lock) => held.push(*lock),
                Op::Unlock(lock) => {
                    if let Some(last) = held.iter().rposition(|known| known == lock) {
                        held.remove(last);
                    }
                }
                _ => {}
            }
            if held.iter().any(|lock| lock.is_scoped()) {
                one.monitors = one.io;
            }
            for number in held.iter().filter_map(|lock| lock.shared) {
                guarded[number as usize] += one.total() * count;
            }
            task.add(one);
        }
        let holding = match runtime.model() {
            Model::ThreadPool => task.total(),
            _ if !runtime.holds_in_blocks() => task.cpu,
            _ if runtime.holds_in_monitors() => task.cpu + task.block + task.monitors,
            _ => task.cpu + task.block,
        };
        cpu += task.cpu * count;
        on_threads += count.div_ceil(threads) * holding;
        longest = task.total().max(longest);
    }
    let serial = guarded.iter().zip(&plan.guards).map(|(sum, guard)| sum / u128::from(guard.permits.max(1))).max();
    let busy = (cpu / u128::from(cores.max(1))).max(on_threads).max(longest).max(serial.unwrap_or(0));
    u64::try_from(latest(scenario) + busy).unwrap_or(u64::MAX)
}

/// [ns] When the last task should arrive.
fn latest(scenario: &Scenario) -> u128 {
    let ends = scenario.tasks.iter().map(|class| class.at.0.saturating_add(class.arrival.mean_end_ns(class.count)));
    match &scenario.mix {
        Some(mix) => mix.arrival.mean_end_ns(mix.count).into(),
        None => ends.max().unwrap_or(0).into(),
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;
    use crate::measure::jvm::Version;
    use crate::measure::kind::Kind;
    use crate::measure::select::{Planned, Wanted, plan};

    fn estimate(scenario: &Scenario, planned: &Planned) -> u64 {
        let run = Plan::new(scenario, planned.workload).unwrap();
        makespan_ns(scenario, &run, &planned.runtime, 2, 300)
    }

    fn planned(scenario: &Scenario, wanted: Wanted, feature: u32) -> Vec<Planned> {
        let java = Version { feature, text: feature.to_string() };
        plan(scenario, &[wanted], Ok(&java)).unwrap().0
    }

    #[track_caller]
    fn check_estimates(name: &str, expect_ms: &[u64]) {
        let scenario = preset(name).unwrap();
        let planned = planned(&scenario, Wanted::Rust, 25);
        let estimates = planned.iter().map(|planned| estimate(&scenario, planned) / 1_000_000);
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

    fn scenario(steps: &str) -> Scenario {
        let text = format!(
            r#"{{"version":1,"name":"x","machine":{{"cores":4}},"tasks":[{{"count":100,"steps":[{steps}]}}],"runs":[
                {{"model":"thread-pool","size":50}},{{"model":"green-threads"}}]}}"#
        );
        Scenario::from_json(&text).unwrap()
    }

    #[test]
    fn a_monitor_holds_the_carrier_before_jdk_24() {
        let scenario = scenario(r#"{"lock":{"name":"a","scope":"task"}},{"io":"1 ms"},{"unlock":"a"}"#);
        for (feature, expect) in [(21, 25_000_000), (25, 1_000_000)] {
            let planned = planned(&scenario, Wanted::Named(Kind::JavaVirtual), feature);
            assert_eq!(estimate(&scenario, &planned[0]), expect);
        }
    }

    #[test]
    fn what_only_some_may_do_at_a_time_takes_its_time() {
        for (steps, expect) in [
            (r#"{"lock":{"name":"a"}},{"io":"1 ms"},{"unlock":"a"},{"io":"1 ms"}"#, 100_000_000),
            (r#"{"acquire":{"name":"a","permits":4}},{"io":"1 ms"},{"release":"a"}"#, 25_000_000),
            (r#"{"lock":{"name":"a"}},{"repeat":{"times":3,"steps":[{"io":"1 ms"}]}},{"unlock":"a"}"#, 300_000_000),
        ] {
            let scenario = scenario(steps);
            for planned in planned(&scenario, Wanted::Rust, 25) {
                assert_eq!(estimate(&scenario, &planned), expect);
            }
        }
    }
}
