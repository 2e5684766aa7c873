//! The learning rate of an epoch.
//!
//! ```text
//! constant   eta
//! step       eta * factor^floor(epoch / every)
//! cosine     floor + (eta - floor) (1 + cos(pi epoch / epochs)) / 2          the floor after `epochs`
//! ```
//!
//! eta: base learning rate, epoch: from 0. Sources: `torch.optim.lr_scheduler.StepLR` and `CosineAnnealingLR` (Loshchilov and
//! Hutter 2017), called once an epoch; torch's cosine rises again after `epochs`, this one stays.

use serde::{Deserialize, Deserializer, Serialize};

/// How the learning rate falls over the epochs; `kind = "constant"`, `"step"` or `"cosine"` in a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// The same in every epoch.
    #[default]
    #[serde(deserialize_with = "no_settings")]
    Constant,
    /// Multiplied by `factor` after every `every` epochs; `every = 0` never.
    Step {
        /// Epochs between two changes.
        every: usize,
        /// 0.5 halves.
        #[serde(default = "half")]
        factor: f64,
    },
    /// Along half a cosine from the base rate to `floor`.
    Cosine {
        /// Epochs until the floor is reached.
        epochs: usize,
        /// The rate that it ends with.
        #[serde(default)]
        floor: f64,
    },
}

fn half() -> f64 {
    0.5
}

/// Without this a variant that has no settings would swallow misspelt ones.
fn no_settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoSettings {}
    NoSettings::deserialize(deserializer).map(|NoSettings {}| ())
}

impl Schedule {
    /// The learning rate of an epoch, counted from 0.
    pub fn learning_rate(&self, base: f64, epoch: usize) -> f64 {
        match *self {
            Schedule::Constant | Schedule::Step { every: 0, .. } => base,
            Schedule::Step { every, factor } => base * factor.powf((epoch / every) as f64),
            Schedule::Cosine { epochs, floor } if epoch >= epochs => floor,
            Schedule::Cosine { epochs, floor } => {
                let angle = std::f64::consts::PI * epoch as f64 / epochs as f64;
                floor + (base - floor) * (1.0 + angle.cos()) / 2.0
            }
        }
    }
}
