//! Which costs have to do with a run, found by leaving out each in turn: what changes nothing is not listed.

use parkbench_engine::{
    COSTS, CostInfo, CostProfile, Dispatcher, Model, Nanos, RunSpec, Runtime, Scenario, Simulation, Totals, Unit,
};
use parkbench_view::format;

use crate::figures::WIDTH;
use crate::input::InputError;
use crate::text::wrap;

/// Most events of a run for which every cost is left out in turn.
const MOST_EVENTS: u64 = 1_000_000;

/// A paragraph for each cost: value, what the total would be without it, meaning, source.
pub(super) fn render(
    scenario: &Scenario,
    run: usize,
    profile: &CostProfile,
    totals: &Totals,
) -> Result<String, InputError> {
    let tried = totals.events <= MOST_EVENTS;
    let mut replaced = profile.clone();
    replaced.replace(&scenario.costs);
    replaced.replace(&scenario.runs[run].costs);
    let mut used = Vec::new();
    for info in COSTS.iter().filter(|info| is_of(info.name, &scenario.runs[run])) {
        if replaced.costs.get(info.name) == Some(0) {
            continue;
        }
        if !tried {
            used.push((info, None));
            continue;
        }
        let without = without(scenario, run, &[info])?;
        if without != *totals {
            used.push((info, Some(without.makespan_ns)));
        }
    }
    // Those first that change the total most.
    let effect = |without: Option<u64>| without.map_or(0, |ns| ns.abs_diff(totals.makespan_ns));
    used.sort_by_key(|&(_, without)| std::cmp::Reverse(effect(without)));
    let heading = match (used.is_empty(), tried) {
        (true, _) => return Ok("\n  Costs: none, so that only the rules decide\n".to_owned()),
        (_, true) => "Costs that have to do with it, and the total without each",
        (_, false) => "Costs of this model (the run is too long to try it without each)",
    };
    let mut out = format!("\n  {heading}\n");
    for (info, without) in used {
        let value = replaced.costs.get(info.name).map(|value| shown(info.unit, value)).unwrap_or_default();
        let change = match without {
            None => String::new(),
            // A size, or a time that something else covers.
            Some(ns) if ns == totals.makespan_ns => "; the total stays".to_owned(),
            Some(ns) => {
                let percent = (ns as f64 / totals.makespan_ns.max(1) as f64 - 1.0) * 100.0;
                format!("; without it {} ({})", format::duration(ns), format::percent_signed(percent))
            }
        };
        out.push_str(&wrap(&format!("{} = {value}{change}", info.name), WIDTH, "    ", "      "));
        let (_, meaning) = info.meaning.split_once("] ").unwrap_or(("", info.meaning));
        // A value that the profile has has its source, though the scenario may have taken it over.
        let sources = if replaced.costs.get(info.name) == profile.costs.get(info.name) { profile } else { &replaced };
        let source = sources.sources.get(info.name).map_or("no source", String::as_str);
        let text = format!("{meaning} From {}: {source}", home(info.name, profile, &replaced));
        out.push_str(&wrap(&text, WIDTH, "      ", "      "));
    }
    Ok(out)
}

/// The totals of the run with these costs at zero.
fn without(scenario: &Scenario, run: usize, costs: &[&CostInfo]) -> Result<Totals, InputError> {
    let mut scenario = scenario.clone();
    for info in costs {
        let zero = if info.unit == Unit::Bytes { "0 B" } else { "0 ns" };
        scenario.runs[run].costs.insert(info.name.to_owned(), zero.to_owned());
    }
    let wrong = |error| InputError::Scenario(scenario.name.clone(), error);
    let mut simulation = Simulation::new(&scenario, run).map_err(wrong)?.without_records();
    while !simulation.step(1 << 20).check(run).map_err(wrong)?.finished {}
    Ok(simulation.into_recording().totals)
}

/// Whether a cost of this name can have to do with the run: it belongs to its runtime, or to the OS.
fn is_of(name: &str, run: &RunSpec) -> bool {
    let own = match (run.model, run.runtime()) {
        (Model::ThreadPool, _) => "pool_",
        (_, Some(Runtime::Java)) => "vt_",
        (_, Some(Runtime::Go)) => "go_",
        (_, Some(Runtime::Tokio)) => "tokio_",
        _ if run.dispatcher == Some(Dispatcher::EventLoop) => "loop_",
        _ => "kt_",
    };
    // A coroutine of the event loop and a green thread that has not started take memory of these names.
    if matches!((own, name), ("loop_", "kt_bytes") | ("vt_", "pool_task_bytes")) {
        return true;
    }
    let owner = ["pool_", "vt_", "kt_", "loop_", "tokio_", "go_"].into_iter().find(|prefix| name.starts_with(prefix));
    owner.is_none_or(|owner| owner == own)
}

/// The profile that a cost is from: the scenario's own, or the one under it.
fn home<'a>(name: &str, profile: &'a CostProfile, replaced: &CostProfile) -> &'a str {
    if replaced.costs.get(name) != profile.costs.get(name) {
        return "the scenario";
    }
    let base = CostProfile::named("linux-default").ok();
    let same = base.is_some_and(|base| base.sources.get(name) == profile.sources.get(name));
    if same { "linux-default" } else { &profile.name }
}

fn shown(unit: Unit, value: u64) -> String {
    match unit {
        Unit::Nanos => Nanos(value).to_string(),
        Unit::Picos => format!("{} ps", format::count(value)),
        Unit::Bytes => parkbench_engine::Bytes(value).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{PRESET_NAMES, Scenario, preset};

    use super::*;

    /// What belongs to another runtime changes nothing, all of it together.
    fn check(scenario: &Scenario) {
        for run in 0..scenario.runs.len() {
            let others: Vec<&CostInfo> = COSTS.iter().filter(|info| !is_of(info.name, &scenario.runs[run])).collect();
            assert!(others.len() > 20);
            let totals = without(scenario, run, &[]).unwrap();
            assert_eq!(without(scenario, run, &others).unwrap(), totals, "{} {run}", scenario.name);
        }
    }

    #[test]
    fn costs_of_other_runtimes_change_nothing() {
        for name in PRESET_NAMES {
            let mut scenario = preset(name).unwrap();
            scenario.tasks.iter_mut().for_each(|class| class.count = class.count.min(200));
            check(&scenario);
        }
        let all = r#"{"version":1,"name":"all","machine":{"cores":3},"tasks":[{"count":200,"steps":[{"cpu":"20 us"},
            {"io":"2 ms"},{"lock":{"name":"m"}},{"io":"10 us"},{"unlock":"m"},{"block":"1 ms"}]}],"runs":[
            {"model":"green-threads","runtime":"go"},{"model":"coroutines","runtime":"tokio"},
            {"model":"coroutines","runtime":"tokio","flavor":"current-thread"},
            {"model":"coroutines","dispatcher":"event-loop"},{"model":"green-threads","jdk":21}]}"#;
        check(&Scenario::from_json(all).unwrap());
    }

    #[test]
    fn without_a_cost_the_total_is_what_the_analysis_of_the_seed_says() {
        // Without 19.4 ms of spawns the timer thread's 12.8 ms of inserts come before the waits of 50 ms.
        let (scenario, profile) = (preset("io-bound").unwrap(), CostProfile::named("seed-2").unwrap());
        let spawn = COSTS.iter().find(|info| info.name == "vt_spawn").unwrap();
        let totals = without(&scenario, 1, &[]).unwrap();
        let ms = |totals: &Totals| totals.makespan_ns / 1_000_000;
        assert_eq!((ms(&totals), ms(&without(&scenario, 1, &[spawn]).unwrap())), (69, 63));
        let text = render(&scenario, 1, &profile, &totals).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = "each vt_spawn = 1.94 us; without it 63.1 ms (\u{2212}9.5 %) Creating and starting a green thread; \
                     serial on the submitter. From seed-2: F I/O green threads";
        assert!(text.contains(first), "{text}");
        assert!(!text.contains("kt_") && !text.contains("pool_"), "{text}");
    }
}
