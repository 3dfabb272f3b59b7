//! What a thread did as a row of pixel columns.
//!
//! A column with one span is filled with its activity. A column with several shows their shares from the bottom up,
//! and above them a strip in the colour of the most severe one, so that merging hides nothing.

use std::ops::{Deref, Range};

use parkbench_engine::Activity;
use parkbench_trace::{ACTIVITIES, LaneCell};

use crate::palette::{Theme, activity_pattern};
use crate::surface::Surface;

/// Activities from the bottom of a merged column to its top.
pub const STACK: [Activity; ACTIVITIES] = [
    Activity::Running,
    Activity::Blocked,
    Activity::Preempted,
    Activity::Overhead,
    Activity::Waking,
    Activity::Idle,
    Activity::Absent,
];

/// From this height on a lane shows patterns, in CSS pixels.
const PATTERN_FROM: usize = 6;

/// Paints one lane into the pixel rows `rows`, cell `i` at pixel column `left + i`.
pub fn paint(surface: &mut Surface<'_>, left: usize, rows: Range<usize>, cells: &[LaneCell], theme: Theme) {
    let background = theme.background();
    let patterns = rows.len() >= PATTERN_FROM * surface.unit();
    for (x, cell) in (left..).zip(cells) {
        if x >= surface.width() {
            break;
        }
        for (activity, part) in parts(cell, rows.clone(), surface.unit()).iter().cloned() {
            let colour = theme.activity(activity);
            if patterns && part.len() >= PATTERN_FROM * surface.unit() {
                surface.fill_pattern(x..x + 1, part, colour, activity_pattern(activity), background);
            } else {
                surface.fill(x..x + 1, part, colour);
            }
        }
    }
}

/// The parts of one cell, for which a list on the heap would take longer than to paint them.
#[derive(Clone, Debug)]
pub struct Parts {
    all: [(Activity, Range<usize>); ACTIVITIES + 1],
    count: usize,
}

impl Default for Parts {
    fn default() -> Self {
        Self { all: [const { (Activity::Absent, 0..0) }; ACTIVITIES + 1], count: 0 }
    }
}

impl Parts {
    /// The caller adds each activity once, and the strip.
    fn push(&mut self, activity: Activity, rows: Range<usize>) {
        self.all[self.count] = (activity, rows);
        self.count += 1;
    }
}

impl Deref for Parts {
    type Target = [(Activity, Range<usize>)];

    fn deref(&self) -> &Self::Target {
        &self.all[..self.count]
    }
}

/// Pixel rows of a cell by activity: the strip of the most severe one on top if the cell is merged, then the shares.
pub fn parts(cell: &LaneCell, rows: Range<usize>, unit: usize) -> Parts {
    let mut parts = Parts::default();
    if cell.spans <= 1 {
        parts.push(cell.dominant, rows);
        return parts;
    }
    let strip = (rows.len() / 5).clamp(1, 3 * unit.max(1)).min(rows.len());
    let body = rows.start + strip..rows.end;
    parts.push(cell.worst, rows.start..body.start);
    let (mut sum, mut bottom) = (0.0, body.end);
    for activity in STACK {
        sum += f64::from(cell.share[activity as usize]);
        let edge = body.end - ((sum * body.len() as f64).round() as usize).min(body.len());
        if edge < bottom {
            parts.push(activity, edge..bottom);
            bottom = edge;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use parkbench_engine::NO_TASK;

    fn cell(spans: u32, dominant: Activity, worst: Activity, shares: &[(Activity, f32)]) -> LaneCell {
        let mut share = [0.0; ACTIVITIES];
        for &(activity, part) in shares {
            share[activity as usize] = part;
        }
        LaneCell { share, spans, dominant, worst, task: NO_TASK }
    }

    #[test]
    fn a_single_span_fills_its_column() {
        use Activity::Running;
        assert_eq!(*parts(&cell(1, Running, Running, &[(Running, 1.0)]), 4..14, 1), [(Running, 4..14)]);
    }

    #[test]
    fn a_merged_column_shows_shares_and_its_worst_part() {
        use Activity::{Blocked, Idle, Running};
        let cell = cell(9, Running, Blocked, &[(Running, 0.5), (Blocked, 0.01), (Idle, 0.49)]);
        assert_eq!(*parts(&cell, 0..10, 1), [(Blocked, 0..2), (Running, 6..10), (Idle, 2..6)]);
        // In a lane of one pixel only the worst part is left.
        assert_eq!(*parts(&cell, 3..4, 1), [(Blocked, 3..4)]);
        assert_eq!(parts(&cell, 3..3, 1).iter().map(|(_, rows)| rows.len()).sum::<usize>(), 0);
    }

    #[test]
    fn pixels_are_those_parts() {
        use Activity::{Blocked, Running};
        let cells = [
            cell(1, Running, Running, &[(Running, 1.0)]),
            cell(2, Running, Blocked, &[(Running, 0.75), (Blocked, 0.25)]),
        ];
        let mut rgba = [0; 3 * 5 * 4];
        paint(&mut Surface::new(&mut rgba, 3, 5, 1), 1, 0..5, &cells, Theme::Light);
        let (green, red) = (Theme::Light.activity(Running).rgba(), Theme::Light.activity(Blocked).rgba());
        let column = |x: usize| -> Vec<[u8; 4]> { rgba.as_chunks::<4>().0[x..].iter().step_by(3).copied().collect() };
        assert_eq!(column(0), [[0; 4]; 5]);
        assert_eq!(column(1), [green; 5]);
        assert_eq!(column(2), [red, red, green, green, green]);
    }
}
