//! ERNN, the equilibriated recurrent network.
//!
//! ```text
//! z = h^(i) + h_{k-1}     h^(i+1) = h^(i) + eta[k,i] (phi(P (U z + W x_k + b)) - gamma z)     i = 0..K-1,  h_k = h^(K)
//! P = U = I + V H         h^(0) = h_{k-1} (start `previous`) or 0 (start `zero`);  sign `minus`: z = h^(i) - h_{k-1}
//! ```
//!
//! Source: Kag, Zhang, Saligrama, arXiv 1908.08574, section 3; the start from `h_{k-1}` is that of the authors' code.
//! Shapes: W [D,d], b [D], V [D,r], H [r,D] (or U [D,D]), eta [T,K] (or [1,K]): learned per time step and iteration.
//!
//! Folding, with `z` as the state of the inner loop: `a = 1 - gamma eta`, `e = eta`, `R = P U`, input weights `P W` and `P b`,
//! and `z^0 = c0 h_{k-1}`, `h_k = z^K - s h_{k-1}`, where `s` is +-1 by the sign and `c0` is `s`, plus 1 for start `previous`.
//! For `U = I + V H`: `P U = I + A H` with `A = V (2 I + H V)`: still of rank r.
//!
//! With a solver other than `euler` there are no step sizes: `h_k` is the equilibrium itself ([`ernn_kernels::equilibrium`]). With
//! `contract` below 1, `P U` is scaled so that its norm is at most this share of `gamma` ([`super::contraction`]): then there is exactly
//! one equilibrium, and every iteration converges to it.

use ernn_kernels::leaky::LeakyGradient;
use ernn_kernels::{Matrix, Real, multiply_add};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::contraction::Bound;
use super::pieces::{add, cut, cut_mut, fill_normal, product};
use super::settings::{check_eta, check_hidden, check_not_negative, check_positive};
use super::{
    Activation, Cell, EquilibriumGradient, Folded, FoldedGradient, FoldedLeaky, FoldedRecurrent, Rank, Solver,
    SolverSettings, Tensor,
};
use crate::{Error, Result};

/// Longest table of step sizes: far beyond any training sequence, and no product of sizes overflows.
pub(super) const MAX_STEPS: usize = 16_777_216;

/// Where the inner iteration starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// `h_{k-1}`, as the authors' code.
    Previous,
    /// 0, as the paper's method section reads.
    Zero,
}

/// The sign before `h_{k-1}` inside the inner iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    /// `z = h + h_{k-1}`.
    Plus,
    /// `z = h - h_{k-1}`.
    Minus,
}

impl Start {
    /// `c0` and `s` of the folded recurrence: it runs in z, with z^0 = `c0` h_{k-1} and h_k = z^K - `s` h_{k-1}.
    pub(super) fn scales<F: Real>(self, sign: Sign) -> (F, F) {
        let sign = match sign {
            Sign::Plus => F::ONE,
            Sign::Minus => -F::ONE,
        };
        match self {
            Start::Previous => (F::ONE + sign, sign),
            Start::Zero => (sign, sign),
        }
    }
}

/// How many step sizes are learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepSizes {
    /// One for each time step and iteration; beyond the training length the last one is used.
    PerStep,
    /// One for each iteration.
    PerIteration,
}

/// The outer matrix `P`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Projection {
    /// `P = U`, shared.
    Shared,
    /// `P = I`.
    Identity,
}

/// Settings of an ERNN; the defaults are those of the authors' code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ErnnConfig {
    /// `D`.
    pub hidden: usize,
    /// Rank of `U - I`, or a dense `U`.
    pub rank: Rank,
    /// `K`.
    pub iterations: usize,
    /// `phi`.
    pub activation: Activation,
    /// Where the inner iteration starts.
    pub start: Start,
    /// Sign before `h_{k-1}`.
    pub sign: Sign,
    /// Step sizes per step or per iteration.
    pub steps: StepSizes,
    /// Initial step size.
    pub eta: f64,
    /// The learning rate of the step sizes, as a factor to that of the matrices.
    pub eta_learning_rate: f64,
    /// `gamma`, not learned.
    pub gamma: f64,
    /// `P`.
    pub projection: Projection,
    /// `T`: time steps with a step size of their own; those of the longest sequence of training and validation part, or of the window of a text.
    pub max_steps: usize,
    /// Standard deviation of the initial matrices.
    pub deviation: f64,
    /// How the state is found.
    pub solver: Solver,
    /// How the gradient goes through an equilibrium.
    pub gradient: EquilibriumGradient,
    /// An equilibrium has been found when `max |phi(..) - gamma z|` is at most `tolerance + relative_tolerance * max |gamma z|`.
    pub tolerance: f64,
    /// See `tolerance`.
    pub relative_tolerance: f64,
    /// Iterations of a step at most, on the way to an equilibrium.
    pub max_iterations: usize,
    /// The norm of `P U` is at most this share of `gamma`; 0: not bounded.
    pub contract: f64,
}

impl Default for ErnnConfig {
    fn default() -> Self {
        let solver = SolverSettings::default();
        ErnnConfig {
            hidden: 64,
            rank: Rank::Low(8),
            iterations: 1,
            activation: Activation::Relu,
            start: Start::Previous,
            sign: Sign::Plus,
            steps: StepSizes::PerStep,
            eta: 0.01,
            eta_learning_rate: 1.0,
            gamma: 1.0,
            projection: Projection::Shared,
            max_steps: 1,
            deviation: 0.1,
            solver: Solver::Euler,
            gradient: solver.gradient,
            tolerance: solver.tolerance,
            relative_tolerance: solver.relative_tolerance,
            max_iterations: solver.max_iterations,
            contract: 0.0,
        }
    }
}

impl ErnnConfig {
    /// The settings of the solver, where the state is an equilibrium.
    pub fn solver_settings(&self) -> Option<SolverSettings> {
        (self.solver != Solver::Euler).then_some(SolverSettings {
            solver: self.solver,
            gradient: self.gradient,
            tolerance: self.tolerance,
            relative_tolerance: self.relative_tolerance,
            max_iterations: self.max_iterations,
        })
    }

    /// What a person should know who takes this cell at its equilibrium; empty for Euler steps.
    pub fn notes(&self) -> Vec<&'static str> {
        let mut notes = Vec::new();
        if self.solver == Solver::Euler {
            return notes;
        }
        notes.push(match self.sign {
            Sign::Plus => {
                "at the equilibrium each input adds its own term and turns the sign of all before it: inputs at places of equal parity \
                 can change places without a trace, and the state grows without bound where inputs alternate (--sign minus: without \
                 turning; --solver euler: neither)"
            }
            Sign::Minus => {
                "at the equilibrium each input just adds its own term to the state: the order of the inputs does not matter, and the \
                 state grows with their number (--solver euler: neither)"
            }
        });
        if self.contract == 0.0 {
            notes.push(
                "nothing bounds the norm of P U: steps may have no equilibrium at all, which is counted and reported (--contract 0.9 \
                 makes one exist at every step)",
            );
        }
        notes
    }

    /// Whether a step size is learned for each time step.
    pub fn learns_step_sizes_per_step(&self) -> bool {
        self.solver == Solver::Euler && self.steps == StepSizes::PerStep
    }

    /// Whether fixed-point iterations are unrolled: then they run in the leaky family, with `a = 0`, `e = 1 / gamma`, from 0.
    fn unrolls(&self) -> bool {
        self.solver == Solver::FixedPoint && self.gradient == EquilibriumGradient::Unrolled
    }

    /// Whether the kernels of the equilibrium family run.
    fn solves(&self) -> bool {
        self.solver != Solver::Euler && !self.unrolls()
    }

    /// Rows and columns of the table of step sizes.
    fn step_sizes(&self) -> [usize; 2] {
        match (self.solver, self.steps) {
            (Solver::Euler, StepSizes::PerStep) => [self.max_steps, self.iterations],
            (Solver::Euler, StepSizes::PerIteration) => [1, self.iterations],
            _ => [0, 0],
        }
    }

    /// Lengths of W, b, the recurrent tensors (the second empty for a dense U) and eta.
    fn lengths(&self, inputs: usize) -> [usize; 5] {
        let [first, second] = self.rank.lengths(self.hidden, self.hidden);
        [
            self.hidden * inputs,
            self.hidden,
            first,
            second,
            self.step_sizes().iter().product(),
        ]
    }

    fn check_solver(&self) -> Result<()> {
        if self.solver != Solver::Euler {
            check_positive("gamma", self.gamma)?;
        }
        check_not_negative("tolerance", self.tolerance)?;
        check_not_negative("relative_tolerance", self.relative_tolerance)?;
        if !(1..=1000).contains(&self.max_iterations) {
            let expected = "a number from 1 to 1000";
            return Err(Error::setting("max_iterations", self.max_iterations, expected));
        }
        if !(0.0..1.0).contains(&self.contract) {
            let expected = "0 (off), or a number above 0 and below 1";
            return Err(Error::setting("contract", self.contract, expected));
        }
        let unrolled = self.gradient == EquilibriumGradient::Unrolled;
        if unrolled && !matches!(self.solver, Solver::Euler | Solver::FixedPoint) {
            let expected =
                "implicit or one-step for this solver; unrolled goes with fixed-point (and euler is always unrolled)";
            return Err(Error::setting("gradient", "unrolled", expected));
        }
        Ok(())
    }

    /// `R` scaled to a contraction, if wanted. The leaky kernels know no gradient of the factor before the identity, so there it is
    /// multiplied out.
    fn contracted<F: Real>(&self, recurrent: FoldedRecurrent<F>) -> FoldedRecurrent<F> {
        if self.contract == 0.0 {
            return recurrent;
        }
        let mut dense = recurrent.to_dense(self.hidden);
        let factor = F::from_f64(Bound::of(&dense, self.hidden).factor(self.contract * self.gamma));
        match recurrent {
            FoldedRecurrent::LowRank {
                rank,
                identity,
                mut left,
                right,
            } if self.solves() => {
                left.iter_mut().for_each(|value| *value *= factor);
                FoldedRecurrent::LowRank {
                    rank,
                    identity: identity * factor,
                    left,
                    right,
                }
            }
            _ => {
                dense.iter_mut().for_each(|value| *value *= factor);
                FoldedRecurrent::Dense(dense)
            }
        }
    }

    /// The vjp of [`ErnnConfig::contracted`]: with `R' = f(R) R`, `dL/dR = f dL/dR' + <dL/dR', R> df/dR`, given and taken in the form that
    /// `R` has.
    fn uncontracted<F: Real>(&self, inputs: usize, parameters: &[F], folded: &LeakyGradient<F>) -> LeakyGradient<F> {
        let (hidden, limit) = (self.hidden, self.contract * self.gamma);
        let (.., recurrent) = self.fold_matrices(inputs, parameters);
        let dense = recurrent.to_dense(hidden);
        let bound = Bound::of(&dense, hidden);
        let factor = F::from_f64(bound.factor(limit));
        let inner = |left: &[F], right: &[F]| -> f64 {
            left.iter()
                .zip(right)
                .map(|(left, right)| left.to_f64() * right.to_f64())
                .sum()
        };
        let mut out = folded.clone();
        match recurrent {
            FoldedRecurrent::Dense(_) => {
                let through = bound.through_factor(limit, inner(&folded.left, &dense));
                out.left.iter_mut().for_each(|value| *value *= factor);
                add(&mut out.left, &through);
            }
            FoldedRecurrent::LowRank { rank, left, right, .. } => {
                let (a, b) = (Matrix::new(&left, hidden, rank), Matrix::new(&right, rank, hidden));
                let whole = !self.solves();
                let along = if whole {
                    inner(&folded.left, &dense)
                } else {
                    inner(&folded.left, &left) + folded.identity.iter().map(|value| value.to_f64()).sum::<f64>()
                };
                let mut at_matrix: Vec<F> = bound.through_factor(limit, along);
                if whole {
                    // The gradient at the dense R' joins that at R.
                    at_matrix
                        .iter_mut()
                        .zip(&folded.left)
                        .for_each(|(sum, &value)| *sum += factor * value);
                    (out.left, out.right) = (vec![F::ZERO; left.len()], vec![F::ZERO; right.len()]);
                } else {
                    out.left.iter_mut().for_each(|value| *value *= factor);
                }
                let at_matrix = Matrix::new(&at_matrix, hidden, hidden);
                multiply_add(F::ONE, at_matrix, b.transposed(), &mut out.left);
                multiply_add(F::ONE, a.transposed(), at_matrix, &mut out.right);
            }
        }
        out
    }

    /// `P [W | b]` and `R`.
    fn fold_matrices<F: Real>(&self, inputs: usize, parameters: &[F]) -> (Vec<F>, Vec<F>, FoldedRecurrent<F>) {
        let hidden = self.hidden;
        let [w, b, u, h, _] = cut(parameters, self.lengths(inputs));
        let (w_view, b_view) = (Matrix::new(w, hidden, inputs), Matrix::new(b, hidden, 1));
        let shared = self.projection == Projection::Shared;
        match self.rank {
            Rank::Full => {
                let u_view = Matrix::new(u, hidden, hidden);
                if shared {
                    let (weight, bias) = (product(u_view, w_view, w.len()), product(u_view, b_view, b.len()));
                    (weight, bias, FoldedRecurrent::Dense(product(u_view, u_view, u.len())))
                } else {
                    (w.to_vec(), b.to_vec(), FoldedRecurrent::Dense(u.to_vec()))
                }
            }
            Rank::Low(rank) => {
                let (v_view, h_view) = (Matrix::new(u, hidden, rank), Matrix::new(h, rank, hidden));
                let (mut weight, mut bias, mut left) = (w.to_vec(), b.to_vec(), u.to_vec());
                if shared {
                    let hw = product(h_view, w_view, rank * inputs);
                    multiply_add(F::ONE, v_view, Matrix::new(&hw, rank, inputs), &mut weight);
                    let hb = product(h_view, b_view, rank);
                    multiply_add(F::ONE, v_view, Matrix::new(&hb, rank, 1), &mut bias);
                    let inner = self.inner(u, h, rank);
                    left = product(v_view, Matrix::new(&inner, rank, rank), u.len());
                }
                (
                    weight,
                    bias,
                    FoldedRecurrent::LowRank {
                        rank,
                        identity: F::ONE,
                        left,
                        right: h.to_vec(),
                    },
                )
            }
        }
    }

    /// `2 I + H V`.
    fn inner<F: Real>(&self, v: &[F], h: &[F], rank: usize) -> Vec<F> {
        let mut inner = product(
            Matrix::new(h, rank, self.hidden),
            Matrix::new(v, self.hidden, rank),
            rank * rank,
        );
        for index in 0..rank {
            inner[index * rank + index] += F::ONE + F::ONE;
        }
        inner
    }

    /// The vjp of the low-rank folding with `P = U`.
    fn unfold_low_rank<F: Real>(
        &self,
        inputs: usize,
        rank: usize,
        parameters: &[F],
        folded: &LeakyGradient<F>,
        gradient: &mut [F],
    ) {
        let hidden = self.hidden;
        let [w, b, v, h, _] = cut(parameters, self.lengths(inputs));
        let [dw, db, dv, dh, _] = cut_mut(gradient, self.lengths(inputs));
        let (v_view, h_view) = (Matrix::new(v, hidden, rank), Matrix::new(h, rank, hidden));
        // A = V (2 I + H V), B = H.
        let inner = self.inner(v, h, rank);
        let left = Matrix::new(&folded.left, hidden, rank);
        multiply_add(F::ONE, left, Matrix::new(&inner, rank, rank).transposed(), dv);
        let inner_gradient = product(v_view.transposed(), left, rank * rank);
        let inner_gradient = Matrix::new(&inner_gradient, rank, rank);
        multiply_add(F::ONE, inner_gradient, v_view.transposed(), dh);
        multiply_add(F::ONE, h_view.transposed(), inner_gradient, dv);
        add(dh, &folded.right);
        // P X = X + V (H X), for X = W and X = b.
        for (x, x_gradient, out, columns) in [
            (w, &mut *dw, &folded.input_weight, inputs),
            (b, &mut *db, &folded.bias, 1),
        ] {
            let (x, out_view) = (Matrix::new(x, hidden, columns), Matrix::new(out, hidden, columns));
            let hx = product(h_view, x, rank * columns);
            let hx_gradient = product(v_view.transposed(), out_view, rank * columns);
            let hx_gradient = Matrix::new(&hx_gradient, rank, columns);
            add(x_gradient, out);
            multiply_add(F::ONE, h_view.transposed(), hx_gradient, x_gradient);
            multiply_add(F::ONE, out_view, Matrix::new(&hx, rank, columns).transposed(), dv);
            multiply_add(F::ONE, hx_gradient, x.transposed(), dh);
        }
    }

    /// The vjp of the dense folding with `P = U`.
    fn unfold_dense<F: Real>(&self, inputs: usize, parameters: &[F], folded: &LeakyGradient<F>, gradient: &mut [F]) {
        let hidden = self.hidden;
        let [w, b, u, _, _] = cut(parameters, self.lengths(inputs));
        let [dw, db, du, _, _] = cut_mut(gradient, self.lengths(inputs));
        let u_view = Matrix::new(u, hidden, hidden).transposed();
        let r_gradient = Matrix::new(&folded.left, hidden, hidden);
        multiply_add(F::ONE, r_gradient, u_view, du);
        multiply_add(F::ONE, u_view, r_gradient, du);
        for (x, x_gradient, out, columns) in [
            (w, &mut *dw, &folded.input_weight, inputs),
            (b, &mut *db, &folded.bias, 1),
        ] {
            let out = Matrix::new(out, hidden, columns);
            multiply_add(F::ONE, out, Matrix::new(x, hidden, columns).transposed(), du);
            multiply_add(F::ONE, u_view, out, x_gradient);
        }
    }
}

impl Cell for ErnnConfig {
    const KEPT: usize = 2;

    fn is_bounded(&self) -> bool {
        false
    }

    fn check(&self) -> Result<()> {
        check_hidden(self.hidden)?;
        self.rank.check(self.hidden)?;
        if !(1..=1000).contains(&self.iterations) {
            return Err(Error::setting("iterations", self.iterations, "a number from 1 to 1000"));
        }
        if !(1..=MAX_STEPS).contains(&self.max_steps) {
            let expected = format!("a number from 1 to {MAX_STEPS}");
            return Err(Error::setting("max_steps", self.max_steps, expected));
        }
        check_eta(self.eta)?;
        check_not_negative("gamma", self.gamma)?;
        check_not_negative("eta_learning_rate", self.eta_learning_rate)?;
        self.check_solver()?;
        check_positive("deviation", self.deviation)
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let hidden = self.hidden;
        let mut tensors = vec![Tensor::matrix("W", hidden, inputs), Tensor::vector("b", hidden)];
        tensors.extend(self.rank.tensors(hidden, hidden, "U", ["V", "H"]));
        if self.solver == Solver::Euler {
            tensors.push(Tensor {
                name: "eta".into(),
                shape: self.step_sizes().to_vec(),
                decay: false,
                learning_rate_scale: self.eta_learning_rate,
            });
        }
        tensors
    }

    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let [w, b, u, h, eta] = cut_mut(parameters, self.lengths(inputs));
        for matrix in [w, &mut *u, h] {
            fill_normal(rng, self.deviation, matrix);
        }
        if self.rank == Rank::Full {
            // As in the low-rank form, U starts near the identity.
            for index in 0..self.hidden {
                u[index * self.hidden + index] += F::ONE;
            }
        }
        b.fill(F::ZERO);
        eta.fill(F::from_f64(self.eta));
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let (input_weight, bias, recurrent) = self.fold_matrices(inputs, parameters);
        let recurrent = self.contracted(recurrent);
        let [.., eta] = cut(parameters, self.lengths(inputs));
        let gamma = F::from_f64(self.gamma);
        let (mut start_scale, previous_scale) = self.start.scales(self.sign);
        let (mut iterations, mut decay) = (self.iterations, eta.iter().map(|&eta| F::ONE - gamma * eta).collect());
        let mut gain = eta.to_vec();
        if self.unrolls() {
            (start_scale, iterations) = (F::ZERO, self.max_iterations);
            (decay, gain) = (vec![F::ZERO; iterations], vec![F::ONE / gamma; iterations]);
        }
        let leaky = FoldedLeaky {
            inputs,
            hidden: self.hidden,
            input_weight,
            bias,
            recurrent,
            activation: self.activation.into(),
            iterations,
            start_scale,
            previous_scale,
            decay,
            gain,
            learned_steps: self.solver == Solver::Euler,
        };
        match self.solver_settings() {
            Some(solver) if self.solves() => Folded::Equilibrium(leaky.at_equilibrium(self.gamma, solver)),
            _ => Folded::Leaky(leaky),
        }
    }

    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.leaky();
        let scaled;
        let folded = if self.contract > 0.0 {
            scaled = self.uncontracted(inputs, parameters, folded);
            &scaled
        } else {
            folded
        };
        match (self.projection, self.rank) {
            (Projection::Shared, Rank::Low(rank)) => {
                self.unfold_low_rank(inputs, rank, parameters, folded, gradient);
            }
            (Projection::Shared, Rank::Full) => self.unfold_dense(inputs, parameters, folded, gradient),
            (Projection::Identity, _) => {
                let [dw, db, du, dh, _] = cut_mut(gradient, self.lengths(inputs));
                add(dw, &folded.input_weight);
                add(db, &folded.bias);
                add(du, &folded.left);
                add(dh, &folded.right);
            }
        }
        let [.., d_eta] = cut_mut(gradient, self.lengths(inputs));
        let gamma = F::from_f64(self.gamma);
        for ((out, &gain), &decay) in d_eta.iter_mut().zip(&folded.gain).zip(&folded.decay) {
            *out += gain - gamma * decay;
        }
    }
}
