//! A cell over whole sequences, forward and backward, on plain slices.
//!
//! ```text
//! input [B,T,d], initial [B,S], parameters [P]  ->  output [B, T D + S], or the part of it that is wanted
//! ```
//!
//! `S` is the size of a sequence's whole state: `D`, the LSTM's `2 D` (`h`, then `c`). A row of the output holds the hidden states of
//! all steps, zero behind the sequence's end, and then the state after its last step.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use burn::tensor::DType;
use ernn::Panels;
use ernn::cell::{CellConfig, Folded, Piece};
use ernn_kernels::StateGradient;
use rayon::prelude::*;

use crate::memory::{HostTensor, Loan, Number, Pool, lock};

/// What runs, besides the tensors.
#[derive(Clone, Debug)]
pub struct Sweep {
    pub(crate) cell: CellConfig,
    /// `d`.
    pub(crate) inputs: usize,
    /// `T`.
    pub(crate) steps: usize,
    /// Steps of each sequence.
    pub(crate) lengths: Vec<usize>,
    /// Steps of the sequences before this piece of them.
    pub(crate) first_step: usize,
    /// Whether the output holds the states of all steps.
    pub(crate) all: bool,
    /// Whether the output holds the state after the last step.
    pub(crate) last: bool,
    pub(crate) pool: Arc<Pool>,
}

/// The tensors that a sweep reads, contiguous.
pub(crate) struct Operands {
    pub input: HostTensor,
    pub initial: HostTensor,
    pub parameters: HostTensor,
}

/// The gradients of [`Operands`]; those of the input only where they are wanted.
pub(crate) struct OperandGradients {
    pub input: Option<HostTensor>,
    pub initial: HostTensor,
    pub parameters: HostTensor,
}

/// What a forward pass keeps for the way back, whatever its number type.
pub(crate) trait Kept: Debug + Send + Sync {
    /// The gradients, given that of the output.
    fn backward(&self, output: HostTensor, to_input: bool) -> OperandGradients;
}

impl Sweep {
    /// The output, where no backward pass follows.
    pub(crate) fn infer(&self, operands: &Operands) -> HostTensor {
        match operands.input.dtype() {
            DType::F32 => self.run::<f32>(operands, false).0,
            DType::F64 => self.run::<f64>(operands, false).0,
            other => panic!("input: found numbers of {other:?}, expected F32 or F64"),
        }
    }

    /// The output, and what the backward pass needs.
    pub(crate) fn forward(&self, operands: &Operands) -> (HostTensor, Arc<dyn Kept>) {
        match operands.input.dtype() {
            DType::F32 => self.keep::<f32>(operands),
            DType::F64 => self.keep::<f64>(operands),
            other => panic!("input: found numbers of {other:?}, expected F32 or F64"),
        }
    }

    fn keep<F: Number>(&self, operands: &Operands) -> (HostTensor, Arc<dyn Kept>) {
        let (output, folded, memory) = self.run::<F>(operands, true);
        let pass = Pass {
            sweep: self.clone(),
            folded,
            parameters: F::of(&operands.parameters).to_vec(),
            memory: Mutex::new(memory),
        };
        (output, Arc::new(pass))
    }

    fn run<F: Number>(&self, operands: &Operands, keep: bool) -> (HostTensor, Folded<F>, Loan<F>) {
        let [input, initial, parameters] = [&operands.input, &operands.initial, &operands.parameters].map(F::of);
        let folded = self.cell.fold(self.inputs, parameters);
        let mut loan = Loan::new(&self.pool);
        let memory = &mut *loan;
        let row = |sequence: usize, step: usize| &input[(sequence * self.steps + step) * self.inputs..][..self.inputs];
        memory.input.pack_steps(self.inputs, &self.lengths, row);
        let piece = Piece {
            input: &memory.input,
            initial: Some(initial),
            first_step: self.first_step,
        };
        if keep {
            folded.forward(piece, &mut memory.trace);
        } else {
            folded.infer(piece, &mut memory.trace);
        }
        let width = self.width(folded.state_len());
        let mut output = vec![F::ZERO; self.lengths.len() * width];
        if self.all {
            unpack(memory.trace.states(), width, &mut output);
        }
        if self.last {
            let size = folded.state_len();
            let rows = output.chunks_exact_mut(width);
            for (row, state) in rows.zip(memory.trace.last_state().chunks_exact(size)) {
                row[width - size..].copy_from_slice(state);
            }
        }
        (F::tensor(output, [self.lengths.len(), width]), folded, loan)
    }

    /// Numbers in a row of the output.
    fn width(&self, state_len: usize) -> usize {
        let all = if self.all { self.steps * self.cell.hidden() } else { 0 };
        all + if self.last { state_len } else { 0 }
    }
}

/// A forward pass that waits for its way back.
#[derive(Debug)]
struct Pass<F: Number> {
    sweep: Sweep,
    folded: Folded<F>,
    parameters: Vec<F>,
    memory: Mutex<Loan<F>>,
}

impl<F: Number> Kept for Pass<F> {
    fn backward(&self, output: HostTensor, to_input: bool) -> OperandGradients {
        let (sweep, sequences) = (&self.sweep, self.sweep.lengths.len());
        let (hidden, size) = (sweep.cell.hidden(), self.folded.state_len());
        let output = output.to_contiguous();
        let (gradient, width) = (F::of(&output), sweep.width(size));
        let mut loan = lock(&self.memory);
        let memory = &mut **loan;
        if sweep.all {
            let row = |sequence: usize, step: usize| &gradient[sequence * width + step * hidden..][..hidden];
            memory.state_gradient.pack_steps(hidden, &sweep.lengths, row);
        }
        // Of the state after the last step, `h` and the LSTM's `c`.
        let last = |range: std::ops::Range<usize>| -> Vec<F> {
            let rows = gradient
                .chunks_exact(width)
                .map(|row| &row[width - size..][range.clone()]);
            rows.flatten().copied().collect()
        };
        let [h, c] = match sweep.last {
            true => [last(0..hidden), last(hidden..size)],
            false => [Vec::new(), Vec::new()],
        };
        let states = StateGradient {
            all: sweep.all.then_some(&memory.state_gradient),
            last: sweep.last.then_some(&h[..]),
            last_memory: (sweep.last && size > hidden).then_some(&c[..]),
            ..StateGradient::default()
        };
        let piece = Piece {
            input: &memory.input,
            initial: None,
            first_step: sweep.first_step,
        };
        self.folded.backward(
            piece,
            &mut memory.trace,
            states,
            &mut memory.folded_gradient,
            to_input.then_some(&mut memory.input_gradient),
            Some(&mut memory.initial_gradient),
        );
        let mut parameters = vec![F::ZERO; self.parameters.len()];
        let folded = &memory.folded_gradient;
        sweep
            .cell
            .unfold(sweep.inputs, &self.parameters, folded, &mut parameters);
        let input = to_input.then(|| {
            let row = sweep.steps * sweep.inputs;
            let mut values = vec![F::ZERO; sequences * row];
            unpack(&memory.input_gradient, row, &mut values);
            F::tensor(values, [sequences, sweep.steps, sweep.inputs])
        });
        let count = parameters.len();
        OperandGradients {
            input,
            initial: F::tensor(memory.initial_gradient.clone(), [sequences, size]),
            parameters: F::tensor(parameters, [count]),
        }
    }
}

/// Writes the steps of each sequence to the front of its row of `out`, rows of `width` numbers.
fn unpack<F: Number>(panels: &Panels<F>, width: usize, out: &mut [F]) {
    let (lanes, features) = (panels.lanes(), panels.features());
    let blocks = out.par_chunks_mut((lanes * width).max(1)).enumerate();
    blocks.for_each(|(block, rows)| {
        let lengths = &panels.lengths()[block * lanes..];
        let longest = lengths.iter().take(lanes).copied().max().unwrap_or(0);
        // Step by step over the lanes of a block: a step of all of them lies in one piece of memory.
        for step in 0..longest {
            for (lane, row) in rows.chunks_exact_mut(width).enumerate() {
                if step < lengths[lane] {
                    panels.read_step(block * lanes + lane, step, &mut row[step * features..][..features]);
                }
            }
        }
    });
}
