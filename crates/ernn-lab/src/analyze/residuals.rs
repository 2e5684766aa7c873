//! Does the inner iteration go to an equilibrium? `|F(z^i)|` after each iteration, at every step (the paper's supplement).
//!
//! ```text
//! theorem    eta^2 |dF F|^2 + 2 eta F^T dF F < 0     then |F(z + eta F)| < |F(z)|, to first order, and the rate is linear
//! corollary  |I + eta dF| < 1                        (spectral norm) the same for every F, by |I + eta dF| or better
//! ```
//!
//! The left side of the theorem is `|F + eta dF F|^2 - |F|^2`: exact where no unit crosses a kink. Behind the last iteration the last step
//! size goes on. Each condition is only counted, and it is counted beside it whether the residual really shrank.

use rayon::prelude::*;
use serde::Serialize;

use super::field::{Field, Step};
use super::matrix;
use super::sample::Layer;
use super::spectrum::Visited;
use super::statistics::{Range, dot, length, share};

/// Iterations that are run beyond those of the model.
pub(super) const FAR: usize = 50;

/// Iterations over which a rate is measured.
const STRETCH: usize = 10;

/// Norms this near to 1 are 1.
const ROUNDING: f64 = 1e-12;

/// A residual this small, beside the first one, may be half rounding.
const SMALL: f64 = 1e-9;

/// Residuals up to this count as an equilibrium.
const FOUND: f64 = 1e-6;

/// The residuals of a layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Residuals {
    /// `K`.
    pub iterations: usize,
    /// Steps of all sequences looked at.
    pub steps: usize,
    /// After 0, 1, .. iterations.
    pub after: Vec<After>,
    /// `|F(z^{i+1})| / |F(z^i)|`, the mean over the last ten iterations that say anything: the measured linear rate of each step.
    pub rate: Range,
    /// Share of steps whose residual after all iterations is below the first one.
    pub shrinking: f64,
    /// Share of steps whose residual after all iterations is at most 1e-6.
    pub found: f64,
    /// The theorem's condition, over all iterations of the model.
    pub theorem: Condition,
    /// The corollary's, at the last iteration of some steps.
    pub corollary: Condition,
    /// `|I + eta dF|` there.
    pub norm: Range,
}

/// Residuals after an iteration, over all steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct After {
    /// `i`.
    pub iteration: usize,
    /// `|F(z^i)|`.
    pub residual: Range,
    /// `|F(z^i)| / |F(z^0)|`.
    pub relative: Range,
}

/// A condition under which a residual shrinks, and whether it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Condition {
    /// How often it was evaluated.
    pub evaluated: usize,
    /// How often it held.
    pub held: usize,
    /// How often the residual shrank where it held.
    pub shrank_where_held: usize,
    /// How often the residual shrank where it did not hold.
    pub shrank_elsewhere: usize,
}

impl Condition {
    fn count(&mut self, held: bool, shrank: bool) {
        self.evaluated += 1;
        self.held += usize::from(held);
        self.shrank_where_held += usize::from(held && shrank);
        self.shrank_elsewhere += usize::from(!held && shrank);
    }

    fn add(&mut self, other: Condition) {
        self.evaluated += other.evaluated;
        self.held += other.held;
        self.shrank_where_held += other.shrank_where_held;
        self.shrank_elsewhere += other.shrank_elsewhere;
    }

    /// Share of evaluations in which it held.
    pub fn share(&self) -> f64 {
        share(self.held, self.evaluated)
    }
}

/// Measures a layer; none if there is no step.
pub(super) fn measure(field: &Field, layer: &Layer, visited: &[Visited]) -> Option<Residuals> {
    let all: Vec<(Vec<Vec<f64>>, Condition)> = layer
        .inputs
        .par_iter()
        .map(|inputs| of_sequence(field, inputs))
        .collect();
    let mut theorem = Condition::default();
    all.iter().for_each(|(_, condition)| theorem.add(*condition));
    let curves: Vec<&Vec<f64>> = all.iter().flat_map(|(curves, _)| curves).collect();
    let iterations = field.cell.iterations;
    let after = (0..=iterations + FAR).filter_map(|iteration| {
        Some(After {
            iteration,
            residual: Range::of(curves.iter().map(|curve| curve[iteration]))?,
            relative: Range::of(curves.iter().map(|curve| relative(curve, iteration)))?,
        })
    });
    let (corollary, norms) = corollary(field, visited);
    let count =
        |test: &dyn Fn(&Vec<f64>) -> bool| share(curves.iter().filter(|curve| test(curve)).count(), curves.len());
    let last = iterations + FAR;
    Some(Residuals {
        iterations,
        steps: curves.len(),
        after: after.collect(),
        rate: Range::of(curves.iter().filter_map(|curve| rate(curve)))?,
        shrinking: count(&|curve| curve[last] < curve[0]),
        found: count(&|curve| curve[last] <= FOUND),
        theorem,
        corollary,
        norm: Range::of(norms)?,
    })
}

fn relative(curve: &[f64], iteration: usize) -> f64 {
    if curve[0] == 0.0 {
        curve[iteration]
    } else {
        curve[iteration] / curve[0]
    }
}

/// The residuals of each step after 0, 1, .. iterations, and the theorem's condition.
fn of_sequence(field: &Field, inputs: &[f64]) -> (Vec<Vec<f64>>, Condition) {
    let mut condition = Condition::default();
    let mut curves = Vec::new();
    let iterations = field.cell.iterations;
    field.walk(inputs, |Step { index, drive, points }| {
        let mut z = points[0].clone();
        let mut point = field.at(&z, drive);
        let mut curve = vec![length(&point.force)];
        for iteration in 0..iterations + FAR {
            let eta = field.step_sizes(index, iteration).1;
            let promised = iteration < iterations && promise(field, &point.slope, &point.force, eta) < 0.0;
            z = Field::advance(&z, &point, eta);
            point = field.at(&z, drive);
            let residual = length(&point.force);
            if iteration < iterations {
                condition.count(promised, residual < curve[iteration]);
            }
            curve.push(residual);
        }
        curves.push(curve);
    });
    (curves, condition)
}

/// The left side of the theorem's condition.
fn promise(field: &Field, slope: &[f64], force: &[f64], eta: f64) -> f64 {
    let moved = field.derivative(slope, force);
    eta * eta * dot(&moved, &moved) + 2.0 * eta * dot(force, &moved)
}

/// The mean ratio of two residuals in a row over the last stretch that is well above rounding.
fn rate(curve: &[f64]) -> Option<f64> {
    let end = (STRETCH..curve.len())
        .rev()
        .find(|&end| curve[end] > SMALL * curve[0] && curve[end].is_finite())?;
    Some((curve[end] / curve[end - STRETCH]).powf(1.0 / STRETCH as f64))
}

/// The corollary's condition at the visited steps, and the norms.
fn corollary(field: &Field, visited: &[Visited]) -> (Condition, Vec<f64>) {
    let hidden = field.cell.hidden;
    let norm = |visited: &Visited| {
        let mut matrix = field.jacobian(&visited.slope);
        matrix.iter_mut().for_each(|value| *value *= visited.eta);
        matrix.iter_mut().step_by(hidden + 1).for_each(|value| *value += 1.0);
        Some((matrix::norm(&matrix, hidden)?, visited.forces[1] < visited.forces[0]))
    };
    let found: Vec<(f64, bool)> = visited.par_iter().filter_map(norm).collect();
    let mut condition = Condition::default();
    // A norm of exactly 1 is found a little below it half of the time.
    found
        .iter()
        .for_each(|&(norm, shrank)| condition.count(norm < 1.0 - ROUNDING, shrank));
    (condition, found.into_iter().map(|entry| entry.0).collect())
}

#[cfg(test)]
mod tests {
    use super::super::field::tests::noise;
    use super::super::spectrum::visited;
    use super::*;
    use ernn::cell::{Activation, CellConfig, ErnnConfig, Folded, FoldedLeaky, Projection, Rank, StepSizes};

    /// A diagonal U with `P = I` and a ReLU that is always awake: `F` is linear, and `F(z^{i+1}) = (1 + eta (u - gamma)) F(z^i)`.
    fn linear(diagonal: f64, eta: f64) -> (CellConfig, FoldedLeaky<f64>) {
        let config = CellConfig::Ernn(ErnnConfig {
            hidden: 3,
            rank: Rank::Full,
            iterations: 2,
            activation: Activation::Relu,
            steps: StepSizes::PerIteration,
            projection: Projection::Identity,
            ..Default::default()
        });
        let w = [0.0; 6];
        // Far from the kink: all units stay awake.
        let b = [50.0, 60.0, 70.0];
        let mut u = [0.0; 9];
        u.iter_mut().step_by(4).for_each(|value| *value = diagonal);
        let parameters = [&w[..], &b, &u, &[eta, eta]].concat();
        let Folded::Leaky(cell) = config.fold(2, &parameters) else {
            panic!("a leaky cell")
        };
        (config, cell)
    }

    fn measured(diagonal: f64, eta: f64) -> Residuals {
        let (config, cell) = linear(diagonal, eta);
        let layer = Layer {
            cell: Folded::Leaky(cell.clone()),
            inputs: vec![noise(2 * 6, 1)],
            width: 2,
        };
        let field = Field::new(&config, &cell);
        measure(&field, &layer, &visited(&field, &layer)).unwrap()
    }

    #[test]
    fn a_linear_field_has_its_rate_in_closed_form() {
        let found = measured(0.6, 0.5);
        let expected = 1.0 + 0.5 * (0.6 - 1.0);
        for value in [found.rate.low, found.rate.high, found.norm.low, found.norm.high] {
            assert!((value - expected).abs() < 1e-7, "{value} {expected}");
        }
        for after in &found.after[..20] {
            assert!(
                (after.relative.median / expected.powi(after.iteration as i32) - 1.0).abs() < 1e-6,
                "{after:?}"
            );
        }
        let all = Condition {
            evaluated: 12,
            held: 12,
            shrank_where_held: 12,
            shrank_elsewhere: 0,
        };
        assert_eq!(
            (found.theorem, found.corollary.held, found.corollary.shrank_where_held),
            (all, 6, 6)
        );
        assert_eq!((found.shrinking, found.steps), (1.0, 6));
    }

    #[test]
    fn a_field_that_drives_away_is_seen_to_do_so() {
        let found = measured(1.2, 0.1);
        assert!((found.rate.median - 1.02).abs() < 1e-9, "{:?}", found.rate);
        assert_eq!(
            (found.shrinking, found.found, found.theorem.held, found.corollary.held),
            (0.0, 0.0, 0, 0)
        );
        assert_eq!(
            (found.theorem.shrank_where_held, found.theorem.shrank_elsewhere),
            (0, 0)
        );
    }

    #[test]
    fn an_identity_under_a_relu_keeps_its_residual() {
        // U = I, gamma = 1: F is the same everywhere, and there is no equilibrium.
        let found = measured(1.0, 0.3);
        assert!(
            (found.rate.median - 1.0).abs() < 1e-12 && found.found == 0.0,
            "{found:?}"
        );
        assert_eq!((found.corollary.evaluated, found.corollary.held), (6, 0));
    }
}
