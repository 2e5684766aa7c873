//! Whole batches: blocks of sequences shared out over threads, gradients added up in the order of the blocks.
//!
//! The same for every family of cells. A family says through [`Recurrence`] which panels it keeps, packs its weights, and runs
//! one block forwards or backwards.

use std::sync::Mutex;

use crate::aligned::Aligned;
use crate::equilibrium::{Outcome, Tiles};
use crate::pack::Packed;
use crate::rows::{BlockOut, BlockRows, StatesOut, StepRows};
use crate::threads::{self, for_each_block};
use crate::{Isa, Panels, Real};

/// A folded cell: what the batch needs of it. Implemented by the families in this crate, and closed to others.
pub trait Recurrence<F: Real>: Sync {
    /// The gradients of its numbers, by name.
    type Gradient: Default;

    #[doc(hidden)]
    fn layout(&self, isa: Isa) -> Layout;
    #[doc(hidden)]
    fn pack_forward(&self, packs: &mut Vec<Packed<F>>);
    #[doc(hidden)]
    fn pack_backward(&self, packs: &mut Vec<Packed<F>>);
    #[doc(hidden)]
    fn forward_block(&self, isa: Isa, block: ForwardBlock<F>);
    #[doc(hidden)]
    fn backward_block(&self, isa: Isa, block: BackwardBlock<F>);
    /// The parts of a gradient, in the order of [`Layout::gradients`] and as many, whatever the gradient holds yet.
    #[doc(hidden)]
    fn parts<'g>(&self, gradient: &'g mut Self::Gradient) -> Vec<&'g mut Vec<F>>;
}

/// Sizes of what a cell keeps and computes.
#[derive(Clone, Debug)]
pub struct Layout {
    /// `d`.
    pub(crate) inputs: usize,
    /// `D`.
    pub(crate) hidden: usize,
    /// Features of a second state that is carried beside `h` (the LSTM's `c`), or 0.
    pub(crate) memory: usize,
    /// Features kept a step for the backward pass.
    pub(crate) saved: usize,
    /// Features of the low-rank codes kept a step.
    pub(crate) codes: usize,
    /// Numbers in each part of the gradient.
    pub(crate) gradients: Vec<usize>,
    /// Numbers of working memory of a block.
    pub(crate) forward_scratch: usize,
    pub(crate) backward_scratch: usize,
}

impl Layout {
    /// Numbers in the whole state of a sequence.
    fn state(&self) -> usize {
        self.hidden + self.memory
    }
}

/// What one block needs to run forwards: slices of its own, and what all blocks share.
pub struct ForwardBlock<'a, F> {
    pub(crate) packs: &'a [Packed<F>],
    /// Steps of each lane's sequence.
    pub(crate) lengths: &'a [usize],
    /// `[steps][d][lane]`.
    pub(crate) input: &'a [F],
    /// `[1 + steps][D][lane]`; slot 0 holds the initial state.
    pub(crate) states: &'a mut [F],
    /// `[1 + steps][memory][lane]`; empty for a cell without.
    pub(crate) memory: &'a mut [F],
    /// `[steps][saved][lane]`; empty: not kept.
    pub(crate) saved: &'a mut [F],
    /// `[steps][codes][lane]`; empty: not kept.
    pub(crate) codes: &'a mut [F],
    /// Where the states go besides.
    pub(crate) output: BlockOut<'a, F>,
    pub(crate) scratch: &'a mut [F],
}

/// What one block needs to run backwards.
pub struct BackwardBlock<'a, F> {
    pub(crate) read: BackwardRead<'a, F>,
    /// The parts of the gradient, one after the other.
    pub(crate) sums: &'a mut [F],
    /// `[steps][d][lane]`; may be empty.
    pub(crate) input_gradient: &'a mut [F],
    /// `[D + memory][lane]`: gradient at the initial state.
    pub(crate) initial_gradient: &'a mut [F],
    pub(crate) scratch: &'a mut [F],
}

/// What a block reads on its way back.
#[derive(Clone, Copy)]
pub struct BackwardRead<'a, F> {
    pub(crate) forward: &'a [Packed<F>],
    pub(crate) packs: &'a [Packed<F>],
    pub(crate) lengths: &'a [usize],
    /// `[steps][d][lane]`.
    pub(crate) input: &'a [F],
    /// As the forward pass left them.
    pub(crate) states: &'a [F],
    pub(crate) memory: &'a [F],
    pub(crate) saved: &'a [F],
    pub(crate) codes: &'a [F],
    /// Gradient at each sequence's last state, `[lanes in use, D]`; may be empty.
    pub(crate) last: &'a [F],
    /// The same for the memory.
    pub(crate) last_memory: &'a [F],
    /// Gradient at all states, `[steps][D][lane]`; may be empty.
    pub(crate) all: &'a [F],
    /// The same in rows.
    pub(crate) rows: Option<BlockRows<'a, F>>,
}

/// What the forward pass leaves for the backward pass, with all working memory; reuse it from batch to batch.
#[derive(Debug)]
pub struct Trace<F: Real> {
    pub(crate) states: Panels<F>,
    memory: Panels<F>,
    saved: Panels<F>,
    codes: Panels<F>,
    forward_packs: Vec<Packed<F>>,
    backward_packs: Vec<Packed<F>>,
    /// One a thread.
    pub(crate) scratch: Vec<Mutex<Aligned<F>>>,
    /// One a block.
    pub(crate) gradients: Vec<Vec<F>>,
    /// One a block, `[D + memory][lane]`.
    initial: Vec<Vec<F>>,
    /// Of a cell of the equilibrium family.
    pub(crate) equilibria: Tiles<F>,
}

impl<F: Real> Default for Trace<F> {
    fn default() -> Self {
        let empty = || Panels::new(Isa::best(), 1, &[]);
        Trace {
            states: empty(),
            memory: empty(),
            saved: empty(),
            codes: empty(),
            forward_packs: Vec::new(),
            backward_packs: Vec::new(),
            scratch: Vec::new(),
            gradients: Vec::new(),
            initial: Vec::new(),
            equilibria: Tiles::default(),
        }
    }
}

impl<F: Real> Trace<F> {
    /// The hidden states of all steps, zero behind a sequence's end; the initial states lead.
    pub fn states(&self) -> &Panels<F> {
        &self.states
    }

    /// Each sequence's whole state after its last step, `[sequences, D + memory]`: `h`, then for the LSTM `c`. Given as the
    /// initial state of the next piece, it goes on as if the sequence had never been cut.
    pub fn last_state(&self) -> Vec<F> {
        let (hidden, memory) = (self.states.features(), self.memory.features());
        let states = self.states.last_steps();
        if memory == 0 {
            return states;
        }
        let memories = self.memory.last_steps();
        let rows = states.chunks_exact(hidden).zip(memories.chunks_exact(memory));
        rows.flat_map(|(h, c)| h.iter().chain(c)).copied().collect()
    }

    /// How each equilibrium of `input` was found, in no particular order; empty for the cells of other families.
    pub fn outcomes<'a>(&'a self, input: &'a Panels<F>) -> impl Iterator<Item = Outcome> + 'a {
        self.equilibria.outcomes(input)
    }

    /// Numbers that the buffers for states and kept values have room for: what grows with the length of a batch.
    pub fn capacity(&self) -> usize {
        let panels = [&self.states, &self.memory, &self.saved, &self.codes];
        panels.iter().map(|panels| panels.capacity()).sum()
    }

    pub(crate) fn prepare_scratch(&mut self, len: usize) {
        let threads = threads::count();
        self.scratch
            .resize_with(threads.max(self.scratch.len()), Mutex::default);
        for scratch in &mut self.scratch {
            scratch.get_mut().expect("a kernel panicked before").resize(len);
        }
    }

    /// Lays the panels out and writes the initial state.
    pub(crate) fn prepare(&mut self, layout: &Layout, input: &Panels<F>, initial: Option<&[F]>, keep: bool) {
        let (isa, lengths) = (input.isa(), input.lengths());
        let kept = |features| if keep { features } else { 0 };
        self.states.lay_out(isa, layout.hidden, lengths, 1);
        self.memory
            .lay_out(isa, layout.memory, lengths, usize::from(layout.memory > 0));
        self.saved.lay_out(isa, kept(layout.saved), lengths, 0);
        self.codes.lay_out(isa, kept(layout.codes), lengths, 0);
        self.equilibria.forget();
        self.states.clear_initial();
        self.memory.clear_initial();
        if let Some(initial) = initial {
            let (sequences, size) = (input.sequences(), layout.state());
            assert_eq!(initial.len(), sequences * size, "initial states are [sequences, D]");
            for (sequence, row) in initial.chunks_exact(size).enumerate() {
                let (h, c) = row.split_at(layout.hidden);
                self.states.set_initial(sequence, h);
                if !c.is_empty() {
                    self.memory.set_initial(sequence, c);
                }
            }
        }
    }
}

/// Where the loss looks at the states.
#[derive(Clone, Copy, Debug)]
pub struct StateGradient<'a, F: Real> {
    /// Gradient at the last state of each sequence (a sequence of no steps: at its initial state), `[sequences, D]`.
    pub last: Option<&'a [F]>,
    /// Gradient at the last memory (the LSTM's `c`), `[sequences, D]`.
    pub last_memory: Option<&'a [F]>,
    /// Gradient at all states; what stands behind a sequence's end is not read.
    pub all: Option<&'a Panels<F>>,
    /// The same in rows, where they are not in panels.
    pub rows: Option<StepRows<'a, F>>,
}

impl<F: Real> Default for StateGradient<'_, F> {
    fn default() -> Self {
        StateGradient {
            last: None,
            last_memory: None,
            all: None,
            rows: None,
        }
    }
}

/// Runs a batch over all its steps from `initial` `[sequences, D]` (the LSTM's: `[sequences, 2 D]`, `h` and `c`; default:
/// zeros); the states are left in `trace`.
///
/// # Panics
/// If slices have other sizes than the docs say.
pub fn forward<F: Real, C: Recurrence<F>>(cell: &C, input: &Panels<F>, initial: Option<&[F]>, trace: &mut Trace<F>) {
    run(cell, input, initial, trace, true, None);
}

/// As [`forward`] where no backward pass follows: keeps the states only.
///
/// # Panics
/// As [`forward`].
pub fn infer<F: Real, C: Recurrence<F>>(cell: &C, input: &Panels<F>, initial: Option<&[F]>, trace: &mut Trace<F>) {
    run(cell, input, initial, trace, false, None);
}

/// As [`forward`] if a backward pass follows (`keep`), else as [`infer`]; the states also go into `output`.
///
/// # Panics
/// As [`forward`]; if a sequence is longer than the one before it, or `output` has another size.
pub fn run_into<F: Real, C: Recurrence<F>>(
    cell: &C,
    input: &Panels<F>,
    initial: Option<&[F]>,
    trace: &mut Trace<F>,
    keep: bool,
    output: StatesOut<F>,
) {
    run(cell, input, initial, trace, keep, Some(output));
}

fn run<F: Real, C: Recurrence<F>>(
    cell: &C,
    input: &Panels<F>,
    initial: Option<&[F]>,
    trace: &mut Trace<F>,
    keep: bool,
    output: Option<StatesOut<F>>,
) {
    let isa = input.isa();
    let layout = cell.layout(isa);
    assert_eq!(input.features(), layout.inputs, "the input has d values a step");
    trace.prepare(&layout, input, initial, keep);
    cell.pack_forward(&mut trace.forward_packs);
    trace.prepare_scratch(layout.forward_scratch);
    let (packs, scratch) = (&trace.forward_packs, &trace.scratch);
    let (states, memory) = (trace.states.blocks_mut(), trace.memory.blocks_mut());
    let (saved, codes) = (trace.saved.blocks_mut(), trace.codes.blocks_mut());
    let output = match output {
        Some(output) => output.blocks(input.lengths(), input.lanes(), layout.hidden),
        None => (0..input.blocks()).map(|_| BlockOut::NONE).collect(),
    };
    let tasks: Vec<_> = states
        .into_iter()
        .zip(memory)
        .zip(saved)
        .zip(codes)
        .zip(output)
        .enumerate()
        .collect();
    for_each_block(tasks, |(block, ((((states, memory), saved), codes), output))| {
        let mut scratch = thread_scratch(scratch);
        cell.forward_block(
            isa,
            ForwardBlock {
                packs,
                lengths: input.block_lengths(block),
                input: input.block(block),
                states,
                memory,
                saved,
                codes,
                output,
                scratch: &mut scratch,
            },
        );
    });
}

/// Gradients of a loss whose gradient at the states is given, after [`forward`] on the same cell and input.
///
/// `input_gradient` is laid out as `input`; `initial_gradient` is as the initial state.
///
/// # Panics
/// If `trace` is not that of [`forward`] on this cell and input, or slices have other sizes than the docs say.
pub fn backward<F: Real, C: Recurrence<F>>(
    cell: &C,
    input: &Panels<F>,
    trace: &mut Trace<F>,
    states: StateGradient<F>,
    gradient: &mut C::Gradient,
    mut input_gradient: Option<&mut Panels<F>>,
    initial_gradient: Option<&mut Vec<F>>,
) {
    let (isa, lanes) = (input.isa(), input.lanes());
    let layout = cell.layout(isa);
    check_gradient(&layout, input, trace, &states);
    let blocks = input.blocks();
    trace.gradients.resize_with(blocks.max(trace.gradients.len()), Vec::new);
    trace.initial.resize_with(blocks.max(trace.initial.len()), Vec::new);
    cell.pack_backward(&mut trace.backward_packs);
    trace.prepare_scratch(layout.backward_scratch);
    if let Some(panels) = &mut input_gradient {
        panels.lay_out(isa, layout.inputs, input.lengths(), 0);
    }
    let input_blocks: Vec<&mut [F]> = match input_gradient {
        Some(panels) => panels.blocks_mut(),
        None => (0..blocks).map(|_| &mut [][..]).collect(),
    };
    let Trace {
        states: traced,
        memory,
        saved,
        codes,
        forward_packs,
        backward_packs,
        scratch,
        gradients,
        initial,
        ..
    } = trace;
    let owned = gradients[..blocks].iter_mut().zip(&mut initial[..blocks]);
    let tasks: Vec<_> = owned.zip(input_blocks).enumerate().collect();
    for_each_block(tasks, |(block, ((sums, initial), input_gradient))| {
        sums.clear();
        sums.resize(layout.gradients.iter().sum(), F::ZERO);
        initial.resize(layout.state() * lanes, F::ZERO);
        let mut scratch = thread_scratch(scratch);
        let sequences = block * lanes..(block * lanes + input.block_lengths(block).len());
        let rows = |values: Option<&'_ [F]>, width: usize| -> std::ops::Range<usize> {
            values.map_or(0..0, |_| sequences.start * width..sequences.end * width)
        };
        let read = BackwardRead {
            forward: forward_packs,
            packs: backward_packs,
            lengths: input.block_lengths(block),
            input: input.block(block),
            states: traced.whole_block(block),
            memory: memory.whole_block(block),
            saved: saved.block(block),
            codes: codes.block(block),
            last: &states.last.unwrap_or(&[])[rows(states.last, layout.hidden)],
            last_memory: &states.last_memory.unwrap_or(&[])[rows(states.last_memory, layout.memory)],
            all: states.all.map_or(&[][..], |all| all.block(block)),
            rows: states.rows.map(|of| BlockRows {
                of,
                first: sequences.start,
            }),
        };
        cell.backward_block(
            isa,
            BackwardBlock {
                read,
                sums,
                input_gradient,
                initial_gradient: initial,
                scratch: &mut scratch,
            },
        );
    });
    add_up(&trace.gradients[..blocks], &layout.gradients, cell.parts(gradient));
    if let Some(out) = initial_gradient {
        out.clear();
        for sequence in 0..input.sequences() {
            let panel = &trace.initial[sequence / lanes];
            out.extend((0..layout.state()).map(|unit| panel[unit * lanes + sequence % lanes]));
        }
    }
}

pub(crate) fn check_gradient<F: Real>(layout: &Layout, input: &Panels<F>, trace: &Trace<F>, states: &StateGradient<F>) {
    assert_eq!(
        trace.states.lengths(),
        input.lengths(),
        "the trace belongs to another batch"
    );
    assert_eq!(
        (trace.saved.features(), trace.states.features()),
        (layout.saved, layout.hidden),
        "the trace is not one of `forward`"
    );
    for (values, width) in [(states.last, layout.hidden), (states.last_memory, layout.memory)] {
        if let Some(values) = values {
            let expected = input.sequences() * width;
            assert_eq!(
                values.len(),
                expected,
                "the gradient at the last states is [sequences, D]"
            );
        }
    }
    if let Some(all) = states.all {
        assert_eq!(
            (all.features(), all.lengths()),
            (layout.hidden, input.lengths()),
            "gradient at the states"
        );
    }
    if let Some(rows) = states.rows {
        assert!(
            rows.hold(input.lengths(), layout.hidden),
            "rows of the gradient at the states"
        );
    }
}

/// The sum over the blocks, in their order, whatever the threads did.
pub(crate) fn add_up<F: Real>(blocks: &[Vec<F>], sizes: &[usize], parts: Vec<&mut Vec<F>>) {
    let mut start = 0;
    for (part, &size) in parts.into_iter().zip(sizes) {
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

/// Cuts one vector at these lengths.
pub(crate) fn cut<F, const N: usize>(mut values: &mut [F], lengths: [usize; N]) -> [&mut [F]; N] {
    lengths.map(|len| {
        let (head, tail) = std::mem::take(&mut values).split_at_mut(len);
        values = tail;
        head
    })
}

/// The scratch of this thread.
pub(crate) fn thread_scratch<F>(scratch: &[Mutex<Aligned<F>>]) -> std::sync::MutexGuard<'_, Aligned<F>> {
    let index = rayon::current_thread_index().unwrap_or(0).min(scratch.len() - 1);
    scratch[index].lock().expect("a kernel panicked before")
}
