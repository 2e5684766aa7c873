//! Trained recurrent networks on devices: one step of every cell, without an operating system, an allocator or a dependency.
//!
//! A model is an *image*: bytes that `ernn export` has made, laid out in [`image`]. They stay where they are, in flash or in a
//! file, and weights are read in place. What changes from step to step is a stream's state, numbers in a slice of the caller's;
//! [`Sizes::of`] says at compile time how many. Several streams need a state each, and share model and scratch.
//!
//! ```
//! use ernn_core::{Sizes, float::{Model, Session}};
//!
//! # fn run(image: &[u8], input: &[f32]) -> Result<(), Box<dyn std::error::Error>> {
//! // In firmware: static IMAGE: &[u8] = include_bytes!("model.ernn"); const SIZES: Sizes = Sizes::of(IMAGE);
//! let sizes = Sizes::of(image);
//! let model = Model::parse(image)?;
//! # let (mut values, mut scratch, mut logits) = (vec![0.0; sizes.state], vec![0.0; sizes.scratch], vec![0.0; sizes.outputs]);
//! // let mut values = [0.0; SIZES.state]; let mut scratch = [0.0; SIZES.scratch]; let mut logits = [0.0; SIZES.outputs];
//! let mut session = Session::new(&model, &mut values)?;
//! session.push(&mut scratch, input)?;
//! let class = session.class(&mut scratch, &mut logits)?;
//! # let _ = class; Ok(()) }
//! ```
//!
//! There is no way from a model that was parsed to a panic: no index, no unwrapping, no overflow that is not asked for. The lints
//! below hold that.

#![no_std]
#![deny(unsafe_code)]
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::integer_division
)]

mod error;
pub mod float;
pub mod image;
pub mod inputs;
pub mod int;
mod layer;
pub mod listen;
pub mod math;
mod pick;
mod pooling;
pub mod sound;

pub use error::{ParseError, RunError};
pub use image::{Format, Sizes};
pub use layer::{Activation, Kind};
pub use pick::largest;
pub use pooling::smallest_variance;
