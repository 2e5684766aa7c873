//! A look at the numbers of a step, from which the ranges of whole numbers are chosen.

/// What is told of each step; a device is told nothing, and nothing of it is compiled.
pub trait Watch {
    /// The normalized values of the step.
    fn input(&mut self, _values: &[f32]) {}
    /// What follows is of this layer.
    fn layer(&mut self, _index: usize) {}
    /// Inner states `z`, or `r * h`.
    fn inner(&mut self, _values: &[f32]) {}
    /// Codes `B z`.
    fn codes(&mut self, _values: &[f32]) {}
    /// A value of `phi`.
    fn phi(&mut self, _value: f32) {}
    /// `h`, and the memory behind it, after the step.
    fn state(&mut self, _values: &[f32]) {}
}

impl Watch for () {}
