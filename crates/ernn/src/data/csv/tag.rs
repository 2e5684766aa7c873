//! A text column that says something about a whole sequence: its label or its group.

use super::super::labels::Names;
use super::super::number::shown;
use super::{Line, Table};
use crate::Result;

/// The values of such a column, one a sequence.
pub(super) struct Tag {
    column: usize,
    /// The distinct texts.
    pub names: Names,
    numbers: Vec<u32>,
    /// Where a sequence's text stands first.
    lines: Vec<u32>,
    empty: Option<Line>,
    /// The text of the row before and its number: most rows have the same.
    last: Option<(Vec<u8>, u32)>,
}

impl Tag {
    pub fn new(column: usize) -> Tag {
        Tag {
            column,
            names: Names::default(),
            numbers: Vec::new(),
            lines: Vec::new(),
            empty: None,
            last: None,
        }
    }

    /// Takes the text of the current row for a sequence; sequences come in order of their numbers, rows in any order.
    pub fn read(&mut self, table: &Table, sequence: usize, name: &[u8]) -> Result<()> {
        let text = table.text(self.column);
        if text.is_empty() {
            self.empty.get_or_insert(table.line());
        }
        let number = self.number(text, table);
        let Some(&known) = self.numbers.get(sequence) else {
            self.numbers.push(number);
            self.lines.push(table.line().try_into().unwrap_or(u32::MAX));
            return Ok(());
        };
        if known == number {
            return Ok(());
        }
        let found = format!("{} for series {}", shown(text), shown(name));
        let first = shown(self.names.names[known as usize].as_bytes());
        let expected = format!("{first} as on line {}", self.lines[sequence]);
        Err(table.error(table.line(), &table.column_place(self.column), &found, &expected))
    }

    fn number(&mut self, text: &[u8], table: &Table) -> u32 {
        match &self.last {
            Some((last, number)) if last == text => *number,
            _ => {
                let number = self.names.number(&table.label_text(text));
                self.last = Some((text.to_vec(), number));
                number
            }
        }
    }

    /// One number a sequence, or nothing if the whole column is empty.
    pub fn finish(self, table: &Table) -> Result<Option<(Vec<u32>, Names)>> {
        match self.empty {
            None => Ok(Some((self.numbers, self.names))),
            Some(_) if self.names.names.len() == 1 => Ok(None),
            Some(line) => {
                let column = table.column_place(self.column);
                Err(table.error(line, &column, "an empty cell", "a value in every row, or in none"))
            }
        }
    }
}

/// Labels and groups of a table, where it has them: one number a sequence, and the texts.
pub(super) type Tags = [Option<(Vec<u32>, Names)>; 2];

/// Finishes the two tags of a table: labels, groups.
pub(super) fn finish(table: &Table, tags: [Option<Tag>; 2]) -> Result<Tags> {
    let [label, group] = tags.map(|tag| tag.map(|tag| tag.finish(table)).transpose());
    Ok([label?.flatten(), group?.flatten()])
}
