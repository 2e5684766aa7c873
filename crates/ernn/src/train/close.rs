//! The end of a run: the best parameters become a model, are measured, and the folder gets model and report.

use super::parts::Parts;
use super::run::{Run, last_selecting_epoch};
use super::{Card, Ending, Machine, Observer, Outcome, Report, RunFolder};
use crate::checkpoint::{Decision, Phase, Provenance, RunState, SavedModel};
use crate::data::{self, Task};
use crate::evaluate::{self, Evaluation};
use crate::model::Model;
use crate::{Error, Result};

/// All that is known when a run has ended.
pub(super) struct Close<'a> {
    pub run: &'a Run<'a>,
    pub parts: &'a Parts<'a>,
    pub state: &'a RunState,
    pub ending: Ending,
    pub error: Option<&'a Error>,
    pub folder: Option<&'a RunFolder>,
}

impl Close<'_> {
    /// Takes the best parameters (or those at hand, where no epoch could be chosen), measures, writes model and report.
    pub fn write(&self, mut model: Model<f32>, observer: &mut dyn Observer) -> Result<Outcome> {
        match (self.state.phase, &self.state.best) {
            (Phase::Select, Some(best)) => model.parameters_mut().copy_from_slice(&best.parameters),
            // Nothing good has come of it: the initial parameters are at least numbers.
            _ if self.ending == Ending::Diverged => {
                model = Model::new(self.run.model.clone(), self.run.config.training.seed)?
            }
            _ => {}
        }
        model.scale_outputs(&self.parts.targets);
        let decision = self.decide(&mut model)?;
        let model = SavedModel {
            provenance: self.provenance(),
            model,
            derivation: self.parts.derivation.clone(),
            decision,
            normalization: self.parts.normalization.clone(),
            classes: self.run.dataset.classes.clone(),
            vocabulary: self.run.dataset.vocabulary.clone(),
            feature_names: self.run.dataset.feature_names.clone(),
        };
        let (part, evaluation) = self.measure(&model, observer)?;
        let report = self.report(&model, part, evaluation);
        if let Some(folder) = self.folder {
            folder.write_model(&model)?;
            folder.write_report(&report, &self.state.history)?;
            folder.write_card(&Card {
                report: &report,
                dataset: self.run.dataset,
                fit: self.parts.fit.clone(),
                validation: self.parts.validation.clone(),
                history: &self.state.history,
            })?;
        }
        Ok(Outcome { model, report })
    }

    /// How the model's words become answers, and what that asks of its readout: by the validation part; of classes of sequences without
    /// one, by the folds.
    fn decide(&self, model: &mut Model<f32>) -> Result<Decision> {
        let training = &self.run.config.training;
        let task = model.config().task;
        let mut decision = Decision::default();
        if self.ending == Ending::Diverged || !matches!(task, Task::Classification | Task::StepClassification) {
            return Ok(decision);
        }
        let validation = self.parts.validation.as_ref();
        let folds = self.run.options.folds.as_ref().filter(|_| validation.is_none());
        if training.calibrate {
            decision.calibration = match (validation, folds) {
                (Some(part), _) => {
                    let (logits, labels) = evaluate::judged_logits(model, part)?;
                    evaluate::calibration(&logits, &labels, model.config().classes)
                }
                (None, folds) => folds.and_then(|folds| folds.calibration),
            };
        }
        if let Some(found) = decision.calibration {
            model.scale_logits(1.0 / found.temperature);
        }
        if training.smooth && task == Task::StepClassification {
            let part = validation.unwrap_or(&self.parts.fit);
            decision.switch_penalty = Some(evaluate::choose_penalty(model, part)?);
        }
        if training.unknown > 0.0 && task == Task::Classification {
            decision.unknown_below = match (validation, folds) {
                (Some(part), _) => evaluate::unknown_by(model, part, training.unknown)?,
                (None, folds) => folds.and_then(|folds| folds.unknown_below),
            };
        }
        Ok(decision)
    }

    fn provenance(&self) -> Provenance {
        let best = self.state.best.as_ref();
        Provenance {
            dataset: self.run.dataset.name.clone(),
            fingerprint: self.run.fingerprint.clone(),
            settings: self.run.config.to_portable_toml(),
            seed: self.run.config.training.seed,
            version: env!("CARGO_PKG_VERSION").to_string(),
            best_epoch: best.map_or(0, |best| best.epoch),
            validation_accuracy: best.and_then(|best| best.accuracy),
            targets: self.parts.targets.clone(),
            forecast: self.run.dataset.forecast.clone(),
            sound: data::sound_recipe(&self.run.dataset.name, &self.run.dataset.feature_names),
            // A single one is what the settings call it.
            target_names: match &self.run.dataset.target_names[..] {
                [_] => Vec::new(),
                names => names.to_vec(),
            },
        }
    }

    /// The test part is read here, once, and only by a run that came to its end and may read it.
    fn measure(&self, model: &SavedModel, observer: &mut dyn Observer) -> Result<(&'static str, Evaluation)> {
        let ended = matches!(self.ending, Ending::Finished | Ending::EarlyStopped) && self.run.options.test;
        if let (true, Some(test)) = (ended, &self.run.dataset.test) {
            if let Some(note) = evaluate::length_note(&model.model, test.longest()) {
                observer.warning(&format!("test part: {note}"));
            }
            let found = evaluate::evaluate(model, test).map_err(|error| self.on_test_part(error))?;
            return Ok(("test", found.at_rate(self.run.dataset.rate())));
        }
        let (name, part) = match &self.parts.validation {
            Some(validation) => ("validation", validation),
            None => ("train", &self.parts.fit),
        };
        // Numbers in their own unit, as the model gives them now.
        let part = part.clone().scaled(&[]);
        let found = evaluate::evaluate_prepared(model, &part)?;
        Ok((name, found.at_rate(self.run.dataset.rate())))
    }

    fn on_test_part(&self, error: Error) -> Error {
        match error {
            Error::Data { problem, .. } => Error::data(format!("{}, test part", self.run.dataset.name), problem),
            other => other,
        }
    }

    fn report(&self, model: &SavedModel, part: &'static str, evaluation: Evaluation) -> Report {
        let (run, state) = (self.run, self.state);
        let seconds: f64 = state.history.iter().map(|record| record.seconds).sum();
        Report {
            dataset: run.dataset.name.clone(),
            part,
            evaluation,
            validation_accuracy: model.provenance.validation_accuracy,
            cell: run.config.cell().to_string(),
            longest_sequence: (run.model.task != Task::NextToken).then(|| self.parts.fit.longest()),
            parameters: model.model.parameters().len(),
            nonzero_parameters: model.nonzero_parameters(),
            embedding_parameters: model.embedding_parameters(),
            size_kb: model.size_kb(),
            model_bytes: model.file_bytes(),
            train_seconds: seconds + state.tally.seconds,
            epochs: last_selecting_epoch(&state.history),
            optimizer_steps: state.optimizer_steps,
            best_epoch: model.provenance.best_epoch,
            validated: self.parts.validation.is_some() || state.best.as_ref().is_some_and(|best| best.score.is_some()),
            seed: run.config.training.seed,
            ending: self.ending,
            cut_short: matches!(self.ending, Ending::Interrupted | Ending::Diverged),
            error: self.error.map(ToString::to_string),
            out: self.folder.map(|folder| folder.path().to_path_buf()),
            version: env!("CARGO_PKG_VERSION"),
            settings: run.config.clone(),
            machine: Machine::here(run.options.threads),
            folds: run.options.folds.clone(),
            members: Vec::new(),
        }
    }
}
