//! Long tables: one row a step, put together by `series` (in order of first appearance) and ordered by `step`.
//!
//! While the rows of a series follow each other by step, values go straight to where they stay. Rows out of order are put into place
//! at the end, for which the series, step and line of each are kept.

use super::super::labels::Names;
use super::super::number::{exact, shown};
use super::super::raw::Raw;
use super::super::{Part, Values};
use super::channel::{self, Channel};
use super::growing::make_room;
use super::survey;
use super::tag::{self, Tag, Tags};
use super::target::{self, Target};
use super::{Line, Table};
use crate::Result;

/// One row; its values stand in [`Rows::values`] at its index.
struct Row {
    series: u32,
    step: f64,
    line: u32,
}

/// Values of rows in the order of the file, and what was seen of each channel.
pub(super) struct Rows {
    pub values: Vec<f32>,
    /// Where each sequence starts, in rows, as long as they are in order.
    pub offsets: Vec<usize>,
    pub count: usize,
    pub first_missing: Option<String>,
    /// The numbers to predict of each row, `[rows, targets]`; empty where steps have none.
    pub numbers: Vec<f32>,
    channels: Vec<Channel>,
}

impl Rows {
    pub fn new(table: &Table) -> Rows {
        Rows {
            values: Vec::new(),
            offsets: vec![0],
            count: 0,
            first_missing: None,
            numbers: Vec::new(),
            channels: vec![Channel::new(); table.columns.values.len()],
        }
    }

    /// What was seen of each channel.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Takes the values of the current row.
    pub fn push(&mut self, table: &mut Table) -> Result<()> {
        let features = table.columns.values.len();
        make_room(&mut self.values, features, table.path)?;
        for index in 0..features {
            let column = table.columns.values[index];
            let value = table.number(column)?;
            self.channels[index].see(table.text(column), table.decimal);
            if value.is_nan() && self.first_missing.is_none() {
                self.first_missing = Some(table.place(column));
            }
            self.values.push(value);
        }
        self.count += 1;
        Ok(())
    }

    /// The sequences; `in_order` says whether the rows stood in their order in the file.
    pub fn finish(mut self, table: &Table, in_order: bool, tags: Tags) -> Result<Raw> {
        let features = table.columns.values.len();
        if table.options.table.of_model.is_empty() {
            survey::refuse_lost(table, &self.channels)?;
            let several = in_order && self.offsets.len() > 2;
            survey::refuse_clock(
                table,
                (0..features).filter(|&feature| several && self.channels[feature].rises()),
            )?;
            let sequences = self.offsets.windows(2);
            let sequences: Vec<&[f32]> = sequences
                .map(|pair| &self.values[pair[0] * features..pair[1] * features])
                .collect();
            let identifies = |&feature: &usize| channel::identifies(&sequences, features, feature);
            survey::refuse_identifier(table, (0..features).filter(identifies))?;
        }
        self.values.shrink_to_fit();
        let mut raw = Raw::new(table.path, features);
        let names = table
            .columns
            .values
            .iter()
            .map(|&column| table.columns.names[column].clone());
        raw.feature_names = names.collect();
        let [label, group] = tags;
        let (labels, texts) = label.unwrap_or_default();
        raw.labels = texts;
        raw.first_missing = self.first_missing;
        let (groups, names) = group.unwrap_or_default();
        raw.groups = names;
        raw.part = Part {
            features,
            offsets: self.offsets,
            values: Values::Numbers(self.values),
            step_numbers: self.numbers,
            labels,
            groups,
            ..Part::default()
        };
        Ok(raw)
    }
}

/// Reads a table; nothing if rows are out of order and `keep_steps` is false.
pub(super) fn read(mut table: Table, keep_steps: bool) -> Result<Option<Raw>> {
    let mut tags = Tag::both(&table);
    let mut targets = Target::of(&table);
    let of_steps = table.options.table.has_step_targets();
    let mut rows = Rows::new(&table);
    let mut order = Order::new(keep_steps);
    while table.next_row()? {
        let series = match order.place(&table, rows.count)? {
            Placed::First(series) if order.in_order => {
                if rows.count > 0 {
                    rows.offsets.push(rows.count);
                }
                series
            }
            Placed::First(series) | Placed::Next(series) => series,
            Placed::OutOfOrder => return Ok(None),
        };
        for tag in tags.iter_mut().flatten() {
            tag.read(&table, series as usize, &order.name)?;
        }
        for target in &mut targets {
            match of_steps {
                true => rows.numbers.push(target.read_step(&mut table)?),
                false => target.read(&mut table, series as usize, &order.name)?,
            }
        }
        rows.push(&mut table)?;
    }
    if rows.count > 0 {
        rows.offsets.push(rows.count);
    }
    if !order.in_order {
        order.sort(&table, &mut rows)?;
    }
    let tags = tag::finish(&table, tags)?;
    let mut raw = rows.finish(&table, order.in_order, tags)?;
    raw.targets = target::finish(&targets, &table)?;
    raw.of_steps = of_steps;
    raw.names = order.series.names;
    Ok(Some(raw))
}

/// Where a row belongs.
enum Placed {
    /// To a series that begins with it.
    First(u32),
    /// Behind the row before, or, with the steps kept, anywhere.
    Next(u32),
    /// Elsewhere, and the steps were not kept.
    OutOfOrder,
}

/// Watches series and steps.
struct Order {
    series: Names,
    /// The series of the row before, and its number.
    name: Vec<u8>,
    current: u32,
    last: f64,
    last_line: Line,
    in_order: bool,
    keep: bool,
    rows: Vec<Row>,
}

impl Order {
    fn new(keep: bool) -> Order {
        Order {
            series: Names::default(),
            name: Vec::new(),
            current: 0,
            last: f64::NEG_INFINITY,
            last_line: 0,
            in_order: true,
            keep,
            rows: Vec::new(),
        }
    }

    fn place(&mut self, table: &Table, row: usize) -> Result<Placed> {
        let column = table.columns.series.unwrap_or_default();
        let name = table.text(column);
        if name.is_empty() {
            let column = table.column_place(column);
            return Err(table.error(table.line(), &column, "an empty cell", "the name of the series"));
        }
        let known = self.series.names.len();
        if row == 0 || self.name != name {
            self.name = name.to_vec();
            self.current = self.series.number(&String::from_utf8_lossy(name));
            let is_new = self.series.names.len() > known;
            self.in_order &= is_new;
            self.last = f64::NEG_INFINITY;
        }
        let is_new = self.series.names.len() > known;
        let step = read_step(table, row)?;
        if self.in_order && step == self.last {
            return Err(self.twice(table, table.line(), self.current, step, self.last_line));
        }
        self.in_order &= step > self.last;
        (self.last, self.last_line) = (step, table.line());
        if self.keep {
            make_room(&mut self.rows, 1, table.path)?;
            self.rows.push(Row {
                series: self.current,
                step,
                line: table.line().try_into().unwrap_or(u32::MAX),
            });
        }
        Ok(match (self.in_order || self.keep, is_new) {
            (false, _) => Placed::OutOfOrder,
            (true, true) => Placed::First(self.current),
            (true, false) => Placed::Next(self.current),
        })
    }

    fn twice(&self, table: &Table, line: Line, series: u32, step: f64, first: Line) -> crate::Error {
        let series = shown(self.series.names[series as usize].as_bytes());
        let column = table.columns.step.map(|column| table.column_place(column));
        let found = format!("step {step} of series {series} a second time");
        let expected = format!("it only once, as on {} {first}", table.words.line);
        table.error(line, &column.unwrap_or_default(), &found, &expected)
    }

    /// Puts the rows into their order by series and step.
    fn sort(&self, table: &Table, rows: &mut Rows) -> Result<()> {
        let key = |row: usize| (self.rows[row].series, self.rows[row].step);
        let mut order: Vec<usize> = Vec::new();
        make_room(&mut order, rows.count, table.path)?;
        order.extend(0..rows.count);
        order.sort_unstable_by(|&a, &b| {
            let ((series_a, step_a), (series_b, step_b)) = (key(a), key(b));
            series_a.cmp(&series_b).then(step_a.total_cmp(&step_b)).then(a.cmp(&b))
        });
        if let Some(pair) = order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
            let (first, second) = (&self.rows[pair[0]], &self.rows[pair[1]]);
            return Err(self.twice(
                table,
                second.line as usize,
                second.series,
                second.step,
                first.line as usize,
            ));
        }
        rows.offsets = vec![0];
        for (place, pair) in order.windows(2).enumerate() {
            if key(pair[0]).0 != key(pair[1]).0 {
                rows.offsets.push(place + 1);
            }
        }
        rows.offsets.push(rows.count);
        if !rows.numbers.is_empty() {
            permute(&mut rows.numbers, table.columns.targets.len(), order.clone());
        }
        permute(&mut rows.values, table.columns.values.len(), order);
        Ok(())
    }
}

/// The step of the current row: what the column says, or the row's number.
fn read_step(table: &Table, row: usize) -> Result<f64> {
    let Some(column) = table.columns.step else {
        return Ok(row as f64);
    };
    exact(table.text(column), table.decimal).ok_or_else(|| {
        let name = super::names::quoted(&table.columns.names[column]);
        let expected = format!("a number (with --ignore {name} the rows stay in their order)");
        table.error(
            table.line(),
            &table.column_place(column),
            &shown(table.text(column)),
            &expected,
        )
    })
}

/// Puts rows of `width` values into the order `from`, a place's row each, without a second copy of the values.
fn permute(values: &mut [f32], width: usize, mut from: Vec<usize>) {
    let mut held = vec![0.0; width];
    for start in 0..from.len() {
        if from[start] == start {
            continue;
        }
        held.copy_from_slice(&values[start * width..(start + 1) * width]);
        let mut place = start;
        loop {
            let source = std::mem::replace(&mut from[place], place);
            if source == start {
                break values[place * width..(place + 1) * width].copy_from_slice(&held);
            }
            values.copy_within(source * width..(source + 1) * width, place * width);
            place = source;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_put_into_any_order() {
        for order in [vec![0, 1, 2, 3], vec![3, 2, 1, 0], vec![1, 2, 3, 0], vec![2, 0, 1, 3]] {
            let mut values: Vec<f32> = (0..8).map(|value| value as f32).collect();
            permute(&mut values, 2, order.clone());
            let expected: Vec<f32> = order
                .iter()
                .flat_map(|&row| [2.0 * row as f32, 2.0 * row as f32 + 1.0])
                .collect();
            assert_eq!(values, expected, "{order:?}");
        }
    }
}
