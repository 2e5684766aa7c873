//! Matrix x vector for one sequence: the registers hold units, and a sum runs over the columns in the block kernel's order.

use crate::Real;
use crate::simd::Vector;

/// Registers of sums that are kept at once.
const GROUP: usize = 8;

/// The next multiple of a register.
pub(crate) fn padded(count: usize, lanes: usize) -> usize {
    count.next_multiple_of(lanes)
}

/// `[groups * rows, columns]` turned to `[columns][groups][rows padded]`, so that each group starts at a register.
pub(crate) fn transpose<F: Real>(matrix: &[F], [groups, rows, columns]: [usize; 3], lanes: usize) -> Vec<F> {
    let width = padded(rows, lanes);
    let mut out = vec![F::ZERO; columns * groups * width];
    for group in 0..groups {
        for row in 0..rows {
            for column in 0..columns {
                out[(column * groups + group) * width + row] = matrix[(group * rows + row) * columns + column];
            }
        }
    }
    out
}

/// `sums += sum_c column[c] * source[c]`, the sum of a unit in the order of the columns.
#[inline(always)]
pub(crate) fn columns<V: Vector>(weights: &[V::Scalar], source: &[V::Scalar], sums: &mut [V::Scalar]) {
    let width = sums.len();
    let mut start = 0;
    while start < width {
        match (width - start) / V::LANES {
            1 => group::<V, 1>(weights, source, sums, &mut start),
            2 => group::<V, 2>(weights, source, sums, &mut start),
            3 => group::<V, 3>(weights, source, sums, &mut start),
            4 | 9 => group::<V, 4>(weights, source, sums, &mut start),
            5 | 10 => group::<V, 5>(weights, source, sums, &mut start),
            6 | 11 => group::<V, 6>(weights, source, sums, &mut start),
            7 => group::<V, 7>(weights, source, sums, &mut start),
            _ => group::<V, GROUP>(weights, source, sums, &mut start),
        }
    }
}

#[inline(always)]
fn group<V: Vector, const G: usize>(
    weights: &[V::Scalar],
    source: &[V::Scalar],
    sums: &mut [V::Scalar],
    start: &mut usize,
) {
    let width = sums.len();
    let target = &mut sums[*start..*start + G * V::LANES];
    let mut registers = [V::zero(); G];
    for (register, values) in registers.iter_mut().zip(target.chunks_exact(V::LANES)) {
        *register = V::load(values);
    }
    for (column, &value) in weights.chunks_exact(width).zip(source) {
        let column = &column[*start..*start + G * V::LANES];
        let value = V::splat(value);
        for (g, register) in registers.iter_mut().enumerate() {
            *register = V::load(&column[g * V::LANES..]).mul_add(value, *register);
        }
    }
    for (register, values) in registers.iter().zip(target.chunks_exact_mut(V::LANES)) {
        register.store(values);
    }
    *start += G * V::LANES;
}
