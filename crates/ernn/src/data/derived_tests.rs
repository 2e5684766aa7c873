//! Derived channels: against numbers of `reference/inputs.py`, and what they are fitted on.

use super::*;
use crate::data::{Normalization, Part};

fn names(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

fn all() -> Transforms {
    Transforms {
        differences: true,
        compress: true,
        magnitudes: true,
        ..Transforms::default()
    }
}

/// Two sequences of a moving sensor.
fn motion() -> Part {
    let mut part = Part::new(3);
    let one = [
        0.5, 9.81, -1.0, 0.7, 9.80, -1.5, 0.4, 9.85, 2.0, 0.9, 9.70, 0.0, 0.9, 9.81, 1.0,
    ];
    part.push(&one, None, None);
    part.push(&[-3.0, 9.0, 0.25, 2.0, 9.9, 0.25, 2.5, 9.8, 0.75], None, None);
    part
}

fn fitted(part: &Part, transforms: &Transforms) -> Derivation {
    Derivation::fit(transforms, &View::of(part), &names("x y z")).unwrap()
}

fn read(view: &View, index: usize) -> Vec<f32> {
    let mut out = vec![f32::NAN; view.length(index) * view.features()];
    view.read(index, &mut out);
    out
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// `python3 reference/inputs.py`.
const SCALES: [f32; 3] = [0.07056, 0.020358, 0.1341];
/// The same.
#[rustfmt::skip]
const EXPECTED: [&[f32]; 2] = [
    &[
        0.5, 9.81, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.8735,
        0.7, 9.8, -1.5, 0.2, -0.01, -0.5, 1.66601, -0.428823, -1.92531, 9.93881,
        0.4, 9.85, 2.0, -0.3, 0.05, 3.5, -1.21162, 1.35652, 3.71269, 10.059,
        0.9, 9.7, 0.0, 0.5, -0.15, -2.0, 2.31244, -2.31244, 2.31244, 9.74166,
        0.9, 9.81, 1.0, 0.0, 0.11, 1.0, 2.20935, 0.355423, 3.11206, 9.90182,
    ],
    &[
        -3.0, 9.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.49013,
        2.0, 9.9, 0.25, 5.0, 0.9, 0.0, 4.84858, 4.37687, 0.0, 10.1031,
        2.5, 9.8, 0.75, 0.5, -0.1, 0.5, 4.84858, 4.13983, 1.92531, 10.1416,
    ],
];

#[test]
fn channels_are_those_of_the_formulas() {
    let part = motion();
    let derivation = fitted(&part, &all());
    for (scale, expected) in derivation.scales.iter().zip(SCALES) {
        assert!((scale - expected).abs() < 1e-4 * expected, "{scale} {expected}");
    }
    let view = View::of(&part).derived(&derivation).unwrap();
    assert_eq!((view.features(), view.channels()), (10, 3));
    for (index, expected) in EXPECTED.into_iter().enumerate() {
        let found = read(&view, index);
        assert_eq!(found.len(), expected.len());
        for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
            // Of 9.8 the last digits of 32 bits are gone after 9.8 - 9.81, and a small scale makes that larger.
            let error = (found - expected).abs();
            assert!(error < 2e-4, "sequence {index}, value {place}: {found} {expected}");
        }
    }
    let named = derivation.names(&names("x y z")).join("; ");
    assert_eq!(
        named,
        "x; y; z; difference of x; difference of y; difference of z; compressed of x; compressed of y; compressed of z; magnitude of x, y, z"
    );
}

#[test]
fn single_steps_have_the_bits_of_whole_sequences() {
    let part = motion();
    for transforms in each_kind() {
        let derivation = fitted(&part, &transforms);
        let view = View::of(&part).derived(&derivation).unwrap();
        let deriver = derivation.ready(3);
        let mut memory = deriver.memory();
        for index in 0..2 {
            let mut found = Vec::new();
            for (place, step) in view.numbers(index).chunks_exact(3).enumerate() {
                found.extend(deriver.step(place == 0, step, &mut memory));
            }
            assert_eq!(bits(&found), bits(&read(&view, index)), "{transforms:?}");
        }
    }
}

fn each_kind() -> Vec<Transforms> {
    let kinds = (1..8).map(|kinds| Transforms {
        differences: kinds & 1 != 0,
        compress: kinds & 2 != 0,
        magnitudes: kinds & 4 != 0,
        ..Transforms::default()
    });
    kinds.collect()
}

#[test]
fn the_datas_own_channels_are_normalized_as_without_derived_ones() {
    let mut part = motion();
    part.filled = vec![4, 17];
    let plain = Normalization::fit(&View::of(&part)).unwrap();
    for transforms in each_kind() {
        let derivation = fitted(&part, &transforms);
        let view = View::of(&part).derived(&derivation).unwrap();
        let normalization = Normalization::fit(&view).unwrap();
        assert_eq!(normalization.mean.len(), view.features());
        assert_eq!(normalization.mean[..3], plain.mean);
        assert_eq!(normalization.scale[..3], plain.scale);
        let view = view.normalized(&normalization).unwrap();
        let own = View::of(&part).normalized(&plain).unwrap();
        let (found, expected) = (read(&view, 1), read(&own, 1));
        for (found, expected) in found.chunks_exact(view.features()).zip(expected.chunks_exact(3)) {
            assert_eq!(bits(&found[..3]), bits(expected));
        }
        // Each channel over both sequences.
        let both = [read(&view, 0), read(&view, 1)].concat();
        for feature in 3..view.features() {
            let channel: Vec<f32> = both.iter().skip(feature).step_by(view.features()).copied().collect();
            let mean = channel.iter().sum::<f32>() / channel.len() as f32;
            let square = channel.iter().map(|value| value * value).sum::<f32>() / channel.len() as f32;
            assert!(
                mean.abs() < 1e-5 && (square - 1.0).abs() < 1e-4,
                "{feature}: {mean} {square}"
            );
        }
    }
}

#[test]
fn scales_are_of_the_given_sequences_alone_and_never_zero() {
    let part = motion();
    let first = Derivation::fit(&all(), &View::chosen(&part, &[0]), &names("x y z")).unwrap();
    let mut changed = motion();
    changed.numbers_mut()[15..].iter_mut().for_each(|value| *value *= -50.0);
    let again = Derivation::fit(&all(), &View::chosen(&changed, &[0]), &names("x y z")).unwrap();
    assert_eq!(first, again);
    assert_ne!(first, fitted(&part, &all()));
    let mut still = Part::new(2);
    still.push(&[1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 1.0, 6.0], None, None);
    still.push(&[], None, None);
    let compress = Transforms {
        compress: true,
        ..Transforms::default()
    };
    let found = Derivation::fit(&compress, &View::of(&still), &names("a b")).unwrap();
    assert_eq!(found.scales[0], 1.0);
    assert!((found.scales[1] - 0.18).abs() < 1e-6, "{found:?}");
}

#[test]
fn what_has_no_such_channels_is_refused() {
    let tokens = Part::of_tokens(vec![1, 2, 3], vec![0, 3], vec![0]);
    let error = Derivation::fit(&all(), &View::of(&tokens), &names("token"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "differences: found true for sequences of tokens, expected false (--differences false), or sequences of numbers"
    );
    let derivation = fitted(&motion(), &all());
    let error = View::of(&tokens).derived(&derivation).unwrap_err().to_string();
    assert!(error.contains("found other values than numbers"), "{error}");
    let mut narrow = Part::new(2);
    narrow.push(&[1.0, 2.0], None, None);
    let error = View::of(&narrow).derived(&derivation).unwrap_err().to_string();
    assert!(error.contains("found 2 channels"), "{error}");
}

#[test]
fn what_is_derived_must_be_finite_too() {
    let mut part = motion();
    let differences = Transforms {
        differences: true,
        ..Transforms::default()
    };
    let derivation = fitted(&part, &differences);
    let view = View::of(&part).derived(&derivation).unwrap();
    let normalization = Normalization::fit(&view).unwrap();
    part.numbers_mut()[0] = -3e38;
    part.numbers_mut()[3] = 3e38;
    let identity = Normalization::identity(6);
    for normalization in [&normalization, &identity] {
        let view = View::of(&part).derived(&derivation).unwrap();
        let error = view.normalized(normalization).unwrap_err().to_string();
        assert!(error.contains("sequence 1, step 2, derived channel 4"), "{error}");
    }
}
