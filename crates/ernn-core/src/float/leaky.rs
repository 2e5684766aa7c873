//! One step of the leaky family:
//!
//! ```text
//! u       = W x + b              z^0 = c0 h
//! z^{i+1} = a_i z^i + e_i phi(R z^i + u)        i = 0..K-1        h <- z^K - s h
//! ```
//!
//! `R` is dense, or `c I + A B`: then `B z` is formed first, as `c0 (B h)` in the first iteration.

use super::Watch;
use super::layer::{Layer, cut, dot, product, rows};
use crate::layer::Record;
use crate::pick::copy;

/// Number of tensors, if their sizes are right.
pub(super) fn check(layer: &Layer, inputs: usize) -> Option<usize> {
    let hidden = layer.record.hidden;
    let fits = Some(layer.tensor(0).len()) == hidden.checked_mul(inputs) && layer.tensor(1).len() == hidden;
    let recurrent = layer.recurrent(2, hidden).filter(|_| fits)?;
    layer.step_sizes(recurrent.wrapping_add(2))?;
    Some(recurrent.wrapping_add(4))
}

/// `z`, the next `z`, `u`, and `B z`.
pub(super) fn scratch_len(record: &Record) -> usize {
    record.hidden.saturating_mul(3).saturating_add(record.rank)
}

pub(super) fn step(
    layer: &Layer,
    step: u32,
    input: &[f32],
    h: &mut [f32],
    mut scratch: &mut [f32],
    watch: &mut impl Watch,
) {
    let Record { hidden, rank, .. } = layer.record;
    let [start, previous, identity] =
        [layer.record.start, layer.record.previous, layer.record.identity].map(f32::from_bits);
    let [z, next, drive] = [hidden; 3].map(|count| cut(&mut scratch, count));
    let codes = cut(&mut scratch, rank);
    product(layer.tensor(0), layer.tensor(1), input, drive);
    for (z, h) in z.iter_mut().zip(h.iter()) {
        *z = *h * start;
    }
    watch.inner(z);
    let sizes = if rank == 0 { 3 } else { 4 };
    for (index, (decay, gain)) in layer.iterations(sizes, step).enumerate() {
        let (columns, source) = if rank == 0 {
            (hidden, &*z)
        } else {
            product(layer.tensor(3), &[], if index == 0 { h } else { z }, codes);
            if index == 0 {
                codes.iter_mut().for_each(|code| *code *= start);
            }
            watch.codes(codes);
            (rank, &*codes)
        };
        let sums = rows(layer.tensor(2), columns, 0).zip(drive.iter());
        for ((next, z), (row, drive)) in next.iter_mut().zip(z.iter()).zip(sums) {
            let mut sum = dot(*drive, row, source);
            if rank > 0 {
                sum += *z * identity;
            }
            let phi = layer.record.activation.of_float(sum);
            watch.phi(phi);
            *next = *z * decay + phi * gain;
        }
        watch.inner(next);
        copy(z, next);
    }
    for (h, z) in h.iter_mut().zip(z.iter()) {
        *h = *z - *h * previous;
    }
}
