//! Labels of which several can hold: the gradient of whole models, and runs that keep their bits.

use std::path::Path;

use ernn::batch::Batch;
use ernn::cell::CellConfig;
use ernn::checkpoint::SavedModel;
use ernn::data::{Dataset, Part, Task, View};
use ernn::evaluate::{self, Ensemble};
use ernn::model::{LossOptions, Model, ModelConfig, Pooling, Workspace};
use ernn::train::{self, ClassWeights, Options, Outcome, RunConfig};
use toml::Value;

/// Two channels; a label holds where its channel lies high, the third where both do.
fn part(count: usize, seed: usize) -> Part {
    let mut part = Part::new(2);
    for sequence in 0..count {
        let (one, other) = (sequence % 2, sequence / 2 % 2);
        let wave = |place: usize| ((sequence * 31 + place * 17 + seed) % 101) as f32 / 303.0;
        let step = |place: usize| [wave(place) + one as f32, wave(place + 1) + other as f32];
        let values: Vec<f32> = (0..3 + sequence % 4).flat_map(step).collect();
        part.push(&values, None, Some(sequence as u32 % 10));
        part.indicators.extend([one as u8, other as u8, (one * other) as u8]);
    }
    part
}

fn dataset() -> Dataset {
    Dataset {
        name: "labels".to_string(),
        feature_names: ["x", "y"].map(String::from).into(),
        classes: ["one", "other", "both"].map(String::from).into(),
        task: Task::MultiLabel,
        train: part(100, 0),
        test: Some(part(40, 7)),
        ..Dataset::default()
    }
}

fn settings() -> RunConfig {
    let mut config = RunConfig::defaults("mine.csv");
    config.change_cell("gru").unwrap();
    config.set_in_layers("hidden", &Value::Integer(4)).unwrap();
    config.training.epochs = 12;
    config.training.batch_size = 10;
    config.training.learning_rate = 0.02;
    config
}

fn trained(config: &RunConfig, threads: usize) -> Outcome {
    let options = Options {
        threads,
        ..Options::default()
    };
    train::train(&dataset(), config, &options, &mut ()).unwrap()
}

#[test]
fn gradients_of_whole_models_agree_with_finite_differences() {
    let data = dataset();
    let view = View::of(&data.train);
    let weights = vec![0.5, 2.0, 1.0, 1.5, 0.25, 3.0];
    for (kind, pooling, piece) in [
        ("ernn", Pooling::Last, None),
        ("gru", Pooling::MeanMax, None),
        ("fastgrnn", Pooling::Last, Some(8)),
    ] {
        let cell = CellConfig::of_kind(kind).unwrap().with_hidden(8);
        let config = ModelConfig {
            task: Task::MultiLabel,
            pooling,
            ..ModelConfig::new(2, 3, vec![cell])
        };
        let mut model = Model::<f64>::new(config, 5).unwrap();
        let options = LossOptions {
            class_weights: Some(weights.clone()),
            tbptt: piece,
            ..LossOptions::default()
        };
        let mut batch = Batch::new();
        batch.fill(&view, &[0, 3, 1, 6, 2], None);
        let mut workspace = Workspace::default();
        let mut gradient = vec![0.0; model.parameters().len()];
        let mut unused = gradient.clone();
        model
            .loss_and_gradient(&batch, &options, &mut workspace, &mut gradient)
            .unwrap();
        for (place, &own) in gradient.iter().enumerate() {
            let mut at = |shift: f64| {
                model.parameters_mut()[place] += shift;
                let found = model.loss_and_gradient(&batch, &options, &mut workspace, &mut unused);
                model.parameters_mut()[place] -= shift;
                found.unwrap().0
            };
            let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((slope - own).abs() < 1e-7, "{kind} {place}: {slope} {own}");
        }
    }
}

#[test]
fn labels_are_learned_and_the_file_says_the_same() {
    let outcome = trained(&settings(), 1);
    let data = dataset();
    let test = data.test.as_ref().unwrap();
    let again = SavedModel::from_bytes(Path::new("model"), &outcome.model.to_bytes()).unwrap();
    let said = evaluate::predict_labels(&again, test, &[]).unwrap();
    assert_eq!(said, evaluate::predict_labels(&outcome.model, test, &[]).unwrap());
    let found = outcome.report.evaluation.labels.as_ref().unwrap();
    assert!(found.mean_average_precision.unwrap() > 0.9, "{found:?}");
    assert!(found.mean_average_precision > found.always_the_same);
    let named = Ensemble::new(vec![("one".to_string(), again.clone()), ("two".to_string(), again)]).unwrap();
    let of_both = named.evaluate(test).unwrap();
    assert!((of_both.loss - outcome.report.evaluation.loss).abs() < 1e-12);
    assert_eq!(of_both.labels.as_ref(), Some(found));
    assert!(evaluate::predict(&outcome.model, test).is_err());
}

#[test]
fn threads_and_the_test_part_change_no_bit() {
    let mut config = settings();
    config.training.epochs = 3;
    config.training.class_weights = ClassWeights::Balanced;
    let one = trained(&config, 1);
    assert!(one.model.to_bytes() == trained(&config, 3).model.to_bytes());
    let mut other = dataset();
    other
        .test
        .as_mut()
        .unwrap()
        .indicators
        .iter_mut()
        .for_each(|holds| *holds = 1 - *holds);
    let with_other_test = train::train(&other, &config, &Options::default(), &mut ()).unwrap();
    assert!(with_other_test.model.to_bytes() == one.model.to_bytes());
    config.training.class_weights = ClassWeights::None;
    assert!(trained(&config, 1).model.to_bytes() != one.model.to_bytes());
}

#[test]
fn labels_that_say_nothing_are_refused() {
    let mut data = dataset();
    data.train.indicators.fill(1);
    let refused = |data: &Dataset| {
        let error = train::train(data, &settings(), &Options::default(), &mut ()).unwrap_err();
        error.to_string()
    };
    assert!(
        refused(&data).contains("the same labels for each of 100 sequences"),
        "{}",
        refused(&data)
    );
    data.train.indicators.clear();
    assert!(refused(&data).contains("without labels"), "{}", refused(&data));
}
