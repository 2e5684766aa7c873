//! Predicted numbers against true ones: a chart for each row, a point for each sequence, and the line on which they are equal.

use super::group::{Group, GroupRow};
use ernn::chart::{Chart, Figure, Line, Look, Point, Scale, Side, looks};

/// Rows with a chart.
const CHARTS: usize = 6;

/// One chart for each row that predicts numbers, of its first run; none if none does.
pub(super) fn figure(group: &Group) -> Option<Figure> {
    let looks = looks(group.rows.iter().map(|row| row.runs[0].settings.cell()));
    let rows = group.rows.iter().zip(looks);
    let charts: Vec<Chart> = rows.filter_map(|(row, look)| chart(row, look)).take(CHARTS).collect();
    (!charts.is_empty()).then(|| Figure {
        caption: Some(
            "Predicted against true: sequences that were held out by folds, else those of the part that the run reports on (the first seed, at \
             most 400 of them). On the line both are equal."
                .to_string(),
        ),
        ..Figure::new(format!("{}: predicted against true", group.title), charts)
    })
}

fn chart(row: &GroupRow, look: Look) -> Option<Chart> {
    let run = row.runs.iter().find(|run| !run.pairs.is_empty())?;
    let places: Vec<(f64, f64)> = run
        .pairs
        .iter()
        .map(|&[found, target]| (f64::from(target), f64::from(found)))
        .filter(|(target, found)| target.is_finite() && found.is_finite())
        .collect();
    let (low, high) = places
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &(x, y)| {
            (low.min(x).min(y), high.max(x).max(y))
        });
    let both = || Scale::linear([low, high].into_iter());
    let mut chart = Chart::new(
        run.row_title.clone(),
        Side::new("true", both()),
        Side::new("predicted", both()),
    );
    chart.lines = vec![Line {
        name: String::new(),
        look,
        points: vec![(low, low), (high, high)],
    }];
    let point = |place| Point {
        name: run.row_title.clone(),
        look,
        place,
        hollow: true,
    };
    chart.points = places.into_iter().map(point).collect();
    (!chart.points.is_empty()).then_some(chart)
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::{group, run};
    use super::*;
    use ernn::chart::layout;

    #[test]
    fn a_run_of_numbers_has_a_picture_of_them() {
        let mut record = run("gru", 1, &[0.5]);
        assert!(figure(&group(vec![vec![record.clone()]])).is_none());
        record.pairs = (0..30).map(|place| [place as f32 * 1.1, place as f32]).collect();
        record.pairs.push([f32::NAN, 1.0]);
        let figure = figure(&group(vec![vec![record]])).unwrap();
        assert_eq!((figure.charts.len(), figure.charts[0].points.len()), (1, 30));
        layout::check_page(&figure.html());
    }
}
