//! Labels of which several can hold: how each fares, and all together.
//!
//! ```text
//! a label is called where its probability is at least 1/2
//! precision = right / called     recall = right / support     F1 = 2 right / (support + called)
//! micro F1 = the same of the sums over all labels
//! average precision = sum_k (R_k - R_k-1) P_k over the different probabilities, highest first; R, P: recall and precision if all labels of
//!                     at least that probability are called (scikit-learn's `average_precision_score`)
//! exact match = part of the sequences all of whose labels are right
//! ```
//!
//! What a label without a sequence has not is none, and left out of means. Always giving a label the same probability has its prevalence as
//! average precision.

use serde::{Deserialize, Serialize};

use super::report::ratio;

/// The probability from which on a label is called.
pub const THRESHOLD: f64 = 0.5;

/// How one label fares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelReport {
    /// Its name.
    pub name: String,
    /// Sequences that have it.
    pub support: usize,
    /// Sequences that were called so.
    pub called: usize,
    /// Sequences that have it and were called so.
    pub right: usize,
    /// Part of the sequences called so that have it; none if no sequence was called so.
    pub precision: Option<f64>,
    /// Part of the sequences that have it that were called so; none if no sequence has it.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall; none if no sequence has it or was called so.
    pub f1: Option<f64>,
    /// Area below precision over recall, whatever the threshold; none if no sequence has it.
    pub average_precision: Option<f64>,
}

/// Labels of sequences, measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelsReport {
    /// Mean of the average precisions of the labels that have one; none if no sequence has any label.
    pub mean_average_precision: Option<f64>,
    /// The same where each label has always the same probability: the mean of the prevalences of those labels.
    pub always_the_same: Option<f64>,
    /// Mean F1 over the labels that have one.
    pub macro_f1: Option<f64>,
    /// F1 of all labels of all sequences together; none if there are none, and none was called.
    pub micro_f1: Option<f64>,
    /// Part of the sequences all of whose labels are right.
    pub exact_match: f64,
    /// One a label.
    pub per_label: Vec<LabelReport>,
}

impl LabelsReport {
    /// Of probabilities and indicators, both `[sequences, labels]`.
    pub fn new(names: &[String], probabilities: &[f64], indicators: &[u8]) -> Self {
        let labels = names.len().max(1);
        let sequences = probabilities.len() / labels;
        let called = |place: usize| probabilities[place] >= THRESHOLD;
        let right = |place: usize| called(place) == (indicators[place] == 1);
        let exact = (0..sequences).filter(|sequence| (sequence * labels..(sequence + 1) * labels).all(right));
        let exact = exact.count();
        let report = |(label, name): (usize, &String)| {
            let places = || (label..probabilities.len()).step_by(labels);
            let pairs = places()
                .map(|place| (probabilities[place], indicators[place] == 1))
                .collect();
            LabelReport {
                average_precision: average_precision(pairs),
                ..LabelReport::of_counts(
                    name,
                    places().filter(|&place| indicators[place] == 1).count(),
                    places().filter(|&place| called(place)).count(),
                    places()
                        .filter(|&place| called(place) && indicators[place] == 1)
                        .count(),
                )
            }
        };
        Self::of(names.iter().enumerate().map(report).collect(), sequences, exact)
    }

    /// Several reports, each of so many sequences, as one of all: counts add up, and an average precision is the mean of those of the parts,
    /// weighted by the sequences that have the label, as probabilities of several models are no one ranking.
    pub fn pooled(parts: &[(usize, &LabelsReport)]) -> Self {
        let sequences = parts.iter().map(|(count, _)| count).sum();
        let exact = parts
            .iter()
            .map(|(count, part)| (part.exact_match * *count as f64).round() as usize)
            .sum();
        let names = parts.first().map_or(&[][..], |(_, part)| &part.per_label);
        let report = |(label, first): (usize, &LabelReport)| {
            let own = || parts.iter().map(|(_, part)| &part.per_label[label]);
            let of = |count: fn(&LabelReport) -> usize| own().map(count).sum::<usize>();
            let support = of(|label| label.support);
            let areas = own().map(|label| label.support as f64 * label.average_precision.unwrap_or(0.0));
            LabelReport {
                average_precision: (support > 0).then(|| areas.sum::<f64>() / support as f64),
                ..LabelReport::of_counts(&first.name, support, of(|label| label.called), of(|label| label.right))
            }
        };
        Self::of(names.iter().enumerate().map(report).collect(), sequences, exact)
    }

    fn of(per_label: Vec<LabelReport>, sequences: usize, exact: usize) -> Self {
        let sum = |count: fn(&LabelReport) -> usize| per_label.iter().map(count).sum::<usize>();
        let prevalence = |label: &LabelReport| (label.support > 0).then(|| label.support as f64 / sequences as f64);
        LabelsReport {
            mean_average_precision: mean_of_some(per_label.iter().map(|label| label.average_precision)),
            always_the_same: mean_of_some(per_label.iter().map(prevalence)),
            macro_f1: mean_of_some(per_label.iter().map(|label| label.f1)),
            micro_f1: ratio(
                2 * sum(|label| label.right),
                sum(|label| label.support) + sum(|label| label.called),
            ),
            exact_match: ratio(exact, sequences).unwrap_or(0.0),
            per_label,
        }
    }

    /// The labels that no sequence has: they have no average precision and no recall.
    pub fn absent(&self) -> Vec<&str> {
        let absent = self.per_label.iter().filter(|label| label.support == 0);
        absent.map(|label| label.name.as_str()).collect()
    }
}

impl LabelReport {
    fn of_counts(name: &str, support: usize, called: usize, right: usize) -> Self {
        LabelReport {
            name: name.to_owned(),
            support,
            called,
            right,
            precision: ratio(right, called),
            recall: ratio(right, support),
            f1: ratio(2 * right, support + called),
            average_precision: None,
        }
    }
}

/// Of (probability, whether the label holds).
fn average_precision(mut pairs: Vec<(f64, bool)>) -> Option<f64> {
    let support = pairs.iter().filter(|(_, holds)| *holds).count();
    pairs.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (mut called, mut right, mut area) = (0, 0, 0.0);
    for equal in pairs.chunk_by(|one, other| one.0 == other.0) {
        let own = equal.iter().filter(|(_, holds)| *holds).count();
        called += equal.len();
        right += own;
        area += own as f64 / support.max(1) as f64 * right as f64 / called as f64;
    }
    (support > 0).then_some(area)
}

/// The mean of what there is; none of nothing.
fn mean_of_some(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
#[path = "labels_tests.rs"]
mod tests;
