//! Arrays as recordings: a row a step, and what stands beside it in arrays of one number or text a row, read as the columns of a table.
//!
//! ```text
//! X [rows, channels] or [rows]      t, time, y, groups, and what a flag names: [rows]; y and groups also one value for all rows
//! ```

use std::io::Write;
use std::path::Path;

use super::super::OpenOptions;
use super::super::channels::numbered;
use super::super::csv::{self, Cells, Words};
use super::super::recordings::{Aim, Log};
use super::{Array, Kind};
use crate::{Error, Result};

/// The labels and the groups, where no flag names others.
const LABELS: &str = "y";
const GROUPS: &str = "groups";
/// The labels where a channel is called as they are.
const LABELS_BESIDE: &str = "array y";
/// Arrays that are read beside the values though no flag names them.
const USUAL: [&str; 4] = [LABELS, GROUPS, "t", "time"];

/// Whether an array of this shape is rows, where rows of recordings are wanted; an array with labels inside has `--features`.
pub(in crate::data) fn are_rows(shape: &[usize], options: &OpenOptions) -> bool {
    options.table.is_of_recordings() && shape.len() < 3 && options.features.is_none()
}

/// Refuses what only rows of recordings have, to learn from sequences. A model of recordings may be asked about them.
pub(in crate::data) fn must_not_be_cut(path: &Path, options: &OpenOptions) -> Result<()> {
    let own = &options.table.recordings;
    let asked = match own.aim {
        // Numbers of steps stand in an array y of their own.
        Aim::Steps if options.table.target.is_empty() => "--task steps",
        _ if own.horizon.is_some() => "--horizon",
        _ => return Ok(()),
    };
    if own.every_window {
        return Ok(());
    }
    let found = format!("sequences and {asked}");
    Err(Error::format(
        path,
        "",
        found,
        "X [rows, channels], the rows of a recording",
    ))
}

/// The names of the arrays that may stand beside the values: the usual ones, and what flags name.
pub(in crate::data) fn beside(options: &OpenOptions) -> Vec<String> {
    let table = &options.table;
    let flags = [
        &table.recordings.time_column,
        &table.series_column,
        &table.group_column,
        &table.step_column,
        &options.text.label_column,
    ];
    let lists = [&table.target, &table.labels_from, &table.ignore, &table.channels];
    let usual = USUAL.map(str::to_owned).into_iter();
    let mut names: Vec<String> = Vec::new();
    for name in usual.chain(flags.into_iter().flatten().chain(lists.into_iter().flatten()).cloned()) {
        if !names.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
            names.push(name);
        }
    }
    names
}

/// The recording of an array of values and of what stands beside it, each with its name; `place` says which part of a file it is.
///
/// # Errors
/// If shapes do not fit each other, and as of a table.
pub(in crate::data) fn log(
    values: &Array,
    channels: Option<Vec<String>>,
    beside: &[(String, Array)],
    place: &str,
    options: &OpenOptions,
) -> Result<Log> {
    let mut options = options.clone();
    let rows = Rows::new(values, channels, beside, place, &mut options)?;
    csv::log_of_cells(Box::new(rows), values.path, &options)
}

/// A column of the table.
struct Column<'a> {
    array: &'a Array<'a>,
    /// Which column of an array of two dimensions.
    index: Option<usize>,
    /// All rows have its only value.
    is_one: bool,
}

struct Rows<'a> {
    names: Vec<String>,
    columns: Vec<Column<'a>>,
    /// The part of the file, as a place.
    place: String,
    /// Rows in all, and those that were read.
    rows: usize,
    row: usize,
    /// The cells of the current row, one behind the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl<'a> Rows<'a> {
    /// `options` learn another name of the labels, where a channel has theirs.
    fn new(
        values: &'a Array,
        channels: Option<Vec<String>>,
        beside: &'a [(String, Array)],
        place: &str,
        options: &mut OpenOptions,
    ) -> Result<Rows<'a>> {
        values.refuse_empty()?;
        let (rows, features) = match values.shape[..] {
            [rows] => (rows, None),
            [rows, features] => (rows, Some(features)),
            _ => {
                let found = format!("an array of shape {:?}", values.shape);
                return Err(values.error("", &found, "[rows, channels], the rows of a recording"));
            }
        };
        let numbered = || (1..=features.unwrap_or(1)).map(numbered).collect();
        let mut names: Vec<String> = channels.unwrap_or_else(numbered);
        let channel = |index| Column {
            array: values,
            index: features.map(|_| index),
            is_one: false,
        };
        let mut columns: Vec<Column> = (0..names.len()).map(channel).collect();
        let channel_count = names.len();
        let labels_from = options.table.labels_from.clone();
        for (name, array) in beside {
            let may_be_one = [LABELS, GROUPS].iter().any(|usual| name.eq_ignore_ascii_case(usual));
            match array.shape[..] {
                [_, labels] if name.eq_ignore_ascii_case(LABELS) && array.shape == [rows, labels_from.len()] => {
                    columns.extend((0..labels).map(|index| Column {
                        array,
                        index: Some(index),
                        is_one: false,
                    }));
                    names.extend(labels_from.iter().cloned());
                    continue;
                }
                _ if array.shape == [rows] || array.shape == [rows, 1] => columns.push(Column {
                    array,
                    index: None,
                    is_one: false,
                }),
                [] | [1] if may_be_one => columns.push(Column {
                    array,
                    index: None,
                    is_one: true,
                }),
                _ => {
                    let one = if may_be_one { ", or one for all" } else { "" };
                    let expected = format!("[{rows}], a value for each row{one}");
                    return Err(array.error("", &format!("an array of shape {:?}", array.shape), &expected));
                }
            }
            names.push(match () {
                _ if name.eq_ignore_ascii_case(LABELS) => labels_name(&names[..channel_count], options),
                _ if name.eq_ignore_ascii_case(GROUPS) && options.table.group_column.is_none() => "group".to_owned(),
                _ => name.clone(),
            });
        }
        Ok(Rows {
            names,
            columns,
            place: place.to_owned(),
            rows,
            row: 0,
            text: Vec::new(),
            ends: Vec::new(),
        })
    }
}

/// What the column of the labels is called: as the labels of any table, unless a flag names them, as `y` or as numbers to predict. Where
/// a channel is called y as well, the flags get to know another name. What is forecast is a channel.
fn labels_name(channels: &[String], options: &mut OpenOptions) -> String {
    let table = &mut options.table;
    let targets = table.target.iter_mut().filter(|_| table.recordings.horizon.is_none());
    let asked = targets.chain(&mut options.text.label_column);
    let mut asked: Vec<&mut String> = asked.filter(|name| name.eq_ignore_ascii_case(LABELS)).collect();
    if asked.is_empty() {
        return "label".to_owned();
    }
    if !channels.iter().any(|name| name.eq_ignore_ascii_case(LABELS)) {
        return LABELS.to_owned();
    }
    asked.iter_mut().for_each(|name| LABELS_BESIDE.clone_into(name));
    LABELS_BESIDE.to_owned()
}

impl Cells for Rows<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn words(&self) -> Words {
        Words::ROWS
    }

    fn advance(&mut self) -> Result<bool> {
        if self.row == self.rows {
            return Ok(false);
        }
        self.text.clear();
        self.ends.clear();
        for column in &self.columns {
            let row = if column.is_one { 0 } else { self.row };
            let offset = match column.index {
                Some(index) => column.array.offset(&[row, index]),
                None => row,
            };
            column.array.write(offset, &mut self.text);
            self.ends.push(self.text.len());
        }
        self.row += 1;
        Ok(true)
    }

    fn cell(&self, column: usize) -> &[u8] {
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[column]]
    }

    fn line(&self) -> usize {
        self.row
    }

    fn within(&self) -> String {
        self.place.clone()
    }
}

impl Array<'_> {
    /// Writes an element as the cell of a table; nothing for NaN.
    fn write(&self, offset: usize, out: &mut Vec<u8>) {
        let bytes = &self.bytes[offset * self.element.size..][..self.element.size];
        // In so few digits as the type needs.
        let written = match (self.element.kind, self.element.size, self.element.number(bytes)) {
            (Kind::Float, _, Some(number)) if number.is_nan() => Ok(()),
            (Kind::Float, 2 | 4, Some(number)) => write!(out, "{}", number as f32 + 0.0),
            (Kind::Float, _, Some(number)) => write!(out, "{}", number + 0.0),
            _ => out.write_all(self.element.text(bytes).unwrap_or_default().trim().as_bytes()),
        };
        written.expect("memory to write to");
    }
}

/// Refuses several parts where a recording is wanted.
pub(in crate::data) fn one_part<T>(parts: [Option<T>; 3], path: &Path) -> Result<T> {
    match parts {
        [Some(one), None, None] => Ok(one),
        _ => {
            let expected = "the arrays X and y of one part";
            Err(Error::format(path, "", "several parts in one file", expected))
        }
    }
}
