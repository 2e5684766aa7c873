//! Logits and loss from the formulas, one sequence at a time: the cells' steps, both directions, dropout between layers and before
//! the readout.

use ernn::Isa;
use ernn::head::dropout_mask;
use ernn::model::{Pooling, Workspace};

use crate::assert_near;
use crate::formulas::{Tensors, combine, state_len, step, times};
use crate::layer_dropout::{Key, mask};
use crate::table::{Case, cases};

/// The index that sequence `n` has in its data set.
fn index(sequence: usize) -> usize {
    3 * sequence + 1
}

/// What the readout sees of one sequence; `training`: with dropout between the layers.
fn pooled(case: &Case, sequence: usize, training: bool) -> Vec<f64> {
    let config = &case.config;
    let mut rows: Vec<Vec<f64>> = case
        .sequence(sequence)
        .chunks_exact(config.input_size)
        .map(<[f64]>::to_vec)
        .collect();
    let cells = case.cells();
    let mut layers = cells.chunks(config.directions()).enumerate().peekable();
    while let Some((layer, cells)) = layers.next() {
        let mut ways: Vec<Vec<Vec<f64>>> = Vec::new();
        for (way, &(inputs, cell, parameters)) in cells.iter().enumerate() {
            let tensors = Tensors::new(cell, inputs, parameters);
            let mut state = vec![0.0; state_len(cell)];
            let mut states = vec![Vec::new(); rows.len()];
            for k in 0..rows.len() {
                let at = if way == 0 { k } else { rows.len() - 1 - k };
                state = step(cell, &tensors, &rows[at], &state, k);
                states[at] = state[..cell.hidden()].to_vec();
            }
            ways.push(states);
        }
        let steps = rows.len();
        rows = (0..steps)
            .map(|k| ways.iter().flat_map(|states| states[k].clone()).collect())
            .collect();
        let Some((seed, epoch)) = case.dropout.filter(|_| training && layers.peek().is_some()) else {
            if layers.peek().is_none() {
                // Each direction at the end of its own way.
                let last = ways
                    .iter()
                    .enumerate()
                    .map(|(way, states)| if way == 0 { &states[steps - 1] } else { &states[0] });
                return statistics(config.pooling, &rows, last.flatten().copied().collect());
            }
            continue;
        };
        let width = rows[0].len();
        let key = Key {
            seed,
            epoch,
            sequence: index(sequence),
            layer,
            first_step: 0,
        };
        let mask = mask(config.layer_dropout, key, steps, width);
        let values = rows.iter_mut().flatten().zip(mask);
        values.for_each(|(value, factor)| *value *= factor);
    }
    unreachable!("a model has a last layer")
}

/// Of the states of all steps, and of those after the last one.
fn statistics(pooling: Pooling, rows: &[Vec<f64>], last: Vec<f64>) -> Vec<f64> {
    let units = 0..rows[0].len();
    let mean = |unit: usize| rows.iter().map(|row| row[unit]).sum::<f64>() / rows.len() as f64;
    let largest = |unit: usize| rows.iter().map(|row| row[unit]).fold(f64::NEG_INFINITY, f64::max);
    let deviation = |unit: usize| {
        let around = rows.iter().map(|row| (row[unit] - mean(unit)).powi(2));
        (around.sum::<f64>() / rows.len() as f64 + 0.5f64.powi(16)).sqrt()
    };
    let [mean, deviation, largest]: [Vec<f64>; 3] = [
        units.clone().map(mean).collect(),
        units.clone().map(deviation).collect(),
        units.map(largest).collect(),
    ];
    match pooling {
        Pooling::Last => last,
        Pooling::Mean => mean,
        Pooling::MeanMax => [mean, largest].concat(),
        Pooling::MeanMaxLast => [mean, largest, last].concat(),
        Pooling::MeanStdMax => [mean, deviation, largest].concat(),
    }
}

fn readout(case: &Case, states: &[f64]) -> Vec<f64> {
    let classes = case.config.classes;
    let parameters = &case.parameters[case.parameters.len() - classes * (states.len() + 1)..];
    let (weight, bias) = parameters.split_at(classes * states.len());
    combine([(1.0, &times(weight, states)), (1.0, bias)])
}

/// The share of one sequence in the loss, dropout included.
struct Share {
    weight: f64,
    loss: f64,
    right: bool,
}

fn share(case: &Case, sequence: usize) -> Share {
    let mut states = pooled(case, sequence, true);
    if let Some((seed, epoch)) = case.dropout {
        let mut mask = Vec::new();
        let indices = [index(sequence)];
        dropout_mask::<f64>(case.config.dropout, seed, epoch, &indices, states.len(), &mut mask);
        states = states.iter().zip(&mask).map(|(state, mask)| state * mask).collect();
    }
    let target = case.targets[sequence] as usize;
    let logits = readout(case, &states);
    let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
    Share {
        weight: case.class_weights.as_ref().map_or(1.0, |weights| weights[target]),
        loss: total.ln() - logits[target],
        right: logits.iter().all(|&logit| logit <= logits[target]),
    }
}

#[test]
fn logits_are_those_of_the_formulas() {
    for case in cases() {
        for isa in Isa::available() {
            let batch = case.batch::<f64>(isa);
            let logits = case
                .model()
                .logits(&batch.inputs, &mut Workspace::default())
                .expect("logits");
            assert_eq!(logits.len(), case.lengths.len() * case.config.classes, "{}", case.name);
            for (sequence, found) in logits.chunks_exact(case.config.classes).enumerate() {
                for (&found, expected) in found.iter().zip(readout(&case, &pooled(&case, sequence, false))) {
                    let what = || format!("{}, {isa:?}, sequence {sequence}", case.name);
                    assert!(expected.abs() < 50.0, "{}: the states grow", what());
                    assert_near(found, expected, 1e-11, what);
                }
            }
        }
    }
}

#[test]
fn loss_and_right_predictions_are_those_of_the_formulas() {
    for case in cases() {
        let model = case.model::<f64>();
        let mut gradient = vec![0.0; model.parameters().len()];
        let found = model.loss_and_gradient(
            &case.batch(Isa::best()),
            &case.options(),
            &mut Workspace::default(),
            &mut gradient,
        );
        let (found, right) = found.expect("a loss");
        let shares: Vec<_> = (0..case.lengths.len()).map(|sequence| share(&case, sequence)).collect();
        let total: f64 = shares.iter().map(|share| share.weight).sum();
        let expected = shares.iter().map(|share| share.weight * share.loss).sum::<f64>() / total;
        assert_near(found, expected, 1e-12, || case.name.clone());
        assert_eq!(
            right,
            shares.iter().filter(|share| share.right).count(),
            "{}",
            case.name
        );
    }
}
