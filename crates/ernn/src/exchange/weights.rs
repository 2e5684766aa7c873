//! The tensors of a model on their way out.

use super::matrix::{Factors, Matrix};
use crate::model::{Model, Quantize};

/// What is said where a model rounds its weights and a file has no place for that.
const NOT_ROUNDED: &str =
    "the model rounds its matrices to int8 before it uses them; the file holds them as they are before";

/// Tensors of a model by the names of their spans.
pub(super) struct Weights<'a>(pub &'a Model<f32>);

impl Weights<'_> {
    /// What a file of these tensors does not say.
    pub fn notes(&self) -> Vec<String> {
        let rounded = self.0.config().quantize == Quantize::Int8;
        rounded.then(|| NOT_ROUNDED.to_string()).into_iter().collect()
    }

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
