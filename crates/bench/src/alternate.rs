//! Rounds in which several things take turns, so that a slow minute of the machine hits all of them alike.

use std::hint::black_box;
use std::time::Instant;

/// [ns] The median time of each piece of work over `rounds` rounds; odd rounds run in reverse.
pub(crate) fn medians(rounds: usize, work: &mut [&mut dyn FnMut() -> u64]) -> Vec<u64> {
    let mut times = vec![Vec::with_capacity(rounds); work.len()];
    for round in 0..rounds {
        for turn in 0..work.len() {
            let index = if round % 2 == 0 { turn } else { work.len() - 1 - turn };
            let start = Instant::now();
            black_box(work[index]());
            times[index].push(start.elapsed().as_nanos() as u64);
        }
    }
    times.into_iter().map(median).collect()
}

fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Quotient for people: two decimals.
pub(crate) fn ratio(value: u64, base: u64) -> String {
    format!("{:.2}", value as f64 / base as f64)
}
