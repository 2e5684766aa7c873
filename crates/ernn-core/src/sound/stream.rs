//! Sound that comes bit by bit.

use super::FrontEnd;
use crate::error::RunError;

/// A sound from which frames are made as its samples come.
///
/// ```
/// use ernn_core::sound::{FrontEnd, Sound};
///
/// # fn run(front: &FrontEnd, mut heard: &[i16]) -> Result<(), Box<dyn std::error::Error>> {
/// # let sizes = front.sizes();
/// # let (mut samples, mut work, mut features) = (vec![0; sizes.samples], vec![0; sizes.work], vec![0.0; sizes.features]);
/// let mut sound = Sound::new(front, &mut samples)?;
/// while sound.push(&mut heard, &mut work, &mut features)? {
///     // A step of the model: session.push(&mut scratch, &features)?;
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Sound<'f, 's> {
    front: &'f FrontEnd<'f>,
    /// The first `filled` are the samples of the frame that is to come.
    samples: &'s mut [i16],
    before: i16,
    filled: usize,
    /// Samples in the frame that none before it had; of the first frame all of them.
    new: bool,
}

impl<'f, 's> Sound<'f, 's> {
    /// A sound at its beginning.
    ///
    /// # Errors
    /// If `samples` are not as many as the front end's [`SoundSizes`](super::SoundSizes) say.
    pub fn new(front: &'f FrontEnd<'f>, samples: &'s mut [i16]) -> Result<Self, RunError> {
        let (found, expected) = (samples.len(), front.sizes().samples);
        if found != expected {
            return Err(RunError::Length {
                what: "samples",
                found,
                expected,
            });
        }
        Ok(Sound {
            front,
            samples,
            before: 0,
            filled: 0,
            new: true,
        })
    }

    /// The next sample is a first one.
    pub fn reset(&mut self) {
        (self.before, self.filled, self.new) = (0, 0, true);
    }

    /// Takes samples from the front of `heard` up to the end of a frame. True: `features` are those of a frame, and what is left of `heard`
    /// is to be pushed next. False: all were taken, and no frame ended.
    ///
    /// # Errors
    /// If working space or features have another length than the front end's sizes; nothing is taken then.
    pub fn push(&mut self, heard: &mut &[i16], work: &mut [i32], features: &mut [f32]) -> Result<bool, RunError> {
        let room = self.samples.get_mut(self.filled..).unwrap_or(&mut []);
        let taken = room.len().min(heard.len());
        let (now, later) = heard.split_at_checked(taken).unwrap_or((&[], &[]));
        let whole = taken == room.len();
        for (room, sample) in room.iter_mut().zip(now) {
            *room = *sample;
        }
        if whole {
            // Refused, the samples are still the caller's.
            self.front.features(self.before, self.samples, work, features)?;
            self.advance();
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
    pub fn end(&mut self, work: &mut [i32], features: &mut [f32]) -> Result<bool, RunError> {
        let samples = self.samples.get(..self.filled).unwrap_or(&[]);
        if self.new {
            self.front.features(self.before, samples, work, features)?;
        }
        let one_more = self.new;
        self.reset();
        Ok(one_more)
    }

    /// Keeps the samples that the next frame shares with the one that was made.
    fn advance(&mut self) {
        let step = self.front.sizes().step;
        let last = self.samples.get(step.wrapping_sub(1));
        self.before = last.copied().unwrap_or(0);
        let kept = self.samples.len().wrapping_sub(step);
        for place in 0..kept {
            let sample = self.samples.get(place.wrapping_add(step)).copied();
            if let (Some(room), Some(sample)) = (self.samples.get_mut(place), sample) {
                *room = sample;
            }
        }
        self.filled = kept;
        self.new = false;
    }
}
