//! A run that diverges before its first epoch is over begins anew with a smaller step.
//!
//! ERNN adds `eta` times a new term at each step of a sequence: over many steps an initial `eta` that suits short sequences lets the
//! states grow beyond all numbers before anything was learned. Halving it is the remedy; of cells without step sizes it is the learning
//! rate that is halved. Halves of binary numbers are exact: what was asked for can be told from the settings that a run ended with.

use super::RunConfig;
use crate::Error;
use crate::cell::{CellConfig, Solver};
use crate::checkpoint::{Phase, RunState};

/// As often a step is halved at most: from 0.3 to about 0.001.
const MOST_HALVINGS: u32 = 8;

/// What is halved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The initial step sizes of the cells.
    Eta,
    /// The learning rate.
    LearningRate,
}

/// A model that a run begins with brings its own step sizes.
fn target(config: &RunConfig) -> Target {
    let has_eta = |layer: &CellConfig| match layer {
        CellConfig::Ernn(cell) => cell.solver == Solver::Euler,
        CellConfig::DeepTransition(_) => true,
        _ => false,
    };
    match config.training.from.is_none() && config.model.layers.iter().any(has_eta) {
        true => Target::Eta,
        false => Target::LearningRate,
    }
}

/// The settings to begin anew with, and what to say about it; none where halving a step cannot help, or has been tried often enough.
pub(super) fn gentler(config: &RunConfig, state: &RunState, error: &Error) -> Option<(RunConfig, String)> {
    let &Error::NotFinite { epoch: 1, batch, .. } = error else {
        return None;
    };
    let target = target(config);
    // Before the first step of the optimizer the learning rate has played no part.
    let can_help = target == Target::Eta || batch > 1;
    if state.phase != Phase::Select || config.training.halvings >= MOST_HALVINGS || !can_help {
        return None;
    }
    let halved = halved(config, 1);
    let what = match target {
        Target::Eta => format!("the initial step size eta, now {}", smallest_eta(&halved)),
        Target::LearningRate => format!("the learning rate, now {}", halved.training.learning_rate),
    };
    let text = format!("{}; the run begins anew with half of {what}", where_it_failed(error));
    Some((halved, text))
}

fn where_it_failed(error: &Error) -> String {
    match error {
        Error::NotFinite { epoch, batch, what, .. } => format!("epoch {epoch}, batch {batch}: {what} is not finite"),
        other => other.to_string(),
    }
}

fn smallest_eta(config: &RunConfig) -> f64 {
    let etas = config.model.layers.iter().filter_map(|layer| match layer {
        CellConfig::Ernn(cell) => Some(cell.eta),
        CellConfig::DeepTransition(cell) => Some(cell.eta),
        _ => None,
    });
    etas.fold(f64::INFINITY, f64::min)
}

impl RunConfig {
    /// The settings before any halving: what was asked for of a run that diverged at once and went on with smaller steps.
    pub fn asked(&self) -> Self {
        let mut asked = self.clone();
        let times = std::mem::take(&mut asked.training.halvings);
        scale(&mut asked, 2.0_f64.powi(times as i32));
        asked
    }
}

/// The settings after this many more halvings.
pub(super) fn halved(config: &RunConfig, times: u32) -> RunConfig {
    let mut halved = config.clone();
    halved.training.halvings += times;
    scale(&mut halved, 0.5_f64.powi(times as i32));
    halved
}

fn scale(config: &mut RunConfig, factor: f64) {
    if target(config) == Target::LearningRate {
        config.training.learning_rate *= factor;
        return;
    }
    for layer in &mut config.model.layers {
        match layer {
            CellConfig::Ernn(cell) => cell.eta *= factor,
            CellConfig::DeepTransition(cell) => cell.eta *= factor,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(epoch: usize, batch: usize) -> Error {
        Error::NotFinite {
            epoch,
            batch,
            what: "the loss".to_string(),
            value: f64::NAN,
        }
    }

    #[test]
    fn halves_what_can_help_and_knows_what_was_asked() {
        let mut config = RunConfig::defaults("mine.csv");
        config.set_in_layers("eta", &toml::Value::Float(0.3)).unwrap();
        let state = RunState::default();
        let (first, text) = gentler(&config, &state, &error(1, 1)).unwrap();
        assert_eq!(first.layer_setting("eta"), Some(toml::Value::Float(0.15)));
        assert!(
            text.contains("epoch 1, batch 1") && text.ends_with("eta, now 0.15"),
            "{text}"
        );
        let (second, _) = gentler(&first, &state, &error(1, 3)).unwrap();
        assert_eq!((second.training.halvings, smallest_eta(&second)), (2, 0.075));
        assert_eq!(second.asked(), config);
        assert_eq!(config.asked(), config);
        let last = halved(&config, MOST_HALVINGS);
        assert!(gentler(&last, &state, &error(1, 1)).is_none());
        assert!(gentler(&config, &state, &error(2, 1)).is_none());

        config.change_cell("gru").unwrap();
        assert!(gentler(&config, &state, &error(1, 1)).is_none(), "no step was taken");
        let (gentle, text) = gentler(&config, &state, &error(1, 2)).unwrap();
        assert_eq!(gentle.training.learning_rate, config.training.learning_rate / 2.0);
        assert!(text.contains("the learning rate"), "{text}");
        assert_eq!(gentle.asked(), config);
    }
}
