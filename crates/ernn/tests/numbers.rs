//! Numbers to predict: the scale comes from the sequences to train on alone and ends in the readout, so that all that is said is in the
//! numbers' own unit.

use std::path::Path;

use ernn::checkpoint::SavedModel;
use ernn::data::{self, Dataset, Part, Scheme, TargetScale, Task, View};
use ernn::evaluate;
use ernn::folds::{self, Ended, Request};
use ernn::head::NumberLoss;
use ernn::train::{self, Options, Out, Outcome, RunConfig};
use toml::Value;

/// Sequences whose number is `unit * (first + last value) + offset`.
fn part(count: usize, seed: usize, unit: f32, offset: f32) -> Part {
    let mut part = Part::new(1);
    for sequence in 0..count {
        let value = |place: usize| ((sequence * 31 + place * 17 + seed) % 101) as f32 / 101.0;
        part.push(&[value(0), value(1), value(2)], None, Some(sequence as u32 % 10));
        part.numbers.push(unit * (value(0) + value(2)) + offset);
    }
    part
}

fn dataset(unit: f32, offset: f32) -> Dataset {
    Dataset {
        name: "sums".to_string(),
        feature_names: vec!["value".to_string()],
        task: Task::Regression,
        train: part(100, 0, unit, offset),
        test: Some(part(40, 7, unit, offset)),
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
    config.training.input_noise = 0.0;
    config
}

fn trained(dataset: &Dataset, config: &RunConfig) -> Outcome {
    train::train(dataset, config, &Options::default(), &mut ()).unwrap()
}

fn said(model: &SavedModel, part: &Part) -> Vec<f32> {
    evaluate::predict_numbers(model, part, &[]).unwrap()
}

#[test]
fn a_model_says_numbers_in_their_unit_whatever_it_is() {
    let [plain, other] = [(1.0, 0.0), (4000.0, -1e5)].map(|(unit, offset)| {
        let data = dataset(unit, offset);
        let outcome = trained(&data, &settings());
        let again = SavedModel::from_bytes(Path::new("model"), &outcome.model.to_bytes()).unwrap();
        let numbers = said(&again, data.test.as_ref().unwrap());
        assert_eq!(numbers, said(&outcome.model, data.test.as_ref().unwrap()));
        (outcome, numbers)
    });
    for (one, two) in plain.1.iter().zip(&other.1) {
        assert!((4000.0 * one - 1e5 - two).abs() < 4.0, "{one} {two}");
    }
    let [one, two] = [&plain.0, &other.0].map(|outcome| outcome.report.evaluation.numbers.clone().unwrap());
    assert!(
        (one.r2.unwrap() - two.r2.unwrap()).abs() < 1e-3 && one.r2.unwrap() > 0.8,
        "{one:?} {two:?}"
    );
    assert!((4000.0 * one.mean_absolute_error / two.mean_absolute_error - 1.0).abs() < 0.02);
    // Beside them the answer of who knows nothing: the mean of the sequences that were trained on.
    let data = dataset(4000.0, -1e5);
    let (fit, _) = data::split(&data.train, 0.2, settings().training.seed).unwrap();
    let scale = TargetScale::fit(&View::chosen(&data.train, &fit)).unwrap()[0];
    assert_eq!(other.0.model.provenance.targets, [scale]);
    let always = two.always_mean.unwrap();
    assert_eq!(always.answer, scale.mean);
    let errors = data
        .test
        .as_ref()
        .unwrap()
        .numbers
        .iter()
        .map(|&number| (f64::from(number) - scale.mean).abs());
    assert!((always.mean_absolute_error - errors.sum::<f64>() / 40.0).abs() < 1e-6);
}

#[test]
fn numbers_of_test_and_validation_part_have_no_influence_on_the_scale() {
    let plain = trained(&dataset(1.0, 0.0), &settings());
    let mut other = dataset(1.0, 0.0);
    other
        .test
        .as_mut()
        .unwrap()
        .numbers
        .iter_mut()
        .for_each(|number| *number = 1e6 - *number);
    let with_other_test = trained(&other, &settings());
    assert!(with_other_test.model.to_bytes() == plain.model.to_bytes());
    let mut config = settings();
    config.training.epochs = 1;
    let plain = trained(&dataset(1.0, 0.0), &config);
    let mut other = dataset(1.0, 0.0);
    let (_, validation) = data::split(&other.train, 0.2, config.training.seed).unwrap();
    validation
        .iter()
        .for_each(|&sequence| other.train.numbers[sequence] *= -50.0);
    let with_other_validation = trained(&other, &config);
    assert_eq!(
        with_other_validation.model.provenance.targets,
        plain.model.provenance.targets
    );
    assert!(with_other_validation.model.model.parameters() == plain.model.model.parameters());
}

#[test]
fn numbers_that_a_fold_holds_out_do_not_reach_its_model() {
    let model = |dataset: &Dataset| {
        let out = tempfile::tempdir().unwrap();
        let mut config = settings();
        config.training.epochs = 2;
        let request = Request {
            scheme: Scheme::Groups,
            final_model: false,
        };
        let options = Options {
            out: Out::At(out.path().join("run")),
            ..Options::default()
        };
        let ended = folds::train(dataset, &config, request, &options, &mut (), &mut ()).unwrap();
        let Ended::Done(report) = ended else {
            panic!("it was not stopped")
        };
        let first = SavedModel::load(&out.path().join("run/folds/1")).unwrap();
        let predictions = std::fs::read_to_string(out.path().join("run/folds/predictions.csv")).unwrap();
        (first, report, predictions)
    };
    let plain = dataset(1.0, 0.0);
    let (one, report, predictions) = model(&plain);
    let mut other = plain.clone();
    let held_out = data::folds(&plain.train, Scheme::Groups, 1)
        .unwrap()
        .held_out
        .swap_remove(0);
    held_out
        .iter()
        .for_each(|&sequence| other.train.numbers[sequence] += 1e4);
    let (same, ..) = model(&other);
    assert_eq!(one.provenance.targets, same.provenance.targets);
    assert!(one.model.parameters() == same.model.parameters());
    // The pooled errors are those of the predictions that each sequence got from the model that had not seen it.
    let pooled = report.folds.as_ref().unwrap().pooled.clone();
    let pairs: Vec<(f64, f64)> = predictions
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
            (fields[4], fields[3])
        })
        .collect();
    let expected = evaluate::NumberReport::new(&pairs, None);
    let found = pooled.numbers.unwrap();
    assert_eq!((pooled.examples, pairs.len()), (100, 100));
    assert!((found.mean_absolute_error - expected.mean_absolute_error).abs() < 1e-9);
    assert!(
        (found.r2.unwrap() - expected.r2.unwrap()).abs() < 1e-9,
        "{found:?} {expected:?}"
    );
    let groups = &report.folds.as_ref().unwrap().groups;
    let errors: Vec<f64> = groups.iter().filter_map(|group| group.mean_absolute_error).collect();
    assert!(
        errors.len() == 10 && errors.is_sorted_by(|one, other| one >= other),
        "{groups:?}"
    );
    assert!(found.always_mean.unwrap().root_mean_squared_error > 0.0);
}

#[test]
fn each_loss_learns_and_the_best_epoch_is_that_of_the_lowest_validation_loss() {
    for loss in [NumberLoss::Mse, NumberLoss::Mae, NumberLoss::Huber] {
        let mut config = settings();
        config.training.loss = loss;
        config.training.epochs = 40;
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            out: Out::At(folder.path().join("run")),
            ..Options::default()
        };
        let outcome = train::train(&dataset(10.0, 5.0), &config, &options, &mut ()).unwrap();
        assert!(
            outcome.report.evaluation.numbers.as_ref().unwrap().r2.unwrap() > 0.8,
            "{loss:?}"
        );
        let past = train::PastRun::read(&folder.path().join("run")).unwrap().unwrap();
        let lowest = past
            .history
            .iter()
            .min_by(|one, other| one.validation_loss.partial_cmp(&other.validation_loss).unwrap());
        assert_eq!(lowest.unwrap().epoch, past.best_epoch);
        let last = past.history.last().unwrap();
        let unit = outcome.model.provenance.targets[0].deviation;
        let (loss_there, error) = (
            last.validation_loss.unwrap(),
            last.validation_root_mean_squared_error.unwrap(),
        );
        if loss == NumberLoss::Mse {
            assert!((loss_there.sqrt() * unit - error).abs() < 1e-9);
        } else {
            assert!(loss_there * unit < error);
        }
    }
}

#[test]
fn a_run_begins_with_a_model_of_numbers_where_that_one_ended() {
    let folder = tempfile::tempdir().unwrap();
    let data = dataset(40.0, 300.0);
    let first = trained(&data, &settings());
    let path = folder.path().join("model.safetensors");
    first.model.save(&path).unwrap();
    let mut config = settings();
    config.training.from = Some(path);
    config.training.epochs = 1;
    config.training.learning_rate = 1e-12;
    config.training.average = 0.0;
    let again = trained(&data, &config);
    let test = data.test.as_ref().unwrap();
    for (one, two) in said(&first.model, test).iter().zip(said(&again.model, test)) {
        assert!((one - two).abs() < 1e-2, "{one} {two}");
    }
}

#[test]
fn numbers_that_are_all_alike_are_refused() {
    let mut data = dataset(1.0, 0.0);
    data.train.numbers.fill(3.5);
    let error = train::train(&data, &settings(), &Options::default(), &mut ())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "sums: found the number 3.5 to predict for each of 100 sequences, expected numbers that differ"
    );
}
