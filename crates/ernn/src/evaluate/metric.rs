//! What a task is judged by: one number of an evaluation, and whether it should be high or low.
//!
//! ```text
//! accuracy             part of the sequences classified correctly, shown in percent      higher is better
//! perplexity           e^loss, the loss being the mean cross-entropy in nats             lower is better
//! root-mean-squared-error   of numbers, in their unit                                    lower is better
//! mean-average-precision   of labels of which several can hold, the mean over those that a sequence has, in percent   higher is better
//! mean-squared-error   the square of it                                                  lower is better
//! ```

use serde::{Deserialize, Serialize};

use super::Evaluation;
use crate::checkpoint::EpochRecord;
use crate::data::Task;

/// What a task is judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Part of the examples that were classified correctly, from 0 to 1.
    #[default]
    Accuracy,
    /// `e^loss`.
    Perplexity,
    /// The root of the mean squared error, which is the loss of numbers.
    RootMeanSquaredError,
    /// Its square.
    MeanSquaredError,
    /// The mean over labels of their average precisions, from 0 to 1.
    MeanAveragePrecision,
}

/// The loss above which a perplexity is written as infinite.
const MOST_LOSS: f64 = 700.0;

impl Metric {
    /// The metric of a task.
    pub fn of(task: Task) -> Self {
        match task {
            Task::Classification | Task::StepClassification => Metric::Accuracy,
            Task::NextToken => Metric::Perplexity,
            Task::Regression | Task::StepRegression => Metric::RootMeanSquaredError,
            Task::MultiLabel => Metric::MeanAveragePrecision,
        }
    }

    /// Its value, from the accuracy, where there is one, and the loss on the same sequences.
    pub fn value(self, accuracy: Option<f64>, loss: f64) -> f64 {
        match self {
            Metric::Accuracy | Metric::MeanAveragePrecision => accuracy.unwrap_or(0.0),
            // Beyond this it would overflow, and a file of results cannot hold infinity.
            Metric::Perplexity => loss.min(MOST_LOSS).exp(),
            Metric::RootMeanSquaredError => loss.sqrt(),
            Metric::MeanSquaredError => loss,
        }
    }

    /// Its value in an evaluation.
    pub fn of_evaluation(self, found: &Evaluation) -> f64 {
        match (self, &found.labels) {
            (Metric::MeanAveragePrecision, Some(labels)) => labels.mean_average_precision.unwrap_or(0.0),
            _ => self.value(found.accuracy, found.loss),
        }
    }

    /// Its value on the validation part after an epoch; none where there is no such part.
    pub fn after(self, record: &EpochRecord) -> Option<f64> {
        let loss = record.validation_loss?;
        let error = record.validation_root_mean_squared_error;
        Some(match (self, error) {
            (Metric::RootMeanSquaredError, Some(error)) => error,
            (Metric::MeanSquaredError, Some(error)) => error.powi(2),
            (Metric::MeanAveragePrecision, _) => record.validation_average_precision.unwrap_or(0.0),
            _ => self.value(record.validation_accuracy, loss),
        })
    }

    /// Whether it is an error of numbers.
    pub fn is_of_numbers(self) -> bool {
        matches!(self, Metric::RootMeanSquaredError | Metric::MeanSquaredError)
    }

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        matches!(self, Metric::Accuracy | Metric::MeanAveragePrecision)
    }

    /// The value as people write it: accuracies in percent.
    pub fn shown(self, value: f64) -> f64 {
        match self {
            Metric::Accuracy | Metric::MeanAveragePrecision => 100.0 * value,
            Metric::Perplexity | Metric::RootMeanSquaredError | Metric::MeanSquaredError => value,
        }
    }

    /// The shown value in figures.
    pub fn text(self, shown: f64) -> String {
        if self == Metric::Perplexity && shown >= MOST_LOSS.exp() {
            return "inf".to_string();
        }
        if self == Metric::Perplexity && shown >= 1e9 {
            return format!("{shown:.2e}");
        }
        if self == Metric::RootMeanSquaredError {
            return figures(shown);
        }
        let decimals = self.decimals();
        format!("{shown:.decimals$}")
    }

    /// A difference of shown values, with its sign.
    pub fn difference_text(self, shown: f64) -> String {
        if self == Metric::RootMeanSquaredError {
            let sign = if shown > 0.0 { "+" } else { "" };
            return format!("{sign}{}", figures(shown));
        }
        let decimals = self.decimals();
        let text = format!("{shown:+.decimals$}");
        // A difference of nothing has no sign.
        if text[1..].chars().all(|letter| letter == '0' || letter == '.') {
            return text[1..].to_string();
        }
        text
    }

    fn decimals(self) -> usize {
        match self {
            Metric::Accuracy | Metric::Perplexity | Metric::MeanAveragePrecision => 2,
            Metric::RootMeanSquaredError | Metric::MeanSquaredError => 4,
        }
    }

    /// A value in words: `accuracy 95.32 %`.
    pub fn phrase(self, value: f64) -> String {
        let text = self.text(self.shown(value));
        match self {
            Metric::Accuracy => format!("accuracy {text} %"),
            Metric::Perplexity => format!("perplexity {text}"),
            Metric::RootMeanSquaredError => format!("RMSE {text}"),
            Metric::MeanSquaredError => format!("mean squared error {text}"),
            Metric::MeanAveragePrecision => format!("mean average precision {text} %"),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.title().trim_end_matches(", %")
    }

    /// Its name, with the unit of the shown value.
    pub fn title(self) -> &'static str {
        match self {
            Metric::Accuracy => "accuracy, %",
            Metric::Perplexity => "perplexity",
            Metric::RootMeanSquaredError => "RMSE",
            Metric::MeanSquaredError => "mean squared error",
            Metric::MeanAveragePrecision => "mean average precision, %",
        }
    }
}

/// Four figures of a number in a unit that is not known: `0.01235`, `12.35`, `12346`, `1.235e-8`.
pub fn figures(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || !size.is_finite() {
        return number.to_string();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{number:.3e}");
    }
    let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perplexity_is_the_exponential_of_the_loss() {
        let uniform = 10_000f64.ln();
        assert!((Metric::Perplexity.value(Some(0.1), uniform) - 10_000.0).abs() < 1e-8);
        assert!(Metric::Perplexity.value(None, 1e9).is_finite());
        assert_eq!(
            Metric::Perplexity.phrase(Metric::Perplexity.value(None, 6e34)),
            "perplexity inf"
        );
        assert_eq!(Metric::Perplexity.text(2.5e100), "2.50e100");
        assert_eq!(Metric::Accuracy.value(Some(0.25), uniform), 0.25);
        assert_eq!(Metric::MeanSquaredError.value(None, 0.5), 0.5);
    }

    #[test]
    fn numbers_of_any_unit_have_four_figures() {
        let texts = [0.012_345_6, 12.3456, 12_345.6, 1.234_56e-8, -0.5, 0.0, 1.0].map(figures);
        assert_eq!(
            texts,
            ["0.01235", "12.35", "12346", "1.235e-8", "-0.5000", "0", "1.000"]
        );
        let metric = Metric::of(Task::Regression);
        assert_eq!(metric.phrase(metric.value(None, 0.25)), "RMSE 0.5000");
        assert_eq!(metric.difference_text(0.5), "+0.5000");
    }

    #[test]
    fn shown_in_the_units_of_the_paper() {
        let accuracy = Metric::Accuracy;
        assert_eq!(accuracy.text(accuracy.shown(0.9532)), "95.32");
        assert_eq!(accuracy.phrase(0.9532), "accuracy 95.32 %");
        assert_eq!(accuracy.difference_text(-0.5), "-0.50");
        assert_eq!(accuracy.difference_text(1.25), "+1.25");
        assert_eq!(accuracy.difference_text(-0.001), "0.00");
    }
}
