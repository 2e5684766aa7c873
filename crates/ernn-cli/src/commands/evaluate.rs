//! `ernn evaluate`: a model measured on a part of a data set.

use std::path::{Path, PathBuf};

use clap::Args;
use ernn::checkpoint::SavedModel;
use ernn::evaluate::{self, Evaluation};
use ernn::train::RunConfig;
use serde::Serialize;

use super::parts::{Opened, PartName};
use crate::failure::{Failure, Result};
use crate::output::{self, say};
use crate::reading::{ReadingFlags, settings};

/// Arguments of `ernn evaluate`.
#[derive(Args)]
pub struct Arguments {
    /// Model file or run folder
    model: PathBuf,
    /// Known name, file or folder [default: the data that the model was trained on]
    data: Option<String>,
    /// Which part [default: test; else, of the data it was trained on, validation; else all]
    #[arg(long)]
    part: Option<PartName>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
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
}

/// What the model's run was trained on: by the settings beside the model, which name the data folder as well, or by those in it.
fn own_data(model: &Path, saved: &SavedModel, reading: &ReadingFlags) -> Result<(String, ReadingFlags)> {
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

/// Runs `ernn evaluate`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let saved = super::models::load(&arguments.model)?;
    let (data, reading) = match &arguments.data {
        Some(data) => (data.clone(), arguments.reading.clone()),
        None => own_data(&arguments.model, &saved, &arguments.reading)?,
    };
    let opened = Opened::new(&saved, &reading, &data)?;
    let (name, part) = opened.test_first(&saved, arguments.part)?;
    super::warn_of_length(&saved, part.longest());
    let report = Report {
        model: &arguments.model,
        dataset: &opened.dataset.name,
        part: name,
        evaluation: output::timed("evaluation", || evaluate::evaluate(&saved, part))?,
    };
    if arguments.json {
        output::print_json(&report)?;
    } else {
        output::print(&output::evaluation(name, &report.evaluation))?;
    }
    Ok(())
}
