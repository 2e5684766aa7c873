//! Forward pass of one sequence: the registers hold units instead of sequences, so that a single stream is fast too.
//!
//! Every sum runs in the order of the block kernel, so the bits are the same as in a batch.

use super::{Leaky, Recurrent};
use crate::columns::{padded, transpose};
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
    /// `[d][D padded]`.
    input_weight: Vec<F>,
    bias: Vec<F>,
    /// `A^T`, `[r][D padded]`, or `R^T`.
    left: Vec<F>,
    /// `B^T`, `[D][r padded]`.
    right: Vec<F>,
    decay: Vec<F>,
    gain: Vec<F>,
    scratch: Vec<F>,
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
        let transpose = |matrix: &[F], rows: usize, columns: usize| transpose(matrix, [1, rows, columns], lanes);
        let (hidden, rank) = (cell.hidden, cell.rank());
        let (left, right) = match cell.recurrent {
            Recurrent::Dense(weight) => (transpose(weight, hidden, hidden), Vec::new()),
            Recurrent::LowRank { left, right, .. } => (transpose(left, hidden, rank), transpose(right, rank, hidden)),
        };
        let mut bias = cell.bias.to_vec();
        bias.resize(padded(hidden, lanes), F::ZERO);
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
            input_weight: transpose(cell.input_weight, hidden, cell.inputs),
            bias,
            left,
            right,
            decay: cell.decay.to_vec(),
            gain: cell.gain.to_vec(),
            scratch: vec![F::ZERO; 4 * padded(hidden, lanes) + padded(rank, lanes)],
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
    let (drive, rest) = rest.split_at_mut(width);
    let (sums, codes) = rest.split_at_mut(width);
    h.fill(V::Scalar::ZERO);
    h[..hidden].copy_from_slice(&state[..hidden]);
    let rows = runner.decay.len() / k;
    for (step, (x, out)) in input
        .chunks_exact(runner.inputs)
        .zip(states.chunks_exact_mut(hidden))
        .enumerate()
    {
        drive.copy_from_slice(&runner.bias);
        V::columns(&runner.input_weight, x, drive);
        let start = V::splat(runner.start_scale);
        for (from, to) in h.chunks_exact(V::LANES).zip(z.chunks_exact_mut(V::LANES)) {
            V::load(from).mul(start).store(to);
        }
        for index in 0..k {
            sums.copy_from_slice(drive);
            if runner.rank > 0 {
                codes.fill(V::Scalar::ZERO);
                if index == 0 {
                    // As the block kernel: the product with h, then the factor.
                    V::columns(&runner.right, &h[..hidden], codes);
                    for value in codes.chunks_exact_mut(V::LANES) {
                        V::load(value).mul(start).store(value);
                    }
                } else {
                    V::columns(&runner.right, &z[..hidden], codes);
                }
                V::columns(&runner.left, &codes[..runner.rank], sums);
            } else {
                V::columns(&runner.left, &z[..hidden], sums);
            }
            let at = step.saturating_add(first_step).min(rows - 1) * k + index;
            advance::<V>(runner, (runner.decay[at], runner.gain[at]), index + 1 == k, sums, z, h);
        }
        out.copy_from_slice(&h[..hidden]);
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
