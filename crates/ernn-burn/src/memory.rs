//! Numbers that the kernels take, and working memory that goes from batch to batch.
//!
//! A pass over a batch borrows a [`Memory`] and gives it back when its node of the graph is gone: after the backward pass, or when no
//! one asks for one. Without that, every training step would touch fresh pages for all states.

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burn::backend::Flex;
use burn::backend::tensor::FloatTensor;
use burn::tensor::TensorData;
use ernn::cell::FoldedGradient;
use ernn::{Isa, Panels, Real};
use ernn_kernels::Trace;

/// The tensor of a backend that keeps its numbers in this process.
pub(crate) type HostTensor = FloatTensor<Flex>;

/// A number that Burn and the kernels share.
pub(crate) trait Number: Real + Debug + 'static {
    /// The numbers of a contiguous tensor of this type.
    fn of(tensor: &HostTensor) -> &[Self];
    /// A tensor of this shape.
    fn tensor<const D: usize>(values: Vec<Self>, shape: [usize; D]) -> HostTensor;
    /// The memories of this type that are free.
    fn free(pool: &Pool) -> &Mutex<Vec<Memory<Self>>>;
}

impl Number for f32 {
    fn of(tensor: &HostTensor) -> &[f32] {
        let layout = tensor.layout();
        &tensor.storage::<f32>()[layout.start_offset()..][..layout.num_elements()]
    }

    fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> HostTensor {
        HostTensor::from_data(TensorData::new(values, shape))
    }

    fn free(pool: &Pool) -> &Mutex<Vec<Memory<f32>>> {
        &pool.single
    }
}

impl Number for f64 {
    fn of(tensor: &HostTensor) -> &[f64] {
        let layout = tensor.layout();
        &tensor.storage::<f64>()[layout.start_offset()..][..layout.num_elements()]
    }

    fn tensor<const D: usize>(values: Vec<f64>, shape: [usize; D]) -> HostTensor {
        HostTensor::from_data(TensorData::new(values, shape))
    }

    fn free(pool: &Pool) -> &Mutex<Vec<Memory<f64>>> {
        &pool.double
    }
}

/// Working memory of a pass over a batch.
#[derive(Debug)]
pub(crate) struct Memory<F: Real> {
    pub input: Panels<F>,
    pub trace: Trace<F>,
    pub state_gradient: Panels<F>,
    pub folded_gradient: FoldedGradient<F>,
    pub input_gradient: Panels<F>,
    pub initial_gradient: Vec<F>,
}

impl<F: Real> Default for Memory<F> {
    fn default() -> Self {
        let empty = || Panels::new(Isa::best(), 1, &[]);
        Memory {
            input: empty(),
            trace: Trace::default(),
            state_gradient: empty(),
            folded_gradient: FoldedGradient::default(),
            input_gradient: empty(),
            initial_gradient: Vec::new(),
        }
    }
}

/// The memories of a layer that no pass uses; its clones share them.
#[derive(Debug, Default)]
pub struct Pool {
    single: Mutex<Vec<Memory<f32>>>,
    double: Mutex<Vec<Memory<f64>>>,
}

/// Locks; a thread that panicked has left nothing half done that the next pass would read.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A memory on loan.
#[derive(Debug)]
pub(crate) struct Loan<F: Number> {
    memory: Memory<F>,
    pool: Arc<Pool>,
}

impl<F: Number> Loan<F> {
    pub fn new(pool: &Arc<Pool>) -> Self {
        let free = lock(F::free(pool)).pop();
        Loan {
            memory: free.unwrap_or_default(),
            pool: pool.clone(),
        }
    }
}

impl<F: Number> Deref for Loan<F> {
    type Target = Memory<F>;

    fn deref(&self) -> &Memory<F> {
        &self.memory
    }
}

impl<F: Number> DerefMut for Loan<F> {
    fn deref_mut(&mut self) -> &mut Memory<F> {
        &mut self.memory
    }
}

impl<F: Number> Drop for Loan<F> {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        lock(F::free(&self.pool)).push(memory);
    }
}
