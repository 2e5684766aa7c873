//! What the readout sees of a stream: the last state, or statistics of the last layer's states over the steps so far, in this order:
//!
//! | | kept in `f32` | kept in whole numbers | read out |
//! |---|---|---|---|
//! | mean | sum | sum, an `i32` | sum / steps |
//! | deviation | sum of squares | sum of squares, an `u64` | `sqrt(max(squares / steps - mean^2, 0) + 2^-16)` |
//! | largest | largest so far | largest so far | that |
//! | last | - | - | the state |
//!
//! What is kept stands in the order of the table behind the states of the layers, whole numbers in as many numbers of a state as hold
//! them, the lowest first. All whole numbers have the places of the state. Mean and deviation are rounded to the nearest; the largest
//! is exact. The variance is computed without a square of a mean: with `sum = m steps + r` and `0 <= r < steps`,
//!
//! ```text
//! steps^2 variance = steps (squares - m (sum + r)) - r^2
//! ```
//!
//! Exported C makes the same operations in the same order. Before the first step all of it is 0.

use crate::image::{DEVIATION, LARGEST, LAST, MEAN};
use crate::int::Saturations;
use crate::int::state::State;
use crate::math::square_root;

/// What is added to a variance.
pub const EPSILON: f32 = 1.0 / 65_536.0;

/// The largest sum of squares.
const MOST_SQUARES: u64 = 1 << 62;

/// What the readout sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pooling {
    flags: u32,
}

impl Pooling {
    pub fn of(flags: u32) -> Self {
        Pooling { flags }
    }

    fn has(self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Whether it is more than the last state.
    pub fn mean(self) -> bool {
        self.has(MEAN)
    }

    /// Whether its flags go together: whatever else is seen, the mean is.
    pub fn is_sound(self) -> bool {
        self.mean() || !(self.has(DEVIATION) || self.has(LARGEST) || self.has(LAST))
    }

    /// Numbers that the readout reads of each unit.
    pub fn statistics(self) -> usize {
        if !self.mean() {
            return 1;
        }
        let more = [DEVIATION, LARGEST, LAST].into_iter().filter(|&flag| self.has(flag));
        more.count().saturating_add(1)
    }

    /// Numbers of a state that are kept of each unit; `whole` of them hold an `i32`, or one is an `f32`.
    pub fn kept(self, whole: Option<usize>) -> usize {
        if !self.mean() {
            return 0;
        }
        let (sum, squares) = whole.map_or((1, 1), |whole| (whole, whole.saturating_mul(2)));
        let squares = if self.has(DEVIATION) { squares } else { 0 };
        sum.saturating_add(squares)
            .saturating_add(usize::from(self.has(LARGEST)))
    }

    /// A step: its state, and what is kept. `first`: there was none before.
    pub fn add_floats(self, first: bool, state: &[f32], kept: &mut [f32]) {
        let (sums, rest) = part(kept, state.len());
        for (sum, value) in sums.iter_mut().zip(state) {
            *sum += value;
        }
        let (squares, rest) = part(rest, if self.has(DEVIATION) { state.len() } else { 0 });
        for (sum, value) in squares.iter_mut().zip(state) {
            *sum += value * value;
        }
        for (most, &value) in rest.iter_mut().zip(state) {
            if first || value > *most {
                *most = value;
            }
        }
    }

    /// What the readout reads, of the last state and what is kept.
    pub fn read_floats(self, steps: u32, state: &[f32], kept: &[f32], out: &mut [f32]) {
        let units = state.len();
        if !self.mean() {
            crate::pick::copy(out, state);
            return;
        }
        let count = steps.max(1) as f32;
        let (sums, kept) = kept.split_at_checked(units).unwrap_or((&[], &[]));
        let (means, mut out) = part(out, units);
        for (mean, sum) in means.iter_mut().zip(sums) {
            *mean = sum / count;
        }
        let mut kept = kept;
        if self.has(DEVIATION) {
            let (squares, more) = kept.split_at_checked(units).unwrap_or((&[], &[]));
            let (deviations, rest) = part(out, units);
            for ((deviation, square), mean) in deviations.iter_mut().zip(squares).zip(&*means) {
                let variance = square / count - *mean * *mean;
                let variance = if variance < 0.0 { 0.0 } else { variance };
                *deviation = if steps > 0 {
                    square_root(variance + EPSILON)
                } else {
                    0.0
                };
            }
            (kept, out) = (more, rest);
        }
        if self.has(LARGEST) {
            let (largest, rest) = part(out, units);
            crate::pick::copy(largest, kept);
            out = rest;
        }
        if self.has(LAST) {
            crate::pick::copy(out, state);
        }
    }

    /// [`Pooling::add_floats`] of whole numbers.
    pub fn add_wholes<S: State>(self, first: bool, state: &[S], kept: &mut [S], saturations: &mut Saturations) {
        if !self.mean() {
            return;
        }
        let units = state.len();
        let (sums, rest) = part(kept, units.saturating_mul(S::WHOLE));
        for (place, value) in state.iter().enumerate() {
            let sum = nth_mut(sums, place, S::WHOLE);
            let next = saturations.add(S::join(sum), i32::from(value.wide()));
            S::split(next, sum);
        }
        let double = S::WHOLE.saturating_mul(2);
        let room = if self.has(DEVIATION) {
            units.saturating_mul(double)
        } else {
            0
        };
        let (squares, rest) = part(rest, room);
        let squared = if self.has(DEVIATION) { state } else { &[] };
        for (place, value) in squared.iter().enumerate() {
            let sum = nth_mut(squares, place, double);
            let value = i64::from(value.wide());
            let next = join::<S>(sum).saturating_add(value.wrapping_mul(value) as u64);
            split(next.min(MOST_SQUARES), sum);
        }
        for (most, &value) in rest.iter_mut().zip(state) {
            if first || value.wide() > most.wide() {
                *most = value;
            }
        }
    }

    /// [`Pooling::read_floats`] of whole numbers, of which `places` are binary places.
    pub fn read_wholes<S: State>(self, steps: u32, places: u32, state: &[S], kept: &[S], out: &mut [i16]) {
        let units = state.len();
        let mut saturations = Saturations::default();
        let last = |out: &mut [i16]| {
            let pairs = out.iter_mut().zip(state);
            pairs.for_each(|(out, value)| *out = value.wide());
        };
        if !self.mean() {
            last(out);
            return;
        }
        let count = i64::from(steps.max(1));
        let (sums, mut kept) = kept
            .split_at_checked(units.saturating_mul(S::WHOLE))
            .unwrap_or((&[], &[]));
        let (means, mut out) = part(out, units);
        for (place, mean) in means.iter_mut().enumerate() {
            let sum = S::join(nth(sums, place, S::WHOLE));
            *mean = saturations.narrow(divided(i64::from(sum), count));
        }
        if self.has(DEVIATION) {
            let double = S::WHOLE.saturating_mul(2);
            let (squares, more) = kept
                .split_at_checked(units.saturating_mul(double))
                .unwrap_or((&[], &[]));
            let (deviations, rest) = part(out, units);
            for (place, out) in deviations.iter_mut().enumerate() {
                let sum = S::join(nth(sums, place, S::WHOLE));
                let squares = join(nth(squares, place, double));
                let found = deviation(i64::from(sum), squares as i64, count, places);
                *out = if steps > 0 { saturations.narrow(found) } else { 0 };
            }
            (kept, out) = (more, rest);
        }
        if self.has(LARGEST) {
            let (largest, rest) = part(out, units);
            for (out, value) in largest.iter_mut().zip(kept) {
                *out = value.wide();
            }
            out = rest;
        }
        if self.has(LAST) {
            last(out);
        }
    }
}

/// The first numbers and the others; nothing of what is too short.
fn part<T>(values: &mut [T], count: usize) -> (&mut [T], &mut [T]) {
    values.split_at_mut_checked(count).unwrap_or((&mut [], &mut []))
}

/// The part at this place of those of one width; nothing beyond the end. Chunks zipped with others would divide by a width that the compiler does
/// not see there, and carry its panic into every image.
fn nth<T>(values: &[T], place: usize, width: usize) -> &[T] {
    let start = place.saturating_mul(width);
    values.get(start..start.saturating_add(width)).unwrap_or(&[])
}

fn nth_mut<T>(values: &mut [T], place: usize, width: usize) -> &mut [T] {
    let start = place.saturating_mul(width);
    values.get_mut(start..start.saturating_add(width)).unwrap_or(&mut [])
}

/// An `u64` in two times [`State`]'s numbers of an `i32`, the lower half first.
fn join<S: State>(parts: &[S]) -> u64 {
    let (low, high) = parts.split_at_checked(S::WHOLE).unwrap_or((&[], &[]));
    u64::from(S::join(high) as u32) << 32 | u64::from(S::join(low) as u32)
}

fn split<S: State>(value: u64, parts: &mut [S]) {
    let (low, high) = part(parts, S::WHOLE);
    S::split(value as i32, low);
    S::split((value >> 32) as i32, high);
}

/// The nearest whole number to `sum / count`, halves away from zero; `count` is at least 1.
fn divided(sum: i64, count: i64) -> i64 {
    let twice = sum.wrapping_mul(2);
    let nudged = if sum < 0 {
        twice.wrapping_sub(count)
    } else {
        twice.wrapping_add(count)
    };
    nudged.checked_div(count.wrapping_mul(2)).unwrap_or(0)
}

/// The deviation, less than one whole number away; `sum` has 32 bits, `squares` at most 62, `count` is from 1 to `2^32 - 1`.
fn deviation(sum: i64, squares: i64, count: i64, places: u32) -> i64 {
    let mean = sum.checked_div_euclid(count).unwrap_or(0);
    let rest = sum.wrapping_sub(mean.wrapping_mul(count));
    let squared = (rest as u64).wrapping_mul(rest as u64);
    let lost = squared.checked_div(count as u64).unwrap_or(0) as i64;
    let around = squares.wrapping_sub(mean.wrapping_mul(sum.wrapping_add(rest)));
    let around = around.wrapping_sub(lost).max(0);
    let whole = around.checked_div(count).unwrap_or(0);
    let part = around.wrapping_sub(whole.wrapping_mul(count)).wrapping_mul(4);
    // Four times the variance: its root, halved, is rounded to the nearest.
    let quadruple = whole.wrapping_mul(4).wrapping_add(part.checked_div(count).unwrap_or(0));
    let root = square_root_of(quadruple.wrapping_add(smallest_variance(places)) as u64) as i64;
    root.wrapping_add(1) >> 1
}

/// The largest whole number whose square is at most `value`, digit by digit: that of `core` asks for products of 128 bits, which WebAssembly
/// without a library does not have.
fn square_root_of(value: u64) -> u64 {
    let (mut rest, mut root, mut digit) = (value, 0_u64, 1_u64 << 62);
    while digit > 0 {
        let next = root.wrapping_add(digit);
        root >>= 1;
        if rest >= next {
            rest = rest.wrapping_sub(next);
            root = root.wrapping_add(digit);
        }
        digit >>= 2;
    }
    root
}

/// Four times `2^-16` in squares of whole numbers.
pub const fn smallest_variance(places: u32) -> i64 {
    let double = places.saturating_mul(2);
    if double < 14 || double > 60 {
        return 0;
    }
    1 << double.saturating_sub(14)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test may panic")]
mod tests {
    use super::*;
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    const ALL: u32 = MEAN | DEVIATION | LARGEST | LAST;

    fn plain(values: &[f64]) -> [f64; 4] {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        [mean, variance, largest, values[values.len() - 1]]
    }

    /// Deterministic numbers that look drawn.
    fn drawn(index: usize) -> f64 {
        (index as f64 * 12.9898 + 1.0).sin() * 43758.5453 % 1.0
    }

    #[test]
    fn streams_of_both_kinds_have_the_plain_statistics() {
        let pooling = Pooling::of(ALL);
        for (steps, offset, size) in [
            (1, 0.3, 0.5),
            (2, -0.4, 0.2),
            (1000, 0.9, 1e-3),
            (5000, 0.0, 0.9),
            (7, 0.5, 0.0),
        ] {
            let values: Vec<f64> = (0..steps).map(|step| offset + size * drawn(step)).collect();
            let places = 14;
            let (mut floats, mut wholes) = (vec![0.0_f32; pooling.kept(None)], vec![0_i16; pooling.kept(Some(2))]);
            let mut saturations = Saturations::default();
            for (step, &value) in values.iter().enumerate() {
                pooling.add_floats(step == 0, &[value as f32], &mut floats);
                let whole = (value * 16_384.0).round() as i16;
                pooling.add_wholes(step == 0, &[whole], &mut wholes, &mut saturations);
            }
            let last = values[steps - 1];
            let (mut found, mut whole) = ([0.0; 4], [0; 4]);
            pooling.read_floats(steps as u32, &[last as f32], &floats, &mut found);
            let state = [(last * 16_384.0).round() as i16];
            pooling.read_wholes(steps as u32, places, &state, &wholes, &mut whole);
            let [mean, variance, largest, last] = plain(&values);
            let expected = [mean, (variance + 1.0 / 65_536.0).sqrt(), largest, last];
            for (place, &expected) in expected.iter().enumerate() {
                let bound = if place == 1 { 1e-3 } else { 5e-5 };
                assert!(
                    (f64::from(found[place]) - expected).abs() < bound,
                    "{steps} {place}: {found:?}"
                );
                let whole = f64::from(whole[place]) / 16_384.0;
                assert!((whole - expected).abs() < 7e-5, "{steps} {place}: {whole} {expected}");
            }
            assert_eq!(saturations, Saturations::default());
        }
    }

    #[test]
    fn before_the_first_step_all_is_zero() {
        let pooling = Pooling::of(ALL);
        let (mut found, mut whole) = ([1.0; 4], [1; 4]);
        pooling.read_floats(0, &[0.0], &vec![0.0; pooling.kept(None)], &mut found);
        pooling.read_wholes(0, 15, &[0_i8], &vec![0; pooling.kept(Some(4))], &mut whole);
        assert_eq!((found, whole), ([0.0; 4], [0; 4]));
    }

    #[test]
    fn whole_deviations_are_those_of_exact_arithmetic() {
        let cases: [(&[i64], u32); 7] = [
            (&[-32_768, 32_767], 0),
            (&[32_767; 9], 15),
            (&[-1, 0, 0], 0),
            (&[5, 7, 7, 9, -100], 3),
            (&[-32_768; 70_000], 15),
            (&[-3, -2], 15),
            (&[0, 1, 2, 3, 4, 5, 6], 9),
        ];
        for (values, places) in cases {
            let (sum, squares) = (
                values.iter().sum::<i64>(),
                values.iter().map(|value| value * value).sum::<i64>(),
            );
            if i32::try_from(sum).is_err() {
                // Beyond the range of a sum: only that it is some number.
                let _ = deviation(i64::from(i32::MIN), squares, values.len() as i64, places);
                continue;
            }
            let count = values.len() as i128;
            let over = count * i128::from(squares) - i128::from(sum) * i128::from(sum);
            let variance = over as f64 / (count * count) as f64 + smallest_variance(places) as f64 / 4.0;
            let found = deviation(sum, squares, values.len() as i64, places);
            assert!((found as f64 - variance.sqrt()).abs() < 1.0, "{values:?}: {found}");
        }
        for (sum, squares, count) in [(i32::MAX, 1 << 62, 1), (i32::MIN, 0, u32::MAX), (-1, 1 << 62, u32::MAX)] {
            let found = deviation(i64::from(sum), squares, i64::from(count), 15);
            assert!(found >= 0);
        }
    }

    #[test]
    fn whole_roots_are_those_of_core() {
        let wide = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for value in (0..5000).chain(wide).chain([u64::MAX]) {
            assert_eq!(square_root_of(value), value.isqrt(), "{value}");
        }
    }

    #[test]
    fn squares_come_back_from_their_parts() {
        for value in [0, 1, 255, 65_536, u64::from(u32::MAX), MOST_SQUARES, MOST_SQUARES - 1] {
            let (mut four, mut eight) = ([0_i16; 4], [0_i8; 8]);
            split(value, &mut four);
            split(value, &mut eight);
            assert_eq!((join(&four), join(&eight)), (value, value));
        }
    }
}
