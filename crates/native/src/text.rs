//! Plain text for a terminal: columns that line up, and paragraphs that wrap.
//!
//! Widths are in characters; what the cells say is the caller's.

/// Rows of cells under a header, all columns but the first to the right.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<Row>,
}

#[derive(Debug)]
enum Row {
    Cells(Vec<String>),
    Section(String),
}

impl Grid {
    /// Adds a row; a short one is filled up with empty cells.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(Row::Cells(cells.into_iter().map(Into::into).collect()));
    }

    /// Adds a row of a label and one cell for each item.
    pub(crate) fn figure<T>(&mut self, label: &str, items: &[T], cell: impl Fn(&T) -> String) {
        self.row(std::iter::once(label.to_owned()).chain(items.iter().map(cell)));
    }

    /// Adds a heading across all columns, after an empty line.
    pub(crate) fn section(&mut self, heading: &str) {
        self.rows.push(Row::Section(heading.to_owned()));
    }

    /// The text, each line ended; no spaces at the end of a line.
    pub(crate) fn render(&self) -> String {
        let columns = self.cells().map(<[String]>::len).max().unwrap_or(0);
        let width = |column: usize| self.cells().filter_map(|row| row.get(column)).map(|c| chars(c)).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            match row {
                Row::Section(heading) => line = format!("\n{heading}"),
                Row::Cells(cells) => {
                    for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                        let pad = " ".repeat(width - chars(cell));
                        match column {
                            0 => line.extend([cell.as_str(), &pad]),
                            _ => line.extend(["  ", &pad, cell]),
                        }
                    }
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    fn cells(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => Some(cells.as_slice()),
            Row::Section(_) => None,
        })
    }
}

/// A paragraph of lines up to `width` characters: the first after `first`, the others after `indent`.
pub(crate) fn wrap(text: &str, width: usize, first: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && chars(&line) + 1 + chars(word) > width {
            out.push_str(line.trim_end());
            out.push('\n');
            indent.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut grid = Grid::default();
        grid.row(["", "a", "bb"]);
        grid.row(["total", "41.9 s", "1 µs"]);
        grid.section("Next");
        grid.row(["x", "", "5"]);
        grid.row(["short"]);
        let expect = "            a    bb\ntotal  41.9 s  1 µs\n\nNext\nx                 5\nshort\n";
        assert_eq!(grid.render(), expect);
    }

    #[track_caller]
    fn check_wrap(text: &str, width: usize, expect: &str) {
        assert_eq!(wrap(text, width, "- ", "  "), expect);
    }

    #[test]
    fn paragraphs_wrap_between_words() {
        check_wrap("", 10, "-\n");
        check_wrap("one two three", 9, "- one two\n  three\n");
        check_wrap("a-word-that-is-too-long b", 9, "- a-word-that-is-too-long\n  b\n");
    }
}
