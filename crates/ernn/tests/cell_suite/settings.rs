//! What comes from outside and cannot be used gives an error that names it; initial values follow the seed; a short table of
//! step sizes goes on with its last row.

use ernn::batch::Batch;
use ernn::cell::{Activation, AntisymmetricConfig, CellConfig, ErnnConfig, FastRnnConfig, Rank, RnnConfig, StepSizes};
use ernn::model::{LossOptions, Model, ModelConfig, Pooling, Workspace};
use ernn::{Error, Isa, Panels};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::assert_near;
use crate::table::cases;

fn model_of(layers: Vec<CellConfig>) -> ModelConfig {
    ModelConfig {
        input_size: 2,
        classes: 3,
        layers,
        dropout: 0.0,
        pooling: Pooling::Last,
    }
}

/// Small default cells.
fn cells() -> [CellConfig; 4] {
    let hidden = 5;
    let ernn = ErnnConfig {
        hidden,
        rank: Rank::Low(2),
        ..Default::default()
    };
    [
        CellConfig::Ernn(ernn),
        CellConfig::Rnn(RnnConfig {
            hidden,
            ..Default::default()
        }),
        CellConfig::FastRnn(FastRnnConfig {
            hidden,
            ..Default::default()
        }),
        CellConfig::Antisymmetric(AntisymmetricConfig {
            hidden,
            ..Default::default()
        }),
    ]
}

/// Hidden size and rank of any cell.
fn shape(cell: &mut CellConfig) -> (&mut usize, &mut Rank) {
    match cell {
        CellConfig::Ernn(cell) => (&mut cell.hidden, &mut cell.rank),
        CellConfig::Rnn(cell) => (&mut cell.hidden, &mut cell.rank),
        CellConfig::FastRnn(cell) => (&mut cell.hidden, &mut cell.rank),
        CellConfig::Antisymmetric(cell) => (&mut cell.hidden, &mut cell.rank),
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
    for cell in cells() {
        for (rank, value) in [(0, "0"), (6, "6")] {
            let mut wrong = cell.clone();
            *shape(&mut wrong).1 = Rank::Low(rank);
            refuses(model_of(vec![wrong.clone()]), "rank", value);
            refuses(model_of(vec![cell.clone(), wrong]), "rank", value);
        }
        for (hidden, value) in [(0, "0"), (65_537, "65537")] {
            let mut wrong = cell.clone();
            *shape(&mut wrong).0 = hidden;
            refuses(model_of(vec![wrong]), "hidden", value);
        }
        let mut full = cell.clone();
        *shape(&mut full).1 = Rank::Low(5);
        assert!(
            model_of(vec![full]).check().is_ok(),
            "a rank of the hidden size is allowed"
        );
    }
}

#[test]
fn settings_of_one_cell_are_checked() {
    type Set<C> = fn(&mut C, f64);
    let ernn: [(&str, f64, Set<ErnnConfig>); 9] = [
        ("iterations", 0.0, |cell, _| cell.iterations = 0),
        ("iterations", 1001.0, |cell, _| cell.iterations = 1001),
        ("max_steps", 0.0, |cell, _| cell.max_steps = 0),
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
}

#[test]
fn settings_of_the_model_are_checked() {
    let good = model_of(cells().to_vec());
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

/// A batch for [`model_of`]'s three classes.
fn batch(features: usize, lengths: &[usize]) -> Batch<f64> {
    let mut batch = Batch::new();
    batch.inputs = Panels::new(Isa::best(), features, lengths);
    batch.targets = vec![2; lengths.len()];
    batch.indices = (0..lengths.len()).collect();
    batch
}

#[test]
fn inputs_of_another_width_are_refused() {
    let model = Model::<f64>::new(model_of(cells().to_vec()), 1).expect("a model");
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
fn labels_and_class_weights_that_do_not_fit_are_refused() {
    let model = Model::<f64>::new(model_of(cells().to_vec()), 1).expect("a model");
    let refused = |targets: &[u32], weights: Option<usize>, expected: &str| {
        let mut batch = batch(2, &[4, 2]);
        batch.targets = targets.to_vec();
        let options = LossOptions {
            class_weights: weights.map(|count| vec![1.0; count]),
            dropout: None,
        };
        let mut gradient = vec![0.0; model.parameters().len()];
        let result = model.loss_and_gradient(&batch, &options, &mut Workspace::default(), &mut gradient);
        assert_eq!(result.expect_err("an error").to_string(), expected);
    };
    refused(&[], None, "labels: found 0, expected 2, one a sequence");
    refused(&[0, 3], None, "label: found 3, expected a class below 3");
    refused(&[0, 1], Some(2), "class_weights: found 2, expected 3, one a class");
}

#[test]
fn nothing_gives_nothing() {
    for pooling in [Pooling::Last, Pooling::Mean] {
        let config = ModelConfig {
            pooling,
            ..model_of(cells().to_vec())
        };
        let model = Model::<f64>::new(config, 1).expect("a model");
        let mut gradient = vec![f64::NAN; model.parameters().len()];
        let mut workspace = Workspace::default();
        let none = batch(2, &[]);
        assert!(model.logits(&none.inputs, &mut workspace).expect("logits").is_empty());
        let result = model.loss_and_gradient(&none, &LossOptions::default(), &mut workspace, &mut gradient);
        assert_eq!(result.expect("a loss"), (0.0, 0));
        assert!(gradient.iter().all(|&value| value == 0.0));
    }
}

/// A sequence of no steps is in the initial state: its logits are the readout's bias.
#[test]
fn a_sequence_of_no_steps_gives_the_bias() {
    for pooling in [Pooling::Last, Pooling::Mean] {
        let config = ModelConfig {
            pooling,
            ..model_of(cells().to_vec())
        };
        let model = Model::<f64>::new(config, 1).expect("a model");
        let bias = &model.parameters()[model.parameters().len() - 3..];
        let mixed = batch(2, &[3, 0, 2]);
        let logits = model.logits(&mixed.inputs, &mut Workspace::default()).expect("logits");
        assert_eq!(&logits[3..6], bias, "{pooling:?}");
        assert_eq!(model.runner().logits(&[]), bias, "{pooling:?}, by the runner");
        let mut gradient = vec![0.0; model.parameters().len()];
        let alone = batch(2, &[0]);
        let result = model.loss_and_gradient(
            &alone,
            &LossOptions::default(),
            &mut Workspace::default(),
            &mut gradient,
        );
        assert!(result.expect("a loss").0.is_finite());
        assert!(gradient.iter().all(|value| value.is_finite()));
    }
}

#[test]
fn initial_values_follow_the_seed() {
    for case in cases() {
        let new = |seed| Model::<f64>::new(case.config.clone(), seed).expect("a model");
        let (first, again, other) = (new(4), new(4), new(5));
        assert_eq!(first, again, "{}", case.name);
        for span in first.spans() {
            let (a, b) = (&first.parameters()[span.range()], &other.parameters()[span.range()]);
            assert!(a.iter().all(|value| value.is_finite()), "{}, {}", case.name, span.name);
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            a.iter()
                .for_each(|&value| (low, high) = (low.min(value), high.max(value)));
            if low < high {
                assert_ne!(a, b, "{}, {}", case.name, span.name);
            }
        }
        let names: std::collections::BTreeSet<_> = first.spans().iter().map(|span| &span.name).collect();
        assert_eq!(names.len(), first.spans().len(), "names of the spans are unique");
        let mut end = 0;
        for span in first.spans() {
            assert_eq!(
                std::mem::replace(&mut end, span.range().end),
                span.start,
                "spans stand side by side"
            );
        }
        assert_eq!(end, first.parameters().len());
    }
}

/// Mean and standard deviation.
fn spread(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// 9 inputs, hidden size 64: each tensor has the mean and the standard deviation that its cell's file states.
#[test]
fn initial_values_are_those_of_the_docs() {
    let (rank, root) = (Rank::Low(16), 64f64.sqrt());
    let uniform = |bound: f64| bound / 3f64.sqrt();
    let ernn = |rank| {
        CellConfig::Ernn(ErnnConfig {
            rank,
            ..Default::default()
        })
    };
    let rnn = |rank| {
        CellConfig::Rnn(RnnConfig {
            rank,
            ..Default::default()
        })
    };
    let antisymmetric = |rank| {
        CellConfig::Antisymmetric(AntisymmetricConfig {
            rank,
            deviation: 2.0,
            ..Default::default()
        })
    };
    let elman = uniform(1.0 / root);
    let elman_factor = uniform((16.0 * 64f64).powf(-0.25));
    let wh_factor = (2.0 / root / 16f64.sqrt()).sqrt();
    let fast = CellConfig::FastRnn(FastRnnConfig::default());
    /// Name of a tensor and two numbers about its values.
    type Facts<'a> = &'a [(&'a str, f64, f64)];
    let expected: [(CellConfig, Facts); 7] = [
        (
            ernn(rank),
            &[
                ("W", 0.0, 0.1),
                ("b", 0.0, 0.0),
                ("V", 0.0, 0.1),
                ("H", 0.0, 0.1),
                ("eta", 0.01, 0.0),
            ],
        ),
        (
            ernn(Rank::Full),
            &[("W", 0.0, 0.1), ("b", 0.0, 0.0), ("U", 0.0, 0.1), ("eta", 0.01, 0.0)],
        ),
        (
            rnn(Rank::Full),
            &[("W", 0.0, elman), ("b", 0.0, elman), ("U", 0.0, elman)],
        ),
        (
            rnn(rank),
            &[
                ("W", 0.0, elman),
                ("b", 0.0, elman),
                ("U1", 0.0, elman_factor),
                ("U2", 0.0, elman_factor),
            ],
        ),
        (
            fast,
            &[
                ("W", 0.0, elman),
                ("U", 0.0, elman),
                ("alpha", -3.0, 0.0),
                ("beta", 3.0, 0.0),
            ],
        ),
        (
            antisymmetric(Rank::Full),
            &[("W", 0.0, 1.0 / 3.0), ("b", 0.0, 0.0), ("Wh", 0.0, 2.0 / root)],
        ),
        (
            antisymmetric(rank),
            &[
                ("W", 0.0, 1.0 / 3.0),
                ("b", 0.0, 0.0),
                ("A", 0.0, wh_factor),
                ("B", 0.0, wh_factor),
            ],
        ),
    ];
    for (cell, tensors) in expected {
        let mut parameters = vec![f64::NAN; cell.parameter_count(9)];
        cell.initialize(9, &mut ChaCha8Rng::seed_from_u64(2), &mut parameters);
        for &(name, mean, deviation) in tensors {
            let span = cell
                .spans(9, "", 0)
                .into_iter()
                .find(|span| span.name == name)
                .expect("a tensor");
            let mut values = parameters[span.range()].to_vec();
            if let ("U", CellConfig::Ernn(_)) = (name, &cell) {
                values.iter_mut().step_by(64 + 1).for_each(|value| *value -= 1.0);
            }
            let found = spread(&values);
            let what = || format!("{} {name}: {found:?}", cell.name());
            assert_near(
                found.0,
                mean,
                4.0 * deviation / (values.len() as f64).sqrt() + 1e-12,
                what,
            );
            assert_near(
                found.1,
                deviation,
                3.0 * deviation / (values.len() as f64).sqrt() + 1e-12,
                what,
            );
        }
    }
}

/// Three rows and eight steps: as eight rows of which the last six are one.
#[test]
fn a_short_table_of_step_sizes_uses_its_last_row() {
    let (short_rows, steps, k) = (3, 8, 2);
    let config = |max_steps| {
        model_of(vec![CellConfig::Ernn(ErnnConfig {
            hidden: 5,
            rank: Rank::Low(2),
            iterations: k,
            activation: Activation::Tanh,
            steps: StepSizes::PerStep,
            max_steps,
            deviation: 0.5,
            ..Default::default()
        })])
    };
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut short = Model::<f64>::new(config(short_rows), 1).expect("a model");
    let eta = |model: &Model<f64>| {
        model
            .spans()
            .iter()
            .find(|span| span.name == "layers.0.eta")
            .expect("eta")
            .range()
    };
    let at = eta(&short);
    short.parameters_mut()[at.clone()].fill_with(|| rng.random_range(0.1..0.5));
    let (before, after) = (&short.parameters()[..at.end], &short.parameters()[at.end..]);
    let last_row = &before[at.end - k..];
    let parameters = [before, &last_row.repeat(steps - short_rows), after].concat();
    let long = Model::from_parameters(config(steps), parameters).expect("a model");

    let mut batch = batch(2, &[8, 2, 5]);
    for (sequence, length) in [8, 2, 5].into_iter().enumerate() {
        let values: Vec<f64> = (0..length * 2).map(|_| rng.random_range(-1.0..1.0)).collect();
        batch.inputs.set_sequence(sequence, &values);
    }
    let train = |model: &Model<f64>| {
        let mut gradient = vec![0.0; model.parameters().len()];
        let result = model.loss_and_gradient(
            &batch,
            &LossOptions::default(),
            &mut Workspace::default(),
            &mut gradient,
        );
        (result.expect("a loss"), gradient)
    };
    let ((short_loss, short_gradient), (long_loss, long_gradient)) = (train(&short), train(&long));
    assert_eq!(short_loss, long_loss);
    let (short_eta, long_eta) = (&short_gradient[at], &long_gradient[eta(&long)]);
    for (index, &found) in short_eta.iter().enumerate() {
        let (row, iteration) = (index / k, index % k);
        let rows = if row + 1 < short_rows { row..row + 1 } else { row..steps };
        let expected = rows.map(|row| long_eta[row * k + iteration]).sum();
        assert_near(found, expected, 1e-15, || {
            format!("eta row {row}, iteration {iteration}")
        });
    }
}
