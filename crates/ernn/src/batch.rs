//! Batches: which sequences go together, and their values in panels.

use ernn_kernels::Panels;

/// Sequences side by side, padded, with their classes.
#[derive(Clone, Debug)]
pub struct Batch<F: ernn_kernels::Real> {
    /// The values, `[block][time][feature][lane]`, padding zero.
    pub inputs: Panels<F>,
    /// The class of each sequence; empty for unlabelled data.
    pub targets: Vec<u32>,
    /// Which sequence of the part each one is.
    pub indices: Vec<usize>,
}
