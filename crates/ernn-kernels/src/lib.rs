//! Whole-sequence forward and backward passes of recurrent cells.
//!
//! The only crate of the workspace with `unsafe` code: explicit SIMD behind safe slices.

mod isa;
mod panels;
mod real;

pub use isa::Isa;
pub use panels::Panels;
pub use real::Real;
