//! The numbers of an evaluation.

use serde::{Deserialize, Serialize};

use super::number_answers::NumberAnswers;
use super::{LabelsReport, Metric, NumberReport, Prediction, Reliability, Segments, Unknown};
use crate::cell::Equilibria;
use crate::checkpoint::null;

/// How one class fares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassReport {
    /// Its name.
    pub name: String,
    /// Sequences of this class.
    pub support: usize,
    /// Part of the sequences called so that are so; none if no sequence was called so.
    pub precision: Option<f64>,
    /// Part of the sequences of this class that were called so; none if the part has no such sequence.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall; none if no sequence is of this class or was called so.
    #[serde(default)]
    pub f1: Option<f64>,
}

/// A model on a part of a data set, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Sequences; steps where each has a target.
    pub examples: usize,
    /// Mean cross-entropy of an example, in nats, unweighted; of labels the mean over them, too; for regression the mean squared error, of
    /// quantiles the mean pinball loss.
    #[serde(deserialize_with = "null::number")]
    pub loss: f64,
    /// Part of the examples that were classified correctly; none for regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Mean recall over the classes that occur: says what accuracy hides when classes are unequal. For classes of sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balanced_accuracy: Option<f64>,
    /// Mean F1 over the classes that have one. For classes of sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub macro_f1: Option<f64>,
    /// `e` to the loss, for next tokens: as many tokens to choose from, all alike, would be as hard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perplexity: Option<f64>,
    /// For regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_squared_error: Option<f64>,
    /// How the probabilities of classes compare with frequencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reliability: Option<Reliability>,
    /// What became of answers where some are "unknown"; everything else counts the likeliest class of those as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Unknown>,
    /// For classes of steps: what became of runs of steps with one class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<Segments>,
    /// For regression: errors in the unit of the numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberReport>,
    /// For labels of which several can hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelsReport>,
    /// How the equilibria of the steps were found, where layers seek them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equilibria: Option<Equilibria>,
    /// One entry a class, for classes of sequences.
    pub per_class: Vec<ClassReport>,
    /// `confusion[true class][predicted class]`, counts, for classes of sequences.
    pub confusion: Vec<Vec<usize>>,
}

impl Evaluation {
    /// Counts. `scores` gives the predicted class and the loss of each sequence.
    pub(super) fn new(classes: &[String], labels: &[u32], scores: impl Iterator<Item = (usize, f64)>) -> Self {
        let mut confusion = vec![vec![0; classes.len()]; classes.len()];
        let mut total_loss = 0.0;
        for (&label, (predicted, loss)) in labels.iter().zip(scores) {
            confusion[label as usize][predicted] += 1;
            total_loss += loss;
        }
        let correct: usize = (0..classes.len()).map(|class| confusion[class][class]).sum();
        let per_class: Vec<ClassReport> = (0..classes.len())
            .map(|class| class_report(&classes[class], class, &confusion))
            .collect();
        Evaluation {
            examples: labels.len(),
            loss: total_loss / labels.len().max(1) as f64,
            accuracy: Some(ratio(correct, labels.len()).unwrap_or(0.0)),
            balanced_accuracy: Some(mean(per_class.iter().filter_map(|class| class.recall))),
            macro_f1: Some(mean(per_class.iter().filter_map(|class| class.f1))),
            per_class,
            confusion,
            ..Evaluation::default()
        }
    }

    /// Counts of answers, with how their probabilities compare with frequencies.
    pub(super) fn of_predictions(
        classes: &[String],
        labels: &[u32],
        said: &[Prediction],
        losses: impl Iterator<Item = f64>,
    ) -> Self {
        let scores = said.iter().map(|said| said.class).zip(losses);
        let answers = said
            .iter()
            .zip(labels)
            .map(|(said, &label)| (said.probabilities[said.class], said.class == label as usize));
        Evaluation {
            reliability: Some(Reliability::of(answers)),
            ..Evaluation::new(classes, labels, scores)
        }
    }

    /// Of next tokens, from the sum of their losses.
    pub(super) fn of_tokens(steps: usize, loss: f64, correct: usize) -> Self {
        let mean = loss / steps.max(1) as f64;
        Evaluation {
            accuracy: Some(ratio(correct, steps).unwrap_or(0.0)),
            perplexity: Some(Metric::Perplexity.value(None, mean)),
            ..Self::without_classes(steps, mean)
        }
    }

    /// Of numbers.
    pub(super) fn of_numbers(answers: &NumberAnswers) -> Self {
        Self::of_number_report(answers.len(), answers.report())
    }

    /// Of so many numbers, from their errors.
    pub(super) fn of_number_report(examples: usize, numbers: NumberReport) -> Self {
        let error = numbers.root_mean_squared_error.powi(2);
        let loss = numbers.quantiles.as_ref().map_or(error, |own| own.mean_pinball_loss);
        Evaluation {
            mean_squared_error: Some(error),
            numbers: Some(numbers),
            ..Self::without_classes(examples, loss)
        }
    }

    /// Of labels of so many sequences; `loss` is the mean binary cross-entropy of a label of a sequence.
    pub(super) fn of_labels(examples: usize, loss: f64, labels: LabelsReport) -> Self {
        Evaluation {
            labels: Some(labels),
            ..Self::without_classes(examples, loss)
        }
    }

    fn without_classes(examples: usize, loss: f64) -> Self {
        Evaluation {
            examples,
            loss,
            ..Evaluation::default()
        }
    }

    /// The same, of steps of which there are so many in a second, where anyone knows.
    pub fn at_rate(mut self, rate: Option<f64>) -> Self {
        if let Some(segments) = &mut self.segments {
            segments.hours = rate.map(|rate| self.examples as f64 / rate / 3600.0);
            for timeline in &mut segments.timelines {
                timeline.seconds_a_step = rate.map(|rate| 1.0 / rate);
            }
        }
        self
    }

    /// The number that the task is judged by, and what it is.
    pub fn score(&self) -> (Metric, f64) {
        if let Some(labels) = &self.labels {
            return (
                Metric::MeanAveragePrecision,
                labels.mean_average_precision.unwrap_or(0.0),
            );
        }
        match (self.perplexity, self.mean_squared_error) {
            (Some(perplexity), _) => (Metric::Perplexity, perplexity),
            (_, Some(error)) => (Metric::RootMeanSquaredError, error.sqrt()),
            _ => (Metric::Accuracy, self.accuracy.unwrap_or(0.0)),
        }
    }
}

fn class_report(name: &str, class: usize, confusion: &[Vec<usize>]) -> ClassReport {
    let correct = confusion[class][class];
    let support: usize = confusion[class].iter().sum();
    let called: usize = confusion.iter().map(|row| row[class]).sum();
    ClassReport {
        name: name.to_string(),
        support,
        precision: ratio(correct, called),
        recall: ratio(correct, support),
        f1: ratio(2 * correct, support + called),
    }
}

/// 0 of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    sum / count.max(1) as f64
}

pub(super) fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_class() {
        let classes = ["a", "b", "c"].map(String::from);
        let called = [0, 0, 1, 1, 0];
        let scores = called.into_iter().zip([0.5, 0.5, 0.5, 1.0, 1.0]);
        let found = Evaluation::new(&classes, &[0, 0, 0, 1, 1], scores);
        assert_eq!((found.accuracy, found.score()), (Some(0.6), (Metric::Accuracy, 0.6)));
        assert_eq!(found.loss, (3.0 * 0.5 + 2.0) / 5.0);
        assert_eq!(found.confusion, [[2, 1, 0], [1, 1, 0], [0, 0, 0]]);
        assert_eq!(found.balanced_accuracy, Some((2.0 / 3.0 + 0.5) / 2.0));
        assert_eq!(found.per_class[2].recall, None);
        assert_eq!(found.per_class[2].precision, None);
        assert_eq!(found.per_class[1].precision, Some(0.5));
        // As scikit-learn's f1_score(average="macro"): over the classes that occur or were called.
        let f1: Vec<Option<f64>> = found.per_class.iter().map(|class| class.f1).collect();
        assert_eq!(f1, [Some(4.0 / 6.0), Some(0.5), None]);
        assert_eq!(found.macro_f1, Some((4.0 / 6.0 + 0.5) / 2.0));
    }

    #[test]
    fn reports_from_before_f1_still_load() {
        let text = r#"{"examples": 2, "loss": 0.5, "accuracy": 1.0, "confusion": [[2]],
            "per_class": [{"name": "a", "support": 2, "precision": 1.0, "recall": 1.0}]}"#;
        let found: Evaluation = serde_json::from_str(text).unwrap();
        assert_eq!((found.macro_f1, found.per_class[0].f1), (None, None));
    }
}
