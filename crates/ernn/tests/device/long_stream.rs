//! A hundred thousand steps of one stream, after which host, C and Rust still agree: whole numbers to the bit, floats within a bound.

use ernn::export::{Samples, check_float, float_image};

use crate::models::one_of_each;
use crate::{Numbers, exported, has};

const STEPS: usize = 100_000;

/// One long sequence, drawn as the others are.
fn long(model: &ernn::checkpoint::SavedModel) -> Samples {
    let mut samples = Samples::drawn(model);
    let all: Vec<f32> = samples.sequences.concat();
    let numbers = STEPS * samples.features;
    // Between repetitions the stream goes on: its state is never the same.
    samples.sequences = vec![all.iter().copied().cycle().take(numbers).collect()];
    samples.ranged = 1;
    samples
}

/// The cells whose states stay where the data holds them; others (an ERNN with random weights may grow without end) have nothing to be
/// compared with after so long.
fn kept(name: &str) -> bool {
    ["gru 0", "lstm 0", "ugrnn 0", "fastgrnn 0", "rnn 0"].contains(&name)
}

#[test]
fn whole_numbers_in_c_are_the_bits_of_the_host_after_every_step() {
    if !has("cc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cases = one_of_each();
    // Saturation is no excuse: what does not fit becomes the same number everywhere.
    for (index, case) in cases.iter().enumerate().filter(|(_, case)| case.name.ends_with(" 0")) {
        for numbers in [Numbers::Int8, Numbers::Int8States] {
            let out = folder.path().join(format!("{index}-{numbers:?}"));
            exported(case, &long(&case.model), numbers, &out);
        }
    }
}

#[test]
fn floats_stay_within_the_bound_after_every_step() {
    let cases = one_of_each();
    let kept: Vec<_> = cases.iter().filter(|case| kept(&case.name)).collect();
    assert_eq!(kept.len(), 5);
    for case in kept {
        let samples = long(&case.model);
        let parity = check_float(&case.model, &float_image(&case.model).unwrap(), &samples)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(parity.steps, STEPS);
        println!("{}: {:.1e}", case.name, parity.largest_difference);
        assert!(parity.largest_difference < 1e-4, "{}: {parity:?}", case.name);
    }
}
