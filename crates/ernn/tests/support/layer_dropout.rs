//! Dropout between layers, drawn anew from what its docs say it is drawn from.

// Each test binary compiles this file for itself and uses a part of it.
#![allow(dead_code)]

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a draw depends on.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub seed: u64,
    pub epoch: u64,
    /// Index of the sequence in its part.
    pub sequence: usize,
    /// The layer whose states are dropped.
    pub layer: usize,
    /// Steps of the sequence before this piece.
    pub first_step: usize,
}

/// The factors of the states `[steps, width]`: 0 with the probability `rate`, else `1 / (1 - rate)`.
pub fn mask(rate: f64, key: Key, steps: usize, width: usize) -> Vec<f64> {
    let words = [key.seed, key.epoch, key.sequence as u64, key.layer as u64];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut rng = ChaCha8Rng::from_seed(bytes.try_into().expect("32 bytes"));
    rng.set_stream(key.first_step as u64);
    let dropped = |draw: u32| f64::from(draw) < (rate * 2f64.powi(32)).floor();
    (0..steps * width)
        .map(|_| {
            if dropped(rng.next_u32()) {
                0.0
            } else {
                1.0 / (1.0 - rate)
            }
        })
        .collect()
}
