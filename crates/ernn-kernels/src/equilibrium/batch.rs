//! Whole batches: all tiles on the current thread pool, then the running sum of each sequence; and back.

use std::sync::Mutex;

use super::tiles::{Tile, gather, scatter, used};
use super::{Equilibrium, GradientTask, SolveTask, Tiles, gradient, solve};
use crate::aligned::Aligned;
use crate::blocks::{Layout, StateGradient, Trace, add_up, thread_scratch};
use crate::leaky::LeakyGradient;
use crate::panels::slot_rows;
use crate::threads::for_each_block;
use crate::{Panels, Real};

/// Tiles whose gradients are summed in one vector: fixed, so that sums do not depend on the number of threads.
const GROUP: usize = 64;

/// Solves a batch and leaves all states in `trace`, from `initial` `[sequences, D]` (default: zeros).
///
/// # Panics
/// If slices have other sizes than the docs say.
pub fn forward<F: Real>(cell: &Equilibrium<F>, input: &Panels<F>, initial: Option<&[F]>, trace: &mut Trace<F>) {
    cell.check();
    assert_eq!(input.features(), cell.inputs, "the input has d values a step");
    let lanes = input.lanes();
    trace.prepare(&layout(cell), input, initial, false);
    trace.prepare_scratch(solve::scratch_len(cell, lanes));
    let Trace {
        states,
        scratch,
        equilibria,
        ..
    } = trace;
    equilibria.lay_out(cell, input);
    equilibria.packs.pack(cell, true);
    solve_all(cell, input, scratch, equilibria);
    let (tiles, starts) = (&equilibria.list, &equilibria.blocks);
    let z = &equilibria.z;
    let tasks: Vec<_> = states.blocks_mut().into_iter().enumerate().collect();
    for_each_block(tasks, |(block, states)| {
        let range = starts[block]..starts[block + 1];
        let z = &z[range.start * slot_rows(cell.hidden) * lanes..];
        add_forward(cell, input, block, &tiles[range], z, states);
    });
}

/// Sizes of what a batch keeps in sequences: the states alone.
fn layout<F: Real>(cell: &Equilibrium<F>) -> Layout {
    Layout {
        inputs: cell.inputs,
        hidden: cell.hidden,
        memory: 0,
        saved: 0,
        codes: 0,
        gradients: cell.gradient_sizes().to_vec(),
        forward_scratch: 0,
        backward_scratch: 0,
    }
}

fn solve_all<F: Real>(cell: &Equilibrium<F>, input: &Panels<F>, scratch: &[Mutex<Aligned<F>>], tiles: &mut Tiles<F>) {
    let (isa, lanes) = (input.isa(), input.lanes());
    let (slot, input_slot) = (slot_rows(cell.hidden) * lanes, slot_rows(cell.inputs) * lanes);
    let (packs, list) = (&tiles.packs, &tiles.list);
    let panels = tiles.z.chunks_mut(slot).zip(tiles.outputs.chunks_mut(slot));
    let panels = panels.zip(tiles.input.chunks_mut(input_slot));
    let columns = panels.zip(tiles.outcomes.chunks_mut(lanes)).zip(list);
    for_each_block(columns.collect(), |((((z, outputs), values), outcomes), &tile)| {
        let values = &mut values[..cell.inputs * lanes];
        gather(tile, input, values);
        let mut scratch = thread_scratch(scratch);
        F::equilibrium_solve(
            isa,
            SolveTask {
                cell,
                packs,
                input: values,
                used: &used(tile, input),
                z: &mut z[..cell.hidden * lanes],
                outputs: &mut outputs[..cell.hidden * lanes],
                outcomes,
                scratch: &mut scratch,
            },
        );
    });
}

/// `h_t = z_t - s h_{t-1}` of one block; zeros behind the ends.
fn add_forward<F: Real>(
    cell: &Equilibrium<F>,
    input: &Panels<F>,
    block: usize,
    tiles: &[Tile],
    z: &[F],
    states: &mut [F],
) {
    let (lanes, hidden, s) = (input.lanes(), cell.hidden, cell.previous_scale);
    let slot = slot_rows(hidden) * lanes;
    let lengths = input.block_lengths(block);
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let stretched = matches!(tiles.first(), Some(Tile::Stretch { .. }));
    if stretched && lengths.len() == 1 {
        return add_one_sequence(cell, lanes, tiles, z, states);
    }
    if stretched {
        states[slot..(longest + 1) * slot].fill(F::ZERO);
    }
    for (tile, z) in tiles.iter().zip(z.chunks(slot)) {
        match *tile {
            Tile::Step { step, .. } => {
                let (before, after) = states.split_at_mut((step + 1) * slot);
                let rows = before[step * slot..].iter().zip(&mut after[..hidden * lanes]);
                for ((previous, next), z) in rows.zip(z) {
                    *next = *z - s * *previous;
                }
                for lane in (0..lanes).filter(|&lane| lengths.get(lane).is_none_or(|&length| step >= length)) {
                    let rows = after[..hidden * lanes].iter_mut().skip(lane).step_by(lanes);
                    rows.for_each(|value| *value = F::ZERO);
                }
            }
            Tile::Stretch { sequence, first, count } => {
                let lane = sequence % lanes;
                for (unit, row) in z.chunks_exact(lanes).enumerate().take(hidden) {
                    let mut at = first * slot + unit * lanes + lane;
                    let mut h = states[at];
                    for &z in &row[..count] {
                        h = z - s * h;
                        at += slot;
                        states[at] = h;
                    }
                }
            }
        }
    }
}

/// As [`add_forward`] of a block of one sequence: each row is written once, with its empty lanes.
fn add_one_sequence<F: Real>(cell: &Equilibrium<F>, lanes: usize, tiles: &[Tile], z: &[F], states: &mut [F]) {
    let (hidden, s) = (cell.hidden, cell.previous_scale);
    let slot = slot_rows(hidden) * lanes;
    let (initial, states) = states.split_at_mut(slot);
    let mut h: Vec<F> = initial.iter().step_by(lanes).take(hidden).copied().collect();
    let mut steps = states.chunks_exact_mut(slot);
    for (tile, z) in tiles.iter().zip(z.chunks(slot)) {
        let Tile::Stretch { count, .. } = *tile else {
            unreachable!("one sequence goes in stretches")
        };
        for (index, rows) in steps.by_ref().take(count).enumerate() {
            let rows = rows.chunks_exact_mut(lanes).zip(z.chunks_exact(lanes));
            for (h, (row, z)) in h.iter_mut().zip(rows) {
                *h = z[index] - s * *h;
                row.fill(F::ZERO);
                row[0] = *h;
            }
        }
    }
}

/// Gradients of a loss whose gradient at the states is given, after [`forward`] on the same cell and input; the step sizes' parts of
/// `gradient` stay empty.
///
/// `input_gradient` is laid out as `input`; `initial_gradient` is as the initial state.
///
/// # Panics
/// If `trace` is not that of [`forward`] on this cell and input, or slices have other sizes than the docs say.
pub fn backward<F: Real>(
    cell: &Equilibrium<F>,
    input: &Panels<F>,
    trace: &mut Trace<F>,
    states: StateGradient<F>,
    gradient: &mut LeakyGradient<F>,
    mut input_gradient: Option<&mut Panels<F>>,
    initial_gradient: Option<&mut Vec<F>>,
) {
    let (isa, lanes) = (input.isa(), input.lanes());
    crate::blocks::check_gradient(&layout(cell), input, trace, &states);
    let mut packed = Panels::new(isa, 1, &[]);
    let states = in_panels(cell.hidden, input, states, &mut packed);
    trace.prepare_scratch(gradient::scratch_len(cell, lanes));
    let count = trace.equilibria.list.len();
    let groups = count.div_ceil(GROUP);
    trace.gradients.resize_with(groups.max(trace.gradients.len()), Vec::new);
    let Trace {
        scratch,
        gradients,
        equilibria,
        ..
    } = trace;
    let mut initial = vec![F::ZERO; input.sequences() * cell.hidden];
    add_backward(cell, input, &states, equilibria, &mut initial);
    let (slot, input_slot) = (slot_rows(cell.hidden) * lanes, slot_rows(cell.inputs) * lanes);
    let converged: Vec<F> = equilibria
        .outcomes
        .iter()
        .map(|outcome| if outcome.converged { F::ONE } else { F::ZERO })
        .collect();
    let mut columns = vec![
        F::ZERO;
        if input_gradient.is_some() {
            count * input_slot
        } else {
            0
        }
    ];
    let sizes = cell.gradient_sizes();
    let shared: &Tiles<F> = equilibria;
    let wanted = !columns.is_empty();
    let mut tasks = Vec::with_capacity(groups);
    let mut rest = &mut columns[..];
    for (group, sums) in gradients[..groups].iter_mut().enumerate() {
        let len = if wanted {
            GROUP.min(count - group * GROUP) * input_slot
        } else {
            0
        };
        let (head, tail) = std::mem::take(&mut rest).split_at_mut(len);
        rest = tail;
        tasks.push((group, sums, head));
    }
    for_each_block(tasks, |(group, sums, input_gradient)| {
        sums.clear();
        sums.resize(sizes.iter().sum(), F::ZERO);
        let (first, end) = (group * GROUP, ((group + 1) * GROUP).min(count));
        let mut scratch = thread_scratch(scratch);
        F::equilibrium_gradient(
            isa,
            GradientTask {
                cell,
                packs: &shared.packs,
                input: &shared.input[first * input_slot..end * input_slot],
                z: &shared.z[first * slot..end * slot],
                outputs: &shared.outputs[first * slot..end * slot],
                gradient: &shared.gradient[first * slot..end * slot],
                converged: &converged[first * lanes..end * lanes],
                sums,
                input_gradient,
                scratch: &mut scratch,
            },
        );
    });
    gradient.decay.clear();
    gradient.gain.clear();
    let parts = vec![
        &mut gradient.input_weight,
        &mut gradient.bias,
        &mut gradient.left,
        &mut gradient.right,
        &mut gradient.identity,
    ];
    add_up(&gradients[..groups], &sizes, parts);
    if let Some(panels) = &mut input_gradient {
        panels.reset_as(input);
        let starts = &shared.blocks;
        let tasks: Vec<_> = panels.blocks_mut().into_iter().enumerate().collect();
        for_each_block(tasks, |(block, out)| {
            for index in starts[block]..starts[block + 1] {
                let tile = shared.list[index];
                let from = &columns[index * input_slot..][..cell.inputs * lanes];
                scatter(tile, cell.inputs, lanes, &used(tile, input), from, out);
            }
        });
    }
    if let Some(out) = initial_gradient {
        *out = initial;
    }
}

/// The same gradient, its rows packed: its tiles do not follow the order of the rows.
fn in_panels<'a, F: Real>(
    hidden: usize,
    input: &Panels<F>,
    states: StateGradient<'a, F>,
    packed: &'a mut Panels<F>,
) -> StateGradient<'a, F> {
    let Some(rows) = states.rows else {
        return states;
    };
    let lengths = input.lengths();
    packed.pack_steps(hidden, lengths, |sequence, step| {
        rows.row(sequence, lengths[sequence], step, hidden)
    });
    if let Some(all) = states.all {
        packed.add(all);
    }
    StateGradient {
        all: Some(packed),
        rows: None,
        ..states
    }
}

/// The gradient at each `z_t`, that is at `h_t` with all that comes back through later states (`g_t = dL/dh_t - s g_{t+1}`), in tiles;
/// and the gradient at the initial states.
fn add_backward<F: Real>(
    cell: &Equilibrium<F>,
    input: &Panels<F>,
    states: &StateGradient<F>,
    tiles: &mut Tiles<F>,
    initial: &mut [F],
) {
    let (lanes, hidden, s) = (input.lanes(), cell.hidden, cell.previous_scale);
    let slot = slot_rows(hidden) * lanes;
    tiles.gradient.resize(tiles.list.len() * slot);
    let (list, starts) = (&tiles.list, &tiles.blocks);
    let mut rest = &mut tiles.gradient[..];
    let mut tasks = Vec::with_capacity(input.blocks());
    for (block, initial) in initial.chunks_mut(lanes * hidden).enumerate() {
        let count = starts[block + 1] - starts[block];
        let (head, tail) = std::mem::take(&mut rest).split_at_mut(count * slot);
        rest = tail;
        tasks.push((block, head, initial));
    }
    for_each_block(tasks, |(block, gradient, initial)| {
        let list = &list[starts[block]..starts[block + 1]];
        let lengths = input.block_lengths(block);
        // `[D][lane]`: the gradient that comes back to the states before the current step.
        let mut carried = vec![F::ZERO; hidden * lanes];
        let last = |lane: usize| {
            let sequence = block * lanes + lane;
            states
                .last
                .map(|last| &last[sequence * hidden..(sequence + 1) * hidden])
        };
        let all = states.all.map(|all| all.block(block));
        for (tile, out) in list.iter().zip(gradient.chunks_exact_mut(slot)).rev() {
            match *tile {
                Tile::Step { step, .. } => {
                    carried.iter_mut().for_each(|value| *value = -(s * *value));
                    for (lane, &length) in lengths.iter().enumerate() {
                        if let (true, Some(last)) = (step + 1 == length, last(lane)) {
                            add_strided(&mut carried[lane..], lanes, last);
                        }
                        if let (true, Some(all)) = (step < length, all) {
                            let values = &all[step * slot + lane..];
                            for (value, &add) in carried[lane..]
                                .iter_mut()
                                .step_by(lanes)
                                .zip(values.iter().step_by(lanes))
                            {
                                *value += add;
                            }
                        }
                    }
                    out[..hidden * lanes].copy_from_slice(&carried);
                }
                Tile::Stretch { sequence, first, count } => {
                    let lane = sequence % lanes;
                    let length = lengths[lane];
                    for (unit, row) in out.chunks_exact_mut(lanes).enumerate().take(hidden) {
                        row.fill(F::ZERO);
                        let mut g = carried[unit * lanes + lane];
                        for index in (0..count).rev() {
                            let step = first + index;
                            g = -(s * g);
                            if let (true, Some(last)) = (step + 1 == length, last(lane)) {
                                g += last[unit];
                            }
                            if let Some(all) = all {
                                g += all[step * slot + unit * lanes + lane];
                            }
                            row[index] = g;
                        }
                        carried[unit * lanes + lane] = g;
                    }
                }
            }
        }
        for (lane, initial) in initial.chunks_exact_mut(hidden).enumerate() {
            for (unit, value) in initial.iter_mut().enumerate() {
                *value = -(s * carried[unit * lanes + lane]);
            }
            // A sequence of no steps: its last state is its initial one.
            if let (0, Some(last)) = (lengths[lane], last(lane)) {
                initial.copy_from_slice(last);
            }
        }
    });
}

fn add_strided<F: Real>(to: &mut [F], stride: usize, from: &[F]) {
    for (value, &add) in to.iter_mut().step_by(stride).zip(from) {
        *value += add;
    }
}
