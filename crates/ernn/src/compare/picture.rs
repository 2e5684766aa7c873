//! `curves.svg` of a comparison: how fast the variants learn. Training loss and validation accuracy over the epochs, each line the
//! mean over the seeds of a row.

use super::Row;
use crate::checkpoint::EpochRecord;
use crate::train::PastRun;
use crate::train::plot::{self, Axis, Legend, Line, Look, Panel};

/// Draws rows with those of their runs that have ended. A row without one has no line.
pub(super) fn draw(rows: &[Row], ended: &[Vec<PastRun>]) -> String {
    let rows: Vec<(&Row, Look, &Vec<PastRun>)> = rows
        .iter()
        .zip(looks(rows))
        .zip(ended)
        .map(|((row, look), runs)| (row, look, runs))
        .collect();
    let lines = |value: fn(&EpochRecord) -> Option<f64>| -> Vec<Line> {
        let line = |&(row, look, runs): &(&Row, Look, &Vec<PastRun>)| Line {
            name: row.name.clone(),
            look,
            points: means(runs, value),
        };
        rows.iter().map(line).collect()
    };
    let losses = lines(|record| Some(record.train_loss));
    let accuracies = lines(|record| record.validation_accuracy);
    let panels = [
        Panel {
            title: "Training loss",
            axis: Axis::Epochs,
            range: plot::from_zero(&losses),
            lines: losses,
            mark: None,
        },
        Panel {
            title: "Validation accuracy",
            axis: Axis::Epochs,
            range: plot::share(&accuracies),
            lines: accuracies,
            mark: None,
        },
    ];
    let label = "Training loss and validation accuracy of each cell over the epochs";
    plot::draw(label, &panels, Legend::Below)
}

/// A color for each kind of cell, and a pattern for each variant of it; another one where more kinds than colors would make two rows
/// look alike.
fn looks(rows: &[Row]) -> Vec<Look> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    let mut taken: Vec<Look> = Vec::new();
    for row in rows {
        let cell = row.settings.cell();
        let kind = kinds.iter().position(|(kind, _)| *kind == cell).unwrap_or(kinds.len());
        if kind == kinds.len() {
            kinds.push((cell, 0));
        }
        let look = Look::all(kind, kinds[kind].1);
        let free = look.clone().find(|look| !taken.contains(look));
        kinds[kind].1 += 1;
        taken.extend(free.or_else(|| look.clone().next()));
    }
    taken
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
    use crate::cell::CellConfig;
    use crate::checkpoint::Phase;
    use crate::evaluate::Evaluation;
    use crate::train::{Ending, RunConfig};

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
        assert!(svg.contains(">ernn-k1</text>") && svg.contains(">rnn</text>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(looks(&rows), [Look::new(0, 0), Look::new(0, 1), Look::new(1, 0)]);
    }

    #[test]
    fn no_two_rows_look_alike_even_with_all_cells() {
        let variants = |kind: &&str| {
            if ["ernn", "deep-transition"].contains(kind) {
                4
            } else {
                1
            }
        };
        let kinds = CellConfig::KINDS.iter();
        let rows: Vec<Row> = kinds
            .flat_map(|kind| std::iter::repeat_n(kind, variants(kind)))
            .map(|kind| {
                let mut settings = RunConfig::defaults("digits");
                settings.change_cell(kind).unwrap();
                Row {
                    name: kind.to_string(),
                    kind: String::new(),
                    parameters: 1,
                    varied: Vec::new(),
                    settings,
                }
            })
            .collect();
        let looks = looks(&rows);
        assert_eq!(looks.len(), rows.len());
        for (index, look) in looks.iter().enumerate() {
            assert!(!looks[..index].contains(look), "row {index}: {look:?}");
        }
    }
}
