//! One step of the deep family: the leaky family with a network in the place of `phi(R z + u)`.
//!
//! ```text
//! z^0     = c0 h
//! a_1     = phi(U_1 z^i + (W x + b_1))      a_j = phi(U_j a_{j-1} + b_j)
//! z^{i+1} = a_i z^i + e_i a_L               h <- z^K - s h
//! ```

use super::layer::{Layer, cut, dot, product, rows};
use super::{Floats, Watch};

/// Number of tensors, if their sizes are right.
pub(super) fn check(layer: &Layer, inputs: usize) -> Option<usize> {
    let mut columns = layer.record.hidden;
    for (weight, bias) in networks(layer) {
        let fits = !bias.is_empty() && Some(weight.len()) == bias.len().checked_mul(columns);
        columns = fits.then_some(bias.len())?;
    }
    let first = layer.tensor(2).len();
    let fits = columns == layer.record.hidden && Some(layer.tensor(0).len()) == first.checked_mul(inputs);
    let sizes = sizes_at(layer);
    layer.step_sizes(sizes).filter(|_| fits)?;
    Some(sizes.wrapping_add(2))
}

/// `U_j` and `b_j` of each layer.
fn networks<'a>(layer: &Layer<'a>) -> impl Iterator<Item = (Floats<'a>, Floats<'a>)> + use<'a> {
    let layer = *layer;
    (0..layer.record.inner).map(move |index| {
        let at = index.wrapping_mul(2).wrapping_add(1);
        (layer.tensor(at), layer.tensor(at.wrapping_add(1)))
    })
}

/// The tensor `a`.
fn sizes_at(layer: &Layer) -> usize {
    layer.record.inner.wrapping_mul(2).wrapping_add(1)
}

fn widest(layer: &Layer) -> usize {
    networks(layer).map(|(_, bias)| bias.len()).max().unwrap_or(0)
}

/// `z`, `W x + b_1`, and the outputs of two layers.
pub(super) fn scratch_len(layer: &Layer) -> usize {
    let outputs = widest(layer).saturating_mul(2);
    layer
        .record
        .hidden
        .saturating_add(layer.tensor(2).len())
        .saturating_add(outputs)
}

pub(super) fn step(
    layer: &Layer,
    step: u32,
    input: &[f32],
    h: &mut [f32],
    mut scratch: &mut [f32],
    watch: &mut impl Watch,
) {
    let [start, previous] = [layer.record.start, layer.record.previous].map(f32::from_bits);
    let z = cut(&mut scratch, layer.record.hidden);
    let drive = cut(&mut scratch, layer.tensor(2).len());
    let widest = widest(layer);
    let (mut output, mut source) = (cut(&mut scratch, widest), cut(&mut scratch, widest));
    product(layer.tensor(0), layer.tensor(2), input, drive);
    for (z, h) in z.iter_mut().zip(h.iter()) {
        *z = *h * start;
    }
    watch.inner(z);
    for (decay, gain) in layer.iterations(sizes_at(layer), step) {
        let mut columns = layer.record.hidden;
        for (index, (weight, bias)) in networks(layer).enumerate() {
            let from = if index == 0 {
                &*z
            } else {
                source.get(..columns).unwrap_or(&[])
            };
            let starts = bias.iter().map(|bias| f32::from_le_bytes(*bias));
            let mut drives = drive.iter();
            for ((out, row), own) in output.iter_mut().zip(rows(weight, columns, 0)).zip(starts) {
                let start = if index == 0 {
                    drives.next().copied().unwrap_or(0.0)
                } else {
                    own
                };
                *out = layer.record.activation.of_float(dot(start, row, from));
                watch.phi(*out);
            }
            columns = bias.len();
            core::mem::swap(&mut output, &mut source);
        }
        for (z, last) in z.iter_mut().zip(source.iter()) {
            *z = *z * decay + *last * gain;
        }
        watch.inner(z);
    }
    for (h, z) in h.iter_mut().zip(z.iter()) {
        *h = *z - *h * previous;
    }
}
