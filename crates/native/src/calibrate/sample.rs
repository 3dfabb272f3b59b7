//! Values of one figure from several repetitions, and what is made of them.

/// Values, the least first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sample(Vec<f64>);

impl Sample {
    pub(super) fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The value below which this part of all lies, by nearest rank; 0 without values.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        let rank = (part * self.0.len() as f64).ceil().max(1.0) as usize - 1;
        self.0.get(rank).copied().unwrap_or_default()
    }

    /// The median, as everything that is compared with a simulation is one.
    pub(super) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Every value less so much, 1 at least.
    pub(super) fn less(&self, by: f64) -> Self {
        Self(self.0.iter().map(|value| (value - by).max(1.0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks() {
        let sample = Sample::new(vec![5.0, 1.0, 9.0, 3.0, 7.0]);
        for (part, expect) in [(0.0, 1.0), (0.25, 3.0), (0.5, 5.0), (0.75, 7.0), (1.0, 9.0)] {
            assert!((sample.quantile(part) - expect).abs() < 1e-9, "{part}");
        }
        let medians = [sample.median(), sample.less(4.0).median(), Sample::default().median()];
        assert!(
            medians.iter().zip([5.0, 1.0, 0.0]).all(|(median, expect)| (median - expect).abs() < 1e-9),
            "{medians:?}"
        );
    }
}
