//! Forward pass of one block of sequences.

use super::{Leaky, Recurrent};
use crate::blocks::ForwardBlock;
use crate::compiled::Compiled;
use crate::lanes::{running, scale_rows, shortest};
use crate::pack::Packed;
use crate::panels::slot_rows;
use crate::product::{Epilogue, Init, Product, Store};
use crate::rows::give;
use crate::simd::{load_row, row, store_row};
use crate::{Activation, Real};

/// Packs for the forward pass (and for the recomputation inside the backward pass): `[W | A]` or `[W | R]` for `K = 1`, `W` for
/// `K > 1`.
pub(super) const INPUT: usize = 0;
/// `A` or `R`, for `K > 1`.
pub(super) const RECURRENT: usize = 1;
/// `B`.
pub(super) const RIGHT: usize = 2;

/// Packs the weights of a cell.
pub(super) fn pack<F: Real>(cell: &Leaky<F>, packs: &mut Vec<Packed<F>>) {
    packs.resize_with(3, Packed::default);
    let (d, hidden, rank) = (cell.inputs, cell.hidden, cell.rank());
    let (columns, weight, right) = match cell.recurrent {
        Recurrent::Dense(weight) => (hidden, weight, &[][..]),
        Recurrent::LowRank { left, right, .. } => (rank, left, right),
    };
    let w = cell.input_weight;
    if cell.iterations == 1 {
        packs[INPUT].pack(hidden, d + columns, |row, column| {
            if column < d {
                w[row * d + column]
            } else {
                weight[row * columns + column - d]
            }
        });
    } else {
        packs[INPUT].pack(hidden, d, |row, column| w[row * d + column]);
        packs[RECURRENT].pack(hidden, columns, |row, column| weight[row * columns + column]);
    }
    packs[RIGHT].pack(rank, hidden, |row, column| right[row * hidden + column]);
}

/// What one block needs.
pub struct ForwardTask<'a, F> {
    pub(crate) cell: &'a Leaky<'a, F>,
    pub(crate) block: ForwardBlock<'a, F>,
}

/// Numbers of scratch that the forward pass of a block needs.
pub(super) fn scratch_len(hidden: usize, rank: usize, row: usize) -> usize {
    (3 * hidden + 2 * rank) * row
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
        saved,
        codes,
        mut output,
        scratch,
        ..
    } = block;
    let (panel, codes_len) = (cell.hidden * row::<V>(), cell.rank() * row::<V>());
    let input_len = cell.inputs * row::<V>();
    let (state_slot, code_slot, input_slot) = (
        slot_rows(cell.hidden) * row::<V>(),
        slot_rows(cell.rank()) * row::<V>(),
        slot_rows(cell.inputs) * row::<V>(),
    );
    let shortest = shortest::<V>(lengths);
    let steps = states.len() / state_slot - 1;
    let (spare_saved, scratch) = scratch.split_at_mut(panel);
    let (spare_codes, scratch) = scratch.split_at_mut(codes_len);
    let (inner_codes, scratch) = scratch.split_at_mut(codes_len);
    let (z, next_z) = scratch[..2 * panel].split_at_mut(panel);
    for step in 0..steps {
        let (previous, next) = states.split_at_mut((step + 1) * state_slot);
        let previous = &previous[step * state_slot..][..panel];
        let mut iteration = Iteration::<V> {
            cell,
            packs,
            step,
            input: &input[step * input_slot..][..input_len],
            previous,
            mask: if step >= shortest {
                Some(running::<V>(lengths, step))
            } else {
                None
            },
        };
        let saved = if saved.is_empty() {
            &mut *spare_saved
        } else {
            &mut saved[step * state_slot..][..panel]
        };
        let codes = if codes.is_empty() {
            &mut *spare_codes
        } else {
            &mut codes[step * code_slot..][..codes_len]
        };
        if cell.iterations == 1 {
            iteration.single(z, codes, saved, &mut next[..panel]);
        } else {
            iteration.several(
                [&mut *z, &mut *next_z],
                [codes, &mut *inner_codes],
                saved,
                &mut next[..panel],
            );
        }
        give::<V>(&next[..panel], lengths, step, &mut output);
    }
}

/// One time step of a block.
pub(crate) struct Iteration<'a, V: Compiled> {
    pub(crate) cell: &'a Leaky<'a, V::Scalar>,
    pub(crate) packs: &'a [Packed<V::Scalar>],
    pub(crate) step: usize,
    pub(crate) input: &'a [V::Scalar],
    /// `h_{t-1}`.
    pub(crate) previous: &'a [V::Scalar],
    pub(crate) mask: Option<[V::Mask; 2]>,
}

impl<V: Compiled> Iteration<'_, V> {
    /// `K = 1`: the input and the recurrent product are one.
    #[inline(always)]
    fn single(
        &mut self,
        scaled: &mut [V::Scalar],
        codes: &mut [V::Scalar],
        saved: &mut [V::Scalar],
        next: &mut [V::Scalar],
    ) {
        let source = self.start(scaled, codes);
        let mut step = Step::new(self, 0, self.cell.start_scale, self.previous, next);
        step.saved = Some(saved);
        let weights = &self.packs[INPUT];
        V::product(
            Product {
                weights,
                first: self.input,
                second: source,
                init: Init::Bias(self.cell.bias),
            },
            &mut step,
        );
    }

    /// `K > 1`: `u_t` once, then the iterations, in two buffers by turns.
    #[inline(always)]
    fn several(
        &mut self,
        z: [&mut [V::Scalar]; 2],
        [first_codes, codes]: [&mut [V::Scalar]; 2],
        drive: &mut [V::Scalar],
        next: &mut [V::Scalar],
    ) {
        let input = Product {
            init: Init::Bias(self.cell.bias),
            ..Product::plain(&self.packs[INPUT], self.input)
        };
        V::product(input, &mut Store::plain(drive));
        let last = self.cell.iterations - 1;
        let [current, other] = z;
        let (mut current, mut other) = (current, other);
        for index in 0..=last {
            let (source, scale, z_rows): (&[V::Scalar], _, &[V::Scalar]) = if index == 0 {
                let source = self.start(current, first_codes);
                (source, self.cell.start_scale, self.previous)
            } else {
                let source = if self.cell.rank() > 0 {
                    V::product(Product::plain(&self.packs[RIGHT], current), &mut Store::plain(codes));
                    &*codes
                } else {
                    &*current
                };
                (source, V::Scalar::ONE, &*current)
            };
            let out = if index == last { &mut *next } else { &mut *other };
            let mut step = Step::new(self, index, scale, z_rows, out);
            V::product(
                Product {
                    init: Init::Panel(drive),
                    ..Product::plain(&self.packs[RECURRENT], source)
                },
                &mut step,
            );
            std::mem::swap(&mut current, &mut other);
        }
    }

    /// What the first iteration's recurrent product reads: `B z^0` (written to `codes`) or `z^0 = c0 h_{t-1}` itself.
    #[inline(always)]
    pub(crate) fn start<'b>(&'b self, scaled: &'b mut [V::Scalar], codes: &'b mut [V::Scalar]) -> &'b [V::Scalar] {
        let factor = self.cell.start_scale;
        if self.cell.rank() > 0 {
            let mut store = Store::<V> {
                out: codes,
                scale: V::splat(factor),
            };
            V::product(Product::plain(&self.packs[RIGHT], self.previous), &mut store);
            codes
        } else if factor == V::Scalar::ONE {
            self.previous
        } else {
            scale_rows::<V>(self.previous, factor, scaled);
            scaled
        }
    }
}

/// Epilogue of a recurrent product: `y = phi(sum + c z)`, `z' = a z + e y`, and in the last iteration `h_t = z' - s h_{t-1}`.
pub(crate) struct Step<'a, V: Compiled> {
    activation: Activation,
    decay: V,
    gain: V,
    identity: V,
    /// `z` is this times `z_rows`.
    z_scale: V,
    z_rows: &'a [V::Scalar],
    /// `(-s, h_{t-1})` in the last iteration.
    previous: Option<(V, &'a [V::Scalar])>,
    mask: Option<[V::Mask; 2]>,
    /// Where `y` goes, if it is kept.
    pub(crate) saved: Option<&'a mut [V::Scalar]>,
    out: &'a mut [V::Scalar],
}

impl<'a, V: Compiled> Step<'a, V> {
    /// The epilogue of iteration `index`.
    #[inline(always)]
    pub(crate) fn new(
        of: &Iteration<'a, V>,
        index: usize,
        z_scale: V::Scalar,
        z_rows: &'a [V::Scalar],
        out: &'a mut [V::Scalar],
    ) -> Self {
        let (decay, gain, _) = of.cell.step_sizes(of.step, index);
        let last = index + 1 == of.cell.iterations;
        Step {
            activation: of.cell.activation,
            decay: V::splat(decay),
            gain: V::splat(gain),
            identity: V::splat(of.cell.identity()),
            z_scale: V::splat(z_scale),
            z_rows,
            previous: last.then(|| (V::splat(-of.cell.previous_scale), of.previous)),
            mask: if last { of.mask } else { None },
            saved: None,
            out,
        }
    }
}

impl<V: Compiled> Epilogue<V> for Step<'_, V> {
    #[inline(always)]
    fn finish(&mut self, index: usize, sum: [V; 2]) {
        let at = index * row::<V>();
        let z = load_row::<V>(&self.z_rows[at..at + row::<V>()]);
        let z = [z[0].mul(self.z_scale), z[1].mul(self.z_scale)];
        let outputs = self
            .activation
            .row([z[0].mul_add(self.identity, sum[0]), z[1].mul_add(self.identity, sum[1])]);
        let mut next = [
            z[0].mul_add(self.decay, outputs[0].mul(self.gain)),
            z[1].mul_add(self.decay, outputs[1].mul(self.gain)),
        ];
        if let Some(saved) = &mut self.saved {
            store_row(outputs, &mut saved[at..at + row::<V>()]);
        }
        if let Some((factor, previous)) = self.previous {
            let previous = load_row::<V>(&previous[at..at + row::<V>()]);
            for half in 0..2 {
                next[half] = previous[half].mul_add(factor, next[half]);
            }
        }
        if let Some(mask) = self.mask {
            next = [next[0].or_zero(mask[0]), next[1].or_zero(mask[1])];
        }
        store_row(next, &mut self.out[at..at + row::<V>()]);
    }
}
