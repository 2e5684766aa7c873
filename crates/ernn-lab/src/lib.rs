//! The laboratory: everything that trains or reads many models to learn something about them. The library `ernn` trains one.
//!
//! The modules are in the order in which they build on each other; a room uses only rooms before it.

pub mod compare;

pub mod auto;

pub mod reproduce;

pub mod report;

pub mod analyze;

pub mod show;
