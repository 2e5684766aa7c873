//! Named spans of the model's one flat parameter vector.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// One named tensor inside the flat parameter vector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Name, e.g. `layers.0.V` or `readout.weight`.
    pub name: String,
    /// Row-major shape.
    pub shape: Vec<usize>,
    /// First index in the flat vector.
    pub start: usize,
    /// Whether weight decay applies (matrices yes; biases, step sizes and gates' scalars no).
    pub decay: bool,
    /// Multiplies the learning rate (of step sizes: `eta_learning_rate`).
    pub learning_rate_scale: f64,
}

impl Span {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Holds no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The indices of this tensor in the flat vector.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.len()
    }
}
