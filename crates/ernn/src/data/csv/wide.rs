//! Wide tables: one row a sequence of one channel. Missing values at the end of a row mean a shorter sequence; elsewhere they
//! are missing.

use super::super::raw::Raw;
use super::Table;
use super::tag::{self, Tag};
use crate::Result;

pub(super) fn read(mut table: Table) -> Result<Raw> {
    let mut tags = [table.columns.label, table.columns.group].map(|column| column.map(Tag::new));
    let mut raw = Raw::new(table.path, 1);
    raw.feature_names = vec!["value".to_owned()];
    let mut values = Vec::new();
    while let Some(place) = table.next_row()? {
        values.clear();
        for &column in &table.columns.values {
            values.push(table.number(place, column)?);
        }
        let length = values
            .iter()
            .rposition(|value| !value.is_nan())
            .map_or(0, |last| last + 1);
        if length == 0 {
            return Err(table.error(place, "", "a sequence of no steps", "at least one value"));
        }
        if let (None, Some(gap)) = (
            &raw.first_missing,
            values[..length].iter().position(|value| value.is_nan()),
        ) {
            let column = table.column_place(table.columns.values[gap]);
            raw.first_missing = Some(format!(", line {}{column}", table.line(place)));
        }
        for tag in tags.iter_mut().flatten() {
            tag.read(&table, place, raw.part.len(), "")?;
        }
        raw.part.push(&values[..length], None, None);
    }
    let [label, group] = tag::finish(&table, tags)?;
    if let Some((numbers, names)) = label {
        raw.part.labels = numbers;
        raw.labels = names;
    }
    raw.part.groups = group.map(|(numbers, _)| numbers).unwrap_or_default();
    Ok(raw)
}
