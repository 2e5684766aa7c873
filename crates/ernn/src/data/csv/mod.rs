//! Tables of numbers: `.csv`, `.tsv`, and what comes through a pipe.
//!
//! ```text
//! long: series,step,x,y,label       one row a step; step, label and group are optional, any number of value columns
//! wide: 0,1,2,3,label               one row a sequence of one channel; the other columns are called as steps are: numbers, or t0, t1
//! log:  time,x,y,label              with --window or --time: recordings, cut into windows
//! labels: series,x,y,rain,wind      with --labels-from rain,wind: which of several labels hold
//! ucr:  1 0.25 0.5                  with --layout ucr: no header, the label, then the steps of one channel
//! ```
//!
//! The separator (`,` `;` tab) is told from the first two lines; a UTF-8 byte order mark, CRLF, decimal commas and quoted fields are
//! fine. Column names are compared without regard to case. A table that may be read in two ways is read in none: the error says
//! what was understood, and which flags settle it.
//!
//! A table is read once, and only its values are kept: rows in order need no memory of their own. A file whose rows are out of
//! order is read a second time with the step of each row beside it; a pipe, which cannot, keeps the steps from the beginning.

mod cells;
mod channel;
mod columns;
mod growing;
mod label_cells;
mod log;
mod long;
mod names;
mod options;
pub(super) mod records;
pub(super) mod separator;
mod survey;
mod tag;
mod target;
mod wide;

use std::borrow::Cow;
use std::io::{BufRead, Chain, Cursor, Read};
use std::path::Path;

pub(super) use cells::{Cells, Words};
pub use options::{LabelKind, Layout, TableOptions};

use self::cells::RowSource;
use self::columns::{Columns, Shape};
use self::label_cells::LabelCells;
use self::options::Said;
use self::records::{Records, Separator};
use super::OpenOptions;
use super::number::{Decimal, parse_as, shown};
use super::raw::Raw;
use super::recordings::{self, Log};
use super::text::InvalidText;
use super::text::checked::{Checked, table_error};
use super::text::encoding::Decoded;
use super::unpacked;
use crate::{Error, Result};

/// Reads a whole file, which may be a pipe.
pub(crate) fn read(path: &Path, options: &OpenOptions) -> Result<Raw> {
    let open = || Table::open(unpacked::open(path)?, path, options);
    read_file(open, path, options)
}

/// Reads a whole file whose rows are cells that `open` begins to give; it may be a pipe.
pub(super) fn read_cells<'a>(
    open: impl Fn() -> Result<Box<dyn Cells + 'a>>,
    path: &'a Path,
    options: &'a OpenOptions,
) -> Result<Raw> {
    read_file(|| Table::of_cells(open()?, path, options), path, options)
}

/// What settings of a table must be, whatever is in it.
fn check(options: &OpenOptions) -> Result<()> {
    options.table.recordings.check(options.table.window)?;
    options.table.check_steps()
}

fn read_file<'a>(open: impl Fn() -> Result<Table<'a>>, path: &Path, options: &OpenOptions) -> Result<Raw> {
    check(options)?;
    let again = path.metadata().is_ok_and(|about| about.is_file());
    match read_rows(open()?, options, !again)? {
        Some(raw) => Ok(raw),
        None => read_once(open()?, path, options),
    }
}

/// Reads the recordings of a file, not yet cut.
pub(crate) fn read_log(path: &Path, options: &OpenOptions) -> Result<Log> {
    log_of(Table::open(unpacked::open(path)?, path, options)?)
}

/// Reads recordings whose rows are cells, not yet cut.
pub(super) fn log_of_cells(cells: Box<dyn Cells + '_>, path: &Path, options: &OpenOptions) -> Result<Log> {
    log_of(Table::of_cells(cells, path, options)?)
}

fn log_of(table: Table) -> Result<Log> {
    let notes = table.records.notes();
    let log = match table.columns.doubtful.is_empty() {
        true => log::read(table),
        false => Err(survey::ask(table)),
    }?;
    Ok(Log { notes, ..log })
}

/// Reads a whole table from a source that cannot be read again; `path` names it in errors.
pub(crate) fn read_stream(source: impl Read, path: &Path, options: &OpenOptions) -> Result<Raw> {
    check(options)?;
    read_once(Table::open(Box::new(source), path, options)?, path, options)
}

/// The same of cells.
pub(super) fn read_cells_once(cells: Box<dyn Cells + '_>, path: &Path, options: &OpenOptions) -> Result<Raw> {
    check(options)?;
    read_once(Table::of_cells(cells, path, options)?, path, options)
}

fn read_once(table: Table, path: &Path, options: &OpenOptions) -> Result<Raw> {
    let raw = read_rows(table, options, true)?;
    raw.ok_or_else(|| Error::format(path, "", "rows out of order", "rows by series and step"))
}

/// Nothing if rows are out of order and their steps were not kept.
fn read_rows(table: Table, options: &OpenOptions, keep_steps: bool) -> Result<Option<Raw>> {
    let notes = table.records.notes();
    let declared = LabelCells::of(&table).map_or_else(Vec::new, |cells| cells.declared(&table));
    let raw = match table.columns.shape {
        Shape::Unclear => Err(survey::ask(table)),
        _ if !table.columns.doubtful.is_empty() => Err(survey::ask(table)),
        Shape::Wide => wide::read(table).map(Some),
        Shape::Long => long::read(table, keep_steps),
        Shape::Log => {
            let log = log::read(table)?;
            recordings::cut(log, options.table.window, &options.table.recordings).map(Some)
        }
    }?;
    Ok(raw.map(|raw| Raw {
        notes: [notes, raw.notes].concat(),
        declared: match raw.part.labels.is_empty() || !raw.declared.is_empty() {
            true => raw.declared,
            false => declared,
        },
        of_sets: options.table.has_label_sets(),
        ..raw
    }))
}

/// A source that is decoded and checked on the way, with its beginning looked at.
type Source<'a> = Chain<Cursor<Vec<u8>>, Checked<Decoded<Box<dyn Read + 'a>>>>;

/// A table being read, row by row.
struct Table<'a> {
    path: &'a Path,
    options: &'a OpenOptions,
    records: RowSource<'a>,
    words: Words,
    columns: Columns,
    decimal: Decimal,
    /// Where a decimal point and a decimal comma were seen first.
    signs: [Option<Line>; 2],
    /// The current record is a row that nobody has taken.
    waiting: bool,
    /// Rows taken.
    rows: usize,
}

/// A line of the file, from 1.
type Line = usize;

impl<'a> Table<'a> {
    fn open(source: Box<dyn Read + 'a>, path: &'a Path, options: &'a OpenOptions) -> Result<Table<'a>> {
        let decoded = Decoded::new(source, options.text.encoding);
        let mut checked = Checked::new(decoded, InvalidText::Refuse);
        let beginning = first_lines(&mut checked).map_err(|error| table_error(path, error))?;
        let headerless = options.table.layout == Layout::Ucr;
        let separator = match headerless {
            true => separator::separator_of_numbers(&beginning),
            false => Separator::Byte(separator::separator(&beginning)),
        };
        let decimal = match separator {
            Separator::Byte(b',') => Decimal::Point,
            _ => Decimal::Comma,
        };
        let records = Records::new(Cursor::new(beginning).chain(checked), separator);
        let mut records = RowSource::Text(Box::new(records));
        if !records.advance(path)? {
            let expected = "a header line with column names and rows of values";
            return Err(Error::format(path, "", "an empty file", expected));
        }
        if let Some(quotes) = records.divided().first() {
            return Err(divided(path, *quotes));
        }
        let text = |field| String::from_utf8_lossy(records.field(field)).into_owned();
        let names = match headerless {
            true => Columns::without_header(records.len()),
            false => columns::named((0..records.len()).map(text).collect()),
        };
        let place = format!(", line {}", records.line());
        let mut columns = Columns::new(names, &Said::new(options))
            .map_err(|(found, expected)| Error::format(path, place, found, expected))?;
        if columns.shape == Shape::Wide {
            columns.doubtful.clear();
        }
        Ok(Table {
            path,
            options,
            records,
            words: Words::default(),
            columns,
            decimal,
            signs: [None; 2],
            waiting: headerless,
            rows: 0,
        })
    }

    fn of_cells(cells: Box<dyn Cells + 'a>, path: &'a Path, options: &'a OpenOptions) -> Result<Table<'a>> {
        if !options.table.layout.is_default() {
            let expected = "--layout for text in columns alone";
            return Err(Error::format(path, "", "a file whose columns have names", expected));
        }
        let words = cells.words();
        let mut columns = Columns::new(columns::named(cells.names().to_vec()), &Said::new(options))
            .map_err(|(found, expected)| Error::format(path, "", found, expected))?;
        if columns.shape == Shape::Wide {
            columns.doubtful.clear();
        }
        Ok(Table {
            path,
            options,
            records: RowSource::Cells(cells),
            words,
            columns,
            decimal: Decimal::Point,
            signs: [None; 2],
            waiting: false,
            rows: 0,
        })
    }

    /// Reads the next row of values; it has as many columns as the header. False at the end.
    fn next_row(&mut self) -> Result<bool> {
        if !std::mem::take(&mut self.waiting) && !self.records.advance(self.path)? {
            return Ok(false);
        }
        if let Some(quotes) = self.records.divided().iter().find(|quotes| self.is_read(quotes.field)) {
            return Err(divided(self.path, *quotes));
        }
        self.rows += 1;
        let (found, expected) = (self.records.len(), self.columns.names.len());
        if found == expected {
            return Ok(true);
        }
        let plural = if found == 1 { "" } else { "s" };
        let header = match self.options.table.layout {
            Layout::Header => "as in the header",
            Layout::Ucr => "as in the first row",
        };
        let found = format!("{found} column{plural}");
        Err(self.error(self.line(), "", &found, &format!("{expected} {header}")))
    }

    /// Whether a column means anything to us.
    fn is_read(&self, column: usize) -> bool {
        let columns = &self.columns;
        let roles = [columns.series, columns.step, columns.time, columns.label, columns.group];
        roles.contains(&Some(column))
            || columns.targets.contains(&column)
            || columns.label_flags.contains(&column)
            || columns.values.contains(&column)
            || column >= columns.names.len()
    }

    /// The line of the current row.
    fn line(&self) -> Line {
        self.records.line()
    }

    /// The text of a cell of the current row.
    fn text(&self, column: usize) -> &[u8] {
        self.records.field(column)
    }

    /// A label as it will be called. Archives write whole numbers as 1.0000000e+00.
    fn label_text<'t>(&self, text: &'t [u8]) -> Cow<'t, str> {
        let whole = |text: &str| {
            let number = text.parse::<f64>().ok()?;
            (number.fract() == 0.0 && number.abs() < 1e15).then(|| format!("{number}"))
        };
        let text = String::from_utf8_lossy(text);
        match self.options.table.layout {
            Layout::Ucr => whole(&text).map_or(text, Cow::Owned),
            Layout::Header => text,
        }
    }

    /// The number in a cell of the current row, NaN for a missing one.
    fn number(&mut self, column: usize) -> Result<f32> {
        match parse_as(self.text(column), self.decimal) {
            Ok(number) if self.decimal == Decimal::Comma && !number.is_nan() => {
                self.note_sign(column)?;
                Ok(number)
            }
            Ok(number) => Ok(number),
            Err(expected) => {
                let truth = self.records.truth(self.text(column));
                truth.ok_or_else(|| self.no_number(column, expected))
            }
        }
    }

    /// A file has one decimal sign.
    fn note_sign(&mut self, column: usize) -> Result<()> {
        let (line, text) = (self.line(), self.text(column));
        let own = match (text.contains(&b'.'), text.contains(&b',')) {
            (true, _) => 0,
            (_, true) => 1,
            _ => return Ok(()),
        };
        self.signs[own].get_or_insert(line);
        let Some(other) = self.signs[1 - own] else {
            return Ok(());
        };
        let names = ["a decimal point", "a decimal comma"];
        let found = format!("{} with {}", shown(self.text(column)), names[own]);
        let expected = format!("{} as on {} {other}", names[1 - own], self.words.line);
        Err(self.error(line, &self.column_place(column), &found, &expected))
    }

    /// The error for a cell that should be a number, with what it may be instead.
    fn no_number(&self, column: usize, expected: &str) -> Error {
        let text = self.text(column);
        let hint = match expected {
            "a number" => survey::hint_for_text(self, column),
            _ => String::new(),
        };
        self.error(
            self.line(),
            &self.column_place(column),
            &shown(text),
            &format!("{expected}{hint}"),
        )
    }

    fn column_place(&self, column: usize) -> String {
        format!(
            ", {} {}",
            self.words.column,
            shown(self.columns.names[column].as_bytes())
        )
    }

    /// A cell of the current row.
    fn place(&self, column: usize) -> String {
        self.place_on(self.line(), &self.column_place(column))
    }

    fn place_on(&self, line: Line, column: &str) -> String {
        // Before the first row of a file without a header.
        if line == 0 {
            return column.to_owned();
        }
        let within = match line == self.line() {
            true => self.records.within(),
            false => String::new(),
        };
        format!(", {} {line}{within}{column}", self.words.line)
    }

    fn error(&self, line: Line, column: &str, found: &str, expected: &str) -> Error {
        Error::format(self.path, self.place_on(line, column), found, expected)
    }
}

/// The first two lines, or what there is; of very long lines a part.
fn first_lines(source: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    const MOST: usize = 1 << 20;
    let mut beginning = Vec::new();
    let lines = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count();
    while lines(&beginning) < 4 && beginning.len() < MOST {
        let piece = source.fill_buf()?;
        let used = piece.len();
        if used == 0 {
            break;
        }
        beginning.extend_from_slice(piece);
        source.consume(used);
    }
    Ok(beginning)
}

/// The error for a field in quotes that goes over a line end: in a column of numbers or names one of the two is a mistake.
fn divided(path: &Path, quotes: records::Divided) -> Error {
    let found = format!("a quote that closes only on line {}", quotes.closed);
    Error::format(
        path,
        format!(", line {}", quotes.opened),
        found,
        "both quotes on one line",
    )
}

#[cfg(test)]
mod tests;
