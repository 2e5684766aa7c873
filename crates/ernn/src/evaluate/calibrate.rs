//! Probabilities that mean something: how they compare with frequencies, and the temperature that makes them do so.
//!
//! ```text
//! expected calibration error   sum over 15 bins of confidence of  examples / all * |mean confidence - accuracy|
//! temperature T                has the least  sum of -ln softmax(z / T)[label]  +  (ln T)^2 / 2  on sequences that were not trained on
//! ```
//!
//! Guo et al., "On Calibration of Modern Neural Networks", ICML 2017; the last term is a normal prior of ln T around 0. Without it a model that
//! is right on a handful of sequences would become certain of everything. (Smoothed targets, as Platt has them for two classes, made
//! probabilities of several classes worse.) Dividing all logits by one number changes no answer, and the readout takes it in, so that every
//! export has it.

use serde::{Deserialize, Serialize};

use super::{Prediction, first_largest, judged_logits, rows, widened};
use crate::checkpoint::{Calibration, Decision};
use crate::data::View;
use crate::model::Model;
use crate::{Result, head};

const BINS: usize = 15;
/// Fewer examples say nothing about probabilities.
const LEAST: usize = 30;
/// Logarithms of temperatures that are tried: so many on each side of 0, so far apart.
const GRID: i32 = 12;
const GRID_STEP: f64 = 0.25;
/// Golden sections: each leaves 62 % of what is searched.
const SECTIONS: usize = 32;

/// How probabilities compare with frequencies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Expected calibration error, from 0 to 1.
    pub error: f64,
    /// Those that hold something, by rising confidence.
    pub bins: Vec<ReliabilityBin>,
}

/// Examples whose answers had about the same probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// From 0: bin `b` of 15 holds probabilities above `b / 15` up to `(b + 1) / 15`.
    pub bin: usize,
    /// How many there are.
    pub examples: usize,
    /// The mean probability of their answers.
    pub confidence: f64,
    /// The share of right answers.
    pub accuracy: f64,
}

/// What became of answers where some are "unknown".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unknown {
    /// The probability below which an answer is unknown.
    pub below: f64,
    /// How many are.
    pub examples: usize,
    /// The share of right answers among the others; none if all are unknown.
    pub accuracy: Option<f64>,
}

impl Unknown {
    pub(super) fn of(decision: &Decision, said: &[Prediction], labels: &[u32]) -> Self {
        let known = said
            .iter()
            .zip(labels)
            .filter(|(said, _)| decision.is_known(said.probabilities[said.class]));
        let answered = known.clone().count();
        let right = known.filter(|(said, label)| said.class == **label as usize).count();
        Unknown {
            below: decision.unknown_below.unwrap_or(0.0),
            examples: said.len() - answered,
            accuracy: (answered > 0).then(|| right as f64 / answered as f64),
        }
    }
}

impl Reliability {
    /// Of answers: the probability of each, and whether it was right.
    pub(super) fn of(answers: impl Iterator<Item = (f64, bool)>) -> Self {
        let mut sums = [(0_usize, 0.0, 0_usize); BINS];
        // A model that diverged says nothing that could be counted.
        for (confidence, right) in answers.filter(|(confidence, _)| confidence.is_finite()) {
            let bin = (confidence * BINS as f64).ceil() as usize;
            let own = &mut sums[bin.clamp(1, BINS) - 1];
            *own = (own.0 + 1, own.1 + confidence, own.2 + usize::from(right));
        }
        let bins = sums.into_iter().enumerate().filter(|(_, sum)| sum.0 > 0);
        Self::of_bins(
            bins.map(|(bin, (examples, confidence, right))| ReliabilityBin {
                bin,
                examples,
                confidence: confidence / examples as f64,
                accuracy: right as f64 / examples as f64,
            })
            .collect(),
        )
    }

    fn of_bins(bins: Vec<ReliabilityBin>) -> Self {
        let all: usize = bins.iter().map(|bin| bin.examples).sum();
        let off = |bin: &ReliabilityBin| bin.examples as f64 * (bin.confidence - bin.accuracy).abs();
        Reliability {
            error: bins.iter().map(off).sum::<f64>() / all.max(1) as f64,
            bins,
        }
    }

    /// Several parts as one.
    pub(super) fn pooled<'a>(parts: impl Iterator<Item = &'a Reliability> + Clone) -> Self {
        let bin = |bin: usize| {
            let own = parts.clone().flat_map(|part| &part.bins).filter(|own| own.bin == bin);
            let examples: usize = own.clone().map(|own| own.examples).sum();
            let mean = |value: fn(&ReliabilityBin) -> f64| {
                let sum: f64 = own.clone().map(|own| own.examples as f64 * value(own)).sum();
                sum / examples as f64
            };
            (examples > 0).then(|| ReliabilityBin {
                bin,
                examples,
                confidence: mean(|bin| bin.confidence),
                accuracy: mean(|bin| bin.accuracy),
            })
        };
        Self::of_bins((0..BINS).filter_map(bin).collect())
    }
}

/// The temperature of these logits `[examples, classes]`, and what it does; none of too few examples.
pub(crate) fn calibration(logits: &[f32], labels: &[u32], classes: usize) -> Option<Calibration> {
    found(&rows(logits, classes).map(widened).collect::<Vec<_>>(), labels)
}

/// The same of probabilities, a row an example.
pub(crate) fn calibration_of(probabilities: &[&[f64]], labels: &[u32]) -> Option<Calibration> {
    found(&logarithms(probabilities), labels)
}

fn logarithms(probabilities: &[&[f64]]) -> Vec<Vec<f64>> {
    let logarithm = |p: &f64| p.max(f64::MIN_POSITIVE).ln();
    probabilities
        .iter()
        .map(|row| row.iter().map(logarithm).collect())
        .collect()
}

fn found(rows: &[Vec<f64>], labels: &[u32]) -> Option<Calibration> {
    let classes = rows.first().map_or(0, Vec::len);
    let finite = || rows.iter().flatten().all(|logit| logit.is_finite());
    if labels.len() < LEAST || classes < 2 || !finite() {
        return None;
    }
    let temperature = temperature(rows, labels);
    Some(Calibration {
        temperature,
        examples: labels.len(),
        error_before: Reliability::of(answers(rows, labels, 1.0)).error,
        error_after: Reliability::of(answers(rows, labels, temperature)).error,
    })
}

/// The probability of the answer to each row of logits, divided by a temperature, and whether it is right.
fn answers(rows: &[Vec<f64>], labels: &[u32], temperature: f64) -> impl Iterator<Item = (f64, bool)> {
    rows.iter().zip(labels).map(move |(row, &label)| {
        let class = first_largest(row);
        (softened(row, 1.0 / temperature)[class], class == label as usize)
    })
}

/// The temperature with the least loss: the best place of a grid of its logarithm, then golden sections around it.
fn temperature(rows: &[Vec<f64>], labels: &[u32]) -> f64 {
    let loss = |logarithm: f64| -> f64 {
        let factor = (-logarithm).exp();
        let of_row = |(row, &label): (&Vec<f64>, &u32)| {
            let scaled: Vec<f64> = row.iter().map(|logit| logit * factor).collect();
            head::cross_entropy(&scaled, scaled.len(), &[label], None, &mut Vec::new())
        };
        rows.iter().zip(labels).map(of_row).sum::<f64>() + logarithm.powi(2) / 2.0
    };
    let places: Vec<f64> = (-GRID..=GRID).map(|place| f64::from(place) * GRID_STEP).collect();
    let losses: Vec<f64> = places.iter().map(|&place| -loss(place)).collect();
    let best = places[first_largest(&losses)];
    let (mut low, mut high) = (best - GRID_STEP, best + GRID_STEP);
    let share = (5_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..SECTIONS {
        let [left, right] = [high - share * (high - low), low + share * (high - low)];
        match loss(left) < loss(right) {
            true => high = right,
            false => low = left,
        }
    }
    (0.5 * (low + high)).exp()
}

fn softened(row: &[f64], factor: f64) -> Vec<f64> {
    let mut row: Vec<f64> = row.iter().map(|logit| logit * factor).collect();
    let classes = row.len();
    head::softmax(&mut row, classes);
    row
}

/// The probability below which an answer is "unknown", so that at most this share of the right answers is lost: of `answers`, the probability
/// of each and whether it was right. None if none was right.
fn unknown_below(answers: impl Iterator<Item = (f64, bool)>, share: f64) -> Option<f64> {
    let mut right: Vec<f64> = answers
        .filter(|(_, right)| *right)
        .map(|(probability, _)| probability)
        .collect();
    right.sort_by(f64::total_cmp);
    let lost = (share * right.len() as f64).floor() as usize;
    right.get(lost).copied()
}

/// [`unknown_below`] by the sequences of a prepared part.
pub(crate) fn unknown_by(model: &Model<f32>, part: &View, share: f64) -> Result<Option<f64>> {
    let (logits, labels) = judged_logits(model, part)?;
    let rows: Vec<Vec<f64>> = rows(&logits, model.config().classes).map(widened).collect();
    Ok(unknown_below(answers(&rows, &labels, 1.0), share))
}

/// [`unknown_below`] by probabilities, a row an example, as they are once calibrated.
pub(crate) fn unknown_of(
    probabilities: &[&[f64]],
    labels: &[u32],
    calibration: Option<Calibration>,
    share: f64,
) -> Option<f64> {
    let temperature = calibration.map_or(1.0, |found| found.temperature);
    unknown_below(answers(&logarithms(probabilities), labels, temperature), share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_mean_distance_of_confidence_and_accuracy() {
        let answers = [(0.95, true), (0.97, false), (0.5, true), (0.5, true), (0.2, false)];
        let found = Reliability::of(answers.into_iter());
        let expected = (2.0 * (0.96_f64 - 0.5).abs() + 2.0 * 0.5 + 0.2) / 5.0;
        assert!((found.error - expected).abs() < 1e-12);
        assert_eq!(found.bins.iter().map(|bin| bin.bin).collect::<Vec<_>>(), [2, 7, 14]);
        let (one, other) = answers.split_at(3);
        let parts = [one, other].map(|part| Reliability::of(part.iter().copied()));
        let pooled = Reliability::pooled(parts.iter());
        assert!((pooled.error - expected).abs() < 1e-12 && pooled.bins.len() == 3);
        assert_eq!(Reliability::of([(0.0, false), (1.0, true)].into_iter()).error, 0.0);
        assert_eq!(Reliability::of([(f64::NAN, false)].into_iter()), Reliability::default());
    }

    /// Logits whose answers are right as often as a softmax of half of them says.
    fn twice_too_sure() -> (Vec<f32>, Vec<u32>) {
        let (mut logits, mut labels) = (Vec::new(), Vec::new());
        for step in 0..2000 {
            let log_odds = (step % 40) as f64 / 10.0 - 2.0;
            let p = 1.0 / (1.0 + (-log_odds).exp());
            logits.extend([0.0, (2.0 * log_odds) as f32]);
            labels.push(u32::from(((step / 40) as f64 + 0.5) / 50.0 < p));
        }
        (logits, labels)
    }

    #[test]
    fn the_temperature_undoes_too_much_certainty() {
        let (logits, labels) = twice_too_sure();
        let found = calibration(&logits, &labels, 2).unwrap();
        assert!((found.temperature - 2.0).abs() < 0.05, "{found:?}");
        assert!(found.error_before > 0.05 && found.error_after < 0.01, "{found:?}");
        assert_eq!(calibration(&logits[..20], &labels[..10], 2), None);
    }

    /// The numbers of `reference/calibration.py`.
    #[test]
    fn temperature_and_errors_are_those_of_scipy() {
        let logit = |row: usize, column: usize| ((row * 37 + column * 53 + row * row * 11) % 97) as f32 / 8.0;
        let logits: Vec<f32> = (0..60)
            .flat_map(|row| (0..3).map(move |column| logit(row, column)))
            .collect();
        let label =
            |row: usize| (first_largest(&logits[3 * row..3 * row + 3]) + usize::from(row.is_multiple_of(4))) % 3;
        let labels: Vec<u32> = (0..60).map(|row| label(row) as u32).collect();
        let found = calibration(&logits, &labels, 3).unwrap();
        let close = |own: f64, other: f64| assert!((own - other).abs() < 1e-6, "{own} {other}");
        close(found.temperature, 2.640_069_636_34);
        close(found.error_before, 0.164_593_373_13);
        close(found.error_after, 0.082_125_051_72);
    }

    #[test]
    fn always_right_is_not_certain() {
        let logits: Vec<f32> = (0..40)
            .flat_map(|index| [0.0, if index % 2 == 0 { 3.0 } else { -3.0 }])
            .collect();
        let labels: Vec<u32> = (0..40).map(|index| u32::from(index % 2 == 0)).collect();
        let found = calibration(&logits, &labels, 2).unwrap();
        // The least of  40 ln(1 + e^(-3 / T)) + (ln T)^2 / 2.
        let slope = |t: f64| -40.0 * 3.0 / t / (1.0 + (3.0 / t).exp()) - t.ln();
        assert!(slope(found.temperature).abs() < 1e-3, "{found:?}");
        assert!((0.2..0.6).contains(&found.temperature), "{found:?}");
    }

    #[test]
    fn few_right_answers_are_given_up() {
        let answers = || (1..=10).map(|tenth| (f64::from(tenth) / 10.0, tenth > 2));
        assert_eq!(unknown_below(answers(), 0.0), Some(0.3));
        assert_eq!(unknown_below(answers(), 0.25), Some(0.5));
        assert_eq!(unknown_below(answers(), 1.0), None);
        assert_eq!(unknown_below([(0.9, false)].into_iter(), 0.1), None);
    }
}
