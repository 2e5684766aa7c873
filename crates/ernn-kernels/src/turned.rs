//! Weight gradients of wide operands: a matrix product over (row, lane).
//!
//! Two registers of the right operand's features at a time are turned so that features lie side by side, which stays in the first-level
//! cache while all of the left operand passes by: one of its numbers is a broadcast for both registers, and a tile of 6 x 2 sums
//! stays in registers over all rows, as in [`crate::product`]. Nothing is added across lanes.

use crate::Real;
use crate::outer::Outer;
use crate::pack::cut_evenly;
use crate::simd::{Vector, row};

/// Numbers of the right operand that are turned at once.
const TURNED: usize = 4096;

/// Room for them, on whole cache lines.
#[repr(align(64))]
struct Turned<F>([F; TURNED]);

/// Adds it to `gradient` `[left.features, right.features]`.
#[inline(always)]
pub(crate) fn turned_outer<V: Vector>(of: Outer<V::Scalar>, gradient: &mut [V::Scalar]) {
    let mut turned = Turned([V::Scalar::ZERO; TURNED]);
    let mut n = 0;
    while n < of.right.features {
        // A last register alone is multiplied with twice as many rows.
        if of.right.features - n > V::LANES {
            strip::<V, 2>(of, n, &mut turned.0, gradient);
            n += 2 * V::LANES;
        } else {
            strip::<V, 1>(of, n, &mut turned.0, gradient);
            n += V::LANES;
        }
    }
}

/// `N` registers of the right operand's features, with all of the left operand.
#[inline(always)]
fn strip<V: Vector, const N: usize>(
    of: Outer<V::Scalar>,
    n: usize,
    turned: &mut [V::Scalar; TURNED],
    gradient: &mut [V::Scalar],
) {
    let panel = row::<V>() * N * V::LANES;
    let most = TURNED / panel;
    let mut first = 0;
    while first < of.count {
        let count = most.min(of.count - first);
        let turned = &mut turned[..count * panel];
        for (index, out) in turned.chunks_exact_mut(panel).enumerate() {
            let values = &of.right.values[(first + index) * of.right.stride..];
            turn::<V, N>(values, n, of.right.features, out);
        }
        for (m, height) in cut_evenly(of.left.features, 12 / N) {
            let at = Tile {
                of,
                turned,
                first,
                m,
                n,
            };
            match (height, N) {
                (1, _) => tile::<V, 1, N>(at, gradient),
                (2, _) => tile::<V, 2, N>(at, gradient),
                (3, _) => tile::<V, 3, N>(at, gradient),
                (4, _) => tile::<V, 4, N>(at, gradient),
                (5, _) => tile::<V, 5, N>(at, gradient),
                (6, _) => tile::<V, 6, N>(at, gradient),
                (7, 1) => tile::<V, 7, N>(at, gradient),
                (8, 1) => tile::<V, 8, N>(at, gradient),
                (9, 1) => tile::<V, 9, N>(at, gradient),
                (10, 1) => tile::<V, 10, N>(at, gradient),
                (11, 1) => tile::<V, 11, N>(at, gradient),
                _ => tile::<V, { TILE_ALONE }, N>(at, gradient),
            }
        }
        first += count;
    }
}

/// Rows of a tile with one register.
const TILE_ALONE: usize = 12;

/// `[feature][lane]` to `[lane][N registers of features]`, from feature `n` on; zeros behind the last one.
#[inline(always)]
fn turn<V: Vector, const N: usize>(panel: &[V::Scalar], n: usize, features: usize, out: &mut [V::Scalar]) {
    let (lanes, width) = (row::<V>(), N * V::LANES);
    for register in 0..N {
        let feature = n + register * V::LANES;
        for half in 0..2 {
            let out = &mut out[half * V::LANES * width + register * V::LANES..];
            if feature + V::LANES <= features {
                V::transpose(&panel[feature * lanes + half * V::LANES..], lanes, out, width);
                continue;
            }
            for lane in 0..V::LANES {
                for column in 0..V::LANES {
                    let at = (feature + column) * lanes + half * V::LANES + lane;
                    out[lane * width + column] = if feature + column < features {
                        panel[at]
                    } else {
                        V::Scalar::ZERO
                    };
                }
            }
        }
    }
}

/// One tile of the gradient.
#[derive(Clone, Copy)]
struct Tile<'a, F> {
    of: Outer<'a, F>,
    turned: &'a [F],
    /// The first of the rows that are turned.
    first: usize,
    m: usize,
    n: usize,
}

#[inline(always)]
fn tile<V: Vector, const M: usize, const N: usize>(at: Tile<V::Scalar>, gradient: &mut [V::Scalar]) {
    let (lanes, width) = (row::<V>(), N * V::LANES);
    let mut sums = [[V::zero(); N]; M];
    for (index, turned) in at.turned.chunks_exact(lanes * width).enumerate() {
        let start = (at.first + index) * at.of.left.stride + at.m * lanes;
        let left = &at.of.left.values[start..start + M * lanes];
        for (lane, right) in turned.chunks_exact(width).enumerate() {
            let mut columns = [V::zero(); N];
            for (n, column) in columns.iter_mut().enumerate() {
                *column = V::load(&right[n * V::LANES..]);
            }
            for (m, line) in sums.iter_mut().enumerate() {
                let value = V::splat(left[m * lanes + lane]);
                for (sum, &column) in line.iter_mut().zip(&columns) {
                    *sum = value.mul_add(column, *sum);
                }
            }
        }
    }
    let (columns, scale) = (at.of.right.features, V::splat(at.of.scale));
    for (m, line) in sums.into_iter().enumerate() {
        for (n, sum) in line.into_iter().enumerate() {
            let column = at.n + n * V::LANES;
            let out = &mut gradient[(at.m + m) * columns + column..(at.m + m + 1) * columns];
            if out.len() >= V::LANES {
                sum.mul_add(scale, V::load(out)).store(out);
            } else {
                let mut values = [V::Scalar::ZERO; 16];
                sum.mul(scale).store(&mut values);
                for (out, value) in out.iter_mut().zip(values) {
                    *out += value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outer::Rows;
    use crate::simd::portable::{PortableF32, PortableF64};

    /// More panels than are turned at once, with sizes that are no multiple of a tile or a register.
    fn many_panels_are_the_sum_of_their_products<V: Vector>(left_features: usize, right_features: usize) {
        let (count, lanes) = (600, row::<V>());
        let value = |index: usize| V::Scalar::from_f64(((index * 37) % 101) as f64 / 50.0 - 1.0);
        let panels = |features: usize, seed: usize| -> Vec<V::Scalar> {
            (0..count * (features + 1) * lanes)
                .map(|index| value(index + seed))
                .collect()
        };
        let (left, right) = (panels(left_features, 1), panels(right_features, 5));
        let rows = |values, features: usize| Rows {
            values,
            stride: (features + 1) * lanes,
            features,
        };
        let of = Outer {
            count,
            left: rows(&left, left_features),
            right: rows(&right, right_features),
            scale: V::Scalar::from_f64(0.5),
        };
        let mut found = vec![V::Scalar::ONE; left_features * right_features];
        turned_outer::<V>(of, &mut found);
        for m in 0..left_features {
            for n in 0..right_features {
                let product = |panel: usize, lane: usize| {
                    let l = left[panel * of.left.stride + m * lanes + lane].to_f64();
                    l * right[panel * of.right.stride + n * lanes + lane].to_f64()
                };
                let sum: f64 = (0..count * lanes).map(|at| product(at / lanes, at % lanes)).sum();
                let found = found[m * right_features + n].to_f64();
                assert!((found - (1.0 + 0.5 * sum)).abs() < 2e-3, "{m}, {n}: {found} {sum}");
            }
        }
    }

    #[test]
    fn many_panels() {
        for (left, right) in [(8, 9), (13, 17), (12, 3), (7, 1), (1, 30)] {
            many_panels_are_the_sum_of_their_products::<PortableF64>(left, right);
            many_panels_are_the_sum_of_their_products::<PortableF32>(left, right);
        }
    }
}
