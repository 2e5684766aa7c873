//! Singular values, eigenvalues and norms of small dense matrices, row-major: a door to the crate `nalgebra`.

use nalgebra::{DMatrix, SVD, Schur};

/// Rounds of an iteration before it is given up.
const ROUNDS: usize = 10_000;

/// What counts as 0 beside the diagonal, from strict to mild.
const TOLERANCES: [f64; 4] = [f64::EPSILON, 1e-14, 1e-12, 1e-10];

/// The singular values of `[rows, columns]`, from the largest down; none if the entries are not finite, or nothing was found.
pub(super) fn singular_values(values: &[f64], rows: usize, columns: usize) -> Option<Vec<f64>> {
    let matrix = finite(values, rows, columns)?;
    let found = SVD::try_new_unordered(matrix, false, false, f64::EPSILON, ROUNDS)?;
    let mut singular: Vec<f64> = found.singular_values.iter().copied().collect();
    singular.sort_by(|a, b| b.total_cmp(a));
    Some(singular)
}

/// The eigenvalues of `[size, size]` as (real, imaginary) parts, in no order; none as for [`singular_values`].
pub(super) fn eigenvalues(values: &[f64], size: usize) -> Option<Vec<(f64, f64)>> {
    if size == 0 {
        return Some(Vec::new());
    }
    let matrix = finite(values, size, size)?;
    // Where eigenvalues occur several times, rounding keeps entries below the diagonal that never vanish beside it.
    let schur = TOLERANCES
        .iter()
        .find_map(|&tolerance| Schur::try_new(matrix.clone(), tolerance, ROUNDS))?;
    Some(
        schur
            .complex_eigenvalues()
            .iter()
            .map(|value| (value.re, value.im))
            .collect(),
    )
}

/// The spectral norm of `[size, size]`: the largest singular value, by the eigenvalues of `M^T M`.
pub(super) fn norm(values: &[f64], size: usize) -> Option<f64> {
    let matrix = finite(values, size, size)?;
    let squares = matrix.tr_mul(&matrix).symmetric_eigenvalues();
    Some(squares.max().max(0.0).sqrt())
}

fn finite(values: &[f64], rows: usize, columns: usize) -> Option<DMatrix<f64>> {
    let all = values.iter().all(|value| value.is_finite());
    all.then(|| DMatrix::from_row_slice(rows, columns, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn eigenvalues_of_hand_made_matrices() {
        // (l - 1)(l - 4) - 2 (-1) = l^2 - 5 l + 6: 2 and 3.
        let mut found = eigenvalues(&[1.0, 2.0, -1.0, 4.0], 2).unwrap();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        near(&found.iter().map(|value| value.0).collect::<Vec<_>>(), &[2.0, 3.0]);
        // A turn by a right angle, twice as long: 2 i and -2 i.
        let mut found = eigenvalues(&[0.0, -2.0, 2.0, 0.0], 2).unwrap();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        near(
            &[found[0].0, found[0].1, found[1].0, found[1].1],
            &[0.0, -2.0, 0.0, 2.0],
        );
        assert_eq!(eigenvalues(&[], 0), Some(Vec::new()));
    }

    #[test]
    fn singular_values_of_hand_made_matrices() {
        // Rows of lengths 5 and 2 that stand upright on each other.
        near(&singular_values(&[3.0, 4.0, -1.6, 1.2], 2, 2).unwrap(), &[5.0, 2.0]);
        near(
            &singular_values(&[0.0, 0.0, 3.0, 0.0, 0.0, 0.0], 2, 3).unwrap(),
            &[3.0, 0.0],
        );
        near(&[norm(&[3.0, 4.0, -1.6, 1.2], 2).unwrap()], &[5.0]);
    }

    #[test]
    fn entries_that_are_no_numbers_have_no_values() {
        let broken = [1.0, f64::NAN, 0.0, 1.0];
        assert!(
            singular_values(&broken, 2, 2).is_none() && eigenvalues(&broken, 2).is_none() && norm(&broken, 2).is_none()
        );
        assert!(norm(&[f64::INFINITY; 4], 2).is_none());
    }
}
