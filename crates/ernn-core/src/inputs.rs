//! Channels that a model derives from those of a step, before they are normalized: one step in, one step out, the memory handed in.
//!
//! With `x_t` the channels of step `t` and `x_0 = m_0 = x_1`, so that the first step gives zeros:
//!
//! ```text
//! raw         x_t
//! differences x_t - x_{t-1}
//! compressed  m_t = m_{t-1} + (0.1 x_t - 0.1 m_{t-1});  asinh((x_t - m_t) / s)     s: one scale a channel
//! magnitudes  |(a, b, c)| of three channels
//! ```
//!
//! They stand in this order, each kind in the order of its channels. A constant channel has `m_t = x_t` to the bit, so what is derived of
//! it is exactly 0. What a stream keeps: `x_{t-1}` of every channel if there are differences, then `m_t` of every channel if there are
//! compressed ones. All is additions, products and quotients of `f32` in this order, nothing fused, so that every machine and exported C
//! have the same bits.

use crate::math::{LN2_HIGH, LN2_LOW};

/// Which channels are derived.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Derived<'a> {
    /// Channels of a step as they come.
    pub channels: usize,
    /// Whether there are differences.
    pub differences: bool,
    /// The scale `s` of each channel, little-endian `f32`; none: nothing is compressed.
    pub scales: &'a [[u8; 4]],
    /// The places of three channels for each magnitude, little-endian `u32`.
    pub triads: &'a [[u8; 4]],
}

/// What a value of a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As the model reads it, before it is normalized.
    Plain,
    /// The quotient whose [`asinh`] the model reads.
    Compressed,
}

/// Where a stream keeps its numbers between steps.
pub trait Memory {
    /// The number at a place.
    fn recall(&self, place: usize) -> f32;
    /// Puts a number there.
    fn keep(&mut self, place: usize, value: f32);
}

impl Memory for [f32] {
    fn recall(&self, place: usize) -> f32 {
        self.get(place).copied().unwrap_or(0.0)
    }

    fn keep(&mut self, place: usize, value: f32) {
        if let Some(room) = self.get_mut(place) {
            *room = value;
        }
    }
}

impl Derived<'_> {
    /// Channels that the model reads: those of a step and those that are derived.
    pub fn outputs(&self) -> usize {
        let kinds = 1_usize.wrapping_add(usize::from(self.differences));
        let kinds = kinds.wrapping_add(usize::from(!self.scales.is_empty()));
        let magnitudes = self.triads.as_chunks::<3>().0.len();
        self.channels.saturating_mul(kinds).saturating_add(magnitudes)
    }

    /// Numbers of a stream's memory.
    pub fn memory(&self) -> usize {
        let kinds = usize::from(self.differences).wrapping_add(usize::from(!self.scales.is_empty()));
        self.channels.saturating_mul(kinds)
    }

    /// One step: gives each channel that the model reads to `out`, in its order. `first` says that the memory holds nothing yet.
    pub fn step<M: Memory + ?Sized>(&self, first: bool, input: &[f32], memory: &mut M, mut out: impl FnMut(f32)) {
        self.step_by_kind(first, input, memory, |value, kind| match kind {
            Kind::Plain => out(value),
            Kind::Compressed => out(asinh(value)),
        });
    }

    /// [`Derived::step`] for whoever has many steps at hand: values of [`Kind::Compressed`] still lack their [`asinh`], which
    /// [`asinh_all`] takes of many at once.
    pub fn step_by_kind<M: Memory + ?Sized>(
        &self,
        first: bool,
        input: &[f32],
        memory: &mut M,
        mut out: impl FnMut(f32, Kind),
    ) {
        if first {
            for place in 0..self.memory() {
                let channel = place.checked_rem(self.channels).unwrap_or(0);
                memory.keep(place, input.recall(channel));
            }
        }
        input.iter().for_each(|&x| out(x, Kind::Plain));
        let mut from = 0_usize;
        if self.differences {
            for (place, &x) in input.iter().enumerate() {
                out(x - memory.recall(place), Kind::Plain);
                memory.keep(place, x);
            }
            from = self.channels;
        }
        for ((channel, &x), scale) in input.iter().enumerate().zip(self.scales) {
            let place = from.wrapping_add(channel);
            let mean = followed(memory.recall(place), x);
            memory.keep(place, mean);
            out((x - mean) / f32::from_le_bytes(*scale), Kind::Compressed);
        }
        for triad in self.triads.as_chunks::<3>().0 {
            let value = |place: [u8; 4]| input.recall(u32::from_le_bytes(place) as usize);
            out(magnitude(triad.map(value)), Kind::Plain);
        }
    }
}

/// `m_t` from `m_{t-1}` and `x_t`. Two products, so that two huge numbers of other signs cannot overflow.
pub fn followed(mean: f32, x: f32) -> f32 {
    mean + (0.1 * x - 0.1 * mean)
}

/// The largest quotient whose square is finite.
pub const LARGEST: f32 = 1e18;

/// The inverse hyperbolic sine; beyond `10^18` that of the end.
///
/// With `w = |x| + x^2 / (1 + sqrt(1 + x^2))`, which loses nothing near 0, it is `log(1 + w)`. `1 + w = 2^k f` with `f` between
/// `sqrt(1/2)` and `sqrt(2)`, and `log f = 2 atanh(z / (2 + z))`, `z = f - 1` (`w` itself for `k = 0`), by its series up to the ninth power
/// (error below 3e-9 of the result).
pub fn asinh(x: f32) -> f32 {
    let size = if x < 0.0 { -x } else { x };
    let size = if size > LARGEST { LARGEST } else { size };
    let square = size * size;
    let w = size + square / (1.0 + root(1.0 + square));
    let sum = 1.0 + w;
    // What the bits have beyond those of sqrt(1/2), in whole powers of two.
    let power = sum.to_bits().wrapping_sub(SQRT_HALF) >> 23;
    let fraction = f32::from_bits(sum.to_bits().wrapping_sub(power << 23));
    let z = if power == 0 { w } else { fraction - 1.0 };
    let s = z / (2.0 + z);
    let q = s * s;
    let mut series = ATANH[0];
    for &coefficient in ATANH.iter().skip(1) {
        series = series * q + coefficient;
    }
    let powers = power as i32 as f32;
    let log = powers * LN2_HIGH + (powers * LN2_LOW + series * s);
    if x < 0.0 { -log } else { log }
}

/// [`asinh`] of each value, with the same bits.
pub fn asinh_all(values: &mut [f32]) {
    for value in values {
        *value = asinh(*value);
    }
}

/// The bits of `sqrt(1/2)`.
pub const SQRT_HALF: u32 = 0x3f35_04f3;
/// `2 / n` for `n = 9, 7, 5, 3, 1`.
pub const ATANH: [f32; 5] = [2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0];

/// The square root of a number from 1 to `10^37`: half the exponent, and three of Heron's steps (the first guess is within 4 %).
pub fn root(x: f32) -> f32 {
    let mut guess = f32::from_bits((x.to_bits() >> 1).wrapping_add(HALF_EXPONENT));
    for _ in 0..3 {
        guess = 0.5 * (guess + x / guess);
    }
    guess
}

/// Half of the exponent's offset, less what makes the guess's largest error smallest.
pub const HALF_EXPONENT: u32 = 0x1fbd_1df5;

/// The length of a vector; in units of its largest number, so that no square overflows.
pub fn magnitude(vector: [f32; 3]) -> f32 {
    let sizes = vector.map(|value| if value < 0.0 { -value } else { value });
    let largest = sizes
        .into_iter()
        .fold(0.0, |largest, size| if size > largest { size } else { largest });
    if largest == 0.0 {
        return 0.0;
    }
    let [a, b, c] = sizes.map(|size| size / largest);
    largest * root((a * a + b * b) + c * c)
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    #[test]
    fn functions_are_those_of_double_precision() {
        let mut x = 1e-30_f32;
        while x < 1e17 {
            for value in [x, -x] {
                let (found, exact) = (f64::from(asinh(value)), f64::from(value).asinh());
                assert!(
                    (found - exact).abs() <= 2.5e-7 * exact.abs(),
                    "{value}: {found} {exact}"
                );
            }
            let (found, exact) = (f64::from(root(1.0 + x)), f64::from(1.0 + x).sqrt());
            assert!((found - exact).abs() <= 1.2e-7 * exact, "{x}: {found} {exact}");
            x *= 1.003;
        }
        assert_eq!((asinh(0.0), asinh(-0.0)), (0.0, 0.0));
        assert_eq!(asinh(f32::INFINITY), asinh(1e18));
        for vector in [[3.0, -4.0, 12.0], [0.0; 3], [1e-30, 2e-30, -2e-30], [1e38, -1e38, 1e38]] {
            let exact = vector.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
            let error = (f64::from(magnitude(vector)) - exact).abs();
            assert!(error <= 3e-7 * exact, "{vector:?}");
        }
    }

    #[test]
    fn a_constant_channel_derives_exact_zeros() {
        let scales = [1e-20_f32.to_le_bytes()];
        let derived = Derived {
            channels: 1,
            differences: true,
            scales: &scales,
            triads: &[],
        };
        let mut memory = [f32::NAN; 2];
        for value in [0.1, 16_777_217.0, -3e38, 1e-40] {
            for step in 0..50 {
                let mut found = Vec::new();
                derived.step(step == 0, &[value], &mut memory[..], |value| found.push(value));
                assert_eq!(found, [value, 0.0, 0.0]);
            }
        }
    }
}
