//! Batches: which sequences go together, and their values in panels `[block][time][feature][lane]`.
//!
//! Padding costs arithmetic, so sequences of similar length go together: the shuffled order is cut into windows of several
//! batches, each window is sorted by length and cut into batches, and the batches are shuffled. Input noise is drawn for a
//! sequence from (seed, epoch, its index in the part), so it does not depend on the batch or the threads.

use ernn_kernels::{Isa, Panels, Real};
use rand::seq::SliceRandom;

use crate::data::Part;
use crate::data::random::{Normals, stream};

/// Batches in a window that is sorted by length.
const WINDOW: usize = 16;

/// Which sequences of a part go into which batch; every sequence once, the last batch in the making may be smaller.
///
/// With `shuffle`, a seed and an epoch, the order is random but the same for the same two numbers; without, sequences stand in
/// order of length, equal ones in order of the part.
///
/// # Panics
/// If `batch_size` is 0.
pub fn plan(part: &Part, batch_size: usize, shuffle: Option<(u64, usize)>) -> Vec<Vec<usize>> {
    assert!(batch_size > 0, "a batch holds at least one sequence");
    let mut order: Vec<usize> = (0..part.len()).collect();
    let Some((seed, epoch)) = shuffle else {
        order.sort_by_key(|&sequence| part.length(sequence));
        return order.chunks(batch_size).map(<[usize]>::to_vec).collect();
    };
    let mut random = stream(b"batches\0", seed, epoch as u64);
    order.shuffle(&mut random);
    for window in order.chunks_mut(batch_size.saturating_mul(WINDOW)) {
        window.sort_by_key(|&sequence| part.length(sequence));
    }
    let mut batches: Vec<Vec<usize>> = order.chunks(batch_size).map(<[usize]>::to_vec).collect();
    batches.shuffle(&mut random);
    batches
}

/// Gaussian noise on the inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Its standard deviation, in units of the (normalized) inputs.
    pub deviation: f32,
    /// Standard deviation of an offset for each sequence and channel, the same at all its steps: a sensor that sits a little
    /// differently on another person.
    pub offset: f32,
    /// The seed of the run.
    pub seed: u64,
    /// The epoch, so that each one draws anew.
    pub epoch: usize,
}

/// Sequences side by side, padded, with their classes.
#[derive(Clone, Debug)]
pub struct Batch<F: ernn_kernels::Real> {
    /// The values, `[block][time][feature][lane]`, padding zero.
    pub inputs: Panels<F>,
    /// The class of each sequence; empty for unlabelled data.
    pub targets: Vec<u32>,
    /// Which sequence of the part each one is.
    pub indices: Vec<usize>,
    lengths: Vec<usize>,
    /// The noisy values, sequence after sequence.
    noisy: Vec<f32>,
}

impl<F: Real> Default for Batch<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Real> Batch<F> {
    /// An empty batch for this machine's best instruction set.
    pub fn new() -> Self {
        Self::for_isa(Isa::best())
    }

    /// An empty batch laid out for an instruction set.
    pub fn for_isa(isa: Isa) -> Self {
        Batch {
            inputs: Panels::new(isa, 1, &[]),
            targets: Vec::new(),
            indices: Vec::new(),
            lengths: Vec::new(),
            noisy: Vec::new(),
        }
    }

    /// Takes these sequences of a part, with noise on their values if wished, in place of what it held; memory is reused.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn fill(&mut self, part: &Part, indices: &[usize], noise: Option<Noise>) {
        self.indices.clear();
        self.indices.extend_from_slice(indices);
        self.targets.clear();
        if !part.labels.is_empty() {
            self.targets.extend(indices.iter().map(|&index| part.labels[index]));
        }
        self.lengths.clear();
        self.lengths.extend(indices.iter().map(|&index| part.length(index)));
        match noise.filter(|noise| noise.deviation != 0.0 || noise.offset != 0.0) {
            None => self
                .inputs
                .pack(part.features, &self.lengths, |slot| part.sequence(indices[slot])),
            Some(noise) => self.fill_noisy(part, noise),
        }
    }

    fn fill_noisy(&mut self, part: &Part, noise: Noise) {
        self.noisy.clear();
        let (silence, mut offsets) = (vec![0.0; part.features], Vec::with_capacity(part.features));
        let mut starts = Vec::with_capacity(self.indices.len());
        for &index in &self.indices {
            let start = self.noisy.len();
            starts.push(start);
            let mut normals = Normals::new(noise.seed, noise.epoch as u64, index as u64);
            normals.add_to(part.sequence(index), noise.deviation, &mut self.noisy);
            if noise.offset != 0.0 {
                offsets.clear();
                normals.add_to(&silence, noise.offset, &mut offsets);
                for step in self.noisy[start..].chunks_exact_mut(part.features) {
                    for (value, offset) in step.iter_mut().zip(&offsets) {
                        *value += offset;
                    }
                }
            }
        }
        let (lengths, noisy) = (&self.lengths, &self.noisy);
        self.inputs.pack(part.features, lengths, |slot| {
            &noisy[starts[slot]..][..lengths[slot] * part.features]
        });
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
