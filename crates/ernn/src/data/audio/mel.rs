//! Log mel filter banks: sound becomes `[frames, filters]`.
//!
//! ```text
//! s[n]    = x[n] - 0.97 x[n-1], s[0] = x[0]                x in units of a 16-bit sample
//! frame f = s[step f .. step f + window], times Hamming    1 + ceil((samples - window) / step) frames, the last one padded with 0
//! P[k]    = |DFT_nfft(frame)[k]|^2 / nfft                  k = 0 .. nfft / 2
//! b[j]    = floor((nfft + 1) hertz(j) / rate)              j = 0 .. filters + 1, evenly spaced in mel from 0 to rate / 2
//! E[j]    = sum_k P[k] triangle(k; b[j], b[j+1], b[j+2])   an E of 0 becomes 2.2e-16
//! feature = ln(E[j] + 1e-10)
//! mel     = 2595 log10(1 + hertz / 700)
//! ```
//!
//! These are the steps of `fbank` in python_speech_features 0.6 and of EdgeML's `process_google.py`, on which the published
//! results with Speech Commands rest: windows of 25 ms every 10 ms, 32 filters, nfft 512. All in `f32`: the features come
//! within 1e-3 of the same steps in `f64` (the tests hold it), where their deviation is about 6.
//!
//! Davis, Mermelstein, "Comparison of parametric representations for monosyllabic word recognition", IEEE Transactions on
//! Acoustics, Speech, and Signal Processing 28 (4), 1980.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};

use crate::{Error, Result};

/// What one unit of a 16-bit sample is, and the constants of the sources named on top.
const FULL_SCALE: f32 = 32_768.0;
const NOTHING: f32 = f64::EPSILON as f32;
const OFFSET: f32 = 1e-10;

/// How sound becomes features.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MelSettings {
    /// Samples a second; sound of another rate is resampled first.
    pub rate: u32,
    /// Samples a frame.
    pub window: usize,
    /// Samples from frame to frame.
    pub step: usize,
    /// Points of the Fourier transform, at least `window`.
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

    fn check(&self) -> Result<()> {
        let refuse = |name: &str, found: usize, expected: &str| Err(Error::setting(name, found, expected));
        match self {
            MelSettings { rate: 0, .. } => refuse("rate", 0, "at least 1 sample a second"),
            MelSettings { step: 0, .. } => refuse("step", 0, "at least 1 sample"),
            MelSettings { filters: 0, .. } => refuse("filters", 0, "at least 1"),
            _ if self.window < 2 => refuse("window", self.window, "at least 2 samples"),
            _ if self.nfft < self.window => {
                refuse("nfft", self.nfft, &format!("at least the window of {}", self.window))
            }
            _ => Ok(()),
        }
    }
}

/// The sum over one triangle.
struct Filter {
    /// The first bin with a weight.
    first: usize,
    weights: Vec<f32>,
}

/// Everything that is the same for all sounds.
pub(super) struct MelBank {
    settings: MelSettings,
    hamming: Vec<f32>,
    transform: Arc<dyn RealToComplex<f32>>,
    filters: Vec<Filter>,
}

impl MelBank {
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: &MelSettings) -> Result<MelBank> {
        settings.check()?;
        Ok(MelBank {
            settings: settings.clone(),
            hamming: hamming(settings.window),
            transform: RealFftPlanner::new().plan_fft_forward(settings.nfft),
            filters: filters(settings),
        })
    }

    /// The features of a sound `[samples]` with full scale -1 to 1, `[frames, filters]`.
    pub fn features(&self, samples: &[f32]) -> Vec<f32> {
        let MelSettings { window, step, .. } = self.settings;
        let emphasized = self.emphasize(samples);
        let frames = self.settings.frames(samples.len());
        let mut features = Vec::with_capacity(frames * self.filters.len());
        let mut input = self.transform.make_input_vec();
        let mut spectrum = self.transform.make_output_vec();
        let mut scratch = self.transform.make_scratch_vec();
        let mut power = vec![0.0; spectrum.len()];
        for frame in 0..frames {
            let content = &emphasized[(frame * step).min(samples.len())..];
            input.fill(0.0); // The transform uses its input as working space.
            let windowed = input[..window].iter_mut().zip(content).zip(&self.hamming);
            windowed.for_each(|((value, sample), weight)| *value = sample * weight);
            let outcome = self
                .transform
                .process_with_scratch(&mut input, &mut spectrum, &mut scratch);
            outcome.expect("the vectors were made by this transform");
            for (power, value) in power.iter_mut().zip(&spectrum) {
                *power = value.norm_sqr() / self.settings.nfft as f32;
            }
            features.extend(self.filters.iter().map(|filter| filter.log_energy(&power)));
        }
        features
    }

    fn emphasize(&self, samples: &[f32]) -> Vec<f32> {
        let first = samples.first().map(|sample| sample * FULL_SCALE);
        let others = samples
            .windows(2)
            .map(|pair| (pair[1] - self.settings.pre_emphasis * pair[0]) * FULL_SCALE);
        first.into_iter().chain(others).collect()
    }
}

impl Filter {
    fn log_energy(&self, power: &[f32]) -> f32 {
        let energy: f32 = self
            .weights
            .iter()
            .zip(&power[self.first..])
            .map(|(weight, power)| weight * power)
            .sum();
        let energy = if energy == 0.0 { NOTHING } else { energy };
        (energy + OFFSET).ln()
    }
}

fn hamming(window: usize) -> Vec<f32> {
    let step = std::f64::consts::TAU / (window - 1) as f64;
    (0..window)
        .map(|n| (0.54 - 0.46 * (step * n as f64).cos()) as f32)
        .collect()
}

/// The bins `b` of the formula on top.
fn edges(settings: &MelSettings) -> Vec<usize> {
    let rate = f64::from(settings.rate);
    let highest = 2595.0 * (1.0 + rate / 2.0 / 700.0).log10();
    let gaps = settings.filters + 1;
    let edge = |index: usize| {
        let mel = highest * index as f64 / gaps as f64;
        let hertz = 700.0 * (10f64.powf(mel / 2595.0) - 1.0);
        ((settings.nfft + 1) as f64 * hertz / rate) as usize
    };
    (0..=gaps).map(edge).collect()
}

fn filters(settings: &MelSettings) -> Vec<Filter> {
    let triangle = |edges: &[usize]| {
        let [left, center, right] = [edges[0], edges[1], edges[2]];
        let rising = (left..center).map(|bin| (bin - left) as f32 / (center - left) as f32);
        let falling = (center..right).map(|bin| (right - bin) as f32 / (right - center) as f32);
        Filter {
            first: left,
            weights: rising.chain(falling).collect(),
        }
    };
    edges(settings).windows(3).map(triangle).collect()
}

#[cfg(test)]
#[path = "mel_tests.rs"]
mod tests;
