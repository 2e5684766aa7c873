//! The result of a run: numbers, settings and circumstances.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::RunConfig;
use crate::Isa;
use crate::evaluate::{Evaluation, FoldsReport};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// All epochs were done.
    Finished,
    /// The validation part saw nothing better for `patience` epochs.
    EarlyStopped,
    /// Someone asked it to stop; `--resume` goes on.
    Interrupted,
    /// Loss or gradient stopped being numbers.
    Diverged,
}

/// The machine of a run. Results depend on nothing of it but the instruction set, which rounds in its own way; times do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Operating system.
    pub system: &'static str,
    /// Processor family.
    pub architecture: &'static str,
    /// Logical processors that this process may use.
    pub processors: usize,
    /// Threads that computed.
    pub threads: usize,
    /// Instruction set of the kernels.
    pub instruction_set: String,
}

impl Machine {
    /// This machine.
    pub fn here(threads: usize) -> Self {
        Machine {
            system: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            processors: super::available_threads(),
            threads,
            instruction_set: Isa::best().name().to_owned(),
        }
    }
}

/// `result.json`, and what `--json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Name of the data set.
    pub dataset: String,
    /// The part that the numbers are of: `folds` of a training by folds without a final model; else `test`, or `validation` where there is no test part or the run was cut short, or
    /// `train` where there is neither.
    pub part: &'static str,
    /// The numbers.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// Accuracy on the validation part after the best epoch.
    pub validation_accuracy: Option<f64>,
    /// Kind of the cells.
    pub cell: String,
    /// Steps of the longest training sequence; none of a text, which is read in pieces.
    pub longest_sequence: Option<usize>,
    /// Numbers in the model.
    pub parameters: usize,
    /// Those of them that are other than 0, readout included.
    pub nonzero_parameters: usize,
    /// Parameters of the embedding, where there is one.
    pub embedding_parameters: usize,
    /// 4 bytes for each nonzero one, in units of 1,024 bytes, as papers count the size of a model.
    pub size_kb: f64,
    /// Size of its file.
    pub model_bytes: usize,
    /// Wall time of all epochs, over all resumed pieces.
    pub train_seconds: f64,
    /// Whole epochs done.
    pub epochs: usize,
    /// Steps of the optimizer in the pass that the model is of.
    pub optimizer_steps: u64,
    /// Whether a validation part selected the best epoch; if not, it is the last one.
    pub validated: bool,
    /// The epoch whose parameters the model has, from 1; 0 if there was none to choose.
    pub best_epoch: usize,
    /// Seed.
    pub seed: u64,
    /// How it ended.
    pub ending: Ending,
    /// Whether it ended before its time, so that the numbers are not those of the settings.
    pub cut_short: bool,
    /// What went wrong, where something did.
    pub error: Option<String>,
    /// The run folder.
    pub out: Option<PathBuf>,
    /// Version of the program.
    pub version: &'static str,
    /// The complete settings.
    pub settings: RunConfig,
    /// The machine.
    pub machine: Machine,
    /// What training by folds has found, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<FoldsReport>,
    /// Of an ensemble, whose numbers are those of the averaged answers and whose sizes are sums: its members.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberReport>,
}

/// One member of an ensemble.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberReport {
    /// Seed of its run.
    pub seed: u64,
    /// What it is judged by on `part`, alone: accuracy, perplexity or mean squared error.
    pub score: f64,
    /// The part that the score is of: that of its own run.
    pub part: String,
    /// Its size, as in [`Report`].
    pub size_kb: f64,
    /// Wall time of its epochs.
    pub train_seconds: f64,
}
