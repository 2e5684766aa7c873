//! One step of the leaky family in whole numbers; the formula is that of [`crate::float`].
//!
//! Tensors: `W` and its factors, `b`, `R` or `A` and its factors, `B` and its factors, `a`, `e`. `c0` and `s` are whole.

use super::layer::{Layer, bias, cut};
use super::math::Saturations;
use super::state::{Sealed, State, Values, threshold};
use crate::layer::Record;
use crate::pick::copy;

/// Number of tensors, if their sizes are right.
pub(super) fn check(layer: &Layer, inputs: usize) -> Option<usize> {
    let hidden = layer.record.hidden;
    let fits = layer.matrix(0).is(hidden, inputs) && layer.wholes(2).len() == hidden;
    let recurrent = layer.recurrent(3, hidden).filter(|_| fits)?;
    layer.step_sizes(recurrent.wrapping_add(3))?;
    Some(recurrent.wrapping_add(5))
}

/// `z`, the next `z`, `u` in halves, and `B z`.
pub(super) fn scratch_len(record: &Record) -> usize {
    record.hidden.saturating_mul(4).saturating_add(record.rank)
}

pub(super) fn step<S: State>(
    layer: &Layer,
    step: u32,
    input: Values,
    h: &mut [S],
    mut scratch: &mut [i16],
    saturations: &mut Saturations,
) {
    let Record { hidden, rank, .. } = layer.record;
    let [start, previous, identity] =
        [layer.record.start, layer.record.previous, layer.record.identity].map(|word| i64::from(word as i32));
    let [z, next] = [hidden; 2].map(|count| cut(&mut scratch, count));
    let drive = cut(&mut scratch, hidden.saturating_mul(2)).as_chunks_mut::<2>().0;
    let codes = cut(&mut scratch, rank);
    for (unit, (drive, product)) in drive.iter_mut().zip(layer.matrix(0).products(input, 0)).enumerate() {
        let sum = saturations.whole(product.wrapping_add(i64::from(bias(layer.wholes(2), unit))));
        i16::split(sum, drive);
    }
    for (z, h) in z.iter_mut().zip(h.iter()) {
        *z = saturations.narrow(i64::from(h.wide()).wrapping_mul(start));
    }
    let places = layer.places;
    let sizes = if rank == 0 { 5 } else { 7 };
    for (decay, gain) in layer.iterations(sizes, step) {
        if rank > 0 {
            layer.encode(5, Values::Wide(z), codes, saturations);
        }
        let source = if rank > 0 { &*codes } else { &*z };
        let sums = layer.matrix(3).products(Values::Wide(source), 0).zip(drive.iter());
        for ((next, z), (product, drive)) in next.iter_mut().zip(z.iter()).zip(sums) {
            let z = i64::from(*z);
            let own = super::math::round_shift(z.wrapping_mul(identity), places.identity);
            let sum = product.wrapping_add(own).wrapping_add(i64::from(i16::join(drive)));
            let phi = i64::from(layer.phi(saturations.whole(sum), saturations));
            let kept = (decay.wrapping_mul(z), places.decay.wrapping_add(places.h));
            let new = (gain.wrapping_mul(phi), places.gain.wrapping_add(places.phi));
            *next = saturations.combine(kept, new, places.h);
        }
        copy(z, next);
    }
    for (unit, (h, z)) in h.iter_mut().zip(z.iter()).enumerate() {
        let next = saturations.narrow(i64::from(*z).wrapping_sub(i64::from(h.wide()).wrapping_mul(previous)));
        *h = S::kept(next, threshold(step, unit), saturations);
    }
}
