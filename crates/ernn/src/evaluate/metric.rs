//! What a task is judged by: one number of an evaluation, and whether it should be high or low.
//!
//! ```text
//! accuracy             part of the sequences classified correctly, shown in percent      higher is better
//! perplexity           e^loss, the loss being the mean cross-entropy in nats             lower is better
//! mean-squared-error   the loss of a regression                                          lower is better
//! ```

use serde::{Deserialize, Serialize};

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
    /// The loss.
    MeanSquaredError,
}

/// The loss above which a perplexity is written as infinite.
const MOST_LOSS: f64 = 700.0;

impl Metric {
    /// The metric of a task.
    pub fn of(task: Task) -> Self {
        match task {
            Task::Classification | Task::StepClassification => Metric::Accuracy,
            Task::NextToken => Metric::Perplexity,
            Task::Regression => Metric::MeanSquaredError,
        }
    }

    /// Its value, from the accuracy, where there is one, and the loss on the same sequences.
    pub fn value(self, accuracy: Option<f64>, loss: f64) -> f64 {
        match self {
            Metric::Accuracy => accuracy.unwrap_or(0.0),
            // Beyond this it would overflow, and a file of results cannot hold infinity.
            Metric::Perplexity => loss.min(MOST_LOSS).exp(),
            Metric::MeanSquaredError => loss,
        }
    }

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        matches!(self, Metric::Accuracy)
    }

    /// The value as people write it: accuracies in percent.
    pub fn shown(self, value: f64) -> f64 {
        match self {
            Metric::Accuracy => 100.0 * value,
            Metric::Perplexity | Metric::MeanSquaredError => value,
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
        let decimals = self.decimals();
        format!("{shown:.decimals$}")
    }

    /// A difference of shown values, with its sign.
    pub fn difference_text(self, shown: f64) -> String {
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
            Metric::Accuracy | Metric::Perplexity => 2,
            Metric::MeanSquaredError => 4,
        }
    }

    /// A value in words: `accuracy 95.32 %`.
    pub fn phrase(self, value: f64) -> String {
        let text = self.text(self.shown(value));
        match self {
            Metric::Accuracy => format!("accuracy {text} %"),
            Metric::Perplexity => format!("perplexity {text}"),
            Metric::MeanSquaredError => format!("mean squared error {text}"),
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
            Metric::MeanSquaredError => "mean squared error",
        }
    }
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
    fn shown_in_the_units_of_the_paper() {
        let accuracy = Metric::Accuracy;
        assert_eq!(accuracy.text(accuracy.shown(0.9532)), "95.32");
        assert_eq!(accuracy.phrase(0.9532), "accuracy 95.32 %");
        assert_eq!(accuracy.difference_text(-0.5), "-0.50");
        assert_eq!(accuracy.difference_text(1.25), "+1.25");
        assert_eq!(accuracy.difference_text(-0.001), "0.00");
    }
}
