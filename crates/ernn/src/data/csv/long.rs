//! Long tables: one row a step, put together by `series` (in order of first appearance) and ordered by `step`.

use super::super::labels::Names;
use super::super::number::shown;
use super::super::raw::Raw;
use super::tag::{self, Tag};
use super::{Place, Table};
use crate::Result;

/// One row; its values stand in [`Rows::values`] at its index.
struct Row {
    series: u32,
    step: f64,
    place: Place,
}

struct Rows {
    rows: Vec<Row>,
    values: Vec<f32>,
    series: Names,
    first_missing: Option<String>,
}

pub(super) fn read(mut table: Table) -> Result<Raw> {
    let mut tags = [table.columns.label, table.columns.group].map(|column| column.map(Tag::new));
    let rows = read_rows(&mut table, &mut tags)?;
    let order = ordered(&table, &rows)?;
    let tags = tag::finish(&table, tags)?;
    Ok(build(&table, rows, &order, tags))
}

fn read_rows(table: &mut Table, tags: &mut [Option<Tag>; 2]) -> Result<Rows> {
    let mut rows = Rows {
        rows: Vec::new(),
        values: Vec::new(),
        series: Names::default(),
        first_missing: None,
    };
    let series_column = table.columns.series.unwrap_or_default();
    while let Some(place) = table.next_row()? {
        let name = table.text(series_column);
        if name.is_empty() {
            let column = table.column_place(series_column);
            return Err(table.error(place, &column, "an empty cell", "the name of the series"));
        }
        let name = String::from_utf8_lossy(name).into_owned();
        let series = rows.series.number(&name);
        let step = read_step(table, place, rows.rows.len())?;
        rows.rows.push(Row { series, step, place });
        for tag in tags.iter_mut().flatten() {
            tag.read(table, place, series as usize, &name)?;
        }
        for &column in &table.columns.values {
            let value = table.number(place, column)?;
            if value.is_nan() && rows.first_missing.is_none() {
                rows.first_missing = Some(format!(", line {}{}", table.line(place), table.column_place(column)));
            }
            rows.values.push(value);
        }
    }
    Ok(rows)
}

/// The step of the current row: what the column says, or the row's number.
fn read_step(table: &Table, place: Place, row: usize) -> Result<f64> {
    let Some(column) = table.columns.step else {
        return Ok(row as f64);
    };
    let text = table.text(column);
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    number.filter(|number| number.is_finite()).ok_or_else(|| {
        let expected = "a number (without a step column the rows stay in their order)";
        table.error(place, &table.column_place(column), &shown(text), expected)
    })
}

/// The rows by series and step.
fn ordered(table: &Table, rows: &Rows) -> Result<Vec<usize>> {
    let key = |row: usize| (rows.rows[row].series, rows.rows[row].step);
    let mut order: Vec<usize> = (0..rows.rows.len()).collect();
    order.sort_by(|&a, &b| {
        let ((series_a, step_a), (series_b, step_b)) = (key(a), key(b));
        series_a.cmp(&series_b).then(step_a.total_cmp(&step_b)).then(a.cmp(&b))
    });
    let Some(pair) = order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) else {
        return Ok(order);
    };
    let (first, second) = (&rows.rows[pair[0]], &rows.rows[pair[1]]);
    let series = shown(rows.series.names[second.series as usize].as_bytes());
    let column = table
        .columns
        .step
        .map(|column| table.column_place(column))
        .unwrap_or_default();
    let found = format!("step {} of series {series} a second time", second.step);
    let expected = format!("it only once, as on line {}", table.line(first.place));
    Err(table.error(second.place, &column, &found, &expected))
}

fn build(table: &Table, rows: Rows, order: &[usize], [label, group]: [Option<(Vec<u32>, Names)>; 2]) -> Raw {
    let features = table.columns.values.len();
    let mut raw = Raw::new(table.path, features);
    raw.feature_names = table
        .columns
        .values
        .iter()
        .map(|&column| table.columns.names[column].clone())
        .collect();
    let mut values = Vec::new();
    for rows_of_series in order.chunk_by(|&a, &b| rows.rows[a].series == rows.rows[b].series) {
        let series = rows.rows[rows_of_series[0]].series as usize;
        values.clear();
        for &row in rows_of_series {
            values.extend_from_slice(&rows.values[row * features..(row + 1) * features]);
        }
        let of_series = |tag: &Option<(Vec<u32>, Names)>| tag.as_ref().map(|(numbers, _)| numbers[series]);
        raw.part.push(&values, of_series(&label), of_series(&group));
    }
    raw.names = rows.series.names;
    raw.labels = label.map(|(_, names)| names).unwrap_or_default();
    raw.first_missing = rows.first_missing;
    raw
}
