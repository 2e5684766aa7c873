//! An object a row: its keys are the columns of a table, and one that an object lacks is a missing value.

use std::path::Path;

use super::WORDS;
use super::lines::Beginning;
use super::object::{kind, place, write_cell};
use crate::data::csv::{Cells, Words};
use crate::data::labels;
use crate::{Error, Result};

pub(super) struct Rows<'a> {
    beginning: Beginning<'a>,
    path: &'a Path,
    names: Vec<String>,
    line: u64,
    /// The cells of the current row, and where each stands.
    text: Vec<u8>,
    cells: Vec<(usize, usize)>,
}

impl<'a> Rows<'a> {
    pub fn new(beginning: Beginning<'a>, path: &'a Path) -> Rows<'a> {
        let names = beginning.keys().into_iter().map(|(key, _)| key).collect();
        Rows {
            beginning,
            path,
            names,
            line: 0,
            text: Vec::new(),
            cells: Vec::new(),
        }
    }
}

impl Cells for Rows<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn words(&self) -> Words {
        WORDS
    }

    fn advance(&mut self) -> Result<bool> {
        let Some((line, object)) = self.beginning.next()? else {
            return Ok(false);
        };
        self.line = line;
        self.text.clear();
        self.cells.clear();
        self.cells.resize(self.names.len(), (0, 0));
        for (at, (key, value)) in object.0.iter().enumerate() {
            let column = match self.names.get(at) == Some(key) {
                true => at,
                false => self.names.iter().position(|name| name == key).ok_or_else(|| {
                    let expected = format!("one of {}, the keys of the lines before", labels::list(&self.names));
                    Error::format(self.path, place(line, "", key), "a key that is new", expected)
                })?,
            };
            let start = self.text.len();
            if !write_cell(value, &mut self.text) {
                let expected = "a number, a text or null: a line is a row, as the first line is";
                return Err(Error::format(self.path, place(line, "", key), kind(value), expected));
            }
            self.cells[column] = (start, self.text.len());
        }
        Ok(true)
    }

    fn cell(&self, column: usize) -> &[u8] {
        let (start, end) = self.cells[column];
        &self.text[start..end]
    }

    fn line(&self) -> usize {
        self.line as usize
    }

    fn notes(&self) -> Vec<String> {
        vec![format!(
            "{}: a line is a row, as of a table (a sequence a line has lists in it)",
            self.path.display()
        )]
    }
}
