//! What a fold trains on, and with which settings.

use crate::data::{Dataset, Folds, Task};
use crate::train::RunConfig;
use crate::{Error, Result};

/// The data set of a fold: the rest to train on, and what is held out as its test part.
pub(super) fn dataset_of(dataset: &Dataset, cut: &Folds, fold: usize) -> Dataset {
    Dataset {
        name: dataset.name.clone(),
        feature_names: dataset.feature_names.clone(),
        classes: dataset.classes.clone(),
        vocabulary: dataset.vocabulary.clone(),
        group_names: dataset.group_names.clone(),
        target_names: dataset.target_names.clone(),
        forecast: dataset.forecast.clone(),
        task: dataset.task,
        train: dataset.train.select(&cut.rest(fold)),
        validation: dataset.validation.clone(),
        test: Some(dataset.train.select(&cut.held_out[fold])),
        recordings: Vec::new(),
        notes: Vec::new(),
    }
}

/// The settings of every fold and of the final run. What selects the best epoch is trained on in the end: a final model that leaves a
/// fifth out would not be one of everything, and the folds must do as it does.
pub fn settings_for(config: &RunConfig, dataset: &Dataset) -> RunConfig {
    let mut config = config.clone();
    config.training.retrain |= config.training.validation > 0.0 || dataset.validation.is_some();
    config
}

/// Refuses data without sequences that could be held out, and a teacher that may have seen what a fold holds out.
pub fn check_data(dataset: &Dataset, config: &RunConfig) -> Result<()> {
    config.check_for(dataset)?;
    if let Some(teacher) = &config.training.teacher {
        let expected = "none where folds judge: it may have been trained on what a fold holds out";
        return Err(Error::setting("teacher", teacher.names(), expected));
    }
    if dataset.task != Task::NextToken {
        return Ok(());
    }
    let found = format!("{}, one running text", dataset.name);
    let expected = "data of several sequences, which can be held out; a text has its end to validate with";
    Err(Error::setting("--folds", found, expected))
}
