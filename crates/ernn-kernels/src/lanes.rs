//! What happens lane by lane, whatever the cell: sequences that have ended, and gradients that enter from the loss.

use crate::Real;
use crate::blocks::BackwardRead;
use crate::compiled::Compiled;
use crate::simd::{Vector, load_row, row, store_row};

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
pub(crate) fn running<V: Vector>(lengths: &[usize], step: usize) -> [V::Mask; 2] {
    let mut remaining = [V::Scalar::ZERO; 64];
    for (lane, &length) in remaining.iter_mut().zip(lengths) {
        if length > step {
            *lane = V::Scalar::ONE;
        }
    }
    let [low, high] = load_row::<V>(&remaining);
    [low.greater(V::zero()), high.greater(V::zero())]
}

/// Adds the gradient at the last states of the sequences that have just `length` steps.
#[inline(always)]
pub(crate) fn add_last<V: Vector>(lengths: &[usize], last: &[V::Scalar], length: usize, gradient: &mut [V::Scalar]) {
    if last.is_empty() {
        return;
    }
    let features = gradient.len() / row::<V>();
    for (lane, _) in lengths.iter().enumerate().filter(|&(_, &steps)| steps == length) {
        let values = &last[lane * features..][..features];
        for (value, out) in values.iter().zip(gradient.chunks_exact_mut(row::<V>())) {
            out[lane] += *value;
        }
    }
}

/// Adds the loss's gradient at the states after `step`: at those of sequences that end there, and at all.
#[inline(always)]
pub(crate) fn add_loss<V: Compiled>(
    read: &BackwardRead<V::Scalar>,
    step: usize,
    shortest: usize,
    stride: usize,
    gradient: &mut [V::Scalar],
) {
    add_last::<V>(read.lengths, read.last, step + 1, gradient);
    if !read.all.is_empty() {
        let mask = if step >= shortest {
            Some(running::<V>(read.lengths, step))
        } else {
            None
        };
        add_rows::<V>(&read.all[step * stride..][..gradient.len()], mask, gradient);
    }
    if let Some(rows) = read.rows {
        V::add_step(rows, read.lengths, step, gradient);
    }
}

/// Adds panel rows, of masked lanes nothing.
#[inline(always)]
pub(crate) fn add_rows<V: Vector>(values: &[V::Scalar], mask: Option<[V::Mask; 2]>, sums: &mut [V::Scalar]) {
    for (from, to) in values.chunks_exact(row::<V>()).zip(sums.chunks_exact_mut(row::<V>())) {
        let mut add = load_row::<V>(from);
        if let Some(mask) = mask {
            add = [add[0].or_zero(mask[0]), add[1].or_zero(mask[1])];
        }
        let old = load_row::<V>(to);
        store_row([old[0].add(add[0]), old[1].add(add[1])], to);
    }
}

/// `out = factor * values`.
#[inline(always)]
pub(crate) fn scale_rows<V: Vector>(values: &[V::Scalar], factor: V::Scalar, out: &mut [V::Scalar]) {
    let factor = V::splat(factor);
    for (from, to) in values.chunks_exact(row::<V>()).zip(out.chunks_exact_mut(row::<V>())) {
        let [low, high] = load_row::<V>(from);
        store_row([low.mul(factor), high.mul(factor)], to);
    }
}
