//! Long sequences in pieces, and layers that keep their states apart.
//!
//! - [`pieces`]: a stream cut into pieces gives the bits of the whole, in a batch and by the runner;
//! - [`truncated`]: backpropagation truncated at the borders of pieces gives the gradient that it should;
//! - [`memory`]: neither training nor running takes memory that grows with the sequence;
//! - [`layers`]: two layers, two directions and dropout between layers touch nothing that is another's.

#[path = "../support/layer_dropout.rs"]
mod layer_dropout;
mod layers;
mod memory;
mod pieces;
mod truncated;

use ernn::batch::Batch;
use ernn::cell::{CellConfig, Rank, Span};
use ernn::model::{Model, ModelConfig, Pooling};
use ernn::{Isa, Panels, Real};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Inputs of the models, classes, and steps with step sizes of their own: fewer than the longest sequence has.
const INPUTS: usize = 2;
const CLASSES: usize = 3;
const MAX_STEPS: usize = 9;

/// Steps of the sequences: beyond one block of lanes, and some end in every piece.
const LENGTHS: [usize; 19] = [9, 4, 12, 1, 7, 12, 3, 8, 5, 2, 11, 6, 10, 1, 12, 4, 4, 8, 9];
const LONGEST: usize = 12;

/// A small cell of this kind.
fn cell(kind: &str, hidden: usize) -> CellConfig {
    let mut cell = CellConfig::of_kind(kind).expect("a kind").with_hidden(hidden);
    if let CellConfig::Ernn(cell) = &mut cell {
        (cell.rank, cell.iterations, cell.max_steps) = (Rank::Low(2), 2, MAX_STEPS);
    }
    cell
}

fn config(layers: Vec<CellConfig>, pooling: Pooling) -> ModelConfig {
    ModelConfig {
        pooling,
        ..ModelConfig::new(INPUTS, CLASSES, layers)
    }
}

/// All of them.
const POOLINGS: [Pooling; 5] = [
    Pooling::Last,
    Pooling::Mean,
    Pooling::MeanMax,
    Pooling::MeanMaxLast,
    Pooling::MeanStdMax,
];

/// Each cell alone, and below another one; the last state, the mean, and in turns what else there is.
fn configs() -> Vec<ModelConfig> {
    let kinds = CellConfig::KINDS;
    let mut configs = Vec::new();
    for (place, kind) in kinds.iter().enumerate() {
        let above = kinds[(place + 1) % kinds.len()];
        for pooling in [Pooling::Last, Pooling::Mean, POOLINGS[2 + place % 3]] {
            configs.push(config(vec![cell(kind, 5)], pooling));
            // Layers of other sizes, and of the same: there a state of the wrong layer would fit.
            let hidden = if pooling == Pooling::Last { 4 } else { 5 };
            configs.push(config(vec![cell(kind, 5), cell(above, hidden)], pooling));
        }
    }
    configs
}

fn name(config: &ModelConfig) -> String {
    let cells: Vec<_> = config.layers.iter().map(CellConfig::name).collect();
    format!("{}, {:?}", cells.join(" below "), config.pooling)
}

/// Parameters so large that every term matters.
fn model<F: Real>(config: ModelConfig) -> Model<F> {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut draw = |span: &Span| -> Vec<F> {
        let range = if span.name.ends_with(".eta") {
            0.05..0.3
        } else {
            -0.6..0.6
        };
        (0..span.len())
            .map(|_| F::from_f64(rng.random_range(range.clone())))
            .collect()
    };
    let parameters = config.spans().iter().flat_map(&mut draw).collect();
    Model::from_parameters(config, parameters).expect("a model")
}

/// A sequence of a stream, `[T, d]`.
fn sequences<F: Real>(lengths: &[usize]) -> Vec<Vec<F>> {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut draw = |&length: &usize| {
        let values = 0..length * INPUTS;
        values.map(|_| F::from_f64(rng.random_range(-1.5..1.5))).collect()
    };
    lengths.iter().map(&mut draw).collect()
}

/// The steps `from..to` of the sequences, as far as they have them.
fn piece<F: Real>(sequences: &[Vec<F>], from: usize, to: usize) -> Panels<F> {
    let part = |sequence: &Vec<F>| {
        let end = |step: usize| sequence.len().min(step * INPUTS);
        sequence[end(from)..end(to)].to_vec()
    };
    let parts: Vec<Vec<F>> = sequences.iter().map(part).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len() / INPUTS).collect();
    let mut panels = Panels::new(Isa::best(), INPUTS, &lengths);
    for (slot, part) in parts.iter().enumerate() {
        panels.set_sequence(slot, part);
    }
    panels
}

fn whole<F: Real>(sequences: &[Vec<F>]) -> Panels<F> {
    piece(sequences, 0, usize::MAX / INPUTS)
}

/// The sequences as a batch to train on; sequence `n` counts as number `2 n + 5` of its data set.
fn batch<F: Real>(sequences: &[Vec<F>]) -> Batch<F> {
    let mut batch = Batch::new();
    batch.inputs = whole(sequences);
    batch.targets = (0..sequences.len())
        .map(|index| (index * index % CLASSES) as u32)
        .collect();
    batch.indices = (0..sequences.len()).map(|index| 2 * index + 5).collect();
    batch
}

fn bits<F: Real>(values: &[F]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

/// Asserts that all numbers differ by at most `tolerance`; a NaN fails.
fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let near = (found - expected).abs() <= tolerance;
        assert!(near, "{what}, number {index}: found {found:e}, expected {expected:e}");
    }
}
