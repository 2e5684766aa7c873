//! Sound at one sampling rate becomes sound at another.
//!
//! ```text
//! y[n] = sum_k h(n M / L - k) x[k]           M / L = rate of x / rate of y in lowest terms
//! h(t) = c sinc(c t) kaiser(t / width)       c = 0.96 min(1, L / M), width = 64 / min(1, L / M) samples of x
//! ```
//!
//! `n M / L` has `L` different fractions: the weights of each are formed once (a polyphase filter) and scaled to the sum 1.
//! With 64 zero crossings a side and a Kaiser window of 80 dB, frequencies up to 0.92 of the lower of the two Nyquist
//! frequencies pass, and what lies above that Nyquist frequency is 80 dB down. Sound is taken as 0 before its start and
//! behind its end.
//!
//! Rates without a common divisor would need as many sets of weights as the new rate has samples. Above [`MOST_PHASES`] the
//! nearest ratio with fewer is taken; it is wrong by less than one part in 8,000 of the pitch.
//!
//! Oppenheim, Schafer, "Discrete-Time Signal Processing", 3rd edition, sections 4.6 and 7.5; Kaiser, "Nonrecursive digital
//! filter design using the I0-sinh window function", ISCAS 1974.

/// Rates between which sound is resampled.
pub(super) const RATES: std::ops::RangeInclusive<u32> = 1_000..=768_000;
const MOST_PHASES: u32 = 1024;
/// Zero crossings of the sinc on each side.
const CROSSINGS: f64 = 64.0;
/// The middle of the transition band, so that its end is the Nyquist frequency.
const CUTOFF: f64 = 0.96;
/// Kaiser's parameter for 80 dB: 0.1102 (80 - 8.7).
const BETA: f64 = 7.857;

/// The way from one sampling rate to another.
pub(super) struct Resampler {
    /// `M` and `L`.
    ratio: (usize, usize),
    /// Weights a phase.
    taps: usize,
    /// `[L, taps]`; the first weight of a phase belongs to the sample `taps / 2 - 1` before the one at or before the time.
    weights: Vec<f32>,
}

impl Resampler {
    /// From `from` to `to` samples a second, both of [`RATES`].
    pub fn new(from: u32, to: u32) -> Resampler {
        let (m, l) = nearest_ratio(from, to);
        let narrowing = (f64::from(l) / f64::from(m)).min(1.0);
        let half = (CROSSINGS / narrowing).ceil() as usize;
        let taps = 2 * half;
        let mut weights = Vec::with_capacity(l as usize * taps);
        for phase in 0..l {
            let fraction = f64::from(phase) / f64::from(l);
            let set = (0..taps).map(|tap| weight(fraction + (half - 1) as f64 - tap as f64, narrowing));
            let set: Vec<f64> = set.collect();
            let sum: f64 = set.iter().sum();
            weights.extend(set.iter().map(|weight| (weight / sum) as f32));
        }
        Resampler {
            ratio: (m as usize, l as usize),
            taps,
            weights,
        }
    }

    /// The samples at the new rate, as many as begin within the sound.
    pub fn resample(&self, samples: &[f32]) -> Vec<f32> {
        let (m, l) = self.ratio;
        if m == l {
            return samples.to_vec();
        }
        (0..(samples.len() * l).div_ceil(m))
            .map(|n| self.at(samples, n * m / l, n * m % l))
            .collect()
    }

    /// The value `phase / L` behind sample `whole`.
    fn at(&self, samples: &[f32], whole: usize, phase: usize) -> f32 {
        let weights = &self.weights[phase * self.taps..][..self.taps];
        let before = self.taps / 2 - 1;
        // The filter begins before the first sample, and may end behind the last one.
        let skipped = before.saturating_sub(whole);
        let samples = &samples[(whole + skipped - before).min(samples.len())..];
        dot(&weights[skipped..], samples)
    }
}

/// `h(t)` but for a factor.
fn weight(t: f64, narrowing: f64) -> f64 {
    let position = t * narrowing / CROSSINGS;
    if position.abs() >= 1.0 {
        return 0.0;
    }
    let angle = std::f64::consts::PI * CUTOFF * narrowing * t;
    let sinc = if angle == 0.0 { 1.0 } else { angle.sin() / angle };
    sinc * bessel(BETA * (1.0 - position * position).sqrt())
}

/// The modified Bessel function of the first kind and order 0, by its power series.
pub(in crate::data) fn bessel(x: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..60 {
        term *= (x / 2.0 / f64::from(k)).powi(2);
        sum += term;
    }
    sum
}

/// The sum of products over the shorter of the two; eight sums, so that vector registers can hold them.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let length = a.len().min(b.len());
    let (a, b) = (a[..length].as_chunks::<8>(), b[..length].as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.0.iter().zip(b.0) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a.1.iter().zip(b.1).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// `from / to` in lowest terms, or the last convergent of its continued fraction with at most [`MOST_PHASES`] below the line.
fn nearest_ratio(from: u32, to: u32) -> (u32, u32) {
    let (mut above, mut below) = ((0, 1), (1, 0));
    let mut rest = (u64::from(from), u64::from(to));
    while rest.1 > 0 {
        let quotient = rest.0 / rest.1;
        let next = (quotient * above.1 + above.0, quotient * below.1 + below.0);
        if next.1 > u64::from(MOST_PHASES) {
            break;
        }
        above = (above.1, next.0);
        below = (below.1, next.1);
        rest = (rest.1, rest.0 % rest.1);
    }
    (above.1 as u32, below.1 as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(rate: u32, frequency: f64, count: usize) -> Vec<f32> {
        let step = std::f64::consts::TAU * frequency / f64::from(rate);
        (0..count).map(|n| (step * n as f64).sin() as f32).collect()
    }

    /// Rates as they occur, up and down, with short and long ratios.
    const PAIRS: [(u32, u32); 8] = [
        (8_000, 16_000),
        (11_025, 16_000),
        (22_050, 16_000),
        (32_000, 16_000),
        (44_100, 16_000),
        (48_000, 16_000),
        (96_000, 16_000),
        (16_000, 8_000),
    ];

    #[test]
    fn sines_that_both_rates_can_hold_stay_what_they_are() {
        for (from, to) in PAIRS {
            let resampler = Resampler::new(from, to);
            for share in [0.01, 0.3, 0.7, 0.9] {
                let frequency = share * f64::from(from.min(to)) / 2.0;
                let found = resampler.resample(&sine(from, frequency, from as usize / 2));
                let expected = sine(to, frequency, to as usize / 2);
                assert_eq!(found.len(), expected.len(), "{from} to {to}");
                // Away from the ends, where the sound is cut off.
                let inner = 400..expected.len() - 400;
                let error = inner.map(|n| (found[n] - expected[n]).abs()).fold(0.0, f32::max);
                assert!(error < 3e-4, "{from} to {to}, {frequency} Hz: {error}");
            }
        }
    }

    #[test]
    fn what_the_lower_rate_cannot_hold_is_80_decibels_down() {
        for (from, to) in PAIRS.into_iter().filter(|(from, to)| from > to) {
            let resampler = Resampler::new(from, to);
            for share in [1.0, 1.1, 1.3] {
                let frequency = share * f64::from(to) / 2.0;
                let found = resampler.resample(&sine(from, frequency, from as usize / 2));
                let inner = &found[400..found.len() - 400];
                let loudest = inner.iter().fold(0.0f32, |most, value| most.max(value.abs()));
                assert!(loudest < 1.2e-4, "{from} to {to}, {frequency} Hz: {loudest}");
            }
        }
    }

    #[test]
    fn a_constant_stays_constant() {
        let found = Resampler::new(11_025, 16_000).resample(&[0.5; 4000]);
        assert!(found[400..5000].iter().all(|value| (value - 0.5).abs() < 1e-6));
    }

    #[test]
    fn the_same_rate_changes_nothing() {
        let samples = sine(16_000, 440.0, 100);
        assert_eq!(Resampler::new(16_000, 16_000).resample(&samples), samples);
    }

    #[test]
    fn odd_rates_take_a_near_ratio() {
        assert_eq!(nearest_ratio(44_100, 16_000), (441, 160));
        for (from, to) in [(16_001, 16_000), (191_999, 16_000), (22_254, 16_000), (1_009, 16_000)] {
            let (m, l) = nearest_ratio(from, to);
            let wrong = f64::from(m) / f64::from(l) * f64::from(to) / f64::from(from) - 1.0;
            assert!(
                l <= MOST_PHASES && wrong.abs() < 1.25e-4,
                "{from} to {to}: {m}/{l}, {wrong}"
            );
        }
    }

    #[test]
    fn the_shortest_sounds() {
        let resampler = Resampler::new(44_100, 16_000);
        assert!(resampler.resample(&[]).is_empty());
        assert_eq!(resampler.resample(&[1.0]).len(), 1);
        assert_eq!(resampler.resample(&[1.0; 4]).len(), 2);
    }
}
