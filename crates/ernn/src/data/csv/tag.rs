//! A text column that says something about a whole sequence: its label or its group.

use super::super::labels::Names;
use super::super::number::shown;
use super::{Place, Table};
use crate::Result;

/// The values of such a column, one a sequence.
pub(super) struct Tag {
    column: usize,
    /// The distinct texts.
    pub names: Names,
    numbers: Vec<u32>,
    places: Vec<Place>,
    empty: Option<Place>,
}

impl Tag {
    pub fn new(column: usize) -> Tag {
        Tag {
            column,
            names: Names::default(),
            numbers: Vec::new(),
            places: Vec::new(),
            empty: None,
        }
    }

    /// Takes the text of the current row for a sequence; sequences come in order of their numbers, rows in any order.
    pub fn read(&mut self, table: &Table, place: Place, sequence: usize, name: &str) -> Result<()> {
        let text = table.text(self.column);
        if text.is_empty() {
            self.empty.get_or_insert(place);
        }
        let number = self.names.number(&String::from_utf8_lossy(text));
        let Some(&known) = self.numbers.get(sequence) else {
            self.numbers.push(number);
            self.places.push(place);
            return Ok(());
        };
        if known == number {
            return Ok(());
        }
        let found = format!("{} for series {}", shown(text), shown(name.as_bytes()));
        let first = shown(self.names.names[known as usize].as_bytes());
        let expected = format!("{first} as on line {}", table.line(self.places[sequence]));
        Err(table.error(place, &table.column_place(self.column), &found, &expected))
    }

    /// One number a sequence, or nothing if the whole column is empty.
    pub fn finish(self, table: &Table) -> Result<Option<(Vec<u32>, Names)>> {
        match self.empty {
            None => Ok(Some((self.numbers, self.names))),
            Some(_) if self.names.names.len() == 1 => Ok(None),
            Some(place) => {
                let column = table.column_place(self.column);
                Err(table.error(place, &column, "an empty cell", "a value in every row, or in none"))
            }
        }
    }
}

/// Finishes the two tags of a table: groups, labels.
#[allow(clippy::type_complexity)]
pub(super) fn finish(table: &Table, tags: [Option<Tag>; 2]) -> Result<[Option<(Vec<u32>, Names)>; 2]> {
    let [label, group] = tags.map(|tag| tag.map(|tag| tag.finish(table)).transpose());
    Ok([label?.flatten(), group?.flatten()])
}
