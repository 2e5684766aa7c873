//! The cells' formulas, literally, in Burn's own operations: one time step after the other, differentiated by Burn's autodiff.
//!
//! Each step's input is a tensor of its own, as a slice of a tracked tensor in the loop would cost a tensor of all steps on the way back.

#![allow(dead_code)] // Each test and example that has this module uses its part.

use burn::tensor::{DType, Device, Tensor, TensorData, activation};
use ernn::cell::{Activation, CellConfig, ErnnConfig, GateActivation, Projection, Reset, Sign, Solver, Start};

/// A cell and its parameters, which require gradients; a vector is a matrix of one row.
pub struct Eager {
    cell: CellConfig,
    tensors: Vec<(String, Tensor<2>)>,
}

/// `h`, and the LSTM's `c`.
#[derive(Clone)]
pub struct State {
    pub h: Tensor<2>,
    pub c: Option<Tensor<2>>,
}

/// A matrix, or the product of its factors, transposed: it is applied to rows.
struct Matrix(Vec<Tensor<2>>);

impl Matrix {
    fn times(&self, rows: &Tensor<2>) -> Tensor<2> {
        self.0
            .iter()
            .fold(rows.clone(), |rows, factor| rows.matmul(factor.clone()))
    }
}

/// What a step needs besides the state: the parameters in the form in which it applies them.
struct Prepared {
    w: Vec<Matrix>,
    u: Vec<Matrix>,
    biases: Vec<Tensor<2>>,
    /// Step sizes, `[rows][K]`, each a tensor of its own.
    eta: Vec<Vec<Tensor<2>>>,
    /// ERNN: the factor before `P U`.
    factor: Option<Tensor<2>>,
}

impl Prepared {
    /// The step sizes of step `k`; beyond the last row it stays.
    fn step_sizes(&self, k: usize) -> Vec<Tensor<2>> {
        self.eta[k.min(self.eta.len() - 1)].clone()
    }
}

impl Eager {
    /// Parameters in the order of the cell's spans.
    pub fn new(cell: &CellConfig, inputs: usize, values: &[f64], device: &Device, dtype: DType) -> Self {
        let spans = cell.spans(inputs, "", 0);
        let tensors = spans.iter().map(|span| {
            let shape = match span.shape[..] {
                [rows, columns] => [rows, columns],
                _ => [1, span.len()],
            };
            let data = TensorData::new(values[span.range()].to_vec(), shape);
            let tensor = Tensor::from_data(data, (device, dtype)).require_grad();
            (span.name.clone(), tensor)
        });
        Eager {
            cell: cell.clone(),
            tensors: tensors.collect(),
        }
    }

    /// The same of tensors that are there already, in the order of the cell's spans.
    pub fn of_tensors(cell: &CellConfig, inputs: usize, tensors: Vec<Tensor<2>>) -> Self {
        let names = cell.spans(inputs, "", 0).into_iter().map(|span| span.name);
        Eager {
            cell: cell.clone(),
            tensors: names.zip(tensors).collect(),
        }
    }

    /// The parameters with their names.
    pub fn tensors(&self) -> &[(String, Tensor<2>)] {
        &self.tensors
    }

    fn find(&self, name: &str) -> Option<Tensor<2>> {
        let found = self.tensors.iter().find(|(other, _)| other == name);
        found.map(|(_, tensor)| tensor.clone())
    }

    fn get(&self, name: &str) -> Tensor<2> {
        self.find(name).unwrap_or_else(|| panic!("no tensor {name}"))
    }

    /// The matrix of each of `parts` gates.
    fn matrices(&self, dense: &str, factors: [&str; 2], parts: usize) -> Vec<Matrix> {
        let (rows, second) = match self.find(dense) {
            Some(matrix) => (matrix, None),
            None => (self.get(factors[0]), Some(self.get(factors[1]))),
        };
        let part = |rows: Tensor<2>| {
            let right = second.iter().map(|second| second.clone().transpose());
            Matrix(right.chain([rows.transpose()]).collect())
        };
        rows.chunk(parts, 0).into_iter().map(part).collect()
    }

    fn bias(&self, name: &str, parts: usize) -> Vec<Tensor<2>> {
        self.get(name).chunk(parts, 1)
    }

    fn prepare(&self) -> Prepared {
        let gates = match &self.cell {
            CellConfig::Lstm(_) => 4,
            CellConfig::Gru(_) => 3,
            CellConfig::Ugrnn(_) => 2,
            _ => 1,
        };
        let w_parts = if let CellConfig::GatedAntisymmetric(_) = self.cell {
            2
        } else {
            gates
        };
        let (u, biases, factor) = match &self.cell {
            CellConfig::Antisymmetric(_) => (vec![self.antisymmetric()], self.bias("b", 1), None),
            CellConfig::GatedAntisymmetric(_) => (vec![self.antisymmetric()], self.bias("b", 2), None),
            CellConfig::Spectral(cell) => (vec![self.spectral(cell.radius)], self.bias("b", 1), None),
            CellConfig::FastGrnn(_) => {
                let biases = [self.bias("b_z", 1), self.bias("b_h", 1)].concat();
                (self.matrices("U", ["U1", "U2"], 1), biases, None)
            }
            CellConfig::Ernn(cell) => {
                let u = self.equilibriated();
                let factor = (cell.contract > 0.0).then(|| self.contraction(cell, &u));
                (vec![u], self.bias("b", 1), factor)
            }
            _ => (self.matrices("U", ["U1", "U2"], gates), self.bias("b", gates), None),
        };
        Prepared {
            w: self.matrices("W", ["W1", "W2"], w_parts),
            u,
            biases,
            eta: self.find("eta").map_or(Vec::new(), table),
            factor,
        }
    }

    /// `Wh - Wh^T`.
    fn antisymmetric(&self) -> Matrix {
        let wh = match self.find("Wh") {
            Some(wh) => wh,
            None => self.get("A").matmul(self.get("B")),
        };
        Matrix(vec![wh.clone().transpose() - wh])
    }

    /// `Q_u diag(s) Q_v^T`.
    fn spectral(&self, radius: f64) -> Matrix {
        let p = self.get("p");
        let [_, hidden] = p.dims();
        let singular = (activation::sigmoid(p) - 0.5) * (2.0 * radius) + 1.0;
        // Rows of the identity, reflected one after the other: `q` is `Q`.
        let q = |name: &str| {
            let vectors = self.get(name);
            let [count, _] = vectors.dims();
            let identity = identity(hidden, &vectors);
            (0..count).fold(identity.clone(), |q, index| {
                let kept = identity.clone().narrow(0, index, hidden - index).sum_dim(0);
                let v = vectors.clone().narrow(0, index, 1) * kept;
                let length = (v.clone() * v.clone()).sum_dim(1);
                let along = q.clone().matmul(v.clone().transpose()) / length;
                q - along.matmul(v) * 2.0
            })
        };
        let (q_u, q_v) = (q("Hu"), q("Hv"));
        Matrix(vec![((q_u * singular).matmul(q_v.transpose())).transpose()])
    }

    /// `U`, or `I + V H`, as a dense matrix.
    fn equilibriated(&self) -> Matrix {
        let u = match self.find("U") {
            Some(u) => u,
            None => {
                let product = self.get("V").matmul(self.get("H"));
                let [hidden, _] = product.dims();
                identity(hidden, &product) + product
            }
        };
        Matrix(vec![u.transpose()])
    }

    /// The factor that brings the Schatten norm of order 64 of `P U` to `contract gamma` at most.
    fn contraction(&self, cell: &ErnnConfig, u: &Matrix) -> Tensor<2> {
        let u = u.0[0].clone();
        let r = match cell.projection {
            Projection::Shared => u.clone().matmul(u),
            Projection::Identity => u,
        };
        let [hidden, _] = r.dims();
        let mut power = r.clone().matmul(r.transpose());
        for _ in 0..5 {
            power = power.clone().matmul(power);
        }
        let identity = identity(hidden, &power);
        let norm = (power * identity).sum().powf_scalar(1.0 / 64.0).reshape([1, 1]);
        (norm.recip() * (cell.contract * cell.gamma)).clamp_max(1.0)
    }

    /// Runs over `inputs`, one tensor `[B,d]` a step, from `state`. A sequence of which `lengths` says that it has ended stays as it is.
    /// Returns the states of all steps.
    pub fn run(
        &self,
        inputs: &[Tensor<2>],
        mut state: State,
        lengths: Option<&[usize]>,
        first_step: usize,
    ) -> Vec<State> {
        let prepared = self.prepare();
        let mut states = Vec::new();
        for (step, x) in inputs.iter().enumerate() {
            let next = self.step(&prepared, x, &state, first_step + step);
            state = match lengths {
                Some(lengths) => {
                    let runs = running(lengths, step, &next.h);
                    State {
                        h: mix(&runs, next.h, state.h),
                        c: next.c.zip(state.c).map(|(next, old)| mix(&runs, next, old)),
                    }
                }
                None => next,
            };
            states.push(state.clone());
        }
        states
    }

    fn step(&self, p: &Prepared, x: &Tensor<2>, state: &State, k: usize) -> State {
        let h = &state.h;
        let sum = |gate: usize| p.w[gate].times(x) + p.u[gate].times(h) + p.biases[gate].clone();
        let next = match &self.cell {
            CellConfig::Rnn(cell) => apply(cell.activation, sum(0)),
            CellConfig::Spectral(cell) => apply(cell.activation, sum(0)),
            CellConfig::FastRnn(cell) => {
                let [keep, take] = ["beta", "alpha"].map(|name| activation::sigmoid(self.get(name)));
                h.clone() * keep + apply(cell.activation, sum(0)) * take
            }
            CellConfig::FastGrnn(cell) => {
                let shared = p.w[0].times(x) + p.u[0].times(h);
                let z = gate(cell.gate_activation, shared.clone() + p.biases[0].clone());
                let c = apply(cell.activation, shared + p.biases[1].clone());
                let [zeta, nu] = ["zeta", "nu"].map(|name| activation::sigmoid(self.get(name)));
                (rest(&z) * zeta + nu) * c + z * h.clone()
            }
            CellConfig::Ugrnn(cell) => {
                let z = gate(cell.gate_activation, sum(0));
                let c = apply(cell.activation, sum(1));
                z.clone() * h.clone() + rest(&z) * c
            }
            CellConfig::Gru(cell) => {
                let [r, z] = [0, 1].map(|index| gate(cell.gate_activation, sum(index)));
                let back = match cell.reset {
                    Reset::After => r * (p.u[2].times(h) + self.get("b_n")),
                    Reset::Before => p.u[2].times(&(r * h.clone())),
                };
                let n = apply(cell.activation, p.w[2].times(x) + p.biases[2].clone() + back);
                rest(&z) * n + z * h.clone()
            }
            CellConfig::Lstm(cell) => {
                let [i, f, o] = [0, 1, 3].map(|index| gate(cell.gate_activation, sum(index)));
                let c = state.c.clone().expect("the LSTM's second state");
                let c = f * c + i * apply(cell.activation, sum(2));
                return State {
                    h: o * apply(cell.activation, c.clone()),
                    c: Some(c),
                };
            }
            CellConfig::Antisymmetric(cell) => {
                let inner = sum(0) - h.clone() * cell.gamma;
                h.clone() + apply(cell.activation, inner) * cell.epsilon
            }
            CellConfig::GatedAntisymmetric(cell) => {
                let shared = p.u[0].times(h) - h.clone() * cell.gamma;
                let [z, c] = [0, 1].map(|index| shared.clone() + p.w[index].times(x) + p.biases[index].clone());
                h.clone() + gate(cell.gate_activation, z) * apply(cell.activation, c) * cell.epsilon
            }
            CellConfig::Ernn(cell) => self.equilibrate(cell, p, x, h, k),
            CellConfig::DeepTransition(cell) => {
                let (sign, mut next) = start(cell.sign, cell.start, h);
                for eta in p.step_sizes(k) {
                    let z = next.clone() + h.clone() * sign;
                    let mut a = apply(
                        cell.activation,
                        p.u[0].times(&z) + p.w[0].times(x) + p.biases[0].clone(),
                    );
                    for layer in 2..cell.widths.len() + 2 {
                        let weight = self.get(&format!("U_{layer}")).transpose();
                        a = apply(cell.activation, a.matmul(weight) + self.get(&format!("b_{layer}")));
                    }
                    next = next + (a - z * cell.gamma) * eta;
                }
                next
            }
        };
        State { h: next, c: None }
    }

    fn equilibrate(&self, cell: &ErnnConfig, p: &Prepared, x: &Tensor<2>, h: &Tensor<2>, k: usize) -> Tensor<2> {
        let p_times = |rows: Tensor<2>| match cell.projection {
            Projection::Shared => p.u[0].times(&rows),
            Projection::Identity => rows,
        };
        let drive = p_times(p.w[0].times(x) + p.biases[0].clone());
        let transition = |z: &Tensor<2>| {
            let turned = p_times(p.u[0].times(z));
            let turned = match &p.factor {
                Some(factor) => turned * factor.clone(),
                None => turned,
            };
            apply(cell.activation, turned + drive.clone())
        };
        let (sign, mut next) = start(cell.sign, cell.start, h);
        if cell.solver != Solver::Euler {
            // The contraction, until it stands still.
            let z = (0..CONTRACTIONS).fold(h.zeros_like(), |z, _| transition(&z) / cell.gamma);
            return z - h.clone() * sign;
        }
        for eta in p.step_sizes(k) {
            let z = next.clone() + h.clone() * sign;
            next = next + (transition(&z) - z * cell.gamma) * eta;
        }
        next
    }
}

/// The numbers of a matrix, each as a tensor of its own.
fn table(matrix: Tensor<2>) -> Vec<Vec<Tensor<2>>> {
    let [rows, columns] = matrix.dims();
    let rows = matrix.chunk(rows, 0).into_iter();
    rows.map(|row| row.chunk(columns, 1)).collect()
}

fn identity(size: usize, like: &Tensor<2>) -> Tensor<2> {
    Tensor::<2>::eye(size, &like.device()).cast(like.dtype())
}

/// Enough for a contraction by half to stand still in `f64`.
const CONTRACTIONS: usize = 60;

fn start(sign: Sign, start: Start, h: &Tensor<2>) -> (f64, Tensor<2>) {
    let sign = match sign {
        Sign::Plus => 1.0,
        Sign::Minus => -1.0,
    };
    match start {
        Start::Previous => (sign, h.clone()),
        Start::Zero => (sign, h.zeros_like()),
    }
}

fn apply(activation: Activation, x: Tensor<2>) -> Tensor<2> {
    match activation {
        Activation::Relu => activation::relu(x),
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => activation::sigmoid(x),
        Activation::HardTanh => x.clamp(-1.0, 1.0),
        Activation::HardSigmoid => ((x + 1.0) / 2.0).clamp(0.0, 1.0),
    }
}

fn gate(activation: GateActivation, x: Tensor<2>) -> Tensor<2> {
    match activation {
        GateActivation::Sigmoid => apply(Activation::Sigmoid, x),
        GateActivation::HardSigmoid => apply(Activation::HardSigmoid, x),
    }
}

/// `1 - x`.
fn rest(x: &Tensor<2>) -> Tensor<2> {
    -x.clone() + 1.0
}

/// 1 for the sequences that have this step, else 0, `[B,1]`.
pub fn running(lengths: &[usize], step: usize, like: &Tensor<2>) -> Tensor<2> {
    let values: Vec<f64> = lengths.iter().map(|&length| f64::from(step < length)).collect();
    let data = TensorData::new(values, [lengths.len(), 1]);
    Tensor::from_data(data, (&like.device(), like.dtype()))
}

fn mix(runs: &Tensor<2>, next: Tensor<2>, old: Tensor<2>) -> Tensor<2> {
    next * runs.clone() + old * rest(runs)
}
