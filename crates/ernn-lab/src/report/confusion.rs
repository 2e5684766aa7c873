//! Confusion matrices as heat tables: true classes downwards, called ones to the right, each row colored by its shares.

use super::group::{Group, GroupRow};
use crate::reproduce::RunRecord;
use ernn::chart::escaped;

/// The darkest color, as an opacity: text stays readable on it in light and dark surroundings.
const DARKEST: f64 = 0.55;

/// One matrix a row, each behind a line that opens it.
pub(super) fn matrices(group: &Group) -> String {
    group.rows.iter().filter_map(matrix).collect()
}

/// The counts of all finished runs of a row together.
fn matrix(row: &GroupRow) -> Option<String> {
    let finished = row.runs.iter().filter(|run| run.test.is_some() && is_square(run));
    let mut runs: Vec<&RunRecord> = finished.collect();
    let first = *runs.first()?;
    let classes = &first.classes;
    runs.retain(|run| run.classes == *classes);
    let mut counts = vec![vec![0; classes.len()]; classes.len()];
    for (index, line) in runs.iter().flat_map(|run| &run.confusion).enumerate() {
        let sums = &mut counts[index % classes.len()];
        sums.iter_mut().zip(line).for_each(|(sum, count)| *sum += count);
    }
    let title = escaped(&first.row_title);
    let seeds = match runs.len() {
        1 => format!("seed {}", first.seed),
        count => format!("{count} seeds together"),
    };
    Some(format!(
        "<details>\n<summary>Confusion matrix of {title} ({seeds})</summary>\n{}</details>\n",
        heat_table(classes, &counts)
    ))
}

fn is_square(run: &RunRecord) -> bool {
    let size = run.classes.len();
    size > 0 && run.confusion.len() == size && run.confusion.iter().all(|line| line.len() == size)
}

/// Names of more letters stand upright above their columns.
const SHORT: usize = 4;

/// True classes downwards, called ones to the right.
fn heat_table(classes: &[String], counts: &[Vec<usize>]) -> String {
    let long = classes.iter().any(|name| name.chars().count() > SHORT);
    let class = if long { " class=\"upright\"" } else { "" };
    let mut html = String::from(
        "<div class=\"box\" tabindex=\"0\">\n<table class=\"heat\">\n<caption>Rows: the true class. Columns: what it was called.</caption>\n\
         <thead><tr><th scope=\"col\">true class</th>",
    );
    for name in classes {
        let name = escaped(name);
        html += &format!("<th scope=\"col\"{class} title=\"{name}\"><span>{name}</span></th>");
    }
    html += "</tr></thead>\n<tbody>\n";
    for (name, line) in classes.iter().zip(counts) {
        let all: usize = line.iter().sum();
        html += &format!("<tr><th scope=\"row\">{}</th>", escaped(name));
        for &count in line {
            let share = count as f64 / all.max(1) as f64;
            html += &match count {
                0 => "<td>0</td>".to_string(),
                _ => format!("<td style=\"--share:{:.3}\">{count}</td>", DARKEST * share),
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
    fn adds_the_seeds_up_and_leaves_broken_matrices_out() {
        let mut broken = run("rnn", 3, &[0.5]);
        broken.confusion = vec![vec![9]];
        let html = matrices(&group(vec![vec![run("rnn", 1, &[0.5]), run("rnn", 2, &[0.5]), broken]]));
        assert!(
            html.contains(
                "<th scope=\"row\">a</th><td style=\"--share:0.413\">6</td><td style=\"--share:0.138\">2</td>"
            ),
            "{html}"
        );
        assert!(
            html.contains("<th scope=\"row\">b</th><td>0</td><td style=\"--share:0.550\">8</td>"),
            "{html}"
        );
        let names =
            "<th scope=\"col\" title=\"a\"><span>a</span></th><th scope=\"col\" title=\"b\"><span>b</span></th>";
        assert!(
            html.contains(names),
            "classes have their names in both directions: {html}"
        );
        assert!(html.contains("(2 seeds together)") && !html.contains('9'), "{html}");
    }

    #[test]
    fn a_run_that_was_cut_short_has_none() {
        let mut cut = run("rnn", 1, &[0.5]);
        cut.test = None;
        assert_eq!(matrices(&group(vec![vec![cut]])), "");
    }
}
