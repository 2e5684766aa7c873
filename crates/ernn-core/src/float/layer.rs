//! A layer of `f32`: its record and its tensors, and the products that all families form.

use super::{Floats, Watch, deep, equilibrium, gated, leaky};
use crate::image::Image;
use crate::layer::{Kind, Record};

/// A layer of a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer<'a> {
    pub record: Record,
    pub image: Image<'a>,
}

impl<'a> Layer<'a> {
    pub fn of(image: &Image<'a>, index: usize) -> Option<Self> {
        let record = Record::of(image.record(index))?;
        Some(Layer { record, image: *image })
    }

    /// The tensor that is the `index`-th of this layer.
    pub fn tensor(&self, index: usize) -> Floats<'a> {
        self.image.floats(self.record.first.wrapping_add(index))
    }

    /// The tensor behind the layer's last one, if all have the sizes that they must have.
    pub fn check(&self, inputs: usize) -> Option<usize> {
        let count = match self.record.kind {
            Kind::Deep => deep::check(self, inputs)?,
            Kind::Leaky => leaky::check(self, inputs)?,
            Kind::Equilibrium => equilibrium::check(self, inputs)?,
            _ => gated::check(self, inputs)?,
        };
        self.record.first.checked_add(count)
    }

    /// Numbers that a step needs for itself.
    pub fn scratch_len(&self) -> usize {
        match self.record.kind {
            Kind::Deep => deep::scratch_len(self),
            Kind::Leaky => leaky::scratch_len(&self.record),
            Kind::Equilibrium => equilibrium::scratch_len(&self.record),
            _ => gated::scratch_len(&self.record),
        }
    }

    /// One step: `state` goes on by the input.
    pub fn step(&self, step: u32, input: &[f32], state: &mut [f32], scratch: &mut [f32], watch: &mut impl Watch) {
        match self.record.kind {
            Kind::Deep => deep::step(self, step, input, state, scratch, watch),
            Kind::Leaky => leaky::step(self, step, input, state, scratch, watch),
            Kind::Equilibrium => equilibrium::step(self, input, state, scratch, watch),
            _ => gated::step(self, input, state, scratch, watch),
        };
    }

    /// Whether `R`, or `A` and `B`, of these `rows` stand from the tensor `index` on; gives the number of tensors.
    pub fn recurrent(&self, index: usize, rows: usize) -> Option<usize> {
        let Record { hidden, rank, .. } = self.record;
        if rank == 0 {
            return (Some(self.tensor(index).len()) == rows.checked_mul(hidden)).then_some(1);
        }
        let left = Some(self.tensor(index).len()) == rows.checked_mul(rank);
        let right = Some(self.tensor(index.wrapping_add(1)).len()) == rank.checked_mul(hidden);
        (left && right).then_some(2)
    }

    /// Whether `a` and `e` stand from the tensor `index` on.
    pub fn step_sizes(&self, index: usize) -> Option<usize> {
        let count = self.record.rows.checked_mul(self.record.iterations);
        let fits = |index| Some(self.tensor(index).len()) == count;
        (fits(index) && fits(index.wrapping_add(1))).then_some(2)
    }

    /// `(a, e)` of all iterations of a step, from the tensor `index` on.
    pub fn iterations(&self, index: usize, step: u32) -> impl Iterator<Item = (f32, f32)> + use<'a> {
        let k = self.record.iterations;
        let from = self.record.row(step).saturating_mul(k);
        let [a, e] = [index, index.wrapping_add(1)].map(|index| self.tensor(index).iter().skip(from).take(k));
        a.zip(e).map(|(a, e)| (f32::from_le_bytes(*a), f32::from_le_bytes(*e)))
    }
}

/// `start` and the products of a row with a vector, one after the other.
pub(super) fn dot(start: f32, row: Floats, values: &[f32]) -> f32 {
    let products = row.iter().zip(values);
    products.fold(start, |sum, (weight, value)| sum + f32::from_le_bytes(*weight) * value)
}

/// The rows of a matrix, from one on; none of a matrix of no columns.
pub(super) fn rows(matrix: Floats<'_>, columns: usize, from: usize) -> impl Iterator<Item = &'_ [[u8; 4]]> {
    let skipped = from.saturating_mul(columns);
    matrix.get(skipped..).unwrap_or(&[]).chunks_exact(columns.max(1))
}

/// `out = matrix values + bias`; without a bias `out = matrix values`.
pub(super) fn product(matrix: Floats, bias: Floats, values: &[f32], out: &mut [f32]) {
    let mut biases = bias.iter();
    for (out, row) in out.iter_mut().zip(rows(matrix, values.len(), 0)) {
        let start = biases.next().map_or(0.0, |bias| f32::from_le_bytes(*bias));
        *out = dot(start, row, values);
    }
}

/// Cuts the first numbers off a slice; fewer where there are fewer, which no parsed model meets.
pub(super) fn cut<'a>(slice: &mut &'a mut [f32], count: usize) -> &'a mut [f32] {
    let whole = core::mem::take(slice);
    match whole.split_at_mut_checked(count) {
        Some((first, rest)) => {
            *slice = rest;
            first
        }
        None => &mut [],
    }
}
