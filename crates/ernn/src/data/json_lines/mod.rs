//! JSON lines of numbers: an object a line, which is a sequence or a row.
//!
//! ```text
//! {"ax": [0.1, 0.2], "ay": [1, 1], "label": "walk", "group": "anna"}     a sequence: a list a channel
//! {"x": [[0.1, 1], [0.2, 1]], "label": "walk"}                           a sequence: a list a step
//! {"t": 0.02, "ax": 0.1, "ay": 1, "activity": "walk"}                    a row, as of a table: keys are columns
//! ```
//!
//! The first lines tell: an object with a list in it is a sequence. Either way the rows become those of a table ([`super::csv`]), so
//! that every flag of a table and every check is the same; with a window or a time a sequence is a recording.

mod lines;
mod object;
mod rows;
mod sequences;

use std::io::Read;
use std::path::Path;

pub(in crate::data) use object::refusal;

use self::lines::{Beginning, Lines};
use self::rows::Rows;
use self::sequences::Sequences;
use super::OpenOptions;
use super::csv::{self, Cells, Words};
use super::raw::Raw;
use super::recordings::Log;
use super::unpacked;
use crate::{Error, Result};

/// Places in such a file.
const WORDS: Words = Words {
    line: "line",
    column: "key",
};

/// Reads a whole file.
pub(super) fn read(path: &Path, options: &OpenOptions) -> Result<Raw> {
    csv::read_cells(|| open(unpacked::open(path)?, path, options), path, options)
}

/// Reads what can be read once alone; `path` names it in errors.
pub(super) fn read_stream(source: impl Read, path: &Path, options: &OpenOptions) -> Result<Raw> {
    csv::read_cells_once(open(Box::new(source), path, options)?, path, options)
}

/// Reads the recordings of a file, not yet cut.
pub(super) fn read_log(path: &Path, options: &OpenOptions) -> Result<Log> {
    csv::log_of_cells(open(unpacked::open(path)?, path, options)?, path, options)
}

fn open<'a>(source: Box<dyn Read + 'a>, path: &'a Path, options: &OpenOptions) -> Result<Box<dyn Cells + 'a>> {
    let beginning = Beginning::of(Lines::new(source, path, options))?;
    match beginning.first_list() {
        None if beginning.is_empty() => Err(Error::format(path, "", "an empty file", "a JSON object a line")),
        None => Ok(Box::new(Rows::new(beginning, path))),
        Some(key) => Ok(Box::new(Sequences::new(beginning, &key, path, options)?)),
    }
}

#[cfg(test)]
mod tests;
