//! Tasks by state over time as a stacked area, one pixel column per bucket.
//!
//! The stack from the bottom: done and failed, then what holds a worker (running, blocked, waiting for a lock,
//! preempted), then what does not (waiting, queued), and pending on top. So finished work fills up from below, work to
//! come drains from above, and the band between the two is the number of tasks in flight.

use std::ops::Range;

use parkbench_engine::TaskState;
use parkbench_trace::STATES;

use crate::palette::{Theme, state_pattern};
use crate::pattern::Pattern;
use crate::surface::Surface;

/// The states from the bottom of the stack to its top.
pub const STACK: [TaskState; STATES] = [
    TaskState::Done,
    TaskState::Failed,
    TaskState::Running,
    TaskState::Blocked,
    TaskState::LockWait,
    TaskState::Preempted,
    TaskState::Waiting,
    TaskState::Queued,
    TaskState::Pending,
];

/// From this height on a band shows its pattern, in CSS pixels.
const PATTERN_FROM: usize = 6;

/// Paints the columns of [`parkbench_trace::density`] into the whole surface, column `i` at pixel column `i`.
///
/// A state that any task was in gets at least one pixel, taken from the tallest band: a few running tasks of 10,000
/// stay visible, and a band of one pixel means "some". Columns that are missing stay background.
pub fn paint(surface: &mut Surface<'_>, columns: &[[f32; STATES]], theme: Theme) {
    let (width, height) = (surface.width(), surface.height());
    let background = theme.background();
    surface.fill(0..width, 0..height, background);
    for (x, column) in columns.iter().take(width).enumerate() {
        for (state, rows) in bands(column, height) {
            let colour = theme.state(state);
            let tall = rows.len() >= PATTERN_FROM * surface.unit();
            match state_pattern(state) {
                Pattern::Outline => {
                    surface.fill(x..x + 1, rows.clone(), colour.over(background, 96));
                    // Its edge is where the next state begins.
                    let edge = rows.end.saturating_sub(surface.unit()).max(rows.start);
                    surface.fill(x..x + 1, edge..rows.end, colour);
                }
                pattern if tall => surface.fill_pattern(x..x + 1, rows, colour, pattern, background),
                _ => surface.fill(x..x + 1, rows, colour),
            }
        }
    }
}

/// Pixel rows of each state that is present in a column, from the bottom of the stack; together they fill `height`.
pub fn bands(column: &[f32; STATES], height: usize) -> Vec<(TaskState, Range<usize>)> {
    let share = |state: TaskState| f64::from(column[state as usize].max(0.0));
    let total: f64 = STACK.iter().map(|&state| share(state)).sum();
    if total <= 0.0 || height == 0 {
        return Vec::new();
    }
    // Rounding the running sum, not each height, keeps the total exact.
    let mut sum = 0.0;
    let mut before = 0;
    let mut heights = STACK.map(|state| {
        sum += share(state);
        let edge = ((sum / total * height as f64).round() as usize).min(height);
        let rows = edge.saturating_sub(before);
        before = edge.max(before);
        rows
    });
    for i in 0..STATES {
        if heights[i] == 0 && share(STACK[i]) > 0.0 {
            let tallest = (0..STATES).max_by_key(|&j| heights[j]).unwrap_or(0);
            if heights[tallest] > 1 {
                heights[tallest] -= 1;
                heights[i] += 1;
            }
        }
    }
    let mut bottom = height;
    let mut bands = Vec::with_capacity(STATES);
    for (state, rows) in STACK.into_iter().zip(heights) {
        if rows > 0 {
            bands.push((state, bottom - rows..bottom));
            bottom -= rows;
        }
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(column: &[(TaskState, f32)], height: usize, expect: &[(TaskState, Range<usize>)]) {
        let mut counts = [0.0; STATES];
        for &(state, count) in column {
            counts[state as usize] = count;
        }
        assert_eq!(bands(&counts, height), expect);
    }

    #[test]
    fn twelve_of_ten_thousand_stay_visible() {
        use TaskState::{Blocked, Done, Queued};
        check(
            &[(Queued, 8_988.0), (Blocked, 12.0), (Done, 1_000.0)],
            60,
            &[(Done, 54..60), (Blocked, 53..54), (Queued, 0..53)],
        );
        check(&[(Queued, 1.0), (Blocked, 1.0), (Done, 2.0)], 8, &[(Done, 4..8), (Blocked, 2..4), (Queued, 0..2)]);
        check(&[], 60, &[]);
        check(&[(Queued, 1.0)], 0, &[]);
    }

    #[test]
    fn pixels_show_the_bands() {
        let mut column = [0.0; STATES];
        column[TaskState::Running as usize] = 3.0;
        column[TaskState::Done as usize] = 1.0;
        let mut rgba = [0; 2 * 4 * 4];
        paint(&mut Surface::new(&mut rgba, 2, 4, 1), &[column], Theme::Light);
        let (green, grey) = (Theme::Light.state(TaskState::Running), Theme::Light.state(TaskState::Done));
        let left: Vec<_> = rgba.as_chunks::<4>().0.iter().step_by(2).copied().collect();
        assert_eq!(left, [green.rgba(), green.rgba(), green.rgba(), grey.rgba()]);
        assert_eq!(rgba[4..8], Theme::Light.background().rgba());
    }

    proptest! {
        #[test]
        fn bands_fill_the_height_and_miss_no_state(counts in prop::array::uniform9(0_u32..50), height in 1_usize..80) {
            let column = counts.map(|n| if n < 25 { 0.0 } else { (n - 24).pow(3) as f32 });
            let bands = bands(&column, height);
            let present = column.iter().filter(|&&n| n > 0.0).count();
            prop_assert_eq!(bands.iter().map(|(_, rows)| rows.len()).sum::<usize>(), if present > 0 { height } else { 0 });
            prop_assert_eq!(bands.len(), present.min(height));
            for pair in bands.windows(2) {
                prop_assert_eq!(pair[0].1.start, pair[1].1.end);
            }
            // Nobody is further from its exact height than the pixels that others needed.
            for (state, rows) in &bands {
                let exact = f64::from(column[*state as usize]) / f64::from(column.iter().sum::<f32>()) * height as f64;
                prop_assert!((rows.len() as f64 - exact).abs() <= 1.0 + present as f64);
            }
        }
    }
}
