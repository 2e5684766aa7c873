//! What leaves the ranges of whole numbers ends at their ends, is counted, and is the same in C and in Rust.

use ernn::export::{Samples, StateBits, int_image, int_logits};

use crate::models::{Case, cases, one_of_each};
use crate::{NUMBERS, Numbers, exported};

/// The drawn sequences, which give the ranges, and behind them others.
fn with(case: &Case, others: Vec<Vec<f32>>) -> Samples {
    let mut samples = Samples::drawn(&case.model);
    samples.ranged = samples.sequences.len();
    samples.sequences.extend(others);
    samples
}

/// Sequences ten times as far from the mean, and one that jumps between the ends for 1,000 steps.
fn wild(case: &Case) -> Vec<Vec<f32>> {
    let drawn = Samples::drawn(&case.model);
    let mean = |place: usize| case.model.normalization.mean[place % 3];
    let scaled = |sequence: &Vec<f32>| {
        let values = sequence.iter().enumerate();
        values
            .map(|(place, value)| mean(place) + 10.0 * (value - mean(place)))
            .collect()
    };
    let mut wild: Vec<Vec<f32>> = drawn.sequences[..3].iter().map(scaled).collect();
    wild.push(
        (0..3000)
            .map(|place| if place / 3 % 2 == 0 { 1.0 } else { -1.0 })
            .collect(),
    );
    wild
}

#[test]
fn beyond_the_calibration_c_and_rust_give_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    for (index, case) in one_of_each().iter().enumerate() {
        let samples = with(case, wild(case));
        for (state, numbers) in [
            (StateBits::Int16, Numbers::Int8),
            (StateBits::Int8, Numbers::Int8States),
        ] {
            let image = int_image(&case.model, &samples, state).unwrap();
            let (_, saturations) = int_logits(&image, &samples);
            let (ranged, others) = saturations.split_at(samples.ranged);
            assert_eq!(
                ranged.iter().sum::<u32>(),
                0,
                "{}: the ranges hold what gave them",
                case.name
            );
            assert!(others[..3].iter().all(|&count| count > 0), "{}: {others:?}", case.name);
            // Logits and counts of the compiled program are compared by the export itself.
            exported(
                case,
                &samples,
                numbers,
                &folder.path().join(format!("{index}-{numbers:?}")),
            );
        }
    }
}

/// An input beyond its range is the end of its range, in every later number.
#[test]
fn inputs_that_do_not_fit_are_the_ends_of_their_range() {
    for case in cases() {
        let image = int_image(&case.model, &with(&case, Vec::new()), StateBits::Int16).unwrap();
        let far: Vec<f32> = (0..96).map(|place| if place % 5 < 2 { 3e5 } else { -3e5 }).collect();
        let farther: Vec<f32> = far.iter().map(|value| value * 1e20).collect();
        let mut samples = Samples::drawn(&case.model);
        samples.sequences = vec![far, farther];
        let (logits, saturations) = int_logits(&image, &samples);
        assert_eq!(logits[0], logits[1], "{}", case.name);
        assert!(
            saturations[0] >= 96 && saturations[0] == saturations[1],
            "{}: {saturations:?}",
            case.name
        );
    }
}

/// 100,000 steps in one stream: the library, Rust and C. One cell for each way of keeping a state: any more would take minutes.
#[test]
fn long_streams_stay_together() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = ["ernn 0", "fastgrnn 0", "lstm 0", "antisymmetric 0"];
    let chosen = one_of_each().into_iter().filter(|case| kinds.contains(&&case.name[..]));
    for (index, case) in chosen.enumerate() {
        let mut samples = Samples::drawn(&case.model);
        let long = samples.sequences.concat();
        samples
            .sequences
            .push(long.iter().copied().cycle().take(300_000).collect());
        for numbers in NUMBERS {
            // A state that forgets nothing carries the last bits of each step to the end: there only whole numbers stay together.
            let forgets = !["antisymmetric", "spectral"]
                .iter()
                .any(|cell| case.name.contains(cell));
            if forgets || numbers != Numbers::Float {
                exported(
                    &case,
                    &samples,
                    numbers,
                    &folder.path().join(format!("{index}-{numbers:?}")),
                );
            }
        }
    }
}
