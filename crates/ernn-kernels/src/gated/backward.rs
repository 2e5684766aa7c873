//! Backward pass of one block of sequences.
//!
//! A step takes the gradient `g` at `h_t` (and that at `c_t`) through the cell's formula to the deltas of all groups, then
//!
//! ```text
//! g  <- (what the formula passes on) + R^T delta       dW += delta x_t^T     db += delta
//! dR += delta h_{t-1}^T                                dx_t += W^T delta
//! ```
//!
//! With a reset, `r * h` stands in the place of `h` for the last group, and the delta of `r` follows from `R_n^T delta_n`. Time is
//! cut into chunks as in the leaky family: deltas are kept within one, and its end forms the weight gradients of all its steps.

use super::forward::half as half_of;
use super::{Constants, Formula, Gated, Here, Plan, slot};
use crate::Real;
use crate::blocks::{BackwardBlock, BackwardRead, cut};
use crate::compiled::Compiled;
use crate::lanes::{add_last, add_loss, add_rows, shortest};
use crate::leaky::Recurrent;
use crate::outer::{Outer, Rows, sum_rows};
use crate::pack::Packed;
use crate::panels::slot_rows;
use crate::product::{Epilogue, Product, Store};
use crate::simd::{Vector, load_row, row, store_row};

/// Panels of `D` features of deltas in a chunk.
const CHUNK_PANELS: usize = 32;

/// Packs for the backward pass: `R^T` or `A^T` of the groups that read `h`.
const STATE: usize = 0;
/// `R^T` or `A^T` of the group that reads `r * h`.
const RESET: usize = 1;
/// `B^T`.
const RIGHT: usize = 2;
/// `W^T`.
const INPUT: usize = 3;

/// Packs the transposed weights of a cell.
pub(super) fn pack<F: Real>(cell: &Gated<F>, packs: &mut Vec<Packed<F>>) {
    packs.resize_with(4, Packed::default);
    let (d, hidden, plan) = (cell.inputs, cell.hidden, cell.gates.plan());
    let (columns, weight, right) = match cell.recurrent {
        Recurrent::Dense(weight) => (hidden, weight, &[][..]),
        Recurrent::LowRank { rank, left, right, .. } => (rank, left, right),
    };
    let state_rows = (plan.state.1 - plan.state.0) * hidden;
    packs[STATE].pack(columns, state_rows, |row, column| weight[column * columns + row]);
    let reset = if plan.reset { hidden } else { 0 };
    packs[RESET].pack(if plan.reset { columns } else { 0 }, reset, |row, column| {
        weight[(state_rows + column) * columns + row]
    });
    let rank = right.len() / hidden;
    packs[RIGHT].pack(if rank > 0 { hidden } else { 0 }, rank, |row, column| {
        right[column * hidden + row]
    });
    let input_rows = (plan.input.1 - plan.input.0) * hidden;
    packs[INPUT].pack(d, input_rows, |row, column| cell.input_weight[column * d + row]);
}

/// What one block needs.
pub struct BackwardTask<'a, F> {
    pub(crate) cell: &'a Gated<'a, F>,
    pub(crate) block: BackwardBlock<'a, F>,
}

fn chunk_steps(plan: &Plan) -> usize {
    CHUNK_PANELS / plan.groups
}

/// Numbers of scratch that the backward pass of a block needs.
pub(super) fn scratch_len(plan: &Plan, hidden: usize, rank: usize, row: usize) -> usize {
    let reset = if plan.reset { slot_rows(hidden) } else { 0 };
    let step = slot_rows(plan.groups * hidden) + slot_rows(plan.codes() * rank) + reset;
    (chunk_steps(plan) * step + 2 * hidden) * row
}

/// Vectors kept within a chunk, a slot a step.
struct Chunk<'a, F> {
    /// Deltas of all groups, `[groups D][lane]`.
    delta: &'a mut [F],
    delta_slot: usize,
    /// `A^T delta` of the groups that read `h`, then of the one that reads `r * h`.
    codes: &'a mut [F],
    code_slot: usize,
    /// `r * h_{t-1}`.
    reset: &'a mut [F],
    state_slot: usize,
    /// Of the step under way: gradient at `r * h_{t-1}`; or `phi(c_t)`, and the gradient there.
    panel: &'a mut [F],
    other_panel: &'a mut [F],
}

impl<'a, F: Real> Chunk<'a, F> {
    fn new(plan: &Plan, cell: &Gated<F>, row: usize, scratch: &'a mut [F]) -> Self {
        let (steps, hidden) = (chunk_steps(plan), cell.hidden);
        let (delta_slot, code_slot, state_slot) = (
            slot(plan.groups * hidden, row),
            slot(plan.codes() * cell.rank(), row),
            slot(hidden, row),
        );
        let reset = if plan.reset { steps * state_slot } else { 0 };
        let lengths = [steps * delta_slot, steps * code_slot, reset, hidden * row, hidden * row];
        let [delta, codes, reset, panel, other_panel] = cut(scratch, lengths);
        Chunk {
            delta,
            delta_slot,
            codes,
            code_slot,
            reset,
            state_slot,
            panel,
            other_panel,
        }
    }
}

/// Runs a block backwards over all its steps.
#[inline(always)]
pub(crate) fn backward<V: Compiled, C: Formula>(task: BackwardTask<V::Scalar>) {
    let BackwardTask { cell, block } = task;
    let BackwardBlock {
        read,
        sums,
        input_gradient,
        initial_gradient,
        scratch,
    } = block;
    let (width, panel) = (row::<V>(), cell.hidden * row::<V>());
    let mut sums = cut(sums, cell.gradient_sizes());
    let mut chunk = Chunk::new(&C::PLAN, cell, width, scratch);
    let input_slot = slot(cell.inputs, width);
    let (shortest, span) = (shortest::<V>(read.lengths), chunk_steps(&C::PLAN));
    initial_gradient.fill(V::Scalar::ZERO);
    let (gradient, memory_gradient) = initial_gradient.split_at_mut(panel);
    let mut end = read.states.len() / chunk.state_slot - 1;
    while end > 0 {
        let first = (end - 1) / span * span;
        for step in (first..end).rev() {
            add_loss::<V>(&read, step, shortest, chunk.state_slot, gradient);
            if C::PLAN.memory {
                add_last::<V>(read.lengths, read.last_memory, step + 1, memory_gradient);
            }
            let mut at = Step::<V> {
                cell,
                read: &read,
                step,
                local: step - first,
                gradient,
                memory_gradient,
            };
            at.formula::<C>(&mut chunk, sums[4]);
            if C::PLAN.reset {
                at.reset::<C>(&mut chunk);
            }
            at.recurrent::<C>(&mut chunk);
            if !input_gradient.is_empty() {
                let (from, to) = C::PLAN.input;
                let delta = &chunk.delta[(step - first) * chunk.delta_slot + from * panel..][..(to - from) * panel];
                let out = &mut input_gradient[step * input_slot..][..cell.inputs * width];
                V::product(Product::plain(&read.packs[INPUT], delta), &mut Store::plain(out));
            }
        }
        weight_gradients::<V, C>(cell, &read, first..end, &chunk, &mut sums);
        end = first;
    }
    add_last::<V>(read.lengths, read.last, 0, gradient);
    if C::PLAN.memory {
        add_last::<V>(read.lengths, read.last_memory, 0, memory_gradient);
    }
}

/// One step back.
struct Step<'a, V: Compiled> {
    cell: &'a Gated<'a, V::Scalar>,
    read: &'a BackwardRead<'a, V::Scalar>,
    step: usize,
    /// Its place in the chunk.
    local: usize,
    /// From `h_t` to `h_{t-1}`.
    gradient: &'a mut [V::Scalar],
    /// From `c_t` to `c_{t-1}`.
    memory_gradient: &'a mut [V::Scalar],
}

impl<V: Compiled> Step<'_, V> {
    /// The cell's formula: from the gradient at the state to the deltas of all groups.
    #[inline(always)]
    fn formula<C: Formula>(&mut self, chunk: &mut Chunk<V::Scalar>, scalars: &mut [V::Scalar]) {
        let (plan, panel) = (C::PLAN, self.cell.hidden * row::<V>());
        let constants = Constants::new(self.cell.scalars, self.cell.identity());
        if plan.memory {
            self.show::<C>(chunk);
        }
        self.state_back::<C>(&constants, chunk, scalars);
        let saved_slot = slot(plan.kept * self.cell.hidden, row::<V>());
        let kept = &self.read.saved[self.step * saved_slot..][..plan.kept * panel];
        let delta = &mut chunk.delta[self.local * chunk.delta_slot..][..plan.groups * panel];
        let candidate = plan.candidate * panel..(plan.candidate + 1) * panel;
        V::derive(self.cell.activation, &kept[candidate.clone()], &mut delta[candidate]);
        if plan.gated_candidate {
            for unit in 0..self.cell.hidden {
                let (groups, deltas) = (
                    rows_of::<V>(kept, plan.kept, unit, panel),
                    rows_of::<V>(delta, plan.groups, unit, panel),
                );
                let low = C::candidate_back(half_of(groups, 0), half_of(deltas, 0));
                let high = C::candidate_back(half_of(groups, 1), half_of(deltas, 1));
                store_rows([low, high], plan.groups, delta, unit, panel);
            }
        }
        let gates = plan.gates.0 * panel..plan.gates.1 * panel;
        V::derive(self.cell.gate, &kept[gates.clone()], &mut delta[gates]);
        if plan.prepared {
            for unit in 0..self.cell.hidden {
                let at = unit * row::<V>();
                let deltas = rows_of::<V>(delta, plan.kept, unit, panel);
                let sum = [C::prepare_back(half_of(deltas, 0)), C::prepare_back(half_of(deltas, 1))];
                store_row(sum, &mut delta[plan.kept * panel + at..]);
                let old = load_row::<V>(&self.gradient[at..]);
                let passed = [
                    sum[0].mul_add(constants.identity, old[0]),
                    sum[1].mul_add(constants.identity, old[1]),
                ];
                store_row(passed, &mut self.gradient[at..]);
            }
        }
    }

    /// `phi(c_t)`, and the gradient at `c_t`.
    #[inline(always)]
    fn show<C: Formula>(&mut self, chunk: &mut Chunk<V::Scalar>) {
        let (plan, panel) = (C::PLAN, self.cell.hidden * row::<V>());
        let shown = &mut chunk.panel[..panel];
        shown.copy_from_slice(&self.read.memory[(self.step + 1) * chunk.state_slot..][..panel]);
        V::activate(self.cell.activation, shown);
        let kept = &self.read.saved[self.step * slot(plan.kept * self.cell.hidden, row::<V>())..];
        for unit in 0..self.cell.hidden {
            let at = unit * row::<V>();
            let (groups, gradient) = (
                rows_of::<V>(kept, plan.kept, unit, panel),
                load_row::<V>(&self.gradient[at..]),
            );
            let at_shown = [
                C::show_back(half_of(groups, 0), gradient[0]),
                C::show_back(half_of(groups, 1), gradient[1]),
            ];
            store_row(at_shown, &mut chunk.other_panel[at..]);
        }
        V::derive(self.cell.activation, shown, &mut chunk.other_panel[..panel]);
        add_rows::<V>(&chunk.other_panel[..panel], None, self.memory_gradient);
    }

    /// From the gradient at the new state to those at gates, candidate and old state.
    #[inline(always)]
    fn state_back<C: Formula>(
        &mut self,
        constants: &Constants<V>,
        chunk: &mut Chunk<V::Scalar>,
        scalars: &mut [V::Scalar],
    ) {
        let (plan, hidden, width) = (C::PLAN, self.cell.hidden, row::<V>());
        let panel = hidden * width;
        let (saved_slot, state_slot) = (slot(plan.kept * hidden, width), chunk.state_slot);
        let kept = &self.read.saved[self.step * saved_slot..][..plan.kept * panel];
        let ahead = match self.step {
            0 => &[][..],
            step => &self.read.saved[(step - 1) * saved_slot..][..plan.kept * panel],
        };
        let state = &self.read.states[self.step * state_slot..][..panel];
        let mut memory = &[][..];
        if plan.memory {
            memory = &self.read.memory[self.step * state_slot..];
        }
        let delta = &mut chunk.delta[self.local * chunk.delta_slot..][..plan.groups * panel];
        let mut scalar_sums = [V::zero(); 2];
        for unit in 0..hidden {
            let at = unit * width;
            let groups = rows_of::<V>(kept, plan.kept, unit, panel);
            prefetch::<V>(ahead, plan.kept, unit, panel);
            let (h, gradient) = (load_row::<V>(&state[at..]), load_row::<V>(&self.gradient[at..]));
            let (mut old, mut shown, mut memory_gradient) = ([V::zero(); 2], [V::zero(); 2], [V::zero(); 2]);
            if plan.memory {
                old = load_row(&memory[at..]);
                shown = load_row(&chunk.panel[at..]);
                memory_gradient = load_row(&self.memory_gradient[at..]);
            }
            let low = Here {
                kept: half_of(groups, 0),
                h: h[0],
                memory: old[0],
                shown: shown[0],
                gradient: gradient[0],
                memory_gradient: memory_gradient[0],
            };
            let high = Here {
                kept: half_of(groups, 1),
                h: h[1],
                memory: old[1],
                shown: shown[1],
                gradient: gradient[1],
                memory_gradient: memory_gradient[1],
            };
            let (low, high) = (C::backward(constants, &low), C::backward(constants, &high));
            store_rows([low.deltas, high.deltas], plan.kept, delta, unit, panel);
            store_row([low.gradient, high.gradient], &mut self.gradient[at..]);
            if plan.memory {
                store_row(
                    [low.memory_gradient, high.memory_gradient],
                    &mut self.memory_gradient[at..],
                );
            }
            if plan.scalars {
                for (sum, (low, high)) in scalar_sums.iter_mut().zip(low.scalars.into_iter().zip(high.scalars)) {
                    *sum = sum.add(low.add(high));
                }
            }
        }
        if plan.scalars {
            scalars[0] += scalar_sums[0].sum();
            scalars[1] += scalar_sums[1].sum();
        }
    }

    /// From the delta of the group that reads `r * h` to that of `r`, and to `h`.
    #[inline(always)]
    fn reset<C: Formula>(&mut self, chunk: &mut Chunk<V::Scalar>) {
        let (hidden, width, rank) = (self.cell.hidden, row::<V>(), self.cell.rank());
        let panel = hidden * width;
        let delta = &mut chunk.delta[self.local * chunk.delta_slot..][..C::PLAN.groups * panel];
        let (delta_r, last) = delta.split_at_mut((C::PLAN.groups - 1) * panel);
        let packs = self.read.packs;
        if rank > 0 {
            let codes = &mut chunk.codes[self.local * chunk.code_slot + rank * width..][..rank * width];
            V::product(Product::plain(&packs[RESET], last), &mut Store::plain(codes));
            V::product(Product::plain(&packs[RIGHT], codes), &mut Store::plain(chunk.panel));
        } else {
            V::product(Product::plain(&packs[RESET], last), &mut Store::plain(chunk.panel));
        }
        let r_rows = &self.read.saved[self.step * slot(C::PLAN.kept * hidden, width)..][..panel];
        let state = &self.read.states[self.step * chunk.state_slot..][..panel];
        let reset = &mut chunk.reset[self.local * chunk.state_slot..][..panel];
        for unit in 0..hidden {
            let range = unit * width..(unit + 1) * width;
            let r = load_row::<V>(&r_rows[range.clone()]);
            let h = load_row::<V>(&state[range.clone()]);
            let at_reset = load_row::<V>(&chunk.panel[range.clone()]);
            let gradient = load_row::<V>(&self.gradient[range.clone()]);
            let (mut delta, mut passed, mut product) = ([V::zero(); 2], [V::zero(); 2], [V::zero(); 2]);
            for half in 0..2 {
                delta[half] = at_reset[half].mul(h[half]);
                passed[half] = r[half].mul_add(at_reset[half], gradient[half]);
                product[half] = r[half].mul(h[half]);
            }
            store_row(delta, &mut delta_r[range.clone()]);
            store_row(passed, &mut self.gradient[range.clone()]);
            store_row(product, &mut reset[range]);
        }
        V::derive(self.cell.gate, r_rows, &mut delta_r[..panel]);
    }

    /// `g += R^T delta` of the groups that read `h`.
    #[inline(always)]
    fn recurrent<C: Formula>(&mut self, chunk: &mut Chunk<V::Scalar>) {
        let (width, rank, (from, to)) = (row::<V>(), self.cell.rank(), C::PLAN.state);
        let panel = self.cell.hidden * width;
        let delta = &chunk.delta[self.local * chunk.delta_slot + from * panel..][..(to - from) * panel];
        let packs = self.read.packs;
        let mut add = Add { to: self.gradient };
        if rank > 0 {
            let codes = &mut chunk.codes[self.local * chunk.code_slot..][..rank * width];
            V::product(Product::plain(&packs[STATE], delta), &mut Store::plain(codes));
            V::product(Product::plain(&packs[RIGHT], codes), &mut add);
        } else {
            V::product(Product::plain(&packs[STATE], delta), &mut add);
        }
    }
}

/// One unit's row of each group.
#[inline(always)]
fn rows_of<V: Vector>(panels: &[V::Scalar], groups: usize, unit: usize, panel: usize) -> [[V; 2]; 4] {
    let mut rows = [[V::zero(); 2]; 4];
    for (group, row_of) in rows.iter_mut().enumerate().take(groups) {
        *row_of = load_row(&panels[group * panel + unit * row::<V>()..]);
    }
    rows
}

/// Stores one unit's row of each group, given as two halves.
#[inline(always)]
fn store_rows<V: Vector>(halves: [[V; 4]; 2], groups: usize, panels: &mut [V::Scalar], unit: usize, panel: usize) {
    for group in 0..groups {
        let out = &mut panels[group * panel + unit * row::<V>()..];
        store_row([halves[0][group], halves[1][group]], out);
    }
}

/// Asks for one unit's row of each group: time runs backwards, which the processor does not foresee.
#[inline(always)]
fn prefetch<V: Vector>(panels: &[V::Scalar], groups: usize, unit: usize, panel: usize) {
    for group in 0..groups {
        let at = group * panel + unit * row::<V>();
        if let Some(values) = panels.get(at..at + row::<V>()) {
            V::prefetch(values);
            V::prefetch(&values[V::LANES..]);
        }
    }
}

/// Adds a product to panel rows.
struct Add<'a, F> {
    to: &'a mut [F],
}

impl<V: Compiled> Epilogue<V> for Add<'_, V::Scalar> {
    #[inline(always)]
    fn finish(&mut self, index: usize, sum: [V; 2]) {
        let to = &mut self.to[index * row::<V>()..(index + 1) * row::<V>()];
        let old = load_row::<V>(to);
        store_row([old[0].add(sum[0]), old[1].add(sum[1])], to);
    }
}

/// The weight gradients of some steps.
#[inline(always)]
fn weight_gradients<V: Compiled, C: Formula>(
    cell: &Gated<V::Scalar>,
    read: &BackwardRead<V::Scalar>,
    steps: std::ops::Range<usize>,
    chunk: &Chunk<V::Scalar>,
    sums: &mut [&mut [V::Scalar]; 5],
) {
    let (plan, hidden, width, rank) = (C::PLAN, cell.hidden, row::<V>(), cell.rank());
    let (panel, count) = (hidden * width, steps.len());
    let groups = |from: usize, to: usize| Rows {
        values: &chunk.delta[from * panel..],
        stride: chunk.delta_slot,
        features: (to - from) * hidden,
    };
    let rows = |values, stride, features| Rows {
        values,
        stride,
        features,
    };
    let (state_slot, input_slot, code_slot) = (chunk.state_slot, slot(cell.inputs, width), chunk.code_slot);
    let input = rows(&read.input[steps.start * input_slot..], input_slot, cell.inputs);
    let state = rows(&read.states[steps.start * state_slot..], state_slot, hidden);
    let [input_weight, bias, left, right, _] = sums;
    add::<V>(count, groups(plan.input.0, plan.input.1), input, input_weight);
    sum_rows::<V>(count, groups(0, plan.groups), bias);
    let state_delta = groups(plan.state.0, plan.state.1);
    let reset_delta = groups(plan.groups - 1, plan.groups);
    let (left, left_reset) = left.split_at_mut(state_delta.features * if rank > 0 { rank } else { hidden });
    if rank > 0 {
        let code = rank * width;
        let kept = &read.codes[steps.start * code_slot..];
        add::<V>(count, state_delta, rows(kept, code_slot, rank), left);
        add::<V>(count, rows(&chunk.codes[..], code_slot, rank), state, right);
        if plan.reset {
            let reset = rows(&chunk.reset[..], state_slot, hidden);
            add::<V>(count, reset_delta, rows(&kept[code..], code_slot, rank), left_reset);
            add::<V>(count, rows(&chunk.codes[code..], code_slot, rank), reset, right);
        }
    } else {
        add::<V>(count, state_delta, state, left);
        if plan.reset {
            let reset = rows(&chunk.reset[..], state_slot, hidden);
            add::<V>(count, reset_delta, reset, left_reset);
        }
    }
}

/// `sums += left right^T`, over `count` panels.
#[inline(always)]
fn add<V: Compiled>(count: usize, left: Rows<V::Scalar>, right: Rows<V::Scalar>, sums: &mut [V::Scalar]) {
    let outer = Outer {
        count,
        left,
        right,
        scale: V::Scalar::ONE,
    };
    V::outer(outer, sums);
}
