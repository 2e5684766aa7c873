//! Log mel filter banks: sound becomes `[frames, filters]`.
//!
//! ```text
//! b[j]    = floor((nfft + 1) hertz(j) / rate)              j = 0 .. filters + 1, evenly spaced in mel from 0 to rate / 2
//! frames  = 1 + ceil((samples - window) / step)
//! mel     = 2595 log10(1 + hertz / 700)
//! ```
//!
//! The other formulas are those of [`ernn_core::sound`], which computes the features here and on every device, in whole numbers and so to
//! the same bits; its tables are made here. Sound is rounded to samples of 16 bits, as a device gets them.
//!
//! These are the steps of `fbank` in python_speech_features 0.6 and of EdgeML's `process_google.py`, on which the published
//! results with Speech Commands rest: windows of 25 ms every 10 ms, 32 filters, nfft 512. The features come within 0.005 of the same
//! steps in `f64` (the tests hold it), where their deviation is about 6.
//!
//! Davis, Mermelstein, "Comparison of parametric representations for monosyllabic word recognition", IEEE Transactions on
//! Acoustics, Speech, and Signal Processing 28 (4), 1980.

use ernn_core::image::{CHECKSUM_AT, checksum};
use ernn_core::sound::{HEADER, MAGIC, VERSION};
use serde::{Deserialize, Serialize};

use super::Hearing;
use crate::{Error, Result};

/// What one unit of a 16-bit sample is.
const FULL_SCALE: f32 = 32_768.0;
/// What 1 is in the tables.
const ONE: f64 = 32_768.0;

/// How sound becomes features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MelSettings {
    /// Samples a second; sound of another rate is resampled first.
    pub rate: u32,
    /// Samples a frame.
    pub window: usize,
    /// Samples from frame to frame, at most `window`.
    pub step: usize,
    /// Points of the Fourier transform, a power of two, at least `window`.
    pub nfft: usize,
    /// Features a frame.
    pub filters: usize,
    /// Share of the sample before that is subtracted.
    pub pre_emphasis: f32,
}

impl MelSettings {
    /// 25 ms every 10 ms, 32 filters, as EdgeML has it for Speech Commands at 16,000 samples a second.
    pub fn at(rate: u32) -> MelSettings {
        let samples = |milliseconds: u64| ((u64::from(rate) * milliseconds + 500) / 1000) as usize;
        MelSettings {
            rate,
            window: samples(25),
            step: samples(10),
            nfft: samples(25).next_power_of_two().max(512),
            filters: 32,
            pre_emphasis: 0.97,
        }
    }

    /// Frames of a sound of so many samples.
    pub fn frames(&self, samples: usize) -> usize {
        1 + samples.saturating_sub(self.window).div_ceil(self.step)
    }

    /// The tables of [`ernn_core::sound`], as its image.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn image(&self) -> Result<Vec<u8>> {
        self.check()?;
        let whole = |value: f64| (value * ONE).round().clamp(-ONE, ONE - 1.0) as i16;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 10]);
        let emphasis = (f64::from(self.pre_emphasis) * ONE).round() as usize;
        let sizes = [
            self.rate as usize,
            self.window,
            self.step,
            self.nfft,
            self.filters,
            emphasis,
        ];
        bytes.extend(sizes.into_iter().flat_map(|size| (size as u32).to_le_bytes()));
        debug_assert_eq!(bytes.len(), HEADER);
        let hamming = |n: usize| 0.54 - 0.46 * (std::f64::consts::TAU * n as f64 / (self.window - 1) as f64).cos();
        bytes.extend((0..self.window.div_ceil(2)).flat_map(|n| whole(hamming(n)).to_le_bytes()));
        let edges = self.edges();
        bytes.extend(edges.iter().flat_map(|&edge| (edge as u16).to_le_bytes()));
        bytes.extend((0..self.nfft / 2).flat_map(|bin| rise(&edges, bin).to_le_bytes()));
        bytes.extend((0..self.nfft / 2).flat_map(|k| {
            let (sine, cosine) = (std::f64::consts::TAU * k as f64 / self.nfft as f64).sin_cos();
            [cosine, sine].map(whole).map(i16::to_le_bytes).concat()
        }));
        let length = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
        let sum = checksum(&bytes).to_le_bytes();
        bytes[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&sum);
        Ok(bytes)
    }

    /// The bins `b` of the formula on top.
    fn edges(&self) -> Vec<usize> {
        let rate = f64::from(self.rate);
        let highest = 2595.0 * (1.0 + rate / 2.0 / 700.0).log10();
        let gaps = self.filters + 1;
        let edge = |index: usize| {
            let mel = highest * index as f64 / gaps as f64;
            let hertz = 700.0 * (10f64.powf(mel / 2595.0) - 1.0);
            (((self.nfft + 1) as f64 * hertz / rate) as usize).min(self.nfft / 2)
        };
        (0..=gaps).map(edge).collect()
    }

    fn check(&self) -> Result<()> {
        let refuse = |name: &str, found: usize, expected: &str| Err(Error::setting(name, found, expected));
        match self {
            MelSettings { rate: 0, .. } => refuse("rate", 0, "at least 1 sample a second"),
            MelSettings { step: 0, .. } => refuse("step", 0, "at least 1 sample"),
            MelSettings { filters: 0, .. } => refuse("filters", 0, "at least 1"),
            MelSettings { pre_emphasis, .. } if !(0.0..=1.0).contains(pre_emphasis) => {
                Err(Error::setting("pre_emphasis", pre_emphasis, "0 to 1"))
            }
            _ if self.window < 2 => refuse("window", self.window, "at least 2 samples"),
            _ if self.step > self.window => {
                refuse("step", self.step, &format!("at most the window of {}", self.window))
            }
            _ if !self.nfft.is_power_of_two() || !(8..=1 << 15).contains(&self.nfft) => {
                refuse("nfft", self.nfft, "a power of two from 8 to 32768")
            }
            _ if self.nfft < self.window => {
                refuse("nfft", self.nfft, &format!("at least the window of {}", self.window))
            }
            _ => Ok(()),
        }
    }
}

/// How far a bin is from the edge before it to the next one, times 2^15.
fn rise(edges: &[usize], bin: usize) -> u16 {
    let next = edges.partition_point(|&edge| edge <= bin);
    match (next.checked_sub(1).map(|before| edges[before]), edges.get(next)) {
        (Some(before), Some(next)) => ((bin - before) as f64 / (next - before) as f64 * ONE).round() as u16,
        _ => 0,
    }
}

/// Everything that is the same for all sounds.
pub(super) struct MelBank {
    beginning: Hearing,
}

impl MelBank {
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: &MelSettings) -> Result<MelBank> {
        Ok(MelBank {
            beginning: Hearing::new(settings)?,
        })
    }

    /// The features of a sound `[samples]` with full scale -1 to 1, `[frames, filters]`.
    pub fn features(&self, samples: &[f32]) -> Vec<f32> {
        let whole: Vec<i16> = samples
            .iter()
            .map(|sample| (sample * FULL_SCALE).round() as i16)
            .collect();
        let mut hearing = self.beginning.clone();
        let mut features = hearing.push(&whole);
        features.extend(hearing.end().into_iter().flatten());
        features
    }
}

#[cfg(test)]
#[path = "mel_tests.rs"]
mod tests;
