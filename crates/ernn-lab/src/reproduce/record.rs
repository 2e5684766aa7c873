//! A result file: one run in numbers, small enough to keep with the code.
//!
//! JSON, one line a field, so that a change of one field is a change of one line.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Paper, Protocol};
use ernn::checkpoint::{EpochRecord, null, write_with_folder};
use ernn::evaluate::{Metric, Timeline};
use ernn::train::{Ending, PastRun, RunConfig};
use ernn::{Error, Result};

/// Confusion matrices of more classes would be most of the file.
const MOST_CLASSES: usize = 40;

/// One run of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the experiment.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// The paper's table or figure.
    pub table: Option<String>,
    /// Name of the row.
    pub row: String,
    /// Its name in the paper.
    pub row_title: String,
    /// How the result came about.
    pub protocol: Protocol,
    /// Whether it is the tiny version, whose numbers mean nothing.
    pub quick: bool,
    /// Seed.
    pub seed: u64,
    /// What the row is judged by.
    pub metric: Metric,
    /// On the test part; none if the run was cut short.
    pub test: Option<f64>,
    /// On the validation part after the best epoch.
    pub validation: Option<f64>,
    /// What the paper says.
    pub paper: Paper,
    /// Whether it ended before its time.
    pub cut_short: bool,
    /// How it ended.
    pub ending: Ending,
    /// What went wrong, where something did.
    pub error: Option<String>,
    /// Epochs of the selecting pass that were done.
    pub epochs: usize,
    /// The epoch that was selected.
    pub best_epoch: usize,
    /// Numbers in the model.
    pub parameters: usize,
    /// Those of the embedding, where there is one.
    #[serde(default)]
    pub embedding_parameters: usize,
    /// 4 bytes for each that is not 0, in units of 1,024 bytes.
    pub size_kb: f64,
    /// Wall time of all epochs.
    pub train_seconds: f64,
    /// Wall time of the selecting pass up to the best epoch.
    pub seconds_to_best: f64,
    /// Time of one sequence on one thread.
    pub latency_milliseconds: Option<f64>,
    /// Name of the data set.
    pub dataset: String,
    /// Checksum of what was trained on.
    pub fingerprint: String,
    /// Commit of the program, `-dirty` behind it where files were changed; none outside a checkout.
    pub revision: Option<String>,
    /// Version of the program.
    pub version: String,
    /// The machine.
    pub machine: Value,
    /// Complete settings.
    pub settings: RunConfig,
    /// Class names, where there are few enough.
    pub classes: Vec<String>,
    /// `[true class][predicted class]`, counts on the test part, where there are few enough classes.
    pub confusion: Vec<Vec<usize>>,
    /// (predicted, true) of some numbers of the part that the run reports on, where it predicts numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<[f32; 2]>,
    /// Some recordings of that part, where each step has a class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
    /// The epochs of the selecting pass.
    pub history: Curves,
}

/// One number an epoch, from the first on; empty where there is no validation part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// Mean loss during the epoch.
    #[serde(deserialize_with = "null::numbers")]
    pub train_loss: Vec<f64>,
    /// Metric during the epoch.
    #[serde(deserialize_with = "null::numbers")]
    pub train: Vec<f64>,
    /// Mean loss on the validation part.
    #[serde(deserialize_with = "null::numbers")]
    pub validation_loss: Vec<f64>,
    /// Metric on the validation part.
    #[serde(deserialize_with = "null::numbers")]
    pub validation: Vec<f64>,
    /// Wall time.
    #[serde(deserialize_with = "null::numbers")]
    pub seconds: Vec<f64>,
}

impl Curves {
    /// The curves of the selecting pass.
    pub fn of(run: &PastRun, metric: Metric) -> Self {
        let collect =
            |value: &dyn Fn(&EpochRecord) -> Option<f64>| run.selecting().filter_map(value).map(rounded).collect();
        Curves {
            train_loss: collect(&|record| Some(record.train_loss)),
            train: collect(&|record| {
                // The loss of numbers is on their scale, not in their unit.
                let value = || metric.value(Some(record.train_accuracy), record.train_loss);
                (!metric.is_of_numbers() && metric != Metric::MeanAveragePrecision).then(value)
            }),
            validation_loss: collect(&|record| record.validation_loss),
            validation: collect(&|record| metric.after(record)),
            seconds: collect(&|record| Some(record.seconds)),
        }
    }
}

/// Five figures: curves are looked at, not computed with.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// The metric after the epoch that a run selected.
pub(crate) fn validation(run: &PastRun, metric: Metric) -> Option<f64> {
    let best = run.selecting().find(|record| record.epoch == run.best_epoch)?;
    metric.after(best)
}

/// Some pairs of numbers, predicted and true: of folds those that were held out, else of the part that the run reports on.
pub(crate) fn pairs(run: &PastRun) -> Vec<[f32; 2]> {
    let pooled = run.folds.as_ref().map(|folds| &folds.pooled);
    let evaluation = pooled.unwrap_or(&run.evaluation);
    evaluation
        .numbers
        .as_ref()
        .map_or_else(Vec::new, |numbers| numbers.pairs.clone())
}

/// Some recordings of which each step was called something.
pub(crate) fn timelines(run: &PastRun) -> Vec<Timeline> {
    let pooled = run.folds.as_ref().map(|folds| &folds.pooled);
    let segments = pooled.unwrap_or(&run.evaluation).segments.as_ref();
    segments.map_or_else(Vec::new, |segments| segments.timelines.clone())
}

/// Class names and confusion matrix, if there are few classes.
pub(crate) fn confusion(run: &PastRun) -> (Vec<String>, Vec<Vec<usize>>) {
    let classes = &run.evaluation.per_class;
    if classes.len() > MOST_CLASSES {
        return Default::default();
    }
    let names = classes.iter().map(|class| class.name.clone()).collect();
    (names, run.evaluation.confusion.clone())
}

impl RunRecord {
    /// As `size_kb`, without the embedding, as papers count.
    pub fn size_without_embedding(&self) -> f64 {
        self.size_kb - (4 * self.embedding_parameters) as f64 / 1024.0
    }

    /// Whether nothing more comes of the run: it came to its end, or diverged and would again.
    pub fn is_over(&self) -> bool {
        self.ending != Ending::Interrupted
    }

    /// Reads a file; none if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is no result file.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(Error::Io {
                    path: path.to_path_buf(),
                    action: "read",
                    source,
                });
            }
        };
        Self::parse(&text, path).map(Some)
    }

    /// The record in a file's text.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| Error::Format {
            path: path.to_path_buf(),
            place: String::new(),
            found: error.to_string(),
            expected: "a result file of ernn reproduce".to_string(),
        })
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        write_with_folder(path, self.to_json().as_bytes())
    }

    /// One line a field, in the order of the struct.
    pub fn to_json(&self) -> String {
        let fields = serde_json::to_string_pretty(self).expect("plain structs");
        let order = fields
            .lines()
            .filter_map(|line| line.strip_prefix("  \"")?.split('"').next());
        let values: Value = serde_json::to_value(self).expect("plain structs");
        let line = |name: &str| format!("  {name:?}: {}", values[name]);
        let lines: Vec<String> = order.map(line).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

/// A phase that is not over has a history all the same; only the selecting one is told.
pub(super) fn epochs(run: &PastRun) -> usize {
    run.epochs()
}
