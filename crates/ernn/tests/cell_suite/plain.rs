//! The formulas at the top of each cell's file, literally, one sequence at a time and nothing folded, up to logits and loss.

use ernn::Isa;
use ernn::cell::{Activation, CellConfig, Projection, Sign, Span, Start};
use ernn::head::dropout_mask;
use ernn::model::{Pooling, Workspace};

use crate::assert_near;
use crate::table::{Case, cases};

/// The parameters of one cell, by name.
struct Tensors<'a> {
    spans: Vec<Span>,
    values: &'a [f64],
}

impl<'a> Tensors<'a> {
    fn get(&self, name: &str) -> &'a [f64] {
        self.find(name).unwrap_or_else(|| panic!("no tensor {name}"))
    }

    /// None where the cell's form has no such tensor.
    fn find(&self, name: &str) -> Option<&'a [f64]> {
        let span = self.spans.iter().find(|span| span.name == name)?;
        Some(&self.values[span.range()])
    }
}

/// `matrix v`.
fn times(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    let dot = |row: &[f64]| row.iter().zip(v).map(|(m, v)| m * v).sum();
    matrix.chunks_exact(v.len()).map(dot).collect()
}

/// `matrix^T v`.
fn transposed_times(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    let columns = matrix.len() / v.len();
    let column = |c: usize| (0..v.len()).map(|row| matrix[row * columns + c] * v[row]).sum();
    (0..columns).map(column).collect()
}

fn combine<const N: usize>(terms: [(f64, &[f64]); N]) -> Vec<f64> {
    let term = |index: usize| terms.iter().map(|(factor, values)| factor * values[index]).sum();
    (0..terms[0].1.len()).map(term).collect()
}

fn apply(activation: Activation, values: &[f64]) -> Vec<f64> {
    let phi = |&x: &f64| match activation {
        Activation::Relu => x.max(0.0),
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => sigmoid(x),
    };
    values.iter().map(phi).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `h_k` from `h_{k-1}` and `x_k`.
fn step(cell: &CellConfig, p: &Tensors, x: &[f64], h: &[f64], k: usize) -> Vec<f64> {
    let drive = combine([(1.0, &times(p.get("W"), x)), (1.0, p.get("b"))]);
    let two_factors = |first: &str, second: &str, v: &[f64]| times(p.get(first), &times(p.get(second), v));
    let u_times = |v: &[f64]| match p.find("U") {
        Some(u) => times(u, v),
        None => two_factors("U1", "U2", v),
    };
    let elman = |activation| apply(activation, &combine([(1.0, &drive), (1.0, &u_times(h))]));
    match cell {
        CellConfig::Rnn(cell) => elman(cell.activation),
        CellConfig::FastRnn(cell) => {
            let [keep, take] = ["beta", "alpha"].map(|name| sigmoid(p.get(name)[0]));
            combine([(keep, h), (take, &elman(cell.activation))])
        }
        CellConfig::Antisymmetric(cell) => {
            let (forth, back) = match p.find("Wh") {
                Some(wh) => (times(wh, h), transposed_times(wh, h)),
                None => {
                    let back = transposed_times(p.get("B"), &transposed_times(p.get("A"), h));
                    (two_factors("A", "B", h), back)
                }
            };
            let inner = combine([(1.0, &forth), (-1.0, &back), (-cell.gamma, h), (1.0, &drive)]);
            combine([(1.0, h), (cell.epsilon, &apply(cell.activation, &inner))])
        }
        CellConfig::Ernn(cell) => {
            let u_times = |v: &[f64]| match p.find("U") {
                Some(u) => times(u, v),
                None => combine([(1.0, v), (1.0, &two_factors("V", "H", v))]),
            };
            let p_times = |v: &[f64]| match cell.projection {
                Projection::Shared => u_times(v),
                Projection::Identity => v.to_vec(),
            };
            let sign = match cell.sign {
                Sign::Plus => 1.0,
                Sign::Minus => -1.0,
            };
            let eta = p.get("eta").chunks_exact(cell.iterations);
            let row = k.min(eta.len() - 1);
            let mut next = match cell.start {
                Start::Previous => h.to_vec(),
                Start::Zero => vec![0.0; h.len()],
            };
            for &eta in eta.clone().nth(row).expect("a row of step sizes") {
                let z = combine([(1.0, &next), (sign, h)]);
                let inner = p_times(&combine([(1.0, &u_times(&z)), (1.0, &drive)]));
                let f = apply(cell.activation, &inner);
                next = combine([(1.0, &next), (eta, &f), (-eta * cell.gamma, &z)]);
            }
            next
        }
    }
}

/// What the readout sees of one sequence.
fn pooled(case: &Case, sequence: usize) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = case
        .sequence(sequence)
        .chunks_exact(case.config.input_size)
        .map(<[f64]>::to_vec)
        .collect();
    let mut rest = &case.parameters[..];
    let mut inputs = case.config.input_size;
    for cell in &case.config.layers {
        let (own, tail) = rest.split_at(cell.parameter_count(inputs));
        let tensors = Tensors {
            spans: cell.spans(inputs, "", 0),
            values: own,
        };
        let mut h = vec![0.0; cell.hidden()];
        for (k, row) in rows.iter_mut().enumerate() {
            h = step(cell, &tensors, row, &h, k);
            row.clone_from(&h);
        }
        (rest, inputs) = (tail, cell.hidden());
    }
    match case.config.pooling {
        Pooling::Last => rows.pop().expect("a step"),
        Pooling::Mean => {
            let mean = |unit: usize| rows.iter().map(|row| row[unit]).sum::<f64>() / rows.len() as f64;
            (0..inputs).map(mean).collect()
        }
    }
}

fn readout(case: &Case, states: &[f64]) -> Vec<f64> {
    let classes = case.config.classes;
    let parameters = &case.parameters[case.parameters.len() - classes * (states.len() + 1)..];
    let (weight, bias) = parameters.split_at(classes * states.len());
    combine([(1.0, &times(weight, states)), (1.0, bias)])
}

/// The share of one sequence in the loss, dropout included.
struct Share {
    weight: f64,
    loss: f64,
    right: bool,
}

fn share(case: &Case, sequence: usize) -> Share {
    let mut states = pooled(case, sequence);
    if let Some((seed, epoch)) = case.dropout {
        let mut mask = Vec::new();
        let indices = [3 * sequence + 1];
        dropout_mask::<f64>(case.config.dropout, seed, epoch, &indices, states.len(), &mut mask);
        states = states.iter().zip(&mask).map(|(state, mask)| state * mask).collect();
    }
    let target = case.targets[sequence] as usize;
    let logits = readout(case, &states);
    let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
    Share {
        weight: case.class_weights.as_ref().map_or(1.0, |weights| weights[target]),
        loss: total.ln() - logits[target],
        right: logits.iter().all(|&logit| logit <= logits[target]),
    }
}

#[test]
fn logits_are_those_of_the_formulas() {
    for case in cases() {
        for isa in Isa::available() {
            let batch = case.batch::<f64>(isa);
            let logits = case
                .model()
                .logits(&batch.inputs, &mut Workspace::default())
                .expect("logits");
            assert_eq!(logits.len(), case.lengths.len() * case.config.classes, "{}", case.name);
            for (sequence, found) in logits.chunks_exact(case.config.classes).enumerate() {
                for (&found, expected) in found.iter().zip(readout(&case, &pooled(&case, sequence))) {
                    let what = || format!("{}, {isa:?}, sequence {sequence}", case.name);
                    assert!(expected.abs() < 50.0, "{}: the states grow", what());
                    assert_near(found, expected, 1e-11, what);
                }
            }
        }
    }
}

#[test]
fn loss_and_right_predictions_are_those_of_the_formulas() {
    for case in cases() {
        let model = case.model::<f64>();
        let mut gradient = vec![0.0; model.parameters().len()];
        let found = model.loss_and_gradient(
            &case.batch(Isa::best()),
            &case.options(),
            &mut Workspace::default(),
            &mut gradient,
        );
        let (found, right) = found.expect("a loss");
        let shares: Vec<_> = (0..case.lengths.len()).map(|sequence| share(&case, sequence)).collect();
        let total: f64 = shares.iter().map(|share| share.weight).sum();
        let expected = shares.iter().map(|share| share.weight * share.loss).sum::<f64>() / total;
        assert_near(found, expected, 1e-12, || case.name.clone());
        assert_eq!(
            right,
            shares.iter().filter(|share| share.right).count(),
            "{}",
            case.name
        );
    }
}
