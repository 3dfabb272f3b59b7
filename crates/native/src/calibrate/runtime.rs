//! One runtime: its probes measured by the very runners of `measure`, and its costs solved so that the simulation of the
//! same probes gives the same times.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use parkbench_engine::{CostEntry, CostProfile, Costs, Plan, Scenario, Simulation, Unit};
use parkbench_trace::{Metrics, Trace};

use super::params::{self, Param};
use super::probe::Recipe;
use super::sample::Sample;
use super::solve::{Problem, Solution, solve};
use crate::measure::collect::{Request, collect};
use crate::measure::kind::Kind;
use crate::measure::select::Wanted;
use crate::measure::stop;
use crate::measure::warning::Warning;
use crate::{Failure, profiles};

/// How well the simulation is to meet a total, in its logarithm.
const TOTAL: f64 = 0.03;
/// How well it is to meet a mean latency.
const LATENCY: f64 = 0.15;
/// Part of what is known about a cost that must be from the probes; below it the cost is left as it was.
const KNOWN: f64 = 0.3;
/// Correlation from which two costs are known as a sum.
const SUM: f64 = -0.85;
/// [ns] First guess of a cost that the base has at zero.
const GUESS: f64 = 20_000.0;
/// How often a probe is measured again because the processor's speed changed meanwhile.
const TRIES: u32 = 3;
/// Tasks in flight from which the memory of each can be told.
const MANY: u32 = 5_000;
/// Tasks below which the memory is that of the process.
const FEW: u32 = 100;

/// A probe with what was measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    recipe: Recipe,
    scenario: Scenario,
    /// [ns] of every repetition, in their order.
    totals: Vec<u64>,
    /// [ns] Mean latency of the repetition with the median total.
    latency: u64,
    /// [bytes] Resident memory at its peak.
    resident: Option<u64>,
    /// The same above what the process had before.
    growth: Option<u64>,
}

/// What was found of one runtime.
#[derive(Clone, Debug)]
pub(super) struct Calibrated {
    pub(super) kind: Kind,
    /// Its costs, by name.
    pub(super) costs: BTreeMap<String, CostEntry>,
    /// What each probe took, and what the simulation makes of it: (name, measured ns, simulated ns).
    pub(super) probes: Vec<(&'static str, u64, u64)>,
}

/// Measures the probes of a runtime.
pub(super) fn measure(
    kind: Kind,
    cores: u32,
    jdk: u32,
    java: Option<&Path>,
    reps: u32,
    quick: bool,
) -> Result<Vec<Measured>, Failure> {
    let mut measured = Vec::new();
    let stop = stop::listen()?;
    for recipe in Recipe::of(kind, quick) {
        if stop.is_requested() {
            break;
        }
        let scenario = recipe.scenario(kind, cores, jdk).context("a probe is no scenario")?;
        let name = format!("probe {} of {}", recipe.name, kind.as_str());
        let wanted = [Wanted::Named(kind)];
        let request = Request {
            runtimes: &wanted,
            java,
            warm_up: quick.then_some(0),
            announce: false,
            ..Request::new(&name, &scenario, reps)
        };
        let mut report = collect(request)?.report;
        for _ in 1..TRIES {
            if !report.warnings.iter().any(|warning| matches!(warning, Warning::SpeedChanged { .. })) {
                break;
            }
            report = collect(request)?.report;
        }
        let run = report.runs.into_iter().next().context("a probe was not measured")?;
        measured.push(Measured {
            recipe,
            scenario,
            latency: run.result.latency_ns.mean,
            resident: run.result.memory_bytes.resident,
            growth: run.resident_growth_bytes,
            totals: run.makespans_ns,
        });
    }
    Ok(measured)
}

/// Solves the costs of a runtime; `base` has those of the machine.
pub(super) fn calibrate(
    kind: Kind,
    measured: &[Measured],
    base: &CostProfile,
    quick: bool,
) -> anyhow::Result<Calibrated> {
    let params = params::of(kind, quick);
    let samples: Vec<Sample> = measured.iter().map(Measured::sample).collect();
    let (mut targets, mut tolerance) = (Vec::new(), Vec::new());
    for (probe, sample) in measured.iter().zip(&samples) {
        targets.push(sample.median());
        tolerance.push(TOTAL);
        if probe.recipe.latency {
            targets.push(probe.latency as f64);
            tolerance.push(LATENCY);
        }
    }
    let guess = |param: &Param| match base.costs.get(param.name) {
        Some(value) if value > 0 => value as f64,
        _ => GUESS,
    };
    let problem = Problem {
        guesses: params.iter().map(guess).collect(),
        freedom: params.iter().map(|param| param.freedom).collect(),
        measured: targets.iter().map(|target| target.max(1.0)).collect(),
        tolerance,
    };
    let solution = solve(&problem, |values| {
        let costs = with(base, &params, values)?;
        let mut simulated = Vec::new();
        for probe in measured {
            simulated.extend(probe.simulate(&costs)?);
        }
        Ok::<_, anyhow::Error>(simulated)
    })?;
    let mut costs = BTreeMap::new();
    for (index, param) in params.iter().enumerate() {
        if solution.known(index) < KNOWN {
            continue;
        }
        let unit = profiles::unit(param.name);
        let value = profiles::text(unit, solution.costs[index].round() as u64);
        let source = source(index, &params, &solution, measured, &problem);
        costs.insert(param.name.to_owned(), CostEntry { value, source });
    }
    memory(kind, measured, &mut costs);
    let mut simulated = solution.simulated.iter();
    let mut probes = Vec::new();
    for (probe, sample) in measured.iter().zip(&samples) {
        probes.push((probe.recipe.name, sample.median() as u64, simulated.next().copied().unwrap_or_default() as u64));
        if probe.recipe.latency {
            simulated.next();
        }
    }
    Ok(Calibrated { kind, costs, probes })
}

impl Measured {
    fn sample(&self) -> Sample {
        Sample::new(self.totals.iter().map(|&ns| ns as f64).collect())
    }

    /// [ns] The total with these costs, and the mean latency where the probe has one.
    fn simulate(&self, costs: &Costs) -> anyhow::Result<Vec<f64>> {
        let plan = Plan::with_costs(&self.scenario, 0, costs.clone())?;
        let simulation = Simulation::with_plan(plan);
        if !self.recipe.latency {
            let totals = simulation.without_records().run().totals;
            return Ok(vec![totals.makespan_ns.max(1) as f64]);
        }
        let metrics = Metrics::of(&Trace::new(simulation.run())?);
        Ok(vec![metrics.makespan_ns.max(1) as f64, metrics.latency_ns.mean.max(1) as f64])
    }
}

/// The costs with these values of the ones that are looked for.
fn with(base: &CostProfile, params: &[Param], values: &[f64]) -> anyhow::Result<Costs> {
    let mut profile = base.clone();
    let mut replaced = BTreeMap::new();
    for (param, value) in params.iter().zip(values) {
        let unit = profiles::unit(param.name);
        replaced.insert(param.name.to_owned(), profiles::text(unit, value.round() as u64));
    }
    let errors = profile.replace(&replaced);
    anyhow::ensure!(errors.is_empty(), "a cost of a probe is out of its range");
    Ok(profile.costs)
}

/// How a cost was found, with its spread.
fn source(cost: usize, params: &[Param], solution: &Solution, measured: &[Measured], problem: &Problem) -> String {
    let count = measured.iter().map(|probe| probe.totals.len()).min().unwrap_or(0);
    let each = (0..count).map(|repetition| {
        let mut instead = Vec::new();
        for probe in measured {
            instead.push(probe.totals[repetition].max(1) as f64);
            if probe.recipe.latency {
                instead.push(probe.latency.max(1) as f64);
            }
        }
        solution.moved(cost, &problem.measured, &instead)
    });
    let each = Sample::new(each.collect());
    let name = params[cost].name;
    let shown = |value: f64| shown(name, value);
    let mut text = format!(
        "M median {} of {count}, IQR {} to {}",
        shown(each.quantile(0.5)),
        shown(each.quantile(0.25)),
        shown(each.quantile(0.75))
    );
    let mut places = measured.iter().flat_map(|probe| {
        std::iter::once((probe.recipe.name, "total"))
            .chain(probe.recipe.latency.then_some((probe.recipe.name, "latency")))
    });
    if let Some((probe, figure)) = solution.witness(cost).and_then(|witness| places.nth(witness)) {
        text.extend(["; mostly from the ", figure, " of probe ", probe]);
    }
    if let Some((rival, correlation)) = solution.rival(cost).filter(|&(_, correlation)| correlation < SUM) {
        let sum = solution.costs[cost] + solution.costs[rival];
        let known = format!("is known better than the two (correlation {correlation:.2})");
        text.extend(["; its sum with ", params[rival].name, ", ", &shown(sum), ", ", &known]);
    }
    text
}

fn shown(name: &str, value: f64) -> String {
    if name == "cpu_iteration" { format!("{value:.0} ps") } else { format!("{value:.0} ns") }
}

/// What the process and each task take of memory, where the probes tell it.
fn memory(kind: Kind, measured: &[Measured], costs: &mut BTreeMap<String, CostEntry>) {
    let (base, each) = params::memory(kind);
    let many = measured.iter().filter(|probe| probe.recipe.waiting() >= MANY).max_by_key(|probe| probe.growth);
    let few = measured.iter().filter(|probe| (1..FEW).contains(&probe.recipe.waiting())).min_by_key(|p| p.resident);
    if let Some(resident) = few.and_then(|probe| probe.resident) {
        let source = "M resident set of the process at its peak in the probe with fewest tasks".to_owned();
        costs.insert(base.to_owned(), CostEntry { value: profiles::text(Unit::Bytes, resident), source });
    }
    if let (Some(many), Some(few)) = (many, few)
        && let (Some(much), Some(little)) = (many.growth, few.growth)
    {
        let tasks = u64::from(many.recipe.waiting() - few.recipe.waiting());
        let source = format!("M growth of the resident set by {tasks} more tasks that wait, in the median repetition");
        let value = profiles::text(Unit::Bytes, much.saturating_sub(little) / tasks);
        costs.insert(each.to_owned(), CostEntry { value, source });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Costs that the simulation itself has put into its times are found again; no clock has to do with it.
    #[track_caller]
    fn check(kind: Kind, quick: bool, name: &str, value: u64, within: f64) {
        let base = CostProfile::named("linux-default").unwrap();
        let mut truth = base.clone();
        truth.replace(&[(name.to_owned(), format!("{value} ns"))].into());
        let measured: Vec<Measured> = Recipe::of(kind, quick)
            .into_iter()
            .map(|recipe| {
                let scenario = recipe.scenario(kind, 2, 25).unwrap();
                let mut probe =
                    Measured { recipe, scenario, totals: Vec::new(), latency: 0, resident: None, growth: None };
                let figures = probe.simulate(&truth.costs).unwrap();
                probe.totals = vec![figures[0] as u64; 3];
                probe.latency = figures.get(1).copied().unwrap_or_default() as u64;
                probe
            })
            .collect();
        let calibrated = calibrate(kind, &measured, &base, quick).unwrap();
        for (probe, measured, simulated) in &calibrated.probes {
            let error = *simulated as f64 / *measured as f64 - 1.0;
            assert!(error.abs() < 0.06, "{probe}: {error}, {calibrated:?}");
        }
        let entry = &calibrated.costs[name];
        let found: f64 = entry.value.trim_end_matches(" ns").parse().unwrap();
        assert!((found / value as f64).ln().abs() < within, "{name} {entry:?}");
        assert!(entry.source.starts_with("M median ") && entry.source.contains("IQR"), "{entry:?}");
    }

    #[test]
    fn what_the_simulation_was_given_is_found_again() {
        check(Kind::Pool, true, "sleep_cpu", 15_000, 0.3);
        check(Kind::Tokio, false, "tokio_poll", 900, 0.5);
        check(Kind::JavaVirtual, true, "vt_spawn", 3_000, 0.5);
        check(Kind::KotlinEventLoop, true, "loop_resume", 1_500, 0.8);
    }
}
