//! Forward pass of one sequence: the registers hold units instead of sequences. Every sum runs in the order of the block kernel,
//! so the bits are the same as in a batch.
//!
//! The input's part of the sums does not wait for a state: it is formed for some steps at once, so that its weights are read once for
//! all of them.

use super::{Constants, Formula, Gated, Gates, Plan};
use crate::aligned::Aligned;
use crate::columns::{Columns, INPUT_STEPS, Start, Way, fill_up, padded};
use crate::compiled::Compiled;
use crate::leaky::Recurrent;
use crate::simd::Vector;
use crate::{Activation, Isa, Real};

/// A folded cell with its weights packed for one sequence at a time; reusable.
#[derive(Clone, Debug)]
pub struct SequenceRunner<F> {
    isa: Isa,
    pub(super) gates: Gates,
    inputs: usize,
    hidden: usize,
    rank: usize,
    gate: Activation,
    activation: Activation,
    scalars: [F; 2],
    identity: F,
    /// Of the groups that read the input, `d` columns.
    input_weight: Columns<F>,
    /// `[groups][D padded]`.
    bias: Aligned<F>,
    /// `R` or `A` of the groups that read the state.
    state_weight: Columns<F>,
    /// The same of the group that reads `r * h`.
    reset_weight: Columns<F>,
    /// `B`.
    right: Columns<F>,
    scratch: Aligned<F>,
}

/// What the kernel reads and writes.
pub struct SequenceTask<'a, F> {
    pub(super) runner: &'a SequenceRunner<F>,
    scratch: &'a mut [F],
    /// `[T, d]`.
    input: &'a [F],
    /// `[D]` or `[2 D]`: the initial state, then the last one.
    state: &'a mut [F],
    /// `[T, D]`.
    states: &'a mut [F],
}

impl<F: Real> SequenceRunner<F> {
    /// Packs the weights of a cell.
    pub fn new(isa: Isa, cell: &Gated<F>) -> Self {
        cell.check();
        let (lanes, plan) = (isa.lanes::<F>() / 2, cell.gates.plan());
        let (d, hidden, rank) = (cell.inputs, cell.hidden, cell.rank());
        let (left, columns, right) = match cell.recurrent {
            Recurrent::Dense(weight) => (weight, hidden, &[][..]),
            Recurrent::LowRank { left, right, .. } => (left, rank, right),
        };
        let state_groups = plan.state.1 - plan.state.0;
        let (state, reset) = left.split_at(state_groups * hidden * columns);
        let mut scratch = Aligned::default();
        let width = padded(hidden, lanes);
        scratch.resize((INPUT_STEPS * plan.groups + 3) * width + padded(rank, lanes));
        SequenceRunner {
            isa,
            gates: cell.gates,
            inputs: d,
            hidden,
            rank,
            gate: cell.gate,
            activation: cell.activation,
            scalars: cell.scalars,
            identity: cell.identity(),
            input_weight: Columns::paired(cell.input_weight, [plan.input.1 - plan.input.0, hidden, d], lanes),
            bias: fill_up(cell.bias, plan.groups, lanes),
            state_weight: Columns::new(state, [state_groups, hidden, columns], lanes),
            reset_weight: Columns::new(reset, [usize::from(plan.reset), hidden, columns], lanes),
            right: Columns::new(right, [1, rank, hidden], lanes),
            scratch,
        }
    }

    /// Numbers in a state: `D`, or `2 D` for a cell with a memory.
    pub fn state_len(&self) -> usize {
        self.hidden * if self.gates.plan().memory { 2 } else { 1 }
    }

    /// Runs over `input` `[T, d]` from `state`, which becomes the state after the last step, and writes all `h` `[T, D]`.
    ///
    /// # Panics
    /// If `input` is not a whole number of steps, or `state` has another size.
    pub fn run(&mut self, input: &[F], state: &mut [F], states: &mut Vec<F>) {
        assert!(input.len().is_multiple_of(self.inputs), "the input is [T,d]");
        assert_eq!(
            state.len(),
            self.state_len(),
            "the state is [D], or [2 D] with a memory"
        );
        states.resize(input.len() / self.inputs * self.hidden, F::ZERO);
        let mut scratch = std::mem::take(&mut self.scratch);
        F::gated_sequence(
            self.isa,
            SequenceTask {
                runner: self,
                scratch: &mut scratch,
                input,
                state,
                states: &mut states[..],
            },
        );
        self.scratch = scratch;
    }
}

/// The kernel.
#[inline(always)]
pub(crate) fn sequence<V: Compiled, C: Formula>(task: SequenceTask<V::Scalar>) {
    let SequenceTask {
        runner,
        scratch,
        input,
        state,
        states,
    } = task;
    let (hidden, plan) = (runner.hidden, C::PLAN);
    let width = padded(hidden, V::LANES);
    let (h, rest) = scratch.split_at_mut(width);
    let (memory, rest) = rest.split_at_mut(width);
    let (reset, rest) = rest.split_at_mut(width);
    let stride = plan.groups * width;
    let (drive, codes) = rest.split_at_mut(INPUT_STEPS * stride);
    h.fill(V::Scalar::ZERO);
    memory.fill(V::Scalar::ZERO);
    h[..hidden].copy_from_slice(&state[..hidden]);
    if plan.memory {
        memory[..hidden].copy_from_slice(&state[hidden..]);
    }
    let constants = Constants::<V>::new(runner.scalars, runner.identity);
    let pieces = input
        .chunks(INPUT_STEPS * runner.inputs)
        .zip(states.chunks_mut(INPUT_STEPS * hidden));
    for (x, out) in pieces {
        inputs::<V>(runner, &plan, x, drive);
        let steps = drive.chunks_exact_mut(stride).zip(out.chunks_exact_mut(hidden));
        for (step, (sums, out)) in steps.enumerate() {
            let way = Way::of(step);
            let state_sums = &mut sums[plan.state.0 * width..plan.state.1 * width];
            recurrent::<V>(runner, &runner.state_weight, &h[..hidden], way, codes, state_sums);
            if plan.reset {
                V::activate(runner.gate, &mut sums[..width]);
                for at in (0..width).step_by(V::LANES) {
                    V::load(&sums[at..]).mul(V::load(&h[at..])).store(&mut reset[at..]);
                }
                let last = &mut sums[(plan.groups - 1) * width..];
                recurrent::<V>(runner, &runner.reset_weight, &reset[..hidden], way, codes, last);
            }
            formula::<V, C>(runner, &constants, sums, h, memory);
            out.copy_from_slice(&h[..hidden]);
        }
    }
    state[..hidden].copy_from_slice(&h[..hidden]);
    if plan.memory {
        state[hidden..].copy_from_slice(&memory[..hidden]);
    }
}

/// The sums of some steps without the state's part: bias and `W x`, or the bias alone.
#[inline(always)]
fn inputs<V: Compiled>(runner: &SequenceRunner<V::Scalar>, plan: &Plan, x: &[V::Scalar], drive: &mut [V::Scalar]) {
    let (bias, stride) = (&runner.bias[..], runner.bias.len());
    let width = stride / plan.groups;
    let (first, end) = (plan.input.0 * width, plan.input.1 * width);
    for row in drive.chunks_exact_mut(stride).take(x.len() / runner.inputs) {
        row[..first].copy_from_slice(&bias[..first]);
        row[end..].copy_from_slice(&bias[end..]);
    }
    V::inputs(&runner.input_weight, &bias[first..end], x, [first, stride], drive);
}

/// From the sums to the new state, as the block kernel.
#[inline(always)]
fn formula<V: Compiled, C: Formula>(
    runner: &SequenceRunner<V::Scalar>,
    constants: &Constants<V>,
    sums: &mut [V::Scalar],
    h: &mut [V::Scalar],
    memory: &mut [V::Scalar],
) {
    let (plan, width) = (C::PLAN, h.len());
    if plan.prepared {
        for at in (0..width).step_by(V::LANES) {
            let prepared = C::prepare(constants, groups::<V, C>(sums, at, width), V::load(&h[at..]));
            for (group, value) in prepared.into_iter().enumerate().take(plan.kept) {
                value.store(&mut sums[group * width + at..]);
            }
        }
    }
    V::activate(runner.gate, &mut sums[plan.gates.0 * width..plan.gates.1 * width]);
    let candidate = plan.candidate * width;
    if plan.gated_candidate {
        for at in (0..width).step_by(V::LANES) {
            C::candidate(groups::<V, C>(sums, at, width)).store(&mut sums[candidate + at..]);
        }
    }
    V::activate(runner.activation, &mut sums[candidate..][..width]);
    for at in (0..width).step_by(V::LANES) {
        let (old, old_memory) = (V::load(&h[at..]), V::load(&memory[at..]));
        let next = C::forward(constants, groups::<V, C>(sums, at, width), old, old_memory);
        next.store(&mut h[at..]);
        if plan.memory {
            next.store(&mut memory[at..]);
        }
    }
    if plan.memory {
        V::activate(runner.activation, h);
        for at in (0..width).step_by(V::LANES) {
            C::show(groups::<V, C>(sums, at, width), V::load(&h[at..])).store(&mut h[at..]);
        }
    }
}

/// A register of each group.
#[inline(always)]
fn groups<V: Vector, C: Formula>(sums: &[V::Scalar], at: usize, width: usize) -> [V; 4] {
    let mut values = [V::zero(); 4];
    for (group, value) in values.iter_mut().enumerate().take(C::PLAN.groups) {
        *value = V::load(&sums[group * width + at..]);
    }
    values
}

/// `sums += R source`, through `B source` where `R` has low rank.
#[inline(always)]
fn recurrent<V: Compiled>(
    runner: &SequenceRunner<V::Scalar>,
    weight: &Columns<V::Scalar>,
    source: &[V::Scalar],
    way: Way,
    codes: &mut [V::Scalar],
    sums: &mut [V::Scalar],
) {
    if runner.rank > 0 {
        V::columns(&runner.right, source, Start::Zero, way, codes);
        V::columns(weight, &codes[..runner.rank], Start::Here, way, sums);
    } else {
        V::columns(weight, source, Start::Here, way, sums);
    }
}
