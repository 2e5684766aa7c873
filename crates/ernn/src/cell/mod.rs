//! Cells: one file per recurrent cell, with its formula, its parameters, its folding and the folding's vjp.

mod span;

pub use span::Span;
