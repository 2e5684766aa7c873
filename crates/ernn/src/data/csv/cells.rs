//! Rows that are read: records of text in columns, or cells of a file of another kind, which become a table in the same way.

use std::path::Path;

use super::records::{Broken, Divided, Records};
use super::{Source, table_error};
use crate::{Error, Result};

/// Rows of cells of a file that is no text in columns: objects of JSON lines, arrays, Parquet.
///
/// A cell is given as the text that a person would write into a CSV file, so that every check and every flag is the same.
pub(in crate::data) trait Cells {
    /// The names of the columns.
    fn names(&self) -> &[String];
    /// What places of this kind of file are called.
    fn words(&self) -> Words;
    /// Goes to the next row; false at the end.
    fn advance(&mut self) -> Result<bool>;
    /// The text of a cell of the current row, without blanks around it; empty for a missing value.
    fn cell(&self, column: usize) -> &[u8];
    /// The line or row, from 1, that the current row stands in.
    fn line(&self) -> usize;
    /// Where the current row stands within it, e.g. `, step 3`; empty where a line is a row.
    fn within(&self) -> String {
        String::new()
    }
    /// How the file was understood, a sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What places are called in errors.
#[derive(Clone, Copy, Debug)]
pub(in crate::data) struct Words {
    pub line: &'static str,
    pub column: &'static str,
}

impl Words {
    /// Of files that hold a table in their own way.
    pub const ROWS: Words = Words {
        line: "row",
        column: "column",
    };
}

impl Default for Words {
    fn default() -> Self {
        Words {
            line: "line",
            column: "column",
        }
    }
}

/// Where rows come from.
pub(super) enum RowSource<'a> {
    Text(Box<Records<Source<'a>>>),
    Cells(Box<dyn Cells + 'a>),
}

impl RowSource<'_> {
    /// Goes to the next row; false at the end.
    pub fn advance(&mut self, path: &Path) -> Result<bool> {
        match self {
            RowSource::Cells(cells) => cells.advance(),
            RowSource::Text(records) => records.advance().map_err(|broken| match broken {
                Broken::Source(error) => table_error(path, error),
                Broken::Quote(line) => {
                    let expected = "a second one at the end of its field";
                    Error::format(path, format!(", line {line}"), "a quote that never closes", expected)
                }
            }),
        }
    }

    /// Fields of the current row.
    pub fn len(&self) -> usize {
        match self {
            RowSource::Text(records) => records.len(),
            RowSource::Cells(cells) => cells.names().len(),
        }
    }

    /// A field of the current row without blanks around it; nothing where there is none.
    pub fn field(&self, index: usize) -> &[u8] {
        match self {
            RowSource::Text(records) => records.field(index),
            RowSource::Cells(cells) => cells.cell(index),
        }
    }

    /// The line, from 1, on which the current row begins.
    pub fn line(&self) -> usize {
        match self {
            RowSource::Text(records) => records.line(),
            RowSource::Cells(cells) => cells.line(),
        }
    }

    /// Where the current row stands within its line.
    pub fn within(&self) -> String {
        match self {
            RowSource::Text(_) => String::new(),
            RowSource::Cells(cells) => cells.within(),
        }
    }

    /// Fields of the current row in quotes that go over a line end.
    pub fn divided(&self) -> &[Divided] {
        match self {
            RowSource::Text(records) => records.divided(),
            RowSource::Cells(_) => &[],
        }
    }

    /// The number of a truth value, in files that have such.
    pub fn truth(&self, text: &[u8]) -> Option<f32> {
        match (self, text) {
            (RowSource::Cells(_), b"true") => Some(1.0),
            (RowSource::Cells(_), b"false") => Some(0.0),
            _ => None,
        }
    }

    /// How the file was understood.
    pub fn notes(&self) -> Vec<String> {
        match self {
            RowSource::Text(_) => Vec::new(),
            RowSource::Cells(cells) => cells.notes(),
        }
    }
}
