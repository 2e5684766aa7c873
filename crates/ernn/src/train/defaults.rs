//! The settings that need no flag.
//!
//! Known data sets have those of the row that their experiment names as its default (`experiments/NAME.toml`); what follows here is for all
//! others, and found on validation parts. The literature's values stand in the cells' own defaults.

use toml::{Table, Value};

use super::config::overlay;
use super::{DataSettings, EmbeddingSettings, ModelSettings, RunConfig, TrainingSettings, experiments};
use crate::cell::{Activation, CellConfig, ErnnConfig, Rank};
use crate::data::{MissingPolicy, Preparation, TableOptions, TextOptions, Transforms, is_running_text, plain_name};
use crate::model::Pooling;
use crate::optim::Schedule;
use crate::{Error, Result};

/// What differs between kinds of data.
struct Choice {
    hidden: usize,
    rank: usize,
    epochs: usize,
    batch_size: usize,
    learning_rate: f64,
    halve_every: usize,
    input_noise: f64,
}

/// A running text that is not known: the values of Penn Treebank, smaller, and in more steps an epoch, as such texts are shorter.
const RUNNING_TEXT: Choice = Choice {
    hidden: 128,
    rank: 15,
    epochs: 12,
    batch_size: 8,
    learning_rate: 2e-3,
    halve_every: 3,
    input_noise: 0.0,
};

fn choice(source: &str) -> Choice {
    match plain_name(source) {
        text if is_running_text(text) => RUNNING_TEXT,
        pictures if pictures.contains("mnist") || pictures.contains("cifar") => Choice {
            hidden: 128,
            rank: 16,
            epochs: 40,
            batch_size: 64,
            learning_rate: 5e-3,
            halve_every: 8,
            input_noise: 0.0,
        },
        _ => Choice {
            hidden: 64,
            rank: 16,
            epochs: 60,
            batch_size: 32,
            learning_rate: 5e-3,
            halve_every: 20,
            input_noise: 0.1,
        },
    }
}

/// The experiment whose settings a known data set has.
fn experiment(source: &str) -> &str {
    match plain_name(source) {
        "har-6" => "har-2",
        "ptb-char" => "ptb-300",
        name => name,
    }
}

/// Sets with few persons are trained anew on all of them in the end.
fn retrains(source: &str) -> bool {
    matches!(plain_name(source), "har-2" | "har-6" | "dsa-19")
}

/// The complete settings for a known data set, or for any other.
pub(super) fn for_source(source: &str) -> RunConfig {
    let general = general(source);
    let Some(own) = experiments::settings_of(experiment(source)) else {
        return general;
    };
    let mut settings = Table::try_from(&general).expect("settings are plain structs");
    overlay(&mut settings, own);
    let settings: RunConfig = Value::Table(settings)
        .try_into()
        .expect("the library's tests read every experiment");
    RunConfig {
        training: TrainingSettings {
            retrain: retrains(source),
            ..settings.training
        },
        ..settings
    }
}

/// The complete settings for data that is not known.
fn general(source: &str) -> RunConfig {
    let choice = choice(source);
    let running_text = is_running_text(source);
    let mut cell = ErnnConfig {
        hidden: choice.hidden,
        rank: Rank::Low(choice.rank),
        ..ErnnConfig::default()
    };
    if running_text {
        // Thousands of steps with ReLU and one learned step size each diverge before they learn.
        cell.activation = Activation::Tanh;
        cell.eta = 0.3;
    }
    RunConfig {
        data: DataSettings {
            source: source.to_string(),
            missing: MissingPolicy::default(),
            features: None,
            data_dir: None,
            group_pattern: None,
            preparation: Preparation::default(),
            text: TextOptions::default(),
            table: TableOptions::default(),
        },
        model: ModelSettings {
            dropout: if running_text { 0.2 } else { 0.0 },
            pooling: Pooling::Last,
            bidirectional: false,
            layer_dropout: 0.0,
            embedding: running_text.then(|| EmbeddingSettings {
                tied: true,
                dropout: 0.1,
                deviation: 0.1,
                ..EmbeddingSettings::default()
            }),
            transforms: Transforms::default(),
            layers: vec![CellConfig::Ernn(cell)],
        },
        training: TrainingSettings {
            seed: 1,
            epochs: choice.epochs,
            batch_size: choice.batch_size,
            learning_rate: choice.learning_rate,
            clip_norm: 1.0,
            validation: 0.2,
            input_noise: choice.input_noise,
            average: 0.99,
            tbptt: if running_text { 50 } else { 0 },
            schedule: Schedule::Step {
                every: choice.halve_every,
                factor: 0.5,
            },
            ..TrainingSettings::default()
        },
    }
}

/// `a, b or c`.
fn one_of(names: &[&str]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        names => names.concat(),
    }
}

/// A layer of this kind, as large as the default one.
pub(super) fn layer(source: &str, kind: &str) -> Result<CellConfig> {
    if kind == "ernn" {
        return Ok(for_source(source).model.layers.swap_remove(0));
    }
    let Some(cell) = CellConfig::of_kind(kind) else {
        return Err(Error::setting("cell", kind, one_of(CellConfig::KINDS)));
    };
    let hidden = for_source(source).model.layers.first().map_or(0, CellConfig::hidden);
    Ok(cell.with_hidden(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_text_has_a_bounded_cell_and_tied_weights() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.txt");
        std::fs::write(&path, "a text").unwrap();
        let config = for_source(path.to_str().unwrap());
        let CellConfig::Ernn(cell) = &config.model.layers[0] else {
            panic!("an ERNN");
        };
        assert_eq!((cell.activation, cell.eta), (Activation::Tanh, 0.3));
        assert!(config.model.embedding.unwrap().tied && config.training.tbptt > 0);
        // Penn Treebank has what its experiment was run with.
        let treebank = for_source("ptb-300");
        let CellConfig::Ernn(cell) = &treebank.model.layers[0] else {
            panic!("an ERNN");
        };
        assert_eq!((cell.activation, cell.eta), (Activation::Tanh, 0.3));
        assert_eq!((treebank.training.tbptt, treebank.model.dropout), (35, 0.4));
        let known = for_source("har-2");
        let CellConfig::Ernn(cell) = &known.model.layers[0] else {
            panic!("an ERNN");
        };
        assert_eq!((cell.activation, known.model.embedding), (Activation::Relu, None));
    }

    #[test]
    fn every_kind_has_a_default_layer_of_its_name() {
        for kind in CellConfig::KINDS {
            assert_eq!(layer("digits", kind).unwrap().name(), *kind);
        }
        let error = layer("digits", "elman").unwrap_err().to_string();
        assert!(error.starts_with("cell: found elman, expected ernn, rnn, "), "{error}");
        assert!(
            error.ends_with("gated-antisymmetric, spectral or deep-transition"),
            "{error}"
        );
    }
}
