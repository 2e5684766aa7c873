//! Inverted dropout of the states that the readout sees.
//!
//! ```text
//! mask[n,i] = 0 with probability p, else 1 / (1 - p)        h' = mask * h        dh = mask * dh'
//! ```
//!
//! Shapes: mask and states [sequences, width]. The mask of a sequence is drawn from (seed, epoch, index of the sequence in
//! the data set) alone: neither threads nor the batch that it stands in change it. Source: Srivastava et al. 2014, scaled
//! in training so that evaluation needs no factor.

use ernn_kernels::Real;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Keeps the draws apart from other draws with the same seed.
const PURPOSE: [u8; 8] = *b"dropout ";

/// Draws the masks `[sequences, width]` of the sequences with these indices; rate 0 gives ones and draws nothing.
///
/// # Panics
/// If `rate` is not within 0 <= rate < 1.
pub fn dropout_mask<F: Real>(rate: f64, seed: u64, epoch: u64, sequences: &[usize], width: usize, mask: &mut Vec<F>) {
    assert!((0.0..1.0).contains(&rate), "a dropout rate is at least 0 and below 1");
    mask.clear();
    mask.resize(sequences.len() * width, F::ONE);
    if rate == 0.0 || width == 0 {
        return;
    }
    let kept = F::from_f64(1.0 / (1.0 - rate));
    // Dropped are the draws below this; exact to 2^-32.
    let threshold = (rate * 2f64.powi(32)) as u32;
    for (&sequence, row) in sequences.iter().zip(mask.chunks_exact_mut(width)) {
        let mut rng = sequence_rng(seed, epoch, sequence as u64);
        for value in row {
            *value = if rng.next_u32() < threshold { F::ZERO } else { kept };
        }
    }
}

/// Multiplies states, or on the way back their gradient, by the mask.
pub fn apply_mask<F: Real>(values: &mut [F], mask: &[F]) {
    assert_eq!(values.len(), mask.len(), "one mask value a state value");
    for (value, &mask) in values.iter_mut().zip(mask) {
        *value *= mask;
    }
}

fn sequence_rng(seed: u64, epoch: u64, sequence: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&epoch.to_le_bytes());
    key[16..24].copy_from_slice(&sequence.to_le_bytes());
    key[24..].copy_from_slice(&PURPOSE);
    ChaCha8Rng::from_seed(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(rate: f64, epoch: u64, sequences: &[usize]) -> Vec<f32> {
        let mut mask = Vec::new();
        dropout_mask(rate, 7, epoch, sequences, 100, &mut mask);
        mask
    }

    #[test]
    fn a_mask_belongs_to_its_sequence_not_to_the_batch() {
        let together = mask(0.5, 3, &[4, 900, 17]);
        assert_eq!(mask(0.5, 3, &[900]), together[100..200]);
        assert_eq!(mask(0.5, 3, &[17, 4]), [&together[200..], &together[..100]].concat());
    }

    #[test]
    fn epochs_seeds_and_sequences_draw_anew() {
        let first = mask(0.5, 0, &[0]);
        assert_ne!(first, mask(0.5, 1, &[0]));
        assert_ne!(first, mask(0.5, 0, &[1]));
        let mut other: Vec<f32> = Vec::new();
        dropout_mask(0.5, 8, 0, &[0], 100, &mut other);
        assert_ne!(first, other);
    }

    #[test]
    fn the_rate_is_kept_and_the_mean_is_one() {
        let sequences: Vec<usize> = (0..1000).collect();
        for rate in [0.1, 0.3, 0.8] {
            let mask = mask(rate, 0, &sequences);
            let dropped = mask.iter().filter(|&&value| value == 0.0).count() as f64 / 1e5;
            let mean = mask.iter().map(|&value| f64::from(value)).sum::<f64>() / 1e5;
            assert!((dropped - rate).abs() < 0.005, "{dropped} of {rate}");
            assert!((mean - 1.0).abs() < 0.03, "{mean}");
        }
    }

    #[test]
    fn rate_zero_is_the_identity() {
        let mut states = vec![0.1f32, -3.5];
        apply_mask(&mut states, &mask(0.0, 0, &[0])[..2]);
        assert_eq!(states, [0.1, -3.5]);
    }

    #[test]
    #[should_panic(expected = "below 1")]
    fn rate_one_is_refused() {
        mask(1.0, 0, &[0]);
    }
}
