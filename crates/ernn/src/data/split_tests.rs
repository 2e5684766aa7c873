use proptest::prelude::*;

use super::*;

/// A part of one-step sequences with these classes and groups.
fn part(labels: &[u32], groups: &[u32]) -> Part {
    let mut part = Part::new(1);
    for (sequence, &label) in labels.iter().enumerate() {
        part.push(&[sequence as f32], Some(label), groups.get(sequence).copied());
    }
    part
}

#[test]
fn every_class_gives_its_share() {
    let labels: Vec<u32> = (0..100)
        .map(|sequence| if sequence < 60 { 0 } else { 1 + sequence % 2 })
        .collect();
    let part = part(&labels, &[]);
    let (train, validation) = split(&part, 0.2, 7).unwrap();
    assert_eq!(class_counts(&part.labels, validation.iter().copied()), [12, 4, 4]);
    assert_eq!(train.len(), 80);
    assert!(train.is_sorted() && validation.is_sorted());
    assert_eq!(split(&part, 0.2, 7).unwrap(), (train, validation.clone()));
    assert_ne!(split(&part, 0.2, 8).unwrap().1, validation);
}

#[test]
fn rare_classes_stay_in_training() {
    let part = part(&[0, 1, 2, 2, 2, 2, 2, 2, 2, 2], &[]);
    for seed in 0..20 {
        let (train, validation) = split(&part, 0.3, seed).unwrap();
        assert!(train.contains(&0) && train.contains(&1));
        assert_eq!(validation.len(), 3);
    }
    assert_eq!(split(&part, 0.999, 1).unwrap().0.len(), 3);
}

#[test]
fn tiny_parts() {
    assert_eq!(split(&part(&[0, 0], &[]), 0.2, 1).unwrap().1.len(), 1);
    let error = split(&part(&[0, 1], &[]), 0.2, 1).unwrap_err().to_string();
    assert_eq!(
        error,
        "validation split: no class has two sequences, one to train with and one to validate with; train without one \
         (--validation 0) or give a validation part of its own"
    );
    assert_eq!(split(&part(&[0, 1], &[]), 0.0, 1).unwrap(), (vec![0, 1], vec![]));
    for fraction in [-0.1, 1.0, f64::NAN] {
        let error = split(&part(&[0, 0], &[]), fraction, 1).unwrap_err().to_string();
        assert!(
            error.ends_with("expected a fraction of at least 0 and below 1"),
            "{error}"
        );
    }
}

#[test]
fn unlabelled_parts_are_one_class() {
    let mut part = Part::new(1);
    (0..10).for_each(|_| part.push(&[0.0], None, None));
    assert_eq!(split(&part, 0.3, 1).unwrap().1.len(), 3);
}

#[test]
fn groups_stay_whole_and_come_near_the_share_of_every_class() {
    // 21 people with sizes from 30 to 50, as in UCI HAR, and six classes.
    let (mut labels, mut groups) = (Vec::new(), Vec::new());
    for person in 0..21 {
        for window in 0..6 * (30 + person) {
            labels.push(window % 6);
            groups.push(person);
        }
    }
    let part = part(&labels, &groups);
    for seed in 0..5 {
        let (train, validation) = split(&part, 0.2, seed).unwrap();
        let people = |side: &[usize]| side.iter().map(|&sequence| groups[sequence]).collect::<Vec<_>>();
        let train_people = people(&train);
        assert!(people(&validation).iter().all(|person| !train_people.contains(person)));
        let share = validation.len() as f64 / part.len() as f64;
        assert!((share - 0.2).abs() < 0.01, "seed {seed}: {share}");
        assert_eq!(split(&part, 0.2, seed).unwrap().1, validation);
    }
    assert_ne!(split(&part, 0.2, 1).unwrap(), split(&part, 0.2, 2).unwrap());
}

#[test]
fn a_group_that_alone_has_a_class_stays_in_training() {
    let part = part(&[0, 1, 0, 1, 2, 2], &[0, 0, 1, 1, 2, 2]);
    for seed in 0..10 {
        let (train, validation) = split(&part, 0.3, seed).unwrap();
        assert!(train.contains(&4) && train.contains(&5) && validation.len() == 2);
    }
}

#[test]
fn groups_that_cannot_be_divided_are_refused() {
    let error = split(&part(&[0, 1, 0], &[4, 4, 4]), 0.3, 1).unwrap_err().to_string();
    assert!(error.contains("all sequences belong to one group"), "{error}");
    let error = split(&part(&[0, 0, 1, 1], &[0, 0, 1, 1]), 0.5, 1)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("every group is the only one with sequences of some class"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn every_sequence_goes_to_one_side(
        sequences in prop::collection::vec((0u32..4, 0u32..6), 1..60),
        grouped: bool,
        fraction in 0.0..0.99f64,
        seed: u64,
    ) {
        let labels: Vec<u32> = sequences.iter().map(|&(label, _)| label).collect();
        let groups: Vec<u32> = sequences.iter().map(|&(_, group)| group).filter(|_| grouped).collect();
        let part = part(&labels, &groups);
        if let Ok((train, validation)) = split(&part, fraction, seed) {
            let mut all = [train.clone(), validation.clone()].concat();
            all.sort();
            prop_assert_eq!(all, (0..part.len()).collect::<Vec<_>>());
            prop_assert!(validation.is_empty() == (fraction == 0.0));
            let kept = class_counts(&part.labels, train.iter().copied());
            let there = class_counts(&part.labels, 0..part.len());
            prop_assert!(kept.iter().zip(&there).all(|(&kept, &there)| there == 0 || kept > 0));
            prop_assert!(groups.is_empty()
                || !validation.iter().any(|&a| train.iter().any(|&b| groups[a] == groups[b])));
        }
    }
}
