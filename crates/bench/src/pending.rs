//! The event queue alone, in the hold model: pop the earliest of many, push it again after a random delay.

use parkbench_engine::internals::Pending;

use crate::alternate::{cpu_time, times};

const PENDING: u32 = 300_000;
const HOLDS: u32 = 1_000_000;
/// [ns] Mean delay.
const MEAN: f64 = 50e6;
const ROUNDS: usize = 5;

/// Delays drawn beforehand, so that the logarithm is not measured.
pub(crate) struct Hold {
    queue: Pending,
    delays: Vec<u64>,
    next: usize,
}

impl Hold {
    /// A queue with this many pending events.
    pub(crate) fn new(pending: u32, bimodal: bool) -> Self {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let delays: Vec<u64> = (0..1 << 20)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let uniform = ((state >> 11) + 1) as f64 / (1_u64 << 53) as f64;
                let mean = if bimodal && !state.is_multiple_of(10) { 2e3 } else { MEAN };
                (-uniform.ln() * mean) as u64
            })
            .collect();
        let mut queue = Pending::default();
        for task in 0..pending {
            queue.push(delays[task as usize], task);
        }
        Self { queue, delays, next: pending as usize }
    }

    /// Pops and pushes this many times; returns the clock.
    pub(crate) fn hold(&mut self, times: u32) -> u64 {
        let mut now = 0;
        for _ in 0..times {
            let Some((time, task)) = self.queue.pop() else { break };
            now = time;
            self.queue.push(time + self.delays[self.next & ((1 << 20) - 1)], task);
            self.next += 1;
        }
        now
    }
}

pub(crate) fn print() {
    println!("event queue, ns for each pop and push");
    for pending in [16, 4_096, PENDING, 1_000_000] {
        let (mut random, mut bimodal) = (Hold::new(pending, false), Hold::new(pending, true));
        // Past the events of the beginning.
        random.hold(2 * pending);
        bimodal.hold(2 * pending);
        let times = times(ROUNDS, &mut [&mut || random.hold(HOLDS), &mut || bimodal.hold(HOLDS)]);
        println!(
            "  {pending:7} pending: exponential {:3} (least {:3}), nine in ten short {:3} (least {:3})",
            times[0].median / u64::from(HOLDS),
            times[0].least / u64::from(HOLDS),
            times[1].median / u64::from(HOLDS),
            times[1].least / u64::from(HOLDS)
        );
    }
    println!("  {PENDING} pushed at one time: {} ns for each push and pop", ties());
}

/// [ns] Events of one time, in the order of their pushes.
fn ties() -> u64 {
    let mut queue = Pending::default();
    let start = cpu_time();
    for task in 0..PENDING {
        queue.push(1_000, task);
    }
    let mut expected = 0;
    while let Some((_, task)) = queue.pop() {
        assert_eq!(task, expected, "ties are first in, first out");
        expected += 1;
    }
    (cpu_time() - start) / u64::from(PENDING)
}
