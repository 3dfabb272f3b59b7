//! What a profile says of the machine itself, measured directly: the CPU loop, threads, their switches and sleeps.
//!
//! These costs hold for every runtime that has none of its own, and are the first guesses where it has.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::sample::Sample;
use crate::measure::cores::{Cores, Pinned};
use crate::measure::cpu;

/// The costs by which the machine itself makes a run longer.
pub(super) const COSTS: [&str; 7] = [
    "context_switch",
    "thread_wake",
    "thread_create",
    "timer_lateness",
    "sleep_lateness_1ms",
    "sleep_lateness_10ms",
    "sleep_lateness_50ms",
];

/// A cost of the machine.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its name in profiles.
    pub(super) name: &'static str,
    /// [ns], or [ps] for the iteration.
    pub(super) sample: Sample,
    /// How it was measured.
    pub(super) how: &'static str,
}

/// Measures everything; less often with `quick`.
pub(super) fn measure(quick: bool, cores: u32) -> Vec<Found> {
    let times = |full: usize| if quick { full / 3 } else { full };
    let mut found = Vec::new();
    let mut add = |name, sample: Sample, how| found.push(Found { name, sample, how });
    let iterations = (0..times(9)).map(|_| cpu::calibrate() as f64).collect();
    add("cpu_iteration", Sample::new(iterations), "blocks of 100,000 iterations, the fastest of 60 ms");
    add("thread_create", creations(times(300)), "std::thread::spawn on the caller");
    let switches = Sample::new((0..times(9)).filter_map(|_| switch(cores)).collect());
    let switch_ns = switches.median();
    add("context_switch", switches, "sched_yield of four times as many threads as cores");
    let wakes = wakes(times(900)).less(switch_ns);
    add("thread_wake", wakes, "half a round of park and unpark of two threads on two cores, less a switch");
    for (name, ms, count, how) in [
        ("sleep_lateness_1ms", 1, 90, "std::thread::sleep of 1 ms, less a switch"),
        ("sleep_lateness_10ms", 10, 30, "std::thread::sleep of 10 ms, less a switch"),
        ("sleep_lateness_50ms", 50, 9, "std::thread::sleep of 50 ms, less a switch"),
    ] {
        let late = |_| late(Duration::from_millis(ms), thread::sleep);
        add(name, Sample::new((0..times(count)).map(late).collect()).less(switch_ns), how);
    }
    let late = |_| late(Duration::from_millis(2), thread::park_timeout);
    let parks = Sample::new((0..times(60)).map(late).collect());
    add("timer_lateness", parks.less(switch_ns), "std::thread::park_timeout of 2 ms, less a switch");
    found
}

/// [ns] How much longer than it should a wait takes.
fn late(wait: Duration, how: impl Fn(Duration)) -> f64 {
    let begin = Instant::now();
    how(wait);
    begin.elapsed().saturating_sub(wait).as_nanos() as f64
}

/// [ns] What it takes a thread to start another.
fn creations(count: usize) -> Sample {
    let mut times = Vec::new();
    for _ in 0..count {
        let begin = Instant::now();
        let started = thread::Builder::new().stack_size(1 << 20).spawn(|| ());
        let took = begin.elapsed();
        if let Ok(thread) = started {
            times.push(took.as_nanos() as f64);
            // It does nothing, so it does not fail.
            let _ = thread.join();
        }
    }
    Sample::new(times)
}

/// [ns] A core's time for one switch between threads that yield; `None` if there were no threads.
fn switch(cores: u32) -> Option<f64> {
    const YIELDS: u32 = 4_000;
    let threads = cores * 4;
    let go = AtomicBool::new(false);
    let begin = thread::scope(|scope| {
        for _ in 0..threads {
            let body = || {
                while !go.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                for _ in 0..YIELDS {
                    thread::yield_now();
                }
            };
            if thread::Builder::new().spawn_scoped(scope, body).is_err() {
                go.store(true, Ordering::Release);
                return None;
            }
        }
        go.store(true, Ordering::Release);
        Some(Instant::now())
    })?;
    Some(begin.elapsed().as_nanos() as f64 * f64::from(cores) / f64::from(threads * YIELDS))
}

/// [ns] From the wake-up of a parked thread until it runs on a core of its own: on the waker's, as the kernel may have
/// it, nothing would have to be woken.
fn wakes(count: usize) -> Sample {
    let ends = Cores::allowed().and_then(|cores| cores.ends());
    let turn = AtomicU32::new(0);
    let main = thread::current();
    let wait = |mine: u32| {
        while turn.load(Ordering::Acquire) != mine {
            thread::park();
        }
    };
    let pass = |to: u32, other: &Thread| {
        turn.store(to, Ordering::Release);
        other.unpark();
    };
    let mut times = Vec::new();
    thread::scope(|scope| {
        let body = || {
            let _held = ends.as_ref().and_then(|(_, last)| Pinned::to(last).ok());
            for _ in 0..count {
                wait(1);
                pass(0, &main);
            }
        };
        let Ok(other) = thread::Builder::new().spawn_scoped(scope, body) else { return };
        let _held = ends.as_ref().and_then(|(first, _)| Pinned::to(first).ok());
        for _ in 0..count {
            let begin = Instant::now();
            pass(1, other.thread());
            wait(0);
            times.push(begin.elapsed().as_nanos() as f64 / 2.0);
        }
    });
    Sample::new(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_found_and_is_something() {
        let found = measure(true, 2);
        assert_eq!(found.len(), 8);
        for cost in found {
            assert!(cost.sample.count() > 0 && cost.sample.median() >= 1.0, "{cost:?}");
        }
    }
}
