//! The tables of a page. Each stands in a box of its own, inside which it scrolls.

use super::group::Group;
use super::speed::Speed;
use crate::chart::escaped;
use crate::evaluate::Metric;
use crate::reproduce::{TableRow, table_cells};

/// The main table: paper, ours, difference. Rows that reach the paper's figure are bold.
pub(super) fn main_table(group: &Group) -> String {
    let metric = group.metric();
    let rows = group.table();
    let mut columns: Vec<Vec<(String, String)>> = rows.iter().map(|row| table_cells(row, metric)).collect();
    drop_empty_columns(&mut columns);
    let head: Vec<String> = columns[0].iter().map(|(name, _)| name.clone()).collect();
    let lines = columns.iter().zip(&rows).map(|(cells, row)| {
        let values = cells.iter().map(|(_, value)| value.clone()).collect();
        (reaches(row, metric), values)
    });
    table("Paper and ours", &head, lines)
}

/// Whether our mean is as good as the paper's figure.
pub(super) fn reaches(row: &TableRow, metric: Metric) -> bool {
    row.difference.is_some_and(|difference| {
        if metric.higher_is_better() {
            difference >= 0.0
        } else {
            difference <= 0.0
        }
    })
}

/// Runs that are of no paper have no figures of one.
fn drop_empty_columns(rows: &mut [Vec<(String, String)>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let empty = |column: usize, rows: &[Vec<(String, String)>]| rows.iter().all(|row| row[column].1 == "-");
    for column in (0..columns).rev() {
        if empty(column, rows) {
            rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
}

/// Seconds of training until the validation part first shows a level.
pub(super) fn speed_table(group: &Group) -> Option<String> {
    let (head, rows) = speed_rows(group)?;
    Some(table(
        "Seconds of training until the validation part shows",
        &head,
        rows.into_iter().map(|row| (false, row)),
    ))
}

/// Head and lines, as text.
pub(super) fn speed_rows(group: &Group) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let metric = group.metric();
    let speed = Speed::of(group)?;
    let level = |level: &f64| {
        let bound = if metric.higher_is_better() {
            "at least"
        } else {
            "at most"
        };
        format!("{bound} {}", metric.text(*level))
    };
    let mut head = vec!["row".to_string()];
    head.extend(speed.levels.iter().map(level));
    let time = |seconds: &Option<f64>| seconds.map_or_else(|| "-".to_string(), |seconds| format!("{seconds:.2}"));
    let rows = group.rows.iter().zip(&speed.rows).map(|(row, times)| {
        let mut line = vec![row.runs[0].row_title.clone()];
        line.extend(times.iter().map(time));
        line
    });
    Some((head, rows.collect()))
}

/// A table whose first column names the rows. `lines` say whether they are bold.
pub(crate) fn table(caption: &str, head: &[String], lines: impl Iterator<Item = (bool, Vec<String>)>) -> String {
    let mut html = format!(
        "<div class=\"box\" tabindex=\"0\">\n<table>\n<caption>{}</caption>\n<thead><tr>",
        escaped(caption)
    );
    for name in head {
        html += &format!("<th scope=\"col\">{}</th>", escaped(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (bold, values) in lines {
        html += if bold { "<tr class=\"reached\">" } else { "<tr>" };
        for (column, value) in values.iter().enumerate() {
            let value = escaped(value);
            html += &match column {
                0 => format!("<th scope=\"row\">{value}</th>"),
                _ => format!("<td>{value}</td>"),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
}
