//! The part of the time axis in view, shared by all models. Every operation returns a new window.

/// [ns] The narrowest window.
const NARROWEST_NS: u64 = 100;

/// A part of the time axis, `from` < `to` unless the axis is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// [ns] The left edge.
    pub from: u64,
    /// [ns] The right edge.
    pub to: u64,
}

impl Window {
    /// The window between two times, cut to `0..=end` and at least [`NARROWEST_NS`] wide where the axis allows it.
    pub fn clamped(from: u64, to: u64, end: u64) -> Self {
        let width = to.saturating_sub(from).clamp(NARROWEST_NS.min(end), end);
        let from = from.min(end - width);
        Self { from, to: from + width }
    }

    /// The whole axis.
    pub fn all(end: u64) -> Self {
        Self { from: 0, to: end }
    }

    /// [ns]
    pub fn width(self) -> u64 {
        self.to - self.from
    }

    /// Moves by a share of the width in per mille; negative is earlier.
    #[must_use]
    pub fn pan(self, per_mille: i64, end: u64) -> Self {
        let shift = i128::from(self.width()) * i128::from(per_mille) / 1_000;
        let from = (i128::from(self.from) + shift).clamp(0, i128::from(end.saturating_sub(self.width())));
        Self::clamped(from as u64, from as u64 + self.width(), end)
    }

    /// Scales the width by `numerator / 1000` around a time that stays where it is on the screen.
    #[must_use]
    pub fn zoom(self, around: u64, numerator: u64, end: u64) -> Self {
        let around = around.clamp(self.from, self.to);
        let width = (u128::from(self.width()) * u128::from(numerator) / 1_000)
            .clamp(u128::from(NARROWEST_NS.min(end)), u128::from(end));
        let left =
            if self.width() == 0 { 0 } else { u128::from(around - self.from) * width / u128::from(self.width()) };
        let from = u128::from(around).saturating_sub(left) as u64;
        Self::clamped(from, from + width as u64, end)
    }

    /// Where playing goes on when the clock has left the window: a window from 0 grows to twice its width, any other
    /// one moves on by its width.
    #[must_use]
    pub fn follow(self, now: u64, end: u64) -> Self {
        if self.from == 0 {
            let mut to = self.to.max(1);
            while to < now && to < end {
                to = to.saturating_mul(2);
            }
            Self::clamped(0, to, end)
        } else {
            Self::clamped(now, now.saturating_add(self.width()), end)
        }
    }

    /// The position of a time in the window, 0 to 1 inside of it.
    pub fn share(self, at: u64) -> f64 {
        if self.width() == 0 {
            return 0.0;
        }
        (at as f64 - self.from as f64) / self.width() as f64
    }

    /// The time at a position; positions outside of 0 to 1 are cut.
    pub fn at(self, share: f64) -> u64 {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        (self.from + (self.width() as f64 * share).round() as u64).min(self.to)
    }

    /// The window to open with: everything, unless the slowest run takes more than 8 times as long as the next; then
    /// 1.2 times the next, so that the ends of the others can be told apart.
    pub fn opening(ends: &[u64]) -> Self {
        let mut ends = ends.to_vec();
        ends.sort_unstable();
        match ends.as_slice() {
            [] => Self::default(),
            [.., next, last] if *last > next.saturating_mul(8) && *next > 0 => Self::clamped(0, next / 5 * 6, *last),
            [.., last] => Self::all(*last),
        }
    }

    /// The still to open with: a seventh into the opening window, where tasks have started and none of the models is
    /// through.
    pub fn opening_time(self) -> u64 {
        self.from + self.width() / 7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: u64 = 1_000_000;

    #[track_caller]
    fn check(got: Window, expect: (u64, u64)) {
        assert_eq!((got.from, got.to), expect);
    }

    #[test]
    fn panning_stays_on_the_axis() {
        let window = Window { from: 100_000, to: 300_000 };
        check(window.pan(500, END), (200_000, 400_000));
        check(window.pan(-1_000, END), (0, 200_000));
        check(window.pan(100_000, END), (800_000, 1_000_000));
    }

    #[test]
    fn zooming_keeps_the_pointer_in_place() {
        let window = Window { from: 100_000, to: 300_000 };
        check(window.zoom(150_000, 500, END), (125_000, 225_000));
        check(window.zoom(150_000, 2_000, END), (50_000, 450_000));
        check(window.zoom(150_000, 1_000_000, END), (0, 1_000_000));
        check(window.zoom(150_000, 0, END), (149_975, 150_075));
    }

    #[test]
    fn playing_on_doubles_or_pages() {
        check(Window { from: 0, to: 1_000 }.follow(1_001, END), (0, 2_000));
        check(Window { from: 0, to: 1_000 }.follow(999_999, END), (0, 1_000_000));
        check(Window { from: 500, to: 1_500 }.follow(1_501, END), (1_501, 2_501));
    }

    #[test]
    fn the_opening_window_shows_the_ends_that_can_be_told_apart() {
        check(Window::opening(&[41_900, 70, 120]), (0, 144));
        check(Window::opening(&[26, 46, 26]), (0, 46));
        check(Window::opening(&[5]), (0, 5));
        check(Window::opening(&[]), (0, 0));
    }

    #[test]
    fn an_empty_axis_has_an_empty_window() {
        check(Window::clamped(5, 9, 0), (0, 0));
        check(Window::default().zoom(3, 500, 0), (0, 0));
        check(Window::clamped(0, 5, 50), (0, 50));
    }

    #[test]
    fn positions_read_back() {
        let window = Window { from: 100, to: 300 };
        for at in [100, 150, 299, 300] {
            assert_eq!(window.at(window.share(at)), at);
        }
        assert_eq!(window.at(f64::NAN), 100);
        assert_eq!(window.at(7.0), 300);
    }
}
