//! Batches: which sequences go together, and their values in panels `[block][time][feature][lane]`.
//!
//! Padding costs arithmetic, so sequences of similar length go together: the shuffled order is cut into windows of several
//! batches, each window is sorted by length and cut into batches, and the batches are shuffled. Input noise is drawn for a
//! sequence from (seed, epoch, its index in the view), so it does not depend on the batch or the threads.
//!
//! A text is cut into [`Streams`] of equal length that run side by side, and a batch holds the next steps of all of them.

use ernn_kernels::{Isa, Panels, Real};
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::data::View;
use crate::data::random::{Normals, stream};

/// Batches in a window that is sorted by length.
const WINDOW: usize = 16;

/// Which sequences of a view go into which batch; every sequence once, the last batch in the making may be smaller.
///
/// With `shuffle`, a seed and an epoch, the order is random but the same for the same two numbers; without, sequences stand in
/// order of length, equal ones in order of the view.
///
/// # Panics
/// If `batch_size` is 0.
pub fn plan(view: &View, batch_size: usize, shuffle: Option<(u64, usize)>) -> Vec<Vec<usize>> {
    assert!(batch_size > 0, "a batch holds at least one sequence");
    let mut order: Vec<usize> = (0..view.len()).collect();
    let Some((seed, epoch)) = shuffle else {
        order.sort_by_key(|&sequence| view.length(sequence));
        return order.chunks(batch_size).map(<[usize]>::to_vec).collect();
    };
    let mut random = stream(b"batches\0", seed, epoch as u64);
    order.shuffle(&mut random);
    for window in order.chunks_mut(batch_size.saturating_mul(WINDOW)) {
        window.sort_by_key(|&sequence| view.length(sequence));
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
    /// Standard deviation of the logarithm of a factor for each sequence and channel, the same at all its steps: a sensor of another
    /// sensitivity, a stronger movement.
    pub gain: f32,
    /// The seed of the run.
    pub seed: u64,
    /// The epoch, so that each one draws anew.
    pub epoch: usize,
}

/// A text as streams that run side by side: stream `b` is the tokens `b * steps .. (b + 1) * steps`, each of which is followed by its
/// target. What is left over at the end of the text is not used; with one stream nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    /// How many.
    pub count: usize,
    /// Steps of each.
    pub steps: usize,
    /// Steps of a batch.
    pub window: usize,
}

impl Streams {
    /// Cuts a text of so many tokens; fewer streams than wished if it is too short for them.
    ///
    /// # Panics
    /// If `wished` or `window` is 0.
    pub fn new(tokens: usize, wished: usize, window: usize) -> Self {
        assert!(wished > 0 && window > 0, "at least one stream, and one step a batch");
        let targets = tokens.saturating_sub(1);
        let count = wished.min(targets.max(1));
        Streams {
            count,
            steps: targets / count,
            window,
        }
    }

    /// Batches, one after the other in time.
    pub fn batches(&self) -> usize {
        self.steps.div_ceil(self.window)
    }

    /// The first token of each stream in a batch, and the steps there.
    fn places(&self, batch: usize) -> (impl Iterator<Item = usize>, usize) {
        let first = batch * self.window;
        let steps = self.window.min(self.steps - first);
        let (count, length) = (self.count, self.steps);
        ((0..count).map(move |stream| stream * length + first), steps)
    }
}

/// Sequences side by side, padded, with their targets.
#[derive(Clone, Debug)]
pub struct Batch<F: ernn_kernels::Real> {
    /// The values, `[block][time][feature][lane]`, padding zero. Of tokens only the lengths: an embedding makes the values.
    pub inputs: Panels<F>,
    /// The tokens, sequence after sequence; empty for sequences of numbers.
    pub tokens: Vec<u32>,
    /// The class of each sequence, or of each step, sequence after sequence; empty for unlabelled data.
    pub targets: Vec<u32>,
    /// Which labels each sequence has, `[sequences, labels]`, 0 or 1, where several can hold.
    pub indicators: Vec<u8>,
    /// The numbers to predict, `[sequences, targets]`, for regression; `[steps, targets]`, NaN for a step without any, for that of steps.
    pub numbers: Vec<f32>,
    /// How much each sequence counts in the loss; empty: all the same.
    pub weights: Vec<f32>,
    /// What a teacher says of each sequence: probabilities `[sequences, classes]`; empty where there is none.
    pub soft_targets: Vec<f32>,
    /// Which sequence of the view each one is.
    pub indices: Vec<usize>,
    lengths: Vec<usize>,
    /// The values, sequence after sequence.
    values: Vec<f32>,
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
            tokens: Vec::new(),
            targets: Vec::new(),
            indicators: Vec::new(),
            numbers: Vec::new(),
            weights: Vec::new(),
            soft_targets: Vec::new(),
            indices: Vec::new(),
            lengths: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Takes these sequences of a view, with noise on their values, and augmented as the view says, if wished, in place of what it held; memory is
    /// reused. Tokens get no noise.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn fill(&mut self, view: &View, indices: &[usize], noise: Option<Noise>) {
        self.clear();
        self.indices.extend_from_slice(indices);
        for &index in indices {
            self.lengths.push(view.length(index));
            self.targets.extend(view.label(index));
            self.targets.extend_from_slice(view.step_labels(index));
            self.indicators.extend_from_slice(view.indicators(index));
            self.numbers.extend(view.numbers_of(index));
            self.numbers.extend(view.step_numbers(index));
            self.weights.extend(view.weight(index));
            self.tokens.extend_from_slice(view.tokens(index));
        }
        if view.is_tokens() {
            self.inputs.reset(1, &self.lengths);
            return;
        }
        self.read(view, noise.filter(|noise| noise.adds() || view.is_augmented()));
        let mut starts = vec![0];
        starts.extend(self.lengths.iter().scan(0, |end, length| {
            *end += length * view.features();
            Some(*end)
        }));
        let values = &self.values;
        self.inputs.pack(view.features(), &self.lengths, |slot| {
            &values[starts[slot]..starts[slot + 1]]
        });
    }

    /// Takes what a teacher says of the sequences that it holds, from the probabilities of all in the view, `[sequences, classes]`.
    ///
    /// # Panics
    /// If they are not those of the view that it was filled from.
    pub fn teach(&mut self, probabilities: &[f32], classes: usize) {
        self.soft_targets.clear();
        for &index in &self.indices {
            self.soft_targets
                .extend_from_slice(&probabilities[index * classes..(index + 1) * classes]);
        }
    }

    /// Takes the steps of one batch of a text, with the tokens that follow them as targets.
    ///
    /// # Panics
    /// If the text is shorter than the streams say, or has no such batch.
    pub fn fill_text(&mut self, text: &[u32], streams: &Streams, batch: usize) {
        self.clear();
        let (firsts, steps) = streams.places(batch);
        for (stream, first) in firsts.enumerate() {
            self.indices.push(batch * streams.count + stream);
            self.lengths.push(steps);
            self.tokens.extend_from_slice(&text[first..first + steps]);
            self.targets.extend_from_slice(&text[first + 1..first + steps + 1]);
        }
        self.inputs.reset(1, &self.lengths);
    }

    fn clear(&mut self) {
        self.indices.clear();
        self.lengths.clear();
        self.tokens.clear();
        self.targets.clear();
        self.indicators.clear();
        self.numbers.clear();
        self.weights.clear();
        self.soft_targets.clear();
    }

    /// The values of all sequences one after the other, each one read, and given its noise, by whichever thread is free.
    fn read(&mut self, view: &View, noise: Option<Noise>) {
        let features = view.features();
        self.values.resize(self.lengths.iter().sum::<usize>() * features, 0.0);
        let mut rest = &mut self.values[..];
        let mut places = Vec::with_capacity(self.indices.len());
        for (&index, &length) in self.indices.iter().zip(&self.lengths) {
            let (own, tail) = rest.split_at_mut(length * features);
            places.push((index, own));
            rest = tail;
        }
        places.into_par_iter().with_min_len(8).for_each(|(index, values)| {
            let Some(noise) = noise else {
                return view.read(index, values);
            };
            view.read_drawn(index, noise.seed, noise.epoch, values);
            if noise.adds() {
                noise.add(index, features, values);
            }
        });
    }
}

impl Noise {
    /// Whether there is any.
    fn adds(&self) -> bool {
        [self.deviation, self.offset, self.gain].iter().any(|&size| size != 0.0)
    }

    /// Adds the noise of a sequence to its values `[length, features]`: `exp(gain n_c) x_tc + deviation n_tc + offset n_c`.
    fn add(&self, sequence: usize, features: usize, values: &mut [f32]) {
        let mut normals = Normals::new(self.seed, self.epoch as u64, sequence as u64);
        if self.gain != 0.0 {
            let mut gains = vec![0.0; features];
            normals.add(self.gain, &mut gains);
            gains.iter_mut().for_each(|gain| *gain = gain.exp());
            for step in values.chunks_exact_mut(features) {
                step.iter_mut().zip(&gains).for_each(|(value, gain)| *value *= gain);
            }
        }
        normals.add(self.deviation, values);
        if self.offset != 0.0 {
            let mut offsets = vec![0.0; features];
            normals.add(self.offset, &mut offsets);
            for step in values.chunks_exact_mut(features) {
                for (value, offset) in step.iter_mut().zip(&offsets) {
                    *value += offset;
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
