//! `curves.svg` of a run: training and validation loss and accuracy over the epochs.

use crate::chart::{self, Axis, Legend, Line, Look, Panel};
use crate::checkpoint::{EpochRecord, Phase};

/// Draws the epochs of the selecting pass; those of a retraining pass have no validation part to compare with.
pub(super) fn draw(history: &[EpochRecord]) -> String {
    let epochs: Vec<&EpochRecord> = history.iter().filter(|record| record.phase == Phase::Select).collect();
    let best = epochs.iter().rfind(|record| record.best);
    let mark = best.map(|record| (record.epoch as f64, "best epoch"));
    let losses = [
        line("train", 0, &epochs, |record| Some(record.train_loss)),
        line("validation", 1, &epochs, |record| record.validation_loss),
    ];
    let accuracies = [
        line("train", 0, &epochs, |record| Some(record.train_accuracy)),
        line("validation", 1, &epochs, |record| record.validation_accuracy),
    ];
    let panels = [
        Panel {
            title: "Loss",
            axis: Axis::Epochs,
            range: chart::from_zero(&losses),
            lines: losses.into(),
            mark,
        },
        Panel {
            title: "Accuracy",
            axis: Axis::Epochs,
            range: chart::share(&accuracies),
            lines: accuracies.into(),
            mark,
        },
    ];
    chart::draw("Loss and accuracy over the epochs", &panels, Legend::Titles)
}

fn line(name: &str, color: usize, epochs: &[&EpochRecord], value: fn(&EpochRecord) -> Option<f64>) -> Line {
    let point = |record: &&EpochRecord| Some((record.epoch as f64, value(record)?));
    Line {
        name: name.to_string(),
        look: Look::new(color, 0),
        points: epochs.iter().filter_map(point).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_any_history() {
        for epochs in [0, 1, 2, 3, 57] {
            let history: Vec<EpochRecord> = (1..=epochs)
                .map(|epoch| EpochRecord {
                    epoch,
                    train_loss: 1.0 / epoch as f64,
                    validation_accuracy: (epoch > 1).then_some(0.75),
                    best: epoch == 2,
                    ..EpochRecord::default()
                })
                .collect();
            let svg = draw(&history);
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            let lines = svg.matches("<polyline").count();
            let points = svg.matches("<circle").count();
            let expected = match epochs {
                0 => (0, 0),
                1 => (0, 2),
                2 => (2, 1),
                _ => (3, 0),
            };
            assert_eq!((lines, points), expected, "{epochs} epochs");
            assert_eq!(svg.matches("best epoch: 2").count(), if epochs > 1 { 2 } else { 0 });
        }
    }
}
