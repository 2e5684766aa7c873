//! The memory of a run, estimated before anything of it is reserved: a run that cannot fit is refused with a number, instead of an
//! abort in its midst, which in Python ends the interpreter.
//!
//! ```text
//! parameters   P numbers: model, gradient, optimizer, the state for checkpoints, the best epoch, the folded and packed matrices
//! blocks       P numbers for the gradient of each block of sequences that is computed at once
//! batch        steps x sequences x (inputs, and what each layer keeps for the way back)
//! ```
//!
//! It is no bound: threads, small buffers and the data set, which is there already, come to it. So a run is refused only if what it
//! surely needs is more than there is.

use ernn_kernels::Isa;

use super::free_memory;
use super::parts::Parts;
use super::{RunConfig, TrainingSettings};
use crate::data::Task;
use crate::model::ModelConfig;
use crate::optim::OptimizerConfig;
use crate::{Error, Result};

/// What a batch is at its largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Sequences side by side.
    pub sequences: usize,
    /// Steps that are kept for the way back.
    pub steps: usize,
    /// Steps of the longest sequence.
    pub longest: usize,
    /// Sequences that share one vector register pair, and with it one gradient.
    pub lanes: usize,
}

/// Bytes of a run, by what takes them; saturated, so that no size overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needed {
    /// All that is as large as the model.
    pub parameters: u128,
    /// The gradients of the blocks.
    pub blocks: u128,
    /// Inputs and states of a batch.
    pub batch: u128,
}

impl Needed {
    /// All of it.
    pub fn total(self) -> u128 {
        self.parameters + self.blocks + self.batch
    }
}

/// What a run of this model needs for batches of this shape.
pub fn estimate(model: &ModelConfig, settings: &TrainingSettings, shape: Shape) -> Needed {
    let numbers = model.spans().last().map_or(0, |span| span.range().end) as u128;
    let optimizer = optimizer_vectors(&settings.optimizer);
    let average = u128::from(settings.average > 0.0);
    // Model and gradient; the optimizer's memory; both again for checkpoints; the best epoch; folded, packed.
    let vectors = 2 + optimizer + (1 + optimizer) + 1 + 2 + average;
    let blocks = shape.sequences.div_ceil(shape.lanes.max(1)) as u128;
    let places = |steps: usize| shape.sequences as u128 * steps as u128;
    let directions = if model.bidirectional { 2 } else { 1 };
    let kept: u128 = model.layers.iter().map(|cell| directions * cell.kept() as u128).sum();
    let inputs = model.input_size as u128;
    let logits = match model.task {
        // Chunks of them; the gradient at each state.
        Task::StepClassification | Task::StepRegression | Task::NextToken => {
            model.layers.last().map_or(0, |cell| cell.hidden() as u128)
        }
        Task::Classification | Task::Regression | Task::MultiLabel => 0,
    };
    Needed {
        parameters: 4 * vectors * numbers,
        blocks: 4 * blocks * numbers,
        batch: 4 * (places(shape.longest) * 2 * inputs + places(shape.steps) * (kept + logits)),
    }
}

/// Vectors as long as the parameters that an optimizer keeps.
fn optimizer_vectors(optimizer: &OptimizerConfig) -> u128 {
    match optimizer {
        OptimizerConfig::Adam(_) | OptimizerConfig::AdamW(_) => 2,
        OptimizerConfig::Sgd(_) => 1,
    }
}

/// Refuses a run that needs more than there is.
pub(super) fn check(config: &RunConfig, model: &ModelConfig, parts: &Parts) -> Result<()> {
    // Bounds the sizes, so that the estimate does not overflow.
    model.check()?;
    let Some(available) = free_memory::available() else {
        return Ok(());
    };
    let shape = shape(config, model, parts);
    refuse(estimate(model, &config.training, shape), available, shape)
}

fn shape(config: &RunConfig, model: &ModelConfig, parts: &Parts) -> Shape {
    let settings = &config.training;
    let (sequences, longest) = match model.task {
        Task::NextToken => (settings.batch_size.min(parts.fit.steps().max(1)), settings.window()),
        _ => (settings.batch_size.min(parts.fit.len()), parts.fit.longest()),
    };
    let steps = match settings.tbptt {
        0 => longest,
        piece => longest.min(piece),
    };
    Shape {
        sequences,
        steps,
        longest,
        lanes: Isa::best().lanes::<f32>(),
    }
}

fn refuse(needed: Needed, available: u64, shape: Shape) -> Result<()> {
    if needed.total() <= u128::from(available) {
        return Ok(());
    }
    let smaller = if needed.batch > needed.parameters + needed.blocks {
        format!(
            "a smaller --batch-size (now {} sequences of {} steps), --tbptt N (steps that are kept at once), a smaller --hidden",
            shape.sequences, shape.steps
        )
    } else {
        "a smaller --hidden, a low --rank, fewer --layers".to_string()
    };
    Err(Error::Memory {
        needed: needed.total(),
        available: Some(u128::from(available)),
        smaller,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{CellConfig, ErnnConfig, Rank};

    const SHAPE: Shape = Shape {
        sequences: 64,
        steps: 100,
        longest: 100,
        lanes: 16,
    };

    fn model(hidden: usize, rank: Rank) -> ModelConfig {
        let cell = ErnnConfig {
            hidden,
            rank,
            ..ErnnConfig::default()
        };
        ModelConfig::new(3, 2, vec![CellConfig::Ernn(cell)])
    }

    fn needed(model: &ModelConfig, shape: Shape) -> Needed {
        estimate(model, &crate::train::RunConfig::defaults("mine.csv").training, shape)
    }

    #[test]
    fn what_is_needed_follows_from_the_sizes() {
        let small = needed(&model(64, Rank::Low(8)), SHAPE);
        // Two values of each input, and the state and one more number a unit.
        assert_eq!(small.batch, 4 * 64 * 100 * (2 * 3 + 2 * 64));
        let long = Shape { longest: 1000, ..SHAPE };
        let cut = needed(&model(64, Rank::Low(8)), long);
        assert_eq!(cut.batch - small.batch, 4 * 64 * 900 * 6);
        let numbers = model(64, Rank::Low(8)).spans().last().unwrap().range().end as u128;
        // Four blocks of 16 sequences.
        assert_eq!(small.blocks, 4 * 4 * numbers);
        // Parameters and gradient, Adam's two, both kinds again, the best epoch, folded, packed, the average.
        assert_eq!(small.parameters, 4 * 11 * numbers);
        let wide = needed(&model(65_536, Rank::Full), SHAPE);
        assert!(wide.parameters > 150 << 30, "{wide:?}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_helps() {
        let wide = needed(&model(4096, Rank::Full), SHAPE);
        assert!(refuse(wide, u64::MAX, SHAPE).is_ok());
        let error = refuse(wide, 1 << 30, SHAPE).unwrap_err().to_string();
        assert!(
            error.contains("expected at most 1.0 GB") && error.contains("--rank"),
            "{error}"
        );
        let long = Shape {
            steps: 1 << 20,
            longest: 1 << 20,
            ..SHAPE
        };
        let error = refuse(needed(&model(64, Rank::Low(8)), long), 1 << 30, long)
            .unwrap_err()
            .to_string();
        assert!(error.contains("--batch-size") && error.contains("--tbptt"), "{error}");
    }
}
