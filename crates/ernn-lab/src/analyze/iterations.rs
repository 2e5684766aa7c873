//! Effective K: what a trained ERNN is worth when it is run with fewer or more inner iterations than it was trained with.
//!
//! Two ways to get other iterations from the learned `eta [T,K]`:
//!
//! ```text
//! repeated   the first K' step sizes; beyond the K-th, the last one again        (further towards the equilibrium, if there is one)
//! finer      K' equal step sizes with the sum of the learned ones                (the same time of the equation, cut finer)
//! ```
//!
//! And the equilibrium itself, by Newton's method with the tolerances of the cell: no step sizes, no start.

use serde::Serialize;

use ernn::Result;
use ernn::cell::{CellConfig, Solver};
use ernn::data::View;
use ernn::evaluate::{Metric, evaluate_normalized};
use ernn::model::{Model, ModelConfig};

/// Iterations that are tried, beside those of the model.
const TRIED: [usize; 7] = [1, 2, 3, 5, 10, 20, 50];

/// Scores by iterations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Iterations {
    /// What is measured.
    pub metric: Metric,
    /// Sequences that it is measured on.
    pub sequences: usize,
    /// `K` of the model; of several layers, the largest.
    pub trained: usize,
    /// One a number of iterations, ascending.
    pub tried: Vec<Tried>,
    /// With each state at its equilibrium, or where Newton's method ended instead; none where a cell has no equation to solve, or most steps no equilibrium.
    pub at_equilibrium: Option<f64>,
}

/// Scores of a number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// `K'`.
    pub iterations: usize,
    /// With the last step size again and again.
    pub repeated: f64,
    /// With smaller steps of the same sum.
    pub finer: f64,
}

/// Inner iterations of a cell that has them, with step sizes of its own.
pub(super) fn of(cell: &CellConfig) -> Option<usize> {
    match cell {
        CellConfig::Ernn(ernn) if ernn.solver == Solver::Euler => Some(ernn.iterations),
        CellConfig::DeepTransition(deep) => Some(deep.iterations),
        _ => None,
    }
}

/// Measures normalized sequences; `trained` is the model's `K`; `at_rest`: at the equilibrium, too.
pub(super) fn measure(
    model: &Model<f32>,
    classes: &[String],
    view: &View,
    trained: usize,
    at_rest: bool,
) -> Result<Iterations> {
    let mut all = TRIED.to_vec();
    all.push(trained);
    all.sort_unstable();
    all.dedup();
    let mut metric = Metric::Accuracy;
    let mut score = |iterations: usize, way: Way| -> Result<f64> {
        let (found, value) = evaluate_normalized(&with_iterations(model, iterations, way)?, classes, view)?.score();
        metric = found;
        Ok(value)
    };
    let mut tried = Vec::new();
    for iterations in all {
        let repeated = score(iterations, Way::Repeated)?;
        tried.push(Tried {
            iterations,
            repeated,
            finer: score(iterations, Way::Finer)?,
        });
    }
    let resting = if at_rest { at_equilibrium(model)? } else { None };
    let at_equilibrium = resting
        .map(|model| evaluate_normalized(&model, classes, view))
        .transpose()?
        .map(|found| found.score().1);
    Ok(Iterations {
        metric,
        sequences: view.len(),
        trained,
        tried,
        at_equilibrium,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Repeated,
    Finer,
}

/// The same parameters under another number of iterations.
fn with_iterations(model: &Model<f32>, iterations: usize, way: Way) -> Result<Model<f32>> {
    let mut config: ModelConfig = model.config().clone();
    for layer in &mut config.layers {
        match layer {
            CellConfig::Ernn(cell) if cell.solver == Solver::Euler => cell.iterations = iterations,
            CellConfig::DeepTransition(cell) => cell.iterations = iterations,
            _ => {}
        }
    }
    let mut parameters = Vec::with_capacity(model.parameters().len());
    for span in model.spans() {
        let values = &model.parameters()[span.range()];
        match span.shape[..] {
            [_, before] if span.name.ends_with(".eta") => {
                let rows = values.chunks_exact(before);
                parameters.extend(rows.flat_map(|row| resized(row, iterations, way)));
            }
            _ => parameters.extend_from_slice(values),
        }
    }
    Model::from_parameters(config, parameters)
}

/// The same parameters, without step sizes, with every ERNN at its equilibrium.
fn at_equilibrium(model: &Model<f32>) -> Result<Option<Model<f32>>> {
    let mut config: ModelConfig = model.config().clone();
    for layer in &mut config.layers {
        match layer {
            CellConfig::Ernn(cell) if cell.gamma > 0.0 => cell.solver = Solver::Newton,
            CellConfig::Ernn(_) | CellConfig::DeepTransition(_) => return Ok(None),
            _ => {}
        }
    }
    let kept = model.spans().iter().filter(|span| !span.name.ends_with(".eta"));
    let parameters = kept.flat_map(|span| &model.parameters()[span.range()]).copied();
    Model::from_parameters(config, parameters.collect()).map(Some)
}

/// The step sizes of a time step for other iterations.
fn resized(row: &[f32], iterations: usize, way: Way) -> Vec<f32> {
    if iterations == row.len() {
        return row.to_vec();
    }
    match way {
        Way::Repeated => (0..iterations).map(|index| row[index.min(row.len() - 1)]).collect(),
        Way::Finer => vec![row.iter().sum::<f32>() / iterations as f32; iterations],
    }
}

#[cfg(test)]
mod tests {
    use ernn_kernels::{Isa, Panels};

    use super::*;
    use ernn::cell::{ErnnConfig, LstmConfig, Rank, Start, StepSizes};
    use ernn::model::Workspace;

    #[test]
    fn step_sizes_are_cut_repeated_or_made_finer() {
        let row = [0.1, 0.2, 0.3];
        assert_eq!(resized(&row, 2, Way::Repeated), [0.1, 0.2]);
        assert_eq!(resized(&row, 5, Way::Repeated), [0.1, 0.2, 0.3, 0.3, 0.3]);
        assert_eq!(resized(&row, 3, Way::Finer), row);
        let finer = resized(&row, 6, Way::Finer);
        assert!(
            finer.len() == 6 && finer.iter().all(|eta| (eta - 0.1).abs() < 1e-6),
            "{finer:?}"
        );
    }

    /// A model that was trained with one step size for all iterations does not tell how often it is repeated.
    #[test]
    fn a_repeated_step_is_one_more_iteration_of_the_same_cell() {
        let cell = |iterations| {
            CellConfig::Ernn(ErnnConfig {
                hidden: 6,
                rank: Rank::Low(2),
                iterations,
                steps: StepSizes::PerIteration,
                eta: 0.3,
                ..Default::default()
            })
        };
        let lstm = CellConfig::Lstm(LstmConfig {
            hidden: 3,
            ..Default::default()
        });
        let config = |iterations| ModelConfig::new(2, 2, vec![cell(iterations), lstm.clone()]);
        let model = Model::<f32>::new(config(2), 4).unwrap();
        let four = with_iterations(&model, 4, Way::Repeated).unwrap();
        assert_eq!(four.config(), &config(4));
        let mut inputs = Panels::new(Isa::best(), 2, &[5]);
        inputs.set_sequence(0, &[0.5; 10]);
        let logits = |model: &Model<f32>| model.logits(&inputs, &mut Workspace::default()).unwrap();
        assert_ne!(logits(&four), logits(&model));
        assert_eq!(
            logits(&with_iterations(&four, 2, Way::Repeated).unwrap()),
            logits(&model)
        );
        assert_eq!(with_iterations(&model, 2, Way::Finer).unwrap(), model);
    }

    /// Where the equation is a contraction, more and more iterations lead to what Newton's method finds at once.
    #[test]
    fn many_iterations_end_at_the_equilibrium() {
        let cell = CellConfig::Ernn(ErnnConfig {
            hidden: 6,
            rank: Rank::Low(2),
            steps: StepSizes::PerIteration,
            eta: 0.3,
            gamma: 3.0,
            start: Start::Zero,
            ..Default::default()
        });
        let model = Model::<f32>::new(ModelConfig::new(2, 2, vec![cell]), 4).unwrap();
        let mut inputs = Panels::new(Isa::best(), 2, &[3]);
        inputs.set_sequence(0, &[0.5, -1.0, 2.0, 0.25, 1.0, 1.0]);
        let logits = |model: &Model<f32>| model.logits(&inputs, &mut Workspace::default()).unwrap();
        let expected = logits(&at_equilibrium(&model).unwrap().unwrap());
        let apart = |iterations| {
            let found = logits(&with_iterations(&model, iterations, Way::Repeated).unwrap());
            found
                .iter()
                .zip(&expected)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max)
        };
        let distances = [1, 5, 200].map(apart);
        assert!(
            distances[0] > distances[1] && distances[1] > distances[2] && distances[2] < 1e-4,
            "{distances:?}"
        );
    }
}
