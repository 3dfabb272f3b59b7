//! The overview strip with its window: where the window is, what a pointer grabs, what a drag makes of it.
//!
//! The strip itself is painted by `density` over the whole run.

use crate::axis::TimeView;
use crate::palette::Theme;
use crate::surface::Surface;

/// What a pointer on the strip has hold of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grip {
    /// The left edge of the window.
    Left,
    /// The right edge of the window.
    Right,
    /// The window.
    Inside,
    /// The strip beside the window.
    Outside,
}

/// [CSS px] An edge can be grabbed within this distance.
const REACH: f64 = 6.0;

/// [px] Left and right edge of the window of `view` on a strip that shows `0..end_ns` over `width_px`; never narrower
/// than 2 px, so that it stays visible.
pub fn window(view: &TimeView, end_ns: u64, width_px: u32) -> (f64, f64) {
    let strip = TimeView::all(end_ns, width_px);
    let width = f64::from(width_px);
    let left = strip.to_px(view.from_ns).clamp(0.0, (width - 2.0).max(0.0));
    let right = strip.to_px(view.to_ns).clamp(0.0, width).max((left + 2.0).min(width));
    (left, right)
}

/// What a pointer at `px` has hold of; an edge wins over the inside unless the window is too narrow for that.
pub fn grip(view: &TimeView, end_ns: u64, width_px: u32, px: f64, unit: usize) -> Grip {
    let (left, right) = window(view, end_ns, width_px);
    let reach = (REACH * unit as f64).min((right - left) / 3.0).max(1.0);
    if (px - left).abs() <= reach {
        Grip::Left
    } else if (px - right).abs() <= reach {
        Grip::Right
    } else if px > left && px < right {
        Grip::Inside
    } else {
        Grip::Outside
    }
}

/// The view after the grip has been dragged from one pixel of the strip to another.
#[must_use]
pub fn drag(view: &TimeView, end_ns: u64, width_px: u32, grip: Grip, from_px: f64, to_px: f64) -> TimeView {
    let strip = TimeView::all(end_ns, width_px);
    let least = crate::axis::MIN_RANGE_NS.min(end_ns);
    let at = strip.to_ns(to_px).min(end_ns);
    match grip {
        Grip::Left => TimeView { from_ns: at.min(view.to_ns.saturating_sub(least)), ..*view },
        Grip::Right => TimeView { to_ns: at.max(view.from_ns.saturating_add(least)).min(end_ns), ..*view },
        Grip::Inside => {
            let moved = (to_px - from_px) * end_ns as f64 / f64::from(width_px.max(1));
            let range = view.range_ns().min(end_ns);
            let from_ns = view.from_ns.saturating_add_signed(moved.round() as i64).min(end_ns - range);
            TimeView { from_ns, to_ns: from_ns + range, ..*view }
        }
        Grip::Outside => view.centre_on(at, end_ns),
    }
}

/// Dims the strip outside the window and draws its edges, over what has been painted.
pub fn paint_window(surface: &mut Surface<'_>, view: &TimeView, end_ns: u64, theme: Theme) {
    let (width, height, unit) = (surface.width(), surface.height(), surface.unit());
    let (left, right) = window(view, end_ns, width as u32);
    let (left, right) = (left.round() as usize, right.round() as usize);
    surface.dim(0..left, 0..height, theme.background());
    surface.dim(right..width, 0..height, theme.background());
    surface.fill(left..left + unit, 0..height, theme.accent());
    surface.fill(right.saturating_sub(unit)..right, 0..height, theme.accent());
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: TimeView = TimeView { from_ns: 2_000, to_ns: 4_000, width_px: 999 };

    #[test]
    fn grips() {
        for (px, expect) in [
            (20.0, Grip::Left),
            (15.0, Grip::Left),
            (30.0, Grip::Inside),
            (41.0, Grip::Right),
            (60.0, Grip::Outside),
            (3.0, Grip::Outside),
        ] {
            assert_eq!(grip(&VIEW, 10_000, 100, px, 1), expect, "{px} px");
        }
        assert_eq!(window(&TimeView { from_ns: 10_000, to_ns: 10_000, width_px: 1 }, 10_000, 100), (98.0, 100.0));
    }

    #[test]
    fn drags() {
        for (grip, to, expect) in [
            (Grip::Left, 10.0, (1_000, 4_000)),
            (Grip::Left, 90.0, (3_990, 4_000)),
            (Grip::Right, 90.0, (2_000, 9_000)),
            (Grip::Right, 0.0, (2_000, 2_010)),
            (Grip::Inside, 40.0, (3_000, 5_000)),
            (Grip::Inside, 900.0, (8_000, 10_000)),
            (Grip::Outside, 80.0, (7_000, 9_000)),
        ] {
            let view = drag(&VIEW, 10_000, 100, grip, 30.0, to);
            assert_eq!((view.from_ns, view.to_ns), expect, "{grip:?} to {to}");
        }
    }

    #[test]
    fn the_strip_is_dim_outside_the_window() {
        let mut rgba = [0; 10 * 4];
        let view = TimeView { from_ns: 20, to_ns: 60, width_px: 10 };
        paint_window(&mut Surface::new(&mut rgba, 10, 1, 1), &view, 100, Theme::Light);
        let red: Vec<u8> = rgba.as_chunks::<4>().0.iter().map(|pixel| pixel[0]).collect();
        let (dim, edge) = (red[0], Theme::Light.accent().0);
        assert!(dim > 100);
        assert_eq!(red, [dim, dim, edge, 0, 0, edge, dim, dim, dim, dim]);
    }
}
