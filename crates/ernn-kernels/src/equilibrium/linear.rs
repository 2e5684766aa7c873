//! Systems of linear equations, one a lane: Gaussian elimination with partial pivoting.
//!
//! The arithmetic is vertical; only the search for a pivot and the exchange of rows look at lanes one by one, which is `n^2` of the
//! `n^3` operations. A singular matrix gives numbers that are not finite in its own lane and nothing else.

use crate::Real;
use crate::simd::{Vector, load_row, row, store_row};

/// Solves `system x = right` in place: `system` `[n,n][lane]` is destroyed, `right` `[n][lane]` becomes `x`.
#[inline(always)]
pub(crate) fn eliminate<V: Vector>(n: usize, system: &mut [V::Scalar], right: &mut [V::Scalar]) {
    let one = V::splat(V::Scalar::ONE);
    for k in 0..n {
        exchange::<V>(n, k, system, right);
        let (upper, lower) = system.split_at_mut((k + 1) * n * row::<V>());
        let pivot_row = &upper[k * n * row::<V>()..];
        let pivot = load_row::<V>(&pivot_row[k * row::<V>()..]);
        let inverse = [one.div(pivot[0]), one.div(pivot[1])];
        let (solved, open) = right.split_at_mut((k + 1) * row::<V>());
        let pivot_right = load_row::<V>(&solved[k * row::<V>()..]);
        let rows = lower.chunks_exact_mut(n * row::<V>());
        for (line, right) in rows.zip(open.chunks_exact_mut(row::<V>())) {
            let head = load_row::<V>(&line[k * row::<V>()..]);
            let factor = [
                V::zero().sub(head[0].mul(inverse[0])),
                V::zero().sub(head[1].mul(inverse[1])),
            ];
            let from = pivot_row[(k + 1) * row::<V>()..].chunks_exact(row::<V>());
            for (to, from) in line[(k + 1) * row::<V>()..].chunks_exact_mut(row::<V>()).zip(from) {
                let (old, pivot) = (load_row::<V>(to), load_row::<V>(from));
                let low = pivot[0].mul_add(factor[0], old[0]);
                store_row([low, pivot[1].mul_add(factor[1], old[1])], to);
            }
            let old = load_row::<V>(right);
            let low = pivot_right[0].mul_add(factor[0], old[0]);
            store_row([low, pivot_right[1].mul_add(factor[1], old[1])], right);
        }
    }
    for k in (0..n).rev() {
        let line = &system[k * n * row::<V>()..(k + 1) * n * row::<V>()];
        let mut sum = load_row::<V>(&right[k * row::<V>()..]);
        for column in k + 1..n {
            let (a, x) = (
                load_row::<V>(&line[column * row::<V>()..]),
                load_row::<V>(&right[column * row::<V>()..]),
            );
            for half in 0..2 {
                sum[half] = V::zero().sub(a[half]).mul_add(x[half], sum[half]);
            }
        }
        let pivot = load_row::<V>(&line[k * row::<V>()..]);
        store_row(
            [sum[0].div(pivot[0]), sum[1].div(pivot[1])],
            &mut right[k * row::<V>()..],
        );
    }
}

/// Brings, lane by lane, the largest number of column `k` from row `k` on to row `k`.
#[inline(always)]
fn exchange<V: Vector>(n: usize, k: usize, system: &mut [V::Scalar], right: &mut [V::Scalar]) {
    let lanes = row::<V>();
    // Where rows are in order as they stand, which a contraction's mostly are, one look along the lanes is enough.
    let (mut below, pivot) = ([V::zero(); 2], size(load_row::<V>(&system[k * (n + 1) * lanes..])));
    for line in k + 1..n {
        let sizes = size(load_row::<V>(&system[(line * n + k) * lanes..]));
        below = [below[0].max(sizes[0]), below[1].max(sizes[1])];
    }
    let (mut pivots, mut largest) = ([V::Scalar::ZERO; 64], [V::Scalar::ZERO; 64]);
    store_row(pivot, &mut pivots);
    store_row(below, &mut largest);
    if pivots[..lanes]
        .iter()
        .zip(&largest)
        .all(|(pivot, below)| pivot >= below)
    {
        return;
    }
    let mut best = [k; 64];
    let mut largest = [V::Scalar::ZERO; 64];
    for line in k..n {
        let values = &system[(line * n + k) * lanes..][..lanes];
        for lane in 0..lanes {
            let size = values[lane].abs();
            if size > largest[lane] {
                largest[lane] = size;
                best[lane] = line;
            }
        }
    }
    for (lane, &line) in best.iter().enumerate().take(lanes) {
        if line != k {
            for column in k..n {
                system.swap((k * n + column) * lanes + lane, (line * n + column) * lanes + lane);
            }
            right.swap(k * lanes + lane, line * lanes + lane);
        }
    }
}

/// `|x|`.
#[inline(always)]
fn size<V: Vector>(x: [V; 2]) -> [V; 2] {
    [x[0].max(V::zero().sub(x[0])), x[1].max(V::zero().sub(x[1]))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::portable::PortableF64;

    /// Every lane a system of its own, one of them singular: the others are solved.
    #[test]
    fn each_lane_is_solved_on_its_own() {
        let (n, lanes) = (5, row::<PortableF64>());
        // Scattered well enough that no matrix of them is near a singular one.
        let value = |index: usize| {
            let mixed = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        let matrix: Vec<f64> = (0..n * n * lanes).map(value).collect();
        let solution: Vec<f64> = (0..n * lanes).map(|index| value(index + 7)).collect();
        let mut system = matrix.clone();
        let mut right = vec![0.0; n * lanes];
        for lane in 0..lanes {
            for line in 0..n {
                right[line * lanes + lane] = (0..n)
                    .map(|column| matrix[(line * n + column) * lanes + lane] * solution[column * lanes + lane])
                    .sum();
            }
        }
        for entry in 0..n * n {
            system[entry * lanes + 1] = 1.0;
        }
        eliminate::<PortableF64>(n, &mut system, &mut right);
        for lane in (0..lanes).filter(|&lane| lane != 1) {
            for line in 0..n {
                let (found, expected) = (right[line * lanes + lane], solution[line * lanes + lane]);
                assert!((found - expected).abs() < 1e-9, "lane {lane}: {found} {expected}");
            }
        }
        assert!(!right[1].is_finite(), "the singular lane says so");
    }

    /// A zero on the diagonal needs an exchange of rows.
    #[test]
    fn rows_are_exchanged() {
        let lanes = row::<PortableF64>();
        let mut system = Vec::new();
        for entry in [0.0, 2.0, 3.0, 1.0] {
            system.extend(std::iter::repeat_n(entry, lanes));
        }
        let mut right = Vec::new();
        for entry in [4.0, 5.0] {
            right.extend(std::iter::repeat_n(entry, lanes));
        }
        eliminate::<PortableF64>(2, &mut system, &mut right);
        assert_eq!((right[0], right[lanes]), (1.0, 2.0));
    }
}
