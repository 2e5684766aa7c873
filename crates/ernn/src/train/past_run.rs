//! What a run folder says about a run that has ended: `result.json` and `metrics.jsonl`, read back.
//!
//! Comparisons, experiments and reports read them; they go by what is on the disk, so that it does not matter which process made
//! it, and when.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::run::last_selecting_epoch;
use super::run_folder::{METRICS_FILE, RESULT_FILE};
use super::{Ending, RunConfig};
use crate::checkpoint::{EpochRecord, Phase};
use crate::evaluate::{Evaluation, FoldsReport};
use crate::{Error, Result};

/// A run that has ended or was cut short.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PastRun {
    /// Name of the data set.
    pub dataset: String,
    /// How it ended.
    pub ending: Ending,
    /// What went wrong, where something did.
    pub error: Option<String>,
    /// The part that the numbers are of.
    pub part: String,
    /// The numbers.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// Steps of the longest training sequence, where it was written.
    #[serde(default)]
    pub longest_sequence: Option<usize>,
    /// Numbers in the model.
    pub parameters: usize,
    /// Those of them that are other than 0.
    pub nonzero_parameters: usize,
    /// Those of the embedding, where there is one.
    #[serde(default)]
    pub embedding_parameters: usize,
    /// 4 bytes for each that is other than 0, in units of 1,024 bytes.
    pub size_kb: f64,
    /// Wall time of all epochs, over all resumed pieces.
    pub train_seconds: f64,
    /// The epoch whose parameters were selected, from 1; 0 if none was finished.
    pub best_epoch: usize,
    /// Version of the program.
    pub version: String,
    /// The machine, as the report describes it.
    pub machine: serde_json::Value,
    /// The complete settings.
    pub settings: RunConfig,
    /// What training by folds has found, where it was asked for.
    #[serde(default)]
    pub folds: Option<FoldsReport>,
    /// The epochs of both passes.
    #[serde(skip)]
    pub history: Vec<EpochRecord>,
}

impl PastRun {
    /// Reads a folder; none if no run has ended in it.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(RESULT_FILE);
        let Some(text) = read_if_there(&path)? else {
            return Ok(None);
        };
        let mut run: PastRun = parse(&text, &path, String::new())?;
        let path = folder.join(METRICS_FILE);
        let lines = read_if_there(&path)?.unwrap_or_default();
        let records = lines.lines().enumerate();
        run.history = records
            .map(|(index, line)| parse(line, &path, format!(", line {}", index + 1)))
            .collect::<Result<_>>()?;
        Ok(Some(run))
    }

    /// As `size_kb`, without the embedding, as papers count.
    pub fn size_without_embedding(&self) -> f64 {
        self.size_kb - (4 * self.embedding_parameters) as f64 / 1024.0
    }

    /// Whether it came to its end: all epochs, or as many as `patience` left it.
    pub fn is_finished(&self) -> bool {
        matches!(self.ending, Ending::Finished | Ending::EarlyStopped)
    }

    /// The epochs of the selecting pass.
    pub fn selecting(&self) -> impl Iterator<Item = &EpochRecord> {
        self.history.iter().filter(|record| record.phase == Phase::Select)
    }

    /// Whole epochs of the selecting pass.
    pub fn epochs(&self) -> usize {
        last_selecting_epoch(&self.history)
    }

    /// Wall time of the selecting pass up to the best epoch.
    pub fn seconds_to_best(&self) -> f64 {
        let until_best = self.selecting().filter(|record| record.epoch <= self.best_epoch);
        until_best.map(|record| record.seconds).sum()
    }
}

fn read_if_there(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::io(path, "read")(source)),
    }
}

fn parse<T: DeserializeOwned>(text: &str, path: &Path, place: String) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|error| Error::format(path, place, error, "what this version of ernn writes about a run"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{self, OpenOptions};
    use crate::train::{self, Options, Out};

    #[test]
    fn reads_what_a_run_has_written() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        assert_eq!(PastRun::read(&path).unwrap(), None);
        let dataset = data::open("japanese-vowels", &OpenOptions::default()).unwrap();
        let mut config = RunConfig::defaults("japanese-vowels");
        config.training.epochs = 3;
        config.training.retrain = true;
        let options = Options {
            out: Out::At(path.clone()),
            ..Options::default()
        };
        let report = train::train(&dataset, &config, &options, &mut ()).unwrap().report;
        let run = PastRun::read(&path).unwrap().unwrap();
        assert!(run.is_finished());
        assert_eq!((run.part.as_str(), &run.evaluation), ("test", &report.evaluation));
        assert_eq!(run.settings, report.settings);
        assert_eq!((run.history.len(), run.selecting().count()), (6, 3));
        let seconds: f64 = run.history[..report.best_epoch]
            .iter()
            .map(|record| record.seconds)
            .sum();
        assert_eq!(run.seconds_to_best(), seconds);

        fs::write(path.join(RESULT_FILE), "{\"part\": 1}").unwrap();
        let error = PastRun::read(&path).unwrap_err().to_string();
        assert!(error.contains("result.json") && error.contains("expected"), "{error}");
    }
}
