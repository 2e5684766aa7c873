//! Matrices without their zeros: the same numbers in fewer bytes.

use ernn::export::{Samples, StateBits, int_image, measure};

use crate::models::{Case, saved, thinned};
use crate::{NUMBERS, Numbers, exported};

/// Each cell with so many entries of a hundred left.
fn sparse(kept: u32) -> Vec<Case> {
    thinned(kept, 40)
}

#[test]
fn zeros_that_are_left_out_change_nothing() {
    for (kept, share) in [(50, 0.85), (4, 0.5)] {
        for case in sparse(kept) {
            let samples = Samples::drawn(&case.model);
            let image = int_image(&case.model, &samples, StateBits::Int16).unwrap();
            let dense = saved(case.model.model.config().clone(), 0);
            let whole = int_image(&dense, &Samples::drawn(&dense), StateBits::Int16).unwrap();
            // Others' folding fills the zeros again.
            if ["rnn 0", "fastrnn 0", "fastgrnn 0", "ugrnn 0", "gru 0", "lstm 0"].contains(&&case.name[..]) {
                assert!(
                    (image.len() as f64) < share * whole.len() as f64,
                    "{}: {} of {}",
                    case.name,
                    image.len(),
                    whole.len()
                );
            }
            let accuracy = measure(&case.model, &image, &samples).unwrap();
            assert!(accuracy.largest_difference < 0.2, "{}: {accuracy:?}", case.name);
        }
    }
}

#[test]
fn compressed_matrices_in_c_give_the_bits_of_the_rust_runtime() {
    let folder = tempfile::tempdir().unwrap();
    for kept in [50, 4] {
        for case in sparse(kept) {
            let samples = Samples::drawn(&case.model);
            for numbers in NUMBERS.into_iter().filter(|&numbers| numbers != Numbers::Float) {
                let name = format!("{}-{kept}-{numbers:?}", case.name);
                exported(&case, &samples, numbers, &folder.path().join(name));
            }
        }
    }
}
