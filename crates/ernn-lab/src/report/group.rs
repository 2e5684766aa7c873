//! Runs that belong into one table, and the rows of that table.

use crate::compare::Spread;
use crate::reproduce::{RunRecord, TableRow};
use ernn::evaluate::Metric;

/// One table: an experiment under one protocol, a comparison, or the single runs on one data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Tells it from other groups, as `har-2/honest`.
    pub key: String,
    /// Headline.
    pub title: String,
    /// What it is of the paper, how the results came about, what they are worth.
    pub notes: Vec<String>,
    /// Never empty.
    pub rows: Vec<GroupRow>,
}

/// A row: the runs of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// Name of the row.
    pub name: String,
    /// Its runs, by seed; at least one.
    pub runs: Vec<RunRecord>,
}

impl Group {
    /// What its rows are judged by.
    pub fn metric(&self) -> Metric {
        self.rows[0].runs[0].metric
    }

    /// The numbers of its rows.
    pub(super) fn table(&self) -> Vec<TableRow> {
        let metric = self.metric();
        let row = |row: &GroupRow| {
            let first = &row.runs[0];
            let runs: Vec<&RunRecord> = row.runs.iter().collect();
            TableRow::new(&row.name, &first.row_title, &first.paper, metric, row.runs.len(), &runs)
        };
        self.rows.iter().map(row).collect()
    }

    /// A sentence for each run that did not come to its end.
    pub(super) fn unfinished(&self) -> Vec<String> {
        let metric = self.metric();
        let runs = self
            .rows
            .iter()
            .flat_map(|row| row.runs.iter().map(move |run| (row, run)));
        let unfinished = runs.filter(|(_, run)| run.cut_short);
        let sentence = |(row, run): (&GroupRow, &RunRecord)| {
            let validation = run
                .validation
                .map(|value| format!("; validation {}", metric.phrase(value)));
            let validation = validation.unwrap_or_default();
            let (done, all) = (run.epochs, run.settings.training.epochs);
            let how = match &run.error {
                Some(error) => format!("diverged ({error})"),
                None if done == all => "cut short while it was trained anew on everything".to_string(),
                None => format!("cut short after {done} of {all} epochs"),
            };
            format!("{}, seed {}: {how}{validation}", row.name, run.seed)
        };
        unfinished.map(sentence).collect()
    }
}

impl GroupRow {
    /// One curve of the row: the mean of every epoch that all its runs have reached; those that diverged have none.
    pub(super) fn mean_curve(&self, curve: impl Fn(&RunRecord) -> &[f64]) -> Vec<f64> {
        let curves: Vec<&[f64]> = self.sound_runs().map(curve).filter(|curve| !curve.is_empty()).collect();
        let epochs = curves.iter().map(|curve| curve.len()).min().unwrap_or(0);
        let at = |epoch: usize| curves.iter().map(|curve| curve[epoch]).collect::<Vec<f64>>();
        (0..epochs)
            .filter_map(|epoch| Spread::of(&at(epoch)).map(|spread| spread.mean))
            .collect()
    }

    /// All but those that diverged.
    pub(super) fn sound_runs(&self) -> impl Iterator<Item = &RunRecord> {
        self.runs.iter().filter(|run| run.error.is_none())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::reproduce::{Curves, ExperimentFiles, Protocol};
    use ernn::train::Ending;

    /// A finished run with these values on the validation part, each epoch taking a second.
    pub fn run(row: &str, seed: u64, validation: &[f64]) -> RunRecord {
        let experiments = ExperimentFiles::embedded().read().unwrap();
        let experiment = experiments
            .iter()
            .find(|experiment| experiment.name == "digits")
            .unwrap();
        RunRecord {
            experiment: "digits".to_string(),
            title: "Digits".to_string(),
            table: None,
            row: row.to_string(),
            row_title: row.to_uppercase(),
            protocol: Protocol::Honest,
            quick: false,
            seed,
            metric: Metric::Accuracy,
            test: Some(0.9),
            validation: validation.last().copied(),
            paper: Default::default(),
            cut_short: false,
            ending: Ending::Finished,
            error: None,
            epochs: validation.len(),
            best_epoch: validation.len(),
            parameters: 1000,
            embedding_parameters: 0,
            size_kb: 4.0,
            train_seconds: validation.len() as f64,
            seconds_to_best: validation.len() as f64,
            latency_milliseconds: None,
            dataset: "digits".to_string(),
            fingerprint: String::new(),
            revision: None,
            version: "0".to_string(),
            machine: serde_json::Value::Null,
            settings: experiment.rows[0].settings.clone(),
            classes: vec!["a".to_string(), "b".to_string()],
            confusion: vec![vec![3, 1], vec![0, 4]],
            pairs: Vec::new(),
            timelines: Vec::new(),
            history: Curves {
                train_loss: vec![1.0; validation.len()],
                train: validation.to_vec(),
                validation_loss: vec![1.0; validation.len()],
                validation: validation.to_vec(),
                seconds: vec![1.0; validation.len()],
            },
        }
    }

    pub fn group(rows: Vec<Vec<RunRecord>>) -> Group {
        let row = |runs: Vec<RunRecord>| GroupRow {
            name: runs[0].row.clone(),
            runs,
        };
        Group {
            key: "digits/honest".to_string(),
            title: "Digits".to_string(),
            notes: Vec::new(),
            rows: rows.into_iter().map(row).collect(),
        }
    }

    #[test]
    fn a_mean_curve_goes_as_far_as_all_sound_runs() {
        let mut diverged = run("rnn", 3, &[0.0]);
        diverged.error = Some("the loss".to_string());
        let found = group(vec![vec![
            run("rnn", 1, &[0.5, 0.7, 0.9]),
            run("rnn", 2, &[0.7, 0.9]),
            diverged,
        ]]);
        let curve = found.rows[0].mean_curve(|run| &run.history.validation);
        assert_eq!(curve.len(), 2);
        assert!((curve[0] - 0.6).abs() < 1e-12 && (curve[1] - 0.8).abs() < 1e-12);
    }

    #[test]
    fn says_how_far_a_run_came() {
        let mut cut = run("rnn", 4, &[0.5, 0.6]);
        (cut.cut_short, cut.test) = (true, None);
        let all = cut.settings.training.epochs;
        let sentences = group(vec![vec![cut.clone(), run("rnn", 1, &[0.9])]]).unfinished();
        assert_eq!(
            sentences,
            [format!(
                "rnn, seed 4: cut short after 2 of {all} epochs; validation accuracy 60.00 %"
            )]
        );
        cut.epochs = all;
        assert!(group(vec![vec![cut]]).unfinished()[0].contains("trained anew"));
    }
}
