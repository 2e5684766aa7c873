use super::*;
use crate::data::Part;

fn names(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

fn draw(sequence: u64) -> Draw {
    Draw {
        seed: 3,
        epoch: 5,
        sequence,
    }
}

/// Sequences of 20 steps with these channels, each step another.
fn part(channels: usize) -> Part {
    let mut part = Part::new(channels);
    for sequence in 0..3 {
        let values: Vec<f32> = (0..20 * channels)
            .map(|at| (sequence + 1) as f32 * (at as f32 * 0.7).sin())
            .collect();
        part.push(&values, Some(sequence % 2), None);
    }
    part
}

fn ready(sizes: Augmentation, part: &Part, channels: &str) -> Augmenter {
    let augmenter = sizes.ready(
        &Transforms::default(),
        &View::of(part),
        &names(channels),
        Task::Classification,
    );
    augmenter.unwrap().unwrap()
}

fn changed(augmenter: &Augmenter, part: &Part, sequence: usize) -> Vec<f32> {
    let mut out = vec![9.0; 7];
    augmenter.numbers(draw(sequence as u64), part.sequence(sequence), &mut out);
    assert_eq!(out.len(), part.sequence(sequence).len());
    out
}

fn rotation_only(rotation: f64) -> Augmentation {
    Augmentation {
        rotation,
        ..Augmentation::default()
    }
}

#[test]
fn a_rotation_keeps_lengths_and_angles_and_what_is_no_triad() {
    let part = part(7);
    let augmenter = ready(rotation_only(0.5), &part, "ax ay az t gx gy gz");
    let (before, after) = (part.sequence(1), changed(&augmenter, &part, 1));
    let dot = |step: &[f32], a: usize, b: usize| (0..3).map(|axis| step[a + axis] * step[b + axis]).sum::<f32>();
    for (before, after) in before.chunks_exact(7).zip(after.chunks_exact(7)) {
        for (a, b) in [(0, 0), (4, 4), (0, 4)] {
            assert!((dot(before, a, b) - dot(after, a, b)).abs() < 1e-4, "{a} {b}");
        }
        assert_eq!(before[3], after[3]);
        assert_ne!(before[0], after[0]);
    }
    // Turned, not mirrored: the product of the three vectors of a matrix keeps its sign.
    let [[a, b, c], [d, e, f], [g, h, i]] = rotation([0.3, -0.9, 0.4]);
    let determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
    assert!((determinant - 1.0).abs() < 1e-5, "{determinant}");
}

#[test]
fn a_rotation_is_about_its_vector_by_its_length() {
    let close = |found: [[f32; 3]; 3], expected: [[f32; 3]; 3]| {
        let both = found.iter().flatten().zip(expected.iter().flatten());
        both.for_each(|(found, expected)| assert!((found - expected).abs() < 1e-6, "{found} {expected}"));
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    close(
        rotation([0.0, 0.0, quarter]),
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    );
    close(rotation([0.0; 3]), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    close(
        rotation([1e-12, 0.0, 0.0]),
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    );
}

#[test]
fn devices_turn_apart_and_the_sensors_of_one_alike() {
    let part = part(12);
    let channels = "L_xa L_ya L_za L_xg L_yg L_zg R_xa R_ya R_za R_xg R_yg R_zg";
    let augmenter = ready(rotation_only(0.5), &part, channels);
    assert_eq!(augmenter.devices.len(), 2);
    // The same vector at all triads shows how each was turned.
    let mut same = Part::new(12);
    same.push(&[1.0, 2.0, 3.0].repeat(4), Some(0), None);
    let after = changed(&augmenter, &same, 0);
    assert_eq!(after[..3], after[3..6]);
    assert_eq!(after[6..9], after[9..]);
    assert_ne!(after[..3], after[6..9]);
}

#[test]
fn draws_repeat_and_differ_by_sequence_and_one_augmentation_leaves_another_alone() {
    let part = part(3);
    let both = Augmentation {
        rotation: 0.3,
        mask_steps: 0.5,
        ..Augmentation::default()
    };
    let alone = ready(rotation_only(0.3), &part, "x y z");
    assert_eq!(changed(&alone, &part, 1), changed(&alone, &part, 1));
    assert_eq!(
        changed(&alone, &part, 1),
        changed(&ready(both, &part, "x y z"), &part, 1)
    );
    let mut first = Vec::new();
    alone.numbers(draw(0), part.sequence(1), &mut first);
    assert_ne!(first, changed(&alone, &part, 1));
}

#[test]
fn places_rise_and_stay_within_what_was_asked() {
    let part = part(1);
    for sequence in 0..200 {
        let places = |sizes: Augmentation| ready(sizes, &part, "a").places(draw(sequence), 20);
        let warped = places(Augmentation {
            warp: 0.5,
            ..Augmentation::default()
        });
        assert!(warped.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(warped[0] == 0.0 && (warped[19] - 19.0).abs() < 1e-9);
        let cropped = places(Augmentation {
            crop: 0.25,
            ..Augmentation::default()
        });
        assert!(cropped[0] >= 0.0 && cropped[19] <= 19.0);
        assert!(cropped[19] - cropped[0] >= 0.75 * 19.0);
        let shifted = places(Augmentation {
            shift: 0.1,
            ..Augmentation::default()
        });
        assert!(shifted[0].abs() <= 2.0 && (shifted[19] - shifted[0] - 19.0).abs() < 1e-9);
    }
    // Of one step and of none.
    let sizes = Augmentation {
        warp: 0.5,
        crop: 0.5,
        shift: 0.5,
        ..Augmentation::default()
    };
    let augmenter = ready(sizes, &part, "a");
    assert_eq!(augmenter.places(draw(0), 1).len(), 1);
    assert!(augmenter.places(draw(0), 0).is_empty());
    let mut one = Part::new(1);
    one.push(&[4.0], Some(0), None);
    assert_eq!(changed(&augmenter, &one, 0), [4.0]);
}

#[test]
fn values_between_steps_are_linear_and_edges_repeat() {
    let mut ramp = Part::new(2);
    let values: Vec<f32> = (0..10).flat_map(|step| [step as f32, 100.0 - step as f32]).collect();
    ramp.push(&values, Some(0), None);
    let sizes = Augmentation {
        shift: 0.9,
        ..Augmentation::default()
    };
    let augmenter = ready(sizes, &ramp, "a b");
    for sequence in 0..20 {
        let places = augmenter.places(draw(sequence), 10);
        let mut out = Vec::new();
        augmenter.numbers(draw(sequence), ramp.sequence(0), &mut out);
        for (place, step) in places.iter().zip(out.chunks_exact(2)) {
            let expected = place.clamp(0.0, 9.0) as f32;
            assert!((step[0] - expected).abs() < 1e-5 && (step[1] - 100.0 + expected).abs() < 1e-4);
        }
    }
}

#[test]
fn masks_are_one_stretch_and_one_band_of_every_kind_of_channel() {
    let part = part(4);
    let sizes = Augmentation {
        mask_steps: 0.5,
        mask_channels: 0.5,
        ..Augmentation::default()
    };
    let augmenter = ready(sizes, &part, "a b c d");
    // Four channels, their differences, and one magnitude.
    let features = 9;
    let (mut steps, mut channels) = (0, 0);
    for sequence in 0..50 {
        let mut values = vec![1.0; 20 * features];
        augmenter.mask(draw(sequence), [features, 8], &mut values);
        let empty: Vec<bool> = values.chunks(features).map(|step| step[8] == 0.0).collect();
        assert!(empty.windows(2).filter(|pair| pair[0] != pair[1]).count() <= 2);
        let masked = empty.iter().filter(|&&empty| empty).count();
        assert!(masked <= 10);
        steps += masked;
        let seen = values.chunks(features).zip(&empty).find(|(_, empty)| !**empty);
        let step = seen.unwrap().0;
        assert_eq!(step[..4], step[4..8]);
        let hidden = step[..4].iter().filter(|&&value| value == 0.0).count();
        assert!(hidden <= 2);
        channels += hidden;
    }
    assert!(steps > 100 && channels > 20, "{steps} {channels}");
}

#[test]
fn refuses_what_cannot_be_done() {
    let refused = |sizes: Augmentation, part: &Part, channels: &str, task: Task| {
        let found = sizes.ready(&Transforms::default(), &View::of(part), &names(channels), task);
        found.unwrap_err().to_string()
    };
    let numbers = part(2);
    let error = refused(rotation_only(0.2), &numbers, "a b", Task::Classification);
    assert!(
        error.starts_with("input_rotation: found 0.2 for the channels a, b, expected names that end in x, y, z"),
        "{error}"
    );
    let moving = Augmentation {
        warp: 0.1,
        mask_steps: 0.1,
        ..Augmentation::default()
    };
    let error = refused(moving, &numbers, "a b", Task::StepClassification);
    assert!(
        error.starts_with("input_warp: found 0.1 for steps with labels of their own"),
        "{error}"
    );
    let tokens = Part::of_tokens(vec![1, 2, 3], vec![0, 3], vec![0]);
    let error = refused(moving, &tokens, "a", Task::Classification);
    assert!(
        error.starts_with("input_warp: found 0.1 for pictures or tokens, expected 0"),
        "{error}"
    );
    let nothing =
        Augmentation::default().ready(&Transforms::default(), &View::of(&tokens), &names("a"), Task::NextToken);
    assert_eq!(nothing.unwrap(), None);
}
