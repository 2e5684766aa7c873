//! What an export of a model of sound has besides: the front end that makes its inputs of samples, and a sound to test it with.

use ernn_core::sound::{HEADER, SoundSizes};

use super::plan::Tensor;
use crate::Result;
use crate::checkpoint::SavedModel;
use crate::data::Hearing;

/// The front end of a model of sound.
pub(super) struct Ears(Hearing);

/// Samples of the test's sound.
pub(super) const TEST_SAMPLES: usize = 3000;

impl Ears {
    /// Those of a model; none of one that does not read sound.
    pub fn of(saved: &SavedModel) -> Result<Option<Self>> {
        let hearing = saved.sound().map(|recipe| Hearing::new(&recipe.mel));
        Ok(hearing.transpose()?.map(Ears))
    }

    /// As [`ernn_core::sound::FrontEnd::parse`] reads it.
    pub fn image(&self) -> &[u8] {
        self.0.image()
    }

    pub fn sizes(&self) -> SoundSizes {
        SoundSizes::of(self.image())
    }

    /// The tables with their names.
    pub fn tables(&self) -> [(&'static str, Tensor); 4] {
        let sizes = self.sizes();
        let bins = sizes.work / 2;
        let mut halves = self.image()[HEADER..].as_chunks::<2>().0.iter();
        let mut signed = |count: usize| {
            Tensor::I16(
                halves
                    .by_ref()
                    .take(count)
                    .map(|&half| i16::from_le_bytes(half))
                    .collect(),
            )
        };
        let hamming = signed(sizes.samples.div_ceil(2));
        let [edges, rises] = [sizes.features + 2, bins].map(|count| match signed(count) {
            Tensor::I16(values) => Tensor::U16(values.into_iter().map(|value| value as u16).collect()),
            other => other,
        });
        let turns = signed(2 * bins);
        [
            ("hamming", hamming),
            ("edges", edges),
            ("rises", rises),
            ("turns", turns),
        ]
    }

    /// The pre-emphasis times 2^15.
    pub fn emphasis(&self) -> u32 {
        u32::from_le_bytes(self.image()[HEADER - 4..HEADER].try_into().expect("four bytes"))
    }

    /// What the features of the test's sound, bit by bit, add up to.
    pub fn test_sum(&self) -> u32 {
        let mut hearing = self.0.clone();
        let mut features = hearing.push(&test_sound());
        features.extend(hearing.end().into_iter().flatten());
        let add = |sum: u32, value: &f32| (sum ^ value.to_bits()).wrapping_mul(16_777_619);
        features.iter().fold(2_166_136_261, add)
    }
}

/// Noise that becomes softer twelve times, and silence.
fn test_sound() -> Vec<i16> {
    let mut state = 1_u32;
    let sample = |place: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let loud = (state >> 16) as i32 - 32_768;
        if place < 2400 {
            (loud / (1 << (place / 200))) as i16
        } else {
            0
        }
    };
    (0..TEST_SAMPLES).map(sample).collect()
}
