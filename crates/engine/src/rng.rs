//! Random draws that depend on the seed, the purpose, the task and the step, and on nothing else.
//!
//! Each draw has a generator of its own, so every model sees the same workload whatever it does first (design,
//! invariant 5). PCG by `rand_pcg` is documented as portable and stable in value.

use rand_core::Rng as _;
use rand_pcg::Pcg32;

/// What a draw is for; draws for different purposes never share a stream.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Purpose {
    /// The length of a step.
    StepDuration = 1,
    /// A scheduler's own coin.
    Scheduler = 2,
    /// When tasks arrive.
    Arrival = 3,
    /// Which class a task of a mix is of.
    Mix = 4,
    /// How long a user thinks.
    Think = 5,
}

/// A generator for one purpose and one subject.
pub(crate) fn stream(seed: u64, purpose: Purpose, subject: u64) -> Pcg32 {
    Pcg32::new(mix(seed ^ mix(subject)), mix((purpose as u64) << 32 ^ subject))
}

/// A whole number from `low` to `high`, both included, without bias.
pub(crate) fn between(rng: &mut Pcg32, low: u64, high: u64) -> u64 {
    let Some(span) = (high - low).checked_add(1) else {
        return rng.next_u64();
    };
    // Lemire's method: the high half of a 128-bit product, with the few biased low halves drawn again.
    let threshold = span.wrapping_neg() % span;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(span);
        if product as u64 >= threshold {
            return low + (product >> 64) as u64;
        }
    }
}

/// The finaliser of `SplitMix64`: spreads neighbouring inputs over all bits.
pub(crate) const fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_pinned() {
        let draw = |seed, subject| between(&mut stream(seed, Purpose::StepDuration, subject), 0, 999_999);
        assert_eq!([draw(1, 0), draw(1, 1), draw(2, 0)], [91_686, 855_032, 191_857]);
    }

    #[test]
    fn draws_cover_the_range_evenly() {
        let mut buckets = [0_u32; 10];
        for subject in 0..10_000 {
            buckets[between(&mut stream(7, Purpose::StepDuration, subject), 0, 9) as usize] += 1;
        }
        // Chi-squared with 9 degrees of freedom: 27.9 is the 99.9th percentile.
        let chi: f64 = buckets.iter().map(|&n| f64::from(n) - 1_000.0).map(|off| off * off / 1_000.0).sum();
        assert!(chi < 27.9, "{buckets:?}");
    }

    #[test]
    fn extremes_are_reached() {
        let rng = &mut stream(1, Purpose::Scheduler, 0);
        assert_eq!(between(rng, 5, 5), 5);
        assert!((0..100).any(|_| between(rng, 0, 1) == 1));
        between(rng, 0, u64::MAX);
    }
}
