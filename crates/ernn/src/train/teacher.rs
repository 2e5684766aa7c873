//! What a run learns beside the labels: the averaged probabilities of models that were trained before (`head/distillation.rs` has the loss).
//!
//! They are asked once, before the first batch, about the sequences to train on as the data has them: no noise, no dropout. A resumed run
//! asks again, and refuses models that have changed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::check::demand;
use crate::cell::check_positive;
use crate::checkpoint::RunState;
use crate::data::{Dataset, Task, View, list};
use crate::evaluate::Ensemble;
use crate::head::Distillation;
use crate::{Error, Result};

/// Models to learn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TeacherSettings {
    /// Run folders, folders of ensembles, or model files; the probabilities of several are averaged.
    pub runs: Vec<PathBuf>,
    /// Share of the teacher in the loss, 0 to 1; the rest is that of the labels.
    pub weight: f64,
    /// What logits are divided by before they become probabilities that are compared, the teacher's and the model's.
    pub temperature: f64,
}

impl Default for TeacherSettings {
    /// Labels and teacher alike, at a temperature of 2: for the smallest networks of Hinton, Vinyals and Dean (2015) 2.5 to 4 worked better than
    /// higher ones.
    fn default() -> Self {
        TeacherSettings {
            runs: Vec::new(),
            weight: 0.5,
            temperature: 2.0,
        }
    }
}

impl TeacherSettings {
    pub(super) fn check(&self) -> Result<()> {
        demand(
            !self.runs.is_empty(),
            "teacher",
            "none",
            "a run folder, the folder of an ensemble or a model file",
        )?;
        demand(
            (0.0..=1.0).contains(&self.weight),
            "teacher_weight",
            self.weight,
            "a share of the loss, 0 to 1",
        )?;
        check_positive("teacher_temperature", self.temperature)
    }

    /// The files, for people.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.runs.iter().map(|run| run.display().to_string()).collect();
        list(&names)
    }
}

/// What a teacher says of the sequences to train on.
#[derive(Clone, Debug)]
pub(super) struct Taught {
    /// Probabilities `[sequences, classes]`, in the order of the view.
    pub probabilities: Vec<f32>,
    /// How much they count.
    pub distillation: Distillation,
    /// Tells whether it is still the same teacher.
    pub checksum: String,
}

/// Asks the teacher about raw sequences of a data set; none where there is no teacher.
pub(super) fn ask(settings: Option<&TeacherSettings>, dataset: &Dataset, fit: &View) -> Result<Option<Taught>> {
    let Some(settings) = settings else {
        return Ok(None);
    };
    let refuse = |found: String, expected: String| Error::setting("teacher", found, expected);
    if dataset.task != Task::Classification {
        let found = format!(
            "{}, with {}, which has no classes of sequences",
            settings.names(),
            dataset.name
        );
        return Err(refuse(
            found,
            "none, or data with a class for each sequence".to_string(),
        ));
    }
    let ensemble = Ensemble::load(&settings.runs).map_err(|error| match error {
        Error::Data { dataset, problem } => Error::data(format!("teacher {dataset}"), problem),
        other => other,
    })?;
    let first = ensemble.first();
    if first.model.config().task != Task::Classification {
        let found = format!("{}, which does not give classes of sequences", ensemble.names()[0]);
        return Err(refuse(found, "a model that does".to_string()));
    }
    for (what, found, expected) in [
        ("the classes", &first.classes, &dataset.classes),
        ("the channels", &first.feature_names, &dataset.feature_names),
        ("the vocabulary", &first.vocabulary, &dataset.vocabulary),
    ] {
        if found != expected {
            return Err(refuse(
                format!("{} with {what} {}", ensemble.names()[0], list(found)),
                format!("those of {}: {}", dataset.name, list(expected)),
            ));
        }
    }
    Ok(Some(Taught {
        probabilities: ensemble.softened(fit, settings.temperature)?,
        distillation: Distillation {
            weight: settings.weight,
            temperature: settings.temperature,
        },
        checksum: ensemble.checksum(),
    }))
}

/// Notes the teacher in the state of a run that begins; refuses another one than that of a run that goes on.
pub(super) fn keep(taught: Option<&Taught>, state: &mut RunState) -> Result<()> {
    let found = taught.map_or("", |taught| taught.checksum.as_str());
    if state.parameters.is_empty() || state.teacher == found {
        state.teacher = found.to_string();
        return Ok(());
    }
    let found = format!("models with the checksum {found}");
    let expected = format!(
        "those that the run began with, of the checksum {}: they have changed since",
        state.teacher
    );
    Err(Error::setting("teacher", found, expected))
}
