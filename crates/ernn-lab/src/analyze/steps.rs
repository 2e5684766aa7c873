//! The learned step sizes `eta [T,K]` over time.

use serde::Serialize;

use super::statistics::{Range, share};

/// The step sizes of a layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steps {
    /// One a row of the table: 1 if all time steps share them.
    pub rows: usize,
    /// One entry an iteration.
    pub by_iteration: Vec<Iteration>,
    /// `eta`, one row a time step.
    pub eta: Vec<Vec<f64>>,
}

/// The step sizes of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Iteration {
    /// From 1.
    pub iteration: usize,
    /// Over the time steps.
    pub eta: Range,
    /// Share of them below 0: steps away from where the field points.
    pub negative: f64,
}

/// Of the table `[rows,K]`.
pub(super) fn measure(table: &[f64], iterations: usize) -> Steps {
    let column = |iteration: usize| table.iter().skip(iteration).step_by(iterations).copied();
    let rows = table.len() / iterations;
    let by_iteration = (0..iterations).filter_map(|iteration| {
        Some(Iteration {
            iteration: iteration + 1,
            eta: Range::of(column(iteration))?,
            negative: share(column(iteration).filter(|eta| *eta < 0.0).count(), rows),
        })
    });
    Steps {
        rows,
        by_iteration: by_iteration.collect(),
        eta: table.chunks_exact(iterations).map(<[f64]>::to_vec).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_iteration_has_its_column() {
        let found = measure(&[0.1, -0.5, 0.3, -0.1, 0.2, 0.4], 2);
        assert_eq!((found.rows, found.eta[1].clone()), (3, vec![0.3, -0.1]));
        let second = found.by_iteration[1];
        assert_eq!((second.iteration, second.negative), (2, 2.0 / 3.0));
        assert_eq!(
            second.eta,
            Range {
                low: -0.5,
                median: -0.1,
                high: 0.4
            }
        );
    }
}
