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

impl BatchProgress {
    /// Part of a run of so many passes that is done; one that stops early jumps to its end.
    pub fn share(&self, passes: usize) -> f64 {
        let before = match self.phase {
            Phase::Select => 0,
            Phase::Retrain => 1,
        };
        let done = (self.epoch.saturating_sub(1) * self.batches + self.batch) as f64;
        let pass = done / (self.epochs * self.batches).max(1) as f64;
        ((before as f64 + pass) / passes.max(1) as f64).min(1.0)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_pass_is_the_second_half_of_a_run() {
        let progress = BatchProgress {
            phase: Phase::Select,
            epoch: 2,
            epochs: 4,
            batch: 5,
            batches: 10,
            examples: 1,
            loss: 1.0,
        };
        assert_eq!((progress.share(1), progress.share(2)), (0.375, 0.1875));
        let second = BatchProgress {
            phase: Phase::Retrain,
            ..progress
        };
        assert_eq!(second.share(2), 0.6875);
    }
}
