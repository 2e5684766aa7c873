//! How an ERNN's state is found: K Euler steps towards the equilibrium, or the equilibrium itself.

use ernn_kernels::equilibrium::{Method, Outcome, Solver as Settings, Through};
use serde::{Deserialize, Serialize};

/// How the inner equation is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// K Euler steps with learned step sizes: the paper's network.
    #[default]
    Euler,
    /// The equilibrium, by repeating the transition.
    FixedPoint,
    /// The equilibrium, by Anderson's extrapolation.
    Anderson,
    /// The equilibrium, by Newton's method.
    Newton,
}

/// How the gradient goes through an equilibrium; Euler steps are always unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EquilibriumGradient {
    /// By the implicit function theorem: one linear solve; memory does not depend on iterations.
    #[default]
    Implicit,
    /// Through one step, the state before it held fixed.
    OneStep,
    /// Through all iterations of the fixed-point solver, `max_iterations` of them without a stop.
    Unrolled,
}

/// The settings of a solver for an equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverSettings {
    /// Which one; [`Solver::Euler`] finds none and is taken as [`Solver::Newton`].
    pub solver: Solver,
    /// The way of the gradient.
    pub gradient: EquilibriumGradient,
    /// A step has converged when `max |F(z)|` is at most `tolerance + relative_tolerance * max |gamma z|`.
    pub tolerance: f64,
    /// See `tolerance`.
    pub relative_tolerance: f64,
    /// Iterations of a step at most.
    pub max_iterations: usize,
}

impl Default for SolverSettings {
    fn default() -> Self {
        SolverSettings {
            solver: Solver::Newton,
            gradient: EquilibriumGradient::Implicit,
            tolerance: 1e-6,
            relative_tolerance: 1e-6,
            max_iterations: 50,
        }
    }
}

impl SolverSettings {
    /// As the kernels take them.
    pub(super) fn for_kernels(self) -> Settings {
        Settings {
            method: match self.solver {
                Solver::FixedPoint => Method::FixedPoint,
                Solver::Anderson => Method::Anderson,
                Solver::Newton | Solver::Euler => Method::Newton,
            },
            through: match self.gradient {
                EquilibriumGradient::OneStep => Through::OneStep,
                EquilibriumGradient::Implicit | EquilibriumGradient::Unrolled => Through::Implicit,
            },
            absolute: self.tolerance,
            relative: self.relative_tolerance,
            max_iterations: self.max_iterations,
        }
    }
}

/// How the equilibria of many steps were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Equilibria {
    /// Steps that were solved.
    pub steps: u64,
    /// Steps of which no equilibrium was found.
    pub not_found: u64,
    /// Iterations of all steps together.
    pub iterations: u64,
    /// Most iterations of a step.
    pub most_iterations: u32,
    /// Largest `max |F(z)|` of a step; at most the largest double, where it is not finite.
    pub largest_residual: f64,
}

impl Equilibria {
    /// Counts one step.
    pub fn count(&mut self, outcome: Outcome) {
        self.add(&Equilibria {
            steps: 1,
            not_found: u64::from(!outcome.converged),
            iterations: u64::from(outcome.iterations),
            most_iterations: outcome.iterations,
            largest_residual: if outcome.residual.is_finite() {
                outcome.residual
            } else {
                f64::MAX
            },
        });
    }

    /// Counts other steps.
    pub fn add(&mut self, other: &Equilibria) {
        self.steps += other.steps;
        self.not_found += other.not_found;
        self.iterations += other.iterations;
        self.most_iterations = self.most_iterations.max(other.most_iterations);
        self.largest_residual = self.largest_residual.max(other.largest_residual);
    }

    /// Share of the steps of which no equilibrium was found.
    pub fn share_not_found(&self) -> f64 {
        self.not_found as f64 / self.steps.max(1) as f64
    }

    /// Mean number of iterations a step.
    pub fn mean_iterations(&self) -> f64 {
        self.iterations as f64 / self.steps.max(1) as f64
    }
}
