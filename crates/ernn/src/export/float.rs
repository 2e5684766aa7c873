//! The plan of a `f32` image: the folded numbers as they are.

use ernn_core::{Activation, Format, Kind};
use ernn_kernels::Activation as KernelActivation;
use ernn_kernels::gated::Gates;

use super::network::{Cell, Network};
use super::plan::{DerivedPlan, Plan, PlannedLayer, Tensor, derived_tensors};
use crate::Result;
use crate::cell::{FoldedDeep, FoldedEquilibrium, FoldedGated, FoldedLeaky, FoldedRecurrent, Solver};
use crate::checkpoint::SavedModel;

/// The image of a model in `f32`.
///
/// # Errors
/// If no stream can go through the model.
pub fn float_image(saved: &SavedModel) -> Result<Vec<u8>> {
    Ok(plan(&Network::of(saved)?).encode())
}

pub(super) fn plan(network: &Network) -> Plan {
    Plan {
        format: Format::Float,
        inputs: network.inputs,
        first: network.first,
        outputs: network.outputs,
        unit: network.unit.clone(),
        several: network.several,
        pooling: network.pooling,
        tokens: network.tokens,
        narrow: false,
        derived: DerivedPlan::of(&network.derivation, network.inputs),
        input: (network.input.iter().cloned().map(Tensor::F32))
            .chain(derived_tensors(&network.derivation))
            .collect(),
        layers: network.layers.iter().map(layer).collect(),
        readout: vec![
            Tensor::F32(network.readout_weight.clone()),
            Tensor::F32(network.readout_bias.clone()),
        ],
    }
}

/// The words of a record that all formats share.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub kind: Kind,
    pub hidden: usize,
    pub rank: usize,
    pub activation: Activation,
    pub gate: Activation,
    pub iterations: usize,
    pub rows: usize,
    pub inner: usize,
}

impl Words {
    pub fn of(cell: &Cell) -> Self {
        match cell {
            Cell::Leaky(cell) => Words {
                kind: Kind::Leaky,
                hidden: cell.hidden,
                rank: rank(&cell.recurrent),
                activation: activation(cell.activation),
                gate: Activation::Relu,
                iterations: cell.iterations,
                rows: cell.decay.len() / cell.iterations,
                inner: 0,
            },
            Cell::Gated(cell) => Words {
                kind: kind(cell.gates),
                hidden: cell.hidden,
                rank: rank(&cell.recurrent),
                activation: activation(cell.activation),
                gate: activation(cell.gate),
                iterations: 0,
                rows: 0,
                inner: 0,
            },
            Cell::Deep(cell) => Words {
                kind: Kind::Deep,
                hidden: cell.hidden,
                rank: 0,
                activation: activation(cell.activation),
                gate: Activation::Relu,
                iterations: cell.iterations,
                rows: cell.decay.len() / cell.iterations,
                inner: cell.layers.len(),
            },
            Cell::Equilibrium(cell) => Words {
                kind: Kind::Equilibrium,
                hidden: cell.hidden,
                rank: if divides(cell) { rank(&cell.recurrent) } else { 0 },
                activation: activation(cell.activation),
                gate: Activation::Relu,
                iterations: cell.solver.max_iterations,
                rows: 0,
                inner: usize::from(cell.solver.solver != Solver::FixedPoint),
            },
        }
    }

    /// The record's words; `numbers` are words 7 to 11, `places` words 13 to 15.
    pub fn record(self, numbers: [u32; 5], places: [u32; 3]) -> [u32; 16] {
        let [start, previous, identity, one, two] = numbers;
        let [a, b, c] = places;
        [
            self.kind.number(),
            self.hidden as u32,
            self.rank as u32,
            self.activation.number() | self.gate.number() << 8,
            self.iterations as u32,
            self.rows as u32,
            self.inner as u32,
            start,
            previous,
            identity,
            one,
            two,
            0,
            a,
            b,
            c,
        ]
    }
}

fn layer(cell: &Cell) -> PlannedLayer {
    let multiplied;
    let (numbers, tensors) = match cell {
        Cell::Equilibrium(cell) => {
            multiplied = multiplied_out(cell);
            equilibrium(cell, multiplied.as_ref().unwrap_or(&cell.recurrent))
        }
        Cell::Leaky(cell) => leaky(cell),
        Cell::Gated(cell) => gated(cell),
        Cell::Deep(cell) => deep(cell),
    };
    PlannedLayer {
        words: Words::of(cell).record(numbers.map(f32::to_bits), [0; 3]),
        tensors: tensors.into_iter().cloned().map(Tensor::F32).collect(),
    }
}

type Content<'a> = ([f32; 5], Vec<&'a Vec<f32>>);

fn leaky(cell: &FoldedLeaky<f32>) -> Content<'_> {
    let mut tensors = vec![&cell.input_weight, &cell.bias];
    tensors.extend(matrices(&cell.recurrent));
    tensors.extend([&cell.decay, &cell.gain]);
    let numbers = [
        cell.start_scale,
        cell.previous_scale,
        identity(&cell.recurrent),
        0.0,
        0.0,
    ];
    (numbers, tensors)
}

fn gated(cell: &FoldedGated<f32>) -> Content<'_> {
    let mut tensors = vec![&cell.input_weight, &cell.bias];
    tensors.extend(matrices(&cell.recurrent));
    let [one, two] = cell.scalars;
    ([0.0, 0.0, identity(&cell.recurrent), one, two], tensors)
}

fn deep(cell: &FoldedDeep<f32>) -> Content<'_> {
    let mut tensors = vec![&cell.input_weight];
    for layer in &cell.layers {
        tensors.extend([&layer.weight, &layer.bias]);
    }
    tensors.extend([&cell.decay, &cell.gain]);
    ([cell.start_scale, cell.previous_scale, 0.0, 0.0, 0.0], tensors)
}

/// Words 4 and 6 say how it is solved: by Newton's method, or the fixed point's; Anderson's extrapolation finds what Newton's finds.
fn equilibrium<'a>(cell: &'a FoldedEquilibrium<f32>, recurrent: &'a FoldedRecurrent<f32>) -> Content<'a> {
    let mut tensors = vec![&cell.input_weight, &cell.bias];
    tensors.extend(matrices(recurrent));
    let tolerances = [cell.solver.tolerance as f32, cell.solver.relative_tolerance as f32];
    let [absolute, relative] = tolerances;
    (
        [cell.gamma, cell.previous_scale, identity(recurrent), absolute, relative],
        tensors,
    )
}

/// Whether Newton's system of `r` unknowns can be formed, or none is: `gamma - c phi'` is divided by.
fn divides(cell: &FoldedEquilibrium<f32>) -> bool {
    let steepest = match cell.activation {
        KernelActivation::Relu | KernelActivation::Tanh | KernelActivation::HardTanh => 1.0,
        KernelActivation::HardSigmoid => 0.5,
        KernelActivation::Sigmoid => 0.25,
    };
    cell.solver.solver == Solver::FixedPoint || identity(&cell.recurrent).abs() * steepest <= 0.999 * cell.gamma
}

/// `c I + A B` as one matrix, where [`divides`] says no.
fn multiplied_out(cell: &FoldedEquilibrium<f32>) -> Option<FoldedRecurrent<f32>> {
    let FoldedRecurrent::LowRank {
        rank,
        identity,
        left,
        right,
    } = &cell.recurrent
    else {
        return None;
    };
    let hidden = cell.hidden;
    let element = |place: usize| {
        let (row, column) = (place / hidden, place % hidden);
        let own = if row == column { *identity } else { 0.0 };
        (0..*rank).fold(own, |sum, k| sum + left[row * rank + k] * right[k * hidden + column])
    };
    (!divides(cell)).then(|| FoldedRecurrent::Dense((0..hidden * hidden).map(element).collect()))
}

fn matrices(recurrent: &FoldedRecurrent<f32>) -> Vec<&Vec<f32>> {
    match recurrent {
        FoldedRecurrent::Dense(weight) => vec![weight],
        FoldedRecurrent::LowRank { left, right, .. } => vec![left, right],
    }
}

fn rank(recurrent: &FoldedRecurrent<f32>) -> usize {
    match recurrent {
        FoldedRecurrent::Dense(_) => 0,
        FoldedRecurrent::LowRank { rank, .. } => *rank,
    }
}

pub(super) fn identity(recurrent: &FoldedRecurrent<f32>) -> f32 {
    match recurrent {
        FoldedRecurrent::Dense(_) => 0.0,
        FoldedRecurrent::LowRank { identity, .. } => *identity,
    }
}

fn kind(gates: Gates) -> Kind {
    match gates {
        Gates::Lstm => Kind::Lstm,
        Gates::GruAfter => Kind::GruAfter,
        Gates::GruBefore => Kind::GruBefore,
        Gates::Ugrnn => Kind::Ugrnn,
        Gates::FastGrnn => Kind::FastGrnn,
        Gates::Antisymmetric => Kind::Antisymmetric,
    }
}

fn activation(activation: KernelActivation) -> Activation {
    match activation {
        KernelActivation::Relu => Activation::Relu,
        KernelActivation::Tanh => Activation::Tanh,
        KernelActivation::Sigmoid => Activation::Sigmoid,
        KernelActivation::HardTanh => Activation::HardTanh,
        KernelActivation::HardSigmoid => Activation::HardSigmoid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::SolverSettings;

    #[test]
    fn a_diagonal_that_may_vanish_is_multiplied_out() {
        let mut cell = FoldedEquilibrium {
            inputs: 1,
            hidden: 2,
            input_weight: vec![0.0; 2],
            bias: vec![0.0; 2],
            recurrent: FoldedRecurrent::LowRank {
                rank: 1,
                identity: 1.0,
                left: vec![2.0, 3.0],
                right: vec![5.0, 7.0],
            },
            activation: KernelActivation::Tanh,
            gamma: 1.0,
            previous_scale: 1.0,
            solver: SolverSettings::default(),
        };
        let dense = FoldedRecurrent::Dense(vec![11.0, 14.0, 15.0, 22.0]);
        assert_eq!(multiplied_out(&cell), Some(dense));
        assert_eq!(Words::of(&Cell::Equilibrium(cell.clone())).rank, 0);
        cell.gamma = 1.1;
        assert_eq!(multiplied_out(&cell), None);
        assert_eq!(Words::of(&Cell::Equilibrium(cell)).rank, 1);
    }
}
