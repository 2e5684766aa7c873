//! `curves.svg` of a comparison: how fast the variants learn. Training loss and validation accuracy over the epochs, each line the
//! mean over the seeds of a row.

use super::Row;
use ernn::chart::{Chart, Figure, Line, Look, Scale, Side, looks};
use ernn::checkpoint::EpochRecord;
use ernn::train::{Overfitting, PastRun};

/// Draws rows with those of their runs that have ended. A row without one has no line.
pub(super) fn draw(rows: &[Row], ended: &[Vec<PastRun>]) -> String {
    let looks = looks(rows.iter().map(|row| row.settings.cell()));
    let lines = |value: fn(&EpochRecord) -> Option<f64>| -> Vec<Line> {
        let line = |((row, &look), runs): ((&Row, &Look), &Vec<PastRun>)| Line {
            name: row.name.clone(),
            look,
            points: means(runs, value),
        };
        rows.iter().zip(&looks).zip(ended).map(line).collect()
    };
    let train = lines(|record| Some(record.train_loss));
    let losses = lines(|record| record.validation_loss);
    let accuracies = lines(|record| Some(100.0 * record.validation_accuracy?));
    let overfitting = overfitting(&train, &losses);
    let scale = Scale::losses(values(&train));
    let mut charts = vec![chart("Training loss", train, scale)];
    // Where a number is asked for, there is no accuracy.
    if values(&accuracies).next().is_some() {
        let scale = Scale::percent(values(&accuracies));
        charts.push(chart("Validation accuracy, %", accuracies, scale));
    } else {
        let scale = Scale::losses(values(&losses));
        charts.push(chart("Validation loss", losses, scale));
    }
    let label = "Training loss and validation accuracy of each cell over the epochs";
    let mut figure = Figure::new(label, charts);
    figure.caption = overfitting;
    figure.svg()
}

fn chart(title: &str, lines: Vec<Line>, scale: Scale) -> Chart {
    let points = lines.iter().flat_map(|line| &line.points);
    let last = points.fold(1.0, |last: f64, point| last.max(point.0));
    let across = Side::new("epoch", Scale::Whole(1.0, last));
    let mut chart = Chart::new(title, across, Side::new("", scale));
    chart.lines = lines;
    chart
}

fn values(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines.iter().flat_map(|line| &line.points).map(|point| point.1)
}

/// The rows whose mean validation loss rises while their mean training loss falls.
fn overfitting(train: &[Line], validation: &[Line]) -> Option<String> {
    let losses = |line: &Line| line.points.iter().map(|point| point.1).collect::<Vec<f64>>();
    let row = |(train, validation): (&Line, &Line)| {
        let found = Overfitting::of(&losses(train), &losses(validation))?;
        Some(format!("{} from epoch {} on", train.name, found.epoch))
    };
    let rows: Vec<String> = train.iter().zip(validation).filter_map(row).collect();
    (!rows.is_empty()).then(|| {
        let rows = rows.join("; ");
        format!("Overfitting (the validation loss rises while the training loss falls): {rows}.")
    })
}

/// The mean of every epoch that all finished runs have reached: where one has stopped early, a mean of the others would jump.
fn means(runs: &[PastRun], value: fn(&EpochRecord) -> Option<f64>) -> Vec<(f64, f64)> {
    let finished = runs.iter().filter(|run| run.is_finished());
    let point = |record: &EpochRecord| Some((record.epoch as f64, value(record)?));
    let curves: Vec<Vec<(f64, f64)>> = finished
        .map(|run| run.selecting().filter_map(point).collect())
        .collect();
    let points = curves.iter().map(Vec::len).min().unwrap_or(0);
    let mean = |point: usize| curves.iter().map(|curve| curve[point].1).sum::<f64>() / curves.len() as f64;
    (0..points).map(|point| (curves[0][point].0, mean(point))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ernn::checkpoint::Phase;
    use ernn::evaluate::Evaluation;
    use ernn::train::{Ending, RunConfig};

    fn run(ending: Ending, losses: &[f64]) -> PastRun {
        let record = |(index, &train_loss): (usize, &f64)| EpochRecord {
            epoch: index + 1,
            train_loss,
            ..EpochRecord::default()
        };
        let retraining = EpochRecord {
            phase: Phase::Retrain,
            train_loss: 100.0,
            ..EpochRecord::default()
        };
        PastRun {
            dataset: "digits".to_string(),
            ending,
            error: None,
            part: "test".to_string(),
            evaluation: Evaluation::default(),
            longest_sequence: None,
            parameters: 1,
            nonzero_parameters: 1,
            embedding_parameters: 0,
            size_kb: 1.0,
            train_seconds: 1.0,
            best_epoch: 1,
            version: "0".to_string(),
            machine: serde_json::Value::Null,
            settings: RunConfig::defaults("digits"),
            folds: None,
            history: losses.iter().enumerate().map(record).chain([retraining]).collect(),
        }
    }

    #[test]
    fn a_line_is_the_mean_of_finished_runs_as_far_as_all_go() {
        let runs = [
            run(Ending::Finished, &[4.0, 2.0, 1.0]),
            run(Ending::Diverged, &[90.0]),
            run(Ending::EarlyStopped, &[2.0, 1.0]),
        ];
        let loss = |record: &EpochRecord| Some(record.train_loss);
        assert_eq!(means(&runs, loss), [(1.0, 3.0), (2.0, 1.5)]);
        assert_eq!(means(&runs[1..2], loss), []);
        assert_eq!(means(&runs, |record| record.validation_accuracy), []);
    }

    #[test]
    fn draws_rows_without_runs() {
        let row = |kind: &str, name: &str| {
            let mut settings = RunConfig::defaults("digits");
            settings.change_cell(kind).unwrap();
            Row {
                name: name.to_string(),
                kind: String::new(),
                parameters: 1,
                varied: Vec::new(),
                settings,
            }
        };
        let rows = [row("ernn", "ernn-k1"), row("ernn", "ernn-k3"), row("rnn", "rnn")];
        let runs = [vec![run(Ending::Finished, &[1.0, 0.5])], vec![], vec![]];
        let svg = draw(&rows, &runs);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(svg.contains(">ernn-k1</text>") && !svg.contains(">rnn</text>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        ernn::chart::layout::check(&svg);
    }
}
