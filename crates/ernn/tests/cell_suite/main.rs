//! One suite over all cells and settings, through the whole model.
//!
//! [`choices`] picks settings so that every value meets every value of every other setting, for each cell: ranks, an ERNN's
//! iterations, start, sign, kind of step sizes and projection, a GRU's reset, activations, lengths, layers, directions, pooling,
//! class weights, both dropouts; [`table`] makes cases of them. The parts of the suite prove, each over the whole table:
//!
//! - [`plain`]: logits and loss are those of a loop written from the formulas of the cells' files ([`formulas`]), nothing folded;
//! - [`gradients`]: the gradient of every parameter is that of finite differences;
//! - [`folding`]: `unfold` alone is the vjp of `fold`;
//! - [`bits`]: batch, order, padding, threads, used memory and the single-sequence runner change no bit;
//! - [`settings`]: what is out of range gives an error that names it;
//! - [`initial`]: initial values follow the seed and the docs;
//! - [`onnx`]: as an ONNX file it gives the same logits.

mod bits;
mod choices;
mod folding;
mod formulas;
mod gradients;
mod initial;
#[path = "../support/layer_dropout.rs"]
mod layer_dropout;
mod onnx;
#[path = "../support/onnx_runtime.rs"]
mod onnx_runtime;
mod plain;
mod settings;
mod table;

/// Asserts that two numbers differ by at most `tolerance`; a NaN fails.
#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64, what: impl Fn() -> String) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{}: found {found:e}, expected {expected:e}, tolerance {tolerance:.1e}",
        what()
    );
}
