//! Weight gradients: `gradient[m, n] += scale * sum over rows and lanes of left[row][m] * right[row][n]`.
//!
//! Two ways, measured: wide operands go through [`crate::turned`]. Of narrow ones both are loaded along the lanes, so nothing is
//! transposed and no register is filled with less than its width; a tile of 4 x 3 sums stays in registers over all rows and is
//! added across the lanes once at its end. The left operand goes through in slabs that stay in the first-level cache while all
//! tiles of the right operand pass by.

use crate::simd::{Vector, load_row, row};
use crate::turned::turned_outer;

/// Panel rows at a distance: row `i` of the operand starts at `i * stride` and is a panel of `features` rows.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a, F> {
    /// The panels.
    pub(crate) values: &'a [F],
    /// Numbers from one panel to the next.
    pub(crate) stride: usize,
    /// Features of a panel.
    pub(crate) features: usize,
}

const TILE_LEFT: usize = 4;
const TILE_RIGHT: usize = 3;
/// Features of the left operand in a slab.
const SLAB: usize = 12;

/// Registers of features from which on an operand is wide: turning costs less than adding across lanes.
const WIDE: usize = 4;

/// The sum of `count` outer products, times `scale`.
#[derive(Clone, Copy)]
pub(crate) struct Outer<'a, F> {
    pub(crate) count: usize,
    pub(crate) left: Rows<'a, F>,
    pub(crate) right: Rows<'a, F>,
    pub(crate) scale: F,
}

/// Adds it to `gradient` `[left.features, right.features]`; inlined into the function that
/// [`crate::compiled::Compiled::outer`] enters.
#[inline(always)]
pub(crate) fn outer<V: Vector>(of: Outer<V::Scalar>, gradient: &mut [V::Scalar]) {
    let Outer { left, right, .. } = of;
    if left.features.min(right.features) >= WIDE * V::LANES {
        turned_outer::<V>(of, gradient);
        return;
    }
    let mut slab = 0;
    while slab < left.features {
        let slab_end = (slab + SLAB).min(left.features);
        let mut n = 0;
        while n < right.features {
            let width = TILE_RIGHT.min(right.features - n);
            let mut m = slab;
            while m < slab_end {
                let height = TILE_LEFT.min(slab_end - m);
                let at = Tile { of, m, n };
                match (height, width) {
                    (4, 3) => tile::<V, 4, 3>(at, gradient),
                    (4, 2) => tile::<V, 4, 2>(at, gradient),
                    (4, 1) => tile::<V, 4, 1>(at, gradient),
                    (3, 3) => tile::<V, 3, 3>(at, gradient),
                    (2, 3) => tile::<V, 2, 3>(at, gradient),
                    (1, 3) => tile::<V, 1, 3>(at, gradient),
                    _ => {
                        for row in 0..height {
                            for column in 0..width {
                                tile::<V, 1, 1>(
                                    Tile {
                                        m: m + row,
                                        n: n + column,
                                        ..at
                                    },
                                    gradient,
                                );
                            }
                        }
                    }
                }
                m += height;
            }
            n += width;
        }
        slab = slab_end;
    }
}

/// One tile of the gradient.
#[derive(Clone, Copy)]
struct Tile<'a, F> {
    of: Outer<'a, F>,
    m: usize,
    n: usize,
}

#[inline(always)]
fn tile<V: Vector, const M: usize, const N: usize>(at: Tile<V::Scalar>, gradient: &mut [V::Scalar]) {
    let mut sums = [[V::zero(); N]; M];
    for index in 0..at.of.count {
        let left = &at.of.left.values[index * at.of.left.stride + at.m * row::<V>()..][..M * row::<V>()];
        let right = &at.of.right.values[index * at.of.right.stride + at.n * row::<V>()..][..N * row::<V>()];
        for half in 0..2 {
            let mut columns = [V::zero(); N];
            for (n, column) in columns.iter_mut().enumerate() {
                *column = V::load(&right[n * row::<V>() + half * V::LANES..]);
            }
            for (m, line) in sums.iter_mut().enumerate() {
                let value = V::load(&left[m * row::<V>() + half * V::LANES..]);
                for (sum, &column) in line.iter_mut().zip(&columns) {
                    *sum = value.mul_add(column, *sum);
                }
            }
        }
    }
    for n in 0..N {
        let mut column = [V::zero(); 4];
        for m in 0..M {
            column[m] = sums[m][n];
        }
        let column = V::sum_four(column);
        for (m, &sum) in column.iter().enumerate().take(M) {
            gradient[(at.m + m) * at.of.right.features + at.n + n] += at.of.scale * sum;
        }
    }
}

/// Adds each feature's sum over the lanes of `count` panels to `gradient` `[features]`.
#[inline(always)]
pub(crate) fn sum_rows<V: Vector>(count: usize, left: Rows<V::Scalar>, gradient: &mut [V::Scalar]) {
    for (feature, value) in gradient.iter_mut().enumerate().take(left.features) {
        let mut sums = [V::zero(); 2];
        for index in 0..count {
            let [low, high] = load_row::<V>(&left.values[index * left.stride + feature * row::<V>()..]);
            sums = [sums[0].add(low), sums[1].add(high)];
        }
        *value += sums[0].add(sums[1]).sum();
    }
}
