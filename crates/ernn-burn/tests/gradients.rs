//! States and gradients of every cell against Burn's autodiff over the formula, step by step.

mod cases;
mod eager;

use burn::tensor::{DType, Device, Tensor, TensorData};
use ernn_burn::Sequences;

use crate::cases::{Case, cases, draw};
use crate::eager::{Eager, State, running};

const INPUTS: usize = 3;
const HIDDEN: usize = 6;

/// What of a layer's output a loss looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Look {
    All,
    Last,
    Both,
}

/// A batch, and a loss: the sum of all that is looked at, each number by a weight of its own.
struct Batch {
    lengths: Vec<usize>,
    steps: usize,
    first_step: usize,
    look: Look,
    dtype: DType,
}

/// Outputs and gradients of one way, each with a name; in both ways in the same order.
type Found = Vec<(String, Vec<f64>)>;

fn device() -> Device {
    Device::flex().autodiff()
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

impl Batch {
    fn tensor<const D: usize>(&self, values: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values, shape), (&device(), self.dtype))
    }

    fn batch(&self) -> usize {
        self.lengths.len()
    }

    /// `[B,T,d]`, with `padding` behind the end of a sequence.
    fn input(&self, padding: f64) -> Vec<f64> {
        let mut values = draw(1, self.batch() * self.steps * INPUTS);
        for (sequence, &length) in self.lengths.iter().enumerate() {
            let end = (sequence + 1) * self.steps * INPUTS;
            values[(sequence * self.steps + length) * INPUTS..end].fill(padding);
        }
        values
    }

    /// Numbers `[B,T,width]` as a tensor `[B,width]` a step.
    fn by_step(&self, values: &[f64], width: usize) -> Vec<Tensor<2>> {
        let step = |step: usize| {
            let rows =
                (0..self.batch()).flat_map(|sequence| &values[(sequence * self.steps + step) * width..][..width]);
            self.tensor(rows.copied().collect(), [self.batch(), width])
        };
        (0..self.steps).map(step).collect()
    }

    fn initial(&self, size: usize) -> Vec<f64> {
        draw(2, self.batch() * size)
    }

    fn weights(&self, size: usize) -> [Vec<f64>; 2] {
        [
            draw(3, self.batch() * self.steps * HIDDEN),
            draw(4, self.batch() * size),
        ]
    }

    /// The layer: one node of the graph.
    fn fused(&self, case: &Case) -> Found {
        let layer = case.layer(INPUTS, &device(), self.dtype);
        let size = layer.d_state();
        let input = self
            .tensor(self.input(f64::NAN), [self.batch(), self.steps, INPUTS])
            .require_grad();
        let initial = self.tensor(self.initial(size), [self.batch(), size]).require_grad();
        let sequences = Sequences::new(input.clone())
            .with_lengths(self.lengths.clone())
            .with_state(initial.clone())
            .with_first_step(self.first_step);
        let [all_weights, last_weights] = self.weights(size);
        let all_weights = self.tensor(all_weights, [self.batch(), self.steps, HIDDEN]);
        let last_weights = self.tensor(last_weights, [self.batch(), size]);
        let (states, last) = match self.look {
            Look::All => (Some(layer.states(sequences)), None),
            Look::Last => (None, Some(layer.last(sequences))),
            Look::Both => {
                let (states, last) = layer.run(sequences);
                (Some(states), Some(last))
            }
        };
        let mut found = Found::new();
        let mut losses = Vec::new();
        if let Some(states) = states {
            found.push(("states".to_string(), numbers(states.clone())));
            losses.push((states * all_weights).sum());
        }
        if let Some(last) = last {
            found.push(("last state".to_string(), numbers(last.clone())));
            losses.push((last * last_weights).sum());
        }
        let gradients = Tensor::cat(losses, 0).sum().backward();
        found.push((
            "input".to_string(),
            numbers(input.grad(&gradients).expect("a gradient")),
        ));
        found.push((
            "state".to_string(),
            numbers(initial.grad(&gradients).expect("a gradient")),
        ));
        for (name, parameter) in layer.parameters.iter() {
            let gradient = match parameter {
                ernn_burn::Parameter::Matrix(matrix) => matrix.val().grad(&gradients).map(numbers),
                ernn_burn::Parameter::Vector(vector) => vector.val().grad(&gradients).map(numbers),
            };
            found.push((name.to_string(), gradient.expect("a gradient")));
        }
        found
    }

    /// The formula: some dozens of nodes a step.
    fn eager(&self, case: &Case) -> Found {
        let eager = Eager::new(&case.cell, INPUTS, &case.values(INPUTS), &device(), self.dtype);
        let long = case.name.starts_with("lstm");
        let size = if long { 2 * HIDDEN } else { HIDDEN };
        let inputs: Vec<Tensor<2>> = self.by_step(&self.input(0.0), INPUTS);
        let inputs: Vec<_> = inputs.into_iter().map(Tensor::require_grad).collect();
        let initial = self.tensor(self.initial(size), [self.batch(), size]).require_grad();
        let state = State {
            h: initial.clone().narrow(1, 0, HIDDEN),
            c: long.then(|| initial.clone().narrow(1, HIDDEN, HIDDEN)),
        };
        let states = eager.run(&inputs, state, Some(&self.lengths), self.first_step);
        let [all_weights, last_weights] = self.weights(size);
        let (mut found, mut losses) = (Found::new(), Vec::new());
        if self.look != Look::Last {
            let mut all = vec![0.0; self.batch() * self.steps * HIDDEN];
            for (step, (state, weights)) in states.iter().zip(self.by_step(&all_weights, HIDDEN)).enumerate() {
                let h = state.h.clone() * running(&self.lengths, step, &state.h);
                for (sequence, row) in numbers(h.clone()).chunks_exact(HIDDEN).enumerate() {
                    all[(sequence * self.steps + step) * HIDDEN..][..HIDDEN].copy_from_slice(row);
                }
                losses.push((h * weights).sum());
            }
            found.push(("states".to_string(), all));
        }
        if self.look != Look::All {
            let last = states.last().expect("a step").clone();
            let last = Tensor::cat([Some(last.h), last.c].into_iter().flatten().collect(), 1);
            found.push(("last state".to_string(), numbers(last.clone())));
            losses.push((last * self.tensor(last_weights, [self.batch(), size])).sum());
        }
        let gradients = Tensor::cat(losses, 0).sum().backward();
        let mut input = vec![0.0; self.batch() * self.steps * INPUTS];
        for (step, x) in inputs.iter().enumerate() {
            let gradient = x.grad(&gradients).map(numbers).expect("a gradient");
            for (sequence, row) in gradient.chunks_exact(INPUTS).enumerate() {
                input[(sequence * self.steps + step) * INPUTS..][..INPUTS].copy_from_slice(row);
            }
        }
        found.push(("input".to_string(), input));
        found.push((
            "state".to_string(),
            numbers(initial.grad(&gradients).expect("a gradient")),
        ));
        for (name, tensor) in eager.tensors() {
            // A step size that no step reads has no gradient.
            let zeros = vec![0.0; tensor.shape().num_elements()];
            found.push((name.clone(), tensor.grad(&gradients).map_or(zeros, numbers)));
        }
        found
    }

    /// Both ways, to a share of the largest number of each tensor.
    fn compare(&self, case: &Case, tolerance: f64) {
        let (fused, eager) = (self.fused(case), self.eager(case));
        assert_eq!(fused.len(), eager.len(), "{}", case.name);
        for ((name, found), (other, expected)) in fused.iter().zip(&eager) {
            assert_eq!((name, found.len()), (other, expected.len()), "{}", case.name);
            let scale = expected.iter().fold(1.0, |scale: f64, value| scale.max(value.abs()));
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                let apart = (found - expected).abs() / scale;
                assert!(
                    apart <= tolerance,
                    "{}, {:?}, {name}[{index}]: found {found}, expected {expected}",
                    case.name,
                    self.look
                );
            }
        }
    }
}

fn compare_all(dtype: DType, look: Look, lengths: &[usize], tolerance: f64) {
    let batch = Batch {
        steps: lengths.iter().copied().max().expect("a sequence"),
        lengths: lengths.to_vec(),
        first_step: 1,
        look,
        dtype,
    };
    for case in cases(HIDDEN) {
        match (case.solves(), dtype) {
            (false, _) => batch.compare(&case, tolerance),
            // The linear systems behind the gradient are solved to a tolerance.
            (true, DType::F64) => batch.compare(&case, 1e-7),
            // The cases ask for an equilibrium that single precision cannot find.
            (true, _) => {}
        }
    }
}

#[test]
fn gradients_through_all_states_are_those_of_autodiff() {
    compare_all(DType::F64, Look::All, &[7, 3, 7, 1, 6], 1e-11);
}

#[test]
fn gradients_through_the_last_state_are_those_of_autodiff() {
    compare_all(DType::F64, Look::Last, &[7, 3, 7, 1, 6], 1e-11);
}

#[test]
fn gradients_through_both_are_those_of_autodiff() {
    compare_all(DType::F64, Look::Both, &[5, 2, 5], 1e-11);
}

#[test]
fn gradients_of_single_precision_are_those_of_autodiff() {
    // Nearly three blocks of the widest registers.
    let lengths: Vec<usize> = (0..75).map(|index| 1 + index * 3 % 5).collect();
    compare_all(DType::F32, Look::Both, &lengths, 1e-5);
}
