//! The operation that Burn's backends get: a cell over whole sequences, as one node of the autodiff graph.
//!
//! Burn's macro routes a tensor to its backend. There are two: [`Flex`], whose numbers lie in this process, and its autodiff form, whose
//! backward pass is written here. On another backend Burn says which one and panics.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;

use crate::memory::HostTensor;
use crate::sweep::{Kept, Operands, Sweep};

/// What a backend has to offer.
#[backend_extension(Flex, Autodiff)]
pub trait SweepBackend: Backend {
    /// See [`crate::sweep`] for the shapes.
    fn sweep(
        input: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        sweep: Sweep,
    ) -> FloatTensor<Self>;
}

/// Runs it on the backend of these tensors: `input` `[B,T,d]`, `initial` `[B,S]`, `parameters` `[P]`.
pub(crate) fn sweep(input: Tensor<3>, initial: Tensor<2>, parameters: Tensor<1>, sweep: Sweep) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as SweepBackend>::sweep(
        input.into_dispatch(),
        initial.into_dispatch(),
        parameters.into_dispatch(),
        sweep,
    ))
}

fn operands(input: HostTensor, initial: HostTensor, parameters: HostTensor) -> Operands {
    Operands {
        input: input.to_contiguous(),
        initial: initial.to_contiguous(),
        parameters: parameters.to_contiguous(),
    }
}

impl SweepBackend for Flex {
    fn sweep(input: HostTensor, initial: HostTensor, parameters: HostTensor, sweep: Sweep) -> HostTensor {
        sweep.infer(&operands(input, initial, parameters))
    }
}

impl<C: CheckpointStrategy> SweepBackend for Autodiff<Flex, C> {
    fn sweep(
        input: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        sweep: Sweep,
    ) -> FloatTensor<Self> {
        let (input, input_node) = input.into_parts();
        let (initial, initial_node) = initial.into_parts();
        let (parameters, parameters_node) = parameters.into_parts();
        let operands = operands(input, initial, parameters);
        let nodes = [input_node, initial_node, parameters_node];
        match SweepBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(node) => {
                let (output, kept) = sweep.forward(&operands);
                node.finish(kept, output)
            }
            OpsKind::UnTracked(node) => node.finish(sweep.infer(&operands)),
        }
    }
}

/// The way back of a whole sweep.
#[derive(Debug)]
struct SweepBackward;

impl Backward<Flex, 3> for SweepBackward {
    type State = Arc<dyn Kept>;

    fn backward(self, ops: Ops<Self::State, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let [input, initial, parameters] = ops.parents;
        let output = gradients.consume::<Flex>(&ops.node);
        let found = ops.state.backward(output, input.is_some());
        if let (Some(node), Some(gradient)) = (input, found.input) {
            gradients.register::<Flex>(node.id, gradient);
        }
        if let Some(node) = initial {
            gradients.register::<Flex>(node.id, found.initial);
        }
        if let Some(node) = parameters {
            gradients.register::<Flex>(node.id, found.parameters);
        }
    }
}
