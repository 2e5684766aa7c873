//! A text column that says something about a whole sequence: its label or its group.

use super::super::labels::Names;
use super::super::number::shown;
use super::label_cells::LabelCells;
use super::{Line, Table};
use crate::Result;

/// The number of a cell that says nothing.
const SILENT: u32 = u32::MAX;

/// The values of such a column, one a sequence.
pub(super) struct Tag {
    cells: LabelCells,
    /// The distinct texts.
    pub names: Names,
    numbers: Vec<u32>,
    /// Where a sequence's text stands first.
    lines: Vec<u32>,
    empty: Option<Line>,
    /// A row says something.
    says: bool,
    /// The text of the row before and its number: most rows have the same.
    last: Option<(Vec<u8>, u32)>,
}

impl Tag {
    /// Of a text column.
    pub fn new(column: usize) -> Tag {
        Tag::of(LabelCells::Text(column))
    }

    /// The labels of a table, where it has them, and its groups.
    pub fn both(table: &Table) -> [Option<Tag>; 2] {
        [LabelCells::of(table).map(Tag::of), table.columns.group.map(Tag::new)]
    }

    fn of(cells: LabelCells) -> Tag {
        Tag {
            cells,
            names: Names::default(),
            numbers: Vec::new(),
            lines: Vec::new(),
            empty: None,
            says: false,
            last: None,
        }
    }

    /// Takes the text of the current row for a sequence; sequences come in order of their numbers, rows in any order.
    pub fn read(&mut self, table: &Table, sequence: usize, name: &[u8]) -> Result<()> {
        let content = self.cells.content(table);
        let number = match &self.last {
            Some((last, number)) if *last == *content => *number,
            _ => self.number(&content, table)?,
        };
        if number == SILENT {
            self.empty.get_or_insert(table.line());
        }
        let Some(&known) = self.numbers.get(sequence) else {
            self.numbers.push(number);
            self.lines.push(table.line().try_into().unwrap_or(u32::MAX));
            return Ok(());
        };
        if known == number {
            return Ok(());
        }
        let text = |number: u32| match number {
            SILENT => shown(b""),
            number => self.cells.shown(&self.names.names[number as usize]),
        };
        let found = format!("{} for series {}", text(number), shown(name));
        let expected = format!("{} as on {} {}", text(known), table.words.line, self.lines[sequence]);
        Err(table.error(
            table.line(),
            &table.column_place(self.cells.column()),
            &found,
            &expected,
        ))
    }

    /// The number of what the current row says, [`SILENT`] if that is nothing.
    fn number(&mut self, content: &[u8], table: &Table) -> Result<u32> {
        let number = match self.cells.is_empty(table) {
            true => SILENT,
            false => self.names.number(&self.cells.name(table)?),
        };
        self.says |= !content.is_empty() && number != SILENT;
        self.last = Some((content.to_vec(), number));
        Ok(number)
    }

    /// One number a sequence, or nothing if the whole column is empty.
    pub fn finish(self, table: &Table) -> Result<Option<(Vec<u32>, Names)>> {
        match self.empty {
            _ if !self.says => Ok(None),
            None => Ok(Some((self.numbers, self.names))),
            Some(line) => {
                let column = table.column_place(self.cells.column());
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
