//! Which part of a data set a trained model is looked at with.

use clap::ValueEnum;
use ernn::checkpoint::SavedModel;
use ernn::data::{Dataset, View};
use ernn::train::{self, RunConfig};

use crate::failure::{Failure, Result};
use crate::output::{say_more, timed};
use crate::reading::{ReadingFlags, settings};

/// A part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartName {
    Test,
    Validation,
    Train,
}

/// A data set as a model reads it.
pub struct Opened {
    pub dataset: Dataset,
    /// Whether the model was trained on it: then its split can be repeated. Of several models, any of them.
    trained_on_it: bool,
    /// Whether all models were trained on the same part of it.
    split_alike: bool,
    /// Whether a second pass has trained one of them on the validation part, too.
    retrained: bool,
}

impl Opened {
    /// Opens a data set as the model's own was, with the model's vocabulary, its classes and its order of channels.
    pub fn new(saved: &SavedModel, reading: &ReadingFlags, source: &str) -> Result<Self> {
        Self::of_all(std::slice::from_ref(saved), reading, source)
    }

    /// The same for models that go together, one at least; the first says how it is read.
    pub fn of_all(models: &[SavedModel], reading: &ReadingFlags, source: &str) -> Result<Self> {
        let saved = &models[0];
        let mut options = reading.as_for(saved)?.options();
        options.text.of_model = (!saved.vocabulary.is_empty()).then(|| saved.vocabulary.clone());
        let own = settings(saved)?.filter(|run| run.data.source == source);
        let recordings = &mut options.table.recordings;
        match own {
            // The events of a run are of its own data.
            Some(run) => recordings.events = recordings.events.take().or(run.data.table.recordings.events),
            None => recordings.whole = true,
        }
        reading.refuse_unused(source, &options)?;
        say_more(&format!("reading {source}: {options:?}"));
        let mut dataset = timed("reading the data", || crate::reading::open(source, &options))?;
        dataset.relabel(&saved.classes)?;
        if let Some(order) = super::channel_order(saved, source, &dataset.feature_names)? {
            dataset.parts_mut().for_each(|part| part.reorder(&order));
        }
        // A run that began with another model had its order, too.
        let fingerprint = train::fingerprint(&dataset);
        let trained = models
            .iter()
            .filter(|saved| saved.provenance.fingerprint == fingerprint);
        let runs = trained.map(settings).collect::<Result<Vec<_>>>()?;
        let split = |run: &Option<RunConfig>| run.as_ref().map(|run| (run.training.validation, run.training.seed));
        Ok(Opened {
            dataset,
            trained_on_it: !runs.is_empty(),
            split_alike: runs.len() == models.len() && runs.windows(2).all(|pair| split(&pair[0]) == split(&pair[1])),
            retrained: runs.iter().flatten().any(|run| run.training.retrain),
        })
    }

    /// The part asked for; else the test part, else one that was not trained on, else all there is.
    pub fn test_first(&self, saved: &SavedModel, asked: Option<PartName>) -> Result<(&'static str, View<'_>)> {
        match &self.dataset.test {
            Some(_) if asked.is_none() => self.part(saved, PartName::Test),
            _ => self.validation_first(saved, asked),
        }
    }

    /// The part asked for; else the validation part, else the training part: never the test part unasked.
    pub fn validation_first(&self, saved: &SavedModel, asked: Option<PartName>) -> Result<(&'static str, View<'_>)> {
        if let Some(part) = asked {
            return self.part(saved, part);
        }
        if !self.splits() {
            let name = if self.trained_on_it { "train" } else { "all" };
            let part = &self.dataset.train;
            let apart = View::chosen(part, &part.apart());
            return Ok((name, if self.trained_on_it { View::of(part) } else { apart }));
        }
        match self.split(saved)? {
            (_, Some(validation)) => Ok(("validation", validation)),
            (train, None) => Ok(("train", train)),
        }
    }

    fn part(&self, saved: &SavedModel, part: PartName) -> Result<(&'static str, View<'_>)> {
        let absent = |part: &str| {
            let problem = format!("found no {part} part, expected one (--part names another)");
            Failure::Library(ernn::Error::data(&self.dataset.name, problem))
        };
        match part {
            PartName::Test if self.dataset.test.is_some() => Ok(("test", View::of_all(&self.dataset.test))),
            PartName::Test => Err(absent("test")),
            PartName::Train if !self.splits() => Ok(("train", View::of(&self.dataset.train))),
            PartName::Train => Ok(("train", self.split(saved)?.0)),
            PartName::Validation if !self.splits() => Err(absent("validation")),
            PartName::Validation if self.retrained => Err(Failure::Library(ernn::Error::data(
                &self.dataset.name,
                "found no validation part: --retrain has trained this model on all of it, expected --part train or test",
            ))),
            PartName::Validation => match self.split(saved)?.1 {
                Some(validation) => Ok(("validation", validation)),
                None => Err(absent("validation")),
            },
        }
    }

    /// Whether there is a validation part, or one can be split off as the run did: that needs the run's own data, and that all runs have split
    /// it alike.
    fn splits(&self) -> bool {
        self.dataset.validation.is_some() || self.split_alike
    }

    /// The run's own split, by the settings in the model; without a run, the data's own.
    fn split(&self, saved: &SavedModel) -> Result<(View<'_>, Option<View<'_>>)> {
        let dataset = &self.dataset;
        if self.retrained {
            return Ok((
                View::of_all(std::iter::once(&dataset.train).chain(&dataset.validation)),
                None,
            ));
        }
        let Some(config) = settings(saved)? else {
            return Ok((View::of(&dataset.train), dataset.validation.as_ref().map(View::of)));
        };
        Ok(train::split(dataset, config.training.validation, config.training.seed)?)
    }
}
