//! What the total time cannot be shorter than, and which of these bounds holds it.

use std::collections::BTreeMap;

use parkbench_engine::{Arrival, CpuWork, Duration, LockScope, Model, Role, Scenario, Span, Step, TaskState};
use parkbench_trace::{Metrics, Trace, WorkerUse, integrals};
use parkbench_view::format;

use crate::figures::{WIDTH, part_of};
use crate::text::{Grid, wrap};

/// One bound: what it is of, how long it takes, and what to say where it holds the total.
struct Bound {
    label: String,
    ns: u64,
    verdict: &'static str,
}

/// The bounds from the highest, and a sentence about that one.
pub(super) fn render(scenario: &Scenario, run: usize, trace: &Trace, metrics: &Metrics) -> String {
    if metrics.makespan_ns == 0 {
        return "  No step takes time, and no cost is paid.\n".to_owned();
    }
    let mut bounds = of(scenario, run, trace, metrics);
    bounds.retain(|bound| bound.ns > 0);
    bounds.sort_by_key(|bound| std::cmp::Reverse(bound.ns));
    let mut grid = Grid::default();
    grid.row(["  It cannot be shorter than", "", "of the total"]);
    for bound in &bounds {
        let part = part_of(u128::from(bound.ns), u128::from(metrics.makespan_ns));
        grid.row([format!("    {}", bound.label), format::duration(bound.ns), part]);
    }
    let mut out = grid.render();
    let whole = u128::from(scenario.machine.cores) * u128::from(metrics.makespan_ns);
    let text = format!(
        "The cores run tasks for {} of their time and do the scheduler's own work for {}.",
        part_of(u128::from(metrics.busy_ns), whole),
        part_of(u128::from(metrics.overhead_ns), whole)
    );
    out.push_str(&wrap(&text, WIDTH, "  ", "  "));
    out.push_str(&wrap(&verdict(metrics, &bounds), WIDTH, "  ", "  "));
    out
}

fn verdict(metrics: &Metrics, bounds: &[Bound]) -> String {
    match bounds.first() {
        Some(bound) if bound.ns as f64 >= 0.8 * metrics.makespan_ns as f64 => bound.verdict.to_owned(),
        _ => "No bound alone holds the total: tasks pass through several of these one after the other, or wait for \
              others where they meet."
            .to_owned(),
    }
}

fn of(scenario: &Scenario, run: usize, trace: &Trace, metrics: &Metrics) -> Vec<Bound> {
    let cores = u64::from(scenario.machine.cores);
    let mut bounds = vec![
        Bound {
            label: format!("work and overhead on {cores} cores"),
            ns: (metrics.busy_ns + metrics.overhead_ns) / cores,
            verdict: "The cores hold the total: only more of them or less work would shorten it.",
        },
        Bound {
            label: "one task alone, on average".to_owned(),
            ns: scenario.tasks.iter().map(|class| alone(&class.steps).max(spawned(&class.steps))).max().unwrap_or(0),
            verdict: "One task takes nearly as long as all of them: they run and wait beside each other.",
        },
        Bound {
            label: "the last arrival, about".to_owned(),
            ns: last_arrival(scenario),
            verdict: "The arrivals hold the total: the last task does not come earlier.",
        },
    ];
    let workers: Vec<&WorkerUse> = metrics.workers.iter().filter(|worker| worker.role == Role::Worker).collect();
    let sum = |part: fn(&WorkerUse) -> u64| workers.iter().map(|worker| part(worker)).sum::<u64>();
    // A pool thread whose task waits for a lock or a permit is held up by that, and not by the number of threads.
    let for_locks = match scenario.runs[run].model {
        Model::ThreadPool => lock_waits(trace),
        _ => 0,
    };
    let (count, held) = (workers.len() as u64, sum(|w| w.blocked_ns).saturating_sub(for_locks));
    let work = sum(|w| w.busy_ns + w.overhead_ns);
    // With a worker for each task the workers wait as long as their tasks do, and hold nothing up.
    if count > 0 && count < u64::from(metrics.tasks) {
        bounds.push(Bound {
            label: format!("{} workers, held by work and by tasks that wait", format::count(count)),
            ns: (held + work) / count,
            verdict: if held > work {
                "The workers hold the total: each keeps a task that waits, and the others are queued. More workers, \
                 or tasks that wait without one, would shorten it."
            } else {
                "The workers hold the total: all of them are at work nearly all the time."
            },
        });
    }
    for (role, name, verdict) in [
        (
            Role::Submitter,
            "the submitter, one task after the other",
            "The submitter holds the total: one thread makes all tasks, and what it takes for each adds up.",
        ),
        (
            Role::Timer,
            "the timer thread, one deadline after the other",
            "The timer thread holds the total: all deadlines pass through it.",
        ),
        (
            Role::Unblocker,
            "the unblocker, one monitor after the other",
            "The unblocker holds the total: whoever may take a monitor passes through it.",
        ),
    ] {
        let threads = metrics.workers.iter().filter(|worker| worker.role == role);
        let ns = threads.map(|worker| worker.busy_ns + worker.overhead_ns).max().unwrap_or(0);
        bounds.push(Bound { label: name.to_owned(), ns, verdict });
    }
    bounds.extend(guards(scenario));
    bounds
}

/// [ns] All the time that tasks wait for a lock or a permit.
fn lock_waits(trace: &Trace) -> u64 {
    let whole = integrals(trace, 0, trace.end_ns(), 1);
    let sum = whole.first().map_or(0, |whole| whole.sums[TaskState::LockWait as usize]);
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// [ns] The time of the last arrival, on average.
fn last_arrival(scenario: &Scenario) -> u64 {
    let end = |at: u64, arrival: &Arrival, count: u64| at + arrival.mean_end_ns(count);
    let classes = scenario.tasks.iter().map(|class| end(class.at.0, &class.arrival, class.count));
    let first = scenario.tasks.iter().map(|class| class.at.0).min().unwrap_or(0);
    match &scenario.mix {
        Some(mix) => mix.arrival.mean_end_ns(mix.count),
        None => classes.max().unwrap_or(0).saturating_sub(first),
    }
}

fn mean(duration: &Duration) -> u64 {
    Span::from(duration).mean()
}

/// [ns] What the step takes by itself, on average; iterations are left out, for they are in the work on the cores.
fn time(step: &Step) -> u64 {
    match step {
        Step::Cpu(CpuWork::Time(time)) | Step::Io(time) => mean(time),
        Step::Block(block) => mean(&block.time),
        Step::Repeat(repeat) => u64::from(repeat.times).saturating_mul(alone(&repeat.steps)),
        _ => 0,
    }
}

/// [ns] A task of these steps with nobody in its way, until its own end.
fn alone(steps: &[Step]) -> u64 {
    let (mut now, mut children) = (0_u64, 0_u64);
    for step in steps {
        match step {
            Step::Spawn(spawn) => children = children.max(now.saturating_add(alone(&spawn.steps))),
            Step::Join => now = now.max(children),
            step => now = now.saturating_add(time(step)),
        }
    }
    now
}

/// [ns] Until the last of the tasks that it has spawned has ended, where it does not wait for them.
fn spawned(steps: &[Step]) -> u64 {
    let (mut now, mut last) = (0_u64, 0_u64);
    for step in steps {
        match step {
            Step::Spawn(spawn) => last = last.max(now.saturating_add(alone(&spawn.steps).max(spawned(&spawn.steps)))),
            Step::Join => now = now.max(last),
            step => now = now.saturating_add(time(step)),
        }
    }
    last
}

/// What semaphores and shared locks let through, on average.
fn guards(scenario: &Scenario) -> Vec<Bound> {
    let mut held = BTreeMap::new();
    let weights: u64 = scenario.tasks.iter().filter_map(|class| class.weight).map(u64::from).sum();
    for class in &scenario.tasks {
        let count = match (&scenario.mix, class.weight) {
            (Some(mix), Some(weight)) => mix.count * u64::from(weight) / weights.max(1),
            _ => class.count,
        };
        hold(&class.steps, count, &mut Vec::new(), &mut held);
    }
    let bound = |(name, (permits, ns)): (&str, (Option<u32>, u64))| match permits {
        Some(permits) => Bound {
            label: format!("{permits} permits of {name:?}, on average"),
            ns: ns / u64::from(permits),
            verdict: "The permits hold the total: the others wait for one, whatever runs them. Only more permits or \
                      shorter holds would shorten it.",
        },
        None => Bound {
            label: format!("the lock {name:?}, one holder after the other, on average"),
            ns,
            verdict: "The lock holds the total: its holders follow on each other.",
        },
    };
    held.into_iter().map(bound).collect()
}

/// Adds up how long `count` tasks hold each name; the permits of a semaphore, or none for a lock.
fn hold<'a>(
    steps: &'a [Step],
    count: u64,
    holding: &mut Vec<&'a str>,
    held: &mut BTreeMap<&'a str, (Option<u32>, u64)>,
) {
    for step in steps {
        match step {
            Step::Lock(lock) if lock.scope == LockScope::Shared => {
                held.entry(&lock.name).or_insert((None, 0));
                holding.push(&lock.name);
            }
            Step::Acquire(semaphore) => {
                held.entry(&semaphore.name).or_insert((Some(semaphore.permits), 0));
                holding.push(&semaphore.name);
            }
            Step::Unlock(name) | Step::Release(name) => {
                if let Some(last) = holding.iter().rposition(|holding| holding == name) {
                    holding.remove(last);
                }
            }
            Step::Spawn(spawn) => {
                hold(&spawn.steps, count.saturating_mul(u64::from(spawn.count)), &mut Vec::new(), held);
            }
            Step::Repeat(repeat) => {
                hold(&repeat.steps, count.saturating_mul(u64::from(repeat.times)), holding, held);
            }
            step => {
                for name in &*holding {
                    if let Some((_, ns)) = held.get_mut(name) {
                        *ns = ns.saturating_add(count.saturating_mul(time(step)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{PRESET_NAMES, Simulation, preset};

    use super::*;

    /// The label of the bound that holds a run.
    fn holder(name: &str, run: usize) -> String {
        let scenario = preset(name).unwrap();
        let recording = Simulation::new(&scenario, run).unwrap().run();
        let trace = Trace::new(recording).unwrap();
        let bounds = of(&scenario, run, &trace, &Metrics::of(&trace));
        bounds.into_iter().max_by_key(|bound| bound.ns).unwrap().label
    }

    #[test]
    fn the_holder_is_what_a_person_would_say() {
        for (name, run, expect) in [
            ("io-bound", 0, "12 workers"),
            ("io-bound", 1, "one task alone"),
            ("io-bound", 2, "the submitter"),
            ("cpu-bound", 0, "cores"),
            ("cpu-bound", 2, "the submitter"),
            ("high-concurrency", 1, "the timer thread"),
            ("llm-agents", 0, "500 workers"),
            ("pinning", 0, "8 workers"),
            ("pinning", 2, "one task alone"),
            ("connection-pool", 0, "20 permits"),
            ("connection-pool", 1, "20 permits"),
            ("web-server", 1, "the last arrival"),
        ] {
            let label = holder(name, run);
            assert!(label.contains(expect), "{name} {run}: {label}");
        }
    }

    #[test]
    fn no_bound_is_above_the_total() {
        for name in PRESET_NAMES {
            let scenario = preset(name).unwrap();
            for run in 0..scenario.runs.len() {
                let trace = Trace::new(Simulation::new(&scenario, run).unwrap().run()).unwrap();
                let metrics = Metrics::of(&trace);
                if metrics.tasks_unfinished > 0 || metrics.tasks_failed > 0 {
                    continue;
                }
                for bound in of(&scenario, run, &trace, &metrics) {
                    // Arrivals and draws are means.
                    let most = metrics.makespan_ns + metrics.makespan_ns / 20;
                    assert!(bound.ns <= most, "{name} {run}: {} {} of {most}", bound.label, bound.ns);
                }
            }
        }
    }
}
