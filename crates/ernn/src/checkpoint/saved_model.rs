//! The trained model with all that is needed to use it: `model.safetensors`.
//!
//! Tensors carry the names of the model's spans (`layers.0.V`, `readout.weight`, ...), so any safetensors reader can look at
//! them; the metadata holds settings, normalization, class names, feature names and where the model comes from.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Decision;
use super::tensor_file::{self, Format, Tensor, TensorFile};
use crate::data::{Derivation, Forecast, Normalization, SoundRecipe, TargetScale, Task, one_or_more, sound_recipe};
use crate::model::{Model, ModelConfig};
use crate::optim;
use crate::{Error, Result};

const FORMAT: Format = Format {
    name: "ernn-model",
    version: 1,
};

/// Where a model comes from. Holds nothing that differs between two equal runs (no time, no machine).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Name of the data set it was trained on.
    pub dataset: String,
    /// [`crate::data::Dataset`]'s training and validation parts as a checksum: tells whether a split can be repeated.
    pub fingerprint: String,
    /// The complete run settings, in TOML.
    pub settings: String,
    /// Seed of the run.
    pub seed: u64,
    /// Version of the program that trained it.
    pub version: String,
    /// The epoch whose parameters these are, from 1.
    pub best_epoch: usize,
    /// Accuracy on the validation part after that epoch; none for a run without a validation part.
    pub validation_accuracy: Option<f64>,
    /// Mean and deviation of the numbers to predict that it was trained on, one a target; the readout gives numbers in their unit.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "one_or_more")]
    pub targets: Vec<TargetScale>,
    /// What the data calls each of several targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_names: Vec<String>,
    /// Which values the numbers to predict are, where they are the next ones of channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// How its inputs are made of sound, where they are; files of earlier versions leave it to the names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sound: Option<SoundRecipe>,
}

impl Provenance {
    /// Whether another program trained the model: then there are no settings of a run, and `dataset` names the file that it was
    /// read from.
    pub fn is_imported(&self) -> bool {
        self.settings.is_empty()
    }
}

/// A trained model, ready for raw (not normalized) sequences.
#[derive(Clone, Debug)]
pub struct SavedModel {
    /// Cells, readout and their parameters.
    pub model: Model<f32>,
    /// Which channels are derived of those of the data.
    pub derivation: Derivation,
    /// What is done to the values, the derived ones too, before the model sees them.
    pub normalization: Normalization,
    /// How what the model says becomes an answer.
    pub decision: Decision,
    /// Class names, in the order of the logits; none where logits are tokens or a number.
    pub classes: Vec<String>,
    /// The text of each token that the embedding knows.
    pub vocabulary: Vec<String>,
    /// One name a channel of the data.
    pub feature_names: Vec<String>,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// The metadata's JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    config: ModelConfig,
    #[serde(default, skip_serializing_if = "Derivation::is_none")]
    derivation: Derivation,
    normalization: Normalization,
    #[serde(default, skip_serializing_if = "Decision::is_none")]
    decision: Decision,
    classes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    vocabulary: Vec<String>,
    feature_names: Vec<String>,
    provenance: Provenance,
}

impl SavedModel {
    /// Writes the model, atomically.
    pub fn save(&self, path: &Path) -> Result<()> {
        super::write_atomically(path, &self.to_bytes())
    }

    /// The bytes of the file; equal models give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let content = Content {
            config: self.model.config().clone(),
            derivation: self.derivation.clone(),
            decision: self.decision.clone(),
            normalization: self.normalization.clone(),
            classes: self.classes.clone(),
            vocabulary: self.vocabulary.clone(),
            feature_names: self.feature_names.clone(),
            provenance: self.provenance.clone(),
        };
        tensor_file::encode(FORMAT, &content, &self.tensors())
    }

    fn tensors(&self) -> Vec<Tensor<'_>> {
        let parameters = self.model.parameters();
        let tensor = |name, shape, range| Tensor {
            name,
            shape,
            values: &parameters[range],
        };
        let spans = self.model.spans().iter();
        spans
            .map(|span| tensor(&span.name, &span.shape, span.range()))
            .collect()
    }

    /// Reads a model; a run folder stands for the model in it.
    pub fn load(path: &Path) -> Result<Self> {
        let inside = path.join(super::MODEL_FILE);
        let path = if path.is_dir() { &inside } else { path };
        let bytes = fs::read(path).map_err(Error::io(path, "read"))?;
        Self::from_bytes(path, &bytes)
    }

    /// The model in a file's bytes; `path` is only named in errors.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let file = TensorFile::decode(path, bytes, FORMAT)?;
        let content: Content = file.content()?;
        check_sizes(path, &content, &file)?;
        let mut parameters = Vec::new();
        for span in content.config.spans() {
            parameters.extend(file.values(&span.name, &span.shape)?);
        }
        Ok(SavedModel {
            model: Model::from_parameters(content.config, parameters)?,
            derivation: content.derivation,
            decision: content.decision,
            normalization: content.normalization,
            classes: content.classes,
            vocabulary: content.vocabulary,
            feature_names: content.feature_names,
            provenance: content.provenance,
        })
    }

    /// How its inputs are made of sound; none if they are not.
    pub fn sound(&self) -> Option<SoundRecipe> {
        let named = || sound_recipe(&self.provenance.dataset, &self.feature_names);
        self.provenance.sound.clone().or_else(named)
    }

    /// Channels of the data that it reads: 1 for tokens.
    pub fn channels(&self) -> usize {
        self.feature_names.len()
    }

    /// Parameters that are other than 0; all of them in most models without sparsity.
    pub fn nonzero_parameters(&self) -> usize {
        optim::nonzero(self.model.parameters())
    }

    /// Parameters of the embedding, whether the readout's weight is the same matrix or not; papers leave them out of a model's size.
    pub fn embedding_parameters(&self) -> usize {
        let config = self.model.config();
        config
            .embedding
            .as_ref()
            .map_or(0, |embedding| embedding.vocabulary * config.input_size)
    }

    /// The model's size as papers count it, in units of 1,024 bytes: 4 bytes for each parameter other than 0. A sparse format
    /// would add the places of those parameters, and takes up to twice as much.
    pub fn size_kb(&self) -> f64 {
        (4 * self.nonzero_parameters()) as f64 / 1024.0
    }

    /// Bytes of the model's file.
    pub fn file_bytes(&self) -> usize {
        self.to_bytes().len()
    }
}

/// Refuses contents that contradict themselves before anything of their size is allocated.
fn check_sizes(path: &Path, content: &Content, file: &TensorFile) -> Result<()> {
    let config = &content.config;
    let named = |what: &str, found: usize, expected: usize| {
        if found == expected {
            return Ok(());
        }
        let expected = format!("{expected}, as the model's settings say");
        Err(Error::format(path, "", format!("{found} {what}"), expected))
    };
    let names = match config.task {
        Task::Classification | Task::StepClassification | Task::MultiLabel => config.classes,
        Task::NextToken | Task::Regression | Task::StepRegression => 0,
    };
    named("class names", content.classes.len(), names)?;
    let vocabulary = config.embedding.as_ref().map_or(0, |embedding| embedding.vocabulary);
    named("tokens", content.vocabulary.len(), vocabulary)?;
    check_targets(path, content)?;
    check_derivation(path, content)?;
    named("means", content.normalization.mean.len(), config.features())?;
    named("scales", content.normalization.scale.len(), config.features())?;
    // Every size of a model multiplies some tensor: bounded alone, then together, nothing overflows.
    let bound = file.elements().max(LEAST_BOUND) as u64;
    let settings = serde_json::to_value(config).unwrap_or_default();
    let size = largest_size(&settings);
    if size > bound {
        let found = format!("a size of {size} in the settings");
        return Err(Error::format(path, "", found, "sizes that fit the tensors"));
    }
    config.check()?;
    let parameters = config.spans().last().map_or(0, |span| span.range().end);
    named("numbers", file.elements(), parameters)
}

/// What is known of numbers to predict is known of each.
fn check_targets(path: &Path, content: &Content) -> Result<()> {
    let (config, provenance) = (&content.config, &content.provenance);
    let targets = match config.task {
        Task::Regression | Task::StepRegression => config.targets(),
        _ => 0,
    };
    for (what, found) in [
        ("scales of targets", provenance.targets.len()),
        ("names of targets", provenance.target_names.len()),
    ] {
        if found != 0 && found != targets {
            let expected = format!("{targets}, as the model's settings say");
            return Err(Error::format(path, "", format!("{found} {what}"), expected));
        }
    }
    if let Some(forecast) = &provenance.forecast {
        let channels = content.feature_names.len();
        let known = forecast.channels.iter().all(|&channel| channel < channels);
        if !known || forecast.horizon == 0 || forecast.channels.len().checked_mul(forecast.horizon) != Some(targets) {
            let found = format!(
                "a forecast of {} steps of channels {:?}",
                forecast.horizon, forecast.channels
            );
            let expected = format!("{targets} values of {channels} channels, as the model's settings say");
            return Err(Error::format(path, "", found, expected));
        }
    }
    let usable = |scale: &&TargetScale| scale.mean.is_finite() && scale.deviation.is_finite() && scale.deviation > 0.0;
    match provenance.targets.iter().find(|scale| !usable(scale)) {
        None => Ok(()),
        Some(scale) => {
            let found = format!(
                "a mean of {} and a deviation of {} of targets",
                scale.mean, scale.deviation
            );
            Err(Error::format(
                path,
                "",
                found,
                "finite numbers, and a deviation above 0",
            ))
        }
    }
}

/// Derived channels and those of the data are what the model reads.
fn check_derivation(path: &Path, content: &Content) -> Result<()> {
    let (channels, features) = (content.feature_names.len(), content.config.features());
    let derivation = &content.derivation;
    if derivation.is_none() {
        if channels == features {
            return Ok(());
        }
        let expected = format!("{features}, as the model's settings say");
        return Err(Error::format(path, "", format!("{channels} feature names"), expected));
    }
    let fits = content.config.embedding.is_none() && derivation.fits(channels);
    if fits && derivation.features(channels) == features {
        return Ok(());
    }
    let found = format!("derived channels that do not go with {channels} feature names");
    let expected = format!("{features} channels that the model reads");
    Err(Error::format(path, "", found, expected))
}

/// Sizes up to this are no danger even if no tensor is as large.
const LEAST_BOUND: usize = 4096;

fn largest_size(settings: &Value) -> u64 {
    match settings {
        Value::Number(number) => number.as_u64().unwrap_or(0),
        Value::Array(values) => values.iter().map(largest_size).max().unwrap_or(0),
        Value::Object(entries) => entries.values().map(largest_size).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
#[path = "forged_tests.rs"]
mod forged_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{CellConfig, ErnnConfig};

    fn example() -> SavedModel {
        let config = ModelConfig::new(2, 2, vec![CellConfig::Ernn(ErnnConfig::default())]);
        SavedModel {
            model: Model::new(config, 1).unwrap(),
            derivation: Derivation::default(),
            decision: Default::default(),
            normalization: Normalization::identity(2),
            classes: vec!["no".to_string(), "yes".to_string()],
            vocabulary: Vec::new(),
            feature_names: vec!["x".to_string(), "y".to_string()],
            provenance: Provenance::default(),
        }
    }

    /// What reading says about a file whose content was changed, with the checksum of the change.
    fn refusal(change: fn(&mut Value)) -> String {
        let model = example();
        let bytes = model.to_bytes();
        let file = TensorFile::decode(Path::new("m"), &bytes, FORMAT).unwrap();
        let mut content: Value = file.content().unwrap();
        change(&mut content);
        let tensors = model.tensors();
        let bytes = tensor_file::encode(FORMAT, &content, &tensors);
        SavedModel::from_bytes(Path::new("m"), &bytes).unwrap_err().to_string()
    }

    #[test]
    fn what_is_derived_goes_through_a_file_and_nothing_is_written_without() {
        let plain = example().to_bytes();
        assert!(!String::from_utf8_lossy(&plain).contains("derivation"));
        assert!(
            SavedModel::from_bytes(Path::new("m"), &plain)
                .unwrap()
                .derivation
                .is_none()
        );
        let derivation = Derivation {
            differences: true,
            scales: vec![0.1, 1e-30],
            triads: Vec::new(),
        };
        let config = ModelConfig::new(6, 2, vec![CellConfig::Ernn(ErnnConfig::default())]);
        let model = SavedModel {
            model: Model::new(config, 1).unwrap(),
            normalization: Normalization::identity(6),
            derivation: derivation.clone(),
            decision: Default::default(),
            ..example()
        };
        let bytes = model.to_bytes();
        let again = SavedModel::from_bytes(Path::new("m"), &bytes).unwrap();
        assert_eq!((again.derivation.clone(), again.channels()), (derivation, 2));
        assert!(again.to_bytes() == bytes);
    }

    #[test]
    fn contents_that_contradict_themselves_are_refused() {
        for (change, part) in [
            (
                (|content| content["classes"] = serde_json::json!(["a"])) as fn(&mut Value),
                "1 class names, expected 2",
            ),
            (
                |content| content["normalization"]["mean"] = serde_json::json!([0.0]),
                "1 means",
            ),
            (
                |content| content["feature_names"] = serde_json::json!([]),
                "0 feature names",
            ),
            (
                |content| content["config"]["layers"][0]["hidden"] = 32.into(),
                "numbers, expected",
            ),
            (
                |content| content["config"]["layers"][0]["hidden"] = 60_000.into(),
                "a size of 60000",
            ),
            (
                |content| content["config"]["layers"][0]["max_steps"] = u64::MAX.into(),
                "a size of",
            ),
            (
                |content| content["config"]["layers"] = serde_json::json!([]),
                "layers: found none",
            ),
            (|content| content["unknown"] = 1.into(), "unknown field"),
            (
                |content| content["derivation"] = serde_json::json!({"differences": true}),
                "derived channels that do not go with 2 feature names",
            ),
            (
                |content| {
                    content["feature_names"] = serde_json::json!(["x"]);
                    content["derivation"] = serde_json::json!({"scales": [0.0]});
                },
                "derived channels that do not go",
            ),
            (
                |content| {
                    content["feature_names"] = serde_json::json!(["x"]);
                    content["derivation"] = serde_json::json!({"triads": [[0, 1, 2]]});
                },
                "derived channels that do not go",
            ),
        ] {
            let error = refusal(change);
            assert!(error.contains(part), "no `{part}` in {error}");
        }
    }
}
