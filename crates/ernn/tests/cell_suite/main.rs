//! One suite over all cells and settings, through the whole model.
//!
//! [`table`] makes cases in which every value of every setting meets every value of every other, for each cell: cell, rank,
//! iterations, start, sign, kind of step sizes, projection, activation, lengths, layers, pooling, class weights, dropout. The
//! parts of the suite prove, each over the whole table:
//!
//! - [`plain`]: logits and loss are those of a loop written from the formulas of the cells' files, nothing folded;
//! - [`gradients`]: the gradient of every parameter is that of finite differences;
//! - [`folding`]: `unfold` alone is the vjp of `fold`;
//! - [`bits`]: batch, order, padding, threads, used memory and the single-sequence runner change no bit;
//! - [`settings`]: what is out of range gives an error that names it;
//! - [`initial`]: initial values follow the seed and the docs.

mod bits;
mod folding;
mod gradients;
mod initial;
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
