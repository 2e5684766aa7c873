//! Weights packed for the product kernel: tiles of a few rows, each tile column by column, in the order of consumption.

use crate::Real;

/// Rows in a tile at most: 6 rows x 2 registers of sums fill 12 of 16 registers.
pub(crate) const TILE_ROWS: usize = 6;

/// A matrix `[rows, columns]` in tiles.
#[derive(Clone, Debug, Default)]
pub struct Packed<F> {
    rows: usize,
    columns: usize,
    values: Vec<F>,
}

impl<F: Real> Packed<F> {
    /// Packs the matrix with these elements.
    pub(crate) fn pack(&mut self, rows: usize, columns: usize, element: impl Fn(usize, usize) -> F) {
        self.rows = rows;
        self.columns = columns;
        self.values.clear();
        self.values.reserve(rows * columns);
        for (first, count) in tiles(rows) {
            for column in 0..columns {
                self.values
                    .extend((first..first + count).map(|row| element(row, column)));
            }
        }
    }

    /// Rows of the matrix.
    #[inline(always)]
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the matrix.
    #[inline(always)]
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The packed values of the tile that starts at this row.
    #[inline(always)]
    pub(crate) fn tile(&self, first: usize, count: usize) -> &[F] {
        &self.values[first * self.columns..(first + count) * self.columns]
    }
}

/// Cuts rows into tiles of nearly equal size: `(first row, rows)`.
#[inline(always)]
pub(crate) fn tiles(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    cut_evenly(rows, TILE_ROWS)
}

/// Cuts rows into tiles of nearly equal size, at most `most` rows each.
#[inline(always)]
pub(crate) fn cut_evenly(rows: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = rows.div_ceil(most);
    let (size, larger) = (rows / count.max(1), rows % count.max(1));
    (0..count).map(move |tile| {
        let first = tile * size + tile.min(larger);
        (first, size + usize::from(tile < larger))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_all_rows_once() {
        for rows in 0..200 {
            let mut next = 0;
            for (first, count) in tiles(rows) {
                assert_eq!(first, next);
                assert!((1..=TILE_ROWS).contains(&count));
                next += count;
            }
            assert_eq!(next, rows);
        }
    }
}
