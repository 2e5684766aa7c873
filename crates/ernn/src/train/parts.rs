//! What a run trains on: the parts after the split, normalized, with what was measured on them.

use super::{ClassWeights, RunConfig};
use crate::checkpoint::{Checksum, Phase};
use crate::data::{self, Dataset, Normalization, Part};
use crate::head;
use crate::{Error, Result};

/// The parts of one pass of a run.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Normalized sequences to train on.
    pub fit: Part,
    /// Normalized sequences to select the best epoch with; none in a run without validation, or when retraining.
    pub validation: Option<Part>,
    /// Fitted on the sequences to train on, before any other part was looked at.
    pub normalization: Normalization,
    /// Weight of each class in the loss.
    pub class_weights: Option<Vec<f32>>,
}

impl Parts {
    /// Splits and normalizes.
    pub fn prepare(dataset: &Dataset, config: &RunConfig, phase: Phase) -> Result<Self> {
        check_labels(dataset)?;
        let (mut fit, mut validation) = match phase {
            Phase::Select => split(dataset, config.training.validation, config.training.seed)?,
            Phase::Retrain => (everything(dataset), None),
        };
        let normalization = Normalization::fit(&fit)?;
        normalization.apply(&mut fit)?;
        if let Some(validation) = &mut validation {
            normalization.apply(validation)?;
        }
        let class_weights = match config.training.class_weights {
            ClassWeights::None => None,
            ClassWeights::Balanced => Some(balanced(&fit, dataset.classes.len())),
        };
        Ok(Parts {
            fit,
            validation,
            normalization,
            class_weights,
        })
    }
}

/// The raw training and validation sequences of a run: the data set's own validation part, or a part split off by class (and
/// by group, where the data names groups).
pub fn split(dataset: &Dataset, fraction: f64, seed: u64) -> Result<(Part, Option<Part>)> {
    if let Some(validation) = &dataset.validation {
        return Ok((dataset.train.clone(), Some(validation.clone())));
    }
    if fraction == 0.0 {
        return Ok((dataset.train.clone(), None));
    }
    let (fit, validation) = data::split(&dataset.train, fraction, seed)?;
    Ok((dataset.train.select(&fit), Some(dataset.train.select(&validation))))
}

/// Training and validation sequences together.
fn everything(dataset: &Dataset) -> Part {
    let mut all = dataset.train.clone();
    let Some(validation) = &dataset.validation else {
        return all;
    };
    let end = all.steps();
    let values = all.values.len();
    all.filled
        .extend(validation.filled.iter().map(|position| values + position));
    all.offsets
        .extend(validation.offsets.iter().skip(1).map(|offset| end + offset));
    all.values.extend(&validation.values);
    all.labels.extend(&validation.labels);
    all.groups.clear();
    all
}

/// Tells whether two data sets would be trained on alike: a checksum of the training and validation sequences, labels, groups
/// and class names. The test part does not belong to it.
pub fn fingerprint(dataset: &Dataset) -> String {
    let mut sum = Checksum::default();
    for part in [Some(&dataset.train), dataset.validation.as_ref()]
        .into_iter()
        .flatten()
    {
        sum.add(&(part.features as u64).to_le_bytes());
        part.offsets
            .iter()
            .for_each(|&offset| sum.add(&(offset as u64).to_le_bytes()));
        part.values.iter().for_each(|value| sum.add(&value.to_le_bytes()));
        for &number in part.labels.iter().chain(&part.groups) {
            sum.add(&number.to_le_bytes());
        }
    }
    for class in &dataset.classes {
        sum.add(class.as_bytes());
        sum.add(&[0]);
    }
    sum.to_string()
}

fn check_labels(dataset: &Dataset) -> Result<()> {
    let refuse = |problem: String| {
        Err(Error::Data {
            dataset: dataset.name.clone(),
            problem,
        })
    };
    if dataset.train.is_empty() {
        return refuse("found no sequence, expected sequences to train on".to_string());
    }
    if !dataset.is_labelled() {
        return refuse("found sequences without labels, expected a label for each to train on".to_string());
    }
    if dataset.classes.len() < 2 {
        let found = dataset.classes.join(", ");
        return refuse(format!(
            "found the only class {found}, expected at least two classes to tell apart"
        ));
    }
    Ok(())
}

fn balanced(part: &Part, classes: usize) -> Vec<f32> {
    let mut counts = vec![0; classes];
    part.labels.iter().for_each(|&label| counts[label as usize] += 1);
    head::balanced_class_weights(&counts)
        .into_iter()
        .map(|weight| weight as f32)
        .collect()
}
