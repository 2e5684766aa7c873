//! Several values of one number: their mean and how they spread.

use serde::{Deserialize, Serialize};

/// A number over several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation; none for a single value.
    pub deviation: Option<f64>,
    /// Lowest.
    pub lowest: f64,
    /// Highest.
    pub highest: f64,
}

impl Spread {
    /// None of no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mean = mean(values)?;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Spread {
            mean,
            deviation: (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt()),
            lowest: values.iter().copied().fold(f64::INFINITY, f64::min),
            highest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// None of no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_that_of_a_sample() {
        let spread = Spread::of(&[0.9, 0.8, 1.0]).unwrap();
        assert!((spread.mean - 0.9).abs() < 1e-12);
        assert!((spread.deviation.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!((spread.lowest, spread.highest), (0.8, 1.0));
        assert_eq!(Spread::of(&[0.5]).unwrap().deviation, None);
        assert_eq!(Spread::of(&[]), None);
    }
}
