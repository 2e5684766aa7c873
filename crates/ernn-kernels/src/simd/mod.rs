//! One vector register, whatever its width: the small trait that all kernels are written against.
//!
//! The types behind it are private to this crate and are only named inside functions that [`crate::dispatch`] enters after
//! it has seen that the processor has their instructions; that is the reason why every `unsafe` block here is sound.
//!
//! Kernel code uses no closures: one that is not inlined would be compiled without the instruction set, and a register would
//! then pass through memory at every operation.

pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use crate::Real;

/// A vector register of `LANES` numbers. Every method is one or two instructions.
pub(crate) trait Vector: Copy {
    /// The number type of a lane.
    type Scalar: Real;
    /// Truth values, one a lane.
    type Mask: Copy;
    /// Numbers in a register.
    const LANES: usize;

    /// The same number in all lanes.
    fn splat(value: Self::Scalar) -> Self;
    /// The first `LANES` numbers of a slice.
    fn load(from: &[Self::Scalar]) -> Self;
    /// Writes to the first `LANES` numbers of a slice.
    fn store(self, to: &mut [Self::Scalar]);
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self / other`.
    fn div(self, other: Self) -> Self;
    /// `self * factor + addend`, rounded once where the instruction set can.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// The larger; NaN in `other` stays NaN.
    fn max(self, other: Self) -> Self;
    /// The smaller; NaN in `other` stays NaN.
    fn min(self, other: Self) -> Self;
    /// Lane by lane `self > other`.
    fn greater(self, other: Self) -> Self::Mask;
    /// Lane by lane `if mask { self } else { 0 }`.
    fn or_zero(self, mask: Self::Mask) -> Self;
    /// Lane by lane `if mask { self } else { other }`.
    fn choose(self, other: Self, mask: Self::Mask) -> Self;
    /// `2^n` from `self = n + ROUNDER`, `n` a whole number in the exponent's range (see [`crate::math`]).
    fn power_of_two(self) -> Self;
    /// The sum of the lanes, always added in the same order.
    fn sum(self) -> Self::Scalar;

    /// The sums of four registers.
    #[inline(always)]
    fn sum_four(of: [Self; 4]) -> [Self::Scalar; 4] {
        [of[0].sum(), of[1].sum(), of[2].sum(), of[3].sum()]
    }

    /// Turns `LANES` rows of `LANES` numbers, `from_stride` apart, to `LANES` columns, written `to_stride` apart.
    #[inline(always)]
    fn transpose(from: &[Self::Scalar], from_stride: usize, to: &mut [Self::Scalar], to_stride: usize) {
        for row in 0..Self::LANES {
            for column in 0..Self::LANES {
                to[column * to_stride + row] = from[row * from_stride + column];
            }
        }
    }

    /// Asks for the cache line at the start of a slice, to be near when it is read soon; does nothing where it cannot.
    fn prefetch(from: &[Self::Scalar]);

    /// 0 in all lanes.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(Self::Scalar::ZERO)
    }
}

/// The numbers of one row of a panel (two registers).
#[inline(always)]
pub(crate) const fn row<V: Vector>() -> usize {
    2 * V::LANES
}

/// Reads one panel row.
#[inline(always)]
pub(crate) fn load_row<V: Vector>(from: &[V::Scalar]) -> [V; 2] {
    [V::load(from), V::load(&from[V::LANES..])]
}

/// Writes one panel row.
#[inline(always)]
pub(crate) fn store_row<V: Vector>(value: [V; 2], to: &mut [V::Scalar]) {
    value[0].store(to);
    value[1].store(&mut to[V::LANES..]);
}
