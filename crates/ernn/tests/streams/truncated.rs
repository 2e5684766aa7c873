//! Truncated backpropagation through time.

use ernn::cell::{Folded, FoldedGradient, Piece};
use ernn::head::{Readout, cross_entropy};
use ernn::model::{LossOptions, Model, ModelConfig, Pooling, State, Workspace};
use ernn::{Isa, Panels, Real};
use ernn_kernels::{StateGradient, Trace};

use crate::layer_dropout::{Key, mask};
use crate::{
    CLASSES, LENGTHS, LONGEST, assert_near, batch, bits, cell, config, configs, model, name, piece, sequences,
};

/// Loss, right predictions and gradient of the batch of all sequences.
fn train<F: Real>(model: &Model<F>, tbptt: Option<usize>, dropout: bool) -> (F, usize, Vec<F>) {
    let options = LossOptions {
        dropout: dropout.then_some(SEED_AND_EPOCH),
        class_weights: Some((1..=CLASSES).map(|class| F::from_f64(class as f64)).collect()),
        tbptt,
        ..LossOptions::default()
    };
    let mut gradient = vec![F::ZERO; model.parameters().len()];
    let batch = batch(&sequences(&LENGTHS));
    let result = model.loss_and_gradient(&batch, &options, &mut Workspace::default(), &mut gradient);
    let (loss, right) = result.expect("a loss");
    (loss, right, gradient)
}

const SEED_AND_EPOCH: (u64, u64) = (3, 4);

fn dropping(config: ModelConfig) -> ModelConfig {
    ModelConfig {
        dropout: 0.2,
        layer_dropout: 0.3,
        ..config
    }
}

fn a_piece_as_long_as_the_sequences_is_all_of_it<F: Real>() {
    for config in configs() {
        let model = model::<F>(dropping(config));
        let (loss, right, gradient) = train(&model, None, true);
        for piece in [LONGEST, LONGEST + 1, usize::MAX] {
            let found = train(&model, Some(piece), true);
            let what = format!("{}, {piece}", name(model.config()));
            assert_eq!((bits(&[found.0]), found.1), (bits(&[loss]), right), "{what}");
            assert_eq!(bits(&found.2), bits(&gradient), "{what}");
        }
    }
}

#[test]
fn a_piece_as_long_as_the_sequences_is_all_of_it_f32() {
    a_piece_as_long_as_the_sequences_is_all_of_it::<f32>();
}

#[test]
fn a_piece_as_long_as_the_sequences_is_all_of_it_f64() {
    a_piece_as_long_as_the_sequences_is_all_of_it::<f64>();
}

/// The loss is that of the whole; the gradient is another one.
#[test]
fn shorter_pieces_change_the_gradient_alone() {
    for config in configs() {
        let model = model::<f64>(config);
        let (loss, right, gradient) = train(&model, None, false);
        let found = train(&model, Some(5), false);
        assert_eq!((found.0, found.1), (loss, right), "{}", name(model.config()));
        assert_ne!(found.2, gradient, "{}", name(model.config()));
    }
}

/// The loss as a function of the parameters, the states at the borders of the pieces held fixed at those of `fixed`. Each sequence's
/// logits come from the piece in which it ends.
fn loss_with_fixed_borders(model: &Model<f64>, fixed: &Model<f64>, length: usize) -> f64 {
    let sequences = sequences(&LENGTHS);
    let batch = batch(&sequences);
    let (mut state, mut workspace) = (State::default(), Workspace::default());
    let mut logits = vec![f64::NAN; LENGTHS.len() * CLASSES];
    for from in (0..LONGEST).step_by(length) {
        let inputs = piece(&sequences, from, from + length);
        let mut own = state.clone();
        let found = model.advance(&inputs, &mut own, &mut workspace).expect("logits");
        for (slot, &steps) in LENGTHS.iter().enumerate() {
            if from < steps && steps <= from + length {
                let row = slot * CLASSES..(slot + 1) * CLASSES;
                logits[row.clone()].copy_from_slice(&found[row]);
            }
        }
        fixed.advance(&inputs, &mut state, &mut workspace).expect("logits");
    }
    let weights: Vec<f64> = (1..=CLASSES).map(|class| class as f64).collect();
    cross_entropy(&logits, CLASSES, &batch.targets, Some(&weights), &mut Vec::new())
}

#[test]
fn the_gradient_holds_the_states_at_the_borders_fixed() {
    for config in configs().into_iter().filter(|config| config.pooling == Pooling::Last) {
        let model = model::<f64>(config);
        for length in [1, 5] {
            let (loss, _, gradient) = train(&model, Some(length), false);
            let what = format!("{}, pieces of {length}", name(model.config()));
            assert_near(
                &[loss_with_fixed_borders(&model, &model, length)],
                &[loss],
                1e-13,
                &what,
            );
            for span in model.spans() {
                let expected = |index: usize| {
                    // So close that a ReLU's kink is all but never between.
                    let [above, below] = [1e-7, -1e-7].map(|by| {
                        let mut moved = model.clone();
                        moved.parameters_mut()[index] += by;
                        loss_with_fixed_borders(&moved, &model, length)
                    });
                    (above - below) / 2e-7
                };
                // A few of each tensor.
                let indices: Vec<usize> = span.range().step_by(span.len().div_ceil(4)).collect();
                let found: Vec<f64> = indices.iter().map(|&index| gradient[index]).collect();
                let expected: Vec<f64> = indices.into_iter().map(expected).collect();
                assert_near(&found, &expected, 1e-7, &format!("{what}, {}", span.name));
            }
        }
    }
}

/// A layer's run over one piece.
#[derive(Default)]
struct Run {
    initial: Vec<f64>,
    input: Option<Panels<f64>>,
    trace: Trace<f64>,
    /// Factors of what the next layer reads, `[T, sequences, D]`.
    mask: Vec<f64>,
}

impl Run {
    fn piece(&self, first_step: usize) -> Piece<'_, f64> {
        Piece {
            input: self.input.as_ref().expect("an input"),
            initial: Some(&self.initial),
            first_step,
        }
    }
}

/// The gradient of the two-layer model, piece by piece from the folded cells, with dropout between the layers.
fn by_hand(model: &Model<f64>, length: usize) -> Vec<f64> {
    let (config, sequences) = (model.config(), sequences(&LENGTHS));
    let batch = batch(&sequences);
    let sizes = [config.input_size, config.layers[0].hidden()];
    let split = config.layers[0].parameter_count(sizes[0]);
    let places = [0..split, split..split + config.layers[1].parameter_count(sizes[1])];
    let folded: Vec<Folded<f64>> = (0..2)
        .map(|layer| config.layers[layer].fold(sizes[layer], &model.parameters()[places[layer].clone()]))
        .collect();
    let top = folded[1].hidden();
    let mut carried: Vec<Vec<f64>> = folded
        .iter()
        .map(|cell| vec![0.0; LENGTHS.len() * cell.state_len()])
        .collect();
    let mut seen: Vec<Vec<Vec<f64>>> = vec![Vec::new(); LENGTHS.len()];
    let mut pieces: Vec<[Run; 2]> = Vec::new();
    for from in (0..LONGEST).step_by(length) {
        let mut runs = [Run::default(), Run::default()];
        let mut input = piece(&sequences, from, from + length);
        for (layer, run) in runs.iter_mut().enumerate() {
            run.initial = std::mem::take(&mut carried[layer]);
            run.input = Some(input);
            let mut trace = Trace::default();
            folded[layer].forward(run.piece(from), &mut trace);
            carried[layer] = trace.last_state();
            run.mask = drops(config.layer_dropout, &batch.indices, trace.states(), from);
            input = times(trace.states(), &run.mask);
            run.trace = trace;
        }
        let states = runs[1].trace.states();
        for (slot, seen) in seen.iter_mut().enumerate() {
            for step in 0..states.lengths()[slot] {
                seen.push(vec![0.0; top]);
                states.read_step(slot, step, seen.last_mut().expect("a row"));
            }
        }
        pieces.push(runs);
    }
    let pooled: Vec<f64> = seen.iter().flat_map(|rows| plain(config.pooling, rows)).collect();

    let width = pooled.len() / LENGTHS.len();
    let readout = Readout {
        inputs: width,
        classes: CLASSES,
    };
    let mut gradient = vec![0.0; model.parameters().len()];
    let own = places[1].end;
    let (mut logits, mut at_logits, mut at_pooled) = (Vec::new(), Vec::new(), Vec::new());
    let weights: Vec<f64> = (1..=CLASSES).map(|class| class as f64).collect();
    readout.forward(&model.parameters()[own..], &pooled, &mut logits);
    cross_entropy(&logits, CLASSES, &batch.targets, Some(&weights), &mut at_logits);
    readout.backward(
        &model.parameters()[own..],
        &pooled,
        &at_logits,
        &mut gradient[own..],
        &mut at_pooled,
    );

    for (place, runs) in pieces.iter_mut().enumerate() {
        let from = place * length;
        let mut at_states = Panels::new(Isa::best(), top, runs[1].trace.states().lengths());
        for (slot, row) in at_pooled.chunks_exact(width).enumerate() {
            for step in 0..at_states.lengths()[slot] {
                at_states.set_step(slot, step, &at_state(config.pooling, &seen[slot], from + step, row));
            }
        }
        for layer in [1, 0] {
            let Run {
                input, trace, initial, ..
            } = &mut runs[layer];
            let piece = Piece {
                input: input.as_ref().expect("an input"),
                initial: Some(initial),
                first_step: from,
            };
            let states = StateGradient {
                all: Some(&at_states),
                ..Default::default()
            };
            let (mut at_folded, mut at_input) = (FoldedGradient::default(), Panels::new(Isa::best(), 1, &[]));
            folded[layer].backward(piece, trace, states, &mut at_folded, Some(&mut at_input), None);
            let parameters = &model.parameters()[places[layer].clone()];
            let at_parameters = &mut gradient[places[layer].clone()];
            config.layers[layer].unfold(sizes[layer], parameters, &at_folded, at_parameters);
            if layer == 1 {
                at_states = times(&at_input, &runs[0].mask);
            }
        }
    }
    gradient
}

/// Mean, deviation, largest value with its step, of one unit.
fn of_unit(rows: &[Vec<f64>], unit: usize) -> (f64, f64, f64, usize) {
    let count = rows.len() as f64;
    let mean = rows.iter().map(|row| row[unit]).sum::<f64>() / count;
    let variance = rows.iter().map(|row| (row[unit] - mean).powi(2)).sum::<f64>() / count;
    let mut first = 0;
    for (step, row) in rows.iter().enumerate() {
        if row[unit] > rows[first][unit] {
            first = step;
        }
    }
    (mean, (variance + 0.5f64.powi(16)).sqrt(), rows[first][unit], first)
}

/// What the readout sees of a sequence.
fn plain(pooling: Pooling, rows: &[Vec<f64>]) -> Vec<f64> {
    let units = 0..rows[0].len();
    let means = units.clone().map(|unit| of_unit(rows, unit).0);
    let deviations = units.clone().map(|unit| of_unit(rows, unit).1);
    let largest = units.map(|unit| of_unit(rows, unit).2);
    let last = rows[rows.len() - 1].iter().copied();
    match pooling {
        Pooling::Last => last.collect(),
        Pooling::Mean => means.collect(),
        Pooling::MeanMax => means.chain(largest).collect(),
        Pooling::MeanMaxLast => means.chain(largest).chain(last).collect(),
        Pooling::MeanStdMax => means.chain(deviations).chain(largest).collect(),
    }
}

/// The gradient at the upper layer's state of a step, from that at what the readout sees of the sequence.
fn at_state(pooling: Pooling, rows: &[Vec<f64>], step: usize, gradient: &[f64]) -> Vec<f64> {
    let (units, count) = (rows[0].len(), rows.len() as f64);
    let part = |place: usize, unit: usize| gradient[place * units + unit];
    let of = |unit: usize| {
        let (mean, deviation, _, first) = of_unit(rows, unit);
        let largest = |place: usize| if first == step { part(place, unit) } else { 0.0 };
        let last = |place: usize| if step + 1 == rows.len() { part(place, unit) } else { 0.0 };
        let moved = |place: usize| part(place, unit) * (rows[step][unit] - mean) / (count * deviation);
        match pooling {
            Pooling::Last => last(0),
            Pooling::Mean => part(0, unit) / count,
            Pooling::MeanMax => part(0, unit) / count + largest(1),
            Pooling::MeanMaxLast => part(0, unit) / count + largest(1) + last(2),
            Pooling::MeanStdMax => part(0, unit) / count + moved(1) + largest(2),
        }
    };
    (0..units).map(of).collect()
}

/// The factors of dropout, `[T, sequences, D]`.
fn drops(rate: f64, indices: &[usize], like: &Panels<f64>, first_step: usize) -> Vec<f64> {
    let width = like.features();
    let mut out = vec![0.0; like.to_time_major().len()];
    for (slot, &length) in like.lengths().iter().enumerate() {
        let (seed, epoch) = SEED_AND_EPOCH;
        let key = Key {
            seed,
            epoch,
            sequence: indices[slot],
            layer: 0,
            first_step,
        };
        for (step, row) in mask(rate, key, length, width).chunks_exact(width).enumerate() {
            out[(step * indices.len() + slot) * width..][..width].copy_from_slice(row);
        }
    }
    out
}

/// Number by number.
fn times(panels: &Panels<f64>, factors: &[f64]) -> Panels<f64> {
    let values: Vec<f64> = panels.to_time_major().iter().zip(factors).map(|(a, b)| a * b).collect();
    let steps = panels.lengths().iter().copied().max().expect("a sequence");
    Panels::from_time_major(Isa::best(), &values, steps, panels.features(), panels.lengths())
}

#[test]
fn the_gradient_is_that_of_the_pieces_by_hand() {
    for config in configs().into_iter().filter(|config| config.layers.len() == 2) {
        let model = model::<f64>(ModelConfig {
            layer_dropout: 0.3,
            ..config
        });
        for length in [1, 4, 5, LONGEST] {
            let what = format!("{}, pieces of {length}", name(model.config()));
            let found = train(&model, Some(length), true).2;
            // A variance is a difference of sums.
            let bound = if model.config().pooling == Pooling::MeanStdMax {
                1e-11
            } else {
                1e-13
            };
            assert_near(&found, &by_hand(&model, length), bound, &what);
        }
    }
}

/// A whole step of training is the same step in a workspace that has seen pieces of another length.
#[test]
fn a_used_workspace_changes_no_bit() {
    let model = model::<f64>(dropping(config(vec![cell("lstm", 5), cell("gru", 4)], Pooling::Mean)));
    let batch = batch(&sequences(&LENGTHS));
    let run = |workspace: &mut Workspace<f64>, tbptt: Option<usize>| {
        let options = LossOptions {
            dropout: Some(SEED_AND_EPOCH),
            tbptt,
            ..Default::default()
        };
        let mut gradient = vec![f64::NAN; model.parameters().len()];
        let loss = model.loss_and_gradient(&batch, &options, workspace, &mut gradient);
        (loss.expect("a loss").0, bits(&gradient))
    };
    let mut used = Workspace::default();
    for tbptt in [Some(3), None, Some(7), Some(1), None] {
        let expected = run(&mut Workspace::default(), tbptt);
        assert!(run(&mut used, tbptt) == expected, "{tbptt:?}");
    }
}
