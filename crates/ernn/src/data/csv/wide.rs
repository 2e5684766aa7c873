//! Wide tables: one row a sequence of one channel. Missing values at the end of a row mean a shorter sequence; elsewhere they
//! are missing.

use super::super::raw::Raw;
use super::super::{Part, Values};
use super::Table;
use super::channel::Channel;
use super::growing::make_room;
use super::survey;
use super::tag::{self, Tag};
use super::target::{self, Target};
use crate::Result;

pub(super) fn read(mut table: Table) -> Result<Raw> {
    let mut tags = Tag::both(&table);
    let mut targets = Target::of(&table);
    let mut raw = Raw::new(table.path, 1);
    raw.feature_names = vec!["value".to_owned()];
    let (mut values, mut offsets): (Vec<f32>, _) = (Vec::new(), vec![0]);
    let mut channel = Channel::new();
    while table.next_row()? {
        let start = values.len();
        make_room(&mut values, table.columns.values.len(), table.path)?;
        for index in 0..table.columns.values.len() {
            let column = table.columns.values[index];
            values.push(table.number(column)?);
            channel.see(table.text(column), table.decimal);
        }
        let row = &values[start..];
        let length = row.iter().rposition(|value| !value.is_nan()).map_or(0, |last| last + 1);
        if length == 0 {
            return Err(table.error(table.line(), "", "a sequence of no steps", "at least one value"));
        }
        let gap = row[..length].iter().position(|value| value.is_nan());
        if let (None, Some(gap)) = (&raw.first_missing, gap) {
            raw.first_missing = Some(table.place(table.columns.values[gap]));
        }
        values.truncate(start + length);
        for tag in tags.iter_mut().flatten() {
            tag.read(&table, offsets.len() - 1, b"")?;
        }
        for target in &mut targets {
            target.read(&mut table, offsets.len() - 1, b"")?;
        }
        offsets.push(values.len());
    }
    if table.options.table.of_model.is_empty() {
        survey::refuse_lost(&table, std::slice::from_ref(&channel))?;
    }
    values.shrink_to_fit();
    let [label, group] = tag::finish(&table, tags)?;
    let (labels, texts) = label.unwrap_or_default();
    raw.labels = texts;
    let (groups, names) = group.unwrap_or_default();
    raw.groups = names;
    raw.targets = target::finish(&targets, &table)?;
    raw.part = Part {
        features: 1,
        offsets,
        values: Values::Numbers(values),
        labels,
        groups,
        ..Part::default()
    };
    Ok(raw)
}
