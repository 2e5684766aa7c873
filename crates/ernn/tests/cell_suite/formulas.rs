//! The formulas at the top of each cell's file, literally: one sequence, one step, nothing folded.

use ernn::cell::{Activation, CellConfig, GateActivation, Projection, Reset, Sign, Solver, Span, Start};

/// The parameters of one cell, by name.
pub struct Tensors<'a> {
    spans: Vec<Span>,
    values: &'a [f64],
}

impl<'a> Tensors<'a> {
    pub fn new(cell: &CellConfig, inputs: usize, values: &'a [f64]) -> Self {
        let spans = cell.spans(inputs, "", 0);
        Tensors { spans, values }
    }

    fn get(&self, name: &str) -> &'a [f64] {
        self.find(name).unwrap_or_else(|| panic!("no tensor {name}"))
    }

    /// None where the cell's form has no such tensor.
    fn find(&self, name: &str) -> Option<&'a [f64]> {
        let span = self.spans.iter().find(|span| span.name == name)?;
        Some(&self.values[span.range()])
    }

    /// A matrix times `v`, or its two factors times `v`.
    fn times(&self, dense: &str, factors: [&str; 2], v: &[f64]) -> Vec<f64> {
        match self.find(dense) {
            Some(matrix) => times(matrix, v),
            None => times(self.get(factors[0]), &times(self.get(factors[1]), v)),
        }
    }

    fn w_times(&self, x: &[f64]) -> Vec<f64> {
        self.times("W", ["W1", "W2"], x)
    }

    fn u_times(&self, h: &[f64]) -> Vec<f64> {
        self.times("U", ["U1", "U2"], h)
    }
}

/// `matrix v`.
pub fn times(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    let dot = |row: &[f64]| row.iter().zip(v).map(|(m, v)| m * v).sum();
    matrix.chunks_exact(v.len()).map(dot).collect()
}

/// `matrix^T v`.
fn transposed_times(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    let columns = matrix.len() / v.len();
    let column = |c: usize| (0..v.len()).map(|row| matrix[row * columns + c] * v[row]).sum();
    (0..columns).map(column).collect()
}

/// `sum_i factor_i v_i`.
pub fn combine<const N: usize>(terms: [(f64, &[f64]); N]) -> Vec<f64> {
    let term = |index: usize| terms.iter().map(|(factor, values)| factor * values[index]).sum();
    (0..terms[0].1.len()).map(term).collect()
}

fn plus(a: &[f64], b: &[f64]) -> Vec<f64> {
    combine([(1.0, a), (1.0, b)])
}

/// `a * b`, number by number.
fn each(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// `1 - a`.
fn rest(a: &[f64]) -> Vec<f64> {
    a.iter().map(|a| 1.0 - a).collect()
}

fn apply(activation: Activation, values: &[f64]) -> Vec<f64> {
    let phi = |&x: &f64| match activation {
        Activation::Relu => x.max(0.0),
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => sigmoid(x),
        Activation::HardTanh => x.clamp(-1.0, 1.0),
        Activation::HardSigmoid => ((x + 1.0) / 2.0).clamp(0.0, 1.0),
    };
    values.iter().map(phi).collect()
}

fn gate(activation: GateActivation, values: &[f64]) -> Vec<f64> {
    let phi = match activation {
        GateActivation::Sigmoid => Activation::Sigmoid,
        GateActivation::HardSigmoid => Activation::HardSigmoid,
    };
    apply(phi, values)
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Rows of `N` gates.
fn gates<const N: usize>(values: &[f64]) -> [&[f64]; N] {
    let mut parts = values.chunks_exact(values.len() / N);
    std::array::from_fn(|_| parts.next().expect("a part a gate"))
}

/// `(I - 2 v v^T / (v^T v)) x`, the first entries of `v` taken as 0.
fn reflect(v: &[f64], first: usize, x: &[f64]) -> Vec<f64> {
    let v: Vec<f64> = (0..v.len()).map(|at| if at < first { 0.0 } else { v[at] }).collect();
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    combine([(1.0, x), (-2.0 * dot(&v, x) / dot(&v, &v), &v)])
}

/// The factor that brings a matrix, given by its product with a vector, to this Schatten norm of order 64 at most: `(trace
/// (R^T R)^32)^(1/64)`, by multiplying it out.
fn contraction(hidden: usize, limit: f64, times: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    if limit == 0.0 {
        return 1.0;
    }
    let unit = |index: usize| (0..hidden).map(|at| f64::from(at == index)).collect::<Vec<_>>();
    let columns: Vec<Vec<f64>> = (0..hidden).map(|index| times(&unit(index))).collect();
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let square: Vec<Vec<f64>> = columns
        .iter()
        .map(|a| columns.iter().map(|b| dot(a, b)).collect())
        .collect();
    let mut trace = 0.0;
    for index in 0..hidden {
        let mut power = unit(index);
        for _ in 0..32 {
            power = square.iter().map(|row| dot(row, &power)).collect();
        }
        trace += power[index];
    }
    (limit / trace.powf(1.0 / 64.0)).min(1.0)
}

/// Numbers in the state: `h`, and for the LSTM `c` behind it.
pub fn state_len(cell: &CellConfig) -> usize {
    match cell {
        CellConfig::Lstm(cell) => 2 * cell.hidden,
        _ => cell.hidden(),
    }
}

/// The state after `x_k`, `k` counted from 0, from the state before it.
pub fn step(cell: &CellConfig, p: &Tensors, x: &[f64], state: &[f64], k: usize) -> Vec<f64> {
    let h = &state[..cell.hidden()];
    let elman = |activation| {
        apply(
            activation,
            &combine([(1.0, &p.w_times(x)), (1.0, &p.u_times(h)), (1.0, p.get("b"))]),
        )
    };
    match cell {
        CellConfig::Rnn(cell) => elman(cell.activation),
        CellConfig::FastRnn(cell) => {
            let [keep, take] = ["beta", "alpha"].map(|name| sigmoid(p.get(name)[0]));
            combine([(keep, h), (take, &elman(cell.activation))])
        }
        CellConfig::FastGrnn(cell) => {
            let shared = plus(&p.w_times(x), &p.u_times(h));
            let z = gate(cell.gate_activation, &plus(&shared, p.get("b_z")));
            let c = apply(cell.activation, &plus(&shared, p.get("b_h")));
            let [zeta, nu] = ["zeta", "nu"].map(|name| sigmoid(p.get(name)[0]));
            combine([(zeta, &each(&rest(&z), &c)), (nu, &c), (1.0, &each(&z, h))])
        }
        CellConfig::Ugrnn(cell) => {
            let sums = combine([(1.0, &p.w_times(x)), (1.0, &p.u_times(h)), (1.0, p.get("b"))]);
            let [z, c] = gates(&sums);
            let (z, c) = (gate(cell.gate_activation, z), apply(cell.activation, c));
            plus(&each(&z, h), &each(&rest(&z), &c))
        }
        CellConfig::Gru(cell) => {
            let (drive, back) = (plus(&p.w_times(x), p.get("b")), p.u_times(h));
            let ([r, z, n], [r_back, z_back, n_back]) = (gates(&drive), gates(&back));
            let r = gate(cell.gate_activation, &plus(r, r_back));
            let z = gate(cell.gate_activation, &plus(z, z_back));
            let n_back = match cell.reset {
                Reset::After => each(&r, &plus(n_back, p.get("b_n"))),
                Reset::Before => gates::<3>(&p.u_times(&each(&r, h)))[2].to_vec(),
            };
            let n = apply(cell.activation, &plus(n, &n_back));
            plus(&each(&rest(&z), &n), &each(&z, h))
        }
        CellConfig::Lstm(cell) => {
            let sums = combine([(1.0, &p.w_times(x)), (1.0, &p.u_times(h)), (1.0, p.get("b"))]);
            let [i, f, g, o] = gates(&sums);
            let [i, f, o] = [i, f, o].map(|sum| gate(cell.gate_activation, sum));
            let c = plus(&each(&f, &state[cell.hidden..]), &each(&i, &apply(cell.activation, g)));
            [each(&o, &apply(cell.activation, &c)), c].concat()
        }
        CellConfig::Antisymmetric(cell) => {
            let inner = combine([
                (1.0, &antisymmetric(p, h)),
                (-cell.gamma, h),
                (1.0, &p.w_times(x)),
                (1.0, p.get("b")),
            ]);
            combine([(1.0, h), (cell.epsilon, &apply(cell.activation, &inner))])
        }
        CellConfig::GatedAntisymmetric(cell) => {
            let shared = combine([(1.0, &antisymmetric(p, h)), (-cell.gamma, h)]);
            let drive = plus(&p.w_times(x), p.get("b"));
            let [z, c] = gates(&drive);
            let z = gate(cell.gate_activation, &plus(&shared, z));
            let c = apply(cell.activation, &plus(&shared, c));
            combine([(1.0, h), (cell.epsilon, &each(&z, &c))])
        }
        CellConfig::Spectral(cell) => {
            let rows = |name: &str| p.get(name).chunks_exact(cell.hidden).enumerate();
            // Q_v^T applies H_0 first, Q_u applies it last.
            let back = rows("Hv").fold(h.to_vec(), |x, (index, v)| reflect(v, index, &x));
            let singular = p.get("p").iter().map(|&p| 1.0 + 2.0 * cell.radius * (sigmoid(p) - 0.5));
            let scaled = each(&back, &singular.collect::<Vec<_>>());
            let forth = rows("Hu").rev().fold(scaled, |x, (index, v)| reflect(v, index, &x));
            apply(
                cell.activation,
                &combine([(1.0, &p.w_times(x)), (1.0, &forth), (1.0, p.get("b"))]),
            )
        }
        CellConfig::Ernn(cell) => {
            let u_times = |v: &[f64]| match p.find("U") {
                Some(u) => times(u, v),
                None => plus(v, &times(p.get("V"), &times(p.get("H"), v))),
            };
            let p_times = |v: &[f64]| match cell.projection {
                Projection::Shared => u_times(v),
                Projection::Identity => v.to_vec(),
            };
            let (sign, mut next) = start(cell.sign, cell.start, h);
            let factor = contraction(cell.hidden, cell.contract * cell.gamma, |z| p_times(&u_times(z)));
            let drive = p_times(&plus(&p.w_times(x), p.get("b")));
            let transition = |z: &[f64]| {
                apply(
                    cell.activation,
                    &combine([(factor, &p_times(&u_times(z))), (1.0, &drive)]),
                )
            };
            if cell.solver != Solver::Euler {
                // The contraction, until it stands still.
                let mut z = vec![0.0; cell.hidden];
                for _ in 0..170 {
                    z = combine([(1.0 / cell.gamma, &transition(&z))]);
                }
                return combine([(1.0, &z), (-sign, h)]);
            }
            let eta = p.get("eta").chunks_exact(cell.iterations);
            let row = k.min(eta.len() - 1);
            for &eta in eta.clone().nth(row).expect("a row of step sizes") {
                let z = combine([(1.0, &next), (sign, h)]);
                let f = transition(&z);
                next = combine([(1.0, &next), (eta, &f), (-eta * cell.gamma, &z)]);
            }
            next
        }
        CellConfig::DeepTransition(cell) => {
            let (sign, mut next) = start(cell.sign, cell.start, h);
            let eta = p.get("eta").chunks_exact(cell.iterations);
            let row = k.min(eta.len() - 1);
            for &eta in eta.clone().nth(row).expect("a row of step sizes") {
                let z = combine([(1.0, &next), (sign, h)]);
                let inner = combine([(1.0, &p.u_times(&z)), (1.0, &p.w_times(x)), (1.0, p.get("b"))]);
                let mut a = apply(cell.activation, &inner);
                for layer in 2..cell.widths.len() + 2 {
                    let sum = plus(&times(p.get(&format!("U_{layer}")), &a), p.get(&format!("b_{layer}")));
                    a = apply(cell.activation, &sum);
                }
                next = combine([(1.0, &next), (eta, &a), (-eta * cell.gamma, &z)]);
            }
            next
        }
    }
}

/// The sign before `h_{k-1}`, and where the inner iteration starts.
fn start(sign: Sign, start: Start, h: &[f64]) -> (f64, Vec<f64>) {
    let sign = match sign {
        Sign::Plus => 1.0,
        Sign::Minus => -1.0,
    };
    match start {
        Start::Previous => (sign, h.to_vec()),
        Start::Zero => (sign, vec![0.0; h.len()]),
    }
}

/// `(Wh - Wh^T) h`.
fn antisymmetric(p: &Tensors, h: &[f64]) -> Vec<f64> {
    let back = match p.find("Wh") {
        Some(wh) => transposed_times(wh, h),
        None => transposed_times(p.get("B"), &transposed_times(p.get("A"), h)),
    };
    combine([(1.0, &p.times("Wh", ["A", "B"], h)), (-1.0, &back)])
}
