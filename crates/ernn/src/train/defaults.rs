//! The settings that need no flag, all in this one place.
//!
//! Found on validation parts; the literature's values stand in the cells' own defaults.

use super::{ClassWeights, DataSettings, EmbeddingSettings, ModelSettings, RunConfig, TrainingSettings};
use crate::cell::{Activation, CellConfig, ErnnConfig, Rank};
use crate::data::{MissingPolicy, Preparation, TableOptions, TextOptions, Transforms, is_running_text, plain_name};
use crate::model::{Pooling, Quantize};
use crate::optim::{OptimizerConfig, Schedule};
use crate::{Error, Result};

/// What differs between data sets.
struct Choice {
    hidden: usize,
    rank: usize,
    epochs: usize,
    batch_size: usize,
    learning_rate: f64,
    halve_every: usize,
    input_noise: f64,
    input_offset: f64,
    pooling: Pooling,
    retrain: bool,
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
    input_offset: 0.0,
    pooling: Pooling::Last,
    retrain: false,
};

/// Sensors worn on the body sit a little differently on everyone: the standard deviation of a rotation about each axis, rad. Small motions at
/// rest, which tell sitting from standing, vanish under normalization but for compressed channels.
const WORN_ROTATION: f64 = 0.15;

fn choice(source: &str) -> Choice {
    match plain_name(source) {
        text if is_running_text(text) => RUNNING_TEXT,
        "japanese-vowels" => Choice {
            hidden: 64,
            rank: 8,
            epochs: 100,
            batch_size: 30,
            learning_rate: 1e-2,
            halve_every: 25,
            input_noise: 0.3,
            input_offset: 0.0,
            pooling: Pooling::Last,
            retrain: false,
        },
        "digits" => Choice {
            hidden: 64,
            rank: 8,
            epochs: 100,
            batch_size: 64,
            learning_rate: 1e-2,
            halve_every: 25,
            input_noise: 0.0,
            input_offset: 0.0,
            pooling: Pooling::Last,
            retrain: false,
        },
        "har-2" | "har-6" => Choice {
            hidden: 80,
            rank: 20,
            epochs: 20,
            batch_size: 128,
            learning_rate: 5e-3,
            halve_every: 7,
            input_noise: 0.3,
            input_offset: 0.0,
            pooling: Pooling::Mean,
            retrain: true,
        },
        "dsa-19" => Choice {
            hidden: 64,
            rank: 4,
            epochs: 60,
            batch_size: 128,
            learning_rate: 5e-3,
            halve_every: 18,
            input_noise: 0.6,
            input_offset: 1.0,
            pooling: Pooling::Mean,
            retrain: true,
        },
        "google-12" | "google-30" | "speech-10" | "fsdd" => Choice {
            hidden: 100,
            rank: 24,
            epochs: 40,
            batch_size: 128,
            learning_rate: 5e-3,
            halve_every: 10,
            input_noise: 0.3,
            input_offset: 0.0,
            pooling: Pooling::Mean,
            retrain: false,
        },
        "ptb-300" | "ptb-char" => Choice {
            hidden: 256,
            rank: 15,
            epochs: 16,
            batch_size: 16,
            learning_rate: 2e-3,
            halve_every: 4,
            input_noise: 0.0,
            input_offset: 0.0,
            pooling: Pooling::Last,
            retrain: false,
        },
        "yelp-5" => Choice {
            hidden: 128,
            rank: 32,
            epochs: 10,
            batch_size: 128,
            learning_rate: 2e-3,
            halve_every: 3,
            input_noise: 0.0,
            input_offset: 0.0,
            pooling: Pooling::Mean,
            retrain: false,
        },
        pictures if pictures.contains("mnist") || pictures.contains("cifar") => Choice {
            hidden: 128,
            rank: 16,
            epochs: 40,
            batch_size: 64,
            learning_rate: 5e-3,
            halve_every: 8,
            input_noise: 0.0,
            input_offset: 0.0,
            pooling: Pooling::Last,
            retrain: false,
        },
        _ => Choice {
            hidden: 64,
            rank: 16,
            epochs: 60,
            batch_size: 32,
            learning_rate: 5e-3,
            halve_every: 20,
            input_noise: 0.1,
            input_offset: 0.0,
            pooling: Pooling::Last,
            retrain: false,
        },
    }
}

/// The embedding of known texts; that of others follows from the data.
fn embedding(source: &str) -> Option<EmbeddingSettings> {
    match plain_name(source) {
        "ptb-300" | "ptb-char" => Some(EmbeddingSettings {
            tied: true,
            dropout: 0.2,
            deviation: 0.1,
            ..EmbeddingSettings::default()
        }),
        "yelp-5" => Some(EmbeddingSettings {
            size: 128,
            dropout: 0.3,
            ..EmbeddingSettings::default()
        }),
        text if is_running_text(text) => Some(EmbeddingSettings {
            tied: true,
            dropout: 0.1,
            deviation: 0.1,
            ..EmbeddingSettings::default()
        }),
        _ => None,
    }
}

/// The complete settings for a known data set, or for any other.
pub(super) fn for_source(source: &str) -> RunConfig {
    let choice = choice(source);
    let treebank = matches!(plain_name(source), "ptb-300" | "ptb-char");
    let running_text = treebank || is_running_text(source);
    let worn = matches!(plain_name(source), "har-2" | "har-6" | "dsa-19");
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
            dropout: match running_text {
                true if treebank => 0.4,
                true => 0.2,
                false => 0.0,
            },
            pooling: choice.pooling,
            bidirectional: false,
            layer_dropout: 0.0,
            embedding: embedding(source),
            transforms: Transforms {
                compress: worn,
                ..Transforms::default()
            },
            layers: vec![CellConfig::Ernn(cell)],
        },
        training: TrainingSettings {
            seed: 1,
            epochs: choice.epochs,
            min_steps: 0,
            max_steps: 0,
            halvings: 0,
            batch_size: choice.batch_size,
            learning_rate: choice.learning_rate,
            clip_norm: 1.0,
            validation: 0.2,
            class_weights: ClassWeights::None,
            input_noise: choice.input_noise,
            input_offset: choice.input_offset,
            input_gain: 0.0,
            input_rotation: if worn { WORN_ROTATION } else { 0.0 },
            input_crop: 0.0,
            input_shift: 0.0,
            input_warp: 0.0,
            input_mask_steps: 0.0,
            input_mask_channels: 0.0,
            average: if treebank { 0.999 } else { 0.99 },
            sparsity: 0.0,
            quantize: Quantize::None,
            from: None,
            tbptt: match running_text {
                true if treebank => 35,
                true => 50,
                false => 0,
            },
            patience: 0,
            retrain: choice.retrain,
            optimizer: OptimizerConfig::default(),
            schedule: Schedule::Step {
                every: choice.halve_every,
                factor: 0.5,
            },
            teacher: None,
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
        return Err(Error::Setting {
            name: "cell".to_string(),
            found: kind.to_string(),
            expected: one_of(CellConfig::KINDS),
        });
    };
    Ok(cell.with_hidden(choice(source).hidden))
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
