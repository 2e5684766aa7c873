//! `ernn inspect`: what is inside a model file.

use std::path::PathBuf;

use clap::Args;
use ernn::cell::Span;
use ernn::checkpoint::{Provenance, SavedModel};
use ernn::data::Task;
use ernn::evaluate::figures;
use ernn::model::Quantize;
use ernn::names::{self, counted};
use ernn::optim;
use serde_json::{Value, json};

use crate::failure::Result;
use crate::output::{self, bytes, grouped, percent};
use crate::reading::settings;
use crate::significant::significant;

/// Arguments of `ernn inspect`.
#[derive(Args)]
pub struct Arguments {
    /// Model file or run folder
    model: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs `ernn inspect`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let saved = super::models::load(&arguments.model)?;
    let retrained = settings(&saved)
        .ok()
        .flatten()
        .is_some_and(|config| config.training.retrain);
    if arguments.json {
        output::print_json(&as_json(&saved))?;
    } else {
        output::print(&as_text(&saved, retrained))?;
    }
    Ok(())
}

fn as_json(saved: &SavedModel) -> Value {
    let tensors: Vec<Value> = saved
        .model
        .spans()
        .iter()
        .map(|span| json!({"name": span.name, "shape": span.shape, "nonzero": nonzero(saved, span)}))
        .collect();
    let mut content = json!({
        "config": saved.model.config(),
        "parameters": saved.model.parameters().len(),
        "nonzero_parameters": saved.nonzero_parameters(),
        "size_kb": saved.size_kb(),
        "model_bytes": saved.file_bytes(),
        "tensors": tensors,
        "classes": saved.classes,
        "feature_names": saved.feature_names,
        "normalization": saved.normalization,
        "provenance": saved.provenance,
    });
    if !saved.derivation.is_none() {
        content["derivation"] = json!(saved.derivation);
    }
    if !saved.decision.is_none() {
        content["decision"] = json!(saved.decision);
    }
    content
}

fn as_text(saved: &SavedModel, retrained: bool) -> String {
    let config = saved.model.config();
    let provenance = &saved.provenance;
    let mut text = String::new();
    for (index, layer) in config.layers.iter().enumerate() {
        let settings = serde_json::to_value(layer).unwrap_or_default();
        let kind = settings["kind"].as_str().unwrap_or_default().to_string();
        let settings: Vec<String> = settings
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| name.as_str() != "kind")
            .map(|(name, value)| format!("{name} {}", value.to_string().trim_matches('"')))
            .collect();
        text += &format!("layer {index}: {}, {}\n", kind, settings.join(", "));
        layer.notes().iter().for_each(|note| text += &format!("  {note}\n"));
    }
    let derived = saved.derivation.names(&saved.feature_names).len() - saved.channels();
    text += &format!(
        "size: {} values a step{}, {}, {} (4 bytes a nonzero parameter), in a file of {}\n",
        config.input_size - derived,
        match derived {
            0 => String::new(),
            derived => format!(" and {derived} derived ones"),
        },
        match config.task {
            Task::StepRegression if config.classes > 1 => {
                format!("{} at each step", names::counted(config.classes, "number"))
            }
            Task::StepRegression => "one number at each step".to_string(),
            Task::Regression if config.classes > 1 => names::counted(config.classes, "number"),
            Task::Regression => "one number".to_string(),
            Task::MultiLabel => format!("{} of which several can hold", counted(config.classes, "label")),
            _ => format!("{} classes", config.classes),
        },
        output::size(saved.model.parameters().len(), saved.nonzero_parameters()),
        bytes(saved.file_bytes()),
    );
    if config.quantize == Quantize::Int8 {
        text += "the cells' matrices are rounded to int8 before they are used; the tensors are those behind the rounded ones\n";
    }
    text += &origin(provenance, retrained);
    text += &trained_on(saved);
    text += &decision(saved);
    text += "\ntensor                    shape\n";
    for span in saved.model.spans() {
        let zeros = match nonzero(saved, span) {
            count if count == span.len() => String::new(),
            count => format!("  {} of {} nonzero", grouped(count), grouped(span.len())),
        };
        text += &format!("{:<24}  {:?}{zeros}\n", span.name, span.shape);
    }
    text += &format!("\n{}", normalization(saved));
    if !provenance.is_imported() {
        text += &format!("\nsettings of the run:\n{}", provenance.settings);
    }
    text.trim_end().to_string()
}

/// How what the model says becomes an answer, a line each.
fn decision(saved: &SavedModel) -> String {
    let decision = &saved.decision;
    let calibration = decision.calibration.map(|found| {
        let (before, after) = (percent(found.error_before), percent(found.error_after));
        let examples = grouped(found.examples);
        format!(
            "probabilities: calibrated by {examples} examples, temperature {}; calibration error {before} before, {after} after\n",
            significant(found.temperature)
        )
    });
    let unknown = decision
        .unknown_below
        .map(|least| format!("answers with a probability below {} are unknown\n", percent(least)));
    let smooth = decision
        .switch_penalty
        .map(|penalty| format!("a change of class from a step to the next costs {penalty} nats\n"));
    [calibration, unknown, smooth].into_iter().flatten().collect()
}

/// What the model was trained to say.
fn trained_on(saved: &SavedModel) -> String {
    let config = saved.model.config();
    let mut text = match config.quantiles.is_empty() {
        true => String::new(),
        false => format!(
            "quantiles: {}\n",
            names::joined(&config.quantiles.iter().map(f64::to_string).collect::<Vec<_>>())
        ),
    };
    let (scales, targets) = (&saved.provenance.targets, saved.target_names());
    // Of a forecast all steps are much alike.
    let horizon = saved
        .provenance
        .forecast
        .as_ref()
        .map_or(1, |forecast| forecast.horizon);
    for (scale, name) in scales.iter().zip(&targets).step_by(horizon) {
        let name = match scales.len() {
            1 => "numbers".to_string(),
            _ => names::line(name),
        };
        text += &format!(
            "{name} that were trained on: mean {}, standard deviation {}; the readout gives them in their unit\n",
            figures(scale.mean),
            figures(scale.deviation)
        );
    }
    if scales.is_empty() {
        let what = match config.task {
            Task::MultiLabel => "labels",
            _ => "classes",
        };
        text += &format!("{what}: {}\n", names::joined(&saved.classes));
    }
    text
}

/// Where the model comes from, in a line.
fn origin(provenance: &Provenance, retrained: bool) -> String {
    let (dataset, version) = (names::line(&provenance.dataset), names::line(&provenance.version));
    if provenance.is_imported() {
        return format!("imported from: {dataset}, by ernn {version}\n");
    }
    let accuracy = provenance.validation_accuracy.map_or_else(String::new, |accuracy| {
        format!(", validation accuracy {}", percent(accuracy))
    });
    let (seed, epoch) = (provenance.seed, provenance.best_epoch);
    let second = if retrained {
        " in the first pass; retrained: the last epoch of the second pass, on all sequences"
    } else {
        ""
    };
    format!("trained on: {dataset}, seed {seed}, best epoch {epoch}{accuracy}{second}, ernn {version}\n")
}

fn nonzero(saved: &SavedModel, span: &Span) -> usize {
    optim::nonzero(&saved.model.parameters()[span.range()])
}

fn normalization(saved: &SavedModel) -> String {
    let mut text = "feature                         mean         scale\n".to_string();
    let statistics = saved.normalization.mean.iter().zip(&saved.normalization.scale);
    for (name, (mean, scale)) in saved.derivation.names(&saved.feature_names).iter().zip(statistics) {
        let name = names::line(name);
        let [mean, scale] = [*mean, *scale].map(|value| significant(f64::from(value)));
        text += &format!("{name:<24}  {mean:>10}  {scale:>12}\n");
    }
    if !saved.derivation.scales.is_empty() {
        text += "\ncompressed channel          asinh of its high pass / this\n";
        for (name, scale) in saved.feature_names.iter().zip(&saved.derivation.scales) {
            let name = names::line(name);
            text += &format!("{name:<24}  {scale:>10.4e}\n");
        }
    }
    text
}
