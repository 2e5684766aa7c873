//! Matrices of `int8` weights, dense or with their zeros left out, read a row after the other.
//!
//! A matrix is two tensors: bytes of weights, and `u16` numbers, of which the first is a shift `s` in its low byte and the storage in its
//! high byte, and the others are one factor `m` a row:
//!
//! ```text
//! row of the product = (m sum_j w_j v_j) / 2^s, rounded
//! ```
//!
//! | storage | a row in the bytes |
//! |---|---|
//! | 0 | all weights |
//! | 1 | of each eight columns (fewer at the end) a mask, the first column in its lowest bit, then the weights whose bits are set |
//! | 2 | the number of weights, then of each the columns that are passed over before it, and the weight |
//!
//! `sum_j |w_j| <= 65535`, so that a sum of `i32` cannot overflow whatever the values are. Rows of compressed matrices have no place of
//! their own: whoever needs several rows at once keeps a [`Rows`] for each.

use super::math::round_shift;
use super::state::Values;
use crate::image::Image;

/// How the weights lie in their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    Dense,
    Masks,
    Gaps,
}

/// A matrix of an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix<'a> {
    bytes: &'a [u8],
    shift: u32,
    /// None: a number without meaning.
    storage: Option<Storage>,
    factors: &'a [[u8; 2]],
}

/// The bytes that are not read yet.
type Stream<'a> = core::slice::Iter<'a, u8>;

impl<'a> Matrix<'a> {
    /// The matrix whose two tensors begin at this index.
    pub fn of(image: &Image<'a>, index: usize) -> Self {
        let [_, all] = [0, 1].map(|next| image.tensor(index.wrapping_add(next)));
        let (&[shift, storage], factors) = all.as_chunks().0.split_first().unwrap_or((&[0; 2], &[]));
        Matrix {
            bytes: image.tensor(index),
            shift: u32::from(shift),
            storage: match storage {
                0 => Some(Storage::Dense),
                1 => Some(Storage::Masks),
                2 => Some(Storage::Gaps),
                _ => None,
            },
            factors,
        }
    }

    /// Whether it has this shape, and no sum can overflow.
    pub fn is(&self, rows: usize, columns: usize) -> bool {
        let Some(storage) = self.storage else { return false };
        // The tensor is padded to a multiple of 4 outside of its length, so the number of factors is exact.
        if self.factors.len() != rows || self.shift >= 48 || columns == 0 || columns > (1 << 24) {
            return false;
        }
        let mut stream = self.bytes.iter();
        for _ in 0..rows {
            let mut sum = 0_u32;
            let add = |_, weight: i8| sum = sum.saturating_add(u32::from(weight.unsigned_abs()));
            if read(storage, &mut stream, columns, add).is_none() || sum > 65_535 {
                return false;
            }
        }
        stream.next().is_none()
    }

    /// Rows from one on: each one's product with the values, as `i64` of the target's places.
    pub fn products<'v>(&self, values: Values<'v>, from: usize) -> Rows<'a, 'v> {
        let (storage, columns) = (self.storage.unwrap_or(Storage::Dense), values.len());
        let mut stream = self.bytes.iter();
        if storage == Storage::Dense {
            let skipped = from.saturating_mul(columns);
            stream = self.bytes.get(skipped..).unwrap_or(&[]).iter();
        } else {
            for _ in 0..from {
                let _ = read(storage, &mut stream, columns, |_, _| ());
            }
        }
        Rows {
            stream,
            storage,
            factors: self.factors.get(from..).unwrap_or(&[]).iter(),
            shift: self.shift,
            values,
        }
    }
}

/// Reads a row and tells of its weights with their columns; none if it leaves the bytes or the columns.
fn read(storage: Storage, stream: &mut Stream, columns: usize, mut weight: impl FnMut(usize, i8)) -> Option<()> {
    match storage {
        Storage::Dense => (0..columns).try_for_each(|column| stream.next().map(|&byte| weight(column, byte as i8))),
        Storage::Masks => {
            for first in (0..columns).step_by(8) {
                let mask = *stream.next()?;
                for bit in (0..8_usize).filter(|bit| mask >> bit & 1 == 1) {
                    let column = first.wrapping_add(bit);
                    weight((column < columns).then_some(column)?, *stream.next()? as i8);
                }
            }
            Some(())
        }
        Storage::Gaps => {
            let mut column = 0_usize;
            for _ in 0..*stream.next()? {
                column = column.wrapping_add(usize::from(*stream.next()?));
                weight((column < columns).then_some(column)?, *stream.next()? as i8);
                column = column.wrapping_add(1);
            }
            Some(())
        }
    }
}

/// The products of a matrix's rows with values, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Rows<'a, 'v> {
    stream: Stream<'a>,
    storage: Storage,
    factors: core::slice::Iter<'a, [u8; 2]>,
    shift: u32,
    values: Values<'v>,
}

impl Rows<'_, '_> {
    /// `sum_j w_j v_j` of the next row.
    fn sum(&mut self) -> i32 {
        match self.values {
            Values::Wide(values) => dot(self.storage, &mut self.stream, values),
            // A state of 8 bits is the upper half of one of 16.
            Values::Narrow(values) => dot(self.storage, &mut self.stream, values) << 8,
        }
    }
}

/// Wraps nowhere: the sum of a row's weights is at most 65535, and a value at most 2^15, or 2^7 where it is shifted after.
fn dot<T: Copy + Into<i32>>(storage: Storage, stream: &mut Stream, values: &[T]) -> i32 {
    let mut sum = 0_i32;
    if storage == Storage::Dense {
        let (row, rest) = stream.as_slice().split_at_checked(values.len()).unwrap_or((&[], &[]));
        *stream = rest.iter();
        return row.iter().zip(values).fold(0, |sum, (&weight, &value)| {
            sum.wrapping_add(i32::from(weight as i8).wrapping_mul(value.into()))
        });
    }
    let _ = read(storage, stream, values.len(), |column, weight| {
        let value = values.get(column).map_or(0, |&value| value.into());
        sum = sum.wrapping_add(i32::from(weight).wrapping_mul(value));
    });
    sum
}

impl Iterator for Rows<'_, '_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let factor = u16::from_le_bytes(*self.factors.next()?);
        let product = i64::from(self.sum()).wrapping_mul(i64::from(factor));
        Some(round_shift(product, self.shift))
    }
}
