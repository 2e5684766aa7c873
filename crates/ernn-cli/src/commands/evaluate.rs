//! `ernn evaluate`: a model measured on a part of a data set.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ernn::checkpoint::SavedModel;
use ernn::data::{Dataset, View};
use ernn::evaluate::{self, Evaluation};
use ernn::train::{self, RunConfig};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::output;
use crate::reading::ReadingFlags;

/// Arguments of `ernn evaluate`.
#[derive(Args)]
pub struct Arguments {
    /// Model file or run folder
    model: PathBuf,
    /// Known name, file or folder
    data: String,
    /// Which part [default: test; else, of the data it was trained on, validation; else all]
    #[arg(long)]
    part: Option<PartName>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadingFlags,
}

/// A part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartName {
    Test,
    Validation,
    Train,
}

#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    dataset: &'a str,
    part: &'static str,
    #[serde(flatten)]
    evaluation: Evaluation,
}

/// Runs `ernn evaluate`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let saved = SavedModel::load(&arguments.model)?;
    let chosen = Chosen::open(&saved, &arguments.data, &arguments.reading)?;
    let (name, part) = chosen.part(&saved, arguments.part)?;
    super::warn_of_length(&saved, part.longest());
    let report = Report {
        model: &arguments.model,
        dataset: &chosen.dataset.name,
        part: name,
        evaluation: evaluate::evaluate(&saved, part)?,
    };
    if arguments.json {
        output::print_json(&report)?;
    } else {
        output::print(&output::evaluation(name, &report.evaluation))?;
    }
    Ok(())
}

/// A data set as a model reads it.
pub struct Chosen {
    dataset: Dataset,
    trained_on_it: bool,
}

impl Chosen {
    /// Opens a data set, with the model's classes and its order of channels.
    pub fn open(saved: &SavedModel, data: &str, reading: &ReadingFlags) -> Result<Self> {
        let mut dataset = reading.as_for(saved)?.open(data)?;
        let trained_on_it = saved.provenance.fingerprint == train::fingerprint(&dataset);
        dataset.relabel(&saved.classes)?;
        let names = dataset.feature_names.clone();
        let parts = dataset.parts_mut();
        parts.for_each(|part| super::fit_to_model(saved, &names, part));
        Ok(Chosen { dataset, trained_on_it })
    }

    /// A part and its name; without a wish the one that tells most: test, else validation, else all.
    pub fn part(&self, saved: &SavedModel, asked: Option<PartName>) -> Result<(&'static str, View<'_>)> {
        choose(saved, &self.dataset, self.trained_on_it, asked)
    }
}

fn choose<'a>(
    saved: &SavedModel,
    dataset: &'a Dataset,
    trained_on_it: bool,
    asked: Option<PartName>,
) -> Result<(&'static str, View<'a>)> {
    let absent = |part: &str| {
        Failure::Library(ernn::Error::Data {
            dataset: dataset.name.clone(),
            problem: format!("found no {part} part, expected one (--part names another)"),
        })
    };
    let own = dataset.validation.is_some();
    match asked {
        None | Some(PartName::Test) if dataset.test.is_some() => Ok(("test", View::of_all(&dataset.test))),
        Some(PartName::Test) => Err(absent("test")),
        None if !own && !trained_on_it => Ok(("all", View::of(&dataset.train))),
        // Splitting again as the run did needs the run's own data.
        Some(PartName::Train) if !own && !trained_on_it => Ok(("train", View::of(&dataset.train))),
        Some(PartName::Validation) if !own && !trained_on_it => Err(absent("validation")),
        Some(PartName::Train) => Ok(("train", split(saved, dataset)?.0)),
        None | Some(PartName::Validation) => match split(saved, dataset)? {
            (_, Some(validation)) => Ok(("validation", validation)),
            (train, None) if asked.is_none() => Ok(("train", train)),
            _ => Err(absent("validation")),
        },
    }
}

/// The run's own split, by the settings in the model; without a run, the data's own.
fn split<'a>(saved: &SavedModel, dataset: &'a Dataset) -> Result<(View<'a>, Option<View<'a>>)> {
    if saved.provenance.is_imported() {
        return Ok((View::of(&dataset.train), dataset.validation.as_ref().map(View::of)));
    }
    let config = RunConfig::from_toml(&saved.provenance.settings, Path::new("the model's settings"), None)?;
    Ok(train::split(dataset, config.training.validation, config.training.seed)?)
}
