//! The visible part of the time axis: between times and pixels, moved and zoomed.
//!
//! Every change gives a new view; what holds the current one is the page.

/// A part of the time axis, drawn over a number of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeView {
    /// [ns] Left edge.
    pub from_ns: u64,
    /// [ns] Right edge.
    pub to_ns: u64,
    /// [px] Width.
    pub width_px: u32,
}

/// [ns] The shortest range that can be zoomed to.
pub const MIN_RANGE_NS: u64 = 10;

impl TimeView {
    /// Everything from 0 to the end.
    pub fn all(end_ns: u64, width_px: u32) -> Self {
        Self { from_ns: 0, to_ns: end_ns, width_px }
    }

    /// [ns] Length of the range.
    pub fn range_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    /// [px] Where a time is; outside `0..=width_px` for a time outside the view.
    pub fn to_px(&self, t_ns: u64) -> f64 {
        let offset = i128::from(t_ns) - i128::from(self.from_ns);
        offset as f64 * f64::from(self.width_px) / self.range_ns().max(1) as f64
    }

    /// [ns] The time at a pixel, at least 0.
    pub fn to_ns(&self, px: f64) -> u64 {
        let offset = px * self.range_ns() as f64 / f64::from(self.width_px.max(1));
        // A float saturates when it becomes an integer, and NaN becomes 0.
        let offset = offset.round() as i64;
        self.from_ns.saturating_add_signed(offset)
    }

    /// Moved to the right by a number of pixels, within `0..=end_ns`.
    #[must_use]
    pub fn pan(&self, delta_px: f64, end_ns: u64) -> Self {
        let range = self.range_ns().min(end_ns);
        let from_ns = self.to_ns(delta_px).min(end_ns - range);
        Self { from_ns, to_ns: from_ns + range, ..*self }
    }

    /// Zoomed so that the range becomes `factor` times as long and the time at `px` stays where it is, as far as
    /// `0..=end_ns` allows.
    #[must_use]
    pub fn zoom_at(&self, px: f64, factor: f64, end_ns: u64) -> Self {
        let share = (px / f64::from(self.width_px.max(1))).clamp(0.0, 1.0);
        let share = if share.is_nan() { 0.5 } else { share };
        let factor = if factor.is_nan() { 1.0 } else { factor.max(0.0) };
        let wanted = (self.range_ns() as f64 * factor).round() as u64;
        let range = wanted.max(MIN_RANGE_NS).min(end_ns);
        let fixed = self.from_ns.saturating_add((self.range_ns() as f64 * share) as u64);
        let from_ns = fixed.saturating_sub((range as f64 * share) as u64).min(end_ns - range);
        Self { from_ns, to_ns: from_ns + range, ..*self }
    }

    /// The same range around a time.
    #[must_use]
    pub fn centre_on(&self, t_ns: u64, end_ns: u64) -> Self {
        let range = self.range_ns().min(end_ns);
        let from_ns = t_ns.saturating_sub(range / 2).min(end_ns - range);
        Self { from_ns, to_ns: from_ns + range, ..*self }
    }

    /// The same range over another width.
    #[must_use]
    pub fn with_width(&self, width_px: u32) -> Self {
        Self { width_px, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VIEW: TimeView = TimeView { from_ns: 1_000, to_ns: 2_000, width_px: 500 };

    #[test]
    fn times_and_pixels() {
        for (px, ns) in [(0.0, 1_000), (250.0, 1_500), (500.0, 2_000), (-100.0, 800), (-501.0, 0), (f64::NAN, 1_000)] {
            assert_eq!(VIEW.to_ns(px), ns, "{px} px");
        }
        assert!((VIEW.to_px(1_500) - 250.0).abs() < 1e-9);
        assert!((VIEW.to_px(800) + 100.0).abs() < 1e-9);
    }

    #[test]
    fn moves_stay_inside() {
        let range = |view: TimeView| (view.from_ns, view.to_ns);
        for (delta, expect) in [(100.0, (1_200, 2_200)), (-9e9, (0, 1_000)), (9e9, (9_000, 10_000))] {
            assert_eq!(range(VIEW.pan(delta, 10_000)), expect, "pan {delta}");
        }
        for (px, factor, expect) in [
            (250.0, 0.5, (1_250, 1_750)),
            (0.0, 0.5, (1_000, 1_500)),
            (500.0, 2.0, (0, 2_000)),
            (250.0, 1e12, (0, 10_000)),
            (250.0, 0.0, (1_495, 1_505)),
            (250.0, f64::NAN, (1_000, 2_000)),
        ] {
            assert_eq!(range(VIEW.zoom_at(px, factor, 10_000)), expect, "zoom {factor} at {px}");
        }
        assert_eq!(range(VIEW.centre_on(9_999, 10_000)), (9_000, 10_000));
        assert_eq!(range(VIEW.zoom_at(0.0, 0.0, 3)), (0, 3));
    }

    proptest! {
        #[test]
        fn any_move_keeps_order_and_bounds(
            from in 0_u64..1 << 50, range in 0_u64..1 << 50, width in 0_u32..5_000, px in -1e4_f64..1e4,
            factor in 0.01_f64..100.0, end in 0_u64..1 << 50,
        ) {
            let view = TimeView { from_ns: from, to_ns: from + range, width_px: width };
            for next in [view.pan(px, end), view.zoom_at(px, factor, end), view.centre_on(from, end)] {
                prop_assert!(next.from_ns <= next.to_ns && next.to_ns <= end);
            }
        }
    }
}
