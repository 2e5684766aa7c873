//! Model files whose checksum is right and whose content is not: every value of it replaced, taken away or doubled by chance. Such a file
//! is refused with a reason, or is a model that can be used; it never brings the reader or the model to a panic.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::cell::CellConfig;
use crate::data::{Normalization, Task};
use crate::model::{Embedding, Model, ModelConfig};

/// Values of a step, and classes.
const FEATURES: usize = 2;
const CLASSES: usize = 3;

fn saved(config: ModelConfig) -> SavedModel {
    let tokens = config.embedding.as_ref().map_or(0, |embedding| embedding.vocabulary);
    let features = config.features();
    let classes = if config.task == Task::Classification {
        CLASSES
    } else {
        0
    };
    let names = |count: usize, letter: &str| (0..count).map(|place| format!("{letter}{place}")).collect();
    SavedModel {
        model: Model::new(config, 1).unwrap(),
        derivation: Default::default(),
        decision: Default::default(),
        normalization: Normalization::identity(features),
        classes: names(classes, "c"),
        vocabulary: names(tokens, "w"),
        feature_names: names(features, "f"),
        provenance: Provenance::default(),
    }
}

/// One model of each cell, one of two layers in both directions, one that reads tokens.
fn models() -> Vec<SavedModel> {
    let cell = |name: &str| CellConfig::of_kind(name).unwrap().with_hidden(16);
    let mut models: Vec<SavedModel> = CellConfig::KINDS
        .iter()
        .map(|name| saved(ModelConfig::new(FEATURES, CLASSES, vec![cell(name)])))
        .collect();
    let mut both = ModelConfig::new(FEATURES, CLASSES, vec![cell("gru"), cell("ernn")]);
    both.bidirectional = true;
    models.push(saved(both));
    let mut words = ModelConfig::new(4, CLASSES, vec![cell("fastgrnn")]);
    words.embedding = Some(Embedding {
        vocabulary: 5,
        deviation: 1.0,
        tied: false,
    });
    models.push(saved(words));
    models
}

/// The values inside a value, itself first.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(entries) => entries.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes the value with this number, counted as `count` does.
fn change(value: &mut Value, place: &mut usize, kind: usize) {
    if *place == 0 {
        alter(value, kind);
    }
    *place = place.wrapping_sub(1);
    let inside: Vec<&mut Value> = match value {
        Value::Array(values) => values.iter_mut().collect(),
        Value::Object(entries) => entries.values_mut().collect(),
        _ => Vec::new(),
    };
    for value in inside {
        change(value, place, kind);
    }
}

/// Numbers and words that settings may hold, or must not.
fn alter(value: &mut Value, kind: usize) {
    let others = [
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(4),
        json!(5),
        json!(255),
        json!(4095),
        json!(u64::MAX),
        json!(-1),
        json!(0.5),
        json!(1e300),
        json!(1e-300),
        json!(null),
        json!(true),
        json!("minus"),
        json!("full"),
        json!("per_iteration"),
        json!("zero"),
        json!("newton"),
        json!("mean"),
        json!("tanh"),
        json!("hard_sigmoid"),
        json!([]),
        json!({}),
    ];
    match (value, kind % (others.len() + 2)) {
        (Value::Array(values), at) if at >= others.len() => {
            if at == others.len() {
                values.pop();
            } else if let Some(last) = values.last().cloned() {
                values.push(last);
            }
        }
        (Value::Object(entries), at) if at >= others.len() => {
            let name = entries.keys().nth(kind / 32 % entries.len().max(1)).cloned();
            name.map(|name| entries.remove(&name));
        }
        (value, at) => *value = others[at % others.len()].clone(),
    }
}

/// A model that was read is used as `predict` and `evaluate` do.
fn used(saved: &SavedModel) {
    let _ = saved.to_bytes();
    let config = saved.model.config();
    let step = match config.embedding {
        Some(_) => saved.model.embed(&[0]),
        None => vec![0.5; config.features()],
    };
    // A stream has no end from which the other direction could begin.
    if !config.bidirectional {
        let mut runner = saved.model.runner();
        for _ in 0..2 {
            let _ = runner.push(&step);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn a_forged_content_is_refused_or_can_be_used(which in 0_usize..100, changes in prop::collection::vec((any::<usize>(), any::<usize>()), 1..4)) {
        let models = MODELS.get_or_init(models);
        let model = &models[which % models.len()];
        let bytes = model.to_bytes();
        let mut content: Value = TensorFile::decode(Path::new("m"), &bytes, FORMAT).unwrap().content().unwrap();
        for (place, kind) in changes {
            let mut place = place % count(&content);
            change(&mut content, &mut place, kind);
        }
        let forged = tensor_file::encode(FORMAT, &content, &model.tensors());
        if let Ok(read) = SavedModel::from_bytes(Path::new("m"), &forged) {
            used(&read);
        }
    }
}

static MODELS: std::sync::OnceLock<Vec<SavedModel>> = std::sync::OnceLock::new();
