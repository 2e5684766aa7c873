//! Panels: the layout that all kernels work on, `[block][time][feature][lane]` (a time step takes an odd number of rows).
//!
//! A batch is cut into blocks of a fixed number of sequences, the lanes. A lane of a SIMD vector is one sequence, so
//! activations, masks and lengths are vertical operations, no rank or hidden size wastes a register, and the arithmetic of a
//! sequence is the same wherever it lies in a block and whatever lies beside it. Each block is as long as its longest
//! sequence; what lies behind the end of a shorter one is padding.

use crate::aligned::Aligned;
use crate::threads::for_each_block;
use crate::{Isa, Real};

/// A ragged batch of sequences in panels. `leading` slots may stand before the first step (the given initial state).
#[derive(Clone, Debug)]
pub struct Panels<F: Real> {
    isa: Isa,
    lanes: usize,
    features: usize,
    leading: usize,
    lengths: Vec<usize>,
    block_offsets: Vec<usize>,
    values: Aligned<F>,
}

impl<F: Real> Panels<F> {
    /// Panels of zeros for sequences of these lengths with `features` values a step.
    pub fn new(isa: Isa, features: usize, lengths: &[usize]) -> Self {
        let mut panels = Panels {
            isa,
            lanes: isa.lanes::<F>(),
            features: 0,
            leading: 0,
            lengths: Vec::new(),
            block_offsets: Vec::new(),
            values: Aligned::default(),
        };
        panels.reset(features, lengths);
        panels
    }

    /// Lays the panels out anew for other sequences, all zero, keeping the memory.
    pub fn reset(&mut self, features: usize, lengths: &[usize]) {
        self.lay_out(self.isa, features, lengths, 0);
        self.values.fill(F::ZERO);
    }

    /// Lays the panels out anew without clearing them: the caller writes every value that it reads.
    pub(crate) fn lay_out(&mut self, isa: Isa, features: usize, lengths: &[usize], leading: usize) {
        self.isa = isa;
        self.lanes = isa.lanes::<F>();
        self.features = features;
        self.leading = leading;
        self.lengths.clear();
        self.lengths.extend_from_slice(lengths);
        self.block_offsets.clear();
        self.block_offsets.push(0);
        let mut end = 0;
        for block in lengths.chunks(self.lanes) {
            let steps = block.iter().copied().max().unwrap_or(0);
            end += (steps + leading) * self.slot();
            self.block_offsets.push(end);
        }
        self.values.resize(end);
    }

    /// Clears the leading slots.
    pub(crate) fn clear_initial(&mut self) {
        let len = self.leading * self.slot();
        for block in 0..self.blocks() {
            let start = self.block_offsets[block];
            self.values[start..start + len].fill(F::ZERO);
        }
    }

    /// Writes one sequence's leading slot.
    pub(crate) fn set_initial(&mut self, sequence: usize, values: &[F]) {
        // Wraps to the leading slot.
        self.set_step(sequence, usize::MAX, values);
    }

    /// Numbers that there is room for.
    pub fn capacity(&self) -> usize {
        self.values.capacity()
    }

    /// The values of all blocks, leading slots included, one slice a block.
    pub(crate) fn blocks_mut(&mut self) -> Vec<&mut [F]> {
        let mut rest = &mut self.values[..];
        let sizes = self.block_offsets.windows(2).map(|pair| pair[1] - pair[0]);
        sizes
            .map(|size| {
                let (head, tail) = std::mem::take(&mut rest).split_at_mut(size);
                rest = tail;
                head
            })
            .collect()
    }

    /// `[steps][feature][lane]` of one block, without leading slots.
    pub(crate) fn block(&self, block: usize) -> &[F] {
        &self.whole_block(block)[self.leading * self.slot()..]
    }

    /// As [`Panels::block`], with the leading slots.
    pub(crate) fn whole_block(&self, block: usize) -> &[F] {
        &self.values[self.block_offsets[block]..self.block_offsets[block + 1]]
    }

    /// Steps of the sequences of one block.
    pub(crate) fn block_lengths(&self, block: usize) -> &[usize] {
        let end = ((block + 1) * self.lanes).min(self.lengths.len());
        &self.lengths[block * self.lanes..end]
    }

    /// Packs a time-major batch `[steps, sequences, features]`; what lies behind a sequence's length is never read.
    ///
    /// # Panics
    /// If `values` does not hold `steps * lengths.len() * features` numbers or a length exceeds `steps`.
    pub fn from_time_major(isa: Isa, values: &[F], steps: usize, features: usize, lengths: &[usize]) -> Self {
        assert_eq!(
            values.len(),
            steps * lengths.len() * features,
            "time-major batch of the wrong size"
        );
        let mut panels = Panels::new(isa, features, lengths);
        for (sequence, &length) in lengths.iter().enumerate() {
            assert!(length <= steps, "sequence {sequence} is longer than the batch");
            for step in 0..length {
                let start = (step * lengths.len() + sequence) * features;
                panels.set_step(sequence, step, &values[start..start + features]);
            }
        }
        panels
    }

    /// Unpacks to a time-major batch `[steps, sequences, features]` with zeros behind each sequence's end; `steps` is the
    /// longest length.
    pub fn to_time_major(&self) -> Vec<F> {
        let steps = self.lengths.iter().copied().max().unwrap_or(0);
        let sequences = self.lengths.len();
        let mut values = vec![F::ZERO; steps * sequences * self.features];
        for (sequence, &length) in self.lengths.iter().enumerate() {
            for step in 0..length {
                let start = (step * sequences + sequence) * self.features;
                self.read_step(sequence, step, &mut values[start..start + self.features]);
            }
        }
        values
    }

    /// Writes one step of one sequence.
    pub fn set_step(&mut self, sequence: usize, step: usize, values: &[F]) {
        let start = self.start(sequence, step);
        let lanes = self.lanes;
        for (feature, &value) in values.iter().enumerate() {
            self.values[start + feature * lanes] = value;
        }
    }

    /// Writes a whole sequence `[length, features]`.
    pub fn set_sequence(&mut self, sequence: usize, values: &[F]) {
        for (step, row) in values.chunks_exact(self.features).enumerate() {
            self.set_step(sequence, step, row);
        }
    }

    /// Lays the panels out anew, with no leading slots, and writes whole `f32` sequences `[length, features]`, padding zero;
    /// the memory is kept. A block is written row by row from all its lanes at once, so each cache line is touched once.
    ///
    /// # Panics
    /// If a sequence does not hold `length * features` values.
    pub fn pack<'a>(&mut self, features: usize, lengths: &[usize], sequence: impl Fn(usize) -> &'a [f32]) {
        self.lay_out(self.isa, features, lengths, 0);
        let mut lanes: Vec<&[f32]> = Vec::with_capacity(self.lanes);
        for (block, lengths) in lengths.chunks(self.lanes).enumerate() {
            lanes.clear();
            for (lane, length) in lengths.iter().enumerate() {
                let values = sequence(block * self.lanes + lane);
                assert_eq!(values.len(), length * features, "sequence of the wrong size");
                lanes.push(values);
            }
            // Absent lanes are sequences of no steps.
            lanes.resize(self.lanes, &[]);
            let values = &mut self.values[self.block_offsets[block]..self.block_offsets[block + 1]];
            interleave(values, features, &lanes);
        }
    }

    /// Lays the panels out anew, with no leading slots, and writes the row of each step of each sequence, padding zero.
    ///
    /// # Panics
    /// If a row has not `features` numbers.
    pub fn pack_steps<'a>(&mut self, features: usize, lengths: &[usize], row: impl Fn(usize, usize) -> &'a [F] + Sync) {
        self.lay_out(self.isa, features, lengths, 0);
        let (lanes, slot) = (self.lanes, self.slot());
        let blocks = self.blocks_mut().into_iter().enumerate();
        for_each_block(blocks.collect(), |(block, values): (usize, &mut [F])| {
            let own = &lengths[block * lanes..((block + 1) * lanes).min(lengths.len())];
            // The rows of a step are read as they stand before they are turned: the processor foresees that.
            let mut rows = vec![F::ZERO; lanes * features];
            for (step, panel) in values.chunks_exact_mut(slot.max(1)).enumerate() {
                for (lane, &length) in own.iter().enumerate() {
                    let out = &mut rows[lane * features..][..features];
                    if step < length {
                        out.copy_from_slice(row(block * lanes + lane, step));
                    } else {
                        out.fill(F::ZERO);
                    }
                }
                let (panel, spare) = panel.split_at_mut(features * lanes);
                spare.fill(F::ZERO);
                for (feature, panel) in panel.chunks_exact_mut(lanes).enumerate() {
                    for (lane, value) in panel.iter_mut().enumerate() {
                        *value = rows[lane * features + feature];
                    }
                }
            }
        });
    }

    /// Writes the steps of all sequences one after the other, `[step][sequences that have it][features]`: time-major for sequences of
    /// equal length, torch's packed form for others. `reversed`: each sequence from its last step to its first.
    ///
    /// # Panics
    /// If a sequence is longer than the one before it, or `out` has another size.
    pub fn unpack_steps(&self, reversed: bool, out: &mut [F]) {
        assert!(self.lengths.is_sorted_by(|a, b| a >= b), "the longest sequences first");
        let longest = self.lengths.first().copied().unwrap_or(0);
        let mut steps = Vec::with_capacity(longest);
        let (mut rest, mut count) = (out, self.lengths.len());
        for step in 0..longest {
            while self.lengths[count - 1] <= step {
                count -= 1;
            }
            let (rows, tail) = rest.split_at_mut(count * self.features);
            steps.push(rows);
            rest = tail;
        }
        assert!(rest.is_empty(), "room for all steps and no more");
        let uniform = self.lengths.iter().all(|&length| length == longest);
        let steps = steps.into_iter().enumerate();
        for_each_block(steps.collect(), |(step, rows): (usize, &mut [F])| {
            if reversed && !uniform {
                for (sequence, row) in rows.chunks_exact_mut(self.features.max(1)).enumerate() {
                    self.read_step(sequence, self.lengths[sequence] - 1 - step, row);
                }
                return;
            }
            let step = if reversed { longest - 1 - step } else { step };
            let mut turned = vec![F::ZERO; self.lanes * self.features];
            for (block, rows) in rows.chunks_mut(turned.len().max(1)).enumerate() {
                let panel = &self.block(block)[step * self.slot()..][..turned.len()];
                for (feature, panel) in panel.chunks_exact(self.lanes).enumerate() {
                    for (lane, &value) in panel.iter().enumerate() {
                        turned[lane * self.features + feature] = value;
                    }
                }
                rows.copy_from_slice(&turned[..rows.len()]);
            }
        });
    }

    /// Reads one step of one sequence into `out`.
    pub fn read_step(&self, sequence: usize, step: usize, out: &mut [F]) {
        let start = self.start(sequence, step);
        for (feature, value) in out.iter_mut().enumerate() {
            *value = self.values[start + feature * self.lanes];
        }
    }

    /// The last steps of all sequences, `[sequences, features]`; a sequence of no steps gives the leading slot, or zeros.
    pub fn last_steps(&self) -> Vec<F> {
        let mut out = vec![F::ZERO; self.sequences() * self.features];
        for (sequence, row) in out.chunks_exact_mut(self.features.max(1)).enumerate() {
            if self.lengths[sequence] + self.leading > 0 {
                // Wraps to the leading slot for an empty sequence.
                self.read_step(sequence, self.lengths[sequence].wrapping_sub(1), row);
            }
        }
        out
    }

    /// Adds all steps of each sequence, in their order, to its row of `sums` `[sequences, features]`.
    pub fn add_steps(&self, sums: &mut [F]) {
        for (sequence, sums) in sums.chunks_exact_mut(self.features.max(1)).enumerate() {
            for step in 0..self.lengths[sequence] {
                let row = self.values[self.start(sequence, step)..].iter().step_by(self.lanes);
                for (sum, &value) in sums.iter_mut().zip(row) {
                    *sum += value;
                }
            }
        }
    }

    /// Takes the steps `from..to` of all sequences, as far as they have them.
    pub fn copy_piece(&mut self, of: &Panels<F>, from: usize, to: usize) {
        let lengths: Vec<usize> = of.lengths.iter().map(|&length| length.clamp(from, to) - from).collect();
        self.lay_out(of.isa, of.features, &lengths, 0);
        for (block, out) in self.blocks_mut().into_iter().enumerate() {
            let start = from * of.slot();
            out.copy_from_slice(&of.block(block)[start.min(of.block(block).len())..][..out.len()]);
        }
    }

    /// Lays the panels out for the sequences of `of`, with `features` values a step; what they hold is unspecified.
    pub fn lay_out_as(&mut self, of: &Panels<F>, features: usize) {
        self.lay_out(of.isa, features, &of.lengths, 0);
    }

    /// As [`Panels::lay_out_as`] with the same features, all zero.
    pub(crate) fn reset_as(&mut self, of: &Panels<F>) {
        self.lay_out_as(of, of.features);
        self.values.fill(F::ZERO);
    }

    /// Copies `count` features of `of`, from feature `from` on, to feature `to` and on; `reversed`: each sequence from its last step
    /// to its first. Both hold the same sequences.
    ///
    /// # Panics
    /// If the sequences or features do not fit.
    pub fn copy_features(&mut self, to: usize, of: &Panels<F>, from: usize, count: usize, reversed: bool) {
        assert_eq!(self.lengths, of.lengths, "the same sequences");
        assert!(
            to + count <= self.features && from + count <= of.features,
            "features in range"
        );
        let (lanes, slot, of_slot) = (self.lanes, self.slot(), of.slot());
        let lengths = &of.lengths;
        let leading = self.leading * slot;
        for (block, out) in self.blocks_mut().into_iter().enumerate() {
            let (out, values) = (&mut out[leading..], of.block(block));
            let lengths = &lengths[block * lanes..((block + 1) * lanes).min(lengths.len())];
            let uniform = lengths.iter().all(|&length| length == lengths[0]);
            for (step, rows) in out.chunks_exact_mut(slot.max(1)).enumerate() {
                let rows = &mut rows[to * lanes..(to + count) * lanes];
                if uniform || !reversed {
                    let source = if reversed { lengths[0] - 1 - step } else { step };
                    rows.copy_from_slice(&values[source * of_slot + from * lanes..][..count * lanes]);
                    continue;
                }
                rows.fill(F::ZERO);
                for (lane, &length) in lengths.iter().enumerate().filter(|&(_, &length)| step < length) {
                    let source = values[(length - 1 - step) * of_slot + from * lanes + lane..].iter();
                    for (value, &other) in rows[lane..].iter_mut().step_by(lanes).zip(source.step_by(lanes)) {
                        *value = other;
                    }
                }
            }
        }
    }

    /// `self += other`, of the same layout.
    pub fn add(&mut self, other: &Panels<F>) {
        assert_eq!(self.values.len(), other.values.len(), "the same layout");
        self.values
            .iter_mut()
            .zip(&other.values[..])
            .for_each(|(value, &add)| *value += add);
    }

    /// `self *= other`, of the same layout.
    pub fn multiply(&mut self, other: &Panels<F>) {
        assert_eq!(self.values.len(), other.values.len(), "the same layout");
        self.values
            .iter_mut()
            .zip(&other.values[..])
            .for_each(|(value, &factor)| *value *= factor);
    }

    /// `[steps][feature][lane]` of one block, without leading slots.
    pub(crate) fn block_mut(&mut self, block: usize) -> &mut [F] {
        let start = self.block_offsets[block] + self.leading * self.slot();
        let end = self.block_offsets[block + 1];
        &mut self.values[start..end]
    }

    /// Numbers from one step of a block to the next.
    pub(crate) fn slot(&self) -> usize {
        slot_rows(self.features) * self.lanes
    }

    fn start(&self, sequence: usize, step: usize) -> usize {
        let block = sequence / self.lanes;
        let slot = step.wrapping_add(self.leading);
        self.block_offsets[block] + slot * self.slot() + sequence % self.lanes
    }

    /// The instruction set that these panels are laid out for.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Sequences side by side in a block.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Values a step.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Sequences.
    pub fn sequences(&self) -> usize {
        self.lengths.len()
    }

    /// Steps of each sequence.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Blocks of sequences.
    pub fn blocks(&self) -> usize {
        self.block_offsets.len() - 1
    }
}

/// Rows of a slot: those of the features, and one more where their number is even. An odd number of cache lines from one step
/// to the next spreads the steps over all sets of the cache; at 64 features they would otherwise share a few.
pub(crate) fn slot_rows(features: usize) -> usize {
    if features == 0 { 0 } else { features | 1 }
}

/// Writes the sequences of one block, `[length, features]` each, side by side into its slots; zeros behind their ends.
fn interleave<F: Real>(slots: &mut [F], features: usize, lanes: &[&[f32]]) {
    let shortest = lanes.iter().map(|lane| lane.len()).min().unwrap_or(0);
    let slot = slot_rows(features) * lanes.len();
    for (step, rows) in slots.chunks_exact_mut(slot).enumerate() {
        let (rows, spare) = rows.split_at_mut(features * lanes.len());
        spare.fill(F::ZERO);
        let start = step * features;
        for (index, row) in (start..).zip(rows.chunks_exact_mut(lanes.len())) {
            if start + features <= shortest {
                for (value, lane) in row.iter_mut().zip(lanes) {
                    *value = F::from_f64(f64::from(lane[index]));
                }
            } else {
                for (value, lane) in row.iter_mut().zip(lanes) {
                    *value = lane.get(index).map_or(F::ZERO, |&value| F::from_f64(f64::from(value)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_equals_writing_step_by_step_whatever_the_memory_held() {
        for isa in Isa::available() {
            check_packing::<f32>(isa);
            check_packing::<f64>(isa);
        }
    }

    fn check_packing<F: Real>(isa: Isa) {
        let mut packed = Panels::<F>::new(isa, 1, &[]);
        for (features, count) in [(3, 70), (1, isa.lanes::<F>()), (2, 1), (5, 2 * isa.lanes::<F>() + 1)] {
            let lengths: Vec<usize> = (0..count).map(|index| 1 + index * 7 % 11).collect();
            let sequences: Vec<Vec<f32>> = lengths
                .iter()
                .enumerate()
                .map(|(index, length)| {
                    (0..length * features)
                        .map(|at| (index * 1000 + at + 1) as f32)
                        .collect()
                })
                .collect();
            let mut stepwise = Panels::<F>::new(isa, features, &lengths);
            for (index, sequence) in sequences.iter().enumerate() {
                let wide: Vec<F> = sequence.iter().map(|&value| F::from_f64(f64::from(value))).collect();
                stepwise.set_sequence(index, &wide);
            }
            packed.values.fill(F::from_f64(f64::NAN));
            packed.pack(features, &lengths, |index| &sequences[index]);
            assert_eq!(packed.values[..], stepwise.values[..]);
            assert_eq!(packed.to_time_major(), stepwise.to_time_major());
        }
    }

    #[test]
    fn unpacking_gives_back_what_was_packed_step_by_step() {
        let (features, lengths) = (3, [5, 4, 4, 1]);
        let counts = [4, 3, 3, 3, 1];
        let values: Vec<f64> = (0..counts.iter().sum::<usize>() * features)
            .map(|at| at as f64)
            .collect();
        let start = |step: usize| counts[..step].iter().sum::<usize>() * features;
        for isa in Isa::available() {
            for reversed in [false, true] {
                let mut panels = Panels::new(isa, 1, &[]);
                panels.pack_steps(features, &lengths, |sequence, step| {
                    let step = if reversed { lengths[sequence] - 1 - step } else { step };
                    &values[start(step) + sequence * features..][..features]
                });
                let mut out = vec![0.0; values.len()];
                panels.unpack_steps(reversed, &mut out);
                assert_eq!(out, values, "{isa:?} {reversed}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "sequence of the wrong size")]
    fn packing_checks_sizes() {
        Panels::<f32>::new(Isa::Portable, 1, &[]).pack(2, &[3], |_| &[1.0, 2.0]);
    }
}
