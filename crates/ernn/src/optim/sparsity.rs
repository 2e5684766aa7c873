//! Hard thresholding: of each matrix only the entries of largest magnitude stay.
//!
//! ```text
//! k    = ceil((1 - X) n), at least 1
//! H(w) = w on the support of w, 0 elsewhere            support: the k entries of largest |w|, the lower index among equals
//! ```
//!
//! w: the entries of one matrix [n], X: its sparsity, the share of zeros. A support [length] has one flag for each parameter of
//! the model: whether it may be other than 0. Source: Kusupati et al., FastGRNN, NeurIPS 2018, section 3.3. EdgeML's trainer calls
//! 1 - X sparsity (`sW`, `sU`) and takes the threshold from a percentile: it keeps as many or one fewer, and all equals at the threshold.

use std::cmp::Ordering;

use ernn_kernels::Real;

use crate::cell::Span;

/// How much of `n` a rounding error of `1 - X` may be: of 10 entries at X = 0.7, 3.0000000000000004 stay, which is 3.
const ROUNDING: f64 = 1e-12;

/// How many of `entries` stay.
pub fn entries_kept(entries: usize, sparsity: f64) -> usize {
    let all = entries as f64;
    let kept = ((1.0 - sparsity) * all - ROUNDING * all).ceil() as usize;
    kept.clamp(entries.min(1), entries)
}

/// The support that is left when these tensors are thresholded; the other parameters belong to it.
pub fn support<'a, F: Real>(
    parameters: &[F],
    thresholded: impl IntoIterator<Item = &'a Span>,
    sparsity: f64,
) -> Vec<bool> {
    let mut support = vec![true; parameters.len()];
    for span in thresholded {
        let largest = largest(&parameters[span.range()], entries_kept(span.len(), sparsity));
        let flags = &mut support[span.range()];
        flags.fill(false);
        largest.into_iter().for_each(|index| flags[index] = true);
    }
    support
}

/// Sets everything outside the support to 0.
///
/// # Panics
/// If values and support differ in length.
pub fn restrict<F: Real>(values: &mut [F], support: &[bool]) {
    assert_eq!(values.len(), support.len(), "the support of another model");
    for (value, &stays) in values.iter_mut().zip(support) {
        if !stays {
            *value = F::ZERO;
        }
    }
}

/// How many values are other than 0.
pub fn nonzero<F: Real>(values: &[F]) -> usize {
    values.iter().filter(|&&value| value != F::ZERO).count()
}

/// The indices of the `count` values of largest magnitude, in no order.
fn largest<F: Real>(values: &[F], count: usize) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..values.len()).collect();
    if count < indices.len() {
        // A total order: which entries stay does not depend on how the selection goes about it.
        let larger_first = |&a: &usize, &b: &usize| larger(values[a], values[b]).then(a.cmp(&b));
        indices.select_nth_unstable_by(count, larger_first);
        indices.truncate(count);
    }
    indices
}

/// Larger magnitudes come first, NaN last.
fn larger<F: Real>(a: F, b: F) -> Ordering {
    let magnitude = |value: F| match value.to_f64().abs() {
        magnitude if magnitude.is_nan() => -1.0,
        magnitude => magnitude,
    };
    magnitude(b).total_cmp(&magnitude(a))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matrix(start: usize, entries: usize) -> Span {
        Span {
            name: format!("layers.0.{start}"),
            shape: vec![entries],
            start,
            decay: true,
            learning_rate_scale: 1.0,
        }
    }

    fn thresholded(values: &[f32], sparsity: f64) -> Vec<f32> {
        let mut values = values.to_vec();
        let support = support(&values, &[matrix(0, values.len())], sparsity);
        restrict(&mut values, &support);
        values
    }

    #[test]
    fn the_largest_magnitudes_stay() {
        assert_eq!(
            thresholded(&[0.5, -3.0, 0.0, 2.0, -1.0], 0.6),
            [0.0, -3.0, 0.0, 2.0, 0.0]
        );
        assert_eq!(thresholded(&[1.0, -2.0], 0.0), [1.0, -2.0]);
    }

    #[test]
    fn among_equals_the_lower_index_stays() {
        assert_eq!(
            thresholded(&[1.0, -1.0, 1.0, 2.0, -1.0], 0.4),
            [1.0, -1.0, 0.0, 2.0, 0.0]
        );
    }

    #[test]
    fn what_is_not_a_number_goes_first() {
        let found = thresholded(&[f32::NAN, 0.0, 0.1, f32::NEG_INFINITY], 0.25);
        assert_eq!(found, [0.0, 0.0, 0.1, f32::NEG_INFINITY]);
        assert!(thresholded(&[f32::NAN], 0.9)[0].is_nan(), "one entry stays");
    }

    #[test]
    fn no_matrix_becomes_empty_and_decimal_shares_are_meant_as_written() {
        assert_eq!([0, 1, 7].map(|entries| entries_kept(entries, 0.999)), [0, 1, 1]);
        for (entries, sparsity, kept) in [
            (10, 0.7, 3),
            (100, 0.29, 71),
            (10, 0.9, 1),
            (1000, 0.9, 100),
            (3, 0.5, 2),
            (4_000_000, 0.7, 1_200_000),
            (10, 0.0, 10),
            (10, 1e-9, 10),
        ] {
            assert_eq!(entries_kept(entries, sparsity), kept, "{entries} at {sparsity}");
        }
    }

    #[test]
    fn each_matrix_keeps_its_share_and_the_rest_is_left_alone() {
        let mut values = [1.0, 2.0, 100.0, 200.0, 0.001, 0.0, 5.0];
        let support = support(&values, &[matrix(0, 2), matrix(2, 2)], 0.5);
        assert_eq!(support, [false, true, false, true, true, true, true]);
        restrict(&mut values, &support);
        assert_eq!(values, [0.0, 2.0, 0.0, 200.0, 0.001, 0.0, 5.0]);
        assert_eq!(nonzero(&values), 4);
    }

    proptest! {
        #[test]
        fn exactly_the_share_stays_as_it_was(
            // Few magnitudes, so that many are equal.
            values in prop::collection::vec(prop_oneof![-3i8..=3, any::<i8>()], 1..200),
            (part, whole) in (1usize..50).prop_flat_map(|whole| (0..whole, Just(whole))),
        ) {
            let values: Vec<f32> = values.into_iter().map(|value| f32::from(value) / 7.0).collect();
            let support = support(&values, &[matrix(0, values.len())], part as f64 / whole as f64);
            let kept = support.iter().filter(|&&stays| stays).count();
            prop_assert_eq!(kept, (values.len() * (whole - part)).div_ceil(whole));

            let mut after = values.clone();
            restrict(&mut after, &support);
            let (mut stayed, mut gone) = (Vec::new(), Vec::new());
            for (index, (&before, &after)) in values.iter().zip(&after).enumerate() {
                if support[index] {
                    prop_assert_eq!(before.to_bits(), after.to_bits());
                    stayed.push((index, before.abs()));
                } else {
                    prop_assert_eq!(after.to_bits(), 0.0f32.to_bits());
                    gone.push((index, before.abs()));
                }
            }
            for &(kept, large) in &stayed {
                for &(lost, small) in &gone {
                    prop_assert!(large > small || (large == small && kept < lost));
                }
            }
        }
    }
}
