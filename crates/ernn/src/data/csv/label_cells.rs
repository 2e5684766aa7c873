//! The cells that say which class or which labels a row has.

use std::borrow::Cow;

use super::super::label_sets;
use super::super::number::{exact, is_missing, shown};
use super::Table;
use crate::Result;

/// What stands between cells that are looked at as one.
const BETWEEN: u8 = 0x1f;

/// Where the label of a row stands.
#[derive(Clone, Debug)]
pub(super) enum LabelCells {
    /// A class, or any other text.
    Text(usize),
    /// Names separated by `|`; an empty cell means none of the labels.
    Set(usize),
    /// One cell a label, 0 or 1.
    Flags(Vec<usize>),
}

impl LabelCells {
    /// Those of a table; none if it has no labels.
    pub fn of(table: &Table) -> Option<LabelCells> {
        let columns = &table.columns;
        let sets = table.options.table.has_label_sets();
        match columns.label {
            _ if !columns.label_flags.is_empty() => Some(LabelCells::Flags(columns.label_flags.clone())),
            Some(column) if sets => Some(LabelCells::Set(column)),
            Some(column) => Some(LabelCells::Text(column)),
            None => None,
        }
    }

    /// The column, or the first of several.
    pub fn column(&self) -> usize {
        match self {
            LabelCells::Text(column) | LabelCells::Set(column) => *column,
            LabelCells::Flags(columns) => columns[0],
        }
    }

    /// What stands in the cells of the current row: rows in which it is the same have the same label.
    pub fn content<'t>(&self, table: &'t Table) -> Cow<'t, [u8]> {
        match self {
            LabelCells::Text(column) | LabelCells::Set(column) => Cow::Borrowed(table.text(*column)),
            LabelCells::Flags(columns) => {
                let cells: Vec<&[u8]> = columns.iter().map(|&column| table.text(column)).collect();
                Cow::Owned(cells.join(&BETWEEN))
            }
        }
    }

    /// Whether the current row of a table with a label a sequence says nothing: of a text that it is empty, as other marks are names.
    pub fn is_empty(&self, table: &Table) -> bool {
        match self {
            LabelCells::Text(column) => table.text(*column).is_empty(),
            _ => self.is_silent(table),
        }
    }

    /// A name as errors say it.
    pub fn shown(&self, name: &str) -> String {
        match (self, name) {
            (LabelCells::Text(_), _) => shown(name.as_bytes()),
            (_, "") => "none of the labels".to_owned(),
            _ => format!("the labels {}", shown(name.as_bytes())),
        }
    }

    /// Whether the current row says nothing. An empty cell of a set says that none of the labels holds.
    pub fn is_silent(&self, table: &Table) -> bool {
        match self {
            LabelCells::Text(column) => is_missing(table.text(*column)),
            LabelCells::Set(column) => !table.text(*column).is_empty() && is_missing(table.text(*column)),
            LabelCells::Flags(columns) => columns.iter().all(|&column| is_missing(table.text(column))),
        }
    }

    /// The text of a class, or the one text of a set.
    pub fn name<'t>(&self, table: &'t Table) -> Result<Cow<'t, str>> {
        match self {
            LabelCells::Text(column) => Ok(table.label_text(table.text(*column))),
            LabelCells::Set(column) => {
                let text = table.text(*column);
                let set = label_sets::of_cell(&String::from_utf8_lossy(text));
                set.map(Cow::Owned).ok_or_else(|| {
                    let place = table.column_place(*column);
                    table.error(
                        table.line(),
                        &place,
                        &shown(text),
                        "labels separated by |, each with a name",
                    )
                })
            }
            LabelCells::Flags(columns) => {
                let mut names: Vec<&str> = Vec::new();
                for &column in columns {
                    if is_set(table, column)? {
                        names.push(&table.columns.names[column]);
                    }
                }
                Ok(Cow::Owned(label_sets::text(names.into_iter())))
            }
        }
    }

    /// The labels that there are, whether a row has them or not.
    pub fn declared(&self, table: &Table) -> Vec<String> {
        match self {
            LabelCells::Flags(columns) => columns
                .iter()
                .map(|&column| table.columns.names[column].clone())
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// Whether a cell says that a label holds.
fn is_set(table: &Table, column: usize) -> Result<bool> {
    let text = table.text(column);
    let refuse = |found: &str| {
        let expected = "0 or 1, as --labels-from says";
        Err(table.error(table.line(), &table.column_place(column), found, expected))
    };
    match exact(text, table.decimal) {
        Some(0.0) => Ok(false),
        Some(1.0) => Ok(true),
        _ if text.eq_ignore_ascii_case(b"false") => Ok(false),
        _ if text.eq_ignore_ascii_case(b"true") => Ok(true),
        _ if text.is_empty() => refuse("an empty cell"),
        _ => refuse(&shown(text)),
    }
}
