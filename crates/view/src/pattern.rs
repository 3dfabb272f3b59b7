//! Patterns that tell states apart without colour, as a test per pixel.
//!
//! A pattern is anchored to the picture, not to the area it fills, so neighbouring columns join without a seam.

/// A pattern within an area of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// The colour alone.
    Solid,
    /// The edge alone.
    Outline,
    /// Dots.
    Dots,
    /// Lines from bottom left to top right.
    Diagonal,
    /// Horizontal lines.
    Horizontal,
    /// Vertical lines.
    Vertical,
    /// Lines both ways.
    CrossHatch,
    /// Wide lines both ways.
    Cross,
}

/// Opacity of the state's colour on the pixels of its pattern; the rest shows the background.
pub const MARK_ALPHA: u8 = 110;

impl Pattern {
    /// Whether the pixel belongs to the pattern's marks; `unit` is the size of one CSS pixel in pixels.
    ///
    /// The marks are lighter than the area and cover less than half of it, so that the state's own colour dominates.
    pub const fn marks(self, x: usize, y: usize, unit: usize) -> bool {
        let unit = if unit == 0 { 1 } else { unit };
        let (x, y) = (x / unit, y / unit);
        match self {
            Self::Solid | Self::Outline => false,
            Self::Dots => y.is_multiple_of(3) && (x + y / 3 * 2).is_multiple_of(4),
            Self::Diagonal => (x + y).is_multiple_of(5),
            Self::Horizontal => y.is_multiple_of(4),
            Self::Vertical => x.is_multiple_of(4),
            Self::CrossHatch => (x + y).is_multiple_of(6) || (x + 6 - y % 6).is_multiple_of(6),
            Self::Cross => (x + y) % 12 < 2 || (x + 12 - y % 12) % 12 < 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Pattern; 8] = [
        Pattern::Solid,
        Pattern::Outline,
        Pattern::Dots,
        Pattern::Diagonal,
        Pattern::Horizontal,
        Pattern::Vertical,
        Pattern::CrossHatch,
        Pattern::Cross,
    ];

    fn picture(pattern: Pattern, unit: usize) -> Vec<bool> {
        let size = 12 * unit;
        (0..size * size).map(|i| pattern.marks(i % size, i / size, unit)).collect()
    }

    #[test]
    fn marks_differ_and_leave_most_of_the_area() {
        for (i, &pattern) in ALL.iter().enumerate() {
            let marks = picture(pattern, 1);
            let marked = marks.iter().filter(|&&mark| mark).count();
            assert!(marked * 2 < marks.len(), "{pattern:?} covers {marked} of {}", marks.len());
            for &other in &ALL[i + 1..] {
                let both_plain = matches!((pattern, other), (Pattern::Solid, Pattern::Outline));
                assert_eq!(marks == picture(other, 1), both_plain, "{pattern:?} and {other:?}");
            }
        }
    }

    #[test]
    fn marks_grow_with_the_pixel_ratio() {
        for pattern in ALL {
            let (one, two) = (picture(pattern, 1), picture(pattern, 2));
            let count = |marks: &[bool]| marks.iter().filter(|&&mark| mark).count();
            assert_eq!(count(&two), 4 * count(&one), "{pattern:?}");
        }
        assert_eq!(picture(Pattern::Diagonal, 1), (0..144).map(|i| (i % 12 + i / 12) % 5 == 0).collect::<Vec<_>>());
    }
}
