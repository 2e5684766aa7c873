//! Seeded randomness: every stream of random numbers is named by what it is for, the seed, and a position.

use std::convert::Infallible;

use rand::TryRng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The stream of random numbers for `purpose` at `position` (an epoch, say) under `seed`; different purposes and positions
/// never share numbers.
pub(crate) fn stream(purpose: &[u8; 8], seed: u64, position: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(purpose);
    key[8..16].copy_from_slice(&seed.to_le_bytes());
    key[16..24].copy_from_slice(&position.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// SplitMix64: a counter through a mixing function. Not for secrets; fast, and good enough for noise.
///
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
pub(crate) struct SplitMix {
    state: u64,
}

impl SplitMix {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The stream for a seed and two positions, an epoch and a sequence, say.
    pub fn new(seed: u64, first: u64, second: u64) -> SplitMix {
        let state = [seed, first, second]
            .into_iter()
            .fold(0, |state, part| Self::mix(state ^ part).wrapping_add(Self::STEP));
        SplitMix { state }
    }

    fn mix(word: u64) -> u64 {
        let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }
}

impl TryRng for SplitMix {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.state = self.state.wrapping_add(Self::STEP);
        Ok(Self::mix(self.state))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}
