//! What measuring costs: the resolution of the clock, reading it, and noting the times of one task.

use std::hint::black_box;
use std::time::Instant;

use serde::Serialize;

use super::clock::Clock;
use super::slots::Slots;

/// Readings of the clock in a row.
const READINGS: u32 = 20_000;
/// Tasks whose times are noted, as many as in the scenarios that come with parkbench.
const TASKS: u32 = 10_000;
/// The cheapest of so many rounds counts, for what disturbs a round adds to it.
const ROUNDS: u32 = 5;

/// What measuring costs on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(clippy::struct_field_names, reason = "the unit is a part of each name in the result file")]
pub(crate) struct Harness {
    /// [ns] The smallest step that the clock was seen to make.
    pub(crate) clock_resolution_ns: u64,
    /// [ns] Reading the clock once.
    pub(crate) clock_read_ns: f64,
    /// [ns] Noting when a task was submitted, began and ended: three readings, three stores, one count.
    pub(crate) task_ns: f64,
}

impl Harness {
    /// Measures it on this thread; a few milliseconds.
    pub(crate) fn measure() -> Self {
        let mut resolution = u64::MAX;
        let mut read = f64::INFINITY;
        let mut task = f64::INFINITY;
        for _ in 0..ROUNDS {
            let (begin, clock) = (Instant::now(), Clock::start());
            let mut last = clock.now();
            for _ in 0..READINGS {
                let now = black_box(clock.now());
                let step = now.saturating_sub(last);
                if step > 0 {
                    resolution = resolution.min(step);
                }
                last = now;
            }
            read = read.min(begin.elapsed().as_nanos() as f64 / f64::from(READINGS));
            task = task.min(note(&Slots::new(TASKS as usize)));
        }
        Self { clock_resolution_ns: resolution, clock_read_ns: read, task_ns: task }
    }

    /// The share of a run's time that went into noting the times of so many tasks, if one thread had noted all of them;
    /// with more threads at work it is less.
    pub(crate) fn share(&self, tasks: u64, makespan_ns: u64) -> f64 {
        self.task_ns * tasks as f64 / makespan_ns.max(1) as f64
    }
}

/// [ns] Noting the times of one task, on average over all.
fn note(slots: &Slots) -> f64 {
    let begin = Instant::now();
    for task in 0..TASKS {
        slots.submitted(task);
        slots.began(task);
        black_box(slots.ended(task));
    }
    begin.elapsed().as_nanos() as f64 / f64::from(TASKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_costs_more_than_a_reading() {
        let harness = Harness::measure();
        assert!(harness.clock_resolution_ns > 0 && harness.clock_resolution_ns < u64::MAX);
        assert!(harness.task_ns > harness.clock_read_ns && harness.clock_read_ns > 0.0, "{harness:?}");
    }

    #[test]
    fn the_share_is_of_the_total() {
        let harness = Harness { clock_resolution_ns: 1, clock_read_ns: 25.0, task_ns: 100.0 };
        for (tasks, makespan_ns, expect) in [(10_000, 100_000_000, 0.01), (1, 100, 1.0), (0, 0, 0.0)] {
            assert!((harness.share(tasks, makespan_ns) - expect).abs() < 1e-12, "{tasks} {makespan_ns}");
        }
    }
}
