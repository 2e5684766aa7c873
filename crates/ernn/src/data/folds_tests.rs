use proptest::prelude::*;

use super::*;

/// Sequences of one number each, all different.
fn part(labels: &[u32], groups: &[u32]) -> Part {
    let mut part = Part::new(1);
    for (index, &label) in labels.iter().enumerate() {
        part.push(&[index as f32], Some(label), groups.get(index).copied());
    }
    part
}

fn counts(part: &Part, fold: &[usize], classes: u32) -> Vec<usize> {
    let of = |class: u32| fold.iter().filter(|&&sequence| part.labels[sequence] == class).count();
    (0..classes).map(of).collect()
}

#[test]
fn single_sequences_are_spread_evenly_within_each_class() {
    let labels: Vec<u32> = (0..53)
        .map(|index| u32::from(index % 5 == 0) + u32::from(index % 11 == 0))
        .collect();
    let part = part(&labels, &[]);
    let cut = folds(&part, Scheme::Number(5), 1).unwrap();
    let total = counts(&part, &(0..53).collect::<Vec<_>>(), 3);
    for fold in &cut.held_out {
        for (held, total) in counts(&part, fold, 3).into_iter().zip(&total) {
            assert!(held == total / 5 || held == total.div_ceil(5), "{held} of {total}");
        }
        assert!((10..=12).contains(&fold.len()), "{}", fold.len());
    }
    assert_eq!(folds(&part, Scheme::Number(5), 1).unwrap(), cut);
    assert_ne!(folds(&part, Scheme::Number(5), 2).unwrap(), cut);
}

proptest! {
    #[test]
    fn every_sequence_is_held_out_once_and_groups_stay_whole(
        sequences in prop::collection::vec((0..3_u32, 0..12_u32), 4..120), number in 2..6_usize, seed in 0..100_u64
    ) {
        let (labels, groups): (Vec<u32>, Vec<u32>) = sequences.into_iter().unzip();
        let part = part(&labels, &groups);
        let Ok(cut) = folds(&part, Scheme::Number(number), seed) else { return Ok(()) };
        prop_assert_eq!(cut.held_out.len(), number);
        let mut all: Vec<usize> = cut.held_out.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..part.len()).collect::<Vec<_>>());
        for (index, fold) in cut.held_out.iter().enumerate() {
            prop_assert!(!fold.is_empty());
            let rest = cut.rest(index);
            prop_assert_eq!(rest.len() + fold.len(), part.len());
            prop_assert!(fold.iter().all(|&held| rest.iter().all(|&other| groups[other] != groups[held])));
        }
    }
}

#[test]
fn each_group_is_a_fold() {
    let part = part(&[0, 1, 0, 1, 0], &[7, 3, 7, 9, 3]);
    let cut = folds(&part, Scheme::Groups, 1).unwrap();
    assert_eq!(cut.held_out, [vec![0, 2], vec![1, 4], vec![3]]);
    assert_eq!(cut.rest(1), [0, 2, 3]);
}

#[test]
fn copies_of_a_sequence_stay_together() {
    let mut part = Part::new(2);
    for index in 0..40 {
        let value = (index % 8) as f32;
        part.push(&[value, 1.0, 2.0, 3.0], Some(u32::from(index % 8 > 3)), None);
    }
    let cut = folds(&part, Scheme::Number(4), 1).unwrap();
    assert_eq!((cut.copies, cut.torn), (32, 0));
    for fold in &cut.held_out {
        assert_eq!(fold.len(), 10);
        assert!(
            (0..40)
                .filter(|index| fold.contains(&(index % 8)))
                .all(|index| fold.contains(&index))
        );
    }
    assert!(folds(&part, Scheme::Number(9), 1).is_err(), "eight different ones");
    // Copies in different groups are counted.
    part.groups = (0..40).map(|index| index / 20).collect();
    assert_eq!(folds(&part, Scheme::Groups, 1).unwrap().torn, 20);
}

#[test]
fn refusals_say_what_there_is() {
    let error = |part: &Part, scheme| folds(part, scheme, 1).unwrap_err().to_string();
    let plain = part(&[0, 1, 0], &[]);
    assert!(error(&plain, Scheme::Groups).contains("--folds: found groups, expected data that names the group"));
    assert!(error(&plain, Scheme::Number(4)).contains("at most 3, as there are different sequences"));
    let one = part(&[0, 1, 0], &[4, 4, 4]);
    assert!(error(&one, Scheme::Groups).contains("at least two groups"));
    assert!(error(&one, Scheme::Number(2)).contains("at most 1, as there are groups"));
}

#[test]
fn schemes_read_and_write_their_text() {
    for scheme in [Scheme::Number(5), Scheme::Groups] {
        assert_eq!(scheme.to_string().parse(), Ok(scheme));
    }
    for text in ["1", "0", "1001", "-3", "group", ""] {
        assert!(text.parse::<Scheme>().unwrap_err().contains("2 to 1000"), "{text}");
    }
}
