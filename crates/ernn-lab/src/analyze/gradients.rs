//! How far a gradient reaches: `G_k = d s_T / d s_k` against the distance `T - k`, for any cell (the paper's figure of gradients).
//!
//! ```text
//! G_T = I,   G_{k-1} = G_k J_k,   J_k = d s_k / d s_{k-1}
//! ```
//!
//! `s` is the whole state: `h`, of the LSTM `(h, c)`; `S` numbers. `J_k` is never formed: the kernel's own backward pass takes the `S` rows
//! of `G_k` as gradients at the last state of `S` copies of one step, and gives the rows of `G_{k-1}`. So what is measured is what training
//! would send back. Norms are Frobenius norms over `sqrt(S)`: 1 for the identity. All in `f64`.

use ernn_kernels::{Isa, Panels, StateGradient, Trace};
use rayon::prelude::*;
use serde::Serialize;

use super::matrix;
use super::sample::Layer;
use super::statistics::{Range, length, middle};
use ernn::cell::{Folded, FoldedGradient, Piece};

/// Steps that gradients are followed back at most.
const FARTHEST: usize = 1000;

/// Distances at which singular values are computed, about.
const DETAILS: usize = 24;

/// The gradients of a layer's states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gradients {
    /// `S`, numbers in the state.
    pub state: usize,
    /// At distances 1, 2, ..: norms.
    pub norms: Vec<Norms>,
    /// At some distances: singular values.
    pub singular_values: Vec<SingularValues>,
}

/// Norms at a distance, over the sequences that are long enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Norms {
    /// `T - k`.
    pub distance: usize,
    /// How many sequences.
    pub sequences: usize,
    /// Of `G_k`.
    pub norm: Range,
    /// Of `G_k - I`: 0 where the gradient passes unchanged.
    pub from_identity: Range,
    /// Of `G_k - (-1)^{T-k} I`, the paper's theorem for states at equilibrium.
    pub from_alternating: Range,
}

/// Singular values of `G_k` at a distance, over the sequences that are long enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SingularValues {
    /// `T - k`.
    pub distance: usize,
    /// How many sequences.
    pub sequences: usize,
    /// The largest.
    pub largest: Range,
    /// The middle one.
    pub median: Range,
    /// The smallest.
    pub smallest: Range,
}

/// What one sequence gives at one distance.
struct Found {
    /// Norms of `G`, `G - I`, `G - (+-1) I`.
    norms: [f64; 3],
    /// Largest, middle, smallest.
    singular: Option<[f64; 3]>,
}

/// Measures a layer.
pub(super) fn measure(layer: &Layer) -> Gradients {
    let lengths = layer.inputs.iter().map(|inputs| inputs.len() / layer.width);
    let details = details(lengths.max().unwrap_or(0).min(FARTHEST));
    let of_sequence = |inputs: &Vec<f64>| follow(&layer.cell, inputs, layer.width, &details);
    let found: Vec<Vec<Found>> = layer.inputs.par_iter().map(of_sequence).collect();
    let longest = found.iter().map(Vec::len).max().unwrap_or(0);
    let at = |index: usize| found.iter().filter_map(move |sequence| sequence.get(index));
    let norms = (0..longest).filter_map(|index| {
        let range = |which: usize| Range::of(at(index).map(|found| found.norms[which]));
        Some(Norms {
            distance: index + 1,
            sequences: at(index).count(),
            norm: range(0)?,
            from_identity: range(1)?,
            from_alternating: range(2)?,
        })
    });
    let singular_values = details.iter().filter_map(|&distance| {
        let values = || at(distance - 1).filter_map(|found| found.singular);
        let range = |which: usize| Range::of(values().map(|values| values[which]));
        Some(SingularValues {
            distance,
            sequences: values().count(),
            largest: range(0)?,
            median: range(1)?,
            smallest: range(2)?,
        })
    });
    Gradients {
        state: layer.cell.state_len(),
        norms: norms.collect(),
        singular_values: singular_values.collect(),
    }
}

/// 1 to `farthest`, ever further apart.
fn details(farthest: usize) -> Vec<usize> {
    let places = (0..=DETAILS).map(|index| (farthest as f64).powf(index as f64 / DETAILS as f64).round() as usize);
    let mut distances: Vec<usize> = places.filter(|distance| (1..=farthest).contains(distance)).collect();
    distances.dedup();
    distances
}

/// Follows the gradient of a sequence's last state back to its beginning, or as far as it goes.
fn follow(cell: &Folded<f64>, inputs: &[f64], width: usize, details: &[usize]) -> Vec<Found> {
    let states = states(cell, inputs, width);
    let size = cell.state_len();
    let mut back = Back::new(cell, width);
    // Brought back near 1 from time to time, so that products of a thousand steps neither overflow nor vanish.
    let (mut gradient, mut scale) = (identity(size), 1.0);
    let steps = states.len().min(FARTHEST);
    let mut found = Vec::with_capacity(steps);
    for distance in 1..=steps {
        let step = states.len() - distance;
        back.step(&inputs[step * width..][..width], step, &states[step], &mut gradient);
        let norm = length(&gradient);
        if norm > 0.0 && norm.is_finite() && !(1e-60..=1e60).contains(&norm) {
            gradient.iter_mut().for_each(|value| *value /= norm);
            scale *= norm;
        }
        let singular = || {
            let values = matrix::singular_values(&gradient, size, size)?;
            let (largest, smallest) = (*values.first()?, *values.last()?);
            let ascending: Vec<f64> = values.iter().rev().copied().collect();
            Some([largest, middle(&ascending), smallest].map(|value| scale * value))
        };
        found.push(Found {
            norms: [0.0, 1.0, if distance % 2 == 0 { 1.0 } else { -1.0 }]
                .map(|sign| distance_from(sign, &gradient, scale, size)),
            singular: if details.contains(&distance) { singular() } else { None },
        });
    }
    found
}

/// `|scale G - sign I| / sqrt(S)`.
fn distance_from(sign: f64, gradient: &[f64], scale: f64, size: usize) -> f64 {
    let expected = |index: usize| if index.is_multiple_of(size + 1) { sign } else { 0.0 };
    let entries = gradient.iter().enumerate();
    let largest = entries
        .clone()
        .map(|(index, value)| (scale * value - expected(index)).abs())
        .fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_finite() {
        return if gradient.iter().any(|value| value.is_nan()) {
            f64::NAN
        } else {
            largest
        };
    }
    // Squares of very large and very small numbers are none.
    let sum: f64 = entries
        .map(|(index, value)| ((scale * value - expected(index)) / largest).powi(2))
        .sum();
    largest * (sum / size as f64).sqrt()
}

fn identity(size: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; size * size];
    matrix.iter_mut().step_by(size + 1).for_each(|value| *value = 1.0);
    matrix
}

/// The whole state before each step.
fn states(cell: &Folded<f64>, inputs: &[f64], width: usize) -> Vec<Vec<f64>> {
    let mut runner = cell.runner(Isa::best());
    let (mut state, mut out) = (vec![0.0; cell.state_len()], Vec::new());
    let step = |(step, input): (usize, &[f64])| {
        let before = state.clone();
        runner.run(input, step, &mut state, &mut out);
        before
    };
    inputs.chunks_exact(width).enumerate().map(step).collect()
}

/// One step back: `S` copies of a step, each with one row of `G`.
struct Back<'a> {
    cell: &'a Folded<f64>,
    copies: Panels<f64>,
    trace: Trace<f64>,
    unused: FoldedGradient<f64>,
}

impl<'a> Back<'a> {
    fn new(cell: &'a Folded<f64>, width: usize) -> Self {
        Back {
            cell,
            copies: Panels::new(Isa::best(), width, &vec![1; cell.state_len()]),
            trace: Trace::default(),
            unused: FoldedGradient::default(),
        }
    }

    /// `G_k` becomes `G_{k-1}`; `state` is `s_{k-1}`.
    fn step(&mut self, input: &[f64], step: usize, state: &[f64], gradient: &mut Vec<f64>) {
        let (size, hidden) = (self.cell.state_len(), self.cell.hidden());
        (0..size).for_each(|copy| self.copies.set_step(copy, 0, input));
        let initial = state.repeat(size);
        let piece = Piece {
            input: &self.copies,
            initial: Some(&initial),
            first_step: step,
        };
        self.cell.forward(piece, &mut self.trace);
        let columns = |from: usize, to: usize| -> Vec<f64> {
            gradient
                .chunks_exact(size)
                .flat_map(|row| &row[from..to])
                .copied()
                .collect()
        };
        let (at_hidden, at_memory) = (columns(0, hidden), columns(hidden, size));
        let states = StateGradient {
            last: Some(&at_hidden),
            last_memory: (size > hidden).then_some(&at_memory[..]),
            ..StateGradient::default()
        };
        self.cell
            .backward(piece, &mut self.trace, states, &mut self.unused, None, Some(gradient));
    }
}

#[cfg(test)]
#[path = "gradients_tests.rs"]
mod tests;
