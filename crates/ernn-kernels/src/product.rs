//! Matrix x panel: `out[row] = init[row] + sum_c weight[row, c] * source[c]` for all lanes of a block at once.
//!
//! A weight is one broadcast, used for two registers of lanes; a tile of rows keeps its sums in registers. The sum of a lane
//! runs over the columns in order, so a sequence gets the same bits in every lane, block and batch.

use crate::Real;
use crate::pack::{Packed, tiles};
use crate::simd::{Vector, load_row, row, store_row};

/// What the sums start from.
#[derive(Clone, Copy)]
pub(crate) enum Init<'a, F> {
    /// 0.
    Zero,
    /// One number a row.
    Bias(&'a [F]),
    /// One panel row a row.
    Panel(&'a [F]),
}

/// What happens to a finished row of sums while it is still in registers.
pub(crate) trait Epilogue<V: Vector> {
    /// Takes row `index` of the product.
    fn finish(&mut self, index: usize, sum: [V; 2]);
}

/// One product: `init + weights * [first; second]`, the columns of the matrix running over the rows of both panels.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a, F> {
    /// The matrix.
    pub(crate) weights: &'a Packed<F>,
    /// Source of the first columns.
    pub(crate) first: &'a [F],
    /// Source of the other columns; may be empty.
    pub(crate) second: &'a [F],
    /// What the sums start from.
    pub(crate) init: Init<'a, F>,
}

impl<'a, F> Product<'a, F> {
    /// `weights * source`.
    #[inline(always)]
    pub(crate) fn plain(weights: &'a Packed<F>, source: &'a [F]) -> Self {
        Product {
            weights,
            first: source,
            second: &[],
            init: Init::Zero,
        }
    }
}

/// Computes the product; inlined into the function that [`crate::compiled::Compiled::product`] enters.
#[inline(always)]
pub(crate) fn product<V: Vector, E: Epilogue<V>>(of: Product<V::Scalar>, epilogue: &mut E) {
    let Product {
        weights,
        first,
        second,
        init,
    } = of;
    for (start, count) in tiles(weights.rows()) {
        let values = weights.tile(start, count);
        match count {
            1 => tile::<V, E, 1>(values, first, second, init, start, epilogue),
            2 => tile::<V, E, 2>(values, first, second, init, start, epilogue),
            3 => tile::<V, E, 3>(values, first, second, init, start, epilogue),
            4 => tile::<V, E, 4>(values, first, second, init, start, epilogue),
            5 => tile::<V, E, 5>(values, first, second, init, start, epilogue),
            _ => tile::<V, E, 6>(values, first, second, init, start, epilogue),
        }
    }
}

#[inline(always)]
fn tile<V: Vector, E: Epilogue<V>, const M: usize>(
    weights: &[V::Scalar],
    first: &[V::Scalar],
    second: &[V::Scalar],
    init: Init<V::Scalar>,
    start: usize,
    epilogue: &mut E,
) {
    let mut sums = [[V::zero(); 2]; M];
    match init {
        Init::Zero => {}
        Init::Bias(bias) => {
            for (sum, &value) in sums.iter_mut().zip(&bias[start..start + M]) {
                *sum = [V::splat(value); 2];
            }
        }
        Init::Panel(panel) => {
            let rows = &panel[start * row::<V>()..(start + M) * row::<V>()];
            for (sum, values) in sums.iter_mut().zip(rows.chunks_exact(row::<V>())) {
                *sum = load_row(values);
            }
        }
    }
    let (first_weights, second_weights) = weights.split_at(first.len() / row::<V>() * M);
    accumulate::<V, M>(&mut sums, first_weights, first);
    accumulate::<V, M>(&mut sums, second_weights, second);
    for (offset, sum) in sums.into_iter().enumerate() {
        epilogue.finish(start + offset, sum);
    }
}

#[inline(always)]
fn accumulate<V: Vector, const M: usize>(sums: &mut [[V; 2]; M], weights: &[V::Scalar], source: &[V::Scalar]) {
    for (column, lanes) in weights.chunks_exact(M).zip(source.chunks_exact(row::<V>())) {
        let [low, high] = load_row::<V>(lanes);
        for m in 0..M {
            let weight = V::splat(column[m]);
            sums[m][0] = weight.mul_add(low, sums[m][0]);
            sums[m][1] = weight.mul_add(high, sums[m][1]);
        }
    }
}

/// Multiplies by a number and stores.
pub(crate) struct Store<'a, V: Vector> {
    /// Where the panel rows go.
    pub(crate) out: &'a mut [V::Scalar],
    /// The number.
    pub(crate) scale: V,
}

impl<'a, V: Vector> Store<'a, V> {
    /// Stores the product as it is.
    #[inline(always)]
    pub(crate) fn plain(out: &'a mut [V::Scalar]) -> Self {
        Store {
            out,
            scale: V::splat(V::Scalar::ONE),
        }
    }
}

impl<V: Vector> Epilogue<V> for Store<'_, V> {
    #[inline(always)]
    fn finish(&mut self, index: usize, sum: [V; 2]) {
        let out = &mut self.out[index * row::<V>()..(index + 1) * row::<V>()];
        store_row([sum[0].mul(self.scale), sum[1].mul(self.scale)], out);
    }
}
