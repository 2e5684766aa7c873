use proptest::prelude::*;

use super::*;
use crate::data::Part;

fn part(lengths: &[usize], features: usize) -> Part {
    let mut part = Part::new(features);
    for (sequence, &length) in lengths.iter().enumerate() {
        let values: Vec<f32> = (0..length * features)
            .map(|at| (1000 * sequence + at) as f32 + 0.5)
            .collect();
        part.push(&values, Some(sequence as u32 % 3), None);
    }
    part
}

fn steps_with_padding(part: &Part, batches: &[Vec<usize>]) -> usize {
    let longest = |batch: &Vec<usize>| batch.iter().map(|&sequence| part.length(sequence)).max().unwrap_or(0);
    batches.iter().map(|batch| longest(batch) * batch.len()).sum()
}

#[test]
fn plans_repeat_for_a_seed_and_epoch_and_differ_otherwise() {
    let part = part(&[3; 200], 1);
    assert_eq!(
        plan(&View::of(&part), 32, Some((1, 2))),
        plan(&View::of(&part), 32, Some((1, 2)))
    );
    assert_ne!(
        plan(&View::of(&part), 32, Some((1, 2))),
        plan(&View::of(&part), 32, Some((1, 3)))
    );
    assert_ne!(
        plan(&View::of(&part), 32, Some((1, 2))),
        plan(&View::of(&part), 32, Some((2, 2)))
    );
    assert_eq!(
        plan(&View::of(&part), 150, None),
        [(0..150).collect::<Vec<_>>(), (150..200).collect()]
    );
    assert!(plan(&View::of(&Part::default()), 4, None).is_empty());
}

#[test]
fn similar_lengths_go_together() {
    let data = crate::data::open("japanese-vowels", &Default::default()).unwrap();
    let part = &data.train;
    for epoch in 0..5 {
        let steps = steps_with_padding(part, &plan(&View::of(part), 32, Some((9, epoch))));
        let waste = steps as f64 / part.steps() as f64 - 1.0;
        assert!(waste < 0.15, "epoch {epoch}: {waste}");
    }
    assert!(steps_with_padding(part, &plan(&View::of(part), 32, None)) * 100 < part.steps() * 115);
}

#[test]
fn what_a_teacher_says_goes_with_its_sequence() {
    let part = part(&[2, 5, 1, 3], 2);
    let all: Vec<f32> = (0..4 * 3).map(|value| value as f32).collect();
    let mut batch = Batch::<f32>::new();
    for indices in [&[3, 0, 2][..], &[1]] {
        batch.fill(&View::of(&part), indices, None);
        assert!(batch.soft_targets.is_empty(), "of the batch before");
        batch.teach(&all, 3);
        let expected: Vec<f32> = indices
            .iter()
            .flat_map(|&index| all[3 * index..3 * index + 3].to_vec())
            .collect();
        assert_eq!(batch.soft_targets, expected);
    }
}

#[test]
fn a_batch_holds_values_targets_and_zero_padding() {
    let part = part(&[2, 5, 1, 3], 2);
    for isa in Isa::available() {
        let mut batch = Batch::<f64>::for_isa(isa);
        batch.fill(&View::of(&part), &[1, 0, 2, 3, 1], None);
        batch.fill(&View::of(&part), &[3, 1], None);
        assert_eq!(batch.indices, [3, 1]);
        assert_eq!(batch.targets, [0, 1]);
        assert_eq!(batch.inputs.lengths(), [3, 5]);
        let values = batch.inputs.to_time_major();
        for step in 0..5 {
            for (slot, &index) in batch.indices.iter().enumerate() {
                for feature in 0..2 {
                    let found = values[(step * 2 + slot) * 2 + feature];
                    let expected = part.sequence(index).get(step * 2 + feature).copied().unwrap_or(0.0);
                    assert_eq!(found, f64::from(expected));
                }
            }
        }
    }
}

#[test]
fn unlabelled_parts_give_no_targets() {
    let mut part = Part::new(1);
    part.push(&[1.0], None, None);
    let mut batch = Batch::<f32>::new();
    batch.fill(&View::of(&part), &[0, 0], None);
    assert!(batch.targets.is_empty() && batch.inputs.sequences() == 2);
}

const NOISE: Noise = Noise {
    deviation: 0.5,
    offset: 0.0,
    gain: 0.0,
    seed: 3,
    epoch: 4,
};

/// The values of the sequence in a slot.
fn sequence(batch: &Batch<f32>, slot: usize) -> Vec<f32> {
    let mut values = vec![0.0; batch.inputs.lengths()[slot] * batch.inputs.features()];
    for (step, row) in values.chunks_exact_mut(batch.inputs.features()).enumerate() {
        batch.inputs.read_step(slot, step, row);
    }
    values
}

#[test]
fn noise_depends_on_seed_epoch_and_sequence_alone() {
    let part = part(&[4, 7, 2], 3);
    let filled = |indices: &[usize], noise| {
        let mut batch = Batch::<f32>::new();
        batch.fill(&View::of(&part), indices, Some(noise));
        batch
    };
    let alone = sequence(&filled(&[1], NOISE), 0);
    assert_eq!(sequence(&filled(&[2, 0, 1], NOISE), 2), alone);
    assert_ne!(alone, part.sequence(1));
    assert_ne!(sequence(&filled(&[1], Noise { epoch: 5, ..NOISE }), 0), alone);
    assert_ne!(sequence(&filled(&[1], Noise { seed: 4, ..NOISE }), 0), alone);
    let silent = Noise {
        deviation: 0.0,
        ..NOISE
    };
    assert_eq!(sequence(&filled(&[1], silent), 0), part.sequence(1));
    let padded = filled(&[1, 2], NOISE).inputs.to_time_major();
    assert!((2..7).all(|step| padded[(step * 2 + 1) * 3..][..3] == [0.0; 3]));
}

#[test]
fn noise_is_standard_normal_times_the_deviation() {
    let mut part = Part::new(10);
    (0..200).for_each(|_| part.push(&[0.0; 1000], None, None));
    let mut batch = Batch::<f32>::new();
    batch.fill(&View::of(&part), &(0..200).collect::<Vec<_>>(), Some(NOISE));
    let values: Vec<f64> = (0..200)
        .flat_map(|slot| sequence(&batch, slot))
        .map(|value| f64::from(value) / 0.5)
        .collect();
    let moment = |power| values.iter().map(|value: &f64| value.powi(power)).sum::<f64>() / values.len() as f64;
    for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
        assert!(
            (moment(power) - expected).abs() < 0.05,
            "moment {power}: {}",
            moment(power)
        );
    }
    let neighbours = values.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / values.len() as f64;
    let sequences = values.iter().zip(&values[1000..]).map(|(a, b)| a * b).sum::<f64>() / values.len() as f64;
    assert!(neighbours.abs() < 0.02 && sequences.abs() < 0.02);
}

proptest! {
    #[test]
    fn no_sequence_is_lost_or_doubled(
        lengths in prop::collection::vec(1usize..20, 0..150),
        batch_size in 1usize..40,
        shuffle: Option<(u64, usize)>,
    ) {
        let part = part(&lengths, 1);
        let batches = plan(&View::of(&part), batch_size, shuffle);
        prop_assert_eq!(batches.len(), lengths.len().div_ceil(batch_size));
        prop_assert!(batches.iter().filter(|batch| batch.len() < batch_size).count() <= 1);
        let mut all = batches.concat();
        all.sort();
        prop_assert_eq!(all, (0..lengths.len()).collect::<Vec<_>>());
    }
}

#[test]
fn an_offset_is_one_for_all_steps_of_a_channel() {
    let part = part(&[4, 7, 2], 3);
    let shift = |indices: &[usize], slot| {
        let mut batch = Batch::<f32>::new();
        let noise = Noise {
            deviation: 0.0,
            offset: 0.5,
            ..NOISE
        };
        batch.fill(&View::of(&part), indices, Some(noise));
        let values = sequence(&batch, slot);
        let clean = part.sequence(indices[slot]);
        values
            .iter()
            .zip(clean)
            .map(|(value, clean)| value - clean)
            .collect::<Vec<f32>>()
    };
    let alone = shift(&[1], 0);
    assert_eq!(shift(&[2, 0, 1], 2), alone);
    assert!(
        alone
            .chunks(3)
            .all(|step| step.iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-4))
    );
    assert!(alone[0] != alone[1] && alone[0] != shift(&[0], 0)[0]);
}

#[test]
fn a_gain_is_one_positive_factor_for_all_steps_of_a_channel() {
    let part = part(&[4, 7, 2], 3);
    let factors = |indices: &[usize], slot| {
        let mut batch = Batch::<f32>::new();
        let noise = Noise {
            deviation: 0.0,
            gain: 0.5,
            ..NOISE
        };
        batch.fill(&View::of(&part), indices, Some(noise));
        let values = sequence(&batch, slot);
        let clean = part.sequence(indices[slot]).iter();
        let pairs = values.iter().zip(clean).enumerate();
        // A value of 0 says nothing.
        let known = pairs.filter(|(_, (_, clean))| **clean != 0.0);
        known
            .map(|(place, (value, clean))| (place % 3, value / clean))
            .collect::<Vec<_>>()
    };
    let alone = factors(&[1], 0);
    assert_eq!(factors(&[2, 0, 1], 2), alone);
    let first = |channel| alone.iter().find(|(own, _)| *own == channel).unwrap().1;
    for (channel, factor) in &alone {
        assert!(
            *factor > 0.0 && (factor / first(*channel) - 1.0).abs() < 1e-5,
            "{alone:?}"
        );
    }
    assert!((first(0) - first(1)).abs() > 1e-3, "{alone:?}");
}

#[test]
fn streams_of_a_text_are_followed_by_their_targets() {
    let text: Vec<u32> = (0..32).collect();
    let streams = Streams::new(text.len(), 3, 4);
    assert_eq!((streams.steps, streams.batches()), (10, 3));
    let mut batch = Batch::<f32>::new();
    batch.fill_text(&text, &streams, 1);
    assert_eq!(batch.tokens, [4, 5, 6, 7, 14, 15, 16, 17, 24, 25, 26, 27]);
    assert!(
        batch
            .targets
            .iter()
            .zip(&batch.tokens)
            .all(|(target, token)| target - 1 == *token)
    );
    batch.fill_text(&text, &streams, 2);
    assert_eq!(batch.tokens, [8, 9, 18, 19, 28, 29]);
    assert_eq!(
        (batch.inputs.lengths(), &batch.indices[..]),
        (&[2; 3][..], &[6, 7, 8][..])
    );
    let alone = Streams::new(32, 1, 300);
    assert_eq!((alone.steps, alone.batches(), Streams::new(2, 8, 5).count), (31, 1, 1));
}

#[test]
fn tokens_and_step_labels_go_into_the_batch_as_they_are() {
    let mut part = Part::of_tokens(vec![3, 4, 5, 6], vec![0, 1, 4], vec![]);
    part.step_labels = vec![0, 1, 2, 3];
    let mut batch = Batch::<f32>::new();
    batch.fill(&View::of(&part), &[1, 0], None);
    assert_eq!(
        (&batch.tokens[..], &batch.targets[..]),
        (&[4, 5, 6, 3][..], &[1, 2, 3, 0][..])
    );
    assert_eq!(batch.inputs.lengths(), [3, 1]);
}
