//! Log mel features of sound: samples of 16 bits become the steps of a model, in whole numbers, so that training, every machine and
//! exported C have the same bits.
//!
//! ```text
//! s[n]    = x[n] - c x[n-1], s[0] = x[0]                   x: samples; c: pre-emphasis
//! frame f = s[step f .. step f + window], times Hamming    the last one of a sound is padded with 0
//! P[k]    = |DFT_nfft(frame)[k]|^2 / nfft
//! E[j]    = sum_k P[k] triangle(k; b[j], b[j+1], b[j+2])   b: edges in bins
//! feature = ln(E[j]), of a silent E ln(1e-10)
//! ```
//!
//! A frame is brought to 28 bits by a shift of its own (block floating point), so that quiet sound has the precision of loud sound. The
//! transform halves its numbers at each stage, which is its only rounding besides that of its factors (16 bits). Powers are whole numbers
//! of 64 bits, and their logarithm a table with straight lines between 33 points. Against the same formula in `f64` features of speech
//! and noise are within 0.005 (the tests of `ernn` hold it), where their deviation is about 6.
//!
//! The tables are bytes that [`FrontEnd::parse`] reads where they lie, in the layout below; all numbers are little-endian.
//!
//! | byte | |
//! |---|---|
//! | 0 | magic `ERNS` |
//! | 4 | version, `u16`; 1 |
//! | 6 | kind, `u16`: 0 log mel |
//! | 8 | length in bytes |
//! | 12 | checksum of all other bytes, as of a model's [`image`](crate::image) |
//! | 16 | samples a second, samples of a frame (`window`), from frame to frame (`step`), points of the transform (`nfft`), features of a frame (`filters`), each `u32` |
//! | 36 | pre-emphasis times 2^15, `u32` |
//! | 40 | the first half of the Hamming window times 2^15, `i16`, `(window + 1) / 2` numbers |
//! | then | the edges `b` of the triangles in bins, `u16`, `filters + 2` numbers |
//! | then | how far each bin is from the edge before it to the next, times 2^15, `u16`, `nfft / 2` numbers |
//! | then | cosine and sine of `2 pi k / nfft`, times 2^15, two `i16`, for `k` below `nfft / 2` |

mod logarithm;
mod stream;
mod transform;

pub use self::logarithm::{SILENCE, TABLE};
pub use self::stream::Sound;

use crate::error::{ParseError, RunError};
use crate::image::{opened, word};

/// The first bytes.
pub const MAGIC: [u8; 4] = *b"ERNS";
/// The version that is written here.
pub const VERSION: u16 = 1;
/// Bytes before the tables.
pub const HEADER: usize = 40;
/// Bits that the largest number of a frame is brought to.
const TOP_BIT: u32 = 28;
/// Bits that powers lose, so that their sums fit.
const POWER_SHIFT: u32 = 12;
/// What 1 is in the tables.
const ONE: u64 = 1 << 15;

/// How many numbers a front end needs, readable at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoundSizes {
    /// Samples a second.
    pub rate: usize,
    /// Samples that a stream keeps: those of a frame.
    pub samples: usize,
    /// Samples from frame to frame.
    pub step: usize,
    /// Numbers of the working space, which streams share.
    pub work: usize,
    /// Features of a frame.
    pub features: usize,
}

impl SoundSizes {
    /// The sizes in a front end's header; zeros where there is none. [`FrontEnd::parse`] checks them.
    pub const fn of(image: &[u8]) -> Self {
        SoundSizes {
            rate: word(image, 16) as usize,
            samples: word(image, 20) as usize,
            step: word(image, 24) as usize,
            work: word(image, 28) as usize,
            features: word(image, 32) as usize,
        }
    }
}

/// Numbers of two bytes.
type Halves<'a> = &'a [[u8; 2]];

/// What turns samples into features; its tables stay where they are.
#[derive(Clone, Copy, Debug)]
pub struct FrontEnd<'a> {
    sizes: SoundSizes,
    /// Of `nfft / 2`.
    bits: u32,
    emphasis: i32,
    hamming: Halves<'a>,
    edges: Halves<'a>,
    rises: Halves<'a>,
    turns: &'a [[[u8; 2]; 2]],
}

impl<'a> FrontEnd<'a> {
    /// The front end in these bytes.
    ///
    /// # Errors
    /// If they were cut or changed, if a later version wrote them, or they contradict themselves.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let kind = opened(bytes, MAGIC, VERSION, HEADER)?;
        if kind != 0 {
            return Err(ParseError::Format { found: kind });
        }
        Self::tables(bytes).ok_or(ParseError::Content("sizes of a front end"))
    }

    fn tables(bytes: &'a [u8]) -> Option<Self> {
        let sizes = SoundSizes::of(bytes);
        let (nfft, emphasis) = (sizes.work, word(bytes, 36));
        let sound = nfft.is_power_of_two() && (8..=1 << 15).contains(&nfft) && emphasis <= 1 << 15;
        let framed = (1..=nfft).contains(&sizes.samples) && (1..=sizes.samples).contains(&sizes.step);
        if !sound || !framed || sizes.features == 0 || sizes.rate == 0 {
            return None;
        }
        let bins = nfft >> 1;
        let rest = bytes.get(HEADER..)?.as_chunks::<2>().0;
        let (hamming, rest) = rest.split_at_checked(sizes.samples.checked_add(1)? >> 1)?;
        let (edges, rest) = rest.split_at_checked(sizes.features.checked_add(2)?)?;
        let (rises, rest) = rest.split_at_checked(bins)?;
        let (turns, rest) = (rest.as_chunks::<2>().0, bytes.len() & 1);
        let mut last = 0;
        for edge in edges {
            let edge = u16::from_le_bytes(*edge);
            if edge < last || usize::from(edge) > bins {
                return None;
            }
            last = edge;
        }
        let whole = rises.iter().all(|rise| u64::from(u16::from_le_bytes(*rise)) <= ONE);
        (turns.len() == bins && rest == 0 && whole).then_some(FrontEnd {
            sizes,
            bits: bins.trailing_zeros(),
            emphasis: emphasis as i32,
            hamming,
            edges,
            rises,
            turns,
        })
    }

    /// How many numbers it needs.
    pub fn sizes(&self) -> SoundSizes {
        self.sizes
    }

    /// Whether these are the samples of a frame.
    fn fits(&self, samples: &[i16]) -> Result<(), RunError> {
        length("samples", samples.len(), self.sizes.samples)
    }

    /// The features of one frame: `samples` are its samples, fewer at the end of a sound, and `before` the one before them.
    ///
    /// # Errors
    /// If a slice has another length than [`FrontEnd::sizes`] says.
    pub fn features(
        &self,
        before: i16,
        samples: &[i16],
        work: &mut [i32],
        features: &mut [f32],
    ) -> Result<(), RunError> {
        length("samples", samples.len().max(self.sizes.samples), self.sizes.samples)?;
        length("working space", work.len(), self.sizes.work)?;
        length("features", features.len(), self.sizes.features)?;
        let Some(shift) = self.frame(before, samples, work) else {
            features.fill(SILENCE);
            return Ok(());
        };
        let bins = work.as_chunks_mut::<2>().0;
        transform::forward(bins, self.turns);
        transform::powers(bins, self.turns, POWER_SHIFT);
        self.filters(bins, shift, features);
        Ok(())
    }

    /// Puts a frame into the working space, emphasized, windowed, as pairs in the order that the transform begins with; gives the shift that
    /// has made its numbers large, none of silence.
    fn frame(&self, before: i16, samples: &[i16], work: &mut [i32]) -> Option<i32> {
        work.fill(0);
        let odd = self.sizes.samples & 1;
        let window = self.hamming.iter().chain(self.hamming.iter().rev().skip(odd));
        let (mut before, mut seen) = (i32::from(before), 0);
        for ((place, sample), weight) in samples.iter().enumerate().zip(window) {
            let sample = i32::from(*sample);
            let emphasized = (sample << 15).wrapping_sub(self.emphasis.wrapping_mul(before));
            let value = transform::half(emphasized, *weight);
            before = sample;
            seen |= value.unsigned_abs();
            let pair = transform::reversed(place >> 1, self.bits);
            if let Some(room) = work.get_mut((pair << 1) | (place & 1)) {
                *room = value;
            }
        }
        let shift = TOP_BIT as i32 - (31 - seen.leading_zeros() as i32);
        if seen == 0 {
            return None;
        }
        for value in work {
            *value = match shift {
                0.. => value.wrapping_shl(shift as u32),
                _ => value.wrapping_shr(shift.unsigned_abs()),
            };
        }
        Some(shift)
    }

    /// The logarithms of the triangles' sums over powers. Two triangles share each bin: what the right one takes rises as the left one's falls.
    fn filters(&self, powers: &[[i32; 2]], shift: i32, features: &mut [f32]) {
        // Powers are in units of 2^(12 - 15) nfft / 4 2^(-28 - 2 shift), the samples' own being 1.
        let exponent = self.bits as i32 - 32 - (shift << 1);
        let mut falling = 0_u64;
        let places = self.edges.iter().zip(self.edges.iter().skip(1)).enumerate();
        for (segment, (from, to)) in places {
            let [from, to] = [*from, *to].map(|edge| usize::from(u16::from_le_bytes(edge)));
            let (mut left, mut right) = (0_u64, 0_u64);
            let bins = powers.get(from..to).unwrap_or(&[]);
            for (power, rise) in bins.iter().zip(self.rises.get(from..to).unwrap_or(&[])) {
                let power = transform::joined(*power);
                let risen = power.wrapping_mul(u64::from(u16::from_le_bytes(*rise)));
                right = right.wrapping_add(risen);
                left = left.wrapping_add((power << 15).wrapping_sub(risen));
            }
            if let Some(feature) = segment.checked_sub(1).and_then(|place| features.get_mut(place)) {
                *feature = logarithm::natural(falling.wrapping_add(left), exponent);
            }
            falling = right;
        }
    }
}

fn length(what: &'static str, found: usize, expected: usize) -> Result<(), RunError> {
    match found == expected {
        true => Ok(()),
        false => Err(RunError::Length { what, found, expected }),
    }
}
