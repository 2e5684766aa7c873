//! Products of small matrices, for folding: a safe door to the crate `matrixmultiply`, one thread, always the same order.

use crate::Real;

/// A row-major matrix, read as it is or transposed.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, F> {
    values: &'a [F],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, F> Matrix<'a, F> {
    /// The matrix `[rows, columns]`.
    ///
    /// # Panics
    /// If the slice does not hold `rows * columns` numbers.
    pub fn new(values: &'a [F], rows: usize, columns: usize) -> Self {
        assert_eq!(values.len(), rows * columns, "a matrix of {rows} x {columns} numbers");
        Matrix {
            values,
            rows,
            columns,
            row_stride: columns,
            column_stride: 1,
        }
    }

    /// Its transpose; nothing is copied.
    pub fn transposed(self) -> Self {
        Matrix {
            values: self.values,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }
}

/// `out += scale * left * right`, `out` `[left.rows, right.columns]` row-major.
///
/// # Panics
/// If the sizes do not fit.
pub fn multiply_add<F: Real>(scale: F, left: Matrix<F>, right: Matrix<F>, out: &mut [F]) {
    assert_eq!(left.columns, right.rows, "inner sizes of a product");
    assert_eq!(out.len(), left.rows * right.columns, "size of a product");
    F::multiply_add(scale, left, right, out);
}

/// The product of one number type; called through [`multiply_add`] alone, which checks the sizes.
pub trait Multiply: Sized {
    #[doc(hidden)]
    fn multiply_add(scale: Self, left: Matrix<Self>, right: Matrix<Self>, out: &mut [Self]);
}

macro_rules! multiply {
    ($scalar:ident, $function:ident) => {
        impl Multiply for $scalar {
            fn multiply_add(scale: Self, left: Matrix<Self>, right: Matrix<Self>, out: &mut [Self]) {
                assert_eq!(out.len(), left.rows * right.columns);
                // SAFETY: a `Matrix` holds rows * columns numbers at its strides, and `out` was just seen to hold the
                // product; it is borrowed mutably, so it overlaps neither operand.
                unsafe {
                    matrixmultiply::$function(
                        left.rows,
                        left.columns,
                        right.columns,
                        scale,
                        left.values.as_ptr(),
                        left.row_stride as isize,
                        left.column_stride as isize,
                        right.values.as_ptr(),
                        right.row_stride as isize,
                        right.column_stride as isize,
                        1.0,
                        out.as_mut_ptr(),
                        right.columns as isize,
                        1,
                    );
                }
            }
        }
    };
}

multiply!(f32, sgemm);
multiply!(f64, dgemm);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplies_transposed_and_plain() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut out = [1.0; 4];
        multiply_add(2.0, Matrix::new(&a, 2, 3), Matrix::new(&a, 2, 3).transposed(), &mut out);
        assert_eq!(out, [29.0, 65.0, 65.0, 155.0]);
    }

    #[test]
    #[should_panic(expected = "inner sizes")]
    fn refuses_sizes_that_do_not_fit() {
        let a = [1.0; 6];
        multiply_add(1.0, Matrix::new(&a, 2, 3), Matrix::new(&a, 2, 3), &mut [0.0; 6]);
    }
}
