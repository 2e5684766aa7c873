use super::*;
use crate::data::{Preparation, open};

fn opened(name: &str, preparation: Preparation) -> Result<Dataset> {
    open(
        name,
        &OpenOptions {
            preparation,
            ..OpenOptions::default()
        },
    )
}

fn small(length: usize) -> Preparation {
    Preparation {
        length: Some(length),
        sequences: Some(200),
        ..Preparation::default()
    }
}

#[test]
fn the_target_is_the_sum_of_the_marked_values_one_of_each_half() {
    let data = opened("adding", small(31)).unwrap();
    assert_eq!(
        (data.task, data.train.len(), data.test.as_ref().unwrap().len()),
        (Task::Regression, 200, 20)
    );
    for sequence in 0..200 {
        let steps: Vec<&[f32]> = data.train.sequence(sequence).chunks(2).collect();
        let marked: Vec<usize> = (0..31).filter(|&step| steps[step][1] == 1.0).collect();
        assert!(
            steps
                .iter()
                .all(|step| (0.0..1.0).contains(&step[0]) && (step[1] == 0.0 || step[1] == 1.0))
        );
        assert!(
            matches!(marked[..], [first, second] if first < 15 && second >= 15),
            "{marked:?}"
        );
        assert_eq!(
            data.train.numbers[sequence],
            marked.iter().map(|&step| steps[step][0]).sum::<f32>()
        );
    }
}

#[test]
fn targets_of_adding_are_distributed_as_sums_of_two_uniform_numbers() {
    let preparation = Preparation {
        sequences: Some(20_000),
        ..small(2)
    };
    let numbers = opened("adding", preparation).unwrap().train.numbers;
    let mean = numbers.iter().sum::<f32>() / 20_000.0;
    let variance = numbers.iter().map(|number| (number - 1.0).powi(2)).sum::<f32>() / 20_000.0;
    assert!(
        (mean - 1.0).abs() < 0.015 && (variance - 1.0 / 6.0).abs() < 0.007,
        "{mean} {variance}"
    );
}

#[test]
fn symbols_come_back_after_the_delimiter() {
    let data = opened("copy-memory", small(30)).unwrap();
    assert_eq!(
        (data.task, data.train.longest(), data.classes.len()),
        (Task::StepClassification, 50, 9)
    );
    let mut seen = [0; SYMBOLS as usize];
    for sequence in 0..200 {
        let categories: Vec<u32> = data.train.sequence(sequence).chunks(CATEGORIES).map(hot).collect();
        let labels = &data.train.step_labels[50 * sequence..][..50];
        categories[..10].iter().for_each(|&symbol| seen[symbol as usize] += 1);
        assert_eq!(categories[..10], labels[40..]);
        assert!(labels[..40].iter().all(|&label| label == BLANK));
        assert_eq!(categories[39], DELIMITER);
        assert!(
            categories[10..39]
                .iter()
                .chain(&categories[40..])
                .all(|&category| category == BLANK)
        );
    }
    assert!(seen.iter().all(|&count| (190..310).contains(&count)), "{seen:?}");
}

/// The category of a one-hot step.
fn hot(step: &[f32]) -> u32 {
    assert_eq!(step.iter().sum::<f32>(), 1.0);
    step.iter().position(|&value| value == 1.0).unwrap() as u32
}

#[test]
fn the_same_seed_gives_the_same_sequences_however_many() {
    for task in ["adding", "copy-memory"] {
        let few = opened(task, small(20)).unwrap();
        let more = opened(
            task,
            Preparation {
                sequences: Some(300),
                ..small(20)
            },
        )
        .unwrap();
        assert_eq!(few.train.sequence(199), more.train.sequence(199), "{task}");
        let other = opened(
            task,
            Preparation {
                data_seed: 2,
                ..small(20)
            },
        )
        .unwrap();
        assert_ne!(few.train, other.train, "{task}");
        assert_ne!(few.train.sequence(0), few.test.unwrap().sequence(0), "{task}");
    }
}

#[test]
fn the_first_numbers_of_seed_1_stay_what_they_are() {
    // ChaCha8 written anew in Python: the first words of the key "adding", 1, 0.
    let data = opened("adding", small(4)).unwrap();
    let words = [2_027_232_735u32, 3_519_302_917, 2_214_771_312, 2_104_413_846];
    let values: Vec<f32> = data.train.sequence(0).iter().copied().step_by(2).collect();
    assert_eq!(values, words.map(|word| (word >> 8) as f32 / 16_777_216.0));
}

#[test]
fn a_length_in_the_name() {
    assert_eq!(split_name("adding-750"), ("adding", Some(750)));
    for name in ["adding-", "adding-x", "digits-7", "adding"] {
        assert_eq!(split_name(name), (name, None));
    }
    let data = opened(
        "copy-memory-40",
        Preparation {
            sequences: Some(3),
            ..Preparation::default()
        },
    )
    .unwrap();
    assert_eq!(
        (data.name.as_str(), data.train.longest(), data.test.unwrap().len()),
        ("copy-memory-40", 60, 1)
    );
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    let error = |name, preparation| opened(name, preparation).unwrap_err().to_string();
    assert_eq!(
        error("adding-8", small(9)),
        "length: found 9, expected 8 as in the name, or a name without a length"
    );
    assert_eq!(error("adding", small(1)), "length: found 1, expected 2 to 10737418");
    assert!(error("copy-memory", small(0)).starts_with("length: found 0, expected 1 to "));
    let many = Preparation {
        sequences: Some(usize::MAX),
        ..Preparation::default()
    };
    assert_eq!(
        error("adding", many),
        format!("sequences: found {}, expected 1 to 1342177", usize::MAX)
    );
    assert!(
        error(
            "adding",
            Preparation {
                sequences: Some(0),
                ..small(5)
            }
        )
        .starts_with("sequences: found 0, ")
    );
}
