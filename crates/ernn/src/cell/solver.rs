//! How an ERNN's state is found: K Euler steps towards the equilibrium, or the equilibrium itself.

use ernn_kernels::equilibrium::{Method, Solver as Settings, Through};
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
