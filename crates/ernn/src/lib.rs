//! `ernn`: small recurrent networks on long sequences.
//!
//! The modules stand in the order in which data walks through them; a room uses only rooms before it.

pub mod error;

pub mod data;

pub mod batch;

pub mod cell;

pub mod head;

pub mod model;

pub mod optim;

pub mod checkpoint;

pub mod evaluate;

pub mod train;

pub use ernn_kernels::{Isa, Panels, Real};
pub use error::{Error, Result};
