//! `curves.svg` of a run: training and validation loss and accuracy over the epochs.

use super::Overfitting;
use crate::chart::{Chart, Figure, Line, Look, Scale, Side};
use crate::checkpoint::{EpochRecord, Phase};

/// Draws the epochs of the selecting pass; those of a retraining pass have no validation part to compare with.
pub(super) fn draw(cell: &str, history: &[EpochRecord]) -> String {
    let epochs: Vec<&EpochRecord> = history.iter().filter(|record| record.phase == Phase::Select).collect();
    let lines = |values: [fn(&EpochRecord) -> Option<f64>; 2]| -> Vec<Line> {
        let line = |name: &str, variant, value| line(name, Look::of_cell(cell, variant), &epochs, value);
        vec![line("train", 1, values[0]), line("validation", 0, values[1])]
    };
    let losses = lines([|record| Some(record.train_loss), |record| record.validation_loss]);
    let of_labels = epochs
        .iter()
        .any(|record| record.validation_average_precision.is_some());
    let (title, accuracies) = match of_labels {
        true => {
            let value = |record: &EpochRecord| Some(100.0 * record.validation_average_precision?);
            let validation = line("validation", Look::of_cell(cell, 0), &epochs, value);
            ("Mean average precision, %", vec![validation])
        }
        false => (
            "Accuracy, %",
            lines([
                |record| Some(100.0 * record.train_accuracy),
                |record| Some(100.0 * record.validation_accuracy?),
            ]),
        ),
    };
    let last = epochs.last().map_or(1, |record| record.epoch);
    let best = epochs.iter().rfind(|record| record.best);
    let chart = |title: &str, lines: Vec<Line>, scale: Scale| {
        let across = Side::new("epoch", Scale::Whole(1.0, last as f64));
        let mut chart = Chart::new(title, across, Side::new("", scale));
        chart.lines = lines;
        chart.best = best.map(|record| (record.epoch as f64, format!("best: epoch {}", record.epoch)));
        chart
    };
    let scale = Scale::losses(values(&losses));
    let mut charts = vec![chart("Loss", losses, scale)];
    // Where a number is asked for, nothing is right or wrong.
    if values(&accuracies).any(|value| value > 0.0) {
        let scale = Scale::percent(values(&accuracies));
        charts.push(chart(title, accuracies, scale));
    }
    let mut figure = Figure::new("Loss and accuracy over the epochs", charts);
    figure.caption = overfitting(&epochs).map(|found| capital(&found.sentence()) + ".");
    figure.svg()
}

fn overfitting(epochs: &[&EpochRecord]) -> Option<Overfitting> {
    let train: Vec<f64> = epochs.iter().map(|record| record.train_loss).collect();
    let validation: Option<Vec<f64>> = epochs.iter().map(|record| record.validation_loss).collect();
    Overfitting::of(&train, &validation?)
}

fn values(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines.iter().flat_map(|line| &line.points).map(|point| point.1)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

fn line(name: &str, look: Look, epochs: &[&EpochRecord], value: fn(&EpochRecord) -> Option<f64>) -> Line {
    let point = |record: &&EpochRecord| Some((record.epoch as f64, value(record)?));
    Line {
        name: name.to_string(),
        look,
        points: epochs.iter().filter_map(point).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::layout;

    fn history(losses: &[f64]) -> Vec<EpochRecord> {
        let record = |(index, &loss): (usize, &f64)| EpochRecord {
            epoch: index + 1,
            train_loss: 1.0 / (index + 1) as f64,
            train_accuracy: 0.5,
            validation_loss: Some(loss),
            validation_accuracy: (index > 0).then_some(0.75),
            best: index == 1,
            ..EpochRecord::default()
        };
        losses.iter().enumerate().map(record).collect()
    }

    #[test]
    fn draws_any_history() {
        for epochs in [0, 1, 2, 3, 57, 5000] {
            let svg = draw("rnn", &history(&vec![0.5; epochs]));
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            layout::check(&svg);
            let expected = match epochs {
                0 | 1 => 0,
                2 => 3,
                _ => 4,
            };
            assert_eq!(svg.matches("<polyline").count(), expected, "{epochs} epochs");
            assert_eq!(svg.matches(">best: epoch 2<").count(), if epochs > 1 { 2 } else { 0 });
            let legend = if epochs > 0 { 1 } else { 0 };
            assert_eq!(svg.matches(">validation</text>").count(), legend, "one legend for both");
        }
    }

    #[test]
    fn overfitting_is_said_and_nothing_else_is() {
        let svg = draw("ernn", &history(&[0.9, 0.5, 0.6, 0.7, 0.8]));
        assert!(
            svg.contains(">Overfitting from epoch 2 on: the validation loss rises"),
            "{svg}"
        );
        layout::check(&svg);
        assert!(!draw("ernn", &history(&[0.9, 0.8, 0.7, 0.6, 0.5])).contains("verfitting"));
    }

    #[test]
    fn a_regression_has_no_accuracy() {
        let record = |epoch| EpochRecord {
            epoch,
            train_loss: 0.5,
            validation_loss: Some(0.4),
            ..EpochRecord::default()
        };
        let svg = draw("ernn", &[record(1), record(2)]);
        assert!(!svg.contains("Accuracy, %"), "{svg}");
    }
}
