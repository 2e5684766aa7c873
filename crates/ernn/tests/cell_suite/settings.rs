//! What comes from outside and cannot be used gives an error that names it, not a panic; nothing gives nothing.

use ernn::Error;
use ernn::cell::{
    AntisymmetricConfig, CellConfig, ErnnConfig, FastGrnnConfig, FastRnnConfig, GatedAntisymmetricConfig, Rank,
    SpectralConfig,
};
use ernn::head::Distillation;
use ernn::model::{LossOptions, Model, ModelConfig, Pooling, Workspace};

use crate::table::{batch, model_of};

/// Small default cells, one of each kind.
fn cells() -> Vec<CellConfig> {
    let small = |&kind: &&str| {
        let mut cell = CellConfig::of_kind(kind).expect("a kind").with_hidden(5);
        if let CellConfig::Ernn(cell) = &mut cell {
            cell.rank = Rank::Low(2);
        }
        cell
    };
    CellConfig::KINDS.iter().map(small).collect()
}

/// The rank of a cell's recurrent matrix, if it has one.
fn rank(cell: &mut CellConfig) -> Option<&mut Rank> {
    match cell {
        CellConfig::Ernn(cell) => Some(&mut cell.rank),
        CellConfig::Rnn(cell) => Some(&mut cell.rank),
        CellConfig::FastRnn(cell) => Some(&mut cell.rank),
        CellConfig::FastGrnn(cell) => Some(&mut cell.rank),
        CellConfig::Ugrnn(cell) => Some(&mut cell.rank),
        CellConfig::Gru(cell) => Some(&mut cell.rank),
        CellConfig::Lstm(cell) => Some(&mut cell.rank),
        CellConfig::Antisymmetric(cell) => Some(&mut cell.rank),
        CellConfig::GatedAntisymmetric(cell) => Some(&mut cell.rank),
        CellConfig::Spectral(_) | CellConfig::DeepTransition(_) => None,
    }
}

/// The rank of its input matrix, if it has one.
fn input_rank(cell: &mut CellConfig) -> Option<&mut Rank> {
    match cell {
        CellConfig::Rnn(cell) => Some(&mut cell.input_rank),
        CellConfig::FastRnn(cell) => Some(&mut cell.input_rank),
        CellConfig::FastGrnn(cell) => Some(&mut cell.input_rank),
        CellConfig::Ugrnn(cell) => Some(&mut cell.input_rank),
        CellConfig::Gru(cell) => Some(&mut cell.input_rank),
        CellConfig::Lstm(cell) => Some(&mut cell.input_rank),
        _ => None,
    }
}

/// Both ways to a model refuse the settings and name the one at fault, and what was found.
fn refuses(config: ModelConfig, expected: &str, value: &str) {
    let made: [Result<Model<f64>, Error>; 2] = [
        Model::new(config.clone(), 1),
        Model::from_parameters(config.clone(), Vec::new()),
    ];
    for result in made {
        match result {
            Err(Error::Setting { name, found, .. }) => assert_eq!((&name[..], &found[..]), (expected, value)),
            Err(other) => panic!("{expected} {value}: {other}"),
            Ok(_) => panic!("{expected} {value} is taken"),
        }
    }
    let text = config.check().expect_err("an error").to_string();
    let start = format!("{expected}: found {value}, expected ");
    assert!(text.starts_with(&start) && text.len() > start.len(), "{text}");
}

#[test]
fn settings_of_every_cell_are_checked_in_every_layer() {
    type Of = fn(&mut CellConfig) -> Option<&mut Rank>;
    let ranks: [(&str, Of); 2] = [("rank", rank), ("input_rank", input_rank)];
    let mut checked = 0;
    for cell in cells() {
        for (name, of) in ranks {
            let with = |rank: usize| {
                let mut cell = cell.clone();
                *of(&mut cell)? = Rank::Low(rank);
                Some(cell)
            };
            for (rank, value) in [(0, "0"), (6, "6")] {
                let Some(wrong) = with(rank) else { continue };
                refuses(model_of(vec![wrong.clone()]), name, value);
                refuses(model_of(vec![cell.clone(), wrong]), name, value);
                checked += 1;
            }
            let full = with(5).map(|full| model_of(vec![full]).check().is_ok());
            assert_ne!(full, Some(false), "a rank of the hidden size is allowed");
        }
        for (hidden, value) in [(0, "0"), (65_537, "65537")] {
            refuses(model_of(vec![cell.clone().with_hidden(hidden)]), "hidden", value);
        }
    }
    assert_eq!(checked, 2 * (9 + 6), "cells with a rank, and with one of W");
}

#[test]
fn settings_of_one_cell_are_checked() {
    type Set<C> = fn(&mut C, f64);
    let ernn: [(&str, f64, Set<ErnnConfig>); 10] = [
        ("iterations", 0.0, |cell, _| cell.iterations = 0),
        ("iterations", 1001.0, |cell, _| cell.iterations = 1001),
        ("max_steps", 0.0, |cell, _| cell.max_steps = 0),
        ("max_steps", 16_777_217.0, |cell, _| cell.max_steps = 16_777_217),
        ("eta", f64::NAN, |cell, value| cell.eta = value),
        ("gamma", -1.0, |cell, value| cell.gamma = value),
        ("gamma", f64::INFINITY, |cell, value| cell.gamma = value),
        ("eta_learning_rate", -0.5, |cell, value| cell.eta_learning_rate = value),
        ("deviation", 0.0, |cell, value| cell.deviation = value),
        ("deviation", f64::NAN, |cell, value| cell.deviation = value),
    ];
    for (name, value, set) in ernn {
        let mut cell = ErnnConfig::default();
        set(&mut cell, value);
        refuses(model_of(vec![CellConfig::Ernn(cell)]), name, &value.to_string());
    }
    let fast: [(&str, f64, Set<FastRnnConfig>); 2] = [
        ("alpha", f64::INFINITY, |cell, value| cell.alpha = value),
        ("beta", f64::NAN, |cell, value| cell.beta = value),
    ];
    for (name, value, set) in fast {
        let mut cell = FastRnnConfig::default();
        set(&mut cell, value);
        refuses(model_of(vec![CellConfig::FastRnn(cell)]), name, &value.to_string());
    }
    let antisymmetric: [(&str, f64, Set<AntisymmetricConfig>); 4] = [
        ("epsilon", 0.0, |cell, value| cell.epsilon = value),
        ("epsilon", f64::NAN, |cell, value| cell.epsilon = value),
        ("gamma", -0.1, |cell, value| cell.gamma = value),
        ("deviation", -1.0, |cell, value| cell.deviation = value),
    ];
    for (name, value, set) in antisymmetric {
        let mut cell = AntisymmetricConfig::default();
        set(&mut cell, value);
        refuses(
            model_of(vec![CellConfig::Antisymmetric(cell)]),
            name,
            &value.to_string(),
        );
    }
    let gated: [(&str, f64, Set<GatedAntisymmetricConfig>); 3] = [
        ("epsilon", -1.0, |cell, value| cell.epsilon = value),
        ("gamma", f64::NAN, |cell, value| cell.gamma = value),
        ("deviation", -1.0, |cell, value| cell.deviation = value),
    ];
    for (name, value, set) in gated {
        let mut cell = GatedAntisymmetricConfig::default();
        set(&mut cell, value);
        let layer = CellConfig::GatedAntisymmetric(cell);
        refuses(model_of(vec![layer]), name, &value.to_string());
    }
    let fast: [(&str, f64, Set<FastGrnnConfig>); 2] = [
        ("zeta", f64::NAN, |cell, value| cell.zeta = value),
        ("nu", f64::NEG_INFINITY, |cell, value| cell.nu = value),
    ];
    for (name, value, set) in fast {
        let mut cell = FastGrnnConfig::default();
        set(&mut cell, value);
        refuses(model_of(vec![CellConfig::FastGrnn(cell)]), name, &value.to_string());
    }
    let spectral: [(&str, f64, Set<SpectralConfig>); 4] = [
        ("reflections", 65.0, |cell, _| cell.reflections = 65),
        ("radius", 1.0, |cell, value| cell.radius = value),
        ("radius", -0.1, |cell, value| cell.radius = value),
        ("radius", f64::NAN, |cell, value| cell.radius = value),
    ];
    for (name, value, set) in spectral {
        let mut cell = SpectralConfig::default();
        set(&mut cell, value);
        refuses(model_of(vec![CellConfig::Spectral(cell)]), name, &value.to_string());
    }
}

#[test]
fn settings_of_the_model_are_checked() {
    let good = model_of(cells());
    assert!(good.check().is_ok());
    for classes in [0, 1] {
        refuses(
            ModelConfig {
                classes,
                ..good.clone()
            },
            "classes",
            &classes.to_string(),
        );
    }
    for dropout in [1.0, -0.1, f64::NAN] {
        refuses(
            ModelConfig {
                dropout,
                ..good.clone()
            },
            "dropout",
            &dropout.to_string(),
        );
        let layer_dropout = dropout;
        refuses(
            ModelConfig {
                layer_dropout,
                ..good.clone()
            },
            "layer_dropout",
            &dropout.to_string(),
        );
    }
    let input_size = 0;
    refuses(
        ModelConfig {
            input_size,
            ..good.clone()
        },
        "input_size",
        "0",
    );
    refuses(model_of(Vec::new()), "layers", "none");
    let count = good.spans().last().map(|span| span.range().end).expect("spans");
    let short = Model::<f64>::from_parameters(good, vec![0.0; count - 1]);
    let text = short.expect_err("an error").to_string();
    assert_eq!(
        text,
        format!("parameters: found {}, expected {count} numbers", count - 1)
    );
}

#[test]
fn inputs_of_another_width_are_refused() {
    let model = Model::<f64>::new(model_of(cells()), 1).expect("a model");
    let mut gradient = vec![0.0; model.parameters().len()];
    let mut workspace = Workspace::default();
    let wrong = batch(3, &[4, 2]);
    let expected = "features: found 3, expected 2, the input size of the model";
    let error = model.logits(&wrong.inputs, &mut workspace).expect_err("an error");
    assert_eq!(error.to_string(), expected);
    let result = model.loss_and_gradient(&wrong, &LossOptions::default(), &mut workspace, &mut gradient);
    assert_eq!(result.expect_err("an error").to_string(), expected);
}

#[test]
fn pieces_of_no_steps_are_refused() {
    let model = Model::<f64>::new(model_of(cells()), 1).expect("a model");
    let options = LossOptions {
        tbptt: Some(0),
        ..Default::default()
    };
    let mut gradient = vec![0.0; model.parameters().len()];
    for lengths in [&[4, 2][..], &[]] {
        let batch = batch(2, lengths);
        let result = model.loss_and_gradient(&batch, &options, &mut Workspace::default(), &mut gradient);
        let text = result.expect_err("an error").to_string();
        assert_eq!(text, "tbptt: found 0, expected at least 1 step, or none");
    }
}

#[test]
fn soft_targets_that_do_not_fit_are_refused() {
    let model = Model::<f64>::new(model_of(cells()), 1).expect("a model");
    let options = LossOptions {
        distillation: Some(Distillation {
            weight: 0.5,
            temperature: 2.0,
        }),
        ..Default::default()
    };
    let mut batch = batch(2, &[4, 2]);
    batch.soft_targets = vec![0.2; 5];
    let mut gradient = vec![0.0; model.parameters().len()];
    let result = model.loss_and_gradient(&batch, &options, &mut Workspace::default(), &mut gradient);
    let text = result.expect_err("an error").to_string();
    assert!(text.starts_with("soft_targets: found 5, expected 2 times 3"), "{text}");
}

#[test]
fn labels_and_class_weights_that_do_not_fit_are_refused() {
    let model = Model::<f64>::new(model_of(cells()), 1).expect("a model");
    let refused = |targets: &[u32], weights: Option<usize>, expected: &str| {
        let mut batch = batch(2, &[4, 2]);
        batch.targets = targets.to_vec();
        let options = LossOptions {
            class_weights: weights.map(|count| vec![1.0; count]),
            ..Default::default()
        };
        let mut gradient = vec![0.0; model.parameters().len()];
        let result = model.loss_and_gradient(&batch, &options, &mut Workspace::default(), &mut gradient);
        assert_eq!(result.expect_err("an error").to_string(), expected);
    };
    refused(&[], None, "labels: found 0, expected 2, one a sequence");
    refused(&[0, 3], None, "label: found 3, expected a class below 3");
    refused(&[0, 1], Some(2), "class_weights: found 2, expected 3, one a class");
}

const WAYS: [(Pooling, bool); 4] = [
    (Pooling::Last, false),
    (Pooling::Mean, false),
    (Pooling::Last, true),
    (Pooling::Mean, true),
];

fn dropping() -> LossOptions<f64> {
    LossOptions {
        dropout: Some((1, 2)),
        ..Default::default()
    }
}

#[test]
fn nothing_gives_nothing() {
    for (pooling, bidirectional) in WAYS {
        let config = ModelConfig {
            pooling,
            bidirectional,
            layer_dropout: 0.5,
            ..model_of(cells())
        };
        let model = Model::<f64>::new(config, 1).expect("a model");
        let mut gradient = vec![f64::NAN; model.parameters().len()];
        let mut workspace = Workspace::default();
        let none = batch(2, &[]);
        assert!(model.logits(&none.inputs, &mut workspace).expect("logits").is_empty());
        let result = model.loss_and_gradient(&none, &dropping(), &mut workspace, &mut gradient);
        assert_eq!(result.expect("a loss"), (0.0, 0));
        assert!(gradient.iter().all(|&value| value == 0.0));
    }
}

/// A sequence of no steps is in the initial state: its logits are the readout's bias.
#[test]
fn a_sequence_of_no_steps_gives_the_bias() {
    for (pooling, bidirectional) in WAYS {
        let config = ModelConfig {
            pooling,
            bidirectional,
            layer_dropout: 0.5,
            ..model_of(cells())
        };
        let model = Model::<f64>::new(config, 1).expect("a model");
        let bias = &model.parameters()[model.parameters().len() - 3..];
        let mixed = batch(2, &[3, 0, 2]);
        let logits = model.logits(&mixed.inputs, &mut Workspace::default()).expect("logits");
        assert_eq!(&logits[3..6], bias, "{pooling:?}, {bidirectional}");
        assert_eq!(
            model.runner().logits(&[]),
            bias,
            "{pooling:?}, {bidirectional}, by the runner"
        );
        let mut gradient = vec![0.0; model.parameters().len()];
        let alone = batch(2, &[0]);
        let result = model.loss_and_gradient(&alone, &dropping(), &mut Workspace::default(), &mut gradient);
        assert!(result.expect("a loss").0.is_finite());
        assert!(gradient.iter().all(|value| value.is_finite()));
    }
}
