//! How a result comes about. Neither protocol ever looks at the test part before the end, so there is no figure of a best test epoch.

use std::fmt;

use serde::{Deserialize, Serialize};

use ernn::train::RunConfig;

/// Part of the training sequences that selects, where the data brings no validation part of its own.
const PAPER_VALIDATION: f64 = 0.2;

/// How a result comes about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// The epoch is selected on the validation part; its model is measured on the test part once.
    #[default]
    Honest,
    /// As the paper: 20 % of the training part for validation, then trained anew on all of it for as many epochs, and measured on the test
    /// part once.
    Paper,
}

impl Protocol {
    /// Its name, as in `--protocol`.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Honest => "honest",
            Protocol::Paper => "paper",
        }
    }

    /// What it is, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Protocol::Honest => "the epoch is selected on the validation part, then the test part is read once",
            Protocol::Paper => {
                "a validation part (20 % of the training part, where the data has none) selects the epoch, then the model is trained anew \
                 on all of it for as many epochs, and the test part is read once"
            }
        }
    }

    /// Makes the settings of a row those of this protocol.
    pub(super) fn apply(self, settings: &mut RunConfig) {
        settings.training.retrain = self == Protocol::Paper;
        if self == Protocol::Paper {
            settings.training.validation = PAPER_VALIDATION;
        }
    }
}

/// A protocol, in full or in the tiny version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How results come about.
    pub protocol: Protocol,
    /// Little data, few epochs: whether it works at all. No result.
    pub quick: bool,
}

impl fmt::Display for Variant {
    fn fmt(&self, text: &mut fmt::Formatter) -> fmt::Result {
        let quick = if self.quick { "-quick" } else { "" };
        write!(text, "{}{quick}", self.protocol.name())
    }
}
