//! Sound that comes bit by bit.

use super::FrontEnd;
use crate::error::RunError;

/// What a sound keeps whose frames are made as its samples come, besides the samples of the frame that is to come: numbers of the caller's, as
/// many as the front end's [`SoundSizes`](super::SoundSizes) say.
///
/// ```
/// use ernn_core::sound::{FrontEnd, Sound};
///
/// # fn run(front: &FrontEnd, mut heard: &[i16]) -> Result<(), Box<dyn std::error::Error>> {
/// # let sizes = front.sizes();
/// # let (mut samples, mut work, mut features) = (vec![0; sizes.samples], vec![0; sizes.work], vec![0.0; sizes.features]);
/// let mut sound = Sound::new();
/// while sound.push(front, &mut samples, &mut heard, &mut work, &mut features)? {
///     // A step of the model: session.push(&mut scratch, &features)?;
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sound {
    /// The sample before the frame.
    before: i16,
    /// So many of the frame's samples are there.
    filled: usize,
    /// Whether one of them was in no frame; of the first frame also before there is any.
    new: bool,
}

impl Default for Sound {
    fn default() -> Self {
        Self::new()
    }
}

impl Sound {
    /// A sound at its beginning.
    pub const fn new() -> Self {
        Sound {
            before: 0,
            filled: 0,
            new: true,
        }
    }

    /// The next sample is a first one.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Takes samples from the front of `heard` up to the end of a frame. True: `features` are those of a frame, and what is left of `heard`
    /// is to be pushed next. False: all were taken, and no frame ended.
    ///
    /// # Errors
    /// If a slice has another length than the front end's sizes; nothing is taken then.
    pub fn push(
        &mut self,
        front: &FrontEnd,
        samples: &mut [i16],
        heard: &mut &[i16],
        work: &mut [i32],
        features: &mut [f32],
    ) -> Result<bool, RunError> {
        front.fits(samples)?;
        let room = samples.get_mut(self.filled..).unwrap_or(&mut []);
        let taken = room.len().min(heard.len());
        let (now, later) = heard.split_at_checked(taken).unwrap_or((&[], &[]));
        let whole = taken == room.len();
        for (room, sample) in room.iter_mut().zip(now) {
            *room = *sample;
        }
        if whole {
            // Refused, the samples are still the caller's.
            front.features(self.before, samples, work, features)?;
            self.advance(front.sizes().step, samples);
        } else {
            self.filled = self.filled.wrapping_add(taken);
            self.new |= taken > 0;
        }
        *heard = later;
        Ok(whole)
    }

    /// The end of the sound. True: `features` are those of its last frame, which silence fills up; false: its samples were all in frames.
    /// A sound without a sample is one silent frame. What follows is a sound of its own.
    ///
    /// # Errors
    /// As [`Sound::push`].
    pub fn end(
        &mut self,
        front: &FrontEnd,
        samples: &[i16],
        work: &mut [i32],
        features: &mut [f32],
    ) -> Result<bool, RunError> {
        front.fits(samples)?;
        if self.new {
            let there = samples.get(..self.filled).unwrap_or(&[]);
            front.features(self.before, there, work, features)?;
        }
        let one_more = self.new;
        self.reset();
        Ok(one_more)
    }

    /// Keeps the samples that the next frame shares with the one that was made.
    fn advance(&mut self, step: usize, samples: &mut [i16]) {
        let last = samples.get(step.wrapping_sub(1));
        self.before = last.copied().unwrap_or(0);
        let kept = samples.len().wrapping_sub(step);
        for place in 0..kept {
            let sample = samples.get(place.wrapping_add(step)).copied();
            if let (Some(room), Some(sample)) = (samples.get_mut(place), sample) {
                *room = sample;
            }
        }
        self.filled = kept;
        self.new = false;
    }
}
