//! Forward pass of one sequence: the registers hold units instead of sequences, so that a single stream is fast too.
//!
//! Every sum runs in the order of the block kernel, so the bits are the same as in a batch.

use super::Deep;
use super::forward::advance;
use crate::aligned::Aligned;
use crate::columns::{Columns, Start, Way, fill_up, padded};
use crate::compiled::Compiled;
use crate::{Activation, Isa, Real};

/// A folded cell with its weights packed for one sequence at a time; reusable.
#[derive(Clone, Debug)]
pub struct SequenceRunner<F> {
    isa: Isa,
    inputs: usize,
    hidden: usize,
    activation: Activation,
    iterations: usize,
    start_scale: F,
    previous_scale: F,
    /// `W`.
    input_weight: Columns<F>,
    layers: Vec<Layer<F>>,
    decay: Vec<F>,
    gain: Vec<F>,
    scratch: Aligned<F>,
}

/// One layer, packed.
#[derive(Clone, Debug)]
struct Layer<F> {
    /// `w_j`.
    width: usize,
    /// `U_j`.
    weight: Columns<F>,
    /// `[w_j padded]`.
    bias: Aligned<F>,
}

/// What the kernel reads and writes.
pub struct SequenceTask<'a, F> {
    runner: &'a SequenceRunner<F>,
    scratch: &'a mut [F],
    /// `[T, d]`.
    input: &'a [F],
    first_step: usize,
    /// `[D]`: the initial state, then the last one.
    state: &'a mut [F],
    /// `[T, D]`.
    states: &'a mut [F],
}

impl<F: Real> SequenceRunner<F> {
    /// Packs the weights of a cell.
    pub fn new(isa: Isa, cell: &Deep<F>) -> Self {
        cell.check();
        let lanes = isa.lanes::<F>() / 2;
        let mut layers = Vec::with_capacity(cell.layers.len());
        let mut outputs = 0;
        for (index, layer) in cell.layers.iter().enumerate() {
            layers.push(Layer {
                width: layer.width,
                weight: Columns::new(layer.weight, [1, layer.width, cell.columns(index)], lanes),
                bias: fill_up(layer.bias, 1, lanes),
            });
            outputs += padded(layer.width, lanes);
        }
        let first = cell.layers[0].width;
        let mut scratch = Aligned::default();
        scratch.resize(2 * padded(cell.hidden, lanes) + padded(first, lanes) + outputs);
        SequenceRunner {
            isa,
            inputs: cell.inputs,
            hidden: cell.hidden,
            activation: cell.activation,
            iterations: cell.iterations,
            start_scale: cell.start_scale,
            previous_scale: cell.previous_scale,
            input_weight: Columns::new(cell.input_weight, [1, first, cell.inputs], lanes),
            layers,
            decay: cell.decay.to_vec(),
            gain: cell.gain.to_vec(),
            scratch,
        }
    }

    /// Runs over `input` `[T, d]` from `state` `[D]`, which becomes the state after the last step, and writes all states
    /// `[T, D]`. `first_step` steps of the sequence were run before.
    ///
    /// # Panics
    /// If `input` is not a whole number of steps, or `state` has another size.
    pub fn run(&mut self, input: &[F], first_step: usize, state: &mut [F], states: &mut Vec<F>) {
        assert!(input.len().is_multiple_of(self.inputs), "the input is [T,d]");
        assert_eq!(state.len(), self.hidden, "the state is [D]");
        states.resize(input.len() / self.inputs * self.hidden, F::ZERO);
        let mut scratch = std::mem::take(&mut self.scratch);
        F::deep_sequence(
            self.isa,
            SequenceTask {
                runner: self,
                scratch: &mut scratch,
                input,
                first_step,
                state,
                states: &mut states[..],
            },
        );
        self.scratch = scratch;
    }
}

/// The kernel.
#[inline(always)]
pub(crate) fn run_sequence<V: Compiled>(task: SequenceTask<V::Scalar>) {
    let SequenceTask {
        runner,
        scratch,
        input,
        first_step,
        state,
        states,
    } = task;
    let (hidden, k) = (runner.hidden, runner.iterations);
    let width = padded(hidden, V::LANES);
    let (h, rest) = scratch.split_at_mut(width);
    // As in the block kernel: z, then the outputs of all layers.
    let (drive, network) = rest.split_at_mut(runner.layers[0].bias.len());
    h.fill(V::Scalar::ZERO);
    h[..hidden].copy_from_slice(&state[..hidden]);
    let rows = runner.decay.len() / k;
    let (start, previous) = (V::splat(runner.start_scale), V::splat(-runner.previous_scale));
    for (step, (x, out)) in input
        .chunks_exact(runner.inputs)
        .zip(states.chunks_exact_mut(hidden))
        .enumerate()
    {
        let bias = Start::From(&runner.layers[0].bias);
        V::columns(&runner.input_weight, x, bias, Way::To, drive);
        for (from, to) in h.chunks_exact(V::LANES).zip(network.chunks_exact_mut(V::LANES)) {
            V::load(from).mul(start).store(to);
        }
        let row = step.saturating_add(first_step).min(rows - 1) * k;
        for index in row..row + k {
            layers::<V>(runner, drive, network);
            let (z, outputs) = network.split_at_mut(width);
            let (decay, gain) = (V::splat(runner.decay[index]), V::splat(runner.gain[index]));
            advance(decay, gain, &outputs[outputs.len() - width..], z);
        }
        for (z, h) in network.chunks_exact(V::LANES).zip(h.chunks_exact_mut(V::LANES)) {
            V::load(h).mul_add(previous, V::load(z)).store(h);
        }
        out.copy_from_slice(&h[..hidden]);
    }
    state.copy_from_slice(&h[..hidden]);
}

/// All layers of one iteration: from `z^i` to `a_1 .. a_L`.
#[inline(always)]
fn layers<V: Compiled>(runner: &SequenceRunner<V::Scalar>, drive: &[V::Scalar], network: &mut [V::Scalar]) {
    // Where what a layer reads begins, how many numbers it is, and where the layer's output begins.
    let (mut source_start, mut columns, mut place) = (0, runner.hidden, padded(runner.hidden, V::LANES));
    for (index, layer) in runner.layers.iter().enumerate() {
        let (before, from) = network.split_at_mut(place);
        let out = &mut from[..layer.bias.len()];
        let start = Start::From(if index == 0 { drive } else { &layer.bias });
        V::columns(&layer.weight, &before[source_start..][..columns], start, Way::To, out);
        V::activate(runner.activation, out);
        (source_start, columns) = (place, layer.width);
        place += out.len();
    }
}
