//! Tables for people: columns aligned by what a terminal shows of a text, and names shortened where a line would not fit.

use console::{Alignment, measure_text_width, pad_str, truncate_str};

use crate::terminal::Look;

/// Blanks before each line.
const INDENT: usize = 2;
/// A name shortened further says nothing any more.
const SHORTEST_NAME: usize = 6;

/// Names on the left, numbers on the right.
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<Cell>>,
    /// Blanks between columns.
    gap: usize,
}

/// A text and how it looks.
pub struct Cell {
    text: String,
    look: Look,
}

impl Cell {
    /// A text that stands out, or not.
    pub fn new(text: impl Into<String>, look: Look) -> Self {
        let text = text.into();
        Cell { text, look }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::new(text, Look::Plain)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::new(text, Look::Plain)
    }
}

impl Table {
    /// A table without rows. The first column is that of names.
    pub fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Table {
            head: head.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            gap: 2,
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Blanks between columns.
    pub fn with_gap(mut self, gap: usize) -> Self {
        self.gap = gap;
        self
    }

    /// The lines, of at most so many columns if names can be shortened so far.
    pub fn lines(&self, columns: usize, colors: bool) -> Vec<String> {
        let mut widths: Vec<usize> = self.head.iter().map(|text| measure_text_width(text)).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(measure_text_width(&cell.text));
            }
        }
        let others: usize = widths.iter().skip(1).map(|width| width + self.gap).sum();
        if let Some(names) = widths.first_mut() {
            *names = (*names).min(columns.saturating_sub(INDENT + others).max(SHORTEST_NAME));
        }
        let head = self.head.iter().map(|text| (text.as_str(), Look::Bold));
        let mut lines = vec![self.line(head, &widths, colors)];
        for row in &self.rows {
            let cells = row.iter().map(|cell| (cell.text.as_str(), cell.look));
            lines.push(self.line(cells, &widths, colors));
        }
        lines
    }

    fn line<'a>(&self, cells: impl Iterator<Item = (&'a str, Look)>, widths: &[usize], colors: bool) -> String {
        let mut line = " ".repeat(INDENT);
        for (column, ((text, look), &width)) in cells.zip(widths).enumerate() {
            let alignment = match column {
                0 => Alignment::Left,
                _ => Alignment::Right,
            };
            if column > 0 {
                line += &" ".repeat(self.gap);
            }
            let text = shortened(text, width);
            line += &look.paint(&pad_str(&text, width, alignment, None), colors);
        }
        line.trim_end().to_string()
    }
}

/// A text of at most so many columns of a terminal; what is left out shows as `…`.
pub fn shortened(text: &str, columns: usize) -> String {
    truncate_str(text, columns, "…").into_owned()
}

/// The end of a text, of at most so many columns; what is left out shows as `…`.
pub fn ending(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_string();
    }
    let mut ends = text.char_indices().map(|(at, _)| &text[at..]);
    let end = ends.find(|end| columns_of(end) < columns);
    format!("…{}", end.unwrap_or_default())
}

/// Columns that a text takes on a terminal.
pub fn columns_of(text: &str) -> usize {
    measure_text_width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let mut table = Table::new(["class", "n"]);
        table.row(["日本語".into(), "1".into()]);
        table.row(["up".into(), "1234".into()]);
        assert_eq!(
            table.lines(80, false),
            ["  class      n", "  日本語     1", "  up      1234"]
        );
    }

    #[test]
    fn names_are_shortened_until_a_line_fits() {
        let mut table = Table::new(["class", "sequences"]);
        table.row(["a".repeat(100).into(), "3".into()]);
        for columns in [80, 40, 24] {
            let lines = table.lines(columns, false);
            assert!(lines.iter().all(|line| columns_of(line) == columns), "{lines:?}");
            assert!(lines[1].contains("a…  "), "{lines:?}");
        }
        assert_eq!(shortened("日本語", 5), "日本…");
        assert_eq!(ending("vowels/lstm/seed-1", 12), "…lstm/seed-1");
        assert_eq!(ending("seed-1", 6), "seed-1");
    }

    #[test]
    fn colors_change_no_column() {
        let mut table = Table::new(["class", "n"]);
        table.row(["up".into(), Cell::new("0", Look::Dim)]);
        let plain = table.lines(80, false);
        let colored = table.lines(80, true);
        assert!(colored[1].contains("\u{1b}[2m0\u{1b}[0m"), "{colored:?}");
        let seen: Vec<_> = colored
            .iter()
            .map(|line| console::strip_ansi_codes(line).trim_end().to_string())
            .collect();
        assert_eq!(seen, plain);
    }
}
