//! One step of the deep family in whole numbers; the formula is that of [`crate::float`].
//!
//! Tensors: `W` and its factors, then `U_j`, its factors and `b_j` of each layer, then `a`, `e`. All layers' outputs have the places of
//! `phi`.

use super::layer::{Layer, bias, cut};
use super::math::Saturations;
use super::state::{Sealed, State, Values, threshold};

/// The tensor where layer `index` of the network begins.
fn at(index: usize) -> usize {
    index.wrapping_mul(3).wrapping_add(2)
}

fn width(layer: &Layer, index: usize) -> usize {
    layer.wholes(at(index).wrapping_add(2)).len()
}

/// Number of tensors, if their sizes are right.
pub(super) fn check(layer: &Layer, inputs: usize) -> Option<usize> {
    let mut columns = layer.record.hidden;
    for index in 0..layer.record.inner {
        let width = width(layer, index);
        columns = (width > 0 && layer.matrix(at(index)).is(width, columns)).then_some(width)?;
    }
    let fits = columns == layer.record.hidden && layer.matrix(0).is(width(layer, 0), inputs);
    let sizes = at(layer.record.inner);
    layer.step_sizes(sizes).filter(|_| fits)?;
    Some(sizes.wrapping_add(2))
}

fn widest(layer: &Layer) -> usize {
    (0..layer.record.inner)
        .map(|index| width(layer, index))
        .max()
        .unwrap_or(0)
}

/// `z`, `W x + b_1` in halves, and the outputs of two layers.
pub(super) fn scratch_len(layer: &Layer) -> usize {
    let twice = width(layer, 0).saturating_add(widest(layer)).saturating_mul(2);
    layer.record.hidden.saturating_add(twice)
}

pub(super) fn step<S: State>(
    layer: &Layer,
    step: u32,
    input: Values,
    h: &mut [S],
    mut scratch: &mut [i16],
    saturations: &mut Saturations,
) {
    let [start, previous] = [layer.record.start, layer.record.previous].map(|word| i64::from(word as i32));
    let z = cut(&mut scratch, layer.record.hidden);
    let drive = cut(&mut scratch, width(layer, 0).saturating_mul(2))
        .as_chunks_mut::<2>()
        .0;
    let widest = widest(layer);
    let (mut output, mut source) = (cut(&mut scratch, widest), cut(&mut scratch, widest));
    for (unit, (drive, product)) in drive.iter_mut().zip(layer.matrix(0).products(input, 0)).enumerate() {
        let sum = saturations.whole(product.wrapping_add(i64::from(bias(layer.wholes(4), unit))));
        i16::split(sum, drive);
    }
    for (z, h) in z.iter_mut().zip(h.iter()) {
        *z = saturations.narrow(i64::from(h.wide()).wrapping_mul(start));
    }
    let places = layer.places;
    for (decay, gain) in layer.iterations(at(layer.record.inner), step) {
        let mut columns = layer.record.hidden;
        for index in 0..layer.record.inner {
            let from = if index == 0 {
                &*z
            } else {
                source.get(..columns).unwrap_or(&[])
            };
            let biases = layer.wholes(at(index).wrapping_add(2));
            let products = layer.matrix(at(index)).products(Values::Wide(from), 0);
            for (unit, (out, product)) in output.iter_mut().zip(products).enumerate() {
                let own = match drive.get(unit) {
                    Some(drive) if index == 0 => i16::join(drive),
                    _ => bias(biases, unit),
                };
                let sum = saturations.whole(product.wrapping_add(i64::from(own)));
                *out = layer.phi(sum, saturations);
            }
            columns = biases.len();
            core::mem::swap(&mut output, &mut source);
        }
        for (z, last) in z.iter_mut().zip(source.iter()) {
            let kept = (decay.wrapping_mul(i64::from(*z)), places.decay.wrapping_add(places.h));
            let new = (
                gain.wrapping_mul(i64::from(*last)),
                places.gain.wrapping_add(places.phi),
            );
            *z = saturations.combine(kept, new, places.h);
        }
    }
    for (unit, (h, z)) in h.iter_mut().zip(z.iter()).enumerate() {
        let next = saturations.narrow(i64::from(*z).wrapping_sub(i64::from(h.wide()).wrapping_mul(previous)));
        *h = S::kept(next, threshold(step, unit), saturations);
    }
}
