//! What the paper says about a row, in its own units.

use serde::{Deserialize, Serialize};

use ernn::evaluate::Metric;

/// The paper's figures of a row; what it does not give is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// In percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// On the test part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perplexity: Option<f64>,
    /// On the test part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_squared_error: Option<f64>,
    /// Size of the model, 4 bytes a parameter, 1 KB being 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kilobytes: Option<f64>,
    /// Number of parameters, as rounded there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<usize>,
    /// Time of the training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_hours: Option<f64>,
    /// Time of the training, where it is given in minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_minutes: Option<f64>,
    /// Time of one prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_milliseconds: Option<f64>,
}

impl Paper {
    /// The figure that a row is judged by, as shown.
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Accuracy => self.accuracy,
            Metric::Perplexity => self.perplexity,
            Metric::RootMeanSquaredError | Metric::MeanAveragePrecision => None,
            Metric::MeanSquaredError => self.mean_squared_error,
        }
    }

    /// A figure that the experiment is not judged by, with its name: it would never be seen.
    pub(super) fn stray(&self, metric: Metric) -> Option<&'static str> {
        let figures = [
            (Metric::Accuracy, self.accuracy, "accuracy"),
            (Metric::Perplexity, self.perplexity, "perplexity"),
            (Metric::MeanSquaredError, self.mean_squared_error, "mean_squared_error"),
        ];
        let stray = figures.iter().find(|(of, value, _)| *of != metric && value.is_some());
        stray.map(|(_, _, name)| *name)
    }

    /// Time of the training in seconds.
    pub fn train_seconds(&self) -> Option<f64> {
        let hours = self.train_hours.map(|hours| 3600.0 * hours);
        hours.or(self.train_minutes.map(|minutes| 60.0 * minutes))
    }
}
