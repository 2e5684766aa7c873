//! `ernn evaluate`: a model measured on a part of a data set.

use std::path::{Path, PathBuf};

use clap::Args;
use ernn::checkpoint::SavedModel;
use ernn::evaluate::{self, Evaluation};
use serde::Serialize;

use super::parts::{Opened, PartName};
use crate::failure::Result;
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
    let opened = Opened::new(&saved, &arguments.reading, &arguments.data)?;
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
