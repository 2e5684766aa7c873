//! The settings that need no flag, all in this one place.
//!
//! Found on validation parts; the literature's values stand in the cells' own defaults.

use super::config::overlay;
use super::{ClassWeights, DataSettings, ModelSettings, RunConfig, TrainingSettings};
use crate::cell::{CellConfig, ErnnConfig, Rank};
use crate::data::MissingPolicy;
use crate::model::Pooling;
use crate::optim::{OptimizerConfig, Schedule};

/// What differs between data sets.
struct Choice {
    hidden: usize,
    rank: usize,
    epochs: usize,
    batch_size: usize,
    learning_rate: f64,
    halve_every: usize,
    input_noise: f64,
}

fn choice(source: &str) -> Choice {
    match source {
        "japanese-vowels" => Choice {
            hidden: 64,
            rank: 8,
            epochs: 100,
            batch_size: 30,
            learning_rate: 1e-2,
            halve_every: 25,
            input_noise: 0.3,
        },
        "digits" => Choice {
            hidden: 64,
            rank: 8,
            epochs: 100,
            batch_size: 64,
            learning_rate: 1e-2,
            halve_every: 25,
            input_noise: 0.0,
        },
        "har-2" | "har-6" => Choice {
            hidden: 80,
            rank: 20,
            epochs: 30,
            batch_size: 128,
            learning_rate: 5e-3,
            halve_every: 10,
            input_noise: 0.3,
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

/// The complete settings for a known data set, or for any other.
pub(super) fn for_source(source: &str) -> RunConfig {
    let choice = choice(source);
    RunConfig {
        data: DataSettings {
            source: source.to_string(),
            missing: MissingPolicy::default(),
            features: None,
            data_dir: None,
        },
        model: ModelSettings {
            dropout: 0.0,
            pooling: Pooling::Last,
            layers: vec![CellConfig::Ernn(ErnnConfig {
                hidden: choice.hidden,
                rank: Rank::Low(choice.rank),
                ..ErnnConfig::default()
            })],
        },
        training: TrainingSettings {
            seed: 1,
            epochs: choice.epochs,
            batch_size: choice.batch_size,
            learning_rate: choice.learning_rate,
            clip_norm: 1.0,
            validation: 0.2,
            class_weights: ClassWeights::None,
            input_noise: choice.input_noise,
            patience: 0,
            retrain: false,
            optimizer: OptimizerConfig::default(),
            schedule: Schedule::Step {
                every: choice.halve_every,
                factor: 0.5,
            },
        },
    }
}

/// A layer of another kind, as large as the default one.
pub(super) fn layer(source: &str, kind: CellKind) -> CellConfig {
    let hidden = choice(source).hidden;
    let default = for_source(source).model.layers.swap_remove(0);
    if default.kind() == kind {
        return default;
    }
    default.kind().config(hidden)
}

/// Gives each written layer the default values of its kind where the file leaves them out.
pub(super) fn complete_layers(written: &mut toml::Table, source: &str) {
    let model = written.get_mut("model").and_then(toml::Value::as_table_mut);
    let layers = model.and_then(|model| model.get_mut("layers")).and_then(toml::Value::as_array_mut);
    for layer in layers.into_iter().flatten().filter_map(toml::Value::as_table_mut) {
        let kind = layer.get("kind").and_then(toml::Value::as_str).and_then(|kind| kind.parse().ok());
        let Some(kind) = kind else { continue };
        let mut complete = toml::Table::try_from(self::layer(source, kind)).expect("default layers are plain");
        overlay(&mut complete, std::mem::take(layer));
        *layer = complete;
    }
}
