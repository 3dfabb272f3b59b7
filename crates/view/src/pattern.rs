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

/// [CSS px] Every pattern repeats after so many, in both directions.
const PERIOD: usize = 60;

/// For each pattern and row of its period the marks as bits, for a division by each period would take longer than to
/// paint the pixel.
static TILES: [[u64; PERIOD]; Pattern::ALL.len()] = tiles();

const fn tiles() -> [[u64; PERIOD]; Pattern::ALL.len()] {
    let mut tiles = [[0; PERIOD]; Pattern::ALL.len()];
    let mut pattern = 0;
    while pattern < tiles.len() {
        let mut at = 0;
        while at < PERIOD * PERIOD {
            let (x, y) = (at % PERIOD, at / PERIOD);
            if Pattern::ALL[pattern].marks(x, y, 1) {
                tiles[pattern][y] |= 1 << x;
            }
            at += 1;
        }
        pattern += 1;
    }
    tiles
}

/// The rows of a pattern from one row on, for painting downwards.
pub(crate) struct Rows {
    tile: &'static [u64; PERIOD],
    unit: usize,
    /// [CSS px] Within the period.
    row: usize,
    /// [px] Within the row.
    part: usize,
}

impl Rows {
    /// Of a pattern, from this pixel row on.
    pub(crate) fn new(pattern: Pattern, y: usize, unit: usize) -> Self {
        let unit = unit.max(1);
        Self { tile: &TILES[pattern as usize], unit, row: y / unit % PERIOD, part: y % unit }
    }

    /// The marks of the next pixel row, a bit for each CSS pixel of the period.
    pub(crate) fn next_row(&mut self) -> u64 {
        let marks = self.tile[self.row];
        self.part += 1;
        if self.part == self.unit {
            self.part = 0;
            self.row = if self.row + 1 == PERIOD { 0 } else { self.row + 1 };
        }
        marks
    }

    /// The bit of a pixel column in them.
    pub(crate) fn bit(x: usize, unit: usize) -> u64 {
        1 << (x / unit.max(1) % PERIOD)
    }
}

impl Pattern {
    /// In the order of their numbers.
    const ALL: [Self; 8] = [
        Self::Solid,
        Self::Outline,
        Self::Dots,
        Self::Diagonal,
        Self::Horizontal,
        Self::Vertical,
        Self::CrossHatch,
        Self::Cross,
    ];

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

    #[test]
    fn rows_have_the_marks() {
        for (number, pattern) in Pattern::ALL.into_iter().enumerate() {
            assert_eq!(pattern as usize, number);
            for unit in 1..4 {
                let mut rows = Rows::new(pattern, 7, unit);
                for y in 7..7 + 2 * PERIOD * unit {
                    let marks = rows.next_row();
                    for x in 0..2 * PERIOD * unit {
                        let marked = marks & Rows::bit(x, unit) != 0;
                        assert_eq!(marked, pattern.marks(x, y, unit), "{pattern:?} {x} {y} {unit}");
                    }
                }
            }
        }
    }

    fn picture(pattern: Pattern, unit: usize) -> Vec<bool> {
        let size = 12 * unit;
        (0..size * size).map(|i| pattern.marks(i % size, i / size, unit)).collect()
    }

    #[test]
    fn marks_differ_and_leave_most_of_the_area() {
        for (i, &pattern) in Pattern::ALL.iter().enumerate() {
            let marks = picture(pattern, 1);
            let marked = marks.iter().filter(|&&mark| mark).count();
            assert!(marked * 2 < marks.len(), "{pattern:?} covers {marked} of {}", marks.len());
            for &other in &Pattern::ALL[i + 1..] {
                let both_plain = matches!((pattern, other), (Pattern::Solid, Pattern::Outline));
                assert_eq!(marks == picture(other, 1), both_plain, "{pattern:?} and {other:?}");
            }
        }
    }

    #[test]
    fn marks_grow_with_the_pixel_ratio() {
        for pattern in Pattern::ALL {
            let (one, two) = (picture(pattern, 1), picture(pattern, 2));
            let count = |marks: &[bool]| marks.iter().filter(|&&mark| mark).count();
            assert_eq!(count(&two), 4 * count(&one), "{pattern:?}");
        }
        assert_eq!(picture(Pattern::Diagonal, 1), (0..144).map(|i| (i % 12 + i / 12) % 5 == 0).collect::<Vec<_>>());
    }
}
