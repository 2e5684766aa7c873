//! Forward pass of one block of sequences.

use super::Leaky;
use crate::compiled::Compiled;
use crate::pack::Packed;
use crate::panels::slot_rows;
use crate::product::{Epilogue, Init, Product, Store};
use crate::simd::{Vector, load_row, row, store_row};
use crate::{Activation, Real};

/// Weights packed for the forward pass (and for the recomputation inside the backward pass).
#[derive(Clone, Debug, Default)]
pub struct ForwardPack<F> {
    /// `[W | A]` or `[W | R]` for `K = 1`; `W` for `K > 1`.
    pub(crate) input: Packed<F>,
    /// `A` or `R`, for `K > 1`.
    pub(crate) recurrent: Packed<F>,
    /// `B`.
    pub(crate) right: Packed<F>,
}

impl<F: Real> ForwardPack<F> {
    /// Packs the weights of a cell.
    pub(crate) fn pack(&mut self, cell: &Leaky<F>) {
        let (d, hidden, rank) = (cell.inputs, cell.hidden, cell.rank());
        let (columns, weight, right) = match cell.recurrent {
            super::Recurrent::Dense(weight) => (hidden, weight, &[][..]),
            super::Recurrent::LowRank { left, right, .. } => (rank, left, right),
        };
        let w = cell.input_weight;
        if cell.iterations == 1 {
            self.input.pack(hidden, d + columns, |row, column| {
                if column < d {
                    w[row * d + column]
                } else {
                    weight[row * columns + column - d]
                }
            });
        } else {
            self.input.pack(hidden, d, |row, column| w[row * d + column]);
            self.recurrent
                .pack(hidden, columns, |row, column| weight[row * columns + column]);
        }
        self.right
            .pack(rank, hidden, |row, column| right[row * hidden + column]);
    }
}

/// What one block needs: slices of its own, and what all blocks share.
pub struct ForwardTask<'a, F> {
    pub(crate) cell: &'a Leaky<'a, F>,
    pub(crate) pack: &'a ForwardPack<F>,
    /// Steps of each lane's sequence.
    pub(crate) lengths: &'a [usize],
    /// `[steps][d][lane]`.
    pub(crate) input: &'a [F],
    /// `[1 + steps][D][lane]`; slot 0 holds the initial state.
    pub(crate) states: &'a mut [F],
    /// `[steps][D][lane]`: `phi(..)` (`K = 1`) or `u_t` (`K > 1`); empty: not kept.
    pub(crate) saved: &'a mut [F],
    /// `[steps][r][lane]`: `B z^0`; empty: not kept.
    pub(crate) codes: &'a mut [F],
    /// At least [`scratch_len`] numbers.
    pub(crate) scratch: &'a mut [F],
}

/// Numbers of scratch that the forward pass of a block needs.
pub(crate) fn scratch_len(hidden: usize, rank: usize, row: usize) -> usize {
    (3 * hidden + 2 * rank) * row
}

/// Runs a block over all its steps.
#[inline(always)]
pub(crate) fn forward_block<V: Compiled>(task: ForwardTask<V::Scalar>) {
    let ForwardTask {
        cell,
        pack,
        lengths,
        input,
        states,
        saved,
        codes,
        scratch,
    } = task;
    let (panel, codes_len) = (cell.hidden * row::<V>(), cell.rank() * row::<V>());
    let input_len = cell.inputs * row::<V>();
    let slot = |features| slot_rows(features) * row::<V>();
    let (state_slot, code_slot, input_slot) = (slot(cell.hidden), slot(cell.rank()), slot(cell.inputs));
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
            pack,
            step,
            input: &input[step * input_slot..][..input_len],
            previous,
            mask: (step >= shortest).then(|| running::<V>(lengths, step)),
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
    }
}

/// Steps during which all lanes' sequences run; none if some lanes are empty.
#[inline(always)]
pub(crate) fn shortest<V: Vector>(lengths: &[usize]) -> usize {
    if lengths.len() < row::<V>() {
        return 0;
    }
    lengths.iter().copied().min().unwrap_or(0)
}

/// Which lanes' sequences still run at this step.
#[inline(always)]
pub(crate) fn running<V: Compiled>(lengths: &[usize], step: usize) -> [V::Mask; 2] {
    let mut remaining = [V::Scalar::ZERO; 64];
    for (lane, &length) in remaining.iter_mut().zip(lengths) {
        if length > step {
            *lane = V::Scalar::ONE;
        }
    }
    let [low, high] = load_row::<V>(&remaining);
    [low.greater(V::zero()), high.greater(V::zero())]
}

/// One time step of a block.
pub(crate) struct Iteration<'a, V: Compiled> {
    pub(crate) cell: &'a Leaky<'a, V::Scalar>,
    pub(crate) pack: &'a ForwardPack<V::Scalar>,
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
        let weights = &self.pack.input;
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
            ..Product::plain(&self.pack.input, self.input)
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
                    V::product(Product::plain(&self.pack.right, current), &mut Store::plain(codes));
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
                    ..Product::plain(&self.pack.recurrent, source)
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
            V::product(Product::plain(&self.pack.right, self.previous), &mut store);
            codes
        } else if factor == V::Scalar::ONE {
            self.previous
        } else {
            scale_panel::<V>(self.previous, factor, scaled);
            scaled
        }
    }
}

/// `out = factor * values`.
#[inline(always)]
pub(crate) fn scale_panel<V: Compiled>(values: &[V::Scalar], factor: V::Scalar, out: &mut [V::Scalar]) {
    let factor = V::splat(factor);
    for (from, to) in values.chunks_exact(row::<V>()).zip(out.chunks_exact_mut(row::<V>())) {
        let [low, high] = load_row::<V>(from);
        store_row([low.mul(factor), high.mul(factor)], to);
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
        let mut next = [V::zero(); 2];
        let mut outputs = [V::zero(); 2];
        for half in 0..2 {
            let z = z[half].mul(self.z_scale);
            outputs[half] = self.activation.value(z.mul_add(self.identity, sum[half]));
            next[half] = z.mul_add(self.decay, outputs[half].mul(self.gain));
        }
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
