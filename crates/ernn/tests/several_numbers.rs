//! Several numbers to predict, and quantiles of them: each target has its own scale, and no two quantiles cross.

use std::path::Path;

use ernn::checkpoint::SavedModel;
use ernn::data::{Dataset, Part, Task, View};
use ernn::evaluate::{self, Ensemble, Stream};
use ernn::train::{self, Options, Outcome, RunConfig};
use toml::Value;

/// Sequences of three values; the numbers are their sum, and minus a thousandth of the last plus 5.
fn part(count: usize, seed: usize) -> Part {
    let mut part = Part::new(1);
    for sequence in 0..count {
        let value = |place: usize| ((sequence * 31 + place * 17 + seed) % 101) as f32 / 101.0;
        part.push(&[value(0), value(1), value(2)], None, None);
        part.numbers.push(1000.0 * (value(0) + value(2)));
        part.numbers.push(5.0 - value(2) / 1000.0);
    }
    part
}

fn dataset() -> Dataset {
    Dataset {
        name: "sums".to_string(),
        feature_names: vec!["value".to_string()],
        target_names: vec!["sum".to_string(), "last".to_string()],
        task: Task::Regression,
        train: part(100, 0),
        test: Some(part(40, 7)),
        ..Dataset::default()
    }
}

/// The first target alone.
fn first_alone() -> Dataset {
    let mut data = dataset();
    data.target_names.truncate(1);
    for part in data.parts_mut() {
        part.numbers = part.numbers.iter().step_by(2).copied().collect();
    }
    data
}

fn settings(quantiles: &[f64]) -> RunConfig {
    let mut config = RunConfig::defaults("mine.csv");
    config.change_cell("gru").unwrap();
    config.set_in_layers("hidden", &Value::Integer(4)).unwrap();
    config.training.epochs = 15;
    config.training.batch_size = 10;
    config.training.learning_rate = 0.02;
    config.training.input_noise = 0.0;
    config.training.quantiles = quantiles.to_vec();
    config
}

fn trained(dataset: &Dataset, config: &RunConfig) -> Outcome {
    train::train(dataset, config, &Options::default(), &mut ()).unwrap()
}

#[test]
fn each_of_several_numbers_is_learned_in_its_unit() {
    let data = dataset();
    let outcome = trained(&data, &settings(&[]));
    let model = SavedModel::from_bytes(Path::new("model"), &outcome.model.to_bytes()).unwrap();
    assert_eq!(
        (model.output_names(), model.provenance.targets.len()),
        (data.target_names.clone(), 2)
    );
    let found = outcome.report.evaluation.numbers.unwrap();
    let names: Vec<_> = found
        .targets
        .iter()
        .map(|target| target.name.as_deref().unwrap())
        .collect();
    assert_eq!(names, ["sum", "last"]);
    for target in &found.targets {
        assert!(target.r2.unwrap() > 0.8, "{found:?}");
        assert!(
            (target.always_mean.as_ref().unwrap().answer - target.target_mean).abs() < 3.0 * target.target_deviation
        );
    }
    assert!(found.targets[1].root_mean_squared_error < 2e-4);
    let numbers = evaluate::predict_numbers(&model, data.test.as_ref().unwrap(), &[]).unwrap();
    assert_eq!(numbers.len(), 80);
    assert!(
        numbers
            .chunks(2)
            .all(|row| row[0] > -200.0 && (row[1] - 5.0).abs() < 0.01),
        "{numbers:?}"
    );
    let last = outcome.report.validation_accuracy;
    assert_eq!(last, None);
}

#[test]
fn losses_of_the_scales_have_no_unit() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        out: train::Out::At(folder.path().join("run")),
        ..Options::default()
    };
    train::train(&dataset(), &settings(&[]), &options, &mut ()).unwrap();
    let past = train::PastRun::read(&folder.path().join("run")).unwrap().unwrap();
    let last = past.history.last().unwrap();
    let error = last.validation_root_mean_squared_error.unwrap();
    assert!(last.validation_loss.unwrap() < 1.0 && error > 10.0, "{last:?}");
}

#[test]
fn quantiles_are_learned_in_order() {
    let data = first_alone();
    let quantiles = [0.1, 0.5, 0.9];
    let mut config = settings(&quantiles);
    config.training.epochs = 60;
    let outcome = trained(&data, &config);
    let model = SavedModel::from_bytes(Path::new("model"), &outcome.model.to_bytes()).unwrap();
    assert_eq!(model.output_names(), ["q0.1", "q0.5", "q0.9"]);
    let found = outcome.report.evaluation;
    let report = found.numbers.unwrap();
    let own = report.quantiles.unwrap();
    assert_eq!((found.loss, own.quantiles), (own.mean_pinball_loss, quantiles.to_vec()));
    assert!(
        report.r2.unwrap() > 0.6 && own.coverage.unwrap() > 0.3,
        "{:?} {:?}",
        report.r2,
        own.coverage
    );
    let test = data.test.as_ref().unwrap();
    let numbers = evaluate::predict_numbers(&model, test, &[]).unwrap();
    assert!(numbers.chunks(3).all(|row| row.is_sorted()), "{numbers:?}");
    // What is said of the median is of the second column.
    let errors = numbers
        .chunks(3)
        .zip(&test.numbers)
        .map(|(row, number)| f64::from((row[1] - number).abs()));
    assert!((errors.sum::<f64>() / 40.0 - report.mean_absolute_error).abs() < 1e-3);
    let each = evaluate::number_each(&model, test, &[]).unwrap();
    assert_eq!(each.into_iter().flat_map(Result::unwrap).collect::<Vec<_>>(), numbers);
    let mut stream = Stream::new(&model).unwrap();
    test.sequence(0)
        .iter()
        .for_each(|&value| stream.push(&[value]).unwrap());
    assert_eq!(stream.numbers(), numbers[..3]);
}

#[test]
fn outputs_that_cross_are_put_in_order() {
    let data = first_alone();
    let mut model = trained(&data, &settings(&[0.25, 0.75])).model;
    let rows = model
        .model
        .spans()
        .iter()
        .find(|span| span.name == "readout.bias")
        .unwrap()
        .range();
    let before = evaluate::predict_numbers(&model, &data.train, &[]).unwrap();
    // The lower quantile is lifted above the higher one.
    model.model.parameters_mut()[rows.start] += 1e4;
    let after = evaluate::predict_numbers(&model, &data.train, &[]).unwrap();
    assert!(
        after
            .chunks(2)
            .zip(before.chunks(2))
            .all(|(row, was)| row[0] >= was[0] && row[1] > row[0] + 1e3)
    );
    let both = Ensemble::new(vec![("a".into(), model.clone()), ("b".into(), model.clone())]).unwrap();
    let found = both.number_each(View::of(&data.train), &[]).unwrap();
    assert_eq!(found[3].clone().unwrap(), after[6..8]);
    assert_eq!(
        both.evaluate(&data.train).unwrap().numbers,
        evaluate::evaluate(&model, &data.train).unwrap().numbers
    );
    let other = trained(&data, &settings(&[0.2, 0.75])).model;
    let refused = Ensemble::new(vec![("a".into(), model), ("b".into(), other)])
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("the outputs q0.2, q0.75, expected those of a: q0.25, q0.75"),
        "{refused}"
    );
}

#[test]
fn what_makes_no_quantiles_is_refused() {
    let refused = |quantiles: &[f64], loss: &str| {
        let mut config = settings(quantiles);
        config.training.loss = serde_json::from_str(&format!("\"{loss}\"")).unwrap();
        train::check(&first_alone(), &config).unwrap_err().to_string()
    };
    for quantiles in [&[0.5, 0.1][..], &[0.0], &[1.0], &[0.5, 0.5]] {
        let error = refused(quantiles, "mse");
        assert!(error.contains("expected numbers between 0 and 1"), "{error}");
    }
    let error = refused(&[0.5], "mae");
    assert!(error.contains("loss: found mae beside quantiles"), "{error}");
    let mut alike = dataset();
    alike
        .train
        .numbers
        .iter_mut()
        .skip(1)
        .step_by(2)
        .for_each(|number| *number = 2.0);
    let error = train::check(&alike, &settings(&[])).unwrap_err().to_string();
    assert!(
        error.contains("found the number 2 of last to predict for each of 100 sequences"),
        "{error}"
    );
}
