//! Numbers of steps: losses and gradients of whole models over the steps that have numbers, and runs that keep their bits and units.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ernn::batch::Batch;
use ernn::cell::CellConfig;
use ernn::checkpoint::SavedModel;
use ernn::data::{Dataset, Part, Task, View};
use ernn::evaluate;
use ernn::head::NumberLoss;
use ernn::model::{LossOptions, Model, ModelConfig, Workspace};
use ernn::train::{self, BatchProgress, Ending, Observer, Options, Out, Outcome, RunConfig, RunFolder};
use toml::Value;

/// The sequences of `reference/step_numbers.py`.
fn golden_part() -> Part {
    let mut part = Part::new(2);
    for (sequence, length) in [4, 2, 3].into_iter().enumerate() {
        let value = |step: usize, channel: usize| (sequence as f64 + 0.7 * step as f64 + 2.1 * channel as f64).cos();
        let values: Vec<f32> = (0..length)
            .flat_map(|step| [0, 1].map(|channel| value(step, channel) as f32))
            .collect();
        part.push(&values, None, None);
        for (step, target) in (0..length).flat_map(|step| [(step, 0), (step, 1)]) {
            let number = 3.0 * (1.3 * sequence as f64 + step as f64 + 0.4 * f64::from(target)).sin();
            let without = [(0, 1), (0, 3), (2, 0)].contains(&(sequence, step));
            let rounded = (number * 1000.0).round() / 1000.0;
            part.step_numbers.push(if without { f32::NAN } else { rounded as f32 });
        }
    }
    part
}

/// What `reference/step_numbers.py` prints.
const MSE: f64 = 6.399_339_421_059_589;
const MAE: f64 = 2.268_816_259_180_711_7;
const HUBER: f64 = 1.786_556_108_964_337_8;
const PINBALL: f64 = 1.043_473_636_661_396_8;

/// A model with the tensors of `reference/step_numbers.py`.
fn golden_model(quantiles: &[f64]) -> Model<f64> {
    let cell = CellConfig::of_kind("rnn").unwrap().with_hidden(3);
    let config = ModelConfig {
        task: Task::StepRegression,
        quantiles: quantiles.to_vec(),
        ..ModelConfig::new(2, 2 * quantiles.len().max(1), vec![cell])
    };
    let mut model = Model::new(config, 1).unwrap();
    let names = [
        "layers.0.W",
        "layers.0.U",
        "layers.0.b",
        "readout.weight",
        "readout.bias",
    ];
    for span in model.spans().to_vec() {
        let tensor = names.iter().position(|name| *name == span.name).unwrap() as f64;
        for (place, value) in model.parameters_mut()[span.range()].iter_mut().enumerate() {
            *value = 0.6 * (1.7 * place as f64 + tensor).sin();
        }
    }
    model
}

fn loss(model: &Model<f64>, options: &LossOptions<f64>, batch: &Batch<f64>) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; model.parameters().len()];
    let found = model.loss_and_gradient(batch, options, &mut Workspace::default(), &mut gradient);
    (found.unwrap().0, gradient)
}

fn batch(part: &Part) -> Batch<f64> {
    let mut batch = Batch::new();
    batch.fill(&View::of(part), &(0..part.len()).collect::<Vec<_>>(), None);
    batch
}

/// The numbers of `reference/step_numbers.py`.
#[test]
fn losses_are_means_over_the_steps_that_have_numbers() {
    let part = golden_part();
    let cases = [
        (NumberLoss::Mse, &[][..], MSE),
        (NumberLoss::Mae, &[], MAE),
        (NumberLoss::Huber, &[], HUBER),
        (NumberLoss::Mse, &[0.1, 0.8], PINBALL),
    ];
    for (kind, quantiles, expected) in cases {
        let model = golden_model(quantiles);
        for tbptt in [None, Some(1), Some(3)] {
            let options = LossOptions {
                loss: kind,
                tbptt,
                ..LossOptions::default()
            };
            let (found, _) = loss(&model, &options, &batch(&part));
            // Inputs are numbers of 32 bits.
            assert!(
                (found - expected).abs() < 1e-6,
                "{kind:?} {quantiles:?} {tbptt:?}: {found}"
            );
        }
    }
}

#[test]
fn gradients_of_whole_models_agree_with_finite_differences() {
    let part = golden_part();
    for (kind, loss_kind, quantiles, bidirectional) in [
        ("ernn", NumberLoss::Mse, &[][..], false),
        ("gru", NumberLoss::Huber, &[], true),
        ("fastgrnn", NumberLoss::Mae, &[], false),
        ("lstm", NumberLoss::Mse, &[0.1, 0.5, 0.9], true),
    ] {
        let cell = CellConfig::of_kind(kind).unwrap().with_hidden(8);
        let config = ModelConfig {
            task: Task::StepRegression,
            bidirectional,
            quantiles: quantiles.to_vec(),
            ..ModelConfig::new(
                2,
                2 * quantiles.len().max(1),
                vec![cell; if kind == "ernn" { 2 } else { 1 }],
            )
        };
        let mut model = Model::<f64>::new(config, 5).unwrap();
        // No bias is 0, where a ReLU whose inputs are all 0 has no slope.
        let parameters = model.parameters_mut().iter_mut().enumerate();
        parameters.for_each(|(place, value)| *value += 0.02 * (1.0 + place as f64).sin());
        let options = LossOptions {
            loss: loss_kind,
            ..LossOptions::default()
        };
        let batch = batch(&part);
        let (_, gradient) = loss(&model, &options, &batch);
        for (place, own) in gradient.into_iter().enumerate() {
            let mut at = |shift: f64| {
                model.parameters_mut()[place] += shift;
                let found = loss(&model, &options, &batch).0;
                model.parameters_mut()[place] -= shift;
                found
            };
            let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((slope - own).abs() < 1e-7, "{kind} {place}: {slope} {own}");
        }
    }
}

#[test]
fn steps_without_numbers_and_torn_ones() {
    let model = golden_model(&[]);
    let mut part = golden_part();
    part.step_numbers.fill(f32::NAN);
    let (found, gradient) = loss(&model, &LossOptions::default(), &batch(&part));
    assert!(found == 0.0 && gradient.iter().all(|&slope| slope == 0.0));
    part.step_numbers[2] = 1.0;
    let error = model.loss_and_gradient(
        &batch(&part),
        &LossOptions::default(),
        &mut Workspace::default(),
        &mut vec![0.0; gradient.len()],
    );
    assert!(error.unwrap_err().to_string().contains("numbers of step: found 1"));
}

/// Sequences whose number at each step is `unit * (mean of the last values) + offset`; every fifth step has none.
fn part(count: usize, seed: usize, unit: f32, offset: f32) -> Part {
    let mut part = Part::new(1);
    for sequence in 0..count {
        let value = |place: usize| ((sequence * 31 + place * 17 + seed) % 101) as f32 / 101.0;
        let values: Vec<f32> = (0..8 + sequence % 3).map(value).collect();
        part.push(&values, None, Some(sequence as u32 % 10));
        let mut slow = 0.5;
        for (step, value) in values.iter().enumerate() {
            slow = 0.5 * slow + 0.5 * value;
            let without = step % 5 == 2;
            part.step_numbers
                .push(if without { f32::NAN } else { unit * slow + offset });
        }
    }
    part
}

fn dataset(unit: f32, offset: f32) -> Dataset {
    Dataset {
        name: "slow".to_string(),
        feature_names: vec!["value".to_string()],
        task: Task::StepRegression,
        train: part(80, 0, unit, offset),
        test: Some(part(30, 7, unit, offset)),
        ..Dataset::default()
    }
}

fn settings() -> RunConfig {
    let mut config = RunConfig::defaults("mine.csv");
    config.change_cell("gru").unwrap();
    config.set_in_layers("hidden", &Value::Integer(4)).unwrap();
    config.training.epochs = 15;
    config.training.batch_size = 10;
    config.training.learning_rate = 0.03;
    config.training.input_noise = 0.0;
    config
}

fn trained(dataset: &Dataset, config: &RunConfig, threads: usize) -> Outcome {
    let options = Options {
        threads,
        ..Options::default()
    };
    train::train(dataset, config, &options, &mut ()).unwrap()
}

#[test]
fn a_model_says_numbers_of_steps_in_their_unit_whatever_it_is() {
    let [plain, other] = [(1.0, 0.0), (4000.0, -1e5)].map(|(unit, offset)| {
        let data = dataset(unit, offset);
        let outcome = trained(&data, &settings(), 1);
        let again = SavedModel::from_bytes(Path::new("model"), &outcome.model.to_bytes()).unwrap();
        let said = evaluate::predict_step_numbers(&again, data.test.as_ref().unwrap(), &[]).unwrap();
        (outcome, said)
    });
    assert_eq!(plain.1.len(), 30);
    for (one, two) in plain.1.iter().flatten().zip(other.1.iter().flatten()) {
        assert!((4000.0 * one - 1e5 - two).abs() < 8.0, "{one} {two}");
    }
    let [one, two] = [&plain.0, &other.0].map(|outcome| outcome.report.evaluation.numbers.clone().unwrap());
    assert!(
        one.r2.unwrap() > 0.9 && (one.r2.unwrap() - two.r2.unwrap()).abs() < 1e-3,
        "{one:?} {two:?}"
    );
    // The figures are those of the predictions at the steps that have numbers.
    let data = dataset(4000.0, -1e5);
    let test = data.test.as_ref().unwrap();
    let pairs = other.1.iter().flatten().zip(&test.step_numbers);
    let known = pairs.filter(|(_, number)| !number.is_nan());
    let pairs: Vec<(f64, f64)> = known
        .map(|(&said, &number)| (f64::from(said), f64::from(number)))
        .collect();
    let expected = evaluate::NumberReport::new(&pairs, Some(two.always_mean.clone().unwrap().answer));
    assert_eq!(other.0.report.evaluation.examples, pairs.len());
    assert!((two.root_mean_squared_error - expected.root_mean_squared_error).abs() < 1e-6);
    assert_eq!(two.always_mean, expected.always_mean);
    assert!(two.of_steps && evaluate::predict(&plain.0.model, test).is_err());
}

#[test]
fn threads_the_test_part_and_what_validates_change_no_bit_or_scale() {
    let mut config = settings();
    config.training.epochs = 3;
    let data = dataset(1.0, 0.0);
    let one = trained(&data, &config, 1);
    assert!(one.model.to_bytes() == trained(&data, &config, 3).model.to_bytes());
    let mut other = data.clone();
    let test = other.test.as_mut().unwrap();
    test.step_numbers.iter_mut().for_each(|number| *number = 1e6 - *number);
    assert!(one.model.to_bytes() == trained(&other, &config, 1).model.to_bytes());
    let mut other = data.clone();
    let (_, validation) = ernn::data::split(&other.train, 0.2, config.training.seed).unwrap();
    for sequence in validation {
        let steps = other.train.offsets[sequence]..other.train.offsets[sequence + 1];
        other.train.step_numbers[steps]
            .iter_mut()
            .for_each(|number| *number *= -50.0);
    }
    let with_other = trained(&other, &config, 1);
    assert_eq!(with_other.model.provenance.targets, one.model.provenance.targets);
}

/// Stops a run after so many batches.
struct Stop {
    left: usize,
    stop: Arc<AtomicBool>,
}

impl Observer for Stop {
    fn batch_done(&mut self, _: &BatchProgress) {
        self.left = self.left.saturating_sub(1);
        self.stop.fetch_or(self.left == 0, Ordering::Relaxed);
    }
}

#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_bits() {
    let mut config = settings();
    config.training.epochs = 4;
    let data = dataset(10.0, 5.0);
    let whole = trained(&data, &config, 1);
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        out: Out::At(folder.path().join("run")),
        ..Options::default()
    };
    let mut stop = Stop {
        left: 9,
        stop: options.stop.clone(),
    };
    let stopped = train::train(&data, &config, &options, &mut stop).unwrap();
    assert_eq!(stopped.report.ending, Ending::Interrupted);
    options.stop.store(false, Ordering::Relaxed);
    let run = RunFolder::open(&folder.path().join("run")).unwrap();
    let config = run.read_config().unwrap();
    let resumed = train::resume(&data, &config, run, &options, &mut ()).unwrap();
    assert!(resumed.model.to_bytes() == whole.model.to_bytes());
    assert_eq!(resumed.report.evaluation, whole.report.evaluation);
}
