//! Which single cost would have to be another one for the simulation to take as long as was measured.
//!
//! Every cost that the runtime's simulation stands on is tried alone. Of those that can do it, the one is named that
//! also brings the CPU time and the latencies nearest to the measured ones with the least change. It is a place to look,
//! no proof: what the model lacks altogether shows as the cost that is most like it.

use parkbench_engine::{COSTS, CostInfo, CostProfile, Plan, Recording, Simulation, Unit};
use parkbench_trace::{Metrics, Trace};
use parkbench_view::format;
use serde::Serialize;

use super::pair::{self, Pair};
use crate::calibrate;
use crate::profiles;

/// Tasks of a scenario from which nothing is tried: each try is a simulation.
const MAX_TASKS: u32 = 100_000;
/// Events of a simulation from which nothing is tried.
const MAX_EVENTS: u64 = 4_000_000;
/// How many times more or less a cost may be.
const FURTHEST: f64 = 100.0;
/// [ns] Where a cost that is zero begins.
const LEAST: f64 = 100.0;
/// Part of the measured total to which it is met.
const NEAR: f64 = 0.02;
/// Simulations for each cost, at most.
const TRIES: u32 = 12;
/// [%] Error of the CPU time with which a cost explains nothing.
const CPU_OFF: f64 = 25.0;
/// What a change of a cost counts beside errors of CPU time and latency, all as logarithms.
const CHANGE: f64 = 0.15;

/// What has come of looking for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Search {
    /// It was not looked for: the total is met, or trying would take too long.
    NotTried,
    /// No cost alone brings the total and the CPU time to what was measured.
    Nothing,
    /// This one does.
    Found(Cause),
}

/// A cost that would explain the difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Cause {
    /// Its name.
    pub(crate) cost: &'static str,
    /// What it is, in its unit (ns, or ps for `cpu_iteration`).
    pub(crate) is: u64,
    /// What it would have to be.
    pub(crate) would_be: u64,
    /// [%] How far the CPU time would be off then; absent where none was measured.
    pub(crate) cpu_error_percent: Option<f64>,
}

impl Cause {
    /// As the end of a sentence.
    pub(super) fn in_words(&self) -> String {
        let unit = profiles::unit(self.cost);
        let shown = |value: u64| match unit {
            Unit::Nanos => format::duration(value),
            _ => profiles::text(unit, value),
        };
        let Self { cost, is, would_be, cpu_error_percent } = *self;
        let words = format!("{cost} of {} in place of {} would explain it", shown(would_be), shown(is));
        match cpu_error_percent {
            Some(error) => format!("{words}, with a CPU time that is {} off", format::percent_signed(error)),
            None => words,
        }
    }
}

/// What a simulation that meets the total gives besides.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// [ns] Of all cores.
    cpu: f64,
    /// [ns] 95th percentile of the latency, and of the response, which counts from the submission.
    p95: [f64; 2],
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
struct Goal {
    total: f64,
    cpu: Option<f64>,
    p95: [f64; 2],
}

/// The cost that explains best why the pair's totals differ.
pub(super) fn find(pair: &Pair, plan: &Plan, profile: &CostProfile) -> Search {
    let real = &pair.measured.result;
    let goal = Goal {
        total: real.makespan_ns as f64,
        cpu: pair.measured.cpu_ns.map(|ns| ns as f64),
        p95: [real.latency_ns.p95 as f64, real.response_ns.p95 as f64],
    };
    if plan.tasks > MAX_TASKS || pair.simulated.events.is_some_and(|events| events > MAX_EVENTS) {
        return Search::NotTried;
    }
    let costs = calibrate::costs_of(pair.kind);
    let too_short = (pair.simulated.makespan_ns as f64) < goal.total;
    best(&costs, plan, profile, goal, too_short).map_or(Search::Nothing, Search::Found)
}

/// One simulation with these costs; `None` if it takes too many events.
fn run(plan: &Plan, profile: &CostProfile, records: bool) -> Option<Recording> {
    let plan = Plan { costs: profile.costs.clone(), ..plan.clone() };
    let mut simulation = Simulation::with_plan(plan).with_max_events(MAX_EVENTS);
    if !records {
        simulation = simulation.without_records();
    }
    let progress = simulation.step(MAX_EVENTS);
    (progress.finished && !progress.given_up).then(|| simulation.into_recording())
}

/// [ns] The total with these costs.
fn total(plan: &Plan, profile: &CostProfile) -> Option<f64> {
    run(plan, profile, false).map(|recording| recording.totals.makespan_ns as f64)
}

/// What these costs give besides the total.
fn outcome(plan: &Plan, profile: &CostProfile) -> Option<Outcome> {
    let metrics = Metrics::of(&Trace::new(run(plan, profile, true)?).ok()?);
    Some(Outcome {
        cpu: pair::cpu_ns(&metrics) as f64,
        p95: [metrics.latency_ns.p95 as f64, metrics.response_ns.p95 as f64],
    })
}

fn best(costs: &[&'static str], plan: &Plan, profile: &CostProfile, goal: Goal, too_short: bool) -> Option<Cause> {
    let found = costs.iter().filter_map(|name| {
        let info = COSTS.iter().find(|info| info.name == *name)?;
        let is = profile.costs.get(name)?;
        let would_be = solve(info, is, goal.total, too_short, |value| total(plan, &with(profile, info, value)?))?;
        let outcome = outcome(plan, &with(profile, info, would_be)?)?;
        let apart = |a: f64, b: f64| (a.max(1.0) / b.max(1.0)).ln().abs();
        let cpu_error_percent = goal.cpu.map(|cpu| (outcome.cpu / cpu.max(1.0) - 1.0) * 100.0);
        if cpu_error_percent.is_some_and(|error| error.abs() > CPU_OFF) {
            return None;
        }
        let tails = apart(outcome.p95[0], goal.p95[0]) + apart(outcome.p95[1], goal.p95[1]);
        let misfit = goal.cpu.map_or(0.0, |cpu| apart(outcome.cpu, cpu)) + tails / 4.0;
        let change = apart((would_be as f64).max(LEAST), (is as f64).max(LEAST));
        Some((misfit + CHANGE * change, Cause { cost: info.name, is, would_be, cpu_error_percent }))
    });
    found.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, cause)| cause)
}

/// The profile with another value of this cost.
fn with(profile: &CostProfile, info: &CostInfo, value: u64) -> Option<CostProfile> {
    let mut changed = profile.clone();
    let errors = changed.replace(&[(info.name.to_owned(), profiles::text(info.unit, value))].into());
    errors.is_empty().then_some(changed)
}

/// The value of one cost, the others being as they are, with which the total is met; as the cost `is`, the total is
/// `too_short` or too long.
fn solve(info: &CostInfo, is: u64, total: f64, too_short: bool, simulate: impl Fn(u64) -> Option<f64>) -> Option<u64> {
    let try_out = |value: f64| {
        let value = (value.round() as u64).min(info.max);
        simulate(value).map(|total| (value, total))
    };
    let met = |simulated: f64| (simulated / total - 1.0).abs() <= NEAR;
    let start = (is as f64).max(LEAST);
    // The end at which the total is on the other side of the measured one.
    let (mut near, mut far) = (start, if too_short { start * FURTHEST } else { 0.0 });
    let (value, at_end) = try_out(far)?;
    if met(at_end) {
        return Some(value);
    }
    if (at_end < total) == too_short {
        return None;
    }
    for _ in 0..TRIES {
        // In the middle of the logarithms, as long as both have one.
        let middle = if far.min(near) >= 1.0 { (near * far).sqrt() } else { f64::midpoint(near, far) };
        let (value, simulated) = try_out(middle)?;
        if met(simulated) {
            return Some(value);
        }
        if (simulated < total) == too_short { near = middle } else { far = middle }
    }
    None
}

#[cfg(test)]
mod tests {
    use parkbench_engine::Scenario;

    use super::*;
    use crate::measure::kind::Kind;

    /// The simulation with another cost is what is measured here; that cost is found.
    #[track_caller]
    fn check(kind: Kind, run: &str, steps: &str, cost: &str, value: u64, expect: Option<&str>) {
        let scenario = Scenario::from_toml(&format!(
            "version = 1\nname = \"test\"\nruns = [{run}]\ntasks = [{{ count = 2000, steps = [{steps}] }}]\n\
             [machine]\ncores = 2\n"
        ))
        .unwrap();
        let base = CostProfile::named("linux-default").unwrap();
        let plan = Plan::with_costs(&scenario, 0, base.costs.clone()).unwrap();
        let mut other = base.clone();
        assert!(other.replace(&[(cost.to_owned(), format!("{value} ns"))].into()).is_empty());
        let real = outcome(&plan, &other).unwrap();
        let goal = Goal { total: total(&plan, &other).unwrap(), cpu: Some(real.cpu), p95: real.p95 };
        let too_short = total(&plan, &base).unwrap() < goal.total;
        let cause = best(&calibrate::costs_of(kind), &plan, &base, goal, too_short);
        assert_eq!(cause.map(|cause| cause.cost), expect, "{cause:?}");
        if let Some(cause) = cause {
            assert_eq!(Some(cause.is), base.costs.get(cost));
            assert!((cause.would_be as f64 / value as f64).ln().abs() < 0.2, "{cause:?}");
            assert!(cause.cpu_error_percent.unwrap().abs() < 10.0, "{cause:?}");
        }
    }

    #[test]
    fn a_cause_is_said_with_both_values() {
        let cause = Cause { cost: "thread_end", is: 59_400, would_be: 112_000, cpu_error_percent: Some(-3.06) };
        let expect = "thread_end of 112 us in place of 59.4 us would explain it, with a CPU time that is −3.1 % off";
        assert_eq!(cause.in_words(), expect);
    }

    #[test]
    fn the_cost_that_is_another_one_is_named() {
        let threads = "{ model = \"thread-pool\", pool = \"thread-per-task\" }";
        check(Kind::ThreadPerTask, threads, "{ io = \"1 ms\" }", "thread_create", 150_000, Some("thread_create"));
        let green = "{ model = \"green-threads\" }";
        check(Kind::JavaVirtual, green, "{ cpu = \"20 us\" }", "vt_first_run", 10_000, Some("vt_first_run"));
    }

    #[test]
    fn where_no_cost_can_do_it_none_is_named() {
        let pool = "{ model = \"thread-pool\", size = 2 }";
        let scenario = Scenario::from_toml(&format!(
            "version = 1\nname = \"test\"\nruns = [{pool}]\ntasks = [{{ count = 10, steps = [{{ cpu = \"10 ms\" }}] }}]\n\
             [machine]\ncores = 2\n"
        ))
        .unwrap();
        let base = CostProfile::named("linux-default").unwrap();
        let plan = Plan::with_costs(&scenario, 0, base.costs.clone()).unwrap();
        // Shorter than the work itself.
        let goal = Goal { total: 20e6, cpu: None, p95: [10e6; 2] };
        assert_eq!(best(&calibrate::costs_of(Kind::Pool), &plan, &base, goal, false), None);
    }
}
