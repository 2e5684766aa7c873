//! The files of a training by folds beside those of its runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Request;
use crate::checkpoint::write_with_folder;
use crate::data::Scheme;
use crate::evaluate::FoldsReport;
use crate::{Error, Result};

const FOLDER: &str = "folds";
const REQUEST_FILE: &str = "folds.toml";
const NUMBERS_FILE: &str = "folds.json";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    folds: Scheme,
    final_model: bool,
}

/// Whether a run folder is one of a training by folds, which [`resume`](super::resume) goes on with.
pub fn is_run_by_folds(run: &Path) -> bool {
    request_file(run).is_file()
}

fn request_file(run: &Path) -> PathBuf {
    run.join(FOLDER).join(REQUEST_FILE)
}

/// The run folder of a fold, from 0.
pub(super) fn of_fold(run: &Path, fold: usize) -> PathBuf {
    run.join(FOLDER).join((fold + 1).to_string())
}

/// Where the model of the first fold lies: all folds have one of this size.
pub fn first_fold(run: &Path) -> PathBuf {
    of_fold(run, 0)
}

pub(super) fn write_request(run: &Path, request: Request) -> Result<()> {
    let written = Written {
        folds: request.scheme,
        final_model: request.final_model,
    };
    let text = toml::to_string(&written).expect("plain structs");
    write_with_folder(&request_file(run), text.as_bytes())
}

pub(super) fn read_request(run: &Path) -> Result<Request> {
    let path = request_file(run);
    let text = fs::read_to_string(&path).map_err(Error::io(&path, "read"))?;
    let written: Written = toml::from_str(&text)
        .map_err(|error| Error::format(&path, "", error.message(), "what `ernn train --folds` writes"))?;
    Ok(Request {
        scheme: written.folds,
        final_model: written.final_model,
    })
}

/// Writes the numbers of all folds, where [`numbers`] finds them.
pub fn write_numbers(run: &Path, report: &FoldsReport) -> Result<()> {
    let mut json = serde_json::to_string_pretty(report).expect("reports are plain structs");
    json.push('\n');
    write_with_folder(&run.join(FOLDER).join(NUMBERS_FILE), json.as_bytes())
}

/// What folds have found, as it stands in a run folder; none if there were none.
///
/// # Errors
/// If the file cannot be read, or is something else.
pub fn numbers(run: &Path) -> Result<Option<FoldsReport>> {
    let path = run.join(FOLDER).join(NUMBERS_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(Error::io(&path, "read")(source));
        }
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| Error::format(&path, "", error, "the numbers of a training by folds"))
}

pub(super) fn write_predictions(run: &Path, csv: &str) -> Result<()> {
    write_with_folder(&run.join(FOLDER).join("predictions.csv"), csv.as_bytes())
}
