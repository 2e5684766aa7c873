//! Numbers about many numbers.

use serde::Serialize;

/// The lowest, the middle and the highest of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// The lowest.
    pub low: f64,
    /// The middle one; of an even count, the mean of the two in the middle.
    pub median: f64,
    /// The highest.
    pub high: f64,
}

impl Range {
    /// None of no values. What is not a number counts as higher than all others.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values
            .into_iter()
            .map(|value| if value.is_nan() { f64::NAN } else { value })
            .collect();
        values.sort_by(f64::total_cmp);
        let (first, last) = (*values.first()?, *values.last()?);
        Some(Range {
            low: first,
            median: middle(&values),
            high: last,
        })
    }
}

/// The middle of sorted values, of which there is at least one.
pub(super) fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        0.5 * (sorted[half - 1] + sorted[half])
    } else {
        sorted[half]
    }
}

/// Euclidean length.
pub(super) fn length(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// `part / whole`; 0 of nothing.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_sorts_its_values() {
        let range = |low, median, high| Some(Range { low, median, high });
        assert_eq!(Range::of([3.0, 1.0, 2.0]), range(1.0, 2.0, 3.0));
        assert_eq!(Range::of([4.0, 1.0]), range(1.0, 2.5, 4.0));
        assert_eq!(Range::of([]), None);
        let found = Range::of([f64::NAN, -f64::NAN, 1.0]).unwrap();
        assert!(found.low == 1.0 && found.high.is_nan(), "{found:?}");
    }
}
