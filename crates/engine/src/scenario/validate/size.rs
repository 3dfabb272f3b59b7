//! Runs that are certain to take more events than a run may: refused before anything is allocated.
//!
//! A lower bound only; a run that turns out longer is given up while it runs (`Progress::check`).

use crate::draw::Span;
use crate::scenario::{Block, CpuWork, PoolKind, RunSpec, Runtime, Scenario, Step};
use crate::sim::MAX_EVENTS;

/// Refuses each run in which every task runs to its end and the tasks' own steps are too many events already.
pub(super) fn check_size(scenario: &Scenario, refuse: &mut impl FnMut(String, String, String)) {
    let Some(least) = least_events(scenario).filter(|&least| least > u128::from(MAX_EVENTS)) else { return };
    for (index, _) in scenario.runs.iter().enumerate().filter(|(_, run)| runs_every_task(scenario, run)) {
        refuse(
            format!("runs[{index}]"),
            format!("at least {least} events"),
            format!("runs of up to {MAX_EVENTS} events: fewer tasks or steps"),
        );
    }
}

/// Threads that a process can have on any machine that sets no limit of its own.
const FEW_THREADS: u32 = 16_384;

/// Whether no task is refused for want of room or of threads.
fn runs_every_task(scenario: &Scenario, run: &RunSpec) -> bool {
    if let Some(runtime) = run.runtime() {
        return matches!(runtime, Runtime::Java | Runtime::Kotlin);
    }
    let has_room = run.pool.unwrap_or_default() == PoolKind::Fixed && run.queue.is_none();
    let has_threads = scenario.machine.max_threads.is_none() && scenario.machine.memory.is_none();
    has_room && has_threads && run.size.unwrap_or_default() <= FEW_THREADS
}

/// Events that the tasks' own steps take in any model; `None` where tasks may wait for each other for ever.
fn least_events(scenario: &Scenario) -> Option<u128> {
    let classes = scenario.tasks.iter().map(|class| Some((class.count, least_of(&class.steps)?)));
    let classes: Vec<(u64, u128)> = classes.collect::<Option<_>>()?;
    Some(match &scenario.mix {
        Some(mix) => u128::from(mix.count) * classes.iter().map(|&(_, least)| least).min().unwrap_or(0),
        None => classes
            .iter()
            .fold(0_u128, |sum, &(count, least)| sum.saturating_add(u128::from(count).saturating_mul(least))),
    })
}

/// One event for each computation and each call that blocks, if they take time at all, with what the task spawns.
fn least_of(steps: &[Step]) -> Option<u128> {
    let takes_time = |span: Span| u128::from(span.shortest() > 0);
    steps.iter().try_fold(0_u128, |sum, step| {
        let events = match step {
            Step::Cpu(CpuWork::Time(duration)) => takes_time(Span::from(duration)),
            Step::Block(Block { time, .. }) => takes_time(Span::from(time)),
            Step::Repeat(repeat) => u128::from(repeat.times).saturating_mul(least_of(&repeat.steps)?),
            Step::Spawn(spawn) => u128::from(spawn.count).saturating_mul(least_of(&spawn.steps)?),
            Step::Lock(_) | Step::Acquire(_) | Step::Join => return None,
            Step::Cpu(CpuWork::Iterations(_)) | Step::Io(_) | Step::Unlock(_) | Step::Release(_) | Step::Yield => 0,
        };
        Some(sum.saturating_add(events))
    })
}
