//! Backward pass of one block of sequences.
//!
//! With `g` the gradient at `h_t`, `g_z` that at `z^{i+1}` (first `g_z = g`), and `delta = e phi'(..) g_z`:
//!
//! ```text
//! g_z    <- a g_z + R^T delta                          for i = K-1..0
//! g      <- c0 g_z - s g                               then on to h_{t-1}
//! dR     += delta z^i^T     dW += delta x_t^T     db += delta     dx_t += W^T delta
//! da, de += <g_z, z^i>, <g_z, phi(..)>
//! ```
//!
//! Time is cut into chunks: within one the vectors above are kept, at its end the weight gradients are formed from all of them
//! at once ([`crate::outer`]).

use super::forward::{self, Iteration, Step};
use super::{Leaky, Recurrent};
use crate::blocks::{BackwardBlock, BackwardRead, cut};
use crate::compiled::Compiled;
use crate::lanes::{add_last, add_loss, add_rows, scale_rows, shortest};
use crate::outer::{Outer, Rows, sum_rows};
use crate::pack::Packed;
use crate::panels::slot_rows;
use crate::product::{Epilogue, Init, Product, Store};
use crate::simd::{Vector, load_row, row, store_row};
use crate::{Activation, Real};

/// Panel rows (steps x iterations) in a chunk.
const CHUNK_ROWS: usize = 16;

/// Packs for the backward pass: `A^T` or `R^T`.
const RECURRENT: usize = 0;
/// `B^T`.
const RIGHT: usize = 1;
/// `W^T`.
const INPUT: usize = 2;

/// Packs the transposed weights of a cell.
pub(super) fn pack<F: Real>(cell: &Leaky<F>, packs: &mut Vec<Packed<F>>) {
    packs.resize_with(3, Packed::default);
    let (d, hidden, rank) = (cell.inputs, cell.hidden, cell.rank());
    match cell.recurrent {
        Recurrent::Dense(weight) => {
            packs[RECURRENT].pack(hidden, hidden, |row, column| weight[column * hidden + row]);
        }
        Recurrent::LowRank { left, right, .. } => {
            packs[RECURRENT].pack(rank, hidden, |row, column| left[column * rank + row]);
            packs[RIGHT].pack(hidden, rank, |row, column| right[column * hidden + row]);
        }
    }
    packs[INPUT].pack(d, hidden, |row, column| cell.input_weight[column * d + row]);
}

/// The gradients of one block, in one vector.
struct BlockGradient<'a, F> {
    input_weight: &'a mut [F],
    bias: &'a mut [F],
    /// `[D,D]` or `[D,r]`.
    left: &'a mut [F],
    /// Empty or `[r,D]`.
    right: &'a mut [F],
    decay: &'a mut [F],
    gain: &'a mut [F],
}

/// What one block needs.
pub struct BackwardTask<'a, F> {
    pub(crate) cell: &'a Leaky<'a, F>,
    pub(crate) block: BackwardBlock<'a, F>,
}

/// Numbers of scratch that the backward pass of a block needs.
pub(super) fn scratch_len(hidden: usize, rank: usize, iterations: usize, row: usize) -> usize {
    let steps = chunk_steps(iterations);
    let rows = steps * iterations;
    let kept = if iterations == 1 {
        0
    } else {
        rows * (2 * slot_rows(hidden) + slot_rows(rank)) + (steps + 1) * slot_rows(hidden)
    };
    (rows * (slot_rows(hidden) + slot_rows(rank)) + kept) * row
}

fn chunk_steps(iterations: usize) -> usize {
    (CHUNK_ROWS / iterations).max(1)
}

/// Vectors kept within a chunk; row `(t - first) * K + i` belongs to iteration `i` of step `t`. Those marked (K > 1) are empty
/// for `K = 1`, where the forward pass has kept them.
struct Chunk<'a, F> {
    delta: &'a mut [F],
    /// `A^T delta`.
    codes_gradient: &'a mut [F],
    /// Sum of `delta` over the iterations of a step (K > 1).
    delta_sum: &'a mut [F],
    /// `z^i` (K > 1).
    z: &'a mut [F],
    /// `phi(..)` (K > 1).
    outputs: &'a mut [F],
    /// `B z^i` (K > 1).
    codes: &'a mut [F],
    /// `g_z` (K > 1).
    inner: &'a mut [F],
    /// Numbers from one panel of `D` features to the next.
    stride: usize,
    /// Numbers from one panel of `r` features to the next.
    code_stride: usize,
}

impl<'a, F: Real> Chunk<'a, F> {
    fn new(cell: &Leaky<F>, row: usize, mut scratch: &'a mut [F]) -> Self {
        let (stride, code_stride, k) = (
            slot_rows(cell.hidden) * row,
            slot_rows(cell.rank()) * row,
            cell.iterations,
        );
        let steps = chunk_steps(k);
        let rows = steps * k;
        let several = usize::from(k > 1);
        let mut take = |len: usize| {
            let (head, tail) = std::mem::take(&mut scratch).split_at_mut(len);
            scratch = tail;
            head
        };
        Chunk {
            delta: take(rows * stride),
            codes_gradient: take(rows * code_stride),
            delta_sum: take(several * steps * stride),
            z: take(several * rows * stride),
            outputs: take(several * rows * stride),
            codes: take(several * rows * code_stride),
            inner: take(several * cell.hidden * row),
            stride,
            code_stride,
        }
    }
}

/// Runs a block backwards over all its steps.
#[inline(always)]
pub(crate) fn backward_block<V: Compiled>(task: BackwardTask<V::Scalar>) {
    let BackwardTask { cell, block } = task;
    let BackwardBlock {
        read,
        sums,
        input_gradient,
        initial_gradient: gradient,
        scratch,
    } = block;
    let [input_weight, bias, left, right, decay, gain] = cut(sums, cell.gradient_sizes());
    let mut sums = BlockGradient {
        input_weight,
        bias,
        left,
        right,
        decay,
        gain,
    };
    let lengths = read.lengths;
    let (panel, input_len) = (cell.hidden * row::<V>(), cell.inputs * row::<V>());
    let mut chunk = Chunk::new(cell, row::<V>(), scratch);
    let input_slot = slot_rows(cell.inputs) * row::<V>();
    let shortest = shortest::<V>(lengths);
    let span = chunk_steps(cell.iterations);
    gradient.fill(V::Scalar::ZERO);
    let mut end = read.states.len() / chunk.stride - 1;
    while end > 0 {
        let first = (end - 1) / span * span;
        for step in (first..end).rev() {
            add_loss::<V>(&read, step, shortest, chunk.stride, gradient);
            let of = Iteration::<V> {
                cell,
                packs: read.forward,
                step,
                input: &read.input[step * input_slot..][..input_len],
                previous: &read.states[step * chunk.stride..][..panel],
                mask: None,
            };
            if cell.iterations == 1 {
                single_step(&of, &read, step - first, gradient, &mut chunk, &mut sums);
            } else {
                recompute(&of, &read, step - first, &mut chunk);
                several_steps(&of, read.packs, step - first, gradient, &mut chunk, &mut sums);
            }
            if !input_gradient.is_empty() {
                let deltas = if cell.iterations == 1 {
                    &*chunk.delta
                } else {
                    &*chunk.delta_sum
                };
                let delta = &deltas[(step - first) * chunk.stride..][..panel];
                let out = &mut input_gradient[step * input_slot..][..input_len];
                V::product(Product::plain(&read.packs[INPUT], delta), &mut Store::plain(out));
            }
        }
        weight_gradients::<V>(cell, &read, first, end, &chunk, &mut sums);
        end = first;
    }
    add_last::<V>(lengths, read.last, 0, gradient);
}

/// One step back for `K = 1`; `gradient` goes from `h_t` to `h_{t-1}`.
#[inline(always)]
fn single_step<V: Compiled>(
    of: &Iteration<V>,
    read: &BackwardRead<V::Scalar>,
    local: usize,
    gradient: &mut [V::Scalar],
    chunk: &mut Chunk<V::Scalar>,
    sums: &mut BlockGradient<V::Scalar>,
) {
    let cell = of.cell;
    let (panel, code) = (cell.hidden * row::<V>(), cell.rank() * row::<V>());
    let (decay, _, _) = cell.step_sizes(of.step, 0);
    let c0 = cell.start_scale;
    let outputs = &read.saved[of.step * chunk.stride..][..panel];
    let ahead = match of.step {
        0 => [&[][..], &[]],
        step => [
            &read.saved[(step - 1) * chunk.stride..][..panel],
            &read.states[(step - 1) * chunk.stride..][..panel],
        ],
    };
    let delta = &mut chunk.delta[local * chunk.stride..][..panel];
    deltas(of, 0, (of.previous, c0), outputs, gradient, delta, sums);
    let codes_gradient = &mut chunk.codes_gradient[local * chunk.code_stride..][..code];
    let mut back = Back {
        gradient,
        delta,
        keep: V::splat(c0 * decay - cell.previous_scale),
        identity: V::splat(c0 * cell.identity()),
        scale: V::splat(c0),
        ahead,
    };
    recurrent_back(read.packs, codes_gradient, &mut back);
}

/// One step back for `K > 1`.
#[inline(always)]
fn several_steps<V: Compiled>(
    of: &Iteration<V>,
    packs: &[Packed<V::Scalar>],
    local: usize,
    gradient: &mut [V::Scalar],
    chunk: &mut Chunk<V::Scalar>,
    sums: &mut BlockGradient<V::Scalar>,
) {
    let cell = of.cell;
    let (panel, code) = (cell.hidden * row::<V>(), cell.rank() * row::<V>());
    chunk.inner.copy_from_slice(gradient);
    let delta_sum = &mut chunk.delta_sum[local * chunk.stride..][..panel];
    delta_sum.fill(V::Scalar::ZERO);
    for index in (0..cell.iterations).rev() {
        let at = local * cell.iterations + index;
        let delta = &mut chunk.delta[at * chunk.stride..][..panel];
        let z = &chunk.z[at * chunk.stride..][..panel];
        deltas(
            of,
            index,
            (z, V::Scalar::ONE),
            &chunk.outputs[at * chunk.stride..][..panel],
            chunk.inner,
            delta,
            sums,
        );
        add_rows::<V>(delta, None, delta_sum);
        let mut back = Back {
            gradient: chunk.inner,
            delta,
            keep: V::splat(cell.step_sizes(of.step, index).0),
            identity: V::splat(cell.identity()),
            scale: V::splat(V::Scalar::ONE),
            ahead: [&[], &[]],
        };
        recurrent_back(
            packs,
            &mut chunk.codes_gradient[at * chunk.code_stride..][..code],
            &mut back,
        );
    }
    let (start, previous) = (V::splat(cell.start_scale), V::splat(-cell.previous_scale));
    for (inner, out) in chunk
        .inner
        .chunks_exact(row::<V>())
        .zip(gradient.chunks_exact_mut(row::<V>()))
    {
        let (inner, old) = (load_row::<V>(inner), load_row::<V>(out));
        let low = inner[0].mul_add(start, old[0].mul(previous));
        store_row([low, inner[1].mul_add(start, old[1].mul(previous))], out);
    }
}

/// `delta = e phi'(..) g_z`, and the gradients of `a` and `e`. `z` is given as rows and their factor.
#[inline(always)]
fn deltas<V: Compiled>(
    of: &Iteration<V>,
    index: usize,
    z: (&[V::Scalar], V::Scalar),
    outputs: &[V::Scalar],
    gradient: &[V::Scalar],
    delta: &mut [V::Scalar],
    sums: &mut BlockGradient<V::Scalar>,
) {
    let (_, gain, entry) = of.cell.step_sizes(of.step, index);
    let (gain, activation) = (V::splat(gain), of.cell.activation);
    let rows = outputs.chunks_exact(row::<V>()).zip(gradient.chunks_exact(row::<V>()));
    let rows = rows.zip(delta.chunks_exact_mut(row::<V>()));
    if !of.cell.learned_steps {
        for ((outputs, gradient), delta) in rows {
            let (y, g) = (load_row::<V>(outputs), load_row::<V>(gradient));
            store_row(delta_row(activation, y, g, gain), delta);
        }
        return;
    }
    let mut decay_sum = [V::zero(); 2];
    let mut gain_sum = [V::zero(); 2];
    for (((outputs, gradient), delta), z) in rows.zip(z.0.chunks_exact(row::<V>())) {
        let (y, g, z) = (load_row::<V>(outputs), load_row::<V>(gradient), load_row::<V>(z));
        for half in 0..2 {
            decay_sum[half] = g[half].mul_add(z[half], decay_sum[half]);
            gain_sum[half] = g[half].mul_add(y[half], gain_sum[half]);
        }
        store_row(delta_row(activation, y, g, gain), delta);
    }
    sums.decay[entry] += z.1 * decay_sum[0].add(decay_sum[1]).sum();
    sums.gain[entry] += gain_sum[0].add(gain_sum[1]).sum();
}

/// `e phi'(..) g` of one row.
#[inline(always)]
fn delta_row<V: Vector>(activation: Activation, y: [V; 2], g: [V; 2], gain: V) -> [V; 2] {
    [
        activation.derivative_times(y[0], g[0].mul(gain)),
        activation.derivative_times(y[1], g[1].mul(gain)),
    ]
}

/// `back <- R^T delta`, through `A^T delta` where `R` has low rank.
#[inline(always)]
fn recurrent_back<V: Compiled>(packs: &[Packed<V::Scalar>], codes_gradient: &mut [V::Scalar], back: &mut Back<V>) {
    if codes_gradient.is_empty() {
        let delta = back.delta;
        V::product(Product::plain(&packs[RECURRENT], delta), back);
    } else {
        V::product(
            Product::plain(&packs[RECURRENT], back.delta),
            &mut Store::plain(codes_gradient),
        );
        V::product(Product::plain(&packs[RIGHT], codes_gradient), back);
    }
}

/// Epilogue of the product with `R^T` (without its identity part): `g <- keep g + identity delta + scale sum`, in place.
struct Back<'a, V: Compiled> {
    gradient: &'a mut [V::Scalar],
    delta: &'a [V::Scalar],
    keep: V,
    identity: V,
    scale: V,
    /// Panels that the step before will read: time runs backwards, which the processor does not foresee.
    ahead: [&'a [V::Scalar]; 2],
}

impl<V: Compiled> Epilogue<V> for Back<'_, V> {
    #[inline(always)]
    fn finish(&mut self, index: usize, sum: [V; 2]) {
        let at = index * row::<V>();
        let delta = load_row::<V>(&self.delta[at..at + row::<V>()]);
        for panel in self.ahead {
            if let Some(values) = panel.get(at..at + row::<V>()) {
                V::prefetch(values);
                V::prefetch(&values[V::LANES..]);
            }
        }
        let slot = &mut self.gradient[at..at + row::<V>()];
        let old = load_row::<V>(slot);
        let mut new = [V::zero(); 2];
        for half in 0..2 {
            new[half] = old[half].mul_add(self.keep, delta[half].mul_add(self.identity, sum[half].mul(self.scale)));
        }
        store_row(new, slot);
    }
}

/// Runs the inner iterations of one step again (`K > 1`), keeping `z^i`, `phi(..)` and `B z^i` in the chunk.
#[inline(always)]
fn recompute<V: Compiled>(
    of: &Iteration<V>,
    read: &BackwardRead<V::Scalar>,
    local: usize,
    chunk: &mut Chunk<V::Scalar>,
) {
    let cell = of.cell;
    let (panel, code, k) = (cell.hidden * row::<V>(), cell.rank() * row::<V>(), cell.iterations);
    let drive = &read.saved[of.step * chunk.stride..][..panel];
    let first = local * k;
    scale_rows::<V>(
        of.previous,
        cell.start_scale,
        &mut chunk.z[first * chunk.stride..][..panel],
    );
    if code > 0 {
        chunk.codes[first * chunk.code_stride..][..code]
            .copy_from_slice(&read.codes[of.step * chunk.code_stride..][..code]);
    }
    for index in 0..k {
        let at = first + index;
        let (z, next) = chunk.z.split_at_mut((at + 1) * chunk.stride);
        let z = &z[at * chunk.stride..][..panel];
        if code > 0 && index > 0 {
            let mut store = Store::plain(&mut chunk.codes[at * chunk.code_stride..][..code]);
            V::product(Product::plain(&of.packs[forward::RIGHT], z), &mut store);
        }
        let source = if code > 0 {
            &chunk.codes[at * chunk.code_stride..][..code]
        } else {
            z
        };
        // The last iteration's result is h_t, which is known: it goes to a buffer that is written anew before it is read.
        let out = if index + 1 < k {
            &mut next[..panel]
        } else {
            &mut *chunk.inner
        };
        let mut step = Step::new(of, index, V::Scalar::ONE, z, out);
        step.saved = Some(&mut chunk.outputs[at * chunk.stride..][..panel]);
        V::product(
            Product {
                init: Init::Panel(drive),
                ..Product::plain(&of.packs[forward::RECURRENT], source)
            },
            &mut step,
        );
    }
}

/// The weight gradients of the steps `first..end`.
#[inline(always)]
fn weight_gradients<V: Compiled>(
    cell: &Leaky<V::Scalar>,
    read: &BackwardRead<V::Scalar>,
    first: usize,
    end: usize,
    chunk: &Chunk<V::Scalar>,
    sums: &mut BlockGradient<V::Scalar>,
) {
    let (d, hidden, rank, k) = (cell.inputs, cell.hidden, cell.rank(), cell.iterations);
    let wide = |values, features| Rows {
        values,
        stride: chunk.stride,
        features,
    };
    let narrow = |values, features| Rows {
        values,
        stride: chunk.code_stride,
        features,
    };
    let (steps, rows) = (end - first, (end - first) * k);
    let delta = wide(&chunk.delta[..], hidden);
    let (z, codes, z_scale, delta_sum) = if k == 1 {
        let (states, codes) = (
            &read.states[first * chunk.stride..],
            &read.codes[first * chunk.code_stride..],
        );
        (wide(states, hidden), narrow(codes, rank), cell.start_scale, delta)
    } else {
        let delta_sum = wide(&chunk.delta_sum[..], hidden);
        (
            wide(&chunk.z[..], hidden),
            narrow(&chunk.codes[..], rank),
            V::Scalar::ONE,
            delta_sum,
        )
    };
    let stride = slot_rows(d) * row::<V>();
    let input = Rows {
        values: &read.input[first * stride..],
        stride,
        features: d,
    };
    let add = |count, left, right, scale, sums: &mut [V::Scalar]| {
        V::outer(
            Outer {
                count,
                left,
                right,
                scale,
            },
            sums,
        )
    };
    if rank > 0 {
        add(rows, delta, codes, V::Scalar::ONE, sums.left);
        add(rows, narrow(&chunk.codes_gradient[..], rank), z, z_scale, sums.right);
    } else {
        add(rows, delta, z, z_scale, sums.left);
    }
    add(steps, delta_sum, input, V::Scalar::ONE, sums.input_weight);
    sum_rows::<V>(steps, delta_sum, sums.bias);
}
