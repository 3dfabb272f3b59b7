//! What can be told before a measurement: where the scenario and this machine's runtimes differ.

use parkbench_engine::{Model, Op, Plan, Scenario};

use super::runtime::Runtime;
use super::select::{self, Planned};
use super::warning::Warning;

/// What can be told before the measurement.
pub(crate) fn warnings(scenario: &Scenario, plan: &[Planned], cores_here: u32) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let cores = scenario.machine.cores;
    if cores != cores_here {
        warnings.push(Warning::OtherCores { scenario: cores, here: cores_here });
    }
    if cfg!(debug_assertions) {
        warnings.push(Warning::DebugBuild);
    }
    let variant = |run: usize| scenario.runs[run].variant(&scenario.machine);
    for planned in plan {
        if let [_, _, ..] = planned.runs[..] {
            let variants = planned.runs.iter().map(|&run| variant(run)).collect();
            warnings.push(Warning::Shared { variants, runtime: planned.runtime.name() });
        }
        for &run in &planned.runs {
            let spec = &scenario.runs[run];
            let no_polling = Warning::NoPolling { variant: variant(run) };
            if spec.poll_interval.is_some() && !warnings.contains(&no_polling) {
                warnings.push(no_polling);
            }
            if let Runtime::Jvm(jvm) = &planned.runtime
                && let Some(jdk) = select::other_jdk(jvm.kind, spec, &jvm.java)
            {
                warnings.push(Warning::OtherJdk { variant: variant(run), jdk, java: jvm.java.text.clone() });
            }
            if !planned.runtime.kind().is_jvm() && monitors_hold_workers(scenario, run) {
                warnings.push(Warning::NoMonitor { variant: variant(run), runtime: planned.runtime.name() });
            }
        }
    }
    warnings
}

/// Whether the scenario has a monitor that holds a worker in the simulation: of green threads before JDK 24 (T-12), and
/// of coroutines.
fn monitors_hold_workers(scenario: &Scenario, run: usize) -> bool {
    let spec = &scenario.runs[run];
    let holds = match spec.model {
        Model::ThreadPool => false,
        Model::GreenThreads => spec.jdk.is_some_and(|jdk| jdk < 24),
        Model::Coroutines => true,
    };
    let is_monitor = |op: &Op| matches!(op, Op::Lock(lock) if lock.is_scoped());
    let any = |plan: Plan| plan.classes.iter().flat_map(|class| &class.ops).any(is_monitor);
    holds && Plan::new(scenario, run).is_ok_and(any)
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;
    use crate::measure::select::Wanted;

    #[track_caller]
    fn check_warnings(name: &str, cores_here: u32, expect: &[&str]) {
        let scenario = preset(name).unwrap();
        let planned = select::plan(&scenario, &[Wanted::Rust], Err("none")).unwrap().0;
        let warnings = warnings(&scenario, &planned, cores_here);
        let kinds: Vec<_> = warnings.iter().map(Warning::kind).filter(|kind| *kind != "debug-build").collect();
        assert_eq!(kinds, expect, "{name}");
    }

    #[test]
    fn warnings_tell_where_scenario_and_measurement_differ() {
        check_warnings("io-bound", 12, &[]);
        check_warnings("io-bound", 2, &["other-cores"]);
        check_warnings("llm-agents", 8, &["no-polling"]);
        check_warnings("pinning", 8, &["shared", "no-monitor"]);
    }
}
