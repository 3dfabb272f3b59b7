//! The tasks of a scenario in words.

use parkbench_engine::{Arrival, BlockKind, CpuWork, Distribution, Duration, LockKind, LockScope, Scenario, Step};
use parkbench_view::format;

use crate::figures::WIDTH;
use crate::text::wrap;

/// A paragraph for each class.
pub(super) fn render(scenario: &Scenario) -> String {
    let mut out = String::new();
    if let Some(mix) = &scenario.mix {
        let text = format!("{} tasks of all classes, {}:", format::count(mix.count), arrival(&mix.arrival));
        out.push_str(&wrap(&text, WIDTH, "  ", "    "));
    }
    for class in &scenario.tasks {
        let head = match class.weight {
            Some(weight) => format!("{}, weight {weight}", class.name),
            None => format!("{}, {} tasks, {}", class.name, format::count(class.count), arrival(&class.arrival)),
        };
        let at = if class.at.0 > 0 { format!(" from {}", class.at) } else { String::new() };
        out.push_str(&wrap(&format!("{head}{at}: {}", steps(&class.steps)), WIDTH, "  ", "    "));
    }
    out
}

fn arrival(arrival: &Arrival) -> String {
    match arrival {
        Arrival::AtOnce => "all at once".to_owned(),
        Arrival::Every(gap) => format!("one every {gap}"),
        Arrival::Poisson(mean) => format!("a Poisson process with a mean gap of {mean}"),
        Arrival::Bursts(bursts) => format!("{} at a time every {}", format::count(bursts.size), bursts.every),
        Arrival::ClosedLoop(closed) => {
            format!("from {} users who think {}", format::count(u64::from(closed.users)), duration(&closed.think))
        }
        Arrival::Times(_) => "at given times".to_owned(),
    }
}

fn steps(steps: &[Step]) -> String {
    steps.iter().map(step).collect::<Vec<_>>().join(", ")
}

fn step(step: &Step) -> String {
    match step {
        Step::Cpu(CpuWork::Iterations(work)) => format!("computes {} iterations", format::count(work.iterations)),
        Step::Cpu(CpuWork::Time(time)) => format!("computes {}", duration(time)),
        Step::Io(time) => format!("waits {}", duration(time)),
        Step::Block(block) => {
            let call = match block.kind {
                BlockKind::Native => "a call that cannot be suspended",
                BlockKind::File => "reading a file",
                BlockKind::Fsync => "a synchronous write",
                BlockKind::ObjectWait => "Object.wait",
            };
            format!("spends {} in {call}", duration(&block.time))
        }
        Step::Lock(lock) => {
            let kind = match lock.kind {
                LockKind::Monitor => "the monitor",
                LockKind::Reentrant => "the lock",
                LockKind::ClassInitializer => "the class initialiser",
                LockKind::NativeFrame => "the native frame",
            };
            let own = if lock.scope == LockScope::Task { " of its own" } else { "" };
            let retry = lock.retry.as_ref().map(|wait| format!(" or tries again after {}", duration(wait)));
            format!("takes {kind} {:?}{own}{}", lock.name, retry.unwrap_or_default())
        }
        Step::Unlock(name) | Step::Release(name) => format!("gives {name:?} back"),
        Step::Acquire(semaphore) => format!("takes one of {} permits of {:?}", semaphore.permits, semaphore.name),
        Step::Yield => "lets others run".to_owned(),
        Step::Spawn(spawn) => {
            let count = if spawn.count == 1 { String::new() } else { format!("{} times ", spawn.count) };
            format!("spawns {count}{:?} ({})", spawn.name, steps(&spawn.steps))
        }
        Step::Join => "waits for what it has spawned".to_owned(),
        Step::Repeat(repeat) => format!("{} times over ({})", repeat.times, steps(&repeat.steps)),
    }
}

fn duration(duration: &Duration) -> String {
    match duration {
        Duration::Constant(time) => time.to_string(),
        Duration::Drawn(Distribution::Uniform(from, to)) => format!("{from} to {to}"),
        Duration::Drawn(Distribution::Exponential(mean)) => format!("{mean} on average (exponential)"),
        Duration::Drawn(Distribution::Lognormal(l)) => format!("about {} (lognormal, sigma {})", l.median, l.sigma),
        Duration::Drawn(Distribution::Pareto(p)) => format!("{} to {} (Pareto, shape {})", p.min, p.max, p.shape),
        Duration::Drawn(Distribution::Empirical(values)) => {
            format!("one of {} given times", format::count(values.len() as u64))
        }
    }
}
