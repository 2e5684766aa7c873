//! Whole batches: blocks of sequences shared out over threads, gradients added up in the order of the blocks.

use std::sync::Mutex;

use rayon::prelude::*;

use super::backward::{self, BackwardInput, BackwardPack, BackwardTask, BlockGradient};
use super::forward::{self, ForwardPack, ForwardTask};
use super::{Leaky, Recurrent};
use crate::aligned::Aligned;
use crate::{Panels, Real};

/// What the forward pass leaves for the backward pass, with all working memory; reuse it from batch to batch.
#[derive(Debug)]
pub struct Trace<F: Real> {
    states: Panels<F>,
    saved: Panels<F>,
    codes: Panels<F>,
    forward_pack: ForwardPack<F>,
    backward_pack: BackwardPack<F>,
    /// One a thread.
    scratch: Vec<Mutex<Aligned<F>>>,
    /// One a block.
    gradients: Vec<Vec<F>>,
    /// One a block, `[D][lane]`.
    initial: Vec<Vec<F>>,
}

impl<F: Real> Default for Trace<F> {
    fn default() -> Self {
        let empty = || Panels::new(crate::Isa::best(), 1, &[]);
        Trace {
            states: empty(),
            saved: empty(),
            codes: empty(),
            forward_pack: ForwardPack::default(),
            backward_pack: BackwardPack::default(),
            scratch: Vec::new(),
            gradients: Vec::new(),
            initial: Vec::new(),
        }
    }
}

impl<F: Real> Trace<F> {
    /// The hidden states of all steps, zero behind a sequence's end; the initial states lead.
    pub fn states(&self) -> &Panels<F> {
        &self.states
    }

    fn prepare_scratch(&mut self, len: usize) {
        let threads = rayon::current_num_threads();
        self.scratch
            .resize_with(threads.max(self.scratch.len()), Mutex::default);
        for scratch in &mut self.scratch {
            scratch.get_mut().expect("a kernel panicked before").resize(len);
        }
    }
}

/// Where the loss looks at the states.
#[derive(Clone, Copy, Debug)]
pub struct StateGradient<'a, F: Real> {
    /// Gradient at the last state of each sequence (a sequence of no steps: at its initial state), `[sequences, D]`.
    pub last: Option<&'a [F]>,
    /// Gradient at all states; what stands behind a sequence's end is not read.
    pub all: Option<&'a Panels<F>>,
}

/// Gradients of a folded cell, each of its parameter's shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeakyGradient<F> {
    /// Of `W`.
    pub input_weight: Vec<F>,
    /// Of `b`.
    pub bias: Vec<F>,
    /// Of `R` if dense, else of `A`.
    pub left: Vec<F>,
    /// Of `B`; empty for a dense `R`.
    pub right: Vec<F>,
    /// Of `a` (zeros unless the step sizes are learned).
    pub decay: Vec<F>,
    /// Of `e` (zeros unless the step sizes are learned).
    pub gain: Vec<F>,
}

impl<F: Real> LeakyGradient<F> {
    fn sizes(cell: &Leaky<F>) -> [usize; 6] {
        let (left, right) = match cell.recurrent {
            Recurrent::Dense(weight) => (weight.len(), 0),
            Recurrent::LowRank { left, right, .. } => (left.len(), right.len()),
        };
        [
            cell.input_weight.len(),
            cell.bias.len(),
            left,
            right,
            cell.decay.len(),
            cell.gain.len(),
        ]
    }

    fn parts(&mut self) -> [&mut Vec<F>; 6] {
        [
            &mut self.input_weight,
            &mut self.bias,
            &mut self.left,
            &mut self.right,
            &mut self.decay,
            &mut self.gain,
        ]
    }
}

/// Runs a batch over all its steps from `initial` `[sequences, D]` (default: zeros); the states are left in `trace`.
///
/// # Panics
/// If slices have other sizes than the docs say.
pub fn forward<F: Real>(cell: &Leaky<F>, input: &Panels<F>, initial: Option<&[F]>, trace: &mut Trace<F>) {
    run(cell, input, initial, trace, true);
}

fn run<F: Real>(cell: &Leaky<F>, input: &Panels<F>, initial: Option<&[F]>, trace: &mut Trace<F>, keep: bool) {
    cell.check();
    assert_eq!(input.features(), cell.inputs, "the input has d values a step");
    let (rank, isa, lanes) = (cell.rank(), input.isa(), input.lanes());
    trace.states.lay_out(isa, cell.hidden, input.lengths(), 1);
    trace
        .saved
        .lay_out(isa, if keep { cell.hidden } else { 0 }, input.lengths(), 0);
    trace
        .codes
        .lay_out(isa, if keep { rank } else { 0 }, input.lengths(), 0);
    trace.states.set_initial(initial);
    trace.forward_pack.pack(cell);
    trace.prepare_scratch(forward::scratch_len(cell.hidden, rank, lanes));
    let pack = &trace.forward_pack;
    let scratch = &trace.scratch;
    let states = trace.states.blocks_mut();
    let (saved, codes) = (trace.saved.blocks_mut(), trace.codes.blocks_mut());
    let tasks: Vec<_> = states.into_iter().zip(saved).zip(codes).enumerate().collect();
    for_each_block(tasks, |(block, ((states, saved), codes))| {
        let mut scratch = thread_scratch(scratch);
        let lengths = input.block_lengths(block);
        let task = ForwardTask {
            cell,
            pack,
            lengths,
            input: input.block(block),
            states,
            saved,
            codes,
            scratch: &mut scratch,
        };
        F::forward_block(isa, task);
    });
}

/// As [`forward`] where no backward pass follows: keeps the states only.
///
/// # Panics
/// As [`forward`].
pub fn infer<F: Real>(cell: &Leaky<F>, input: &Panels<F>, initial: Option<&[F]>, trace: &mut Trace<F>) {
    run(cell, input, initial, trace, false);
}

/// Gradients of a loss whose gradient at the states is given, after [`forward`] on the same cell and input.
///
/// `input_gradient` is laid out as `input`; `initial_gradient` is `[sequences, D]`.
///
/// # Panics
/// If `trace` is not that of [`forward`] on this cell and input, or slices have other sizes than the docs say.
pub fn backward<F: Real>(
    cell: &Leaky<F>,
    input: &Panels<F>,
    trace: &mut Trace<F>,
    states: StateGradient<F>,
    gradient: &mut LeakyGradient<F>,
    mut input_gradient: Option<&mut Panels<F>>,
    initial_gradient: Option<&mut Vec<F>>,
) {
    cell.check();
    let (rank, isa, lanes, hidden) = (cell.rank(), input.isa(), input.lanes(), cell.hidden);
    assert_eq!(
        trace.states.lengths(),
        input.lengths(),
        "the trace belongs to another batch"
    );
    assert_eq!(trace.saved.features(), hidden, "the trace is not one of `forward`");
    if let Some(last) = states.last {
        assert_eq!(
            last.len(),
            input.sequences() * hidden,
            "the gradient at the last states is [sequences, D]"
        );
    }
    if let Some(all) = states.all {
        assert_eq!(
            (all.features(), all.lengths()),
            (hidden, input.lengths()),
            "gradient at the states"
        );
    }
    let sizes = LeakyGradient::sizes(cell);
    let blocks = input.blocks();
    trace.gradients.resize_with(blocks.max(trace.gradients.len()), Vec::new);
    trace.initial.resize_with(blocks.max(trace.initial.len()), Vec::new);
    trace.backward_pack.pack(cell);
    trace.prepare_scratch(backward::scratch_len(hidden, rank, cell.iterations, lanes));
    if let Some(panels) = &mut input_gradient {
        panels.lay_out(isa, cell.inputs, input.lengths(), 0);
    }
    let input_blocks: Vec<&mut [F]> = match input_gradient {
        Some(panels) => panels.blocks_mut(),
        None => (0..blocks).map(|_| &mut [][..]).collect(),
    };
    let Trace {
        states: traced,
        saved,
        codes,
        forward_pack,
        backward_pack,
        scratch,
        gradients,
        initial,
    } = trace;
    let owned = gradients[..blocks].iter_mut().zip(&mut initial[..blocks]);
    let tasks: Vec<_> = owned.zip(input_blocks).enumerate().collect();
    for_each_block(tasks, |(block, ((sums, initial), input_gradient))| {
        sums.clear();
        sums.resize(sizes.iter().sum(), F::ZERO);
        initial.resize(hidden * lanes, F::ZERO);
        let mut scratch = thread_scratch(scratch);
        let sequences = block * lanes..(block * lanes + input.block_lengths(block).len());
        let read = BackwardInput {
            cell,
            forward: forward_pack,
            pack: backward_pack,
            lengths: input.block_lengths(block),
            input: input.block(block),
            states: traced.whole_block(block),
            saved: saved.block(block),
            codes: codes.block(block),
            last: states
                .last
                .map_or(&[][..], |last| &last[sequences.start * hidden..sequences.end * hidden]),
            all: states.all.map_or(&[][..], |all| all.block(block)),
        };
        let gradient = cut(sums, sizes);
        let task = BackwardTask {
            read,
            gradient,
            input_gradient,
            initial_gradient: initial,
            scratch: &mut scratch,
        };
        F::backward_block(isa, task);
    });
    add_up(&trace.gradients[..blocks], sizes, gradient);
    if let Some(out) = initial_gradient {
        out.clear();
        for sequence in 0..input.sequences() {
            let panel = &trace.initial[sequence / lanes];
            out.extend((0..hidden).map(|unit| panel[unit * lanes + sequence % lanes]));
        }
    }
}

/// The sum over the blocks, in their order, whatever the threads did.
fn add_up<F: Real>(blocks: &[Vec<F>], sizes: [usize; 6], gradient: &mut LeakyGradient<F>) {
    let mut start = 0;
    for (part, size) in gradient.parts().into_iter().zip(sizes) {
        part.clear();
        part.resize(size, F::ZERO);
        for block in blocks {
            for (sum, &value) in part.iter_mut().zip(&block[start..start + size]) {
                *sum += value;
            }
        }
        start += size;
    }
}

/// Cuts one block's vector into the gradients of the parameters.
fn cut<F>(sums: &mut [F], sizes: [usize; 6]) -> BlockGradient<'_, F> {
    let mut rest = sums;
    let mut take = |len: usize| {
        let (head, tail) = std::mem::take(&mut rest).split_at_mut(len);
        rest = tail;
        head
    };
    BlockGradient {
        input_weight: take(sizes[0]),
        bias: take(sizes[1]),
        left: take(sizes[2]),
        right: take(sizes[3]),
        decay: take(sizes[4]),
        gain: take(sizes[5]),
    }
}

/// Runs the tasks on the current thread pool; on one thread without any overhead.
fn for_each_block<T: Send>(tasks: Vec<T>, run: impl Fn(T) + Sync + Send) {
    if rayon::current_num_threads() == 1 || tasks.len() == 1 {
        tasks.into_iter().for_each(run);
    } else {
        tasks.into_par_iter().with_max_len(1).for_each(run);
    }
}

/// The scratch of this thread.
fn thread_scratch<F>(scratch: &[Mutex<Aligned<F>>]) -> std::sync::MutexGuard<'_, Aligned<F>> {
    let index = rayon::current_thread_index().unwrap_or(0).min(scratch.len() - 1);
    scratch[index].lock().expect("a kernel panicked before")
}
