//! Whole-sequence forward and backward passes of recurrent cells.
//!
//! The only crate of the workspace with `unsafe` code: explicit SIMD behind safe slices.

mod aligned;
mod blocks;
mod columns;
mod compiled;
pub mod deep;
mod dispatch;
pub mod equilibrium;
pub mod gated;
mod isa;
mod lanes;
pub mod leaky;
mod math;
mod matrix;
mod outer;
mod pack;
mod panels;
mod pooled;
mod product;
mod real;
mod rows;
mod simd;
mod softmax;
mod threads;
mod turned;

pub use blocks::{Recurrence, StateGradient, Trace, backward, forward, infer, run_into};
pub use isa::{Isa, IsaError};
pub use math::Activation;
pub use matrix::{Matrix, multiply_add};
pub use panels::Panels;
pub use real::Real;
pub use rows::{StatesOut, StepRows};
pub use softmax::{RowLoss, Softmax, SoftmaxGradient, SoftmaxWorkspace};
pub use threads::alone;
