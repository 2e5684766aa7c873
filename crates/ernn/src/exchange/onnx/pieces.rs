//! The pieces that the steps of cells are made of.

use std::ops::Range;

use ernn_kernels::Activation;

use super::graph::{Builder, Name};
use super::proto::Attribute;
use crate::cell::{Folded, FoldedDeep, FoldedGated, FoldedLeaky, FoldedRecurrent};
use crate::{Error, Result};

/// A folded cell whose step is a fixed sequence of operators.
#[derive(Clone, Copy, Debug)]
pub(super) enum Steps<'a> {
    Leaky(&'a FoldedLeaky<f32>),
    Gated(&'a FoldedGated<f32>),
    Deep(&'a FoldedDeep<f32>),
}

impl<'a> Steps<'a> {
    /// The cell, or why it cannot be written.
    pub fn of(cell: &'a Folded<f32>) -> Result<Self> {
        match cell {
            Folded::Leaky(cell) => Ok(Steps::Leaky(cell)),
            Folded::Gated(cell) => Ok(Steps::Gated(cell)),
            Folded::Deep(cell) => Ok(Steps::Deep(cell)),
            Folded::Equilibrium(_) => Err(at_equilibrium()),
        }
    }
}

fn at_equilibrium() -> Error {
    let found = "one that iterates until a state is its equilibrium";
    let expected = "euler, or fixed-point with gradient unrolled: the steps of an ONNX file are of fixed length";
    Error::setting("solver", found, expected)
}

/// A factor: a constant, or a number of the step.
#[derive(Clone, Debug)]
pub(super) enum Size {
    Fixed(f32),
    OfStep(Name),
}

/// `phi(value)`.
pub(super) fn activate(body: &mut Builder, activation: Activation, value: &str) -> Name {
    match activation {
        Activation::Relu => body.call("Relu", &[value]),
        Activation::Tanh => body.call("Tanh", &[value]),
        Activation::Sigmoid => body.call("Sigmoid", &[value]),
        Activation::HardTanh => {
            let [least, most] = [-1.0, 1.0].map(|bound| body.float(bound));
            body.call("Clip", &[value, &least, &most])
        }
        Activation::HardSigmoid => {
            let half = || Attribute::Float(0.5);
            body.call_with("HardSigmoid", &[value], vec![("alpha", half()), ("beta", half())])
        }
    }
}

/// `size * value`; nothing for a factor of 0.
pub(super) fn scaled(body: &mut Builder, size: &Size, value: Option<&str>) -> Option<Name> {
    let value = value?;
    match size {
        Size::Fixed(0.0) => None,
        Size::Fixed(1.0) => Some(value.to_string()),
        Size::Fixed(factor) => {
            let factor = body.float(*factor);
            Some(body.call("Mul", &[value, &factor]))
        }
        Size::OfStep(factor) => Some(body.call("Mul", &[value, factor])),
    }
}

/// The sum of what there is.
pub(super) fn sum(body: &mut Builder, terms: [Option<Name>; 2]) -> Option<Name> {
    match terms {
        [Some(one), Some(other)] => Some(body.call("Add", &[&one, &other])),
        [one, other] => one.or(other),
    }
}

/// `state M^T + addend`, `[batch,rows]`, of a matrix `[rows, columns]`.
pub(super) fn matrix(body: &mut Builder, weight: &[f32], rows: usize, state: &str, addend: Option<&str>) -> Name {
    let weight = body.floats(&[rows, weight.len() / rows], weight);
    let inputs: Vec<&str> = [state, weight.as_str()].into_iter().chain(addend).collect();
    body.call_with("Gemm", &inputs, vec![("transB", Attribute::Integer(1))])
}

/// The same of some rows of `R` `[groups D, D]`; one of low rank stays so.
pub(super) fn product(
    body: &mut Builder,
    recurrent: &FoldedRecurrent<f32>,
    hidden: usize,
    rows: Range<usize>,
    state: &str,
    addend: Option<&str>,
) -> Name {
    match recurrent {
        FoldedRecurrent::Dense(weight) => {
            let weight = &weight[rows.start * hidden..rows.end * hidden];
            matrix(body, weight, rows.len(), state, addend)
        }
        FoldedRecurrent::LowRank {
            rank,
            identity,
            left,
            right,
        } => {
            let code = matrix(body, right, *rank, state, None);
            let left = &left[rows.start * rank..rows.end * rank];
            let product = matrix(body, left, rows.len(), &code, addend);
            let own = scaled(body, &Size::Fixed(*identity), Some(state));
            sum(body, [Some(product.clone()), own]).unwrap_or(product)
        }
    }
}
