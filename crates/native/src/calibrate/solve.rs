//! Costs from measurements: which costs make the simulation of every probe take as long as the measurement did.
//!
//! Levenberg-Marquardt in the logarithms of the costs, each held to its first guess by a weak spring, so that a cost
//! which no probe depends on keeps that guess. A measurement that is far off counts less, and least if it is the slower
//! one: other programs make what they disturb slower. Nothing here knows what a probe or a cost is.

/// Step of the differences that stand for derivatives, in the logarithm of a cost.
const STEP: f64 = 0.2;
/// Largest change of the logarithm of a cost in one round.
const LEAP: f64 = 1.2;
/// Rounds; the last ones change little.
const ROUNDS: u32 = 8;
/// Misfit, in tolerances, from which a measurement counts less: it was disturbed, or the model lacks something.
const DOUBTFUL: f64 = 3.0;
/// A round that takes less than this part off the misfit is the last.
const ENOUGH: f64 = 0.003;

/// What is to be solved.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// First guess of every cost, above 0.
    pub(super) guesses: Vec<f64>,
    /// How far the logarithm of each may well be from its guess.
    pub(super) freedom: Vec<f64>,
    /// What was measured, above 0.
    pub(super) measured: Vec<f64>,
    /// How well each is to be met, in its logarithm.
    pub(super) tolerance: Vec<f64>,
}

/// The costs found.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) costs: Vec<f64>,
    /// What the simulation gives with them, in the order of the measurements.
    pub(super) simulated: Vec<f64>,
    /// Change of the logarithm of each measurement with that of each cost, by measurement.
    pub(super) slopes: Vec<Vec<f64>>,
    /// Change of the logarithm of each cost with that of each measurement, by cost.
    gains: Vec<Vec<f64>>,
    /// Covariance of the logarithms of the costs, where tolerance and freedom are standard deviations.
    covariance: Vec<Vec<f64>>,
    freedom: Vec<f64>,
}

impl Solution {
    /// The cost that other values of the measurements would give, near these.
    pub(super) fn moved(&self, cost: usize, measured: &[f64], instead: &[f64]) -> f64 {
        let change: f64 =
            self.gains[cost].iter().zip(measured.iter().zip(instead)).map(|(gain, (a, b))| gain * (b / a).ln()).sum();
        self.costs[cost] * change.clamp(-3.0, 3.0).exp()
    }

    /// How much of what is known about a cost is from the measurements: 0 nothing, 1 all.
    pub(super) fn known(&self, cost: usize) -> f64 {
        1.0 - self.covariance[cost][cost] / (self.freedom[cost] * self.freedom[cost])
    }

    /// The other cost that the measurements tell apart from this one least, and how badly: -1 only the sum is known.
    pub(super) fn rival(&self, cost: usize) -> Option<(usize, f64)> {
        let correlation = |other: usize| {
            self.covariance[cost][other] / (self.covariance[cost][cost] * self.covariance[other][other]).sqrt()
        };
        let others = (0..self.costs.len()).filter(|&other| other != cost).map(|other| (other, correlation(other)));
        others.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The measurement that says most about a cost.
    pub(super) fn witness(&self, cost: usize) -> Option<usize> {
        let weight = |measurement: usize| (self.gains[cost][measurement] * self.slopes[measurement][cost]).abs();
        (0..self.slopes.len()).max_by(|&a, &b| weight(a).total_cmp(&weight(b)))
    }
}

/// Solves the problem; `simulate` gives the simulated counterpart of every measurement for a set of costs.
pub(super) fn solve<E>(
    problem: &Problem,
    mut simulate: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
) -> Result<Solution, E> {
    let costs_of =
        |x: &[f64]| -> Vec<f64> { x.iter().zip(&problem.guesses).map(|(x, guess)| guess * x.exp()).collect() };
    let count = problem.guesses.len();
    let mut x = vec![0.0; count];
    let mut simulated = simulate(&costs_of(&x))?;
    let mut misfit = problem.misfit(&x, &simulated);
    let mut damping = 0.1;
    let mut slopes = Vec::new();
    let mut fresh = false;
    for _ in 0..ROUNDS {
        if !fresh {
            slopes = vec![vec![0.0; count]; simulated.len()];
            for cost in 0..count {
                let mut moved = x.clone();
                moved[cost] += STEP;
                let there = simulate(&costs_of(&moved))?;
                for (row, (there, here)) in slopes.iter_mut().zip(there.iter().zip(&simulated)) {
                    row[cost] = (there / here).ln() / STEP;
                }
            }
            fresh = true;
        }
        let weights = problem.weights(&simulated);
        let Some(step) = problem.step(&x, &simulated, &slopes, &weights, damping) else { break };
        let next: Vec<f64> =
            x.iter().zip(step).map(|(x, step)| (x + step.clamp(-LEAP, LEAP)).clamp(-5.0, 5.0)).collect();
        let there = simulate(&costs_of(&next))?;
        let misfit_there = problem.misfit(&next, &there);
        if misfit_there < misfit {
            let better = (misfit - misfit_there) / misfit;
            (x, simulated, misfit) = (next, there, misfit_there);
            damping = (damping / 4.0).max(1e-3);
            fresh = false;
            if better < ENOUGH {
                break;
            }
        } else {
            damping *= 8.0;
        }
    }
    let weights = problem.weights(&simulated);
    let normal = problem.normal(&slopes, &weights, 0.0);
    let covariance = inverse(&normal);
    let gains = (0..count)
        .map(|cost| {
            let gain = |(row, weight): (&Vec<f64>, &f64)| {
                covariance[cost].iter().zip(row).map(|(c, slope)| c * slope).sum::<f64>() * weight
            };
            slopes.iter().zip(&weights).map(gain).collect()
        })
        .collect();
    Ok(Solution { costs: costs_of(&x), simulated, slopes, gains, covariance, freedom: problem.freedom.clone() })
}

impl Problem {
    /// How far each simulated figure is above the measured one, in tolerances.
    fn residuals(&self, simulated: &[f64]) -> impl Iterator<Item = f64> {
        let measured = simulated.iter().zip(&self.measured).zip(&self.tolerance);
        measured.map(|((simulated, measured), tolerance)| (simulated / measured).ln() / tolerance)
    }

    /// The square of a small residual; Huber's and, where the measurement is the slower one, Cauchy's for a large one.
    fn misfit(&self, x: &[f64], simulated: &[f64]) -> f64 {
        let loss = |residual: f64| match residual {
            slow if slow < 0.0 => DOUBTFUL * DOUBTFUL * (slow / DOUBTFUL).powi(2).ln_1p(),
            fast if fast > DOUBTFUL => DOUBTFUL * (2.0 * fast - DOUBTFUL),
            small => small * small,
        };
        let springs = x.iter().zip(&self.freedom).map(|(x, freedom)| (x / freedom).powi(2)).sum::<f64>();
        self.residuals(simulated).map(loss).sum::<f64>() + springs
    }

    /// What each measurement counts, by its tolerance and by the loss.
    fn weights(&self, simulated: &[f64]) -> Vec<f64> {
        let weight = |residual: f64| match residual {
            slow if slow < 0.0 => 1.0 / (1.0 + (slow / DOUBTFUL).powi(2)),
            fast => (DOUBTFUL / fast).min(1.0),
        };
        let weights = self.residuals(simulated).map(weight);
        weights.zip(&self.tolerance).map(|(weight, tolerance)| weight / (tolerance * tolerance)).collect()
    }

    /// The matrix of the normal equations.
    fn normal(&self, slopes: &[Vec<f64>], weights: &[f64], damping: f64) -> Vec<Vec<f64>> {
        let count = self.guesses.len();
        let mut normal = vec![vec![0.0; count]; count];
        for (row, weight) in slopes.iter().zip(weights) {
            for (i, line) in normal.iter_mut().enumerate() {
                for (j, cell) in line.iter_mut().enumerate() {
                    *cell += row[i] * row[j] * weight;
                }
            }
        }
        for (i, freedom) in self.freedom.iter().enumerate() {
            normal[i][i] = normal[i][i] * (1.0 + damping) + 1.0 / (freedom * freedom);
        }
        normal
    }

    fn step(
        &self,
        x: &[f64],
        simulated: &[f64],
        slopes: &[Vec<f64>],
        weights: &[f64],
        damping: f64,
    ) -> Option<Vec<f64>> {
        let normal = self.normal(slopes, weights, damping);
        let mut right: Vec<f64> = x.iter().zip(&self.freedom).map(|(x, freedom)| -x / (freedom * freedom)).collect();
        let rows = slopes.iter().zip(simulated.iter().zip(&self.measured)).zip(weights);
        for ((row, (simulated, measured)), weight) in rows {
            for (cell, slope) in right.iter_mut().zip(row) {
                *cell += slope * (measured / simulated).ln() * weight;
            }
        }
        let step: Vec<f64> =
            inverse(&normal).iter().map(|row| row.iter().zip(&right).map(|(a, b)| a * b).sum()).collect();
        step.iter().all(|step| step.is_finite()).then_some(step)
    }
}

/// Gauss-Jordan; the matrix is positive definite, for every cost has its spring.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let count = matrix.len();
    let mut left = matrix.to_vec();
    let mut right: Vec<Vec<f64>> =
        (0..count).map(|i| (0..count).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for i in 0..count {
        let pivot = left[i][i];
        for j in 0..count {
            left[i][j] /= pivot;
            right[i][j] /= pivot;
        }
        for k in (0..count).filter(|&k| k != i) {
            let factor = left[k][i];
            for j in 0..count {
                left[k][j] -= factor * left[i][j];
                right[k][j] -= factor * right[i][j];
            }
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Two costs in three sums, and one in none.
    fn sums(costs: &[f64]) -> Vec<f64> {
        vec![costs[0] + costs[1], 2.0 * costs[0] + costs[1], 500.0 + costs[0]]
    }

    #[test]
    fn costs_come_back_from_what_they_gave() {
        let measured = sums(&[800.0, 90.0, 7.0]);
        let problem = Problem {
            guesses: vec![300.0, 300.0, 300.0],
            freedom: vec![1.5; 3],
            tolerance: vec![0.01; 3],
            measured: measured.clone(),
        };
        let solution = solve(&problem, |costs| Ok::<_, Infallible>(sums(costs))).unwrap();
        assert!((solution.costs[0] / 800.0 - 1.0).abs() < 0.02, "{solution:?}");
        assert!((solution.costs[1] / 90.0 - 1.0).abs() < 0.1, "{solution:?}");
        assert!((solution.costs[2] / 300.0 - 1.0).abs() < 1e-9, "{solution:?}");
        assert!(solution.known(0) > 0.9 && solution.known(2) < 0.01);
        let slower: Vec<f64> = measured.iter().map(|m| m * 1.02).collect();
        assert!(solution.moved(0, &measured, &slower) > solution.costs[0]);
    }

    #[test]
    fn a_measurement_that_was_disturbed_counts_little() {
        let mut measured = [vec![900.0; 4], sums(&[800.0, 100.0, 7.0])].concat();
        let simulate = |costs: &[f64]| Ok::<_, Infallible>([vec![costs[0] + costs[1]; 4], sums(costs)].concat());
        let mut solve = |first: f64| {
            measured[0] = first;
            let problem = Problem {
                guesses: vec![300.0, 300.0, 300.0],
                freedom: vec![1.5; 3],
                tolerance: vec![0.03; 7],
                measured: measured.clone(),
            };
            solve(&problem, simulate).unwrap().costs[0]
        };
        assert!((solve(2_700.0) / 800.0 - 1.0).abs() < 0.05);
        assert!((solve(500.0) / 800.0 - 1.0).abs() < 0.1);
    }

    #[test]
    fn of_two_costs_in_one_sum_only_the_sum_is_known() {
        let sum = |costs: &[f64]| Ok::<_, Infallible>(vec![costs[0] + costs[1]]);
        let problem = Problem {
            guesses: vec![300.0, 300.0],
            freedom: vec![1.0; 2],
            tolerance: vec![0.01],
            measured: vec![1_000.0],
        };
        let solution = solve(&problem, sum).unwrap();
        assert!((solution.costs.iter().sum::<f64>() / 1_000.0 - 1.0).abs() < 0.01);
        let (rival, correlation) = solution.rival(0).unwrap();
        assert!(rival == 1 && correlation < -0.9, "{correlation}");
    }
}
