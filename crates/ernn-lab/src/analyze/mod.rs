//! Analyze: what a trained network really does, measured beside what the theory says.
//!
//! ```text
//! model, part of a data set -> some sequences in f64 -> gradients, spectrum, residuals, steps (a layer each)
//!                           -> accuracy with other inner iterations                                  -> JSON, SVG, HTML
//! ```
//!
//! One file a measurement, with its formulas on top; `docs/theory.md` says what was found. A section that makes no sense for a cell is named
//! with the reason, never left out in silence.

mod equilibria;
mod field;
mod figures;
mod gradients;
mod iterations;
mod matrix;
mod page;
mod phase;
mod residuals;
mod sample;
mod spectrum;
mod statistics;
mod steps;
mod text;

use serde::Serialize;

pub use self::equilibria::Equilibria;
use self::field::Ground;
pub use self::figures::Figure;
pub use self::gradients::{Gradients, Norms, SingularValues};
pub use self::iterations::{Iterations, Tried};
pub use self::page::{GENERATOR, files, phase_files};
pub use self::phase::{Path, Phase, PhaseSettings, phase};
pub use self::residuals::{After, Condition, Residuals};
use self::sample::Layer;
pub use self::spectrum::{AtStep, Histogram, Spectrum};
pub use self::statistics::Range;
pub use self::steps::{Iteration, Steps};
pub use self::text::summary;
use ernn::cell::{CellConfig, Folded};
use ernn::checkpoint::SavedModel;
use ernn::data::{Task, View};
use ernn::evaluate;
use ernn::{Error, Result};

/// Share of steps that must have an equilibrium for the model to be run at it: where there is none, Newton's method takes all its
/// iterations, and ends where no one has asked it to.
const LEAST_AT_REST: f64 = 0.5;

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Sequences that gradients, spectra and residuals are measured on.
    pub sequences: usize,
    /// Sequences that accuracies are measured on, at most.
    pub accuracy_sequences: usize,
    /// Seed of the choice of sequences.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sequences: 16,
            accuracy_sequences: 1000,
            seed: 1,
        }
    }
}

/// What is analyzed, in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Subject {
    /// The model's file.
    pub model: String,
    /// The data set.
    pub dataset: String,
    /// The part of it.
    pub part: String,
}

/// All that was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// Version of the program.
    pub version: &'static str,
    /// What was analyzed.
    #[serde(flatten)]
    pub subject: Subject,
    /// How much was looked at.
    pub settings: Settings,
    /// One a layer, its forward direction.
    pub layers: Vec<LayerAnalysis>,
    /// Scores with other inner iterations.
    pub iterations: Option<Iterations>,
    /// What was not measured, and why.
    pub skipped: Vec<Skipped>,
}

/// What was measured in a layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerAnalysis {
    /// From 1.
    pub layer: usize,
    /// Kind of the cell.
    pub cell: &'static str,
    /// `D`.
    pub hidden: usize,
    /// `K`, of cells with an inner iteration.
    pub inner_iterations: Option<usize>,
    /// How far gradients reach.
    pub gradients: Gradients,
    /// Eigenvalues of the field.
    pub spectrum: Option<Spectrum>,
    /// Convergence of the inner iteration.
    pub residuals: Option<Residuals>,
    /// Whether there are equilibria, and how far from them the iteration stops.
    pub equilibria: Option<Equilibria>,
    /// The learned step sizes.
    pub steps: Option<Steps>,
}

/// A section that was left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Skipped {
    /// Its name in the JSON.
    pub section: &'static str,
    /// From 1; none: of the whole model.
    pub layer: Option<usize>,
    /// Why.
    pub reason: String,
}

/// Measures a model on raw sequences. `say` is told what is under way.
///
/// # Errors
/// If the sequences do not fit the model, there is none, or they have no targets to measure accuracy by.
pub fn analyze(
    saved: &SavedModel,
    subject: Subject,
    part: View,
    settings: Settings,
    say: &mut dyn FnMut(&str),
) -> Result<Analysis> {
    let view = evaluate::prepared(saved, part)?;
    let model = sample::widened(&saved.model)?;
    let layers = sample::layers(&model, &view, settings.sequences, settings.seed)?;
    if layers[0].inputs.is_empty() {
        return Err(Error::Data {
            dataset: subject.dataset,
            problem: "found no sequence with a step, expected one to look at".to_string(),
        });
    }
    let mut analysis = Analysis {
        version: env!("CARGO_PKG_VERSION"),
        subject,
        settings: Settings {
            sequences: layers[0].inputs.len(),
            ..settings
        },
        layers: Vec::new(),
        iterations: None,
        skipped: Vec::new(),
    };
    for (index, (config, layer)) in model.config().layers.iter().zip(&layers).enumerate() {
        let found = of_layer(index + 1, config, layer, &mut analysis.skipped, say);
        analysis.layers.push(found);
    }
    if model.config().bidirectional {
        analysis.skipped.push(Skipped {
            section: "the second direction",
            layer: None,
            reason: "of each layer, the cell that reads forwards is analyzed".to_string(),
        });
    }
    let at_rest = analysis.layers.iter().filter_map(|layer| layer.equilibria.as_ref());
    let at_rest = at_rest.map(|found| found.found).fold(1.0, f64::min);
    if at_rest < LEAST_AT_REST && analysis.layers.iter().any(|layer| layer.steps.is_some()) {
        analysis.skipped.push(Skipped {
            section: "iterations at the equilibrium",
            layer: None,
            reason: format!("only {:.1} % of the steps looked at have one", 100.0 * at_rest),
        });
    }
    match iterations(saved, &view, settings, at_rest >= LEAST_AT_REST, say)? {
        Ok(found) => analysis.iterations = Some(found),
        Err(skipped) => analysis.skipped.push(skipped),
    }
    Ok(analysis)
}

fn of_layer(
    number: usize,
    config: &CellConfig,
    layer: &Layer,
    skipped: &mut Vec<Skipped>,
    say: &mut dyn FnMut(&str),
) -> LayerAnalysis {
    say(&format!("layer {number}: gradients"));
    let gradients = gradients::measure(layer);
    let mut skip = |section: &'static str, reason: String| {
        skipped.push(Skipped {
            section,
            layer: Some(number),
            reason,
        });
    };
    let (mut spectrum, mut residuals, mut equilibria, mut steps) = (None, None, None, None);
    let name = config.name();
    if let Some(ground) = Ground::of(&layer.cell) {
        say(&format!("layer {number}: spectrum"));
        let field = ground.field(config);
        let visited = spectrum::visited(&field, layer);
        spectrum = spectrum::measure(&field, &visited);
        if spectrum.is_none() {
            skip("spectrum", "no matrix of it was finite".to_string());
        }
        if field.solver.is_some() {
            skip("residuals", "the state is the equilibrium itself".to_string());
        } else if is_ernn(config) {
            say(&format!("layer {number}: residuals"));
            residuals = residuals::measure(&field, layer, &visited);
            if residuals.is_none() {
                skip("residuals", "no step of it was finite".to_string());
            }
        }
        if is_ernn(config) {
            say(&format!("layer {number}: equilibria"));
            equilibria = equilibria::measure(&field, layer);
            if equilibria.is_none() {
                skip("equilibria", "with gamma = 0 nothing pulls towards one".to_string());
            }
        }
    } else {
        skip(
            "spectrum",
            format!("a step of this cell, {name}, is no Euler step of phi(R z + u) - gamma z"),
        );
    }
    if !is_ernn(config) {
        skip(
            "residuals",
            format!("the inner iteration is that of ernn, and this cell is {name}"),
        );
        skip(
            "equilibria",
            format!("the equation of an equilibrium is that of ernn, and this cell is {name}"),
        );
    }
    match (&layer.cell, iterations::of(config)) {
        (Folded::Leaky(cell), Some(k)) => steps = Some(steps::measure(&cell.gain, k)),
        (Folded::Deep(cell), Some(k)) => steps = Some(steps::measure(&cell.gain, k)),
        _ => skip("steps", format!("this cell, {name}, learns no step sizes")),
    }
    LayerAnalysis {
        layer: number,
        cell: name,
        hidden: config.hidden(),
        inner_iterations: iterations::of(config),
        gradients,
        spectrum,
        residuals,
        equilibria,
        steps,
    }
}

fn is_ernn(config: &CellConfig) -> bool {
    matches!(config, CellConfig::Ernn(_))
}

/// The scores with other iterations, or why there are none.
fn iterations(
    saved: &SavedModel,
    view: &View,
    settings: Settings,
    at_rest: bool,
    say: &mut dyn FnMut(&str),
) -> Result<std::result::Result<Iterations, Skipped>> {
    let skip = |reason: &str| {
        Ok(Err(Skipped {
            section: "iterations",
            layer: None,
            reason: reason.to_string(),
        }))
    };
    let config = saved.model.config();
    let Some(trained) = config.layers.iter().filter_map(iterations::of).max() else {
        return skip("no cell of the model has an inner iteration with learned step sizes");
    };
    if config.task == Task::NextToken {
        return skip("a text is measured as a whole, which takes long: ernn evaluate does it");
    }
    say("iterations: accuracy");
    let mut some = view.clone();
    if view.len() > settings.accuracy_sequences {
        some.choose(&sample::chosen(view.len(), settings.accuracy_sequences, settings.seed));
    }
    Ok(Ok(iterations::measure(
        &saved.model,
        &saved.classes,
        &some,
        trained,
        at_rest,
    )?))
}
