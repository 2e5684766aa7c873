//! The tables of a group: the main one, which fits a phone, and the rest of its numbers behind a line that opens them.

use super::group::{Group, GroupRow};
use super::speed::Speed;
use crate::reproduce::{TableRow, table_cells};
use ernn::chart::escaped;
use ernn::evaluate::Metric;

/// Where a number is not known.
const NOTHING: &str = "-";
/// Best epochs of so many runs are listed.
const MOST_EPOCHS: usize = 5;

/// Head and lines, as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Grid {
    pub head: Vec<String>,
    pub lines: Vec<Vec<String>>,
    /// Lines that reach the paper's figure.
    pub reached: Vec<bool>,
    /// The column that people look for.
    pub wanted: usize,
}

impl Grid {
    /// These columns, without those that are empty in all lines; the first one, which names the rows, stays.
    fn of(lines: &[Vec<(String, String)>], wanted: impl Fn(&str) -> bool, reached: Vec<bool>) -> Self {
        let first = lines.first().map_or(&[][..], |line| &line[..]);
        let shown = |column: &usize| {
            let known = lines.iter().any(|line| line[*column].1 != NOTHING);
            *column == 0 || (known && wanted(&first[*column].0))
        };
        let columns: Vec<usize> = (0..first.len()).filter(shown).collect();
        let line = |line: &Vec<(String, String)>| columns.iter().map(|&column| line[column].1.clone()).collect();
        Grid {
            head: columns.iter().map(|&column| first[column].0.clone()).collect(),
            lines: lines.iter().map(line).collect(),
            reached,
            wanted: 0,
        }
    }

    fn html(&self, caption: &str, class: &str) -> String {
        let lines = self.reached.iter().copied().zip(self.lines.clone());
        framed_table(caption, class, &self.head, self.wanted, lines)
    }
}

/// The main table and the rest of the numbers. The main one has few columns: paper, ours, difference and size; where nothing was tested,
/// what the validation part says.
pub(super) fn grids(group: &Group) -> (Grid, Grid) {
    let metric = group.metric();
    let rows = group.table();
    let reached: Vec<bool> = rows.iter().map(|row| reaches(row, metric)).collect();
    let tested = rows
        .iter()
        .any(|row| row.test.is_some() || row.cut_short + row.diverged > 0);
    let of_paper = rows.iter().any(|row| row.paper.figure(metric).is_some());
    let lines = rows
        .iter()
        .zip(&group.rows)
        .map(|(row, found)| cells(row, found, metric));
    let lines: Vec<Vec<(String, String)>> = lines.collect();
    let paper = paper_column(metric);
    let main =
        |name: &str| [&paper[..], "ours", "difference", "KB"].contains(&name) || (!tested && name == "validation");
    let mut first = Grid::of(&lines, main, reached.clone());
    let rest = Grid::of(&lines, |name| !main(name) && name != "difference", reached);
    first.wanted = first
        .head
        .iter()
        .position(|name| name == "ours" || name == "validation")
        .unwrap_or(0);
    // The unit stands once, above the number that people look for.
    for name in &mut first.head {
        *name = match &name[..] {
            "ours" if of_paper => format!("ours: {}", metric.title()),
            "ours" => format!("test: {}", metric.title()),
            "validation" => format!("validation: {}", metric.title()),
            name if name == paper => "paper".to_string(),
            name => name.to_string(),
        };
    }
    (first, rest)
}

fn paper_column(metric: Metric) -> String {
    format!("paper: {}", metric.title())
}

/// The cells of `ernn reproduce`, and what only a report has.
fn cells(row: &TableRow, found: &GroupRow, metric: Metric) -> Vec<(String, String)> {
    let mut cells = table_cells(row, metric);
    let parameters = row
        .parameters
        .map_or_else(|| NOTHING.to_string(), |count| count.to_string());
    let best: Vec<usize> = found
        .runs
        .iter()
        .map(|run| run.best_epoch)
        .filter(|epoch| *epoch > 0)
        .collect();
    let mut epochs: Vec<String> = best.iter().take(MOST_EPOCHS).map(usize::to_string).collect();
    if best.len() > MOST_EPOCHS {
        epochs.push("..".to_string());
    }
    let epochs = if epochs.is_empty() {
        NOTHING.to_string()
    } else {
        epochs.join(", ")
    };
    cells.push(("parameters".to_string(), parameters));
    cells.push(("best epoch".to_string(), epochs));
    cells
}

/// The main table, which fits a phone, and the rest on demand. Rows that reach the paper's figure are bold.
pub(super) fn main_tables(group: &Group) -> String {
    let (first, rest) = grids(group);
    let caption = if first.head.iter().any(|name| name == "paper") {
        "Paper and ours"
    } else {
        "Results"
    };
    let mut html = first.html(caption, "box main");
    if rest.head.len() > 1 {
        let table = rest.html("", "box");
        html += &format!(
            "<details>\n<summary>More numbers: spread, validation, times, seeds</summary>\n{table}</details>\n"
        );
    }
    html
}

/// Whether our mean is as good as the paper's figure.
fn reaches(row: &TableRow, metric: Metric) -> bool {
    row.difference.is_some_and(|difference| {
        if metric.higher_is_better() {
            difference >= 0.0
        } else {
            difference <= 0.0
        }
    })
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
    let time = |seconds: &Option<f64>| seconds.map_or_else(|| NOTHING.to_string(), |seconds| format!("{seconds:.2}"));
    let rows = group.rows.iter().zip(&speed.rows).map(|(row, times)| {
        let mut line = vec![row.runs[0].row_title.clone()];
        line.extend(times.iter().map(time));
        line
    });
    Some((head, rows.collect()))
}

/// A table whose first column names the rows. `lines` say whether they are bold.
pub(crate) fn table(caption: &str, head: &[String], lines: impl Iterator<Item = (bool, Vec<String>)>) -> String {
    framed_table(caption, "box", head, 0, lines)
}

fn framed_table(
    caption: &str,
    class: &str,
    head: &[String],
    wanted: usize,
    lines: impl Iterator<Item = (bool, Vec<String>)>,
) -> String {
    let mut html = format!("<div class=\"{class}\" tabindex=\"0\">\n<table>\n");
    if !caption.is_empty() {
        html += &format!("<caption>{}</caption>\n", escaped(caption));
    }
    let class = |column: usize| {
        if column > 0 && column == wanted {
            " class=\"wanted\""
        } else {
            ""
        }
    };
    html += "<thead><tr>";
    for (column, name) in head.iter().enumerate() {
        html += &format!("<th scope=\"col\"{}>{}</th>", class(column), escaped(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (bold, values) in lines {
        html += if bold { "<tr class=\"reached\">" } else { "<tr>" };
        for (column, value) in values.iter().enumerate() {
            // Where a cell wraps, a deviation keeps its sign.
            let value = escaped(value).replace(" ± ", " ±&nbsp;");
            html += &match column {
                0 => format!("<th scope=\"row\">{value}</th>"),
                _ => format!("<td{}>{value}</td>", class(column)),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::{group, run};
    use super::*;

    #[test]
    fn the_main_table_has_few_columns_and_the_paper_only_where_there_is_one() {
        let bare = run("rnn", 1, &[0.5, 0.6]);
        let (first, rest) = grids(&group(vec![vec![bare.clone()]]));
        assert_eq!(first.head, ["row", "test: accuracy, %", "KB"]);
        assert_eq!((first.wanted, &first.lines[0][1][..]), (1, "90.00"));
        assert!(rest.head.iter().all(|name| !name.contains("paper")), "{:?}", rest.head);
        assert!(rest.head.contains(&"best epoch".to_string()) && rest.head.contains(&"seeds".to_string()));
        let mut known = bare.clone();
        known.paper.accuracy = Some(89.0);
        let (first, _) = grids(&group(vec![vec![known], vec![bare]]));
        assert_eq!(first.head, ["row", "paper", "ours: accuracy, %", "difference", "KB"]);
        assert_eq!(first.reached, [true, false]);
    }

    #[test]
    fn without_a_test_part_the_validation_part_speaks() {
        let mut record = run("rnn", 1, &[0.5, 0.6]);
        record.test = None;
        let (first, _) = grids(&group(vec![vec![record]]));
        assert_eq!(first.head, ["row", "validation: accuracy, %", "KB"]);
        assert_eq!((first.wanted, &first.lines[0][1][..]), (1, "60.00"));
    }
}
