//! Permutations: one fixed order of pixels, drawn from the data seed.
//!
//! ```text
//! for i = n - 1 .. 1: swap(order[i], order[floor(w (i + 1) / 2^32)])      w: next 32-bit word (Fisher, Yates; Durstenfeld 1964)
//! ```
//!
//! It is written out here, so that no new version of a library changes what a seed means.

use rand::Rng;

use crate::data::random::stream;

/// The order of `count` pixels under a seed: position `s` reads pixel `order[s]`.
pub(super) fn draw(count: u32, seed: u64) -> Vec<u32> {
    let mut random = stream(b"permute\0", seed, 0);
    let mut order: Vec<u32> = (0..count).collect();
    for last in (1..count).rev() {
        let chosen = (u64::from(random.next_u32()) * (u64::from(last) + 1)) >> 32;
        order.swap(last as usize, chosen as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_is_read_once() {
        let mut order = draw(784, 3);
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..784));
    }

    #[test]
    fn a_seed_means_one_order_for_ever() {
        // Computed by ChaCha8 written anew in Python from its definition (key: purpose, seed, zeros; counter 0).
        assert_eq!(draw(784, 1)[..8], GOLDEN);
        assert_ne!(draw(784, 1), draw(784, 2));
    }

    const GOLDEN: [u32; 8] = [10, 628, 639, 188, 600, 61, 735, 92];

    #[test]
    fn every_place_gets_every_pixel_alike() {
        let mut counts = [[0u32; 4]; 4];
        for seed in 0..4000 {
            draw(4, seed)
                .iter()
                .zip(&mut counts)
                .for_each(|(&pixel, counts)| counts[pixel as usize] += 1);
        }
        assert!(
            counts.iter().flatten().all(|count| (880..1120).contains(count)),
            "{counts:?}"
        );
    }
}
