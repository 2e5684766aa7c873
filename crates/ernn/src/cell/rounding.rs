//! Weights as a device of whole numbers has them: each row of a folded matrix in 127ths of its largest entry.
//!
//! ```text
//! w_ij -> s_i round(w_ij / s_i)        s_i = max_j |w_ij| / 127
//! ```
//!
//! Used while a network is trained for such a device. The gradient goes through the rounding as if it were not there (straight through;
//! Bengio, Leonard, Courville, arXiv 1308.3432): it is formed at the rounded weights and changes those behind them.

use ernn_kernels::Real;

use super::{Folded, FoldedRecurrent};

/// The largest whole weight.
const LARGEST: f64 = 127.0;

impl<F: Real> Folded<F> {
    /// Rounds all matrices; biases, step sizes and scalars stay, and so does a cell at its equilibrium, which no device of whole numbers
    /// runs.
    pub(crate) fn round_weights(&mut self) {
        match self {
            Folded::Leaky(cell) => {
                round_rows(&mut cell.input_weight, cell.inputs);
                round_recurrent(&mut cell.recurrent, cell.hidden);
            }
            Folded::Gated(cell) => {
                round_rows(&mut cell.input_weight, cell.inputs);
                round_recurrent(&mut cell.recurrent, cell.hidden);
            }
            Folded::Deep(cell) => {
                round_rows(&mut cell.input_weight, cell.inputs);
                let mut columns = cell.hidden;
                for layer in &mut cell.layers {
                    round_rows(&mut layer.weight, columns);
                    columns = layer.width;
                }
            }
            Folded::Equilibrium(_) => {}
        }
    }
}

fn round_recurrent<F: Real>(recurrent: &mut FoldedRecurrent<F>, hidden: usize) {
    match recurrent {
        FoldedRecurrent::Dense(weight) => round_rows(weight, hidden),
        FoldedRecurrent::LowRank { rank, left, right, .. } => {
            round_rows(left, *rank);
            round_rows(right, hidden);
        }
    }
}

fn round_rows<F: Real>(weights: &mut [F], columns: usize) {
    for row in weights.chunks_exact_mut(columns) {
        let largest = row
            .iter()
            .fold(0.0, |largest: f64, value| largest.max(value.to_f64().abs()));
        if largest > 0.0 {
            let step = largest / LARGEST;
            row.iter_mut()
                .for_each(|value| *value = F::from_f64((value.to_f64() / step).round() * step));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_255_values_and_keeps_its_zeros() {
        let mut weights = vec![0.5_f64, -1.27, 0.0, 0.004, 0.0, 0.0, 0.0, 0.0];
        round_rows(&mut weights, 4);
        for (found, expected) in weights.iter().zip([0.5, -1.27, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{weights:?}");
        }
    }
}
