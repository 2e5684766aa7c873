//! `ernn evaluate`: a model measured on a part of a data set.

use std::path::{Path, PathBuf};

use clap::Args;
use ernn::checkpoint::SavedModel;
use ernn::evaluate::{Ensemble, Evaluation};
use ernn::train::RunConfig;
use serde::Serialize;

use super::evaluate_stream::{self, StreamFlags};
use super::parts::{Opened, PartName};
use crate::failure::{Failure, Result};
use crate::output::{self, say};
use crate::reading::{ReadingFlags, settings};

/// Arguments of `ernn evaluate`.
#[derive(Args)]
pub struct Arguments {
    /// Model file, run folder or folder of an ensemble
    model: PathBuf,
    /// Known name, file or folder [default: the data that the model was trained on]
    data: Option<String>,
    /// Which part [default: test; else, of the data it was trained on, validation; else all]
    #[arg(long)]
    part: Option<PartName>,
    /// Average the answers with those of these models, of the same classes and channels: an ensemble
    #[arg(long = "with", value_name = "RUN,..", value_delimiter = ',')]
    others: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    stream: StreamFlags,
    #[command(flatten)]
    reading: ReadingFlags,
}

#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    dataset: &'a str,
    part: &'static str,
    #[serde(flatten)]
    evaluation: Evaluation,
    #[serde(flatten)]
    ensemble: Option<Together<'a>>,
}

/// What an ensemble is made of, with the sizes of all its members together.
#[derive(Serialize)]
struct Together<'a> {
    members: &'a [String],
    parameters: usize,
    nonzero_parameters: usize,
    size_kb: f64,
}

impl<'a> Together<'a> {
    /// None of one model alone.
    fn of(models: &'a Ensemble) -> Option<Self> {
        models.is_several().then(|| Together {
            members: models.names(),
            parameters: models.parameters(),
            nonzero_parameters: models.nonzero_parameters(),
            size_kb: models.size_kb(),
        })
    }

    fn text(&self) -> String {
        format!(
            "{} models together: {}\n",
            self.members.len(),
            output::size(self.parameters, self.nonzero_parameters)
        )
    }
}

/// What the model's run was trained on: by the settings beside the model, which name the data folder as well, or by those in it.
fn own_data(model: &Path, saved: &SavedModel, reading: &ReadingFlags) -> Result<(String, ReadingFlags)> {
    let folds = model.parent().filter(|folder| folder.join("folds.toml").is_file());
    if let Some(folds) = folds {
        return Err(Failure::Usage(format!(
            "no DATA: this model is of a fold, and most of its run's data was trained on; its numbers are in {}",
            folds.join("folds.json").display()
        )));
    }
    let beside = model.join("config.toml");
    let config = match beside.is_file() {
        true => Some(RunConfig::load(&beside, None)?),
        false => settings(saved)?,
    };
    let unknown = || {
        Failure::Usage(
            "no DATA: name a data set, a file or a folder; the model does not say what it was trained on".to_string(),
        )
    };
    let data = config.ok_or_else(unknown)?.data;
    let reading = ReadingFlags {
        data_dir: reading.data_dir.clone().or(data.data_dir),
        ..reading.clone()
    };
    let source = ernn::data::as_known(&data.source);
    say(&format!(
        "note: DATA is {}, which the model was trained on",
        data.source
    ));
    Ok((source, reading))
}

/// Listens to recordings.
fn listen(arguments: &Arguments) -> Result<()> {
    let Some(data) = arguments
        .data
        .as_deref()
        .filter(|_| arguments.others.is_empty() && arguments.part.is_none())
    else {
        let problem = "--stream: expected MODEL DATA, with recordings that the model was not trained on, and neither --with nor --part";
        return Err(Failure::Usage(problem.to_string()));
    };
    let saved = SavedModel::load(&arguments.model)?;
    evaluate_stream::run(
        &arguments.model,
        &saved,
        data,
        &arguments.stream,
        &arguments.reading,
        arguments.json,
    )
}

/// Runs `ernn evaluate`.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.stream.asked() {
        return listen(arguments);
    }
    let models = super::models::load_all(&arguments.model, &arguments.others)?;
    let saved = models.first();
    let (data, reading) = match &arguments.data {
        Some(data) => (data.clone(), arguments.reading.clone()),
        None => own_data(&arguments.model, saved, &arguments.reading)?,
    };
    let opened = Opened::of_all(models.members(), &reading, &data)?;
    let (name, part) = opened.test_first(saved, arguments.part)?;
    super::warn_all_of_length(models.members(), part.longest());
    let report = Report {
        model: &arguments.model,
        dataset: &opened.dataset.name,
        part: name,
        evaluation: output::timed("evaluation", || models.evaluate(part))?.at_rate(opened.dataset.rate()),
        ensemble: Together::of(&models),
    };
    if arguments.json {
        output::print_json(&report)?;
    } else {
        let together = report.ensemble.as_ref().map_or_else(String::new, Together::text);
        output::print(&(together + &output::evaluation(name, &report.evaluation)))?;
    }
    Ok(())
}
