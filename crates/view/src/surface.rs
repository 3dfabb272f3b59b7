//! A rectangle of RGBA pixels that somebody else owns, with the few operations that the painters need.
//!
//! Everything outside is clipped; nothing here can panic or write out of bounds.

use std::ops::Range;

use crate::palette::Rgb;
use crate::pattern::{MARK_ALPHA, Pattern, Rows};

/// RGBA pixels, rows from the top, without padding.
#[derive(Debug)]
pub struct Surface<'a> {
    rgba: &'a mut [u8],
    width: usize,
    height: usize,
    unit: usize,
}

impl<'a> Surface<'a> {
    /// Wraps `width * height * 4` bytes; a shorter slice holds fewer rows, and the others are not drawn.
    ///
    /// `unit` is the number of pixels in a CSS pixel; patterns and markers grow with it.
    pub fn new(rgba: &'a mut [u8], width: usize, height: usize, unit: usize) -> Self {
        let rows = (rgba.len() / 4).checked_div(width).unwrap_or(0);
        Self { rgba, width, height: height.min(rows), unit: unit.max(1) }
    }

    /// [px] Width.
    pub fn width(&self) -> usize {
        self.width
    }

    /// [px] Height.
    pub fn height(&self) -> usize {
        self.height
    }

    /// [px] Size of a CSS pixel.
    pub fn unit(&self) -> usize {
        self.unit
    }

    /// Fills a rectangle with one colour.
    pub fn fill(&mut self, x: Range<usize>, y: Range<usize>, colour: Rgb) {
        let pixel = colour.rgba();
        if x.len() == 1 {
            return self.column(x.start, &y).for_each(|at| *at = pixel);
        }
        for row in self.rows(&x, &y) {
            row.as_chunks_mut().0.fill(pixel);
        }
    }

    /// Fills a rectangle with a colour and a pattern whose marks show `background` through.
    pub fn fill_pattern(&mut self, x: Range<usize>, y: Range<usize>, colour: Rgb, pattern: Pattern, background: Rgb) {
        let (pixel, mark) = (colour.rgba(), colour.over(background, MARK_ALPHA).rgba());
        let unit = self.unit;
        let mut rows = Rows::new(pattern, y.start, unit);
        if x.len() == 1 {
            let bit = Rows::bit(x.start, unit);
            return self.column(x.start, &y).for_each(|at| *at = if rows.next_row() & bit == 0 { pixel } else { mark });
        }
        for row in self.rows(&x, &y) {
            let marks = rows.next_row();
            for (x, at) in (x.start..).zip(row.as_chunks_mut().0) {
                *at = if marks & Rows::bit(x, unit) == 0 { pixel } else { mark };
            }
        }
    }

    /// Lays a colour over a rectangle at an opacity of two thirds.
    pub fn dim(&mut self, x: Range<usize>, y: Range<usize>, colour: Rgb) {
        for row in self.rows(&x, &y) {
            for at in row.as_chunks_mut().0 {
                let [red, green, blue, _] = *at;
                *at = colour.over(Rgb(red, green, blue), 170).rgba();
            }
        }
    }

    /// Copies rows of RGBA pixels with the top left corner at `(x, y)`; all or nothing of each row.
    pub(crate) fn blit(&mut self, x: usize, y: usize, sprite: &[u8], sprite_width: usize) {
        if sprite_width == 0 || x + sprite_width > self.width {
            return;
        }
        for (row, pixels) in sprite.chunks_exact(sprite_width * 4).enumerate() {
            if y + row < self.height {
                let start = ((y + row) * self.width + x) * 4;
                self.rgba[start..start + pixels.len()].copy_from_slice(pixels);
            }
        }
    }

    /// The pixels of one column, from the top: most of what is painted is a column.
    fn column(&mut self, x: usize, y: &Range<usize>) -> impl Iterator<Item = &mut [u8; 4]> {
        let bottom = if x < self.width { y.end.min(self.height) } else { 0 };
        let count = bottom.saturating_sub(y.start);
        let pixels = self.rgba.as_chunks_mut().0;
        pixels.iter_mut().skip(y.start * self.width + x).step_by(self.width.max(1)).take(count)
    }

    fn rows(&mut self, x: &Range<usize>, y: &Range<usize>) -> impl Iterator<Item = &mut [u8]> {
        let (from, to) = (x.start.min(self.width), x.end.min(self.width));
        let (top, bottom) = (y.start.min(self.height), y.end.min(self.height));
        let rows = self.rgba.chunks_exact_mut((self.width * 4).max(1));
        let visible = if from < to { bottom.saturating_sub(top) } else { 0 };
        rows.skip(top).take(visible).map(move |row| &mut row[from * 4..to * 4])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(x: Range<usize>, y: Range<usize>, expect: &str) {
        let mut rgba = [0; 4 * 3 * 4];
        Surface::new(&mut rgba, 4, 3, 1).fill(x, y, Rgb(9, 9, 9));
        let picture: String = rgba.chunks(4).map(|pixel| if pixel[0] == 9 { '#' } else { '.' }).collect();
        assert_eq!(picture, expect.replace(' ', ""));
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "a caller may compute one")]
    fn fills_are_clipped() {
        check(1..3, 1..2, ".... .##. ....");
        check(3..99, 2..99, ".... .... ...#");
        check(7..9, 0..3, ".... .... ....");
        check(3..4, 1..9, ".... ...# ...#");
        check(4..5, 0..3, ".... .... ....");
        check(1..2, 3..9, ".... .... ....");
        check(3..1, 0..3, ".... .... ....");
        check(0..4, 2..1, ".... .... ....");
    }

    #[test]
    fn marks_are_where_the_pattern_has_them() {
        let (width, height, y, colour) = (9, 80, 5..70, Rgb(9, 9, 9));
        for (unit, x) in [(1, 2..3), (1, 0..9), (2, 8..9), (3, 3..99)] {
            let mut rgba = vec![0; width * height * 4];
            let mut surface = Surface::new(&mut rgba, width, height, unit);
            surface.fill_pattern(x.clone(), y.clone(), colour, Pattern::Diagonal, Rgb(0, 0, 0));
            for (at, pixel) in rgba.as_chunks::<4>().0.iter().enumerate() {
                let (column, row) = (at % width, at / width);
                let filled = x.contains(&column) && y.contains(&row);
                let marked = Pattern::Diagonal.marks(column, row, unit);
                let expect = if marked { colour.over(Rgb(0, 0, 0), MARK_ALPHA) } else { colour };
                assert_eq!(*pixel, if filled { expect.rgba() } else { [0; 4] }, "{column} {row} {unit}");
            }
        }
    }

    #[test]
    fn too_few_bytes_are_fewer_rows() {
        let mut rgba = [0; 4 * 4 * 2 + 3];
        let mut surface = Surface::new(&mut rgba, 4, 3, 0);
        assert_eq!((surface.height(), surface.unit()), (2, 1));
        surface.fill(0..4, 0..3, Rgb(1, 1, 1));
        surface.blit(3, 1, &[7; 8], 2);
        surface.blit(2, 1, &[7; 16], 2);
        assert_eq!(Surface::new(&mut [], 0, 3, 1).height(), 0);
        assert_eq!(&rgba[24..], [7, 7, 7, 7, 7, 7, 7, 7, 0, 0, 0]);
    }
}
