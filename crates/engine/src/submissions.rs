//! When tasks are due for submission, in one order for every model and for measurements.
//!
//! What a submission costs, and whether the submitter is late, is not known here.

use rand_pcg::Pcg32;

use crate::draw::exponential;
use crate::plan::Plan;
use crate::rng::{Purpose, stream};

/// When the tasks of a class arrive, counted from the class's `at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// All at once.
    AtOnce,
    /// [ns] One after each gap.
    Every(u64),
    /// [ns] Gaps drawn from an exponential distribution with this mean.
    Poisson(u64),
    /// Several at a time.
    Bursts {
        /// Tasks in a burst.
        size: u64,
        /// [ns] From one burst to the next.
        every: u64,
    },
    /// [ns] At these times.
    Times(Vec<u64>),
}

/// The tasks of a plan by the time at which they are due; ties go by the order of the classes in the file.
#[derive(Clone, Debug)]
pub struct Submissions {
    classes: Vec<ClassArrivals>,
    /// [ns] When the first task is due, counted as in the scenario: the clock of the run starts there.
    start: u64,
}

#[derive(Clone, Debug)]
struct ClassArrivals {
    /// [ns] When the next task is due.
    due: u64,
    at: u64,
    next: u32,
    first: u32,
    count: u32,
    arrivals: Arrivals,
    rng: Pcg32,
}

impl Submissions {
    pub(crate) fn new(plan: &Plan) -> Self {
        let class = |(index, class): (usize, &crate::plan::Class)| {
            let mut state = ClassArrivals {
                due: class.at,
                at: class.at,
                next: 0,
                first: class.first,
                count: class.count,
                arrivals: class.arrivals.clone(),
                rng: stream(plan.seed, Purpose::Arrival, index as u64),
            };
            // The first of a Poisson process comes after a gap too.
            state.due = match &state.arrivals {
                Arrivals::Poisson(mean) => class.at + exponential(&mut state.rng, *mean),
                Arrivals::Times(times) => class.at + times.first().copied().unwrap_or(0),
                _ => class.at,
            };
            state
        };
        let classes: Vec<ClassArrivals> = plan.classes.iter().enumerate().map(class).collect();
        let start = classes.iter().map(|class| class.due).min().unwrap_or(0);
        Self { classes, start }
    }

    /// [ns] When the next task is due; `None` after the last.
    pub fn due(&self) -> Option<u64> {
        self.earliest().map(|index| self.classes[index].due - self.start)
    }

    fn earliest(&self) -> Option<usize> {
        let pending = (0..self.classes.len()).filter(|&index| self.classes[index].next < self.classes[index].count);
        pending.min_by_key(|&index| self.classes[index].due)
    }
}

impl Iterator for Submissions {
    /// [ns] When it is due, and the task.
    type Item = (u64, u32);

    fn next(&mut self) -> Option<(u64, u32)> {
        let index = self.earliest()?;
        let class = &mut self.classes[index];
        let item = (class.due - self.start, class.first + class.next);
        class.next += 1;
        let number = u64::from(class.next);
        class.due = match &class.arrivals {
            Arrivals::AtOnce => class.due,
            Arrivals::Every(gap) => class.due + gap,
            Arrivals::Poisson(mean) => class.due + exponential(&mut class.rng, *mean),
            Arrivals::Bursts { size, every } => class.at + number / size * every,
            Arrivals::Times(times) => class.at + times.get(class.next as usize).copied().unwrap_or(0),
        };
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[track_caller]
    fn check(tasks: &str, expect: &[(u64, u32)]) {
        let text = format!(
            "version = 1\nname = \"test\"\ntasks = {tasks}\nruns = [{{ model = \"thread-pool\" }}]\n[machine]\ncores = 1\n"
        );
        let scenario = Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}"));
        let got: Vec<(u64, u32)> = Plan::new(&scenario, 0).unwrap().submissions().collect();
        assert_eq!(got, expect, "{tasks}");
    }

    #[test]
    fn arrivals() {
        let steps = "steps = [{ cpu = \"1 us\" }]";
        check(&format!("[{{ count = 2, {steps} }}]"), &[(0, 0), (0, 1)]);
        check(
            &format!("[{{ count = 3, at = \"5 ns\", arrival = {{ every = \"2 ns\" }}, {steps} }}]"),
            &[(0, 0), (2, 1), (4, 2)],
        );
        check(
            &format!("[{{ count = 5, arrival = {{ bursts = {{ size = 2, every = \"10 ns\" }} }}, {steps} }}]"),
            &[(0, 0), (0, 1), (10, 2), (10, 3), (20, 4)],
        );
        check(
            &format!(
                "[{{ count = 3, at = \"1 ns\", arrival = {{ times = [\"0 ns\", \"4 ns\", \"4 ns\"] }}, {steps} }}]"
            ),
            &[(0, 0), (4, 1), (4, 2)],
        );
        check(&format!("[{{ count = 2, arrival = {{ times = [\"5 ns\", \"6 ns\"] }}, {steps} }}]"), &[(0, 0), (1, 1)]);
        // The clock starts with the first task.
        check(
            &format!("[{{ count = 1, at = \"7 ns\", {steps} }}, {{ count = 1, at = \"5 ns\", {steps} }}]"),
            &[(0, 1), (2, 0)],
        );
        // Classes mix by time; ties go by the order in the file.
        check(
            &format!(
                "[{{ count = 2, arrival = {{ every = \"4 ns\" }}, {steps} }}, {{ count = 3, arrival = {{ every = \"2 ns\" }}, {steps} }}]"
            ),
            &[(0, 0), (0, 2), (2, 3), (4, 1), (4, 4)],
        );
    }

    #[test]
    fn a_poisson_process_has_its_rate() {
        let text = "version = 1\nname = \"test\"\nruns = [{ model = \"thread-pool\" }]\n\
            tasks = [{ count = 100000, arrival = { poisson = \"1 us\" }, steps = [{ cpu = \"1 us\" }] }]\n\
            [machine]\ncores = 1\n";
        let plan = Plan::new(&Scenario::from_toml(text).unwrap(), 0).unwrap();
        let times: Vec<u64> = plan.submissions().map(|(due, _)| due).collect();
        assert!(times.is_sorted());
        let mean = *times.last().unwrap() as f64 / 100_000.0;
        assert!((mean - 1_000.0).abs() < 4.0 * 1_000.0 / 100_000_f64.sqrt(), "{mean}");
        // In a Poisson process the count of a window has its mean as variance.
        let mut counts = vec![0_u32; (times.last().unwrap() / 10_000) as usize];
        for time in &times {
            if let Some(count) = counts.get_mut((time / 10_000) as usize) {
                *count += 1;
            }
        }
        let n = counts.len() as f64;
        let mean = f64::from(counts.iter().sum::<u32>()) / n;
        let variance = counts.iter().map(|&c| (f64::from(c) - mean) * (f64::from(c) - mean)).sum::<f64>() / n;
        assert!((variance / mean - 1.0).abs() < 0.06, "{variance} and {mean}");
    }
}
