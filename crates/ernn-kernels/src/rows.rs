//! Rows of states outside of panels, where the values of a step of a sequence stand together.
//!
//! Step `t` of sequence `b` begins at `starts[t] + b * stride` of [`StepRows`]; that is time-major, batch-first and packed memory alike. The
//! kernels turn rows to panels and back while a step of a block is in the nearest cache: a pass of its own over a whole batch
//! would walk through the memory twice.

use crate::Real;
use crate::compiled::Compiled;
use crate::lanes::shortest;
use crate::simd::{Vector, row};

/// Values of all steps of all sequences, to be read.
#[derive(Clone, Copy, Debug)]
pub struct StepRows<'a, F> {
    /// The memory.
    pub values: &'a [F],
    /// Where each step of the first sequence begins.
    pub starts: &'a [usize],
    /// Numbers from a sequence to the next.
    pub stride: usize,
    /// Whether each sequence stands from its last step to its first.
    pub reversed: bool,
}

impl<'a, F: Real> StepRows<'a, F> {
    /// Whether all rows of `width` numbers of these sequences lie inside.
    pub fn hold(&self, lengths: &[usize], width: usize) -> bool {
        // `most[n]`: the largest of the first `n` starts.
        let mut most = vec![0];
        for &start in self.starts {
            most.push(start.max(most[most.len() - 1]));
        }
        let ends_inside = |(sequence, &length): (usize, &usize)| {
            let offset = sequence.checked_mul(self.stride)?.checked_add(width)?;
            let last = most.get(length)?.checked_add(offset)?;
            (length == 0 || last <= self.values.len()).then_some(())
        };
        lengths.iter().enumerate().all(|of| ends_inside(of).is_some())
    }

    /// The row of `width` numbers that a kernel reads at `step` of a sequence of `length` steps.
    pub fn row(&self, sequence: usize, length: usize, step: usize, width: usize) -> &'a [F] {
        let start = self.starts[place(self.reversed, length, step)] + sequence * self.stride;
        &self.values[start..start + width]
    }
}

/// Room for the states of all steps, `[step][sequences that have it][D]`, as [`crate::Panels::unpack_steps`] writes them.
#[derive(Debug)]
pub struct StatesOut<'a, F> {
    /// The room.
    pub values: &'a mut [F],
    /// Whether each sequence goes from its last step to its first.
    pub reversed: bool,
}

impl<'a, F: Real> StatesOut<'a, F> {
    /// The rows of each block of `lanes` sequences.
    ///
    /// # Panics
    /// If a sequence is longer than the one before it, or the room has another size.
    pub(crate) fn blocks(self, lengths: &[usize], lanes: usize, features: usize) -> Vec<BlockOut<'a, F>> {
        assert!(lengths.is_sorted_by(|a, b| a >= b), "the longest sequences first");
        let blocks = lengths.chunks(lanes).map(|own| BlockOut {
            steps: Vec::with_capacity(own[0]),
            reversed: self.reversed,
        });
        let mut blocks: Vec<BlockOut<F>> = blocks.collect();
        let (mut rest, mut count) = (self.values, lengths.len());
        for step in 0..lengths.first().copied().unwrap_or(0) {
            while lengths[count - 1] <= step {
                count -= 1;
            }
            assert!(count * features <= rest.len(), "room for all steps");
            let (rows, tail) = rest.split_at_mut(count * features);
            rest = tail;
            for (block, rows) in blocks.iter_mut().zip(rows.chunks_mut(lanes * features)) {
                block.steps.push(rows);
            }
        }
        assert!(rest.is_empty(), "room for all steps and no more");
        blocks
    }
}

/// Room for the states of a block.
pub(crate) struct BlockOut<'a, F> {
    /// Of each step, the sequences that have it; empty: nobody wants them.
    steps: Vec<&'a mut [F]>,
    reversed: bool,
}

impl<F> BlockOut<'_, F> {
    pub(crate) const NONE: Self = BlockOut {
        steps: Vec::new(),
        reversed: false,
    };
}

/// The rows of a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockRows<'a, F> {
    pub(crate) of: StepRows<'a, F>,
    /// The block's first sequence.
    pub(crate) first: usize,
}

/// Where a step stands.
#[inline(always)]
fn place(reversed: bool, length: usize, step: usize) -> usize {
    if reversed { length - 1 - step } else { step }
}

/// Whether the rows of all lanes stand at one distance at this step, for as many features as fill registers.
#[inline(always)]
fn side_by_side<V: Vector>(reversed: bool, lengths: &[usize], step: usize) -> bool {
    let shortest = shortest::<V>(lengths);
    step < shortest && (!reversed || lengths.iter().max() == Some(&shortest))
}

/// Bytes in a cache line.
const LINE: usize = 64;

/// Room for a turned tile.
#[repr(align(64))]
struct Tile<F>([F; 256]);

/// Adds the rows of a step to panel rows, of sequences that have ended nothing.
#[inline(always)]
pub(crate) fn add_step<V: Vector>(rows: BlockRows<V::Scalar>, lengths: &[usize], step: usize, sums: &mut [V::Scalar]) {
    let (of, features) = (rows.of, sums.len() / row::<V>());
    let mut whole = 0;
    if side_by_side::<V>(of.reversed, lengths, step) {
        whole = features - features % V::LANES;
        let values = &of.values[of.starts[place(of.reversed, lengths[0], step)] + rows.first * of.stride..];
        // Time runs backwards, which the processor does not foresee.
        let before = of.starts[place(of.reversed, lengths[0], step.saturating_sub(1))];
        let ahead = &of.values[before + rows.first * of.stride..];
        let mut tile = Tile([V::Scalar::ZERO; 256]);
        for feature in (0..whole).step_by(V::LANES) {
            for half in 0..2 {
                let from = half * V::LANES * of.stride + feature;
                V::transpose(&values[from..], of.stride, &mut tile.0, V::LANES);
                for (column, add) in tile.0.chunks_exact(V::LANES).enumerate().take(V::LANES) {
                    let to = &mut sums[(feature + column) * row::<V>() + half * V::LANES..];
                    V::load(to).add(V::load(add)).store(to);
                }
                for lane in 0..V::LANES {
                    V::prefetch(&ahead[from + lane * of.stride..]);
                }
            }
        }
    }
    for (lane, &length) in lengths.iter().enumerate() {
        if step < length && whole < features {
            let values = &of.row(rows.first + lane, length, step, features)[whole..];
            let sums = sums[whole * row::<V>()..].chunks_exact_mut(row::<V>());
            for (value, sum) in values.iter().zip(sums) {
                sum[lane] += *value;
            }
        }
    }
}

/// Writes panel rows to the rows of a step.
#[inline(always)]
pub(crate) fn write_step<V: Vector>(
    panel: &[V::Scalar],
    lengths: &[usize],
    step: usize,
    out: &mut BlockOut<V::Scalar>,
) {
    let features = panel.len() / row::<V>();
    let mut whole = 0;
    if side_by_side::<V>(out.reversed, lengths, step) {
        whole = features - features % V::LANES;
        let at = place(out.reversed, lengths[0], step);
        for half in 0..2 {
            for feature in (0..whole).step_by(V::LANES) {
                let from = &panel[feature * row::<V>() + half * V::LANES..];
                let start = half * V::LANES * features + feature;
                V::transpose(from, row::<V>(), &mut out.steps[at][start..], features);
            }
        }
        // The rows of the next step are far away; asked for now, they are near when they are written.
        if step + 1 < lengths[0] {
            let next = &*out.steps[place(out.reversed, lengths[0], step + 1)];
            for line in next.chunks(LINE / size_of::<V::Scalar>()) {
                V::prefetch(line);
            }
        }
    }
    for (lane, &length) in lengths.iter().enumerate() {
        if step < length && whole < features {
            let rows = &mut *out.steps[place(out.reversed, length, step)];
            let values = panel[whole * row::<V>()..].chunks_exact(row::<V>());
            for (out, values) in rows[lane * features + whole..(lane + 1) * features]
                .iter_mut()
                .zip(values)
            {
                *out = values[lane];
            }
        }
    }
}

/// The states after a step, for whoever wants them.
#[inline(always)]
pub(crate) fn give<V: Compiled>(panel: &[V::Scalar], lengths: &[usize], step: usize, out: &mut BlockOut<V::Scalar>) {
    if !out.steps.is_empty() {
        V::write_step(panel, lengths, step, out);
    }
}
