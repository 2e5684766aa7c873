//! What a model says of steps beside what they are, over time: a chart for each of some recordings.

use super::group::{Group, GroupRow};
use ernn::chart::{Chart, Figure, Line, Look, Scale, Side};
use ernn::evaluate::Timeline;

/// Charts of a group.
const CHARTS: usize = 6;

/// The recordings of the first run of each row that says a class for each step; none if none does.
pub(super) fn figure(group: &Group) -> Option<Figure> {
    let charts: Vec<Chart> = group.rows.iter().flat_map(charts).take(CHARTS).collect();
    (!charts.is_empty()).then(|| Figure {
        caption: Some(
            "What each step is and what it was called, of some recordings of the part that the run reports on, or that folds held out (the \
             first seed)."
                .to_string(),
        ),
        ..Figure::new(format!("{}: classes over time", group.title), charts)
    })
}

fn charts(row: &GroupRow) -> Vec<Chart> {
    let Some(run) = row.runs.iter().find(|run| !run.timelines.is_empty()) else {
        return Vec::new();
    };
    let several = run.timelines.len() > 1;
    let of = |(index, timeline): (usize, &Timeline)| {
        let title = match several {
            true => format!("{}, recording {}", run.row_title, index + 1),
            false => run.row_title.clone(),
        };
        chart(title, timeline, &run.classes)
    };
    run.timelines.iter().enumerate().map(of).collect()
}

fn chart(title: String, timeline: &Timeline, classes: &[String]) -> Chart {
    let (unit, name) = match timeline.seconds_a_step {
        Some(seconds) => (seconds / 60.0, "minutes"),
        None => (1.0, "steps"),
    };
    let line = |name: &str, look: Look, runs: &[[u32; 3]]| Line {
        name: name.to_string(),
        look,
        points: runs
            .iter()
            .flat_map(|&[start, end, class]| [start, end].map(|step| (f64::from(step) * unit, f64::from(class))))
            .collect(),
    };
    let lines = vec![
        line("what it is", Look::new(0, 0), &timeline.truth),
        line("what was said", Look::new(3, 1), &timeline.said),
    ];
    let last = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|&(time, _)| time)
        .fold(0.0, f64::max);
    let up = Side {
        names: classes.to_vec(),
        ..Side::new("", Scale::Whole(0.0, classes.len().saturating_sub(1) as f64))
    };
    let mut chart = Chart::new(title, Side::new(name, Scale::Linear(0.0, last)), up);
    chart.lines = lines;
    chart
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::{group, run};
    use super::*;
    use ernn::chart::layout;

    #[test]
    fn a_run_of_steps_has_a_picture_of_them() {
        let mut record = run("gru", 1, &[0.5]);
        assert!(figure(&group(vec![vec![record.clone()]])).is_none());
        record.classes = (0..19).map(|class| format!("activity {class}")).collect();
        let runs = |shift: u32| {
            (0..40)
                .map(|k| [50 * k + shift, 50 * (k + 1) + shift, k * 7 % 19])
                .collect()
        };
        record.timelines = vec![
            Timeline {
                truth: runs(0),
                said: runs(9),
                seconds_a_step: Some(0.04),
            };
            2
        ];
        let figure = figure(&group(vec![vec![record]])).unwrap();
        assert_eq!((figure.charts.len(), figure.charts[0].lines[0].points.len()), (2, 80));
        let html = figure.html();
        layout::check_page(&html);
        assert!(html.contains("activity 0") && html.contains("minutes"), "{html}");
    }
}
