//! What a run needs to go on as if it had never stopped: `checkpoint.safetensors`.
//!
//! A run's future is a function of its settings, its data and this state: batches, noise and dropout are drawn from
//! (seed, epoch, sequence), never from a generator that walks on.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::null;
use super::tensor_file::{self, Format, Tensor, TensorFile};
use crate::cell::Equilibria;
use crate::{Error, Result};

const FORMAT: Format = Format {
    name: "ernn-checkpoint",
    version: 1,
};

/// One line of `metrics.jsonl`: an epoch in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpochRecord {
    /// Whether this epoch selects on a validation part or retrains on everything.
    pub phase: Phase,
    /// From 1.
    pub epoch: usize,
    /// Mean loss a sequence during the epoch, with noise and dropout; of numbers to predict on their scale.
    #[serde(deserialize_with = "null::number")]
    pub train_loss: f64,
    /// Accuracy during the epoch, with noise and dropout.
    #[serde(deserialize_with = "null::number")]
    pub train_accuracy: f64,
    /// Mean loss on the validation part after the epoch.
    pub validation_loss: Option<f64>,
    /// Accuracy on the validation part after the epoch.
    pub validation_accuracy: Option<f64>,
    /// Mean recall over the classes of the validation part.
    pub validation_balanced_accuracy: Option<f64>,
    /// Of numbers to predict: the error on the validation part, in their unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_root_mean_squared_error: Option<f64>,
    /// Of labels of which several can hold: mean average precision on the validation part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_average_precision: Option<f64>,
    /// Learning rate of the epoch's last step.
    pub learning_rate: f64,
    /// Mean global gradient norm before clipping.
    #[serde(deserialize_with = "null::number")]
    pub gradient_norm: f64,
    /// Wall time of the epoch, validation included.
    pub seconds: f64,
    /// Whether these parameters are the best so far.
    pub best: bool,
    /// How the equilibria of the epoch's batches were found, where layers seek them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equilibria: Option<Equilibria>,
}

/// The two passes of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Trains on the training part without the validation part, and picks the best epoch.
    #[default]
    Select,
    /// Trains anew on all of it, for as many epochs.
    Retrain,
}

/// Sums over the batches of the epoch that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Batches done.
    pub batches: usize,
    /// Sequences seen.
    pub sequences: usize,
    /// Sum of the losses of all sequences.
    pub loss: f64,
    /// Sequences classified correctly.
    pub correct: usize,
    /// Sum of the gradient norms.
    pub gradient_norm: f64,
    /// Wall time so far.
    pub seconds: f64,
    /// How equilibria were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equilibria: Option<Equilibria>,
}

/// The best epoch so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// From 1.
    pub epoch: usize,
    /// What was to be high on the validation part: accuracy, or balanced accuracy where classes are balanced; none without
    /// one.
    pub score: Option<f64>,
    /// Accuracy on the validation part.
    pub accuracy: Option<f64>,
    /// Loss on the validation part, or the training loss without one.
    pub loss: f64,
    /// The parameters after that epoch; a tensor of its own in the file.
    #[serde(skip)]
    pub parameters: Vec<f32>,
}

/// Everything that changes while a run goes on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunState {
    /// Checksum of the training and validation parts.
    pub fingerprint: String,
    /// The settings that it was trained with, as in `config.toml` but for what holds on one machine alone; empty in a file that an earlier
    /// version wrote.
    pub settings: String,
    /// Checksum of the models that it learns from beside the labels; empty if there are none.
    pub teacher: String,
    /// Pass of the run.
    pub phase: Phase,
    /// Whole epochs done in this phase.
    pub epoch: usize,
    /// Sums of the epoch under way; zero at an epoch boundary.
    pub tally: Tally,
    /// Parameters after the last batch.
    pub parameters: Vec<f32>,
    /// Their running average; empty if none is kept.
    pub average: Vec<f32>,
    /// Which parameters may be other than 0; empty while that is not fixed. It cannot be told from the parameters: one that
    /// may be other than 0 can be 0.
    pub support: Vec<bool>,
    /// The state of each layer at the end of the last batch of a text; empty at an epoch boundary, and for other data.
    pub carried: Vec<Vec<f32>>,
    /// Steps that the optimizer has taken.
    pub optimizer_steps: u64,
    /// The optimizer's memory, by name.
    pub optimizer: Vec<(String, Vec<f32>)>,
    /// Best epoch so far.
    pub best: Option<Best>,
    /// Epochs in a row that were not better.
    pub stale_epochs: usize,
    /// All finished epochs, both phases.
    pub history: Vec<EpochRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    fingerprint: String,
    #[serde(default)]
    settings: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    teacher: String,
    phase: Phase,
    epoch: usize,
    tally: Tally,
    parameters: usize,
    averaged: bool,
    #[serde(default)]
    supported: bool,
    /// Length of the state of each layer.
    #[serde(default)]
    carried: Vec<usize>,
    optimizer_steps: u64,
    optimizer: Vec<String>,
    best: Option<Best>,
    stale_epochs: usize,
    history: Vec<EpochRecord>,
}

impl RunState {
    /// Writes the checkpoint, atomically.
    pub fn save(&self, path: &Path) -> Result<()> {
        let content = Content {
            fingerprint: self.fingerprint.clone(),
            settings: self.settings.clone(),
            teacher: self.teacher.clone(),
            phase: self.phase,
            epoch: self.epoch,
            tally: self.tally,
            parameters: self.parameters.len(),
            averaged: !self.average.is_empty(),
            supported: !self.support.is_empty(),
            carried: self.carried.iter().map(Vec::len).collect(),
            optimizer_steps: self.optimizer_steps,
            optimizer: self.optimizer.iter().map(|(name, _)| optimizer_tensor(name)).collect(),
            best: self.best.clone(),
            stale_epochs: self.stale_epochs,
            history: self.history.clone(),
        };
        let shape = [self.parameters.len()];
        let mut tensors = vec![flat("parameters", &shape, &self.parameters)];
        for (name, (_, values)) in content.optimizer.iter().zip(&self.optimizer) {
            tensors.push(flat(name, &shape, values));
        }
        if content.averaged {
            tensors.push(flat("average", &shape, &self.average));
        }
        let support: Vec<f32> = self.support.iter().map(|&stays| f32::from(u8::from(stays))).collect();
        if content.supported {
            tensors.push(flat("support", &shape, &support));
        }
        if let Some(best) = &self.best {
            tensors.push(flat("best", &shape, &best.parameters));
        }
        let carried: Vec<(String, [usize; 1])> = (0..)
            .zip(&content.carried)
            .map(|(layer, &length)| (carried_tensor(layer), [length]))
            .collect();
        for ((name, shape), values) in carried.iter().zip(&self.carried) {
            tensors.push(flat(name, shape, values));
        }
        tensor_file::write(path, FORMAT, &content, &tensors)
    }

    /// Reads a checkpoint.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(Error::io(path, "read"))?;
        let file = TensorFile::decode(path, &bytes, FORMAT)?;
        let content: Content = file.content()?;
        let shape = [content.parameters];
        let mut best = content.best;
        if let Some(best) = &mut best {
            best.parameters = file.values("best", &shape)?;
        }
        let memory = |name: String| Ok((plain_name(&name).to_string(), file.values(&name, &shape)?));
        Ok(RunState {
            fingerprint: content.fingerprint,
            settings: content.settings,
            teacher: content.teacher,
            phase: content.phase,
            epoch: content.epoch,
            tally: content.tally,
            parameters: file.values("parameters", &shape)?,
            average: if content.averaged {
                file.values("average", &shape)?
            } else {
                Vec::new()
            },
            support: if content.supported {
                let support = file.values("support", &shape)?;
                support.into_iter().map(|flag| flag != 0.0).collect()
            } else {
                Vec::new()
            },
            carried: (0..)
                .zip(&content.carried)
                .map(|(layer, &length)| file.values(&carried_tensor(layer), &[length]))
                .collect::<Result<_>>()?,
            optimizer_steps: content.optimizer_steps,
            optimizer: content.optimizer.into_iter().map(memory).collect::<Result<_>>()?,
            best,
            stale_epochs: content.stale_epochs,
            history: content.history,
        })
    }
}

fn flat<'a>(name: &'a str, shape: &'a [usize], values: &'a [f32]) -> Tensor<'a> {
    Tensor { name, shape, values }
}

fn carried_tensor(layer: usize) -> String {
    format!("carried.{layer}")
}

const OPTIMIZER: &str = "optimizer.";

fn optimizer_tensor(name: &str) -> String {
    format!("{OPTIMIZER}{name}")
}

fn plain_name(tensor: &str) -> &str {
    tensor.strip_prefix(OPTIMIZER).unwrap_or(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> RunState {
        RunState {
            fingerprint: "f".to_string(),
            settings: "seed = 1".to_string(),
            teacher: "t".to_string(),
            phase: Phase::Retrain,
            epoch: 3,
            tally: Tally {
                batches: 2,
                sequences: 5,
                loss: 0.1 + 0.2,
                ..Tally::default()
            },
            parameters: vec![1.0, 2.0, -3.5],
            average: vec![0.5, 0.25, -1.0],
            support: vec![true, false, true],
            carried: vec![vec![1.0, 2.0], vec![3.0]],
            optimizer_steps: 17,
            optimizer: vec![("first-moment".to_string(), vec![0.1, 0.2, 0.3])],
            best: Some(Best {
                epoch: 2,
                score: Some(1.0 / 3.0),
                accuracy: Some(0.1),
                loss: 1e-300,
                parameters: vec![4.0, 5.0, 6.0],
            }),
            stale_epochs: 1,
            history: vec![EpochRecord::default()],
        }
    }

    #[test]
    fn comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        example().save(&path).unwrap();
        assert_eq!(RunState::load(&path).unwrap(), example());
        let first = RunState {
            best: None,
            support: Vec::new(),
            teacher: String::new(),
            ..example()
        };
        first.save(&path).unwrap();
        assert_eq!(RunState::load(&path).unwrap(), first);
    }

    #[test]
    fn refuses_what_is_no_whole_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        example().save(&path).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let error = RunState::load(&path).unwrap_err().to_string();
        assert!(error.contains("a checksum that does not fit the content"), "{error}");
        fs::write(&path, &bytes[..last]).unwrap();
        let error = RunState::load(&path).unwrap_err().to_string();
        assert!(
            error.contains(&format!("found {last} bytes: incomplete metadata")),
            "{error}"
        );
    }
}
