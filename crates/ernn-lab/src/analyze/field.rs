//! The inner iteration of a leaky cell as the Euler steps of an ordinary differential equation, in plain loops.
//!
//! ```text
//! F(z)    = phi(R z + u) - gamma z             u = W x_t + b
//! dF(z)   = diag(phi'(R z + u)) R - gamma I
//! z^{i+1} = a z^i + e phi(R z^i + u) = z^i + e F(z^i)         with a = 1 - gamma e;   z^0 = c0 h_{t-1},  h_t = z^K - s h_{t-1}
//! ```
//!
//! For ERNN `gamma` and `e = eta` are its own. A plain RNN (`a = 0`, `e = 1`), a FastRNN and an AntisymmetricRNN (`a = 1`) are one Euler
//! step of the same equation with `gamma = (1 - a) / e`.

use ernn_kernels::Activation;

use ernn::cell::{CellConfig, Folded, FoldedEquilibrium, FoldedLeaky, FoldedRecurrent};

/// A leaky cell as a field of forces.
pub(super) struct Field<'a> {
    pub cell: &'a FoldedLeaky<f64>,
    pub gamma: f64,
    /// Finds `z` in the place of iterations.
    pub solver: Option<&'a FoldedEquilibrium<f64>>,
}

/// One step of a sequence.
pub(super) struct Step<'a> {
    /// From 0.
    pub index: usize,
    /// `u`.
    pub drive: &'a [f64],
    /// `z^0` to `z^K`.
    pub points: &'a [Vec<f64>],
}

/// What is known at a point.
pub(super) struct Point {
    /// `phi'`.
    pub slope: Vec<f64>,
    /// `F`.
    pub force: Vec<f64>,
}

impl<'a> Field<'a> {
    pub fn new(config: &CellConfig, cell: &'a FoldedLeaky<f64>) -> Self {
        let gamma = match config {
            CellConfig::Ernn(ernn) => ernn.gamma,
            _ => (1.0 - cell.decay[0]) / cell.gain[0],
        };
        Field {
            cell,
            gamma,
            solver: None,
        }
    }

    /// `u` of the inputs of a step.
    pub fn drive(&self, input: &[f64]) -> Vec<f64> {
        let rows = self.cell.input_weight.chunks_exact(self.cell.inputs);
        let sums = rows.zip(&self.cell.bias);
        sums.map(|(row, bias)| bias + row.iter().zip(input).map(|(w, x)| w * x).sum::<f64>())
            .collect()
    }

    /// `R v`.
    pub fn product(&self, v: &[f64]) -> Vec<f64> {
        let times = |matrix: &[f64], columns: usize, v: &[f64]| -> Vec<f64> {
            matrix
                .chunks_exact(columns)
                .map(|row| row.iter().zip(v).map(|(m, v)| m * v).sum())
                .collect()
        };
        match &self.cell.recurrent {
            FoldedRecurrent::Dense(matrix) => times(matrix, self.cell.hidden, v),
            FoldedRecurrent::LowRank {
                rank,
                identity,
                left,
                right,
            } => {
                let codes = times(right, self.cell.hidden, v);
                let sums = times(left, *rank, &codes);
                sums.iter().zip(v).map(|(sum, v)| sum + identity * v).collect()
            }
        }
    }

    /// The point `z`.
    pub fn at(&self, z: &[f64], drive: &[f64]) -> Point {
        let (mut slope, mut force) = (Vec::with_capacity(z.len()), Vec::with_capacity(z.len()));
        for ((product, drive), z) in self.product(z).iter().zip(drive).zip(z) {
            let (value, derivative) = activate(self.cell.activation, product + drive);
            slope.push(derivative);
            force.push(value - self.gamma * z);
        }
        Point { slope, force }
    }

    /// `dF v`.
    pub fn derivative(&self, slope: &[f64], v: &[f64]) -> Vec<f64> {
        let product = self.product(v);
        let rows = product.iter().zip(slope).zip(v);
        rows.map(|((product, slope), v)| slope * product - self.gamma * v)
            .collect()
    }

    /// `R[i,j]` of the units `rows` and `columns`, row-major.
    pub fn block(&self, rows: &[usize], columns: &[usize]) -> Vec<f64> {
        let hidden = self.cell.hidden;
        let entry = |i: usize, j: usize| match &self.cell.recurrent {
            FoldedRecurrent::Dense(matrix) => matrix[i * hidden + j],
            FoldedRecurrent::LowRank {
                rank,
                identity,
                left,
                right,
            } => {
                let sum: f64 = (0..*rank).map(|k| left[i * rank + k] * right[k * hidden + j]).sum();
                if i == j { sum + identity } else { sum }
            }
        };
        rows.iter()
            .flat_map(|&i| columns.iter().map(move |&j| entry(i, j)))
            .collect()
    }

    /// `dF` as a matrix `[D,D]`.
    pub fn jacobian(&self, slope: &[f64]) -> Vec<f64> {
        let all: Vec<usize> = (0..self.cell.hidden).collect();
        let mut matrix = self.block(&all, &all);
        for (index, (row, slope)) in matrix.chunks_exact_mut(self.cell.hidden).zip(slope).enumerate() {
            row.iter_mut().for_each(|value| *value *= slope);
            row[index] -= self.gamma;
        }
        matrix
    }

    /// `a` and `e` of an iteration; beyond the last learned one, and beyond the last iteration, the last one's.
    pub fn step_sizes(&self, step: usize, iteration: usize) -> (f64, f64) {
        let k = self.cell.iterations;
        let rows = self.cell.decay.len() / k;
        let index = step.min(rows - 1) * k + iteration.min(k - 1);
        (self.cell.decay[index], self.cell.gain[index])
    }

    /// `z^{i+1}` of `z^i`, its point and the step size.
    pub fn advance(z: &[f64], point: &Point, step_size: f64) -> Vec<f64> {
        z.iter()
            .zip(&point.force)
            .map(|(z, force)| z + step_size * force)
            .collect()
    }

    /// Goes over a sequence `[T, d]` from the state 0. Of a cell at its equilibrium, `z` of each step is its only point, twice.
    pub fn walk(&self, inputs: &[f64], mut visit: impl FnMut(Step)) {
        if let Some(solver) = self.solver {
            let (z, _) = solver.solve(inputs);
            let steps = z
                .chunks_exact(self.cell.hidden)
                .zip(inputs.chunks_exact(self.cell.inputs));
            for (index, (z, input)) in steps.enumerate() {
                let points = [z.to_vec(), z.to_vec()];
                visit(Step {
                    index,
                    drive: &self.drive(input),
                    points: &points,
                });
            }
            return;
        }
        let mut h = vec![0.0; self.cell.hidden];
        for (index, input) in inputs.chunks_exact(self.cell.inputs).enumerate() {
            let drive = self.drive(input);
            let mut points = vec![h.iter().map(|h| self.cell.start_scale * h).collect::<Vec<f64>>()];
            for iteration in 0..self.cell.iterations {
                let z = &points[iteration];
                let next = Self::advance(z, &self.at(z, &drive), self.step_sizes(index, iteration).1);
                points.push(next);
            }
            let last = &points[self.cell.iterations];
            h.iter_mut()
                .zip(last)
                .for_each(|(h, z)| *h = z - self.cell.previous_scale * *h);
            visit(Step {
                index,
                drive: &drive,
                points: &points,
            });
        }
    }
}

/// A folded cell that has a field: one of the leaky family, or one whose state is the equilibrium itself.
pub(super) struct Ground {
    cell: FoldedLeaky<f64>,
    solver: Option<FoldedEquilibrium<f64>>,
}

impl Ground {
    /// None of a cell of another family.
    pub fn of(cell: &Folded<f64>) -> Option<Self> {
        match cell {
            Folded::Leaky(cell) => Some(Ground {
                cell: cell.clone(),
                solver: None,
            }),
            Folded::Equilibrium(cell) => Some(Ground {
                cell: euler(cell),
                solver: Some(cell.clone()),
            }),
            _ => None,
        }
    }

    /// Its field.
    pub fn field(&self, config: &CellConfig) -> Field<'_> {
        Field {
            solver: self.solver.as_ref(),
            ..Field::new(config, &self.cell)
        }
    }
}

/// One step of `1 / gamma` from 0 towards the equilibrium of a cell.
fn euler(cell: &FoldedEquilibrium<f64>) -> FoldedLeaky<f64> {
    FoldedLeaky {
        inputs: cell.inputs,
        hidden: cell.hidden,
        input_weight: cell.input_weight.clone(),
        bias: cell.bias.clone(),
        recurrent: cell.recurrent.clone(),
        activation: cell.activation,
        iterations: 1,
        start_scale: 0.0,
        previous_scale: cell.previous_scale,
        decay: vec![0.0],
        gain: vec![1.0 / cell.gamma],
        learned_steps: false,
    }
}

/// `phi(x)` and `phi'(x)`; at a kink, the derivative of the flat side.
fn activate(activation: Activation, x: f64) -> (f64, f64) {
    let inside = |yes: bool, slope: f64| if yes { slope } else { 0.0 };
    match activation {
        Activation::Relu => (x.max(0.0), inside(x > 0.0, 1.0)),
        Activation::Tanh => (x.tanh(), 1.0 - x.tanh().powi(2)),
        Activation::Sigmoid => {
            let y = 1.0 / (1.0 + (-x).exp());
            (y, y * (1.0 - y))
        }
        Activation::HardTanh => (x.clamp(-1.0, 1.0), inside(x.abs() < 1.0, 1.0)),
        Activation::HardSigmoid => (((x + 1.0) / 2.0).clamp(0.0, 1.0), inside(x.abs() < 1.0, 0.5)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use ernn_kernels::Isa;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use ernn::cell::{self, AntisymmetricConfig, ErnnConfig, FastRnnConfig, Folded, Rank, RnnConfig, Sign, Start};

    /// The leaky cell of a configuration with drawn parameters.
    pub fn drawn(config: &CellConfig, inputs: usize, seed: u64) -> FoldedLeaky<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut parameters = vec![0.0; config.parameter_count(inputs)];
        config.initialize(inputs, &mut rng, &mut parameters);
        match config.fold(inputs, &parameters) {
            Folded::Leaky(cell) => cell,
            _ => panic!("a leaky cell"),
        }
    }

    /// Random numbers.
    pub fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..count).map(|_| rng.random_range(-1.5..1.5)).collect()
    }

    pub fn ernn(activation: cell::Activation) -> ErnnConfig {
        ErnnConfig {
            hidden: 5,
            rank: Rank::Low(2),
            iterations: 3,
            activation,
            eta: 0.2,
            gamma: 1.1,
            deviation: 0.6,
            ..Default::default()
        }
    }

    fn configs() -> Vec<CellConfig> {
        use cell::Activation::*;
        let phis = [Relu, Tanh, Sigmoid, HardTanh, HardSigmoid];
        let mut all: Vec<CellConfig> = phis.map(|phi| CellConfig::Ernn(ernn(phi))).to_vec();
        all.push(CellConfig::Ernn(ErnnConfig {
            start: Start::Zero,
            sign: Sign::Minus,
            rank: Rank::Full,
            ..ernn(Tanh)
        }));
        all.push(CellConfig::Rnn(RnnConfig {
            hidden: 4,
            ..Default::default()
        }));
        all.push(CellConfig::FastRnn(FastRnnConfig {
            hidden: 4,
            ..Default::default()
        }));
        all.push(CellConfig::Antisymmetric(AntisymmetricConfig {
            hidden: 4,
            ..Default::default()
        }));
        all
    }

    #[test]
    fn the_walk_is_that_of_the_kernel() {
        for config in configs() {
            let cell = drawn(&config, 2, 3);
            let inputs = noise(2 * 7, 4);
            let (mut state, mut states) = (vec![0.0; cell.hidden], Vec::new());
            Folded::Leaky(cell.clone())
                .runner(Isa::best())
                .run(&inputs, 0, &mut state, &mut states);
            let field = Field::new(&config, &cell);
            let mut h = vec![0.0; cell.hidden];
            field.walk(&inputs, |step| {
                let z = step.points.last().unwrap();
                h.iter_mut().zip(z).for_each(|(h, z)| *h = z - cell.previous_scale * *h);
                for (found, expected) in h.iter().zip(&states[step.index * cell.hidden..]) {
                    assert!(
                        (found - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                        "{config:?}, step {}: {found} {expected}",
                        step.index
                    );
                }
            });
        }
    }

    #[test]
    fn the_derivative_is_that_of_finite_differences() {
        for config in configs() {
            let cell = drawn(&config, 2, 5);
            let field = Field::new(&config, &cell);
            let (drive, z, v) = (field.drive(&[0.3, -0.7]), noise(cell.hidden, 6), noise(cell.hidden, 7));
            let moved = |by: f64| {
                field
                    .at(&z.iter().zip(&v).map(|(z, v)| z + by * v).collect::<Vec<_>>(), &drive)
                    .force
            };
            let (above, below) = (moved(1e-6), moved(-1e-6));
            let slope = field.at(&z, &drive).slope;
            let (found, matrix) = (field.derivative(&slope, &v), field.jacobian(&slope));
            for unit in 0..cell.hidden {
                let expected = (above[unit] - below[unit]) / 2e-6;
                let row = &matrix[unit * cell.hidden..][..cell.hidden];
                let by_matrix: f64 = row.iter().zip(&v).map(|(m, v)| m * v).sum();
                for found in [found[unit], by_matrix] {
                    assert!((found - expected).abs() < 1e-8, "{config:?}: {found} {expected}");
                }
            }
        }
    }
}
