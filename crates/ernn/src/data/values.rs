//! What the sequences of a part are made of: numbers, pictures that are read as sequences, or tokens.
//!
//! Pictures stay bytes, one a color, and are turned into numbers only where a batch needs them:
//!
//! ```text
//! value = byte / 255        [pixels / row steps, row * colors], then `noise.steps` steps of standard normal numbers
//! ```
//!
//! A permutation is an order of reading; noise is drawn when it is read, from its seed. So neither takes memory.

use std::str::FromStr;

use super::random::Normals;
use crate::{Error, Result};

/// The values of all sequences of a part.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `[total steps, features]`.
    Numbers(Vec<f32>),
    /// Pictures, one a sequence.
    Images(Images),
    /// Indices into the data set's vocabulary, `[total steps]`.
    Tokens(Vec<u32>),
}

impl Default for Values {
    fn default() -> Self {
        Values::Numbers(Vec::new())
    }
}

impl Values {
    /// The numbers; none if the sequences are pictures or tokens.
    pub fn numbers(&self) -> &[f32] {
        match self {
            Values::Numbers(values) => values,
            _ => &[],
        }
    }

    /// The tokens; none if the sequences are something else.
    pub fn tokens(&self) -> &[u32] {
        match self {
            Values::Tokens(tokens) => tokens,
            _ => &[],
        }
    }

    /// Whether the sequences are tokens.
    pub fn are_tokens(&self) -> bool {
        matches!(self, Values::Tokens(_))
    }

    /// Bytes that they take in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Values::Numbers(values) => size_of_val(&values[..]),
            Values::Images(images) => images.bytes.len(),
            Values::Tokens(tokens) => size_of_val(&tokens[..]),
        }
    }
}

/// Pictures of equal size, each read as a sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Images {
    /// `[count, pixels, colors]`, one byte a color.
    pub bytes: Vec<u8>,
    /// Height times width.
    pub pixels: usize,
    /// Bytes a pixel.
    pub colors: usize,
    /// Pixels that make one step: 1, or the width for row by row.
    pub row: usize,
    /// Which pixel stands at each place of the sequence; none: as they are.
    pub order: Option<Vec<u32>>,
    /// Steps of noise behind each picture.
    pub noise: Option<NoiseSteps>,
}

/// Standard normal noise behind a picture: what must be remembered lies that far back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseSteps {
    /// How many steps.
    pub steps: usize,
    /// What it is drawn from.
    pub seed: u64,
    /// Whether each sequence has its own.
    pub kind: NoiseKind,
    /// Keeps the noise of training and test sequences apart.
    pub part: u64,
}

/// Whether every sequence has noise of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Each sequence has its own noise, the same in every epoch.
    #[default]
    Independent,
    /// One sample for all sequences of all parts.
    Fixed,
}

impl FromStr for NoiseKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "independent" => Ok(NoiseKind::Independent),
            "fixed" => Ok(NoiseKind::Fixed),
            _ => Err(Error::setting(
                "noise",
                text,
                "independent (each sequence its own) or fixed (one sample for all)",
            )),
        }
    }
}

impl Images {
    /// Number of pictures.
    pub fn len(&self) -> usize {
        self.bytes.len() / (self.pixels * self.colors).max(1)
    }

    /// Holds no picture.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values a step.
    pub fn features(&self) -> usize {
        self.row * self.colors
    }

    /// Steps of a sequence, noise included.
    pub fn steps(&self) -> usize {
        self.pixels / self.row.max(1) + self.noise.map_or(0, |noise| noise.steps)
    }

    /// The bytes of a picture, in the order of the file.
    pub fn picture(&self, index: usize) -> &[u8] {
        let size = self.pixels * self.colors;
        &self.bytes[index * size..(index + 1) * size]
    }

    /// Writes a sequence `[steps, features]`: pixels through `table` (`[color][byte]`), noise as it is drawn.
    pub(super) fn read(&self, index: usize, table: &[[f32; 256]], out: &mut [f32]) {
        let (picture, noise) = out.split_at_mut(self.pixels * self.colors);
        let bytes = self.picture(index);
        match &self.order {
            None => {
                for (pixel, values) in bytes
                    .chunks_exact(self.colors)
                    .zip(picture.chunks_exact_mut(self.colors))
                {
                    write_pixel(pixel, table, values);
                }
            }
            Some(order) => {
                for (&place, values) in order.iter().zip(picture.chunks_exact_mut(self.colors)) {
                    write_pixel(&bytes[place as usize * self.colors..][..self.colors], table, values);
                }
            }
        }
        if let Some(settings) = self.noise {
            let (part, sequence) = match settings.kind {
                NoiseKind::Independent => (settings.part, index as u64 + 1),
                NoiseKind::Fixed => (0, 0),
            };
            Normals::new(settings.seed ^ NOISE_PURPOSE, part, sequence).fill(noise);
        }
    }
}

/// Apart from the noise that a training adds to its inputs.
const NOISE_PURPOSE: u64 = u64::from_le_bytes(*b"behind\0\0");

fn write_pixel(bytes: &[u8], table: &[[f32; 256]], values: &mut [f32]) {
    for ((value, &byte), table) in values.iter_mut().zip(bytes).zip(table) {
        *value = table[usize::from(byte)];
    }
}

/// `byte / 255` for each byte.
pub(super) fn plain_table() -> [f32; 256] {
    std::array::from_fn(|byte| byte as f32 / 255.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images() -> Images {
        Images {
            bytes: (0..24).map(|byte| byte * 10).collect(),
            pixels: 4,
            colors: 3,
            row: 2,
            ..Images::default()
        }
    }

    fn read(images: &Images, index: usize) -> Vec<f32> {
        let mut out = vec![0.0; images.steps() * images.features()];
        images.read(index, &vec![plain_table(); images.colors], &mut out);
        out
    }

    #[test]
    fn rows_are_steps() {
        let images = images();
        assert_eq!((images.len(), images.steps(), images.features()), (2, 2, 6));
        let expected: Vec<f32> = (12..24).map(|byte| (byte * 10) as f32 / 255.0).collect();
        assert_eq!(read(&images, 1), expected);
    }

    #[test]
    fn an_order_reads_pixels_elsewhere() {
        let permuted = Images {
            row: 1,
            order: Some(vec![2, 0, 3, 1]),
            ..images()
        };
        let values = read(&permuted, 0);
        let of_pixel = |pixel: usize| (0..3).map(move |color| ((3 * pixel + color) * 10) as f32 / 255.0);
        let expected: Vec<f32> = [2, 0, 3, 1].into_iter().flat_map(of_pixel).collect();
        assert_eq!(values, expected);
    }

    #[test]
    fn noise_stands_behind_the_picture_and_depends_on_its_names() {
        let noisy = |seed, kind, part, index| {
            let noise = NoiseSteps {
                steps: 500,
                seed,
                kind,
                part,
            };
            let images = Images {
                noise: Some(noise),
                ..images()
            };
            assert_eq!(images.steps(), 502);
            let values = read(&images, index);
            assert_eq!(values[..12], read(&self::images(), index));
            values[12..].to_vec()
        };
        use NoiseKind::{Fixed, Independent};
        let first = noisy(1, Independent, 0, 0);
        assert_eq!(first, noisy(1, Independent, 0, 0));
        for other in [
            noisy(2, Independent, 0, 0),
            noisy(1, Independent, 1, 0),
            noisy(1, Independent, 0, 1),
        ] {
            assert_ne!(first, other);
        }
        assert_eq!(noisy(1, Fixed, 0, 0), noisy(1, Fixed, 1, 1));
        assert_ne!(noisy(1, Fixed, 0, 0), noisy(2, Fixed, 0, 0));
        let mean = first.iter().sum::<f32>() / 3000.0;
        let square = first.iter().map(|value| value * value).sum::<f32>() / 3000.0;
        assert!(mean.abs() < 0.1 && (square - 1.0).abs() < 0.15, "{mean} {square}");
    }
}
