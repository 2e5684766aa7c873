//! Sound that is heard now: samples from a pipe become the steps of a model.

use std::io::{ErrorKind, Read};
use std::path::Path;

use ernn_core::sound::FrontEnd;

use super::SoundRecipe;
use crate::{Error, Result};

/// Samples that are read at a time at most: what a pipe has, it gives at once.
const BLOCK: usize = 4096;

/// A sound whose samples come bit by bit, and become the steps of a model.
#[derive(Clone, Debug)]
pub struct Hearing {
    image: Vec<u8>,
    /// The sample before those that wait.
    before: i16,
    /// Samples that wait for the end of their frame.
    waiting: Vec<i16>,
    work: Vec<i32>,
}

impl Hearing {
    /// A sound at its beginning.
    ///
    /// # Errors
    /// If a setting of the recipe is out of range.
    pub fn new(recipe: &SoundRecipe) -> Result<Self> {
        Ok(Hearing {
            image: recipe.mel.image()?,
            before: 0,
            waiting: Vec::new(),
            work: vec![0; recipe.mel.nfft],
        })
    }

    /// Takes samples at the recipe's rate; gives the steps that end with them, `[steps, features]`.
    pub fn push(&mut self, samples: &[i16]) -> Vec<f32> {
        let front = FrontEnd::parse(&self.image).expect("the image was made here");
        let sizes = front.sizes();
        self.waiting.extend_from_slice(samples);
        let mut steps = Vec::new();
        let mut from = 0;
        while let Some(frame) = self.waiting.get(from..from + sizes.samples) {
            let place = steps.len();
            steps.resize(place + sizes.features, 0.0);
            front
                .features(self.before, frame, &mut self.work, &mut steps[place..])
                .expect("sizes are those of the front end");
            self.before = frame[sizes.step - 1];
            from += sizes.step;
        }
        self.waiting.drain(..from);
        steps
    }

    /// The next sample is a first one.
    pub fn reset(&mut self) {
        self.before = 0;
        self.waiting.clear();
    }
}

/// Reads samples (16 bits, the lower byte first, one channel, as many a second as the recipe says) to their end, and hands over each step as
/// soon as its last sample is there. Gives the number of samples.
///
/// # Errors
/// If reading fails, the last sample is half there, or `step` says so.
pub fn hear(
    recipe: &SoundRecipe,
    mut reader: impl Read,
    place: &Path,
    mut step: impl FnMut(&[f32]) -> Result<()>,
) -> Result<u64> {
    let mut hearing = Hearing::new(recipe)?;
    let mut bytes = vec![0; 2 * BLOCK];
    let (mut filled, mut samples) = (0, 0);
    loop {
        let read = match reader.read(&mut bytes[filled..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.map_err(Error::io(place, "read"))?,
        };
        filled += read;
        if samples == 0 && bytes[..filled].starts_with(b"RIFF") {
            let expected = "samples alone: `ernn predict` reads a WAVE file without --stream";
            return Err(Error::format(place, "", "a WAVE file", expected));
        }
        let (whole, rest) = bytes[..filled].as_chunks::<2>();
        if read == 0 && !rest.is_empty() {
            let found = format!("half a sample behind {samples} of them");
            return Err(Error::format(place, "", found, "samples of two bytes each"));
        }
        let block: Vec<i16> = whole.iter().map(|&sample| i16::from_le_bytes(sample)).collect();
        samples += block.len() as u64;
        for features in hearing.push(&block).chunks_exact(recipe.mel.filters) {
            step(features)?;
        }
        if read == 0 {
            return Ok(samples);
        }
        // An odd byte waits for its other half.
        let half = rest.first().copied();
        bytes[0] = half.unwrap_or(0);
        filled = usize::from(half.is_some());
    }
}

impl SoundRecipe {
    /// Steps a second.
    pub fn steps_per_second(&self) -> f64 {
        f64::from(self.mel.rate) / self.mel.step as f64
    }

    /// Seconds from the first sample to the end of a step, counted from 1.
    pub fn end_of(&self, step: usize) -> f64 {
        (step.saturating_sub(1) * self.mel.step + self.mel.window) as f64 / f64::from(self.mel.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MelSettings;

    /// Gives one byte, then two, then three, and so on.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            self.1 += 1;
            let count = self.1.min(self.0.len()).min(room.len());
            room[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn steps_are_those_of_the_whole_sound_however_it_comes() {
        let recipe = SoundRecipe {
            mel: MelSettings::at(8_000),
            length: None,
        };
        let samples: Vec<i16> = (0..3010_i32).map(|n| (n * n % 20_011 - 10_000) as i16).collect();
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let mut found = Vec::new();
        let mut heard = |reader: &mut dyn Read| {
            found.clear();
            let count = hear(&recipe, reader, Path::new("pipe"), |step| {
                found.extend_from_slice(step);
                Ok(())
            });
            count.map(|count| (count, found.clone()))
        };
        let whole: Vec<f32> = samples.iter().map(|&sample| f32::from(sample) / 32_768.0).collect();
        let expected = super::super::mel::MelBank::new(&recipe.mel).unwrap().features(&whole);
        let (count, steps) = heard(&mut Drops(&bytes, 0)).unwrap();
        // The last frame of a sound is filled up; a stream has no end.
        assert_eq!((count, steps.len()), (3010, expected.len() - 32));
        assert!(
            steps
                .iter()
                .zip(&expected)
                .all(|(found, expected)| found.to_bits() == expected.to_bits())
        );
        assert_eq!(heard(&mut &bytes[..]).unwrap().1, steps);
        let error = heard(&mut &bytes[..2001]).unwrap_err().to_string();
        let wave = heard(&mut &b"RIFF\0\0\0\0WAVE"[..]).unwrap_err().to_string();
        assert!(wave.starts_with("pipe: found a WAVE file, expected samples"), "{wave}");
        assert_eq!(
            error,
            "pipe: found half a sample behind 1000 of them, expected samples of two bytes each"
        );
        assert!((recipe.end_of(1) - 0.025).abs() < 1e-9 && (recipe.steps_per_second() - 100.0).abs() < 1e-9);
    }
}
