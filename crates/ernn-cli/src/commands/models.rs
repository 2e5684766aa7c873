//! The model that a command is given: its file or its run folder, and what is said where there is none.

use std::path::{Path, PathBuf};

use ernn::Error;
use ernn::checkpoint::{EnsembleFolder, SavedModel};
use ernn::data;
use ernn::evaluate::Ensemble;

use crate::failure::{Failure, Result};
use crate::output::say;

/// Loads a model file, or the model of a run folder.
pub fn load(path: &Path) -> Result<SavedModel> {
    must_be_there(path)?;
    Ok(SavedModel::load(path)?)
}

/// Loads models whose answers are averaged: files, run folders and folders of ensembles.
pub fn load_all(first: &Path, others: &[PathBuf]) -> Result<Ensemble> {
    let paths: Vec<PathBuf> = std::iter::once(first.to_path_buf())
        .chain(others.iter().cloned())
        .collect();
    for path in paths.iter().filter(|path| !EnsembleFolder::is_at(path)) {
        must_be_there(path)?;
    }
    let models = Ensemble::load(&paths)?;
    let data = &models.first().provenance.fingerprint;
    if models
        .members()
        .iter()
        .any(|saved| saved.provenance.fingerprint != *data)
    {
        say("note: not all of these models were trained on the same sequences");
    }
    Ok(models)
}

/// Refuses a path at which no model can be, with those that lie beside it.
pub fn must_be_there(path: &Path) -> Result<()> {
    let problem = if EnsembleFolder::is_at(path) {
        let problem = format!(
            "found the folder of an ensemble, expected one model, such as that of {}",
            EnsembleFolder::member(path, 1).display()
        );
        return Err(Failure::Library(Error::data(path.display(), problem)));
    } else if !path.exists() {
        "no run folder or model file of this name"
    } else if path.is_dir() && !path.join("model.safetensors").exists() {
        "a folder without model.safetensors, expected a run folder or a model file"
    } else {
        return Ok(());
    };
    let problem = format!("{problem}{}", instead(path));
    Err(Failure::Library(Error::data(path.display(), problem)))
}

/// What may have been meant.
fn instead(path: &Path) -> String {
    let name = path.to_string_lossy();
    if data::known().iter().any(|known| known.name == name) {
        return "; it is a known data set, and the model comes before the data".to_string();
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folders = [Some(path), parent.or(Some(Path::new("."))), Some(Path::new("runs"))];
    for folder in folders.into_iter().flatten() {
        let models = models_in(folder);
        if !models.is_empty() {
            let nearest = data::nearest_first(&name, models.iter().map(String::as_str));
            let models: Vec<String> = nearest.into_iter().map(String::from).collect();
            return format!("; there are {}", data::list(&models));
        }
    }
    "; `ernn train DATA` leaves a run folder".to_string()
}

/// The run folders and model files in a folder.
fn models_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_model = |path: &PathBuf| match path.is_dir() {
        true => path.join("model.safetensors").is_file(),
        false => path.extension().is_some_and(|end| end == "safetensors"),
    };
    let own = |path: PathBuf| path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
    let models = entries.map(|entry| entry.path()).filter(is_model).map(own);
    let mut models: Vec<String> = models.map(|path| path.display().to_string()).collect();
    models.retain(|path| !path.ends_with("checkpoint.safetensors"));
    models.sort();
    models
}
