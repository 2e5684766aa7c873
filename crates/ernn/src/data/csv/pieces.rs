//! Logs: one row a step and nothing that says where a sequence ends. Rows that follow each other and have one series, label and group
//! are cut into sequences of so many rows; the last of them is as long as what is left.
//!
//! Sequences of one series resemble each other: the series is their group, unless a column says otherwise, so that no series is on
//! both sides of a split.

use super::super::labels::Names;
use super::super::number::{exact, shown};
use super::super::raw::Raw;
use super::Table;
use super::long::Rows;
use super::tag::{self, Tag};
use super::target::{self, Target};
use crate::Result;

/// What the rows of a sequence have in common, as it stands in their cells.
#[derive(Default, PartialEq)]
struct Common {
    series: Vec<u8>,
    label: Vec<u8>,
    group: Vec<u8>,
}

impl Common {
    fn of(table: &Table) -> Common {
        let text = |column: Option<usize>| column.map_or_else(Vec::new, |column| table.text(column).to_vec());
        Common {
            series: text(table.columns.series),
            label: text(table.columns.label),
            group: text(table.columns.group),
        }
    }

    fn is_of(&self, table: &Table) -> bool {
        let same = |column: Option<usize>, own: &[u8]| column.is_none_or(|column| table.text(column) == own);
        same(table.columns.series, &self.series)
            && same(table.columns.label, &self.label)
            && same(table.columns.group, &self.group)
    }
}

/// Reads a log into sequences of at most `window` rows.
pub(super) fn read(mut table: Table, window: usize) -> Result<Raw> {
    if window == 0 {
        return Err(crate::Error::setting("window", "0", "at least 1 row a sequence"));
    }
    let group = table.columns.group.or(table.columns.series);
    let mut tags = [table.columns.label, group].map(|column| column.map(Tag::new));
    let mut target = Target::of(&table);
    let mut rows = Rows::new(&table);
    let (mut common, mut series) = (Common::default(), Names::default());
    let (mut names, mut last) = (Vec::new(), f64::NEG_INFINITY);
    while table.next_row()? {
        let same = rows.count > 0 && common.is_of(&table);
        if !same {
            let now = Common::of(&table);
            if rows.count == 0 || now.series != common.series {
                begin_series(&table, &now.series, &mut series)?;
                last = f64::NEG_INFINITY;
            }
            common = now;
        }
        let start = rows.offsets.last().copied().unwrap_or(0);
        if !same || rows.count - start == window {
            if rows.count > 0 {
                rows.offsets.push(rows.count);
            }
            names.push(format!("line {}", table.line()));
        }
        check_step(&table, &mut last)?;
        for tag in tags.iter_mut().flatten() {
            tag.read(&table, rows.offsets.len() - 1, &common.series)?;
        }
        if let Some(target) = &mut target {
            target.read(&mut table, rows.offsets.len() - 1, &common.series)?;
        }
        rows.push(&mut table)?;
    }
    if rows.count > 0 {
        rows.offsets.push(rows.count);
    }
    let tags = tag::finish(&table, tags)?;
    let mut raw = rows.finish(&table, true, tags)?;
    raw.targets = target::finish(target, &table)?;
    raw.names = names;
    Ok(raw)
}

/// The rows of a series of a log stand together.
fn begin_series(table: &Table, name: &[u8], series: &mut Names) -> Result<()> {
    let known = series.names.len();
    series.number(&String::from_utf8_lossy(name));
    if series.names.len() > known {
        return Ok(());
    }
    let column = table
        .columns
        .series
        .map(|column| table.column_place(column))
        .unwrap_or_default();
    let found = format!("rows of {} in two places", shown(name));
    Err(table.error(
        table.line(),
        &column,
        &found,
        "the rows of a series together, to cut them into sequences",
    ))
}

fn check_step(table: &Table, last: &mut f64) -> Result<()> {
    let Some(column) = table.columns.step else {
        return Ok(());
    };
    let text = table.text(column);
    let expected = match exact(text, table.decimal) {
        Some(step) if step > *last => {
            *last = step;
            return Ok(());
        }
        Some(_) => format!("more than {last}, the step of the row before, to cut the rows into sequences"),
        None => "a number".to_owned(),
    };
    Err(table.error(table.line(), &table.column_place(column), &shown(text), &expected))
}
