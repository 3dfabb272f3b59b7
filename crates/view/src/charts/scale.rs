//! A number line of a chart: linear from zero, or logarithmic where values differ by more than a factor of 100.

/// Values to pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// Lowest value: 0 on a linear scale, a power of ten on a logarithmic one.
    low: f64,
    high: f64,
    width_px: i32,
    log: bool,
}

impl Scale {
    /// A scale on which all values fit; those that are not positive numbers do not count.
    pub(super) fn of(values: impl IntoIterator<Item = f64>, width_px: i32) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values.into_iter().filter(|value| value.is_finite() && *value > 0.0) {
            (least, most) = (least.min(value), most.max(value));
        }
        if most <= 0.0 {
            return Self { low: 0.0, high: 1.0, width_px, log: false };
        }
        let log = most / least > 100.0;
        if log {
            // The smallest value is not on the edge, or its mark would be half cut off.
            let low = 10_f64.powi((least * 0.8).log10().floor() as i32);
            return Self { low, high: most * 1.3, width_px, log };
        }
        Self { low: 0.0, high: most * 1.08, width_px, log }
    }

    pub(super) fn is_log(self) -> bool {
        self.log
    }

    /// [px] Where a value is.
    pub(super) fn px(self, value: f64) -> i32 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            value / self.high
        };
        (share.clamp(0.0, 1.0) * f64::from(self.width_px)).round() as i32
    }

    /// Round values: about four of 1, 2 or 5 times a power of ten, or the powers of ten.
    pub(super) fn ticks(self) -> Vec<f64> {
        if self.log {
            let (from, to) = (self.low.log10().round() as i32, self.high.log10().floor() as i32);
            let every = ((to - from) / 6 + 1).max(1);
            return (from..=to).step_by(every as usize).map(|power| 10_f64.powi(power)).collect();
        }
        let rough = self.high / 4.0;
        let power = 10_f64.powi(rough.log10().floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(rough);
        (0..=(self.high / step) as u32).map(|i| f64::from(i) * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], log: bool, ticks: &[f64]) {
        let scale = Scale::of(values.iter().copied(), 1_000);
        assert_eq!(scale.is_log(), log, "{values:?}");
        let got = scale.ticks();
        assert_eq!(got.len(), ticks.len(), "{got:?}");
        for (got, want) in got.iter().zip(ticks) {
            assert!((got - want).abs() <= want * 1e-9, "{got} for {want}");
        }
        for pair in got.windows(2) {
            assert!(scale.px(pair[0]) < scale.px(pair[1]));
        }
        for &value in values.iter().filter(|value| value.is_finite()) {
            assert!((0..1_000).contains(&scale.px(value)), "{value}");
        }
    }

    #[test]
    fn scales() {
        check(&[25.9, 26.7, 46.0], false, &[0.0, 20.0, 40.0]);
        check(&[1.0, 100.0], false, &[0.0, 50.0, 100.0]);
        check(&[238.8, 143_464.0, 81_400.0], true, &[100.0, 1e3, 1e4, 1e5]);
        check(&[], false, &[0.0, 0.5, 1.0]);
        check(&[f64::NAN, f64::INFINITY, -3.0, 0.0], false, &[0.0, 0.5, 1.0]);
        check(&[1.0, 1e12], true, &[0.1, 1e2, 1e5, 1e8, 1e11]);
    }
}
