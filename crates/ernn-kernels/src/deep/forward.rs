//! Forward pass of one block of sequences.
//!
//! `z^i` and the outputs of all layers lie side by side in one *network slot*, `[z | a_1 | .. | a_L][lane]`: what a layer reads
//! ends where its own output begins. The backward pass fills such slots with the same functions.

use super::{Deep, Sizes, slot};
use crate::Real;
use crate::blocks::ForwardBlock;
use crate::compiled::Compiled;
use crate::lanes::{running, scale_rows, shortest};
use crate::pack::Packed;
use crate::product::{Init, Product, Store};
use crate::rows::give;
use crate::simd::{Vector, load_row, row, store_row};

/// Packs for the forward pass (and for the recomputation inside the backward pass): `W`, for `K > 1`.
const INPUT: usize = 0;
/// `U` of the first layer, for `K = 1` as `[W | U]`; those of the other layers follow.
const LAYERS: usize = 1;

/// Packs the weights of a cell.
pub(super) fn pack<F: Real>(cell: &Deep<F>, packs: &mut Vec<Packed<F>>) {
    packs.resize_with(LAYERS + cell.layers.len(), Packed::default);
    let (d, w) = (cell.inputs, cell.input_weight);
    let joint = cell.iterations == 1;
    packs[INPUT].pack(if joint { 0 } else { cell.layers[0].width }, d, |row, column| {
        w[row * d + column]
    });
    for (index, layer) in cell.layers.iter().enumerate() {
        let columns = cell.columns(index);
        let before = if joint && index == 0 { d } else { 0 };
        packs[LAYERS + index].pack(layer.width, before + columns, |row, column| {
            if column < before {
                w[row * d + column]
            } else {
                layer.weight[row * columns + column - before]
            }
        });
    }
}

/// What one block needs.
pub struct ForwardTask<'a, F> {
    pub(crate) cell: &'a Deep<'a, F>,
    pub(crate) block: ForwardBlock<'a, F>,
}

/// Numbers of scratch that the forward pass of a block needs.
pub(super) fn scratch_len(sizes: &Sizes, row: usize) -> usize {
    (sizes.network + sizes.first) * row
}

/// Runs a block over all its steps.
#[inline(always)]
pub(crate) fn forward_block<V: Compiled>(task: ForwardTask<V::Scalar>) {
    let ForwardTask { cell, block } = task;
    let ForwardBlock {
        packs,
        lengths,
        input,
        states,
        mut output,
        scratch,
        ..
    } = block;
    let (width, sizes) = (row::<V>(), cell.sizes());
    let panel = cell.hidden * width;
    let (state_slot, input_slot) = (slot(cell.hidden, width), slot(cell.inputs, width));
    let shortest = shortest::<V>(lengths);
    let steps = states.len() / state_slot - 1;
    let (network, drive) = scratch[..(sizes.network + sizes.first) * width].split_at_mut(sizes.network * width);
    for step in 0..steps {
        let (previous, next) = states.split_at_mut((step + 1) * state_slot);
        let previous = &previous[step * state_slot..][..panel];
        let at = Step::<V> {
            cell,
            packs,
            step,
            input: &input[step * input_slot..][..cell.inputs * width],
        };
        at.drive(drive);
        scale_rows::<V>(previous, cell.start_scale, &mut network[..panel]);
        for index in 0..cell.iterations {
            at.layers(drive, network);
            let (z, outputs) = network.split_at_mut(panel);
            at.advance(index, &outputs[outputs.len() - panel..], z);
        }
        let mask = if step >= shortest {
            Some(running::<V>(lengths, step))
        } else {
            None
        };
        finish::<V>(
            &network[..panel],
            -cell.previous_scale,
            previous,
            mask,
            &mut next[..panel],
        );
        give::<V>(&next[..panel], lengths, step, &mut output);
    }
}

/// One time step of a block.
pub(super) struct Step<'a, V: Compiled> {
    pub(super) cell: &'a Deep<'a, V::Scalar>,
    pub(super) packs: &'a [Packed<V::Scalar>],
    pub(super) step: usize,
    pub(super) input: &'a [V::Scalar],
}

impl<V: Compiled> Step<'_, V> {
    /// `W x_t + b_1`, once for all iterations; for `K = 1` it is part of the first layer's product.
    #[inline(always)]
    pub(super) fn drive(&self, drive: &mut [V::Scalar]) {
        if self.cell.iterations == 1 {
            return;
        }
        let product = Product {
            init: Init::Bias(self.cell.layers[0].bias),
            ..Product::plain(&self.packs[INPUT], self.input)
        };
        V::product(product, &mut Store::plain(drive));
    }

    /// All layers of one iteration: from `z^i` to `a_1 .. a_L`, in a network slot.
    #[inline(always)]
    pub(super) fn layers(&self, drive: &[V::Scalar], network: &mut [V::Scalar]) {
        let mut source_len = self.cell.hidden * row::<V>();
        let mut start = source_len;
        for (index, layer) in self.cell.layers.iter().enumerate() {
            let (before, from) = network.split_at_mut(start);
            let source = &before[start - source_len..];
            let out = &mut from[..layer.width * row::<V>()];
            let weights = &self.packs[LAYERS + index];
            let product = if index > 0 {
                Product {
                    init: Init::Bias(layer.bias),
                    ..Product::plain(weights, source)
                }
            } else if self.cell.iterations == 1 {
                Product {
                    weights,
                    first: self.input,
                    second: source,
                    init: Init::Bias(layer.bias),
                }
            } else {
                Product {
                    init: Init::Panel(drive),
                    ..Product::plain(weights, source)
                }
            };
            V::product(product, &mut Store::plain(out));
            V::activate(self.cell.activation, out);
            source_len = out.len();
            start += source_len;
        }
    }

    /// `z^{i+1} = a z^i + e a_L`, in place.
    #[inline(always)]
    pub(super) fn advance(&self, index: usize, outputs: &[V::Scalar], z: &mut [V::Scalar]) {
        let (decay, gain, _) = self.cell.step_sizes(self.step, index);
        advance(V::splat(decay), V::splat(gain), outputs, z);
    }
}

/// `z <- decay z + gain outputs`, whole registers.
#[inline(always)]
pub(super) fn advance<V: Vector>(decay: V, gain: V, outputs: &[V::Scalar], z: &mut [V::Scalar]) {
    for (output, z) in outputs.chunks_exact(V::LANES).zip(z.chunks_exact_mut(V::LANES)) {
        V::load(z).mul_add(decay, V::load(output).mul(gain)).store(z);
    }
}

/// `h_t = z^K - s h_{t-1}`, 0 where the sequence has ended; `factor` is `-s`.
#[inline(always)]
fn finish<V: Vector>(
    z: &[V::Scalar],
    factor: V::Scalar,
    previous: &[V::Scalar],
    mask: Option<[V::Mask; 2]>,
    next: &mut [V::Scalar],
) {
    let factor = V::splat(factor);
    let rows = z.chunks_exact(row::<V>()).zip(previous.chunks_exact(row::<V>()));
    for ((z, previous), next) in rows.zip(next.chunks_exact_mut(row::<V>())) {
        let (z, previous) = (load_row::<V>(z), load_row::<V>(previous));
        let mut value = [previous[0].mul_add(factor, z[0]), previous[1].mul_add(factor, z[1])];
        if let Some(mask) = mask {
            value = [value[0].or_zero(mask[0]), value[1].or_zero(mask[1])];
        }
        store_row(value, next);
    }
}
