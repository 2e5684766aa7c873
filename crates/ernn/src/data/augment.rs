//! Augmentation: what training changes about each sequence, anew in every epoch, so that a model does not lean on what does not matter.
//!
//! ```text
//! rotation        x_i <- R x_i for the triads i of a device; R turns by the length of v around v, v ~ N(0, rotation^2 I)     [rad]
//! crop            a share of the steps, uniform in [0, crop), is cut off at the ends; the rest is stretched to the old length
//! shift           everything comes up to this share of the steps earlier or later; what is missing repeats the nearest step
//! warp            runs at exp(warp z) times the speed, z normal at five places and linear between them
//! mask_steps      a stretch of steps, of up to this share of them, is 0 after normalization
//! mask_channels   a band of channels, of up to this share of them, is 0 after normalization, and what is derived of them
//! ```
//!
//! Rotation and the three that move steps change the numbers of the data, before channels are derived and normalized; values between two
//! steps are linear (window slicing and warping: Um et al., arXiv 1706.00527; masks: Park et al., arXiv 1904.08779). Each is drawn from
//! (purpose, seed, epoch, sequence): neither threads nor other augmentations change what one draws.

use super::random::Normals;
use super::transforms::{Transforms, Triad};
use super::{Task, Values, View};
use crate::{Error, Result};

/// What is changed, and how much; 0: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Augmentation {
    /// Standard deviation of each component of the rotation vector, rad.
    pub rotation: f64,
    /// Largest share of the steps that is cut off at the ends.
    pub crop: f64,
    /// Largest share of the steps by which everything comes earlier or later.
    pub shift: f64,
    /// Standard deviation of the logarithm of the speed.
    pub warp: f64,
    /// Largest share of the steps that is masked.
    pub mask_steps: f64,
    /// Largest share of the channels that is masked.
    pub mask_channels: f64,
}

/// Places at which the speed of a warped sequence is drawn.
const KNOTS: usize = 5;

impl Augmentation {
    /// The augmentations by their names in the settings.
    fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("input_rotation", self.rotation),
            ("input_crop", self.crop),
            ("input_shift", self.shift),
            ("input_warp", self.warp),
            ("input_mask_steps", self.mask_steps),
            ("input_mask_channels", self.mask_channels),
        ]
    }

    /// Whether steps do not stay where they are.
    fn moves_steps(&self) -> bool {
        [self.crop, self.shift, self.warp].iter().any(|&size| size != 0.0)
    }

    /// Ready for sequences whose channels have these names; none where nothing is changed.
    ///
    /// # Errors
    /// If the sequences are not numbers, there are no triads to turn, or steps with labels of their own would be moved.
    pub fn ready(
        &self,
        transforms: &Transforms,
        view: &View,
        names: &[String],
        task: Task,
    ) -> Result<Option<Augmenter>> {
        let Some((name, size)) = self.named().into_iter().find(|(_, size)| *size != 0.0) else {
            return Ok(None);
        };
        if !matches!(view.first_part().map(|part| &part.values), Some(Values::Numbers(_))) {
            let found = format!("{size} for pictures or tokens");
            return Err(Error::setting(name, found, "0, or sequences of numbers"));
        }
        if self.moves_steps() && task.is_of_steps() {
            let moving = self.named().into_iter().skip(1).find(|(_, size)| *size != 0.0);
            let (name, size) = moving.unwrap_or((name, size));
            let found = format!("{size} for steps with labels of their own");
            return Err(Error::setting(name, found, "0: labels would not move with their steps"));
        }
        let devices = match self.rotation {
            0.0 => Vec::new(),
            _ => transforms.devices(names)?,
        };
        if self.rotation != 0.0 && devices.is_empty() {
            let found = format!("{} for the channels {}", self.rotation, super::list(names));
            let expected = "names that end in x, y, z or in numbers by threes, or --triads \"a,b,c;d,e,f\"";
            return Err(Error::setting("input_rotation", found, expected));
        }
        Ok(Some(Augmenter {
            sizes: *self,
            devices,
            channels: names.len(),
        }))
    }
}

/// For whom numbers are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    pub seed: u64,
    pub epoch: u64,
    pub sequence: u64,
}

impl Draw {
    fn normals(&self, purpose: &[u8; 8]) -> Normals {
        Normals::of(purpose, self.seed, self.epoch, self.sequence)
    }
}

/// An [`Augmentation`] of data whose channels are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Augmenter {
    sizes: Augmentation,
    /// The triads of each device.
    devices: Vec<Vec<Triad>>,
    channels: usize,
}

impl Augmenter {
    /// Whether the numbers of the data change, and not only what is made of them.
    pub(super) fn changes_numbers(&self) -> bool {
        self.sizes.rotation != 0.0 || self.sizes.moves_steps()
    }

    /// Writes the changed numbers of a sequence, `[length, channels]`.
    pub(super) fn numbers(&self, draw: Draw, stored: &[f32], out: &mut Vec<f32>) {
        out.clear();
        if self.sizes.moves_steps() {
            self.moved(draw, stored, out);
        } else {
            out.extend_from_slice(stored);
        }
        let mut random = draw.normals(b"rotation");
        for device in &self.devices {
            let mut vector = [0.0f32; 3];
            random.add(self.sizes.rotation as f32, &mut vector);
            let rotation = rotation(vector.map(f64::from));
            for step in out.chunks_exact_mut(self.channels) {
                device.iter().for_each(|triad| turn(&rotation, triad, step));
            }
        }
    }

    /// The steps at the places that crop, shift and warp ask for.
    fn moved(&self, draw: Draw, stored: &[f32], out: &mut Vec<f32>) {
        let channels = self.channels;
        let steps = stored.len() / channels;
        let last = steps.saturating_sub(1);
        for place in self.places(draw, steps) {
            let place = place.clamp(0.0, last as f64);
            let before = (place as usize).min(last);
            let after = (before + 1).min(last);
            let part = (place - before as f64) as f32;
            let [before, after] = [before, after].map(|step| &stored[step * channels..(step + 1) * channels]);
            out.extend(before.iter().zip(after).map(|(x, y)| x + part * (y - x)));
        }
    }

    /// Where in the sequence each step is taken from, in steps.
    fn places(&self, draw: Draw, steps: usize) -> Vec<f64> {
        let last = steps.saturating_sub(1) as f64;
        let mut places = match self.sizes.warp {
            0.0 => (0..steps).map(|step| step as f64).collect(),
            deviation => warped(&mut draw.normals(b"warping\0"), deviation, steps),
        };
        let mut random = draw.normals(b"crop\0\0\0\0");
        let cut = self.sizes.crop * random.uniform();
        let start = cut * random.uniform() * last;
        let mut random = draw.normals(b"shift\0\0\0");
        let shift = self.sizes.shift * (2.0 * random.uniform() - 1.0) * steps as f64;
        for place in &mut places {
            *place = start + (1.0 - cut) * *place - shift;
        }
        places
    }

    /// Masks normalized values, `[length, features]`: the first `by_channel` features are the data's channels and the derived ones, kind after
    /// kind; those behind them are of several channels.
    pub(super) fn mask(&self, draw: Draw, [features, by_channel]: [usize; 2], values: &mut [f32]) {
        let mut random = draw.normals(b"masking\0");
        let (first, width) = band(&mut random, self.sizes.mask_steps, values.len() / features.max(1));
        values[first * features..(first + width) * features].fill(0.0);
        let (first, width) = band(&mut random, self.sizes.mask_channels, self.channels);
        if width == 0 {
            return;
        }
        for step in values.chunks_exact_mut(features) {
            for kind in step[..by_channel].chunks_exact_mut(self.channels) {
                kind[first..first + width].fill(0.0);
            }
        }
    }
}

/// A stretch of up to this share of so many places: its first, and how many.
fn band(random: &mut Normals, share: f64, places: usize) -> (usize, usize) {
    let (width, start) = (random.uniform(), random.uniform());
    let width = ((width * share * places as f64).round() as usize).min(places);
    let start = (start * (places - width + 1) as f64) as usize;
    (start.min(places - width), width)
}

/// Places `0 ..= steps - 1` of a sequence that runs now faster, now slower, and takes as long.
fn warped(random: &mut Normals, deviation: f64, steps: usize) -> Vec<f64> {
    let mut knots = [0.0f32; KNOTS];
    random.fill(&mut knots);
    let last = steps.saturating_sub(1);
    let speed = |step: usize| {
        let place = (step as f64 + 0.5) / last.max(1) as f64 * (KNOTS - 1) as f64;
        let before = (place as usize).min(KNOTS - 2);
        let part = place - before as f64;
        let [z, next] = [knots[before], knots[before + 1]].map(f64::from);
        (deviation * (z + part * (next - z))).exp()
    };
    let mut place = 0.0;
    let mut places = vec![0.0];
    places.extend((0..last).map(|step| {
        place += speed(step);
        place
    }));
    places.truncate(steps);
    if place > 0.0 {
        places.iter_mut().for_each(|at| *at *= last as f64 / place);
    }
    places
}

/// The matrix that turns by the length of a vector around it (Rodrigues).
fn rotation(vector: [f64; 3]) -> [[f32; 3]; 3] {
    let angle = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (sine, cosine) = angle.sin_cos();
    // sin(a) / a and (1 - cos a) / a^2, which have limits at 0.
    let (first, second) = match angle {
        angle if angle < 1e-9 => (1.0, 0.5),
        angle => (sine / angle, (1.0 - cosine) / (angle * angle)),
    };
    let [x, y, z] = vector;
    let cross = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            let unit = if row == column { cosine } else { 0.0 };
            (unit + first * cross[row][column] + second * vector[row] * vector[column]) as f32
        })
    })
}

fn turn(rotation: &[[f32; 3]; 3], triad: &Triad, step: &mut [f32]) {
    let place = triad.map(|place| place as usize);
    let x = place.map(|place| step[place]);
    for (row, place) in rotation.iter().zip(place) {
        step[place] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    }
}

#[cfg(test)]
#[path = "augment_tests.rs"]
mod tests;
