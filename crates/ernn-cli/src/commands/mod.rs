//! One file a subcommand: its arguments and what it does with them.

pub mod data;
pub mod evaluate;
pub mod inspect;
pub mod predict;
pub mod train;
mod train_flags;
