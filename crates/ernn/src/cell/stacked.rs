//! The two matrices that most cells have, each dense or of low rank, with the rows of several gates stacked.
//!
//! ```text
//! W [groups D, d]   or  W1 [groups D, r_w]  W2 [r_w, d]
//! U [groups D, D]   or  U1 [groups D, r]    U2 [r, D]       one U2 for all gates, as in EdgeML's low-rank cells
//! ```
//!
//! A low-rank `W` is folded into its product: inputs are narrow, and the kernels need no second path for it. Groups may stand in
//! another order in the kernel than in the tensors, which keep the order of torch.

use ernn_kernels::gated::Gates;
use ernn_kernels::{Matrix, Real, multiply_add};
use rand::Rng;

use super::pieces::{add, cut, cut_mut, fill_uniform, product};
use super::settings::check_hidden;
use super::{Activation, FoldedGated, FoldedRecurrent, GateActivation, Rank, Tensor};
use crate::Result;

/// Sizes of the two matrices, and the order of the groups in the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stacked {
    /// `d`.
    pub(crate) inputs: usize,
    /// `D`.
    pub(crate) hidden: usize,
    /// Rank of `W`.
    pub(crate) input_rank: Rank,
    /// Rank of `U`.
    pub(crate) rank: Rank,
    /// Which group of `W` is the kernel's first one, and so on.
    pub(crate) input_order: &'static [usize],
    /// The same for `U`.
    pub(crate) state_order: &'static [usize],
}

impl Stacked {
    /// Checks sizes and ranks.
    pub(crate) fn check(hidden: usize, input_rank: Rank, rank: Rank) -> Result<()> {
        check_hidden(hidden)?;
        input_rank.check_as("input_rank", hidden)?;
        rank.check(hidden)
    }

    fn input_rows(&self) -> usize {
        self.input_order.len() * self.hidden
    }

    fn state_rows(&self) -> usize {
        self.state_order.len() * self.hidden
    }

    /// Lengths of `W1, W2, U1, U2`; dense matrices stand in the place of the first factor.
    fn lengths(&self) -> [usize; 4] {
        let [w1, w2] = self.input_rank.lengths(self.input_rows(), self.inputs);
        let [u1, u2] = self.rank.lengths(self.state_rows(), self.hidden);
        [w1, w2, u1, u2]
    }

    /// The tensors.
    pub(crate) fn tensors(&self) -> Vec<Tensor> {
        let input = self
            .input_rank
            .tensors(self.input_rows(), self.inputs, "W", ["W1", "W2"]);
        let state = self.rank.tensors(self.state_rows(), self.hidden, "U", ["U1", "U2"]);
        input.into_iter().chain(state).collect()
    }

    /// Numbers in the tensors; a cell's other parameters stand behind them.
    pub(crate) fn len(&self) -> usize {
        self.lengths().iter().sum()
    }

    /// Uniform in +-1/sqrt(D), as torch's; factors so that the entries of their product are about as large. Gives what stands behind
    /// the matrices.
    pub(crate) fn initialize<'a, F: Real>(&self, rng: &mut impl Rng, parameters: &'a mut [F]) -> &'a mut [F] {
        let (matrices, rest) = parameters.split_at_mut(self.len());
        let [w1, w2, u1, u2] = cut_mut(matrices, self.lengths());
        for (rank, first, second) in [(self.input_rank, w1, w2), (self.rank, u1, u2)] {
            let bound = match rank {
                Rank::Full => 1.0 / (self.hidden as f64).sqrt(),
                Rank::Low(rank) => ((rank * self.hidden) as f64).powf(-0.25),
            };
            fill_uniform(rng, bound, first);
            fill_uniform(rng, bound, second);
        }
        rest
    }

    /// A gated cell with these matrices, which lead `parameters`; `bias` in the kernel's order.
    pub(crate) fn fold_gated<F: Real>(
        &self,
        gates: Gates,
        activations: (GateActivation, Activation),
        parameters: &[F],
        bias: Vec<F>,
    ) -> FoldedGated<F> {
        FoldedGated {
            gates,
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: self.fold_input(parameters),
            bias,
            recurrent: self.fold_recurrent(parameters),
            gate: activations.0.into(),
            activation: activations.1.into(),
            scalars: [F::ZERO; 2],
        }
    }

    /// `W`, dense, in the kernel's order.
    pub(crate) fn fold_input<F: Real>(&self, parameters: &[F]) -> Vec<F> {
        let [w1, w2, ..] = cut(parameters, self.lengths());
        let dense = match self.input_rank {
            Rank::Full => w1.to_vec(),
            Rank::Low(rank) => product(
                Matrix::new(w1, self.input_rows(), rank),
                Matrix::new(w2, rank, self.inputs),
                self.input_rows() * self.inputs,
            ),
        };
        reorder(&dense, self.input_order)
    }

    /// `R`, in the kernel's order.
    pub(crate) fn fold_recurrent<F: Real>(&self, parameters: &[F]) -> FoldedRecurrent<F> {
        let [.., u1, u2] = cut(parameters, self.lengths());
        let left = reorder(u1, self.state_order);
        match self.rank {
            Rank::Full => FoldedRecurrent::Dense(left),
            Rank::Low(rank) => FoldedRecurrent::LowRank {
                rank,
                identity: F::ZERO,
                left,
                right: u2.to_vec(),
            },
        }
    }

    /// Adds the gradients of the tensors, given those of the folded `W` and of `R` (or its factors). Gives what stands behind them.
    pub(crate) fn unfold<'a, F: Real>(
        &self,
        parameters: &[F],
        [input, left, right]: [&[F]; 3],
        gradient: &'a mut [F],
    ) -> &'a mut [F] {
        let [w1, w2, ..] = cut(parameters, self.lengths());
        let (matrices, rest) = gradient.split_at_mut(self.len());
        let [dw1, dw2, du1, du2] = cut_mut(matrices, self.lengths());
        let input = reorder_back(input, self.input_order);
        match self.input_rank {
            Rank::Full => add(dw1, &input),
            Rank::Low(rank) => {
                let outer = Matrix::new(&input, self.input_rows(), self.inputs);
                multiply_add(F::ONE, outer, Matrix::new(w2, rank, self.inputs).transposed(), dw1);
                let first = Matrix::new(w1, self.input_rows(), rank);
                multiply_add(F::ONE, first.transposed(), outer, dw2);
            }
        }
        add(du1, &reorder_back(left, self.state_order));
        add(du2, right);
        rest
    }
}

/// Groups of equal length in another order: the first one of the result is group `order[0]`.
pub(crate) fn reorder<F: Real>(values: &[F], order: &[usize]) -> Vec<F> {
    let len = values.len() / order.len();
    order
        .iter()
        .flat_map(|&group| &values[group * len..(group + 1) * len])
        .copied()
        .collect()
}

/// The inverse of [`reorder`].
pub(crate) fn reorder_back<F: Real>(values: &[F], order: &[usize]) -> Vec<F> {
    let len = values.len() / order.len();
    let mut out = vec![F::ZERO; values.len()];
    for (chunk, &group) in values.chunks_exact(len.max(1)).zip(order) {
        out[group * len..(group + 1) * len].copy_from_slice(chunk);
    }
    out
}
