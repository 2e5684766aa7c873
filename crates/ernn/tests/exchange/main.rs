//! Models of other programs: what they compute there they compute here, and what is written reads again to the same bits.

#[path = "../support/mod.rs"]
mod support;

mod damage;
mod edgeml;
mod torch;

use ernn::cell::CellConfig;
use ernn::checkpoint::SavedModel;
use ernn::data::{Normalization, Part, View};
use ernn::evaluate;
use ernn::model::{Model, ModelConfig};

/// A model of one kind of cells with drawn parameters.
fn drawn(layers: Vec<CellConfig>, bidirectional: bool) -> SavedModel {
    let config = ModelConfig {
        bidirectional,
        ..ModelConfig::new(3, 2, layers)
    };
    SavedModel {
        model: Model::new(config, 5).unwrap(),
        derivation: Default::default(),
        decision: Default::default(),
        normalization: Normalization::identity(3),
        classes: vec!["0".to_string(), "1".to_string()],
        vocabulary: Vec::new(),
        feature_names: (1..=3).map(|n| format!("channel {n}")).collect(),
        provenance: Default::default(),
    }
}

fn bits(saved: &SavedModel) -> Vec<u32> {
    saved.model.parameters().iter().map(|value| value.to_bits()).collect()
}

/// Logits `[N, C]` of sequences `[N][T d]`.
fn logits(saved: &SavedModel, sequences: &[Vec<f32>]) -> Vec<f32> {
    let mut part = Part::new(saved.model.config().input_size);
    for sequence in sequences {
        part.push(sequence, None, None);
    }
    saved.normalization.apply(&mut part).unwrap();
    evaluate::logits(&saved.model, &View::of(&part)).unwrap()
}

/// Fails unless the error's text has all these parts.
fn says<T: std::fmt::Debug>(outcome: ernn::Result<T>, parts: &[&str]) {
    let error = outcome.unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "no `{part}` in: {error}");
    }
}
