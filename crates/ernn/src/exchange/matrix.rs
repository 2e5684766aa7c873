//! Matrices on their way between two programs: row-major and in `f64`, so that every `f32` comes through as it was.

use ernn_kernels::multiply_add;

/// A matrix `[rows, columns]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub rows: usize,
    pub columns: usize,
    /// Row-major.
    pub values: Vec<f64>,
}

impl Matrix {
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), rows * columns, "a matrix of {rows} x {columns} numbers");
        Matrix { rows, columns, values }
    }

    pub fn shape(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    pub fn transposed(&self) -> Self {
        let column = |column: usize| self.values.iter().skip(column).step_by(self.columns.max(1));
        let values = (0..self.columns).flat_map(column).copied().collect();
        Matrix::new(self.columns, self.rows, values)
    }

    fn view(&self) -> ernn_kernels::Matrix<'_, f64> {
        ernn_kernels::Matrix::new(&self.values, self.rows, self.columns)
    }

    /// `self * right`.
    pub fn times(&self, right: &Matrix) -> Self {
        let mut out = vec![0.0; self.rows * right.columns];
        multiply_add(1.0, self.view(), right.view(), &mut out);
        Matrix::new(self.rows, right.columns, out)
    }

    /// Matrices of equal width on top of each other; at least one.
    pub fn stacked(parts: &[Matrix]) -> Self {
        let rows = parts.iter().map(|part| part.rows).sum();
        let values = parts.iter().flat_map(|part| &part.values).copied().collect();
        Matrix::new(rows, parts[0].columns, values)
    }

    /// Cut into so many groups of rows: the inverse of [`Matrix::stacked`].
    pub fn groups(&self, count: usize) -> Vec<Self> {
        let rows = self.rows / count;
        let groups = self.values.chunks_exact(rows * self.columns);
        groups
            .map(|values| Matrix::new(rows, self.columns, values.to_vec()))
            .collect()
    }
}

/// A matrix of a cell, dense or as `[rows,r] [r,columns]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Factors {
    Full(Matrix),
    Low(Matrix, Matrix),
}

impl Factors {
    pub fn columns(&self) -> usize {
        match self {
            Factors::Full(matrix) | Factors::Low(_, matrix) => matrix.columns,
        }
    }

    /// The matrix itself.
    pub fn product(&self) -> Matrix {
        match self {
            Factors::Full(matrix) => matrix.clone(),
            Factors::Low(left, right) => left.times(right),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products_stacks_and_transposes() {
        let a = Matrix::new(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let transposed = Matrix::new(3, 2, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(a.transposed(), transposed);
        assert_eq!(a.times(&transposed).values, [14.0, 32.0, 32.0, 77.0]);
        let stack = Matrix::stacked(&[a.clone(), a.clone()]);
        assert_eq!((stack.shape(), stack.groups(2)), ([4, 3], vec![a.clone(), a]));
    }
}
