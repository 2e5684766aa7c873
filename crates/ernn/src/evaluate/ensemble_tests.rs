use super::*;
use crate::cell::{CellConfig, RnnConfig};
use crate::checkpoint::Provenance;
use crate::data::{Derivation, Normalization, Part};
use crate::evaluate;
use crate::model::{Model, ModelConfig};

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// A model of two channels; seeds and normalization differ from member to member.
fn model(seed: u64, task: Task) -> SavedModel {
    let classes = match task {
        Task::Regression => Vec::new(),
        _ => texts(&["a", "b", "c"]),
    };
    let cell = CellConfig::Rnn(RnnConfig {
        hidden: 4,
        ..RnnConfig::default()
    });
    let config = ModelConfig {
        task,
        ..ModelConfig::new(2, classes.len().max(1), vec![cell])
    };
    SavedModel {
        model: Model::new(config, seed).unwrap(),
        derivation: Derivation::default(),
        decision: Default::default(),
        normalization: Normalization {
            mean: vec![0.1 * seed as f32, -0.2],
            ..Normalization::identity(2)
        },
        classes,
        vocabulary: Vec::new(),
        feature_names: texts(&["x", "y"]),
        provenance: Provenance::default(),
    }
}

fn ensemble(seeds: &[u64], task: Task) -> Ensemble {
    let named = seeds.iter().map(|&seed| (format!("run {seed}"), model(seed, task)));
    Ensemble::new(named.collect()).unwrap()
}

/// Sequences of two channels, with classes and numbers.
fn part() -> Part {
    let mut part = Part::new(2);
    for sequence in 0..7_u32 {
        let values: Vec<f32> = (0..2 * (1 + sequence % 4))
            .map(|value| ((value * 5 + sequence * 3) % 11) as f32 / 4.0 - 1.0)
            .collect();
        part.push(&values, Some(sequence % 3), None);
    }
    part.numbers = (0..7).map(|sequence| sequence as f32 / 5.0).collect();
    part
}

#[test]
fn probabilities_and_loss_are_those_of_the_mean() {
    let (all, part) = (ensemble(&[1, 2, 3], Task::Classification), part());
    let found = all.predict_each(&part, &[]).unwrap();
    let each: Vec<Vec<Prediction>> = all
        .members()
        .iter()
        .map(|member| evaluate::predict(member, &part).unwrap())
        .collect();
    let (mut loss, mut right) = (0.0, 0);
    for (sequence, found) in found.iter().enumerate() {
        let found = found.as_ref().unwrap();
        for class in 0..3 {
            let sum: f64 = each.iter().map(|member| member[sequence].probabilities[class]).sum();
            assert!((found.probabilities[class] - sum / 3.0).abs() < 1e-15);
        }
        let label = part.labels[sequence] as usize;
        loss -= found.probabilities[label].ln() / 7.0;
        right += usize::from(found.class == label);
        let highest = found.probabilities.iter().copied().fold(0.0, f64::max);
        assert_eq!(found.probabilities[found.class], highest);
    }
    let evaluation = all.evaluate(&part).unwrap();
    assert!((evaluation.loss - loss).abs() < 1e-12, "{} {loss}", evaluation.loss);
    assert_eq!(evaluation.accuracy, Some(right as f64 / 7.0));
    // The mean is another than the first member's, or the test would see nothing.
    assert!((evaluation.loss - evaluate::evaluate(all.first(), &part).unwrap().loss).abs() > 1e-4);
}

#[test]
fn numbers_are_averaged() {
    let (all, part) = (ensemble(&[1, 2], Task::Regression), part());
    let found = all.number_each(&part, &[]).unwrap();
    let each: Vec<Vec<f32>> = all
        .members()
        .iter()
        .map(|member| evaluate::predict_numbers(member, &part, &[]).unwrap())
        .collect();
    let mut error = 0.0;
    for (sequence, found) in found.into_iter().enumerate() {
        let (found, mean) = (found.unwrap()[0], (each[0][sequence] + each[1][sequence]) / 2.0);
        assert!((found - mean).abs() < 1e-6, "{found} {mean}");
        error += f64::from(found - part.numbers[sequence]).powi(2) / 7.0;
    }
    let evaluation = all.evaluate(&part).unwrap();
    assert!((evaluation.mean_squared_error.unwrap() - error).abs() < 1e-6);
}

#[test]
fn an_ensemble_of_one_is_its_member_to_the_bit() {
    let (one, part) = (ensemble(&[5], Task::Classification), part());
    let answers: Vec<Prediction> = one
        .predict_each(&part, &[])
        .unwrap()
        .into_iter()
        .map(std::result::Result::unwrap)
        .collect();
    assert_eq!(answers, evaluate::predict(one.first(), &part).unwrap());
    assert_eq!(
        one.evaluate(&part).unwrap(),
        evaluate::evaluate(one.first(), &part).unwrap()
    );
    assert!(!one.is_several());
    let number = ensemble(&[5], Task::Regression);
    let found = number.number_each(&part, &[]).unwrap().into_iter();
    let found: Vec<f32> = found.flat_map(std::result::Result::unwrap).collect();
    assert_eq!(found, evaluate::predict_numbers(number.first(), &part, &[]).unwrap());
}

#[test]
fn a_temperature_softens_each_member_before_the_mean() {
    let (all, part) = (ensemble(&[1, 2], Task::Classification), part());
    let view = View::of(&part);
    let plain = all.softened(&view, 1.0).unwrap();
    for (sequence, answer) in all.predict_each(&part, &[]).unwrap().into_iter().enumerate() {
        for (class, probability) in answer.unwrap().probabilities.into_iter().enumerate() {
            assert!((f64::from(plain[3 * sequence + class]) - probability).abs() < 1e-6);
        }
    }
    // softmax(l / 2) is the square roots of the probabilities, made to sum to 1.
    let soft = all.softened(&view, 2.0).unwrap();
    let each = all
        .members()
        .iter()
        .map(|member| evaluate::predict(member, &part).unwrap());
    let roots: Vec<Vec<f64>> = each.map(|member| root(&member[4].probabilities)).collect();
    for class in 0..3 {
        let expected = (roots[0][class] + roots[1][class]) / 2.0;
        assert!((f64::from(soft[3 * 4 + class]) - expected).abs() < 1e-6);
    }
    assert!(ensemble(&[1], Task::Regression).softened(&view, 1.0).is_err());
}

fn root(probabilities: &[f64]) -> Vec<f64> {
    let sum: f64 = probabilities.iter().map(|probability| probability.sqrt()).sum();
    probabilities
        .iter()
        .map(|probability| probability.sqrt() / sum)
        .collect()
}

#[test]
fn the_loss_of_a_probability_too_small_for_a_number_is_finite() {
    let found = mean_loss([2000.0, 2000.0].into_iter());
    assert!((found - 2000.0).abs() < 1e-9, "{found}");
    let found = mean_loss([0.5f64.ln().abs(), 2000.0].into_iter());
    assert!((found - 4f64.ln()).abs() < 1e-12, "{found}");
}

#[test]
fn a_sequence_that_one_member_cannot_answer_has_no_answer() {
    let mut large = model(2, Task::Classification);
    large.model.parameters_mut().fill(3e38);
    let named = vec![
        ("good".to_string(), model(1, Task::Classification)),
        ("large".to_string(), large),
    ];
    let all = Ensemble::new(named).unwrap();
    let part = part();
    let answers = all.predict_each(&part, &[]).unwrap();
    assert!(
        answers
            .iter()
            .any(|answer| answer.as_ref().is_err_and(|why| why.contains("found an output of")))
    );
    assert!(all.evaluate(&part).is_err());
}

#[test]
fn models_of_other_answers_are_refused_by_name() {
    let refusal = |change: fn(&mut SavedModel)| {
        let mut other = model(2, Task::Classification);
        change(&mut other);
        let named = vec![
            ("first".to_string(), model(1, Task::Classification)),
            ("second".to_string(), other),
        ];
        Ensemble::new(named).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(|other| other.classes = texts(&["a", "c", "b"])),
        "second: found the classes a, c, b, expected those of first: a, b, c"
    );
    assert_eq!(
        refusal(|other| other.feature_names = texts(&["y", "x"])),
        "second: found the channels y, x, expected those of first: x, y"
    );
    assert_eq!(
        refusal(|other| *other = model(2, Task::Regression)),
        "second: found a model that gives a number for a sequence, expected one that gives classes of sequences, as first"
    );
    let steps = || ("steps".to_string(), model(1, Task::StepClassification));
    let error = Ensemble::new(vec![steps(), steps()]).unwrap_err().to_string();
    assert!(
        error.starts_with("steps: found a model that gives a class at every step"),
        "{error}"
    );
    assert!(Ensemble::new(vec![steps()]).is_ok());
    assert!(Ensemble::new(Vec::new()).is_err());
}

#[test]
fn what_is_not_there_or_not_complete_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e");
    let load = |path: &Path| Ensemble::load(&[path.to_path_buf()]);
    let error = load(&path).unwrap_err().to_string();
    assert!(error.contains("found no model, expected a run folder"), "{error}");
    let mut written = EnsembleFolder {
        members: 2,
        complete: false,
    };
    written.write(&path).unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(
        error.contains("whose training has not ended") && error.contains("--resume"),
        "{error}"
    );
    written.complete = true;
    written.write(&path).unwrap();
    for number in 1..=2 {
        let error = load(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("member-{number}: found no model")), "{error}");
        let member = EnsembleFolder::member(&path, number);
        std::fs::create_dir(&member).unwrap();
        let saved = model(number as u64, Task::Classification);
        saved.save(&member.join(MODEL_FILE)).unwrap();
    }
    let all = load(&path).unwrap();
    assert_eq!(all.members().len(), 2);
    assert_eq!(all.parameters(), 2 * all.first().model.parameters().len());
    assert_eq!(all.size_kb(), 2.0 * all.first().size_kb());
    // A folder and a file together.
    let both = Ensemble::load(&[path.clone(), EnsembleFolder::member(&path, 1)]).unwrap();
    assert_eq!(both.names().len(), 3);
    assert!(both.checksum() != all.checksum() && all.checksum() == load(&path).unwrap().checksum());
}
