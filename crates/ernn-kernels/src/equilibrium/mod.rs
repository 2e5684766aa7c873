//! The equilibrium family: a recurrence whose state is the equilibrium itself instead of a few Euler steps towards it.
//!
//! ```text
//! u_t       = W x_t + b
//! gamma z_t = phi(R z_t + u_t)                        solved for z_t
//! h_t       = z_t - s h_{t-1}
//! ```
//!
//! `z_t` depends on `x_t` alone. So all equilibria of a batch, over time and over sequences, are columns of one panel that are solved side by
//! side, in any order and on any number of threads; a running sum with alternating signs (`s = 1`) or a plain one (`s = -1`)
//! joins them. `R` is dense `[D,D]` or `c I + A B` with `A [D,r]`, `B [r,D]`.
//!
//! The columns go in *tiles* of as many as two registers hold (`tiles.rs`); a tile is solved by `solve.rs` and differentiated by
//! `gradient.rs`. Each lane stops at its own tolerance and is left alone from then on: a column gets the same bits whatever lies beside it.

mod anderson;
mod batch;
mod gradient;
mod linear;
mod newton;
mod sequence;
mod solve;
mod tiles;

pub use batch::{backward, forward};
pub(crate) use gradient::{GradientTask, differentiate};
pub use sequence::SequenceRunner;
pub(crate) use solve::{SolveTask, solve};
pub(crate) use tiles::Tiles;

use crate::leaky::Recurrent;
use crate::pack::Packed;
use crate::{Activation, Real};

/// How `gamma z = phi(R z + u)` is solved. With `F(z) = phi(R z + u) - gamma z`:
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `z <- z + F(z) / gamma`. Converges where `||R|| < gamma`, at the rate of their quotient.
    FixedPoint,
    /// The same, extrapolated from the last five steps (type II; Walker and Ni, SIAM J. Numer. Anal. 49, 2011).
    Anderson,
    /// `z <- z - alpha F'(z)^-1 F(z)`, `alpha` halved until the residual falls.
    Newton,
}

/// How the gradient goes through an equilibrium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// By the implicit function theorem: one linear solve a column. Where no equilibrium was found, as `OneStep`.
    Implicit,
    /// Through one step `z = phi(R z + u) / gamma`, the `z` on its right side held fixed.
    OneStep,
}

/// Settings of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solver {
    /// The iteration.
    pub method: Method,
    /// The way of the gradient.
    pub through: Through,
    /// A column has converged when `max |F(z)|` is at most `absolute + relative * max |gamma z|`.
    pub absolute: f64,
    /// See `absolute`.
    pub relative: f64,
    /// Iterations of a column at most.
    pub max_iterations: usize,
}

impl Default for Solver {
    fn default() -> Self {
        Solver {
            method: Method::Newton,
            through: Through::Implicit,
            absolute: 1e-6,
            relative: 1e-6,
            max_iterations: 50,
        }
    }
}

/// How the solution of one column went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Iterations, each with one evaluation of `F`; 0 if the start was good enough.
    pub iterations: u32,
    /// `max |F(z)|` at the end; not finite if the column holds no numbers.
    pub residual: f64,
    /// Whether the residual is within the tolerance.
    pub converged: bool,
}

/// A folded cell of the equilibrium family; the letters are those of the module's formula.
#[derive(Clone, Copy, Debug)]
pub struct Equilibrium<'a, F> {
    /// `d`.
    pub inputs: usize,
    /// `D`.
    pub hidden: usize,
    /// `W`, `[D,d]` row-major.
    pub input_weight: &'a [F],
    /// `b`, `[D]`.
    pub bias: &'a [F],
    /// `R`.
    pub recurrent: Recurrent<'a, F>,
    /// `phi`.
    pub activation: Activation,
    /// `gamma`, above 0.
    pub gamma: F,
    /// `s`.
    pub previous_scale: F,
    /// How `z` is found.
    pub solver: Solver,
}

/// Share of `gamma` that `c phi'` may reach for the diagonal part of `gamma I - diag(phi') (c I + A B)` to be divided by.
const LARGEST_DIAGONAL: f64 = 0.999;

impl<F: Real> Equilibrium<'_, F> {
    /// Rank, or 0 for a dense `R`.
    pub(crate) fn rank(&self) -> usize {
        self.recurrent.rank()
    }

    /// `c`, 0 for a dense `R`.
    pub(crate) fn identity(&self) -> F {
        match self.recurrent {
            Recurrent::Dense(_) => F::ZERO,
            Recurrent::LowRank { identity, .. } => identity,
        }
    }

    /// Unknowns of the linear systems: `r` where the diagonal part can be eliminated first (an operation count of `D r^2` a
    /// column), else `D`.
    pub(crate) fn unknowns(&self) -> usize {
        let safe =
            self.identity().abs().to_f64() * self.activation.steepest() <= LARGEST_DIAGONAL * self.gamma.to_f64();
        match self.rank() {
            rank if rank > 0 && safe => rank,
            _ => self.hidden,
        }
    }

    /// Panics unless all slices have the sizes that the docs say: a broken caller, never bad data.
    pub(crate) fn check(&self) {
        let (d, hidden) = (self.inputs, self.hidden);
        assert!(d > 0 && hidden > 0, "sizes of a cell are at least 1");
        assert_eq!(self.input_weight.len(), hidden * d, "W is [D,d]");
        assert_eq!(self.bias.len(), hidden, "b is [D]");
        assert!(self.gamma > F::ZERO, "gamma is above 0");
        self.recurrent.check(hidden, hidden);
    }

    /// Sizes of the gradient's parts: of `W`, `b`, `R` or `A`, `B`, `c`.
    pub(crate) fn gradient_sizes(&self) -> [usize; 5] {
        let [left, right] = self.recurrent.lengths();
        let identity = usize::from(self.rank() > 0);
        [self.input_weight.len(), self.bias.len(), left, right, identity]
    }
}

/// The matrices of a cell in the order of their use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packs<F> {
    /// `W`.
    pub(crate) input: Packed<F>,
    /// `A` or `R`.
    pub(crate) left: Packed<F>,
    /// `B`.
    pub(crate) right: Packed<F>,
    /// `A^T` (low rank).
    pub(crate) left_turned: Packed<F>,
    /// `B^T` (low rank).
    pub(crate) right_turned: Packed<F>,
    /// `W^T`.
    pub(crate) input_turned: Packed<F>,
    /// Low rank: `[r r, D]` with `B[p,i] A[i,q]` in row `(p, q)`: its product with the diagonal `p` is `B diag(p) A`.
    pub(crate) system: Packed<F>,
    /// The same with `(q, p)`: its transpose.
    pub(crate) system_turned: Packed<F>,
    /// `R` multiplied out, where the linear systems have `D` unknowns.
    pub(crate) dense: Vec<F>,
}

impl<F: Real> Packs<F> {
    /// Packs what the forward pass needs, and where wanted what the backward pass needs.
    pub(crate) fn pack(&mut self, cell: &Equilibrium<F>, gradient: bool) {
        let (d, hidden, rank) = (cell.inputs, cell.hidden, cell.rank());
        let linear = cell.solver.method == Method::Newton || (gradient && cell.solver.through == Through::Implicit);
        let w = cell.input_weight;
        self.input.pack(hidden, d, |row, column| w[row * d + column]);
        if gradient {
            self.input_turned.pack(d, hidden, |row, column| w[column * d + row]);
        }
        self.dense.clear();
        match cell.recurrent {
            Recurrent::Dense(weight) => {
                self.left
                    .pack(hidden, hidden, |row, column| weight[row * hidden + column]);
                self.right.pack(0, 0, |_, _| F::ZERO);
                self.dense.extend_from_slice(weight);
            }
            Recurrent::LowRank {
                identity, left, right, ..
            } => {
                self.left.pack(hidden, rank, |row, column| left[row * rank + column]);
                self.right
                    .pack(rank, hidden, |row, column| right[row * hidden + column]);
                if gradient {
                    self.left_turned
                        .pack(rank, hidden, |row, column| left[column * rank + row]);
                    self.right_turned
                        .pack(hidden, rank, |row, column| right[column * hidden + row]);
                }
                if linear && cell.unknowns() == rank {
                    let element = |p: usize, q: usize, i: usize| right[p * hidden + i] * left[i * rank + q];
                    self.system
                        .pack(rank * rank, hidden, |row, i| element(row / rank, row % rank, i));
                    if gradient {
                        self.system_turned
                            .pack(rank * rank, hidden, |row, i| element(row % rank, row / rank, i));
                    }
                } else if linear {
                    self.dense.resize(hidden * hidden, F::ZERO);
                    let (left, right) = (
                        crate::Matrix::new(left, hidden, rank),
                        crate::Matrix::new(right, rank, hidden),
                    );
                    crate::multiply_add(F::ONE, left, right, &mut self.dense);
                    (0..hidden).for_each(|unit| self.dense[unit * hidden + unit] += identity);
                }
            }
        }
    }
}
