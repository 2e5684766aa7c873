//! Memory does not grow with the sequence.

use ernn::Isa;
use ernn::Panels;
use ernn::batch::Batch;
use ernn::cell::{Activation, CellConfig};
use ernn::model::{LossOptions, Model, ModelConfig, Pooling, State, Workspace};

use crate::{CLASSES, INPUTS, POOLINGS, bits, cell, config};

/// A stacked model with everything that keeps something: low rank, a memory, statistics, dropout between layers.
fn stacked() -> Model<f32> {
    let mut upper = cell("ernn", 4);
    if let CellConfig::Ernn(cell) = &mut upper {
        // With a ReLU nothing bounds the states of a cell that no training has seen.
        cell.activation = Activation::Tanh;
    }
    let config = ModelConfig {
        layer_dropout: 0.2,
        ..config(vec![cell("lstm", 4), upper], Pooling::MeanStdMax)
    };
    Model::new(config, 3).expect("a model")
}

/// Room in the workspace after a training step on two sequences, one half as long as the other.
fn capacity(steps: usize, tbptt: Option<usize>) -> usize {
    let model = stacked();
    let mut batch = Batch::new();
    batch.inputs = Panels::new(Isa::best(), INPUTS, &[steps, steps / 2]);
    (0..steps).for_each(|step| batch.inputs.set_step(0, step, &[(step as f32 * 0.1).sin(), 0.5]));
    (batch.targets, batch.indices) = (vec![0, 1], vec![0, 1]);
    let options = LossOptions {
        dropout: Some((1, 1)),
        tbptt,
        ..Default::default()
    };
    let (mut workspace, mut gradient) = (Workspace::default(), vec![0.0; model.parameters().len()]);
    let result = model.loss_and_gradient(&batch, &options, &mut workspace, &mut gradient);
    assert!(result.expect("a loss").0.is_finite());
    assert!(gradient.iter().all(|value| value.is_finite()));
    workspace.capacity()
}

#[test]
fn training_in_pieces_takes_the_memory_of_a_piece() {
    let short = capacity(2_000, Some(500));
    assert_eq!(capacity(200_000, Some(500)), short);
    // What the whole takes, and what a piece of half the length.
    assert!(capacity(2_000, None) > 3 * short);
    assert!(capacity(2_000, Some(250)) < short * 6 / 10);
}

/// How many numbers a value holds, by the commas of its debug form.
fn numbers(value: &impl std::fmt::Debug) -> usize {
    format!("{value:?}").matches(',').count()
}

#[test]
fn a_runner_holds_no_more_after_a_million_steps() {
    let model = stacked();
    let mut runner = model.runner();
    let chunk: Vec<f32> = (0..1_000 * INPUTS).map(|index| (index as f32 * 0.7).sin()).collect();
    runner.push(&chunk).expect("logits");
    let first = numbers(&runner);
    // The room of one push: buffers for its steps, padded to the width of the registers; far from a state for each step of the stream.
    assert!(first > chunk.len(), "{first}");
    let mut logits = Vec::new();
    for _ in 1..1_000 {
        logits = runner.push(&chunk).expect("logits");
    }
    assert_eq!(logits.len(), CLASSES);
    assert!(logits.iter().all(|logit| logit.is_finite()), "{logits:?}");
    assert_eq!(numbers(&runner), first);
}

#[test]
fn every_cell_stays_finite_over_a_long_stream() {
    for kind in CellConfig::KINDS {
        for pooling in [Pooling::Last, Pooling::MeanMax, Pooling::MeanStdMax] {
            // With a ReLU nothing bounds the states of a cell that no training has seen, and their squares are beyond 32 bits first.
            if pooling == Pooling::MeanStdMax && ["ernn", "deep-transition"].contains(kind) {
                continue;
            }
            let model = Model::<f32>::new(config(vec![cell(kind, 4)], pooling), 5).expect("a model");
            let mut runner = model.runner();
            for step in 0..20_000 {
                let x = step as f32 * 0.3;
                let logits = runner.push(&[x.sin(), x.cos()]).expect("logits");
                assert!(
                    logits.iter().all(|logit| logit.is_finite()),
                    "{kind}, step {step}: {logits:?}"
                );
            }
        }
    }
}

/// Logits of sequences longer than any piece that is run at once, and the room that they leave in the workspace.
fn long_logits(model: &Model<f32>, lengths: &[usize]) -> (Vec<u64>, usize) {
    let inputs = long_inputs(lengths);
    let mut workspace = Workspace::default();
    let logits = model.logits(&inputs, &mut workspace).expect("logits");
    (bits(&logits), workspace.capacity())
}

fn long_sequence(slot: usize, steps: usize) -> Vec<f32> {
    (0..steps * INPUTS)
        .map(|index| ((index + slot) as f32 * 0.37).sin())
        .collect()
}

fn long_inputs(lengths: &[usize]) -> Panels<f32> {
    let mut inputs = Panels::new(Isa::best(), INPUTS, lengths);
    for (slot, &steps) in lengths.iter().enumerate() {
        inputs.set_sequence(slot, &long_sequence(slot, steps));
    }
    inputs
}

#[test]
fn looking_at_long_sequences_takes_the_memory_of_a_piece_and_changes_no_bit() {
    for pooling in POOLINGS {
        let config = ModelConfig {
            pooling,
            ..stacked().config().clone()
        };
        let model: Model<f32> = Model::new(config, 3).expect("a model");
        let lengths = [2_500, 1_024, 3, 0, 1_025];
        let (found, room) = long_logits(&model, &lengths);
        // `advance` runs what it is given at once.
        let advanced = model.advance(&long_inputs(&lengths), &mut State::default(), &mut Workspace::default());
        assert_eq!(found, bits(&advanced.expect("logits")), "{pooling:?}");
        for (slot, &steps) in lengths.iter().enumerate() {
            let alone = model.runner().logits(&long_sequence(slot, steps));
            assert_eq!(
                bits(&alone),
                found[slot * CLASSES..][..CLASSES],
                "{pooling:?}, sequence {slot}"
            );
        }
        assert_eq!(long_logits(&model, &[60_000, 1, 1, 1, 1]).1, room, "{pooling:?}");
    }
}
