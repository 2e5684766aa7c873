//! Backward pass of one block of sequences.
//!
//! With `g` the gradient at `h_t` and `g_z` that at `z^{i+1}` (first `g_z = g`):
//!
//! ```text
//! delta_L = phi'(..) e g_z
//! delta_j = phi'(..) U_{j+1}^T delta_{j+1}             for j = L-1..1
//! g_z    <- a g_z + U^T delta_1                        for i = K-1..0
//! g      <- c0 g_z - s g                               then on to h_{t-1}
//! dU     += delta_1 z^i^T      dU_j += delta_j a_{j-1}^T      db_j += delta_j
//! dW     += (sum over i of delta_1) x_t^T              dx_t += W^T (the same sum)
//! da, de += <g_z, z^i>, <g_z, a_L>
//! ```
//!
//! The iterations of a step are run again from `h_{t-1}` when its turn comes. Time is cut into chunks: within one, network slots
//! and deltas of all iterations are kept, at its end the weight gradients are formed from all of them at once ([`crate::outer`]).

use super::forward::Step;
use super::{Deep, slot};
use crate::Real;
use crate::blocks::{BackwardBlock, BackwardRead, cut};
use crate::compiled::Compiled;
use crate::lanes::{add_last, add_loss, add_rows, scale_rows, shortest};
use crate::outer::{Outer, Rows, sum_rows};
use crate::pack::Packed;
use crate::product::{Init, Product, Store};
use crate::simd::{load_row, row, store_row};

/// Slots (steps x iterations) in a chunk.
const CHUNK_ROWS: usize = 16;

/// Packs for the backward pass: `W^T`.
const INPUT: usize = 0;
/// `U^T` of the first layer; those of the other layers follow.
const LAYERS: usize = 1;

/// Packs the transposed weights of a cell.
pub(super) fn pack<F: Real>(cell: &Deep<F>, packs: &mut Vec<Packed<F>>) {
    packs.resize_with(LAYERS + cell.layers.len(), Packed::default);
    let (d, w) = (cell.inputs, cell.input_weight);
    packs[INPUT].pack(d, cell.layers[0].width, |row, column| w[column * d + row]);
    for (index, layer) in cell.layers.iter().enumerate() {
        let columns = cell.columns(index);
        packs[LAYERS + index].pack(columns, layer.width, |row, column| layer.weight[column * columns + row]);
    }
}

/// The gradients of one block, in one vector.
struct BlockGradient<'a, F> {
    input_weight: &'a mut [F],
    /// Weight and bias of each layer.
    layers: &'a mut [F],
    decay: &'a mut [F],
    gain: &'a mut [F],
}

impl<'a, F: Real> BlockGradient<'a, F> {
    #[inline(always)]
    fn new(cell: &Deep<F>, sums: &'a mut [F]) -> Self {
        let mut layers = 0;
        for layer in cell.layers {
            layers += layer.weight.len() + layer.bias.len();
        }
        let lengths = [cell.input_weight.len(), layers, cell.decay.len(), cell.gain.len()];
        let [input_weight, layers, decay, gain] = cut(sums, lengths);
        BlockGradient {
            input_weight,
            layers,
            decay,
            gain,
        }
    }
}

/// What one block needs.
pub struct BackwardTask<'a, F> {
    pub(crate) cell: &'a Deep<'a, F>,
    pub(crate) block: BackwardBlock<'a, F>,
}

fn chunk_steps(iterations: usize) -> usize {
    (CHUNK_ROWS / iterations).max(1)
}

/// Numbers in each buffer of a [`Chunk`].
fn chunk_lengths<F: Real>(cell: &Deep<F>, row: usize) -> [usize; 6] {
    let (sizes, panel, k) = (cell.sizes(), cell.hidden * row, cell.iterations);
    let (steps, several) = (chunk_steps(k), usize::from(k > 1));
    [
        steps * k * slot(sizes.network, row),
        steps * k * slot(sizes.layers, row),
        several * steps * slot(sizes.first, row),
        several * sizes.first * row,
        panel,
        panel,
    ]
}

/// Numbers of scratch that the backward pass of a block needs.
pub(super) fn scratch_len<F: Real>(cell: &Deep<F>, row: usize) -> usize {
    chunk_lengths(cell, row).iter().sum()
}

/// Vectors kept within a chunk; slot `(t - first) * K + i` belongs to iteration `i` of step `t`. Those marked (K > 1) are empty
/// for `K = 1`.
struct Chunk<'a, F> {
    /// `[z^i | a_1 | .. | a_L]`.
    network: &'a mut [F],
    network_slot: usize,
    /// `[delta_1 | .. | delta_L]`.
    delta: &'a mut [F],
    delta_slot: usize,
    /// Sum of `delta_1` over the iterations of a step, a slot a step (K > 1).
    delta_sum: &'a mut [F],
    sum_slot: usize,
    /// Of the step under way: `W x_t + b_1` (K > 1), `g_z` and `a g_z`.
    drive: &'a mut [F],
    inner: &'a mut [F],
    kept: &'a mut [F],
}

impl<'a, F: Real> Chunk<'a, F> {
    fn new(cell: &Deep<F>, row: usize, scratch: &'a mut [F]) -> Self {
        let sizes = cell.sizes();
        let [network, delta, delta_sum, drive, inner, kept] = cut(scratch, chunk_lengths(cell, row));
        Chunk {
            network,
            network_slot: slot(sizes.network, row),
            delta,
            delta_slot: slot(sizes.layers, row),
            delta_sum,
            sum_slot: slot(sizes.first, row),
            drive,
            inner,
            kept,
        }
    }

    /// What `W` has seen: the sums of `delta_1` over the iterations, a slot a step, and the distance of the slots.
    #[inline(always)]
    fn input_deltas(&self, iterations: usize) -> (&[F], usize) {
        if iterations == 1 {
            (self.delta, self.delta_slot)
        } else {
            (self.delta_sum, self.sum_slot)
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
    let mut sums = BlockGradient::new(cell, sums);
    let (width, first_width) = (row::<V>(), cell.layers[0].width);
    let (panel, input_len) = (cell.hidden * width, cell.inputs * width);
    let (state_slot, input_slot) = (slot(cell.hidden, width), slot(cell.inputs, width));
    let mut chunk = Chunk::new(cell, width, scratch);
    let (shortest, span) = (shortest::<V>(read.lengths), chunk_steps(cell.iterations));
    gradient.fill(V::Scalar::ZERO);
    let mut end = read.states.len() / state_slot - 1;
    while end > 0 {
        let first = (end - 1) / span * span;
        for step in (first..end).rev() {
            add_loss::<V>(&read, step, shortest, state_slot, gradient);
            let of = Step::<V> {
                cell,
                packs: read.forward,
                step,
                input: &read.input[step * input_slot..][..input_len],
            };
            let previous = &read.states[step * state_slot..][..panel];
            recompute(&of, previous, step - first, &mut chunk);
            step_back(&of, read.packs, step - first, gradient, &mut chunk, &mut sums);
            if !input_gradient.is_empty() {
                let (deltas, stride) = chunk.input_deltas(cell.iterations);
                let delta = &deltas[(step - first) * stride..][..first_width * width];
                let out = &mut input_gradient[step * input_slot..][..input_len];
                V::product(Product::plain(&read.packs[INPUT], delta), &mut Store::plain(out));
            }
        }
        weight_gradients::<V>(cell, &read, first..end, &chunk, &mut sums);
        end = first;
    }
    add_last::<V>(read.lengths, read.last, 0, gradient);
}

/// Runs the inner iterations of one step again, each in its network slot; `z^K` is not needed.
#[inline(always)]
fn recompute<V: Compiled>(of: &Step<V>, previous: &[V::Scalar], local: usize, chunk: &mut Chunk<V::Scalar>) {
    let (k, panel) = (of.cell.iterations, of.cell.hidden * row::<V>());
    let network_len = of.cell.sizes().network * row::<V>();
    let slots = &mut chunk.network[local * k * chunk.network_slot..];
    of.drive(chunk.drive);
    scale_rows::<V>(previous, of.cell.start_scale, &mut slots[..panel]);
    for index in 0..k {
        let (network, next) = slots[index * chunk.network_slot..].split_at_mut(chunk.network_slot);
        let network = &mut network[..network_len];
        of.layers(chunk.drive, network);
        if index + 1 < k {
            let next_z = &mut next[..panel];
            next_z.copy_from_slice(&network[..panel]);
            of.advance(index, &network[network_len - panel..], next_z);
        }
    }
}

/// One step back; `gradient` goes from `h_t` to `h_{t-1}`.
#[inline(always)]
fn step_back<V: Compiled>(
    of: &Step<V>,
    packs: &[Packed<V::Scalar>],
    local: usize,
    gradient: &mut [V::Scalar],
    chunk: &mut Chunk<V::Scalar>,
    sums: &mut BlockGradient<V::Scalar>,
) {
    let (cell, width) = (of.cell, row::<V>());
    let (sizes, panel, first_len) = (cell.sizes(), cell.hidden * width, cell.layers[0].width * width);
    chunk.inner.copy_from_slice(gradient);
    for index in (0..cell.iterations).rev() {
        let at = local * cell.iterations + index;
        let network = &chunk.network[at * chunk.network_slot..][..sizes.network * width];
        let delta = &mut chunk.delta[at * chunk.delta_slot..][..sizes.layers * width];
        let last = delta.len() - panel;
        output_delta(of, index, network, chunk.inner, chunk.kept, &mut delta[last..], sums);
        layers_back::<V>(cell, packs, network, delta);
        let product = Product {
            init: Init::Panel(chunk.kept),
            ..Product::plain(&packs[LAYERS], &delta[..first_len])
        };
        V::product(product, &mut Store::plain(chunk.inner));
        if cell.iterations > 1 {
            let delta_sum = &mut chunk.delta_sum[local * chunk.sum_slot..][..first_len];
            if index + 1 == cell.iterations {
                delta_sum.copy_from_slice(&delta[..first_len]);
            } else {
                add_rows::<V>(&delta[..first_len], None, delta_sum);
            }
        }
    }
    let (start, previous) = (V::splat(cell.start_scale), V::splat(-cell.previous_scale));
    for (inner, out) in chunk.inner.chunks_exact(width).zip(gradient.chunks_exact_mut(width)) {
        let (inner, old) = (load_row::<V>(inner), load_row::<V>(out));
        let low = inner[0].mul_add(start, old[0].mul(previous));
        store_row([low, inner[1].mul_add(start, old[1].mul(previous))], out);
    }
}

/// `e g_z`, the gradient at `a_L`; `a g_z`; and the gradients of `a` and `e`.
#[inline(always)]
fn output_delta<V: Compiled>(
    of: &Step<V>,
    index: usize,
    network: &[V::Scalar],
    gradient: &[V::Scalar],
    kept: &mut [V::Scalar],
    delta: &mut [V::Scalar],
    sums: &mut BlockGradient<V::Scalar>,
) {
    let (decay, gain, entry) = of.cell.step_sizes(of.step, index);
    let (decay, gain) = (V::splat(decay), V::splat(gain));
    let (mut decay_sum, mut gain_sum) = ([V::zero(); 2], [V::zero(); 2]);
    let outputs = &network[network.len() - gradient.len()..];
    for unit in 0..of.cell.hidden {
        let range = unit * row::<V>()..(unit + 1) * row::<V>();
        let g = load_row::<V>(&gradient[range.clone()]);
        let (z, y) = (
            load_row::<V>(&network[range.clone()]),
            load_row::<V>(&outputs[range.clone()]),
        );
        for half in 0..2 {
            decay_sum[half] = g[half].mul_add(z[half], decay_sum[half]);
            gain_sum[half] = g[half].mul_add(y[half], gain_sum[half]);
        }
        store_row([g[0].mul(decay), g[1].mul(decay)], &mut kept[range.clone()]);
        store_row([g[0].mul(gain), g[1].mul(gain)], &mut delta[range]);
    }
    if of.cell.learned_steps {
        sums.decay[entry] += decay_sum[0].add(decay_sum[1]).sum();
        sums.gain[entry] += gain_sum[0].add(gain_sum[1]).sum();
    }
}

/// From the gradient at `a_L`, at the end of `delta`, to the deltas of all layers.
#[inline(always)]
fn layers_back<V: Compiled>(
    cell: &Deep<V::Scalar>,
    packs: &[Packed<V::Scalar>],
    network: &[V::Scalar],
    delta: &mut [V::Scalar],
) {
    let mut end = delta.len();
    // The outputs stand in the network slot as the deltas do in theirs, behind z.
    let outputs = &network[cell.hidden * row::<V>()..];
    for index in (0..cell.layers.len()).rev() {
        let start = end - cell.layers[index].width * row::<V>();
        let (below, this) = delta[..end].split_at_mut(start);
        V::derive(cell.activation, &outputs[start..end], this);
        if index > 0 {
            let out = &mut below[start - cell.columns(index) * row::<V>()..];
            V::product(Product::plain(&packs[LAYERS + index], this), &mut Store::plain(out));
        }
        end = start;
    }
}

/// The weight gradients of some steps.
#[inline(always)]
fn weight_gradients<V: Compiled>(
    cell: &Deep<V::Scalar>,
    read: &BackwardRead<V::Scalar>,
    steps: std::ops::Range<usize>,
    chunk: &Chunk<V::Scalar>,
    sums: &mut BlockGradient<V::Scalar>,
) {
    let (width, count) = (row::<V>(), steps.len() * cell.iterations);
    let mut rest = &mut *sums.layers;
    let (mut delta_start, mut source_start) = (0, 0);
    for (index, layer) in cell.layers.iter().enumerate() {
        let left = Rows {
            values: &chunk.delta[delta_start * width..],
            stride: chunk.delta_slot,
            features: layer.width,
        };
        let right = Rows {
            values: &chunk.network[source_start * width..],
            stride: chunk.network_slot,
            features: cell.columns(index),
        };
        let (weight, behind) = rest.split_at_mut(layer.weight.len());
        let (bias, behind) = behind.split_at_mut(layer.width);
        rest = behind;
        add::<V>(count, left, right, weight);
        sum_rows::<V>(count, left, bias);
        delta_start += left.features;
        source_start += right.features;
    }
    let (deltas, stride) = chunk.input_deltas(cell.iterations);
    let left = Rows {
        values: deltas,
        stride,
        features: cell.layers[0].width,
    };
    let input_slot = slot(cell.inputs, width);
    let right = Rows {
        values: &read.input[steps.start * input_slot..],
        stride: input_slot,
        features: cell.inputs,
    };
    add::<V>(steps.len(), left, right, sums.input_weight);
}

/// `sums += left right^T`, over `count` slots.
#[inline(always)]
fn add<V: Compiled>(count: usize, left: Rows<V::Scalar>, right: Rows<V::Scalar>, sums: &mut [V::Scalar]) {
    let outer = Outer {
        count,
        left,
        right,
        scale: V::Scalar::ONE,
    };
    V::outer(outer, sums);
}
