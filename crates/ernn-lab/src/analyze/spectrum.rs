//! Is the field of a leaky cell stable where the states go? Eigenvalues of `dF = diag(phi') R - gamma I` (the paper's supplement).
//!
//! An equilibrium whose eigenvalues all have real parts below 0 draws its surroundings in. The matrices are those of the last inner
//! iteration of each step, at `z^{K-1}`: the ones of which the step itself is made.
//!
//! Rows of sleeping units (`phi' = 0`) hold `-gamma` alone. Where the others have one slope `v` and `R = c I + A B`, the eigenvalues are
//! `-gamma`, `v (c + l) - gamma` with `l` those of `B_S A_S` `[r,r]`, and `v c - gamma` as often as more than `r` units are awake: for a ReLU,
//! `P = U` and `gamma = 1` that is exactly 0, so no matrix with more than `r` units awake has all real parts below 0.

use rayon::prelude::*;
use serde::Serialize;

use super::field::{Field, Step};
use super::matrix;
use super::sample::Layer;
use super::statistics::{Range, share};
use ernn::cell::FoldedRecurrent;

/// Bars of the histogram.
const BARS: usize = 60;

/// Real parts nearer to 0 than this count as 0.
const ZERO: f64 = 1e-9;

/// The eigenvalues of a layer's field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spectrum {
    /// `gamma`; of cells without one, `(1 - a) / e`.
    pub gamma: f64,
    /// Steps looked at, evenly spread over the sequences.
    pub steps: usize,
    /// Steps beside these whose eigenvalues were not found.
    pub not_found: usize,
    /// Share of steps whose eigenvalues all have real parts below 0.
    pub all_below_zero: f64,
    /// Share of steps with an eigenvalue whose real part is 0 and none above.
    pub some_at_zero: f64,
    /// Share of steps with an eigenvalue whose real part is above 0.
    pub some_above_zero: f64,
    /// Units awake (`phi'` not 0).
    pub awake: Range,
    /// The largest real part of a step.
    pub largest: Range,
    /// The largest real part at each step that was looked at.
    pub by_step: Vec<AtStep>,
    /// How often real parts lie where.
    pub histogram: Histogram,
}

/// The largest real part at a step, over the sequences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AtStep {
    /// From 1.
    pub step: usize,
    /// The largest real part.
    pub largest: Range,
}

/// Counts of values in intervals of equal width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// Where the first interval begins.
    pub from: f64,
    /// Width of an interval.
    pub width: f64,
    /// How many values lie in each.
    pub counts: Vec<usize>,
}

/// A step that is looked at.
pub(super) struct Visited {
    pub step: usize,
    pub slope: Vec<f64>,
    /// The step size of its last iteration.
    pub eta: f64,
    /// `F` there, and after the last iteration.
    pub forces: [f64; 2],
}

/// Steps of all sequences, evenly spread, as many as their matrices can be computed in a minute or so.
pub(super) fn visited(field: &Field, layer: &Layer) -> Vec<Visited> {
    let steps: usize = layer.inputs.iter().map(|inputs| inputs.len() / layer.width).sum();
    let cost = 25.0 * (field.cell.hidden as f64).powi(3);
    let most = (2e10 / cost).clamp(16.0, 400.0) as usize;
    let stride = steps.div_ceil(most).max(1);
    let of_sequence = |inputs: &Vec<f64>| {
        let mut found = Vec::new();
        field.walk(inputs, |Step { index, drive, points }| {
            if index.is_multiple_of(stride) {
                let k = points.len() - 1;
                let [before, after] = [k - 1, k].map(|point| field.at(&points[point], drive));
                found.push(Visited {
                    step: index,
                    eta: field.step_sizes(index, k - 1).1,
                    forces: [&before, &after].map(|point| super::statistics::length(&point.force)),
                    slope: before.slope,
                });
            }
        });
        found
    };
    layer.inputs.par_iter().flat_map_iter(of_sequence).collect()
}

/// Measures the visited steps.
pub(super) fn measure(field: &Field, visited: &[Visited]) -> Option<Spectrum> {
    let real_parts = |visited: &Visited| {
        Some((
            visited.step,
            awake(&visited.slope).len(),
            real_parts(field, &visited.slope)?,
        ))
    };
    let found: Vec<(usize, usize, Vec<f64>)> = visited.par_iter().filter_map(real_parts).collect();
    let largest: Vec<(usize, f64)> = found
        .iter()
        .map(|(step, _, parts)| (*step, parts.iter().copied().fold(f64::NEG_INFINITY, f64::max)))
        .collect();
    let steps = largest.len();
    let count = |test: fn(f64) -> bool| share(largest.iter().filter(|entry| test(entry.1)).count(), steps);
    let mut places: Vec<usize> = largest.iter().map(|entry| entry.0).collect();
    places.sort_unstable();
    places.dedup();
    let by_step = places.into_iter().filter_map(|step| {
        let here = largest.iter().filter(|entry| entry.0 == step);
        Some(AtStep {
            step: step + 1,
            largest: Range::of(here.map(|entry| entry.1))?,
        })
    });
    Some(Spectrum {
        gamma: field.gamma,
        steps,
        not_found: visited.len() - steps,
        all_below_zero: count(|largest| largest < -ZERO),
        some_at_zero: count(|largest| largest.abs() <= ZERO),
        some_above_zero: count(|largest| largest > ZERO),
        awake: Range::of(found.iter().map(|entry| entry.1 as f64))?,
        largest: Range::of(largest.iter().map(|entry| entry.1))?,
        by_step: by_step.collect(),
        histogram: Histogram::of(found.iter().flat_map(|entry| entry.2.iter().copied())),
    })
}

impl Histogram {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let ends = values
            .clone()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high): (f64, f64), value| {
                (low.min(value), high.max(value))
            });
        let width = ((ends.1 - ends.0) / BARS as f64).max(1e-9);
        let mut counts = vec![0; BARS];
        for value in values {
            let index = ((value - ends.0) / width) as usize;
            counts[index.min(BARS - 1)] += 1;
        }
        Histogram {
            from: ends.0,
            width,
            counts,
        }
    }
}

/// The units that are awake.
fn awake(slope: &[f64]) -> Vec<usize> {
    (0..slope.len()).filter(|&unit| slope[unit] != 0.0).collect()
}

/// The real parts of all eigenvalues of `diag(slope) R - gamma I`; none if the matrix is not finite.
fn real_parts(field: &Field, slope: &[f64]) -> Option<Vec<f64>> {
    let awake = awake(slope);
    let mut parts = vec![-field.gamma; slope.len() - awake.len()];
    let alike = awake.first().map(|&unit| slope[unit]);
    let alike = alike.filter(|first| awake.iter().all(|&unit| slope[unit] == *first));
    match (&field.cell.recurrent, alike) {
        (
            FoldedRecurrent::LowRank {
                rank,
                identity,
                left,
                right,
            },
            Some(v),
        ) if awake.len() > *rank => {
            let small = small_product(&awake, *rank, left, right, field.cell.hidden);
            let values = matrix::eigenvalues(&small, *rank)?;
            parts.extend(values.iter().map(|(real, _)| v * (identity + real) - field.gamma));
            parts.resize(slope.len(), v * identity - field.gamma);
        }
        _ => {
            let mut block = field.block(&awake, &awake);
            for (row, &unit) in block.chunks_exact_mut(awake.len().max(1)).zip(&awake) {
                row.iter_mut().for_each(|value| *value *= slope[unit]);
            }
            let values = matrix::eigenvalues(&block, awake.len())?;
            parts.extend(values.iter().map(|(real, _)| real - field.gamma));
        }
    }
    Some(parts)
}

/// `B_S A_S`, `[r,r]`: its eigenvalues are those of `A_S B_S` but for zeros.
fn small_product(awake: &[usize], rank: usize, left: &[f64], right: &[f64], hidden: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| {
        awake
            .iter()
            .map(|&unit| right[i * hidden + unit] * left[unit * rank + j])
            .sum()
    };
    (0..rank)
        .flat_map(|i| (0..rank).map(move |j| (i, j)))
        .map(|(i, j)| entry(i, j))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::field::tests::{drawn, ernn, noise};
    use super::*;
    use ernn::cell::{Activation, CellConfig, ErnnConfig, Rank};

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_by(f64::total_cmp);
        values
    }

    /// The eigenvalues of the whole matrix, without looking at its structure.
    fn plain(field: &Field, slope: &[f64]) -> Vec<f64> {
        let values = matrix::eigenvalues(&field.jacobian(slope), slope.len()).unwrap();
        sorted(values.into_iter().map(|value| value.0).collect())
    }

    #[test]
    fn the_structure_gives_the_eigenvalues_of_the_whole_matrix() {
        let config = CellConfig::Ernn(ErnnConfig {
            hidden: 9,
            rank: Rank::Low(3),
            ..ernn(Activation::Relu)
        });
        let cell = drawn(&config, 2, 8);
        let field = Field::new(&config, &cell);
        let awake = |units: usize, slope: f64| -> Vec<f64> {
            (0..9)
                .map(|unit| if unit * 7 % 9 < units { slope } else { 0.0 })
                .collect()
        };
        let smooth: Vec<f64> = noise(9, 4).iter().map(|value| value.abs()).collect();
        for slope in [
            awake(9, 1.0),
            awake(5, 1.0),
            awake(3, 1.0),
            awake(0, 1.0),
            awake(6, 0.5),
            smooth,
        ] {
            let found = sorted(real_parts(&field, &slope).unwrap());
            for (found, expected) in found.iter().zip(plain(&field, &slope)) {
                // Eigenvalues that occur several times are found to the root of the precision.
                assert!((found - expected).abs() < 1e-6, "{slope:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn more_units_awake_than_the_rank_leave_eigenvalues_at_zero() {
        let config = CellConfig::Ernn(ErnnConfig {
            hidden: 9,
            rank: Rank::Low(3),
            gamma: 1.0,
            ..ernn(Activation::Relu)
        });
        let cell = drawn(&config, 2, 8);
        let field = Field::new(&config, &cell);
        let mut slope = vec![0.0; 9];
        slope[..5].fill(1.0);
        let parts = real_parts(&field, &slope).unwrap();
        assert_eq!(parts.iter().filter(|part| **part == 0.0).count(), 2);
        assert_eq!(parts.iter().filter(|part| **part == -1.0).count(), 4);
    }

    #[test]
    fn a_histogram_counts_every_value_once() {
        let values = noise(1000, 1);
        let found = Histogram::of(values.iter().copied());
        assert_eq!(found.counts.iter().sum::<usize>(), 1000);
        let first = values.iter().filter(|value| **value < found.from + found.width).count();
        assert_eq!(found.counts[0], first);
        assert_eq!(Histogram::of([2.0, 2.0].into_iter()).counts[0], 2);
    }
}
