//! Is there an equilibrium at each step, and how far from it does the network stop? Newton's method on `gamma z = phi(R z + u)`, in `f64`.
//!
//! With a ReLU, `gamma = 1` and `P U = I + A B` of rank `r`, an equilibrium with the set `S` of units awake must satisfy `A_S B_S z_S = -u_S`:
//! `|S|` equations in the `r` unknowns `B_S z_S`. So if more than `r` units are awake there is in general none.

use rayon::prelude::*;
use serde::Serialize;

use super::field::{Field, Step};
use super::sample::Layer;
use super::statistics::{Range, length, share};
use ernn::cell::{FoldedEquilibrium, Outcome, Solver, SolverSettings};

/// `max |phi(R z + u) - gamma z|` of an equilibrium.
const TOLERANCE: f64 = 1e-6;

/// Iterations of Newton's method at most.
const MOST: usize = 50;

/// Steps looked at, about: where there is no equilibrium, each costs all iterations.
const STEPS: usize = 2000;

/// The equilibria of a layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Equilibria {
    /// Steps looked at, evenly spread over the sequences.
    pub steps: usize,
    /// The largest residual of a unit at an equilibrium.
    pub tolerance: f64,
    /// Share of steps at which one was found.
    pub found: f64,
    /// Newton's iterations where it was found: how often 0, 1, ..
    pub by_iterations: Vec<usize>,
    /// Newton's iterations where it was found.
    pub iterations: Option<Range>,
    /// Units awake (`phi'` not 0) where it was found.
    pub awake_where_found: Option<Range>,
    /// Units awake where Newton's method ended elsewhere.
    pub awake_elsewhere: Option<Range>,
    /// The largest residual of a unit where it ended elsewhere.
    pub residual_elsewhere: Option<Range>,
    /// `|z^K - z| / |z|`: how far from the equilibrium `z`, where it was found, the network's own iterations end.
    pub distance: Option<Range>,
}

/// One step.
struct Solved {
    outcome: Outcome,
    awake: usize,
    /// None where `z` is 0.
    distance: Option<f64>,
}

/// How equilibria are looked for.
pub(super) fn settings() -> SolverSettings {
    SolverSettings {
        solver: Solver::Newton,
        tolerance: TOLERANCE,
        relative_tolerance: 0.0,
        max_iterations: MOST,
        ..SolverSettings::default()
    }
}

/// Measures a layer; none if the field pulls nowhere (`gamma = 0`) or there is no step.
pub(super) fn measure(field: &Field, layer: &Layer) -> Option<Equilibria> {
    if field.gamma <= 0.0 {
        return None;
    }
    let solver = field.cell.at_equilibrium(field.gamma, settings());
    let all: usize = layer.inputs.iter().map(|inputs| inputs.len() / layer.width).sum();
    let stride = all.div_ceil(STEPS).max(1);
    let solved = layer
        .inputs
        .par_iter()
        .flat_map_iter(|inputs| of_sequence(field, &solver, stride, inputs));
    let solved: Vec<Solved> = solved.collect();
    let (found, elsewhere): (Vec<&Solved>, Vec<&Solved>) = solved.iter().partition(|step| step.outcome.converged);
    let counts = found.iter().map(|step| step.outcome.iterations as usize);
    let mut by_iterations = vec![0; counts.clone().max().map_or(0, |most| most + 1)];
    counts.clone().for_each(|count| by_iterations[count] += 1);
    Range::of(solved.iter().map(|step| step.outcome.residual))?;
    let awake = |steps: &[&Solved]| Range::of(steps.iter().map(|step| step.awake as f64));
    Some(Equilibria {
        steps: solved.len(),
        tolerance: TOLERANCE,
        found: share(found.len(), solved.len()),
        by_iterations,
        iterations: Range::of(counts.map(|count| count as f64)),
        awake_where_found: awake(&found),
        awake_elsewhere: awake(&elsewhere),
        residual_elsewhere: Range::of(elsewhere.iter().map(|step| step.outcome.residual)),
        distance: Range::of(found.iter().filter_map(|step| step.distance)),
    })
}

/// Every `stride`-th step of a sequence; an equilibrium depends on the inputs of its own step alone.
fn of_sequence(field: &Field, solver: &FoldedEquilibrium<f64>, stride: usize, inputs: &[f64]) -> Vec<Solved> {
    let (width, hidden) = (field.cell.inputs, field.cell.hidden);
    let chosen: Vec<f64> = inputs.chunks_exact(width).step_by(stride).flatten().copied().collect();
    let (equilibria, outcomes) = solver.solve(&chosen);
    let mut steps = Vec::with_capacity(outcomes.len());
    field.walk(inputs, |Step { index, drive, points }| {
        if !index.is_multiple_of(stride) {
            return;
        }
        let z = &equilibria[index / stride * hidden..][..hidden];
        let own = &points[points.len() - 1];
        let apart: Vec<f64> = own.iter().zip(z).map(|(own, z)| own - z).collect();
        steps.push(Solved {
            outcome: outcomes[index / stride],
            awake: field.at(z, drive).slope.iter().filter(|slope| **slope != 0.0).count(),
            distance: Some(length(&apart) / length(z)).filter(|distance| distance.is_finite()),
        });
    });
    steps
}

#[cfg(test)]
mod tests {
    use super::super::field::tests::{drawn, ernn, noise};
    use super::*;
    use ernn::cell::{Activation, CellConfig, ErnnConfig, Folded, Rank, Start};

    fn measured(config: ErnnConfig) -> Equilibria {
        let config = CellConfig::Ernn(config);
        let cell = drawn(&config, 2, 3);
        let layer = Layer {
            cell: Folded::Leaky(cell.clone()),
            inputs: vec![noise(2 * 30, 4)],
            width: 2,
        };
        measure(&Field::new(&config, &cell), &layer).unwrap()
    }

    #[test]
    fn a_contraction_has_an_equilibrium_at_every_step_and_many_steps_reach_it() {
        let near = ErnnConfig {
            gamma: 3.0,
            deviation: 0.1,
            eta: 0.3,
            ..ernn(Activation::Tanh)
        };
        let found = measured(ErnnConfig {
            iterations: 200,
            start: Start::Zero,
            ..near.clone()
        });
        assert_eq!((found.steps, found.found, found.residual_elsewhere), (30, 1.0, None));
        assert_eq!(found.by_iterations.iter().sum::<usize>(), 30);
        assert!(
            found.distance.unwrap().high < 1e-5 && found.iterations.unwrap().high < 6.0,
            "{found:?}"
        );
        let early = measured(ErnnConfig {
            iterations: 1,
            eta: 0.01,
            start: Start::Zero,
            ..near
        });
        assert!(early.distance.unwrap().low > 0.5, "{early:?}");
    }

    /// A ReLU, `gamma = 1`, `P U = I + A B` of rank 1 with `A` and `B` above 0 and inputs that keep all units awake: at most one is ever at rest.
    #[test]
    fn more_units_awake_than_the_rank_have_no_equilibrium() {
        let config = ErnnConfig {
            hidden: 8,
            rank: Rank::Low(1),
            gamma: 1.0,
            ..ernn(Activation::Relu)
        };
        let config = CellConfig::Ernn(config);
        let mut cell = drawn(&config, 2, 3);
        cell.bias.fill(5.0);
        cell.input_weight.iter_mut().for_each(|value| *value *= 0.1);
        let layer = Layer {
            cell: Folded::Leaky(cell.clone()),
            inputs: vec![noise(2 * 30, 4)],
            width: 2,
        };
        let found = measure(&Field::new(&config, &cell), &layer).unwrap();
        assert_eq!((found.found, found.iterations, found.distance), (0.0, None, None));
        assert!(
            found.awake_elsewhere.unwrap().low > 1.0 && found.residual_elsewhere.unwrap().low > 1e-3,
            "{found:?}"
        );
    }
}
