//! `.csv` and `.tsv` tables, long or wide, with a header line.
//!
//! ```text
//! long: series,step,x,y,label       one row a step; step, label and group are optional, any number of value columns
//! wide: 0,1,2,3,label               one row a sequence of one channel; label and group are optional
//! ```
//!
//! A table with a column `series` is long. The separator (`,` `;` tab) is told from the header; a UTF-8 byte order mark, CRLF
//! and quoted fields are fine. Column names are compared without regard to case.

mod long;
mod tag;
mod wide;

use std::path::Path;

use ::csv::{ByteRecord, Reader, ReaderBuilder};

use super::number::{parse, shown};
use super::raw::{Raw, format_error};
use crate::{Error, Result};

/// Reads a whole table.
pub(crate) fn read(bytes: &[u8], path: &Path) -> Result<Raw> {
    let refuse = |found, expected| Err(format_error(path, "", found, expected));
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return refuse("UTF-16 text", "UTF-8");
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return refuse("an empty file", "a header line with column names and rows of values");
    }
    let table = Table::open(bytes, path)?;
    if table.columns.series.is_some() {
        long::read(table)
    } else {
        wide::read(table)
    }
}

/// A table being read, row by row.
struct Table<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    reader: Reader<&'a [u8]>,
    columns: Columns,
    record: ByteRecord,
}

/// Which column is what.
struct Columns {
    names: Vec<String>,
    series: Option<usize>,
    step: Option<usize>,
    label: Option<usize>,
    group: Option<usize>,
    values: Vec<usize>,
}

/// Where a row stands in the file, in bytes; turned into a line number only for an error.
type Place = usize;

impl<'a> Table<'a> {
    fn open(bytes: &'a [u8], path: &'a Path) -> Result<Table<'a>> {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator(bytes))
            .from_reader(bytes);
        let mut table = Table {
            path,
            bytes,
            reader,
            columns: Columns {
                names: Vec::new(),
                series: None,
                step: None,
                label: None,
                group: None,
                values: Vec::new(),
            },
            record: ByteRecord::new(),
        };
        let place = table.advance()?.unwrap_or_default();
        let names = table
            .record
            .iter()
            .map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned());
        table.columns =
            Columns::new(names.collect()).map_err(|(found, expected)| table.error(place, "", &found, expected))?;
        Ok(table)
    }

    /// Reads the next row; `None` at the end.
    fn advance(&mut self) -> Result<Option<Place>> {
        match self.reader.read_byte_record(&mut self.record) {
            Ok(true) => Ok(Some(
                self.record.position().map_or(0, |position| position.byte() as usize),
            )),
            Ok(false) => Ok(None),
            Err(error) => Err(format_error(self.path, "", &error.to_string(), "a table")),
        }
    }

    /// Reads the next row of values; it has as many columns as the header.
    fn next_row(&mut self) -> Result<Option<Place>> {
        let Some(place) = self.advance()? else { return Ok(None) };
        let (found, expected) = (self.record.len(), self.columns.names.len());
        if found == expected {
            return Ok(Some(place));
        }
        let plural = if found == 1 { "" } else { "s" };
        Err(self.error(
            place,
            "",
            &format!("{found} column{plural}"),
            &format!("{expected} as in the header"),
        ))
    }

    /// The text of a cell of the current row.
    fn text(&self, column: usize) -> &[u8] {
        self.record.get(column).unwrap_or_default().trim_ascii()
    }

    /// The number in a cell of the current row, NaN for a missing one.
    fn number(&self, place: Place, column: usize) -> Result<f32> {
        parse(self.text(column)).map_err(|expected| {
            let hint = if expected == "a number" && self.columns.label.is_none() {
                "a number (a column with class names has to be called label)"
            } else {
                expected
            };
            self.error(place, &self.column_place(column), &shown(self.text(column)), hint)
        })
    }

    fn column_place(&self, column: usize) -> String {
        format!(", column {}", shown(self.columns.names[column].as_bytes()))
    }

    fn error(&self, place: Place, column: &str, found: &str, expected: &str) -> Error {
        format_error(
            self.path,
            &format!(", line {}{column}", self.line(place)),
            found,
            expected,
        )
    }

    /// The line, from 1, of the row at `place`, which may have blank lines or the rest of a line end before it.
    fn line(&self, place: Place) -> usize {
        let rest = &self.bytes[place.min(self.bytes.len())..];
        let start =
            self.bytes.len() - rest.len() + rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let ends = self.bytes[..start]
            .iter()
            .enumerate()
            .filter(|&(index, &byte)| byte == b'\n' || (byte == b'\r' && self.bytes.get(index + 1) != Some(&b'\n')));
        1 + ends.count()
    }
}

impl Columns {
    /// Sorts the columns by their names; the error is what was found and what was expected.
    fn new(names: Vec<String>) -> std::result::Result<Columns, (String, &'static str)> {
        check_names(&names)?;
        let find = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let series = find("series");
        let step = find("step");
        if step.is_some() && series.is_none() {
            return Err((
                "a column step and no column series".to_string(),
                "a column series that says which rows are one sequence",
            ));
        }
        let (label, group) = (find("label"), find("group"));
        let special = [series, step, label, group];
        let values: Vec<usize> = (0..names.len())
            .filter(|&column| !special.contains(&Some(column)))
            .collect();
        if values.is_empty() {
            return Err((
                format!("the columns {}", names.join(", ")),
                "at least one column with values",
            ));
        }
        Ok(Columns {
            series,
            step,
            label,
            group,
            values,
            names,
        })
    }
}

fn check_names(names: &[String]) -> std::result::Result<(), (String, &'static str)> {
    let mut sorted: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    sorted.sort();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err((
            format!("two columns named {}", shown(pair[0].as_bytes())),
            "a name of its own for each column",
        ));
    }
    let numbers: Vec<f64> = names.iter().filter_map(|name| name.parse().ok()).collect();
    // A header of counting numbers is what pandas writes; other numbers are a row of values.
    let counting =
        numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0) && matches!(numbers.first(), Some(0.0 | 1.0));
    if numbers.len() == names.len() && !counting {
        return Err(("numbers only".to_owned(), "a header line with column names"));
    }
    Ok(())
}

/// The separator that stands most often in the header outside quotes; a comma if there is none.
fn separator(bytes: &[u8]) -> u8 {
    let bytes = bytes.trim_ascii_start();
    let header = bytes
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .next()
        .unwrap_or_default();
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in header {
        quoted ^= *byte == b'"';
        for (separator, count) in &mut counts {
            *count += usize::from(!quoted && byte == separator);
        }
    }
    let most = counts.iter().map(|&(_, count)| count).max();
    counts
        .iter()
        .find(|&&(_, count)| Some(count) == most)
        .map_or(b',', |&(separator, _)| separator)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
