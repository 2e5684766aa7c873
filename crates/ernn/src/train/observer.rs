//! Who watches a run: a progress bar, plain lines, or nobody.

use std::path::Path;

use crate::checkpoint::{EpochRecord, Phase};
use crate::data::Task;

/// What is known when a run starts or goes on.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The cell's kind.
    pub cell: &'a str,
    /// Numbers in the model.
    pub parameters: usize,
    /// What is learned.
    pub task: Task,
    /// Sequences trained on; tokens of a text.
    pub train_examples: usize,
    /// Sequences, or tokens, that select the best epoch.
    pub validation_examples: usize,
    /// Whole epochs done before (by the run that is resumed).
    pub epochs_done: usize,
    /// Whole epochs to do, those included.
    pub epochs: usize,
    /// Threads that compute.
    pub threads: usize,
    /// The run folder, where there is one.
    pub out: Option<&'a Path>,
}

/// Where a run stands after a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchProgress {
    /// Pass of the run.
    pub phase: Phase,
    /// The epoch under way, from 1.
    pub epoch: usize,
    /// Epochs of this pass.
    pub epochs: usize,
    /// Batches done in the epoch.
    pub batch: usize,
    /// Batches of the epoch.
    pub batches: usize,
    /// Sequences in this batch; tokens of a text.
    pub examples: usize,
    /// Mean loss of the epoch so far.
    pub loss: f64,
}

/// Sees a run from outside. Every method has a default that does nothing; `()` is the observer that sees nothing.
pub trait Observer: Send {
    /// Before the first batch.
    fn started(&mut self, _start: &Start) {}
    /// After each batch.
    fn batch_done(&mut self, _progress: &BatchProgress) {}
    /// After each epoch, validation included.
    fn epoch_done(&mut self, _record: &EpochRecord) {}
    /// Something the user should know; the run goes on.
    fn warning(&mut self, _text: &str) {}
}

impl Observer for () {}
