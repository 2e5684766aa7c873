//! Cells that own their numbers, each with a batch, and what the formula says of them.

use ernn_kernels::equilibrium::{Equilibrium, Method, Outcome, Solver, Through, forward};
use ernn_kernels::leaky::Recurrent;
use ernn_kernels::{Activation, Isa, Panels, Real, Trace};

use crate::support::{ACTIVATIONS, Numbers, activate, doubles, times};

pub const METHODS: [Method; 3] = [Method::FixedPoint, Method::Anderson, Method::Newton];

/// A cell that owns its numbers, with a batch.
#[derive(Clone)]
pub struct Case<F> {
    pub name: String,
    pub inputs: usize,
    pub hidden: usize,
    pub rank: Option<usize>,
    pub activation: Activation,
    pub identity: f64,
    pub gamma: f64,
    pub previous_scale: f64,
    pub solver: Solver,
    pub lengths: Vec<usize>,
    /// W, b, R or A, B, x (time-major), h_0.
    pub numbers: [Vec<F>; 6],
}

impl<F: Real> Case<F> {
    pub fn cell(&self) -> Equilibrium<'_, F> {
        let [w, b, left, right, _, _] = &self.numbers;
        Equilibrium {
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: w,
            bias: b,
            recurrent: match self.rank {
                None => Recurrent::Dense(left),
                Some(rank) => Recurrent::LowRank {
                    rank,
                    identity: F::from_f64(self.identity),
                    left,
                    right,
                },
            },
            activation: self.activation,
            gamma: F::from_f64(self.gamma),
            previous_scale: F::from_f64(self.previous_scale),
            solver: self.solver,
        }
    }

    pub fn steps(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    pub fn input(&self, isa: Isa) -> Panels<F> {
        Panels::from_time_major(isa, &self.numbers[4], self.steps(), self.inputs, &self.lengths)
    }

    pub fn run(&self, isa: Isa) -> Trace<F> {
        let mut trace = Trace::default();
        forward(&self.cell(), &self.input(isa), Some(&self.numbers[5]), &mut trace);
        trace
    }

    /// `R z` by the formula.
    pub fn recurrent(&self, z: &[f64]) -> Vec<f64> {
        let (left, right) = (doubles(&self.numbers[2]), doubles(&self.numbers[3]));
        match self.rank {
            None => times(&left, self.hidden, z),
            Some(rank) => {
                let codes = times(&right, self.hidden, z);
                let product = times(&left, rank, &codes);
                product.iter().zip(z).map(|(sum, z)| sum + self.identity * z).collect()
            }
        }
    }

    /// `phi(R z + W x + b)`.
    pub fn transition(&self, z: &[f64], x: &[f64]) -> Vec<f64> {
        let drive = times(&doubles(&self.numbers[0]), self.inputs, x);
        let sums = self.recurrent(z).into_iter().zip(drive).zip(doubles(&self.numbers[1]));
        sums.map(|((sum, drive), bias)| activate(self.activation, sum + drive + bias))
            .collect()
    }

    pub fn x(&self, sequence: usize, step: usize) -> Vec<f64> {
        let at = (step * self.lengths.len() + sequence) * self.inputs;
        doubles(&self.numbers[4][at..at + self.inputs])
    }

    /// All states time-major, by iterating the contraction 2,000 times.
    pub fn plain_states(&self) -> Vec<f64> {
        let (sequences, hidden) = (self.lengths.len(), self.hidden);
        let mut states = vec![0.0; self.steps() * sequences * hidden];
        for sequence in 0..sequences {
            let mut h = doubles(&self.numbers[5][sequence * hidden..(sequence + 1) * hidden]);
            for step in 0..self.lengths[sequence] {
                let x = self.x(sequence, step);
                let mut z = vec![0.0; hidden];
                for _ in 0..2000 {
                    z = self.transition(&z, &x).iter().map(|y| y / self.gamma).collect();
                }
                h = z.iter().zip(&h).map(|(z, h)| z - self.previous_scale * h).collect();
                states[(step * sequences + sequence) * hidden..][..hidden].copy_from_slice(&h);
            }
        }
        states
    }
}

/// Scales a matrix product `A B` (or `R`) so that `||c I + A B|| < norm`, by its Frobenius norm.
pub fn contract(numbers: &mut [Vec<f64>; 6], rank: Option<usize>, identity: f64, norm: f64) {
    let size = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let largest = size(&numbers[2]) * if rank.is_some() { size(&numbers[3]) } else { 1.0 };
    let factor = (norm - identity) / largest;
    numbers[2].iter_mut().for_each(|value| *value *= factor);
}

pub fn cases() -> Vec<Case<f64>> {
    let mut cases: Vec<Case<f64>> = Vec::new();
    let mut numbers = Numbers(11);
    let many: Vec<usize> = (0..19).map(|index| 1 + index * 5 % 7).collect();
    let batches = [
        vec![5, 5, 5],
        vec![7, 1, 0, 12, 5],
        vec![1],
        many,
        vec![40, 21],
        vec![4; 33],
    ];
    for rank in [None, Some(1), Some(3)] {
        for method in METHODS {
            for through in [Through::Implicit, Through::OneStep] {
                let index = cases.len();
                let activation = ACTIVATIONS[index % 5];
                let lengths = batches[index % batches.len()].clone();
                let (inputs, hidden) = [(1, 1), (2, 5), (9, 13), (3, 8)][index % 4];
                let identity = if rank.is_some() { 0.4 } else { 0.0 };
                let mut numbers = [
                    numbers.vector(hidden * inputs, 0.7),
                    numbers.vector(hidden, 0.5),
                    numbers.vector(hidden * rank.unwrap_or(hidden), 1.0),
                    numbers.vector(rank.map_or(0, |rank| rank * hidden), 1.0),
                    numbers.vector(lengths.iter().max().unwrap() * lengths.len() * inputs, 1.0),
                    numbers.vector(lengths.len() * hidden, 0.5),
                ];
                let gamma = [1.0, 1.3][index % 2];
                contract(&mut numbers, rank, identity, 0.95 * gamma);
                cases.push(Case {
                    name: format!("rank {rank:?}, {method:?}, {through:?}, {activation:?}, d {inputs}, D {hidden}, lengths {lengths:?}"),
                    inputs,
                    hidden,
                    rank,
                    activation,
                    identity,
                    gamma,
                    previous_scale: [1.0, -1.0][index / 2 % 2],
                    solver: Solver {
                        method,
                        through,
                        absolute: 1e-13,
                        relative: 0.0,
                        max_iterations: 2000,
                    },
                    lengths,
                    numbers,
                });
            }
        }
    }
    cases
}

pub fn single(case: &Case<f64>) -> Case<f32> {
    let numbers = |index: usize| case.numbers[index].iter().map(|&value| value as f32).collect();
    Case {
        name: case.name.clone(),
        inputs: case.inputs,
        hidden: case.hidden,
        rank: case.rank,
        activation: case.activation,
        identity: case.identity,
        gamma: case.gamma,
        previous_scale: case.previous_scale,
        solver: Solver {
            absolute: 1e-6,
            relative: 1e-6,
            ..case.solver
        },
        lengths: case.lengths.clone(),
        numbers: std::array::from_fn(numbers),
    }
}

pub fn outcomes<F: Real>(case: &Case<F>, isa: Isa) -> Vec<Outcome> {
    case.run(isa).outcomes(&case.input(isa)).collect()
}
