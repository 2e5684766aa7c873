//! The figure of a group: learning curves, value against time, value against size, with one legend.

use super::group::{Group, GroupRow};
use super::speed::course;
use ernn::chart::{Chart, Figure, Line, Look, Point, Scale, Side, looks};
use ernn::evaluate::Metric;

/// Most lines of a figure that are still told apart.
const MOST_LINES: usize = 32;

/// All charts that have something to show; none if none has.
pub(super) fn figure(group: &Group) -> Option<Figure> {
    let metric = group.metric();
    let looks = looks(group.rows.iter().map(|row| row.runs[0].settings.cell()));
    let lines = |points: &dyn Fn(&GroupRow) -> Vec<(f64, f64)>| lines(group, &looks, points);
    let losses = lines(&|row| epochs(row.mean_curve(|run| &run.history.train_loss)));
    let validation = lines(&|row| {
        let values = row.mean_curve(|run| &run.history.validation).into_iter();
        epochs(values.map(|value| metric.shown(value)).collect())
    });
    let courses = lines(&|row| course(row, metric));
    let scale = |lines: &[Line]| match metric {
        Metric::Accuracy | Metric::MeanAveragePrecision => Scale::percent(values(lines)),
        Metric::Perplexity | Metric::RootMeanSquaredError | Metric::MeanSquaredError => Scale::losses(values(lines)),
    };
    let title = format!("Validation {}", metric.title());
    let across = |lines: &[Line]| Side::new("epoch", Scale::Whole(1.0, last(lines)));
    let mut charts = vec![
        Chart::new(
            "Training loss",
            across(&losses),
            Side::new("", Scale::losses(values(&losses))),
        ),
        Chart::new(&title, across(&validation), Side::new("", scale(&validation))),
        Chart::new(
            format!("Best so far: {}", title.to_lowercase()),
            time(&courses),
            Side::new("", scale(&courses)),
        ),
    ];
    if let [_, only] = &mut charts[..2] {
        only.best = best_epoch(group);
    }
    for (chart, lines) in charts.iter_mut().zip([losses, validation, courses]) {
        chart.lines = lines;
    }
    charts.extend(size(group, &looks));
    charts.retain(|chart| !chart.is_empty());
    (!charts.is_empty()).then(|| Figure::new(group.title.clone(), charts))
}

/// The epoch of a single run; of several there would be several.
fn best_epoch(group: &Group) -> Option<(f64, String)> {
    let [row] = &group.rows[..] else { return None };
    let [run] = &row.runs[..] else { return None };
    (run.best_epoch > 0).then(|| (run.best_epoch as f64, format!("best: epoch {}", run.best_epoch)))
}

fn epochs(values: Vec<f64>) -> Vec<(f64, f64)> {
    values
        .into_iter()
        .enumerate()
        .map(|(index, value)| ((index + 1) as f64, value))
        .collect()
}

fn lines(group: &Group, looks: &[Look], points: impl Fn(&GroupRow) -> Vec<(f64, f64)>) -> Vec<Line> {
    let rows = group.rows.iter().zip(looks).take(MOST_LINES);
    let line = |(row, &look): (&GroupRow, &Look)| Line {
        name: row.runs[0].row_title.clone(),
        look,
        points: points(row),
    };
    rows.map(line).filter(|line| !line.points.is_empty()).collect()
}

fn values(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines.iter().flat_map(|line| &line.points).map(|point| point.1)
}

fn last(lines: &[Line]) -> f64 {
    let points = lines.iter().flat_map(|line| &line.points);
    points.fold(1.0, |last, point| point.0.max(last))
}

/// Rows differ in speed by factors: then the axis is logarithmic.
fn time(lines: &[Line]) -> Side {
    let ends = lines.iter().filter_map(|line| Some(line.points.last()?.0));
    let (least, most) = ends.fold((f64::INFINITY, 0.0_f64), |(least, most), end| {
        (least.min(end), most.max(end))
    });
    if least > 0.0 && most > 8.0 * least {
        let places = lines.iter().flat_map(|line| &line.points).map(|point| point.0);
        return Side::new(
            "seconds of training, logarithmic",
            Scale::sizes(places.filter(|place| *place > 0.0)),
        );
    }
    Side::new("seconds of training", Scale::Linear(0.0, most.max(1e-3)))
}

/// Ours full, the paper's hollow.
fn size(group: &Group, looks: &[Look]) -> Option<Chart> {
    let metric = group.metric();
    let mut points = Vec::new();
    for (row, &look) in group.table().iter().zip(looks) {
        let ours = row.size_kb.zip(row.test.map(|spread| spread.mean));
        let paper = row.paper.kilobytes.zip(row.paper.figure(metric));
        for (found, hollow) in [(paper, true), (ours, false)] {
            points.extend(found.map(|place| Point {
                name: row.title.clone(),
                look,
                place,
                hollow,
            }));
        }
    }
    if !points.iter().any(|point| !point.hollow) {
        return None;
    }
    let hint = if points.iter().any(|point| point.hollow) {
        "full: ours, hollow: the paper's"
    } else {
        ""
    };
    let values = points.iter().map(|point| point.place.1);
    let scale = match metric {
        Metric::Accuracy | Metric::MeanAveragePrecision => Scale::percent(values),
        Metric::Perplexity | Metric::RootMeanSquaredError | Metric::MeanSquaredError => Scale::linear(values),
    };
    let sizes = Scale::sizes(points.iter().map(|point| point.place.0));
    let title = format!("Test {} against size", metric.title());
    let mut chart = Chart::new(title, Side::new("size in KB", sizes), Side::new(hint, scale));
    chart.points = points;
    Some(chart)
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::{group, run};
    use super::*;
    use ernn::chart::layout;

    #[test]
    fn a_figure_keeps_the_layout_and_has_one_legend() {
        let mut slow = run("lstm", 1, &[0.1, 0.2, 0.95]);
        slow.history.seconds = vec![100.0; 3];
        slow.settings.change_cell("lstm").unwrap();
        slow.paper.accuracy = Some(96.0);
        slow.paper.kilobytes = Some(29.0);
        let rows = vec![vec![run("ernn", 1, &[0.5, 0.7, 0.9])], vec![slow]];
        let figure = figure(&group(rows)).unwrap();
        assert_eq!(figure.charts.len(), 4);
        layout::check(&figure.svg());
        layout::check_page(&figure.html());
        assert_eq!(figure.html().matches("LSTM</li>").count(), 1);
        assert!(figure.html().contains("logarithmic") && figure.html().contains("hollow"));
    }

    #[test]
    fn the_best_epoch_of_a_single_run_is_named() {
        let text = |rows| figure(&group(rows)).unwrap().html();
        let one = run("ernn", 1, &[0.5, 0.7]);
        assert_eq!(text(vec![vec![one.clone()]]).matches(">best: epoch 2<").count(), 1);
        assert!(!text(vec![vec![one.clone(), run("ernn", 2, &[0.5])]]).contains("best: epoch"));
    }

    #[test]
    fn charts_without_anything_are_left_out() {
        let mut bare = run("rnn", 1, &[]);
        bare.test = None;
        assert!(figure(&group(vec![vec![bare.clone()]])).is_none());
        bare.test = Some(0.9);
        assert_eq!(figure(&group(vec![vec![bare]])).unwrap().charts.len(), 1);
    }
}
