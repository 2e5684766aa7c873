//! Sound that is heard now: samples from a pipe become the steps of a model.

use std::io::{ErrorKind, Read};
use std::path::Path;

use ernn_core::sound::{FrontEnd, Sound};

use super::{MelSettings, SoundRecipe};
use crate::{Error, Result};

/// Samples that are read at a time at most: what a pipe has, it gives at once.
const BLOCK: usize = 4096;

/// A sound whose samples come bit by bit, and become the steps of a model.
#[derive(Clone, Debug)]
pub struct Hearing {
    /// As [`FrontEnd::parse`] reads it.
    image: Vec<u8>,
    sound: Sound,
    samples: Vec<i16>,
    work: Vec<i32>,
    step: Vec<f32>,
}

const FITS: &str = "sizes are those of the front end";

impl Hearing {
    /// A sound at its beginning.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(mel: &MelSettings) -> Result<Self> {
        Ok(Hearing {
            image: mel.image()?,
            sound: Sound::new(),
            samples: vec![0; mel.window],
            work: vec![0; mel.nfft],
            step: vec![0.0; mel.filters],
        })
    }

    /// The tables of the front end.
    pub(crate) fn image(&self) -> &[u8] {
        &self.image
    }

    /// Takes samples at the settings' rate; gives the steps that end with them, `[steps, features]`.
    pub fn push(&mut self, mut heard: &[i16]) -> Vec<f32> {
        let Hearing {
            image,
            sound,
            samples,
            work,
            step,
        } = self;
        let front = front(image);
        let mut steps = Vec::with_capacity((heard.len() / front.sizes().step + 2) * step.len());
        while sound.push(&front, samples, &mut heard, work, step).expect(FITS) {
            steps.extend_from_slice(step);
        }
        steps
    }

    /// The end of the sound; gives the step that its last samples make, filled up with silence, if they were in none. The next sample is a
    /// first one.
    pub fn end(&mut self) -> Option<&[f32]> {
        let front = front(&self.image);
        let one_more = self.sound.end(&front, &self.samples, &mut self.work, &mut self.step);
        one_more.expect(FITS).then_some(&self.step)
    }

    /// The next sample is a first one.
    pub fn reset(&mut self) {
        self.sound.reset();
    }
}

fn front(image: &[u8]) -> FrontEnd<'_> {
    FrontEnd::parse(image).expect("the image was made here")
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
    let mut hearing = Hearing::new(&recipe.mel)?;
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
