//! Forward pass of one sequence: the registers hold units instead of sequences, so that a single stream is fast too.
//!
//! Every sum runs in the order of the block kernel, so the bits are the same as in a batch. The input's part is formed for some steps
//! at once: it waits for no state, and its weights are read once for all of them.

use super::{Leaky, Recurrent};
use crate::aligned::Aligned;
use crate::columns::{Columns, INPUT_STEPS, Start, Way, fill_up, padded};
use crate::compiled::Compiled;
use crate::simd::Vector;
use crate::{Activation, Isa, Real};

/// A folded cell with its weights packed for one sequence at a time; reusable.
#[derive(Clone, Debug)]
pub struct SequenceRunner<F> {
    isa: Isa,
    inputs: usize,
    hidden: usize,
    rank: usize,
    activation: Activation,
    iterations: usize,
    identity: F,
    start_scale: F,
    previous_scale: F,
    /// `W`.
    input_weight: Columns<F>,
    /// `[D padded]`.
    bias: Aligned<F>,
    /// `A` or `R`.
    left: Columns<F>,
    /// `B`.
    right: Columns<F>,
    decay: Vec<F>,
    gain: Vec<F>,
    scratch: Aligned<F>,
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
    pub fn new(isa: Isa, cell: &Leaky<F>) -> Self {
        cell.check();
        let lanes = isa.lanes::<F>() / 2;
        let (hidden, rank) = (cell.hidden, cell.rank());
        let (left, right) = match cell.recurrent {
            Recurrent::Dense(weight) => (Columns::new(weight, [1, hidden, hidden], lanes), &[][..]),
            Recurrent::LowRank { left, right, .. } => (Columns::new(left, [1, hidden, rank], lanes), right),
        };
        let mut scratch = Aligned::default();
        scratch.resize((INPUT_STEPS + 3) * padded(hidden, lanes) + padded(rank, lanes));
        SequenceRunner {
            isa,
            inputs: cell.inputs,
            hidden,
            rank,
            activation: cell.activation,
            iterations: cell.iterations,
            identity: cell.identity(),
            start_scale: cell.start_scale,
            previous_scale: cell.previous_scale,
            input_weight: Columns::paired(cell.input_weight, [1, hidden, cell.inputs], lanes),
            bias: fill_up(cell.bias, 1, lanes),
            left,
            right: Columns::new(right, [1, rank, hidden], lanes),
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
        let steps = input.len() / self.inputs;
        states.resize(steps * self.hidden, F::ZERO);
        let mut scratch = std::mem::take(&mut self.scratch);
        F::leaky_sequence(
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
    let (z, rest) = rest.split_at_mut(width);
    let (sums, rest) = rest.split_at_mut(width);
    let (drive, codes) = rest.split_at_mut(INPUT_STEPS * width);
    h.fill(V::Scalar::ZERO);
    h[..hidden].copy_from_slice(&state[..hidden]);
    let (rows, start) = (runner.decay.len() / k, V::splat(runner.start_scale));
    let pieces = input
        .chunks(INPUT_STEPS * runner.inputs)
        .zip(states.chunks_mut(INPUT_STEPS * hidden));
    for (piece, (x, out)) in pieces.enumerate() {
        let first_step = first_step.saturating_add(piece * INPUT_STEPS);
        V::inputs(&runner.input_weight, &runner.bias, x, [0, width], drive);
        let steps = drive.chunks_exact(width).zip(out.chunks_exact_mut(hidden));
        for (step, (drive, out)) in steps.enumerate() {
            for (from, to) in h.chunks_exact(V::LANES).zip(z.chunks_exact_mut(V::LANES)) {
                V::load(from).mul(start).store(to);
            }
            for index in 0..k {
                let way = Way::of(step * k + index);
                if runner.rank > 0 {
                    // As the block kernel: at first the product with h, then the factor.
                    let source = if index == 0 { &h[..hidden] } else { &z[..hidden] };
                    V::columns(&runner.right, source, Start::Zero, way, codes);
                    if index == 0 {
                        for value in codes.chunks_exact_mut(V::LANES) {
                            V::load(value).mul(start).store(value);
                        }
                    }
                    V::columns(&runner.left, &codes[..runner.rank], Start::From(drive), way, sums);
                } else {
                    V::columns(&runner.left, &z[..hidden], Start::From(drive), way, sums);
                }
                let at = step.saturating_add(first_step).min(rows - 1) * k + index;
                advance::<V>(runner, (runner.decay[at], runner.gain[at]), index + 1 == k, sums, z, h);
            }
            out.copy_from_slice(&h[..hidden]);
        }
    }
    state.copy_from_slice(&h[..hidden]);
}

/// `z <- a z + e phi(sums + c z)`; in the last iteration `h <- z - s h`.
#[inline(always)]
fn advance<V: Vector>(
    runner: &SequenceRunner<V::Scalar>,
    (decay, gain): (V::Scalar, V::Scalar),
    last: bool,
    sums: &[V::Scalar],
    z: &mut [V::Scalar],
    h: &mut [V::Scalar],
) {
    let (decay, gain, identity) = (V::splat(decay), V::splat(gain), V::splat(runner.identity));
    let previous = V::splat(-runner.previous_scale);
    let rows = sums
        .chunks_exact(V::LANES)
        .zip(z.chunks_exact_mut(V::LANES))
        .zip(h.chunks_exact_mut(V::LANES));
    for ((sum, z_values), h_values) in rows {
        let old = V::load(z_values);
        let output = runner.activation.value(old.mul_add(identity, V::load(sum)));
        let new = old.mul_add(decay, output.mul(gain));
        new.store(z_values);
        if last {
            V::load(h_values).mul_add(previous, new).store(h_values);
        }
    }
}
