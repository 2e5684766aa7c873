//! What the readout sees of a sequence: one or more statistics of the last layer's states over its own steps.
//!
//! ```text
//! mean       m = 1/T sum_t h_t
//! deviation  s = sqrt(max(1/T sum_t h_t^2 - m^2, 0) + 2^-16)
//! max        max_t h_t, the first of equals
//! last       h_T
//! ```
//!
//! Their order is that of this list, and within each of two directions `[forwards, backwards]`: the readout of `mean-max` reads
//! `[mean forwards, mean backwards, max forwards, max backwards]`. A second direction's steps count from its own end. A sequence of no
//! steps has zeros.
//!
//! All is carried as sums and largest values so far, so that a sequence has the same bits whole, in pieces, and in a stream. The
//! `2^-16` keeps the deviation's gradient finite where a unit never moves, and two machines near each other: the variance is a
//! difference of sums.
//!
//! Gradients, with `g` those at the statistics; a step's variance has one only where the maximum above takes the first:
//!
//! ```text
//! at h_t:  g_mean / T + g_dev (h_t - m) / (T s) + g_max [t is the first largest] + g_last [t = T]
//! ```

use ernn_kernels::{Panels, Real};
use serde::{Deserialize, Serialize};

/// Which states the readout sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// The state after the last step.
    Last,
    /// The mean of the states after every step.
    Mean,
    /// The mean and each unit's largest value.
    MeanMax,
    /// The mean, each unit's largest value, the last state.
    MeanMaxLast,
    /// The mean, the standard deviation, each unit's largest value.
    MeanStdMax,
}

/// One thing that the readout sees of each unit; in the order of the readout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The mean over the steps.
    Mean,
    /// The standard deviation over the steps.
    Deviation,
    /// The largest value.
    Largest,
    /// The value after the last step.
    Last,
}

/// What is added to a variance.
pub const EPSILON: f64 = 1.0 / 65_536.0;

impl Pooling {
    /// What the readout sees, in its order.
    pub fn statistics(self) -> &'static [Statistic] {
        match self {
            Pooling::Last => &[Statistic::Last],
            Pooling::Mean => &[Statistic::Mean],
            Pooling::MeanMax => &[Statistic::Mean, Statistic::Largest],
            Pooling::MeanMaxLast => &[Statistic::Mean, Statistic::Largest, Statistic::Last],
            Pooling::MeanStdMax => &[Statistic::Mean, Statistic::Deviation, Statistic::Largest],
        }
    }

    /// Whether the readout sees this.
    pub fn has(self, statistic: Statistic) -> bool {
        self.statistics().contains(&statistic)
    }

    /// Whether the readout sees more than the last state, and so every step counts.
    pub fn sees_all_steps(self) -> bool {
        self != Pooling::Last
    }
}

/// What has been seen of the states of one direction so far; each vector `[sequences, D]`, empty where nothing asks for it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pooled<F> {
    pub(super) pooling: Pooling,
    hidden: usize,
    /// Steps of each sequence.
    counts: Vec<usize>,
    sums: Vec<F>,
    squares: Vec<F>,
    largest: Vec<F>,
    /// The step of each largest value.
    at: Vec<u32>,
    last: Vec<F>,
}

impl<F: Real> Pooled<F> {
    /// Before the first step.
    pub(super) fn new(pooling: Pooling, sequences: usize, hidden: usize) -> Self {
        let room = |statistics: &[Statistic]| {
            let asked = statistics.iter().any(|&statistic| pooling.has(statistic));
            if asked { sequences * hidden } else { 0 }
        };
        let mut pooled = Pooled {
            pooling,
            hidden,
            counts: vec![0; sequences],
            sums: vec![F::ZERO; room(&[Statistic::Mean, Statistic::Deviation])],
            squares: vec![F::ZERO; room(&[Statistic::Deviation])],
            largest: vec![F::ZERO; room(&[Statistic::Largest])],
            at: vec![0; room(&[Statistic::Largest])],
            last: vec![F::ZERO; room(&[Statistic::Last])],
        };
        pooled.reset();
        pooled
    }

    /// Of whole sequences: their states at all steps.
    pub(super) fn of(pooling: Pooling, states: &Panels<F>) -> Self {
        let mut pooled = Pooled::new(pooling, states.sequences(), states.features());
        pooled.add(states, 0);
        pooled
    }

    /// As before the first step.
    pub(super) fn reset(&mut self) {
        self.counts.fill(0);
        for values in [&mut self.sums, &mut self.squares, &mut self.last] {
            values.fill(F::ZERO);
        }
        self.largest.fill(F::from_f64(f64::NEG_INFINITY));
        self.at.fill(0);
    }

    /// Steps of each sequence so far.
    pub(super) fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The states of the next piece, which begins at step `from`.
    pub(super) fn add(&mut self, states: &Panels<F>, from: usize) {
        if !self.sums.is_empty() {
            states.add_steps(&mut self.sums);
        }
        if !self.squares.is_empty() {
            states.add_squares(&mut self.squares);
        }
        if !self.largest.is_empty() {
            states.raise_to_largest(from as u32, &mut self.largest, &mut self.at);
        }
        if !self.last.is_empty() {
            self.last = states.last_steps();
        }
        for (count, &length) in self.counts.iter_mut().zip(states.lengths()) {
            *count += length;
        }
    }

    /// The same of one sequence: its next steps, which lie in the columns from `column` on of rows `width` long, in their order or, of a
    /// second direction, the other way.
    pub(super) fn add_rows(&mut self, rows: &[F], width: usize, column: usize, reversed: bool) {
        let steps = rows.len() / width.max(1);
        for step in 0..steps {
            let step = if reversed { steps - 1 - step } else { step };
            let row = &rows[step * width + column..][..self.hidden];
            for (sum, &value) in self.sums.iter_mut().zip(row) {
                *sum += value;
            }
            for (sum, &value) in self.squares.iter_mut().zip(row) {
                *sum += value * value;
            }
            for (most, &value) in self.largest.iter_mut().zip(row) {
                *most = if value > *most { value } else { *most };
            }
        }
        if steps > 0 && !self.last.is_empty() {
            let step = if reversed { 0 } else { steps - 1 };
            self.last.copy_from_slice(&rows[step * width + column..][..self.hidden]);
        }
        self.counts[0] += steps;
    }

    /// Each sequence's mean of sums, `[sequences, D]`.
    fn means(&self, sums: &[F]) -> Vec<F> {
        let mut means = sums.to_vec();
        for (row, &count) in means.chunks_exact_mut(self.hidden).zip(&self.counts) {
            let count = divisor::<F>(count);
            row.iter_mut().for_each(|value| *value /= count);
        }
        means
    }

    /// The variances as they are computed, which may lie a little below 0.
    fn variances(&self) -> Vec<F> {
        let squares = self.means(&self.squares);
        let pairs = squares.into_iter().zip(self.means(&self.sums));
        pairs.map(|(square, mean)| square - mean * mean).collect()
    }

    /// One statistic, `[sequences, D]`.
    fn statistic(&self, statistic: Statistic) -> Vec<F> {
        let mut rows = match statistic {
            Statistic::Mean => self.means(&self.sums),
            Statistic::Deviation => self.variances().into_iter().map(deviation).collect(),
            Statistic::Largest => self.largest.clone(),
            Statistic::Last => self.last.clone(),
        };
        if matches!(statistic, Statistic::Deviation | Statistic::Largest) {
            let rows = rows.chunks_exact_mut(self.hidden).zip(&self.counts);
            rows.filter(|&(_, &count)| count == 0)
                .for_each(|(row, _)| row.fill(F::ZERO));
        }
        rows
    }

    /// Whether any sequence has its last step in this piece: else nothing of its last states is there.
    pub(super) fn any_ends(&self, lengths: &[usize], from: usize) -> bool {
        let mut both = self.counts.iter().zip(lengths);
        both.any(|(&count, &length)| ends_here(count, length, from))
    }

    /// The gradient at the last states in a piece of these lengths: zeros for sequences that end elsewhere.
    pub(super) fn last_gradient(&self, gradient: &Rows<F>, lengths: &[usize], from: usize) -> Vec<F> {
        let mut rows = gradient.of(Statistic::Last);
        let both = self.counts.iter().zip(lengths);
        for (row, (&count, &length)) in rows.chunks_exact_mut(self.hidden).zip(both) {
            if !ends_here(count, length, from) {
                row.fill(F::ZERO);
            }
        }
        rows
    }

    /// The gradient at all states of the piece that begins at step `from`, when all pieces have been added.
    pub(super) fn gradient(&self, gradient: &Rows<F>, states: &Panels<F>, from: usize, out: &mut Panels<F>) {
        let mut base = self.means(&gradient.of(Statistic::Mean));
        let slopes = self.pooling.has(Statistic::Deviation).then(|| self.slopes(gradient));
        if let Some(slopes) = &slopes {
            let means = self.means(&self.sums);
            for ((base, &slope), &mean) in base.iter_mut().zip(slopes).zip(&means) {
                *base -= slope * mean;
            }
        }
        out.spread(states.isa(), states.lengths(), &base);
        if let Some(slopes) = &slopes {
            out.add_sloped(slopes, states);
        }
        let lengths = states.lengths();
        if self.pooling.has(Statistic::Largest) {
            let rows = gradient.of(Statistic::Largest);
            for (place, (&value, &at)) in rows.iter().zip(&self.at).enumerate() {
                let (sequence, unit) = (place / self.hidden, place % self.hidden);
                if let Some(step) = (at as usize).checked_sub(from).filter(|&step| step < lengths[sequence]) {
                    out.add_at(sequence, step, unit, value);
                }
            }
        }
        if self.pooling.has(Statistic::Last) {
            let rows = gradient.of(Statistic::Last);
            for (place, &value) in rows.iter().enumerate() {
                let (sequence, unit) = (place / self.hidden, place % self.hidden);
                if ends_here(self.counts[sequence], lengths[sequence], from) {
                    out.add_at(sequence, lengths[sequence] - 1, unit, value);
                }
            }
        }
    }

    /// `g_dev / (T s)`, 0 where the variance is not above 0.
    fn slopes(&self, gradient: &Rows<F>) -> Vec<F> {
        let mut slopes = self.means(&gradient.of(Statistic::Deviation));
        for (slope, variance) in slopes.iter_mut().zip(self.variances()) {
            *slope = if variance > F::ZERO {
                *slope / deviation(variance)
            } else {
                F::ZERO
            };
        }
        slopes
    }
}

fn ends_here(count: usize, length: usize, from: usize) -> bool {
    length > 0 && from + length == count
}

/// Steps as the divisor of a mean.
fn divisor<F: Real>(count: usize) -> F {
    F::from_f64(count.max(1) as f64)
}

fn deviation<F: Real>(variance: F) -> F {
    let variance = if variance < F::ZERO { F::ZERO } else { variance };
    (variance + F::from_f64(EPSILON)).sqrt()
}

/// What the readout reads, `[sequences, statistics x directions x D]`.
pub(super) fn rows<F: Real>(directions: &[Pooled<F>]) -> Vec<F> {
    let Some(first) = directions.first() else {
        return Vec::new();
    };
    let statistics = first.pooling.statistics().iter();
    let parts: Vec<Vec<F>> = statistics
        .flat_map(|&statistic| directions.iter().map(move |pooled| pooled.statistic(statistic)))
        .collect();
    if let [only] = &parts[..] {
        return only.clone();
    }
    let own = first.hidden;
    (0..first.counts.len())
        .flat_map(|row| parts.iter().flat_map(move |part| &part[row * own..(row + 1) * own]))
        .copied()
        .collect()
}

/// One direction's part of the gradient at what the readout reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a, F> {
    /// `[sequences, statistics x directions x D]`.
    pub(super) all: &'a [F],
    pub(super) pooling: Pooling,
    pub(super) hidden: usize,
    pub(super) directions: usize,
    /// Which direction.
    pub(super) place: usize,
}

impl<F: Real> Rows<'_, F> {
    /// `[sequences, D]`; zeros of a statistic that the readout does not see.
    fn of(&self, statistic: Statistic) -> Vec<F> {
        let statistics = self.pooling.statistics();
        let width = statistics.len() * self.directions * self.hidden;
        let rows = self.all.chunks_exact(width.max(1));
        let Some(index) = statistics.iter().position(|&other| other == statistic) else {
            return vec![F::ZERO; rows.len() * self.hidden];
        };
        let from = (index * self.directions + self.place) * self.hidden;
        rows.flat_map(|row| &row[from..from + self.hidden]).copied().collect()
    }
}
