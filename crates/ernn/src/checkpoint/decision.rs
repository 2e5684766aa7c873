//! How what a model says becomes an answer: found when it is trained, kept with it.

use serde::{Deserialize, Serialize};

use super::Listening;

/// How what a model says becomes an answer; chosen by sequences that it was not trained on, where there are any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// For classes of steps: what a change of class costs, in nats; none: each step for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_penalty: Option<f64>,
    /// How the readout was scaled so that probabilities are frequencies; none: it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// For classes of sequences: an answer whose probability is below this is "unknown"; none: there is always an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_below: Option<f64>,
    /// For classes of sequences: how a stream without an end becomes windows and events; none: as whoever listens says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening: Option<Listening>,
}

/// What calibration found; the readout is scaled already.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// What logits were divided by.
    pub temperature: f64,
    /// Sequences, or steps, that it was found by.
    pub examples: usize,
    /// Expected calibration error of them as the model was trained.
    pub error_before: f64,
    /// And as it is now.
    pub error_after: f64,
}

/// What an answer is called whose probability is below [`Decision::unknown_below`].
pub const UNKNOWN: &str = "unknown";

impl Decision {
    /// Whether an answer of this probability stands.
    pub fn is_known(&self, probability: f64) -> bool {
        self.unknown_below.is_none_or(|least| probability >= least)
    }

    /// What a change of class costs from a step to the next, in nats.
    pub fn penalty(&self) -> f64 {
        self.switch_penalty.unwrap_or(0.0)
    }

    /// Whether there is nothing in it.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}
