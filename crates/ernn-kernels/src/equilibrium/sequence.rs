//! One sequence at a time: as many of its steps side by side as a tile has lanes, then the running sum.

use super::{Equilibrium, Outcome, Packs, SolveTask, Solver, solve};
use crate::leaky::Recurrent;
use crate::{Activation, Isa, Real};

/// A folded cell with its weights packed, for one sequence at a time or for columns alone; reusable.
#[derive(Clone, Debug)]
pub struct SequenceRunner<F> {
    isa: Isa,
    inputs: usize,
    hidden: usize,
    input_weight: Vec<F>,
    bias: Vec<F>,
    rank: usize,
    identity: F,
    left: Vec<F>,
    right: Vec<F>,
    activation: Activation,
    gamma: F,
    previous_scale: F,
    solver: Solver,
    packs: Packs<F>,
    input: Vec<F>,
    z: Vec<F>,
    outputs: Vec<F>,
    scratch: Vec<F>,
    outcomes: Vec<Outcome>,
}

impl<F: Real> SequenceRunner<F> {
    /// Packs the weights of a cell.
    pub fn new(isa: Isa, cell: &Equilibrium<F>) -> Self {
        cell.check();
        let lanes = isa.lanes::<F>();
        let mut packs = Packs::default();
        packs.pack(cell, false);
        let (rank, identity, left, right) = match cell.recurrent {
            Recurrent::Dense(weight) => (0, F::ZERO, weight.to_vec(), Vec::new()),
            Recurrent::LowRank {
                rank,
                identity,
                left,
                right,
            } => (rank, identity, left.to_vec(), right.to_vec()),
        };
        SequenceRunner {
            isa,
            inputs: cell.inputs,
            hidden: cell.hidden,
            input_weight: cell.input_weight.to_vec(),
            bias: cell.bias.to_vec(),
            rank,
            identity,
            left,
            right,
            activation: cell.activation,
            gamma: cell.gamma,
            previous_scale: cell.previous_scale,
            solver: cell.solver,
            packs,
            input: vec![F::ZERO; cell.inputs * lanes],
            z: vec![F::ZERO; cell.hidden * lanes],
            outputs: vec![F::ZERO; cell.hidden * lanes],
            scratch: vec![F::ZERO; solve::scratch_len(cell, lanes)],
            outcomes: vec![Outcome::default(); lanes],
        }
    }

    /// Runs over `input` `[T, d]` from `state` `[D]`, which becomes the state after the last step, and writes all states `[T, D]`.
    ///
    /// # Panics
    /// If `input` is not a whole number of steps, or `state` has another size.
    pub fn run(&mut self, input: &[F], state: &mut [F], states: &mut Vec<F>) {
        assert_eq!(state.len(), self.hidden, "the state is [D]");
        self.solve(input, states, &mut Vec::new());
        for row in states.chunks_exact_mut(self.hidden) {
            for (h, z) in state.iter_mut().zip(row) {
                *h = *z - self.previous_scale * *h;
                *z = *h;
            }
        }
    }

    /// The equilibria of `input` `[n, d]`: writes `z` `[n, D]` and one outcome each.
    ///
    /// # Panics
    /// If `input` is not a whole number of columns.
    pub fn solve(&mut self, input: &[F], z: &mut Vec<F>, outcomes: &mut Vec<Outcome>) {
        assert!(input.len().is_multiple_of(self.inputs), "the input is [n,d]");
        let lanes = self.isa.lanes::<F>();
        z.resize(input.len() / self.inputs * self.hidden, F::ZERO);
        outcomes.clear();
        let rows = input.chunks(self.inputs * lanes).zip(z.chunks_mut(self.hidden * lanes));
        let cell = Equilibrium {
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: &self.input_weight,
            bias: &self.bias,
            recurrent: match self.rank {
                0 => Recurrent::Dense(&self.left),
                rank => Recurrent::LowRank {
                    rank,
                    identity: self.identity,
                    left: &self.left,
                    right: &self.right,
                },
            },
            activation: self.activation,
            gamma: self.gamma,
            previous_scale: self.previous_scale,
            solver: self.solver,
        };
        for (input, z) in rows {
            let count = input.len() / self.inputs;
            let mut used = [false; 64];
            used[..count].fill(true);
            self.input.fill(F::ZERO);
            for (lane, values) in input.chunks_exact(self.inputs).enumerate() {
                for (to, &from) in self.input[lane..].iter_mut().step_by(lanes).zip(values) {
                    *to = from;
                }
            }
            F::equilibrium_solve(
                self.isa,
                SolveTask {
                    cell: &cell,
                    packs: &self.packs,
                    input: &self.input,
                    used: &used,
                    z: &mut self.z,
                    outputs: &mut self.outputs,
                    outcomes: &mut self.outcomes,
                    scratch: &mut self.scratch,
                },
            );
            for (lane, values) in z.chunks_exact_mut(self.hidden).enumerate() {
                for (to, &from) in values.iter_mut().zip(self.z[lane..].iter().step_by(lanes)) {
                    *to = from;
                }
            }
            outcomes.extend_from_slice(&self.outcomes[..count]);
        }
    }
}
