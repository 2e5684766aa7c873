//! Panels over time: sums of squares and largest values of each sequence, and gradients put back to every step.
//!
//! The lanes of a block go side by side, and each sequence's steps in their order, so that a sequence has the same bits wherever it lies.

use crate::panels::Panels;
use crate::{Isa, Real};

impl<F: Real> Panels<F> {
    /// Adds the squares of all steps of each sequence, in their order, to its row of `sums` `[sequences, features]`.
    pub fn add_squares(&self, sums: &mut [F]) {
        let mut panel = Vec::new();
        for block in 0..self.blocks() {
            self.gather(block, sums, F::ZERO, &mut panel);
            self.walk(block, |_, place, row| {
                for (sum, &value) in panel[place..].iter_mut().zip(row) {
                    *sum += value * value;
                }
            });
            self.scatter(block, &panel, sums);
        }
    }

    /// Raises each row of `largest` `[sequences, features]` to the largest value of the sequence's steps, and writes to `at` the step
    /// where it stands, the first of equals; the first step here is step `from` of the sequences.
    pub fn raise_to_largest(&self, from: u32, largest: &mut [F], at: &mut [u32]) {
        let (mut panel, mut places) = (Vec::new(), Vec::new());
        for block in 0..self.blocks() {
            self.gather(block, largest, F::ZERO, &mut panel);
            self.gather(block, at, 0, &mut places);
            self.walk(block, |step, place, row| {
                let step = from + step as u32;
                let kept = panel[place..].iter_mut().zip(&mut places[place..]);
                for ((most, at), &value) in kept.zip(row) {
                    let more = value > *most;
                    *most = if more { value } else { *most };
                    *at = if more { step } else { *at };
                }
            });
            self.scatter(block, &panel, largest);
            self.scatter(block, &places, at);
        }
    }

    /// Lays the panels out for these sequences and writes each one's row of `rows` `[sequences, features]` to all its steps.
    pub fn spread(&mut self, isa: Isa, lengths: &[usize], rows: &[F]) {
        let features = rows.len() / lengths.len().max(1);
        self.lay_out(isa, features, lengths, 0);
        let (mut panel, slot) = (Vec::new(), self.slot());
        for block in 0..self.blocks() {
            self.gather(block, rows, F::ZERO, &mut panel);
            panel.resize(slot, F::ZERO);
            for step in self.block_mut(block).chunks_exact_mut(slot.max(1)) {
                step.copy_from_slice(&panel);
            }
        }
    }

    /// Adds to every step of each sequence its row of `slopes` `[sequences, features]` times the same step of `of`.
    ///
    /// # Panics
    /// If `of` holds other sequences.
    pub fn add_sloped(&mut self, slopes: &[F], of: &Panels<F>) {
        let same = (of.lengths(), of.features()) == (self.lengths(), self.features());
        assert!(same, "the same sequences and features");
        let (mut panel, slot) = (Vec::new(), self.slot());
        for block in 0..self.blocks() {
            self.gather(block, slopes, F::ZERO, &mut panel);
            let values = of.block(block).chunks_exact(slot.max(1));
            for (step, values) in self.block_mut(block).chunks_exact_mut(slot.max(1)).zip(values) {
                for ((sum, &slope), &value) in step.iter_mut().zip(&panel).zip(values) {
                    *sum += slope * value;
                }
            }
        }
    }

    /// Adds to one number.
    pub fn add_at(&mut self, sequence: usize, step: usize, feature: usize, value: F) {
        let (block, lanes, slot) = (sequence / self.lanes(), self.lanes(), self.slot());
        let place = step * slot + feature * lanes + sequence % lanes;
        self.block_mut(block)[place] += value;
    }

    /// Tells `work` of the step, the place in a step, and the values that stand there: whole steps as long as all sequences of the
    /// block have them, then one number after the other.
    fn walk(&self, block: usize, mut work: impl FnMut(usize, usize, &[F])) {
        let (lanes, lengths) = (self.lanes(), self.block_lengths(block));
        let shortest = lengths.iter().copied().min().unwrap_or(0);
        let used = self.features() * lanes;
        for (step, row) in self.block(block).chunks_exact(self.slot().max(1)).enumerate() {
            if step < shortest {
                work(step, 0, &row[..used]);
                continue;
            }
            for (lane, _) in lengths.iter().enumerate().filter(|&(_, &length)| step < length) {
                for place in (lane..used).step_by(lanes) {
                    work(step, place, &row[place..=place]);
                }
            }
        }
    }

    /// The rows of a block's sequences as a panel `[feature][lane]`; lanes of no sequence have `empty`.
    fn gather<T: Copy>(&self, block: usize, rows: &[T], empty: T, panel: &mut Vec<T>) {
        let (lanes, features) = (self.lanes(), self.features());
        panel.clear();
        panel.resize(features * lanes, empty);
        let own = rows.chunks_exact(features.max(1)).skip(block * lanes);
        for (lane, row) in own.take(lanes).enumerate() {
            for (place, &value) in panel[lane..].iter_mut().step_by(lanes).zip(row) {
                *place = value;
            }
        }
    }

    /// The way back from [`Panels::gather`].
    fn scatter<T: Copy>(&self, block: usize, panel: &[T], rows: &mut [T]) {
        let (lanes, features) = (self.lanes(), self.features());
        let own = rows.chunks_exact_mut(features.max(1)).skip(block * lanes);
        for (lane, row) in own.take(lanes).enumerate() {
            for (value, &place) in row.iter_mut().zip(panel[lane..].iter().step_by(lanes)) {
                *value = place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sequences of uneven lengths in more than one block, one of them empty.
    fn sample(isa: Isa) -> (Panels<f64>, Vec<Vec<[f64; 2]>>) {
        let lengths: Vec<usize> = (0..isa.lanes::<f64>() + 3).map(|index| (index * 5 + 3) % 7).collect();
        let value = |sequence: usize, step: usize, feature: usize| {
            // Few values, so that there are equals.
            ((sequence * 7 + step * 5 + feature * 3) % 4) as f64 - 1.5
        };
        let mut panels = Panels::new(isa, 2, &lengths);
        let mut rows = Vec::new();
        for (sequence, &length) in lengths.iter().enumerate() {
            let steps = (0..length).map(|step| [0, 1].map(|feature| value(sequence, step, feature)));
            rows.push(steps.collect::<Vec<_>>());
            for (step, row) in rows[sequence].iter().enumerate() {
                panels.set_step(sequence, step, row);
            }
        }
        (panels, rows)
    }

    #[test]
    fn largest_values_are_the_first_of_equals_and_sums_are_plain() {
        for isa in Isa::available() {
            let (panels, rows) = sample(isa);
            let count = rows.len() * 2;
            let (mut largest, mut at) = (vec![f64::NEG_INFINITY; count], vec![0; count]);
            let mut squares = vec![1.0; count];
            panels.raise_to_largest(100, &mut largest, &mut at);
            panels.add_squares(&mut squares);
            for (index, steps) in rows.iter().enumerate() {
                for feature in 0..2 {
                    let place = index * 2 + feature;
                    let (mut most, mut first) = (f64::NEG_INFINITY, 0);
                    let mut sum = 1.0;
                    for (step, row) in steps.iter().enumerate() {
                        if row[feature] > most {
                            (most, first) = (row[feature], 100 + step as u32);
                        }
                        sum += row[feature] * row[feature];
                    }
                    assert_eq!(
                        (largest[place], at[place], squares[place]),
                        (most, first, sum),
                        "{place}"
                    );
                }
            }
        }
    }

    #[test]
    fn gradients_reach_every_step() {
        for isa in Isa::available() {
            let (panels, rows) = sample(isa);
            let numbers =
                |factor: f64| -> Vec<f64> { (0..rows.len() * 2).map(|place| factor * place as f64).collect() };
            let mut out = Panels::new(isa, 1, &[]);
            out.spread(isa, panels.lengths(), &numbers(1.0));
            out.add_sloped(&numbers(3.0), &panels);
            if let Some(sequence) = rows.iter().position(|steps| steps.len() > 1) {
                out.add_at(sequence, 1, 1, 1000.0);
                let mut row = [0.0; 2];
                out.read_step(sequence, 1, &mut row);
                assert!(row[1] > 900.0);
                out.add_at(sequence, 1, 1, -1000.0);
            }
            for (sequence, steps) in rows.iter().enumerate() {
                for (step, values) in steps.iter().enumerate() {
                    let mut row = [0.0; 2];
                    out.read_step(sequence, step, &mut row);
                    let base = (sequence * 2) as f64;
                    let expected = [
                        base + 3.0 * base * values[0],
                        base + 1.0 + 3.0 * (base + 1.0) * values[1],
                    ];
                    assert_eq!(row, expected, "{sequence} {step}");
                }
            }
        }
    }
}
