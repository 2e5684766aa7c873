//! Forward pass of one sequence: the registers hold units instead of sequences, so that a single stream is fast too.
//!
//! Every sum runs in the order of the block kernel, so the bits are the same as in a batch.

use super::{Leaky, Recurrent};
use crate::simd::Vector;
use crate::{Activation, Isa, Real};

/// Registers of sums that are kept at once.
const GROUP: usize = 8;

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
    initial: Option<&'a [F]>,
    /// `[T, D]`.
    states: &'a mut [F],
}

fn padded(count: usize, lanes: usize) -> usize {
    count.next_multiple_of(lanes)
}

impl<F: Real> SequenceRunner<F> {
    /// Packs the weights of a cell.
    pub fn new(isa: Isa, cell: &Leaky<F>) -> Self {
        cell.check();
        let lanes = isa.lanes::<F>() / 2;
        let transpose = |matrix: &[F], rows: usize, columns: usize| {
            let width = padded(rows, lanes);
            let mut out = vec![F::ZERO; columns * width];
            for row in 0..rows {
                for column in 0..columns {
                    out[column * width + row] = matrix[row * columns + column];
                }
            }
            out
        };
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

    /// Runs over `input` `[T, d]` from `initial` `[D]` (default: zeros) and writes all states `[T, D]`.
    ///
    /// # Panics
    /// If `input` is not a whole number of steps, or `initial` has another size.
    pub fn run(&mut self, input: &[F], initial: Option<&[F]>, states: &mut Vec<F>) {
        assert!(input.len().is_multiple_of(self.inputs), "the input is [T,d]");
        assert!(
            initial.is_none_or(|initial| initial.len() == self.hidden),
            "the initial state is [D]"
        );
        let steps = input.len() / self.inputs;
        states.resize(steps * self.hidden, F::ZERO);
        let mut scratch = std::mem::take(&mut self.scratch);
        F::run_sequence(
            self.isa,
            SequenceTask {
                runner: self,
                scratch: &mut scratch,
                input,
                initial,
                states: &mut states[..],
            },
        );
        self.scratch = scratch;
    }
}

/// The kernel.
#[inline(always)]
pub(crate) fn run_sequence<V: Vector>(task: SequenceTask<V::Scalar>) {
    let SequenceTask {
        runner,
        scratch,
        input,
        initial,
        states,
    } = task;
    let (hidden, k) = (runner.hidden, runner.iterations);
    let width = padded(hidden, V::LANES);
    let (h, rest) = scratch.split_at_mut(width);
    let (z, rest) = rest.split_at_mut(width);
    let (drive, rest) = rest.split_at_mut(width);
    let (sums, codes) = rest.split_at_mut(width);
    h.fill(V::Scalar::ZERO);
    if let Some(initial) = initial {
        h[..hidden].copy_from_slice(&initial[..hidden]);
    }
    let rows = runner.decay.len() / k;
    for (step, (x, out)) in input
        .chunks_exact(runner.inputs)
        .zip(states.chunks_exact_mut(hidden))
        .enumerate()
    {
        drive.copy_from_slice(&runner.bias);
        columns::<V>(&runner.input_weight, x, drive);
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
                    columns::<V>(&runner.right, &h[..hidden], codes);
                    for value in codes.chunks_exact_mut(V::LANES) {
                        V::load(value).mul(start).store(value);
                    }
                } else {
                    columns::<V>(&runner.right, &z[..hidden], codes);
                }
                columns::<V>(&runner.left, &codes[..runner.rank], sums);
            } else {
                columns::<V>(&runner.left, &z[..hidden], sums);
            }
            let at = step.min(rows - 1) * k + index;
            advance::<V>(runner, (runner.decay[at], runner.gain[at]), index + 1 == k, sums, z, h);
        }
        out.copy_from_slice(&h[..hidden]);
    }
}

/// `sums += sum_c column[c] * source[c]`, the sum of a unit in the order of the columns.
#[inline(always)]
fn columns<V: Vector>(weights: &[V::Scalar], source: &[V::Scalar], sums: &mut [V::Scalar]) {
    let width = sums.len();
    let mut start = 0;
    while start < width {
        match (width - start) / V::LANES {
            1 => group::<V, 1>(weights, source, sums, &mut start),
            2 => group::<V, 2>(weights, source, sums, &mut start),
            3 => group::<V, 3>(weights, source, sums, &mut start),
            4 | 9 => group::<V, 4>(weights, source, sums, &mut start),
            5 | 10 => group::<V, 5>(weights, source, sums, &mut start),
            6 | 11 => group::<V, 6>(weights, source, sums, &mut start),
            7 => group::<V, 7>(weights, source, sums, &mut start),
            _ => group::<V, GROUP>(weights, source, sums, &mut start),
        }
    }
}

#[inline(always)]
fn group<V: Vector, const G: usize>(
    weights: &[V::Scalar],
    source: &[V::Scalar],
    sums: &mut [V::Scalar],
    start: &mut usize,
) {
    let width = sums.len();
    let target = &mut sums[*start..*start + G * V::LANES];
    let mut registers = [V::zero(); G];
    for (register, values) in registers.iter_mut().zip(target.chunks_exact(V::LANES)) {
        *register = V::load(values);
    }
    for (column, &value) in weights.chunks_exact(width).zip(source) {
        let column = &column[*start..*start + G * V::LANES];
        let value = V::splat(value);
        for (g, register) in registers.iter_mut().enumerate() {
            *register = V::load(&column[g * V::LANES..]).mul_add(value, *register);
        }
    }
    for (register, values) in registers.iter().zip(target.chunks_exact_mut(V::LANES)) {
        register.store(values);
    }
    *start += G * V::LANES;
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
