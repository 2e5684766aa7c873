//! A layer is the cell alone on what the layer below gives; a second direction is the cell on turned sequences; dropout between
//! layers touches what the next layer reads, and nothing else.

use ernn::Real;
use ernn::cell::CellConfig;
use ernn::head::{Readout, cross_entropy};
use ernn::model::{LayerStates, LossOptions, Model, ModelConfig, Pooling, Workspace};
use ernn::{Isa, Panels};

use crate::layer_dropout::{Key, mask};
use crate::{CLASSES, INPUTS, LENGTHS, POOLINGS, batch, bits, cell, config, model, sequences, whole};

fn states<F: Real>(model: &Model<F>, inputs: &Panels<F>) -> Vec<LayerStates<F>> {
    model.states(inputs, &mut Workspace::default()).expect("states")
}

/// The cell that stands at this place among the model's cells, as a model of its own.
fn alone(model: &Model<f64>, place: usize) -> Model<f64> {
    let directions = model.config().directions();
    let (layer, way) = (place / directions, place % directions);
    let prefix = match way {
        0 => format!("layers.{layer}."),
        _ => format!("layers.{layer}.reverse."),
    };
    let input_size = match layer {
        0 => INPUTS,
        _ => model.config().layers[layer - 1].hidden() * directions,
    };
    let own = |name: &str| name.strip_prefix(&prefix).is_some_and(|rest| !rest.contains('.'));
    let spans = model.spans().iter().filter(|span| own(&span.name));
    let mut parameters: Vec<f64> = spans
        .flat_map(|span| &model.parameters()[span.range()])
        .copied()
        .collect();
    let config = ModelConfig {
        input_size,
        ..config(vec![model.config().layers[layer].clone()], model.config().pooling)
    };
    let count = config.spans().last().expect("spans").range().end;
    // The readout of the whole, where it is as wide.
    let readout = count - parameters.len();
    parameters.extend(&model.parameters()[model.parameters().len() - readout..]);
    Model::from_parameters(config, parameters).expect("a model")
}

/// Every sequence from its last step to its first.
fn turned(panels: &Panels<f64>) -> Panels<f64> {
    let mut out = Panels::new(panels.isa(), panels.features(), panels.lengths());
    let mut row = vec![0.0; panels.features()];
    for (sequence, &length) in panels.lengths().iter().enumerate() {
        for step in 0..length {
            panels.read_step(sequence, step, &mut row);
            out.set_step(sequence, length - 1 - step, &row);
        }
    }
    out
}

/// Some features of time-major values.
fn features(panels: &Panels<f64>, from: usize, count: usize) -> Vec<u64> {
    let values = panels.to_time_major();
    let rows = values.chunks_exact(panels.features());
    bits(
        &rows
            .flat_map(|row| row[from..from + count].to_vec())
            .collect::<Vec<_>>(),
    )
}

#[test]
fn layers_do_not_share_a_state() {
    let inputs = whole(&sequences(&LENGTHS));
    for kind in CellConfig::KINDS {
        // Of the same size: nothing but the state tells them apart.
        let stacked = model::<f64>(config(vec![cell(kind, 5), cell(kind, 5), cell(kind, 5)], Pooling::Last));
        let layers = states(&stacked, &inputs);
        let mut below = &inputs;
        for (place, layer) in layers.iter().enumerate() {
            let own = &states(&alone(&stacked, place), below)[0];
            assert_eq!(
                bits(&layer.all.to_time_major()),
                bits(&own.all.to_time_major()),
                "{kind} {place}"
            );
            assert_eq!(layer.last, own.last, "{kind} {place}");
            below = &layer.all;
        }
    }
}

#[test]
fn a_second_direction_is_the_cell_on_turned_sequences() {
    let inputs = whole(&sequences(&LENGTHS));
    for kind in CellConfig::KINDS {
        let both = model::<f64>(ModelConfig {
            bidirectional: true,
            ..config(vec![cell(kind, 5), cell(kind, 4)], Pooling::Last)
        });
        let layers = states(&both, &inputs);
        let mut below = &inputs;
        for (layer, (found, hidden)) in layers.iter().zip([5, 4]).enumerate() {
            let forth = &states(&alone(&both, 2 * layer), below)[0];
            let back = &states(&alone(&both, 2 * layer + 1), &turned(below))[0];
            let what = format!("{kind}, layer {layer}");
            assert_eq!(
                features(&found.all, 0, hidden),
                features(&forth.all, 0, hidden),
                "{what}"
            );
            assert_eq!(
                features(&found.all, hidden, hidden),
                features(&turned(&back.all), 0, hidden),
                "{what}"
            );
            assert_eq!(found.last, [&forth.last[..], &back.last].concat(), "{what}");
            below = &found.all;
        }
    }
}

/// The loss with dropout is the upper cell's on the lower cell's own states, masked: had a mask touched the state that the lower
/// cell carries on, its later states would be others.
#[test]
fn dropout_between_layers_stays_out_of_the_state() {
    let sequences = sequences::<f64>(&LENGTHS);
    let (batch, rate, hidden) = (batch(&sequences), 0.4, 5);
    let readout = Readout {
        inputs: hidden,
        classes: CLASSES,
    };
    for (place, kind) in CellConfig::KINDS.iter().enumerate() {
        let above = CellConfig::KINDS[(place + 3) % CellConfig::KINDS.len()];
        for pooling in POOLINGS {
            let stacked = model::<f64>(ModelConfig {
                layer_dropout: rate,
                ..config(vec![cell(kind, hidden), cell(above, hidden)], pooling)
            });
            let loss = |dropout: Option<(u64, u64)>| {
                let options = LossOptions {
                    dropout,
                    ..Default::default()
                };
                let mut gradient = vec![0.0; stacked.parameters().len()];
                let result = stacked.loss_and_gradient(&batch, &options, &mut Workspace::default(), &mut gradient);
                result.expect("a loss").0
            };
            let below = &states(&alone(&stacked, 0), &batch.inputs)[0].all;
            let expected = |epoch: Option<u64>| {
                let masked = epoch.map_or(below.clone(), |epoch| masked(below, &batch.indices, rate, 7, epoch));
                let logits = alone(&stacked, 1)
                    .logits(&masked, &mut Workspace::default())
                    .expect("logits");
                assert_eq!(logits.len(), LENGTHS.len() * readout.classes);
                cross_entropy(&logits, CLASSES, &batch.targets, None, &mut Vec::new())
            };
            let what = format!("{kind} below {above}, {pooling:?}");
            assert_eq!(loss(None), expected(None), "{what}");
            for epoch in [1, 2] {
                assert_eq!(loss(Some((7, epoch))), expected(Some(epoch)), "{what}, epoch {epoch}");
            }
            assert_ne!(loss(Some((7, 1))), loss(Some((7, 2))), "{what}");
        }
    }
}

fn masked(states: &Panels<f64>, indices: &[usize], rate: f64, seed: u64, epoch: u64) -> Panels<f64> {
    let width = states.features();
    let mut out = Panels::new(Isa::best(), width, states.lengths());
    let mut row = vec![0.0; width];
    for (slot, &length) in states.lengths().iter().enumerate() {
        let key = Key {
            seed,
            epoch,
            sequence: indices[slot],
            layer: 0,
            first_step: 0,
        };
        let mask = mask(rate, key, length, width);
        for (step, factors) in mask.chunks_exact(width).enumerate() {
            states.read_step(slot, step, &mut row);
            row.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor);
            out.set_step(slot, step, &row);
        }
    }
    out
}
