//! Forward pass of one block of sequences.

use super::{Constants, Formula, Gated, Plan, slot};
use crate::Real;
use crate::blocks::ForwardBlock;
use crate::compiled::Compiled;
use crate::lanes::{running, shortest};
use crate::leaky::Recurrent;
use crate::pack::Packed;
use crate::product::{Init, Product, Store};
use crate::rows::give;
use crate::simd::{Vector, load_row, row, store_row};

/// Packs for the forward pass: `[W | R]` or `[W | A]` of the joint groups.
const JOINT: usize = 0;
/// `W` of the groups that read the input alone.
const INPUT: usize = 1;
/// `R` or `A` of the groups that read the state alone.
const STATE: usize = 2;
/// `R` or `A` of the group that reads `r * h`.
const RESET: usize = 3;
/// `B`.
const RIGHT: usize = 4;

/// Packs the weights of a cell.
pub(super) fn pack<F: Real>(cell: &Gated<F>, packs: &mut Vec<Packed<F>>) {
    packs.resize_with(5, Packed::default);
    let (d, hidden, plan) = (cell.inputs, cell.hidden, cell.gates.plan());
    let (columns, weight, right) = match cell.recurrent {
        Recurrent::Dense(weight) => (hidden, weight, &[][..]),
        Recurrent::LowRank { rank, left, right, .. } => (rank, left, right),
    };
    let w = |group: usize, row: usize, column: usize| {
        cell.input_weight[((group - plan.input.0) * hidden + row) * d + column]
    };
    let r =
        |group: usize, row: usize, column: usize| weight[((group - plan.state.0) * hidden + row) * columns + column];
    let rows = |(first, end): (usize, usize)| (end - first) * hidden;
    let (joint, input, state) = (plan.joint(), plan.input_alone(), plan.state_alone());
    packs[JOINT].pack(rows(joint), d + columns, |row, column| {
        let (group, row) = (joint.0 + row / hidden, row % hidden);
        if column < d {
            w(group, row, column)
        } else {
            r(group, row, column - d)
        }
    });
    packs[INPUT].pack(rows(input), d, |row, column| {
        w(input.0 + row / hidden, row % hidden, column)
    });
    packs[STATE].pack(rows(state), columns, |row, column| {
        r(state.0 + row / hidden, row % hidden, column)
    });
    let reset = if plan.reset { hidden } else { 0 };
    packs[RESET].pack(reset, columns, |row, column| r(plan.state.1, row, column));
    packs[RIGHT].pack(right.len() / hidden, hidden, |row, column| right[row * hidden + column]);
}

/// What one block needs.
pub struct ForwardTask<'a, F> {
    pub(crate) cell: &'a Gated<'a, F>,
    pub(crate) block: ForwardBlock<'a, F>,
}

/// Numbers of scratch that the forward pass of a block needs.
pub(super) fn scratch_len(plan: &Plan, hidden: usize, rank: usize, row: usize) -> usize {
    (plan.kept * hidden + plan.spare() * hidden + hidden + plan.codes() * rank) * row
}

/// Runs a block over all its steps.
#[inline(always)]
pub(crate) fn forward<V: Compiled, C: Formula>(task: ForwardTask<V::Scalar>) {
    let ForwardTask { cell, block } = task;
    let ForwardBlock {
        packs,
        lengths,
        input,
        states,
        memory,
        saved,
        codes,
        mut output,
        scratch,
    } = block;
    let (width, panel) = (row::<V>(), cell.hidden * row::<V>());
    let codes_len = C::PLAN.codes() * cell.rank() * width;
    let state_slot = slot(cell.hidden, width);
    let saved_slot = slot(C::PLAN.kept * cell.hidden, width);
    let (code_slot, input_slot) = (slot(C::PLAN.codes() * cell.rank(), width), slot(cell.inputs, width));
    let shortest = shortest::<V>(lengths);
    let steps = states.len() / state_slot - 1;
    let (spare_saved, scratch) = scratch.split_at_mut(C::PLAN.kept * panel);
    let (spare_sums, scratch) = scratch.split_at_mut(C::PLAN.spare() * panel);
    let (reset_state, scratch) = scratch.split_at_mut(panel);
    let spare_codes = &mut scratch[..codes_len];
    for step in 0..steps {
        let (previous, next) = states.split_at_mut((step + 1) * state_slot);
        let (old_memory, next_memory) = if C::PLAN.memory {
            let (old, next) = memory.split_at_mut((step + 1) * state_slot);
            (&old[step * state_slot..][..panel], &mut next[..panel])
        } else {
            (&[][..], &mut [][..])
        };
        let kept = if saved.is_empty() {
            &mut *spare_saved
        } else {
            &mut saved[step * saved_slot..][..C::PLAN.kept * panel]
        };
        let codes = if codes.is_empty() {
            &mut *spare_codes
        } else {
            &mut codes[step * code_slot..][..codes_len]
        };
        let mut at = Step::<V> {
            cell,
            packs,
            input: &input[step * input_slot..][..cell.inputs * width],
            previous: &previous[step * state_slot..][..panel],
            old_memory,
            next: &mut next[..panel],
            next_memory,
            kept,
            spare_sums,
            reset_state,
            codes,
            mask: if step >= shortest {
                Some(running::<V>(lengths, step))
            } else {
                None
            },
        };
        at.sums::<C>();
        at.formula::<C>();
        give::<V>(&next[..panel], lengths, step, &mut output);
    }
}

/// One time step of a block.
struct Step<'a, V: Compiled> {
    cell: &'a Gated<'a, V::Scalar>,
    packs: &'a [Packed<V::Scalar>],
    input: &'a [V::Scalar],
    /// `h_{t-1}`.
    previous: &'a [V::Scalar],
    /// `c_{t-1}`; empty for a cell without a memory.
    old_memory: &'a [V::Scalar],
    next: &'a mut [V::Scalar],
    next_memory: &'a mut [V::Scalar],
    /// The groups that are kept, `[kept D][lane]`.
    kept: &'a mut [V::Scalar],
    /// The other groups.
    spare_sums: &'a mut [V::Scalar],
    /// `r * h_{t-1}`.
    reset_state: &'a mut [V::Scalar],
    codes: &'a mut [V::Scalar],
    mask: Option<[V::Mask; 2]>,
}

impl<V: Compiled> Step<'_, V> {
    /// The sums of all groups that have a product.
    #[inline(always)]
    fn sums<C: Formula>(&mut self) {
        let (rank, code) = (self.cell.rank(), self.cell.rank() * row::<V>());
        if rank > 0 {
            let product = Product::plain(&self.packs[RIGHT], self.previous);
            V::product(product, &mut Store::plain(&mut self.codes[..code]));
        }
        let source = if rank > 0 { &self.codes[..code] } else { self.previous };
        let plan = C::PLAN;
        let pieces = [
            (plan.joint(), JOINT, self.input, source),
            (plan.input_alone(), INPUT, self.input, &[][..]),
            (plan.state_alone(), STATE, source, &[][..]),
        ];
        let (hidden, panel) = (self.cell.hidden, self.cell.hidden * row::<V>());
        for (groups, pack, first, second) in pieces {
            if groups.0 == groups.1 {
                continue;
            }
            let product = Product {
                weights: &self.packs[pack],
                first,
                second,
                init: Init::Bias(&self.cell.bias[groups.0 * hidden..groups.1 * hidden]),
            };
            // The input's part of a group that reads `r * h` waits for the rest.
            let waits = plan.reset && pack == INPUT;
            let out = if waits {
                &mut self.spare_sums[..panel]
            } else if groups.0 >= plan.kept {
                &mut self.spare_sums[(groups.0 - plan.kept) * panel..(groups.1 - plan.kept) * panel]
            } else {
                &mut self.kept[groups.0 * panel..groups.1 * panel]
            };
            V::product(product, &mut Store::plain(out));
        }
        if plan.reset {
            self.reset(&plan);
        }
    }

    /// `r`, `r * h_{t-1}`, and the sum that reads it.
    #[inline(always)]
    fn reset(&mut self, plan: &Plan) {
        let panel = self.cell.hidden * row::<V>();
        V::activate(self.cell.gate, &mut self.kept[..panel]);
        let rows = self.kept[..panel]
            .chunks_exact(row::<V>())
            .zip(self.previous.chunks_exact(row::<V>()))
            .zip(self.reset_state.chunks_exact_mut(row::<V>()));
        for ((r, h), out) in rows {
            let (r, h) = (load_row::<V>(r), load_row::<V>(h));
            store_row([r[0].mul(h[0]), r[1].mul(h[1])], out);
        }
        let source = if self.cell.rank() > 0 {
            let code = self.cell.rank() * row::<V>();
            let codes = &mut self.codes[code..2 * code];
            V::product(
                Product::plain(&self.packs[RIGHT], self.reset_state),
                &mut Store::plain(codes),
            );
            &*codes
        } else {
            &*self.reset_state
        };
        let product = Product {
            init: Init::Panel(&self.spare_sums[..panel]),
            ..Product::plain(&self.packs[RESET], source)
        };
        let last = plan.groups - 1;
        V::product(product, &mut Store::plain(&mut self.kept[last * panel..][..panel]));
    }

    /// From the sums to the new state; gates and candidate take the places of their sums.
    #[inline(always)]
    fn formula<C: Formula>(&mut self) {
        let (plan, hidden, width) = (C::PLAN, self.cell.hidden, row::<V>());
        let panel = hidden * width;
        let constants = Constants::new(self.cell.scalars, self.cell.identity());
        if plan.prepared {
            for unit in 0..hidden {
                let (sums, h) = (self.sums_of::<C>(unit), load_row::<V>(&self.previous[unit * width..]));
                let low = C::prepare(&constants, half(sums, 0), h[0]);
                let high = C::prepare(&constants, half(sums, 1), h[1]);
                for group in 0..plan.kept {
                    let at = group * panel + unit * width;
                    store_row([low[group], high[group]], &mut self.kept[at..][..width]);
                }
            }
        }
        V::activate(
            self.cell.gate,
            &mut self.kept[plan.gates.0 * panel..plan.gates.1 * panel],
        );
        let candidate = plan.candidate * panel;
        if plan.gated_candidate {
            for unit in 0..hidden {
                let groups = self.kept_of::<C>(unit);
                let sum = [C::candidate(half(groups, 0)), C::candidate(half(groups, 1))];
                store_row(sum, &mut self.kept[candidate + unit * width..][..width]);
            }
        }
        V::activate(self.cell.activation, &mut self.kept[candidate..][..panel]);
        for unit in 0..hidden {
            let (groups, at) = (self.kept_of::<C>(unit), unit * width);
            let h = load_row::<V>(&self.previous[at..]);
            let mut memory = [V::zero(); 2];
            if plan.memory {
                memory = load_row(&self.old_memory[at..]);
            }
            let next = self.masked([
                C::forward(&constants, half(groups, 0), h[0], memory[0]),
                C::forward(&constants, half(groups, 1), h[1], memory[1]),
            ]);
            store_row(next, &mut self.next[at..][..width]);
            if plan.memory {
                store_row(next, &mut self.next_memory[at..][..width]);
            }
        }
        if plan.memory {
            V::activate(self.cell.activation, self.next);
            for unit in 0..hidden {
                let (groups, at) = (self.kept_of::<C>(unit), unit * width);
                let shown = load_row::<V>(&self.next[at..]);
                let next = self.masked([C::show(half(groups, 0), shown[0]), C::show(half(groups, 1), shown[1])]);
                store_row(next, &mut self.next[at..][..width]);
            }
        }
    }

    /// The sums of one unit; the bias, where there is no product.
    #[inline(always)]
    fn sums_of<C: Formula>(&self, unit: usize) -> [[V; 2]; 4] {
        let (plan, hidden, width) = (C::PLAN, self.cell.hidden, row::<V>());
        let mut sums = [[V::zero(); 2]; 4];
        for (group, sum) in sums.iter_mut().enumerate().take(plan.groups) {
            *sum = if !plan.has_product(group) {
                [V::splat(self.cell.bias[group * hidden + unit]); 2]
            } else if group < plan.kept {
                load_row(&self.kept[(group * hidden + unit) * width..])
            } else {
                load_row(&self.spare_sums[((group - plan.kept) * hidden + unit) * width..])
            };
        }
        sums
    }

    /// The kept groups of one unit.
    #[inline(always)]
    fn kept_of<C: Formula>(&self, unit: usize) -> [[V; 2]; 4] {
        let mut groups = [[V::zero(); 2]; 4];
        for (group, rows) in groups.iter_mut().enumerate().take(C::PLAN.kept) {
            *rows = load_row(&self.kept[(group * self.cell.hidden + unit) * row::<V>()..]);
        }
        groups
    }

    /// 0 where the sequence has ended.
    #[inline(always)]
    fn masked(&self, values: [V; 2]) -> [V; 2] {
        match self.mask {
            Some(mask) => [values[0].or_zero(mask[0]), values[1].or_zero(mask[1])],
            None => values,
        }
    }
}

/// One register of each row.
#[inline(always)]
pub(super) fn half<V: Vector>(rows: [[V; 2]; 4], half: usize) -> [V; 4] {
    [rows[0][half], rows[1][half], rows[2][half], rows[3][half]]
}
