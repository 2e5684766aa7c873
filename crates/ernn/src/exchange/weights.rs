//! The tensors of a model on their way out.

use super::matrix::{Factors, Matrix};
use crate::model::Model;

/// Tensors of a model by the names of their spans.
pub(super) struct Weights<'a>(pub &'a Model<f32>);

impl Weights<'_> {
    /// A tensor; a vector is one row.
    fn find(&self, name: &str) -> Option<Matrix> {
        let span = self.0.spans().iter().find(|span| span.name == name)?;
        let values = self.0.parameters()[span.range()].iter().map(|&value| f64::from(value));
        let columns = span.shape.last().copied().unwrap_or(1);
        Some(Matrix::new(span.len() / columns, columns, values.collect()))
    }

    /// A tensor that every model of this kind has.
    pub fn matrix(&self, name: &str) -> Matrix {
        self.find(name).unwrap_or_else(|| panic!("a model without {name}"))
    }

    /// The same as plain numbers.
    pub fn values(&self, name: &str) -> Vec<f64> {
        self.matrix(name).values
    }

    /// The matrix `letter`, or its factors `letter1` and `letter2`.
    pub fn factors(&self, prefix: &str, letter: &str) -> Factors {
        let name = format!("{prefix}{letter}");
        match self.find(&name) {
            Some(matrix) => Factors::Full(matrix),
            None => Factors::Low(self.matrix(&format!("{name}1")), self.matrix(&format!("{name}2"))),
        }
    }
}
