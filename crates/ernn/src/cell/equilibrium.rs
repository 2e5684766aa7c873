//! A folded cell whose state is the equilibrium itself.

use ernn_kernels::Isa;
use ernn_kernels::Real;
use ernn_kernels::equilibrium::{Equilibrium, Outcome, SequenceRunner};

use super::{FoldedLeaky, FoldedRecurrent, SolverSettings};

/// `gamma z_t = phi(R z_t + W x_t + b)`, `h_t = z_t - s h_{t-1}`; see [`ernn_kernels::equilibrium`] for the letters.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedEquilibrium<F> {
    /// `d`.
    pub inputs: usize,
    /// `D`.
    pub hidden: usize,
    /// `W`, `[D,d]`.
    pub input_weight: Vec<F>,
    /// `b`, `[D]`.
    pub bias: Vec<F>,
    /// `R`.
    pub recurrent: FoldedRecurrent<F>,
    /// `phi`.
    pub activation: ernn_kernels::Activation,
    /// `gamma`.
    pub gamma: F,
    /// `s`.
    pub previous_scale: F,
    /// How `z` is found.
    pub solver: SolverSettings,
}

impl<F: Real> FoldedEquilibrium<F> {
    /// The view that the kernels take.
    pub fn view(&self) -> Equilibrium<'_, F> {
        Equilibrium {
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: &self.input_weight,
            bias: &self.bias,
            recurrent: self.recurrent.view(),
            activation: self.activation,
            gamma: self.gamma,
            previous_scale: self.previous_scale,
            solver: self.solver.for_kernels(),
        }
    }

    /// The equilibria of inputs `[n,d]`: `z` `[n,D]`, and how each was found.
    pub fn solve(&self, inputs: &[F]) -> (Vec<F>, Vec<Outcome>) {
        let (mut z, mut outcomes) = (Vec::new(), Vec::new());
        SequenceRunner::new(Isa::best(), &self.view()).solve(inputs, &mut z, &mut outcomes);
        (z, outcomes)
    }
}

impl<F: Real> FoldedLeaky<F> {
    /// The cell whose state is the equilibrium that these Euler steps lead towards: the same matrices, no step sizes.
    ///
    /// For an ERNN, whose steps are `a = 1 - gamma e`.
    pub fn at_equilibrium(&self, gamma: f64, solver: SolverSettings) -> FoldedEquilibrium<F> {
        FoldedEquilibrium {
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: self.input_weight.clone(),
            bias: self.bias.clone(),
            recurrent: self.recurrent.clone(),
            activation: self.activation,
            gamma: F::from_f64(gamma),
            previous_scale: self.previous_scale,
            solver,
        }
    }
}

impl<F: Real> FoldedRecurrent<F> {
    /// `R` multiplied out, `[D,D]`.
    pub fn to_dense(&self, hidden: usize) -> Vec<F> {
        match self {
            FoldedRecurrent::Dense(weight) => weight.clone(),
            FoldedRecurrent::LowRank {
                rank,
                identity,
                left,
                right,
            } => {
                let (left, right) = (
                    ernn_kernels::Matrix::new(left, hidden, *rank),
                    ernn_kernels::Matrix::new(right, *rank, hidden),
                );
                let mut dense = super::pieces::product(left, right, hidden * hidden);
                (0..hidden).for_each(|unit| dense[unit * (hidden + 1)] += *identity);
                dense
            }
        }
    }
}
