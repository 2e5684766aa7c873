//! Rows at uneven times become steps of an even grid.
//!
//! ```text
//! x(t)   straight lines between the rows at t_i
//! going up, or staying:  y[k] = x(t_0 + k / r)                             r = steps a second
//! going down, m = ceil(rate of the rows / r):
//!        u[j] = x(t_0 + j / (m r)),   y[k] = sum_j h[j] u[m k + 10 m - j]  u held at both ends
//!        h[j] = c sinc((j - 10 m) / m) kaiser_5((j - 10 m) / 10 m),  j = 0..=20 m,  sum h = 1
//! ```
//!
//! `h` is the low-pass filter of `scipy.signal.resample_poly`: 6 dB down at the new Nyquist frequency. A value that is missing in one
//! channel is a row that this channel does not have; where its neighbors are farther apart than the longest gap, it stays missing.

use super::super::audio::bessel;

/// Taps of the low-pass filter on each side, for each step that becomes one.
const HALF: usize = 10;
/// Kaiser's parameter.
const BETA: f64 = 5.0;
/// Rows nearer to their step than this share of it are taken as they are.
const ON_GRID: f64 = 0.05;
/// Rows that are denser than the grid by less than this share are not filtered.
const DENSER: f64 = 0.1;

/// An even grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    /// Steps a second.
    pub rate: f64,
    /// Seconds from a row to the next.
    pub apart: f64,
    /// Seconds between two rows above which nothing is known between them.
    pub longest: f64,
}

/// What becomes of rows without a gap.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gridded {
    /// `[steps, features]`
    pub values: Vec<f32>,
    /// The row nearest to each step.
    pub rows: Vec<usize>,
}

impl Grid {
    /// Puts rows at `times` (seconds, rising) with values `[rows, features]` onto the grid that begins with the first.
    pub fn put(&self, times: &[f64], values: &[f32], features: usize) -> Gridded {
        let missing = || values.iter().any(|value| value.is_nan());
        if times.is_empty() || (self.fits(times) && !missing()) {
            return Gridded {
                values: values.to_vec(),
                rows: (0..times.len()).collect(),
            };
        }
        let start = times[0];
        let steps = ((times[times.len() - 1] - start) * self.rate + 1e-6).floor() as usize + 1;
        let factor = ((1.0 / (self.apart * self.rate)) - DENSER).ceil().max(1.0) as usize;
        let fine: Vec<f64> = (0..(steps - 1) * factor + 1)
            .map(|step| start + step as f64 / (self.rate * factor as f64))
            .collect();
        let filter = low_pass(factor);
        let mut gridded = vec![0.0; steps * features];
        for feature in 0..features {
            let column = values.iter().skip(feature).step_by(features);
            let nodes: Vec<(f64, f32)> = times
                .iter()
                .copied()
                .zip(column.copied())
                .filter(|(_, value)| !value.is_nan())
                .collect();
            let line = interpolate(&nodes, &fine, self.longest);
            for step in 0..steps {
                gridded[step * features + feature] = filtered(&line, step * factor, &filter);
            }
        }
        Gridded {
            values: gridded,
            rows: nearest(times, &fine, factor),
        }
    }

    /// Whether rows stand on the grid already.
    fn fits(&self, times: &[f64]) -> bool {
        let off = |(step, time): (usize, &f64)| ((time - times[0]) * self.rate - step as f64).abs();
        times.iter().enumerate().map(off).all(|off| off <= ON_GRID)
    }
}

/// Straight lines between nodes, held at both ends; NaN between nodes that are too far apart, and where there are none.
fn interpolate(nodes: &[(f64, f32)], at: &[f64], longest: f64) -> Vec<f64> {
    let mut next = 0;
    let value = |&time: &f64| {
        while next < nodes.len() && nodes[next].0 <= time {
            next += 1;
        }
        let (before, after) = (next.checked_sub(1).map(|node| nodes[node]), nodes.get(next));
        match (before, after) {
            (Some((t, a)), Some(&(u, b))) => {
                if time == t {
                    return f64::from(a);
                }
                if u - t > longest {
                    return f64::NAN;
                }
                let share = (time - t) / (u - t);
                f64::from(a) + share * (f64::from(b) - f64::from(a))
            }
            (Some((t, a)), None) if time - t <= longest => f64::from(a),
            (None, Some(&(u, b))) if u - time <= longest => f64::from(b),
            _ => f64::NAN,
        }
    };
    at.iter().map(value).collect()
}

/// The row nearest to every `factor`-th time; of two the earlier.
fn nearest(times: &[f64], fine: &[f64], factor: usize) -> Vec<usize> {
    let mut row = 0;
    let of = |&time: &f64| {
        while row + 1 < times.len() && (times[row + 1] - time).abs() < (times[row] - time).abs() {
            row += 1;
        }
        row
    };
    fine.iter().step_by(factor).map(of).collect()
}

/// `h`; one weight of 1 for no filter at all.
fn low_pass(factor: usize) -> Vec<f64> {
    if factor == 1 {
        return vec![1.0];
    }
    let half = (HALF * factor) as f64;
    let weight = |tap: usize| {
        let from_middle = tap as f64 - half;
        let angle = std::f64::consts::PI * from_middle / factor as f64;
        let sinc = if from_middle == 0.0 { 1.0 } else { angle.sin() / angle };
        let share = from_middle / half;
        sinc * bessel(BETA * (1.0 - share * share).max(0.0).sqrt())
    };
    let weights: Vec<f64> = (0..=2 * HALF * factor).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// One step: the filter over its neighborhood. What is missing there stays missing.
fn filtered(line: &[f64], middle: usize, filter: &[f64]) -> f32 {
    if filter.len() == 1 {
        return line[middle] as f32;
    }
    let (half, last) = ((filter.len() / 2) as isize, line.len() as isize - 1);
    let at = |tap: usize| line[(middle as isize + half - tap as isize).clamp(0, last) as usize];
    filter
        .iter()
        .enumerate()
        .map(|(tap, weight)| weight * at(tap))
        .sum::<f64>() as f32
}
