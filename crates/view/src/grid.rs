//! Every task as a dot, coloured by its state: where the dots are, what they look like, which one is under the pointer.

use std::ops::Range;

use parkbench_engine::TaskState;

use crate::palette::{Theme, state_pattern};
use crate::pattern::{MARK_ALPHA, Pattern};
use crate::surface::Surface;

/// Where the dots are. Task 0 is at the top left, and tasks go on along the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridLayout {
    /// Number of tasks.
    pub tasks: usize,
    /// [px] Width of the picture.
    pub width: usize,
    /// [px] Height of the picture.
    pub height: usize,
    /// Dots in a row.
    pub columns: usize,
    /// Rows of dots.
    pub rows: usize,
    /// [px] From one dot to the next.
    pub cell: usize,
    /// [px] Size of a dot.
    pub dot: usize,
    /// [px] Left edge of the first dot's cell.
    pub left: usize,
    /// [px] Top edge of the first dot's cell.
    pub top: usize,
    /// Tasks that share a dot; more than 1 only where there are more tasks than pixels.
    pub tasks_per_dot: usize,
}

/// [px] A few tasks do not fill the picture; larger dots would only be slower.
const LARGEST_CELL: usize = 64;

impl GridLayout {
    /// The largest dots with which all tasks fit; rows of a multiple of ten where that fits too.
    pub fn fit(tasks: usize, width_px: usize, height_px: usize) -> Self {
        let pixels = width_px.saturating_mul(height_px);
        let tasks_per_dot = tasks.div_ceil(pixels.max(1)).max(1);
        let dots = tasks.div_ceil(tasks_per_dot);
        let fits = |cell: usize| (width_px / cell) * (height_px / cell) >= dots;
        let most = width_px.min(height_px).clamp(1, LARGEST_CELL);
        let mut cell = ((pixels as f64 / dots.max(1) as f64).sqrt() as usize).clamp(1, most);
        while cell > 1 && !fits(cell) {
            cell -= 1;
        }
        let widest = (width_px / cell).max(1);
        let tens = widest / 10 * 10;
        let columns = if tens > 0 && dots.div_ceil(tens) * cell <= height_px { tens } else { widest };
        let columns = columns.min(dots.max(1));
        let rows = dots.div_ceil(columns);
        let gap = match cell {
            0..=2 => 0,
            3..=7 => 1,
            8..=15 => 2,
            more => more / 6,
        };
        Self {
            tasks,
            width: width_px,
            height: height_px,
            columns,
            rows,
            cell,
            dot: cell - gap,
            left: width_px.saturating_sub(columns * cell) / 2,
            top: height_px.saturating_sub(rows * cell) / 2,
            tasks_per_dot,
        }
    }

    /// The task under a point of the picture, in pixels; the gap around a dot belongs to it. Of several tasks on one
    /// dot the first.
    pub fn hit(&self, x: f64, y: f64) -> Option<u32> {
        let (x, y) = (x - self.left as f64, y - self.top as f64);
        if !(x >= 0.0 && y >= 0.0) {
            return None;
        }
        let (column, row) = (x as usize / self.cell, y as usize / self.cell);
        if column >= self.columns || row >= self.rows {
            return None;
        }
        let task = (row * self.columns + column) * self.tasks_per_dot;
        (task < self.tasks).then_some(task as u32)
    }

    /// [px] Left and top edge of the dot of a task; its size is `dot`.
    pub fn dot_at(&self, task: u32) -> (usize, usize) {
        let dot = task as usize / self.tasks_per_dot;
        let inset = (self.cell - self.dot) / 2;
        (self.left + dot % self.columns * self.cell + inset, self.top + dot / self.columns * self.cell + inset)
    }
}

/// Paints the whole picture: background and one dot for each task, by `TaskState` as its number.
///
/// `rgba` holds `width * height * 4` bytes of the layout. A dot that several tasks share shows the one that least may
/// be hidden. A number that is no state is shown as pending.
pub fn paint(rgba: &mut [u8], layout: &GridLayout, states: &[u8], theme: Theme) {
    let mut surface = Surface::new(rgba, layout.width, layout.height, 1);
    surface.fill(0..layout.width, 0..layout.height, theme.background());
    if layout.dot == 0 {
        return;
    }
    let sprites = TaskState::ALL.map(|state| sprite(state, layout.dot, theme));
    let inset = (layout.cell - layout.dot) / 2;
    let dots = states[..layout.tasks.min(states.len())].chunks(layout.tasks_per_dot);
    for (row, row_dots) in dots.collect::<Vec<_>>().chunks(layout.columns).enumerate() {
        let y = layout.top + row * layout.cell + inset;
        for (column, dot) in row_dots.iter().enumerate() {
            let state = if let [only] = dot { *only } else { loudest(dot) };
            let sprite = sprites.get(state as usize).unwrap_or(&sprites[0]);
            surface.blit(layout.left + column * layout.cell + inset, y, sprite, layout.dot);
        }
    }
}

/// One dot as RGBA pixels, `size * size`; for the grid and for the legend.
///
/// A task in flight is a full dot, a queued one a small dot, and a pending one a ring: how many are under way is seen
/// before any colour is. Below 10 px, where nothing is much smaller than anything else, a queued dot is paler too. From
/// 5 px on every state has its own mark as well.
pub fn sprite(state: TaskState, size: usize, theme: Theme) -> Vec<u8> {
    let (colour, background) = (theme.state(state), theme.background());
    let mark = colour.over(background, MARK_ALPHA);
    let pattern = state_pattern(state);
    let mut rgba = Vec::with_capacity(size * size * 4);
    for (y, x) in (0..size).flat_map(|y| (0..size).map(move |x| (y, x))) {
        let ink = if size < 5 { Ink::Full } else { ink(pattern, x, y, size) };
        let alpha = match pattern {
            Pattern::Outline if size >= 3 => {
                let edge = (size / 6).max(1);
                coverage(x, y, &(0..size)).saturating_sub(coverage(x, y, &(edge..size - edge)))
            }
            Pattern::Dots if size < 10 => coverage(x, y, &queued_span(size)) / 5 * 3,
            Pattern::Dots => coverage(x, y, &queued_span(size)),
            _ => coverage(x, y, &(0..size)),
        };
        let pixel = match ink {
            Ink::Full => colour.over(background, alpha),
            Ink::Mark => mark.over(background, alpha),
            Ink::None => background,
        };
        rgba.extend(pixel.rgba());
    }
    rgba
}

/// [px] Where the small dot of a queued task lies in the place of a dot: about half as wide, in the middle if it can.
fn queued_span(size: usize) -> Range<usize> {
    match size {
        0 | 1 => 0..size,
        2 | 3 => 0..size - 1,
        4 => 1..3,
        more => more * 55 / 200..more - more * 55 / 200,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Ink {
    Full,
    Mark,
    None,
}

/// The mark inside a dot of at least 5 px; it is centred, because a pattern of the picture would be cut differently
/// by each dot.
fn ink(pattern: Pattern, x: usize, y: usize, size: usize) -> Ink {
    // Twice the distance from the middle, so that even sizes have a middle too.
    let (dx, dy) = ((2 * x + 1).abs_diff(size), (2 * y + 1).abs_diff(size));
    let line = (size / 4).max(1) + usize::from(size.is_multiple_of(2));
    let slant = (size / 6).max(1);
    let (falling, rising) = (x.abs_diff(y) < slant, (x + y + 1).abs_diff(size) < slant);
    let marked = match pattern {
        Pattern::Solid | Pattern::Outline | Pattern::Dots => false,
        Pattern::Diagonal => rising,
        Pattern::Horizontal => dy < line,
        Pattern::Vertical => dx < line,
        Pattern::CrossHatch => falling || rising,
        // The other way round: the cross is inked and the rest is empty.
        Pattern::Cross => return if falling || rising { Ink::Full } else { Ink::None },
    };
    if marked { Ink::Mark } else { Ink::Full }
}

/// How much of a pixel lies inside a dot that fills `span` both ways, 0 to 255: a square, from 4 px on with round
/// corners.
fn coverage(x: usize, y: usize, span: &Range<usize>) -> u8 {
    const SAMPLES: usize = 4;
    if !(span.contains(&x) && span.contains(&y)) {
        return 0;
    }
    let (size, inset, end) = (span.len(), span.start, span.end);
    if size < 4 {
        return 255;
    }
    let (half, radius) = (size as f64 / 2.0, size as f64 * 0.36);
    let corner = |at: usize| ((at - inset) as f64) < radius || ((end - at) as f64) <= radius;
    if !(corner(x) && corner(y)) {
        return 255;
    }
    let mut hits = 0;
    for sample in 0..SAMPLES * SAMPLES {
        let at = |pixel: usize, sample: usize| (pixel - inset) as f64 + (sample as f64 + 0.5) / SAMPLES as f64;
        let beyond = |at: f64| ((at - half).abs() - (half - radius)).max(0.0);
        let (bx, by) = (beyond(at(x, sample % SAMPLES)), beyond(at(y, sample / SAMPLES)));
        hits += usize::from(bx * bx + by * by <= radius * radius);
    }
    (hits * 255 / (SAMPLES * SAMPLES)) as u8
}

/// Of several states the one that least may be hidden.
fn loudest(states: &[u8]) -> u8 {
    let rank = |state: u8| match TaskState::from_u8(state) {
        Some(TaskState::Failed) => 8,
        Some(TaskState::Blocked) => 7,
        Some(TaskState::LockWait) => 6,
        Some(TaskState::Preempted) => 5,
        Some(TaskState::Running) => 4,
        Some(TaskState::Waiting) => 3,
        Some(TaskState::Queued) => 2,
        Some(TaskState::Pending) => 1,
        Some(TaskState::Done) | None => 0,
    };
    states.iter().copied().max_by_key(|&state| rank(state)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::Rgb;
    use proptest::prelude::*;

    fn pixel(rgba: &[u8], layout: &GridLayout, x: usize, y: usize) -> Rgb {
        let start = (y * layout.width + x) * 4;
        Rgb(rgba[start], rgba[start + 1], rgba[start + 2])
    }

    #[track_caller]
    fn check(tasks: usize, width: usize, height: usize, expect: [usize; 5]) {
        let l = GridLayout::fit(tasks, width, height);
        assert_eq!([l.columns, l.rows, l.cell, l.dot, l.tasks_per_dot], expect, "{tasks} in {width} x {height}");
    }

    #[test]
    fn layouts() {
        check(10_000, 300, 300, [100, 100, 3, 2, 1]);
        check(10_000, 320, 310, [100, 100, 3, 2, 1]);
        check(10_000, 600, 600, [100, 100, 6, 5, 1]);
        check(10_000, 800, 400, [160, 63, 5, 4, 1]);
        check(10_000, 100, 100, [100, 100, 1, 1, 1]);
        check(1, 300, 300, [1, 1, 64, 54, 1]);
        check(0, 300, 300, [1, 0, 64, 54, 1]);
        check(12, 300, 300, [4, 3, 64, 54, 1]);
        check(7, 40, 10, [7, 1, 5, 4, 1]);
        check(1_000_000, 300, 300, [300, 278, 1, 1, 12]);
        check(10, 0, 0, [1, 1, 1, 1, 10]);
    }

    #[test]
    fn a_dot_is_found_where_it_is_painted() {
        let layout = GridLayout::fit(10_000, 600, 600);
        for task in [0, 99, 100, 5_049, 9_999] {
            let (x, y) = layout.dot_at(task);
            assert_eq!(layout.hit(x as f64 + 2.0, y as f64 + 2.0), Some(task));
            let mut states = vec![TaskState::Pending as u8; 10_000];
            states[task as usize] = TaskState::Running as u8;
            let mut rgba = vec![0; 600 * 600 * 4];
            paint(&mut rgba, &layout, &states, Theme::Light);
            let green = Theme::Light.state(TaskState::Running);
            assert_eq!(pixel(&rgba, &layout, x + 2, y + 2), green);
            let lit = rgba.as_chunks::<4>().0.iter().filter(|&&p| p == green.rgba()).count();
            assert!((12..=25).contains(&lit), "{lit} px of one dot");
        }
        assert_eq!([(-1.0, 5.0), (600.0, 5.0), (f64::NAN, 5.0)].map(|(x, y)| layout.hit(x, y)), [None; 3]);
    }

    #[test]
    fn marks_tell_states_apart_without_colour() {
        for size in [5, 6, 7, 8, 12, 16] {
            // Where the full colour is, as a shape.
            let shape = |state| -> Vec<bool> {
                let colour = Theme::Light.state(state).rgba();
                sprite(state, size, Theme::Light).as_chunks::<4>().0.iter().map(|&pixel| pixel == colour).collect()
            };
            for (i, &a) in TaskState::ALL.iter().enumerate() {
                for &b in &TaskState::ALL[i + 1..] {
                    let both_solid = (a, b) == (TaskState::Running, TaskState::Done);
                    assert_eq!(shape(a) == shape(b), both_solid, "{a:?} and {b:?} at {size} px");
                }
            }
        }
    }

    #[test]
    fn a_shared_dot_hides_nothing_severe() {
        let layout = GridLayout::fit(40_000, 100, 100);
        let mut states = vec![TaskState::Done as u8; 40_000];
        states[4 * 77 + 3] = TaskState::Blocked as u8;
        let mut rgba = vec![0; 100 * 100 * 4];
        paint(&mut rgba, &layout, &states, Theme::Dark);
        let red = Theme::Dark.state(TaskState::Blocked);
        assert_eq!(layout.tasks_per_dot, 4);
        assert_eq!(pixel(&rgba, &layout, 77, 0), red);
    }

    proptest! {
        #[test]
        fn every_task_has_its_place(tasks in 0_usize..20_000, width in 0_usize..700, height in 0_usize..700) {
            let layout = GridLayout::fit(tasks, width, height);
            if width > 0 && height > 0 && tasks > 0 {
                prop_assert!(layout.left + layout.columns * layout.cell <= width);
                prop_assert!(layout.top + layout.rows * layout.cell <= height);
                for task in [0, tasks / 2, tasks - 1] {
                    let task = task / layout.tasks_per_dot * layout.tasks_per_dot;
                    let (x, y) = layout.dot_at(task as u32);
                    prop_assert_eq!(layout.hit(x as f64, y as f64), Some(task as u32));
                }
            }
            let mut rgba = vec![0; width * height * 4];
            let states: Vec<u8> = (0..tasks).map(|i| (i % 11) as u8).collect();
            paint(&mut rgba, &layout, &states, Theme::Light);
            prop_assert!(rgba.as_chunks::<4>().0.iter().all(|pixel| pixel[3] == 255));
        }
    }
}
