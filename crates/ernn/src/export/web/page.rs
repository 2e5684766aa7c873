//! The page: a template, and the model as JSON in its one place.

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ernn_core::{Format, Sizes};
use serde::Serialize;

use crate::chart;
use crate::checkpoint::SavedModel;
use crate::data::list;
use crate::export::unit::output_names;
use crate::export::{Prepared, Samples, about};
use crate::names::{self, line};
use crate::{Error, Result};

/// Examples of a page, and numbers of all of them: pages stay small.
const EXAMPLES: usize = 6;
const NUMBERS: usize = 8192;

/// What the page's script knows.
#[derive(Serialize)]
struct Content<'a> {
    name: &'a str,
    title: String,
    facts: String,
    /// Numbers of a step that the module reads.
    inputs: usize,
    /// Logits.
    count: usize,
    /// Names of the logits; none where they have none.
    outputs: Vec<String>,
    /// Whether logits become probabilities.
    probabilities: bool,
    /// Whether logits are whole numbers, and what of them is 1.
    /// Outputs are labels of which several can hold.
    several: bool,
    whole: bool,
    scale: u32,
    /// Of a model of numbers in whole numbers: what 1 and 0 of each output are in its unit; else empty.
    units: Vec<f64>,
    offsets: Vec<f64>,
    /// Outputs that are quantiles of one number, and rise.
    quantiles: usize,
    features: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vocabulary: Option<&'a [String]>,
    examples: Vec<Example>,
    module: String,
    /// Of a model that listens to a stream without an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<Listen>,
}

/// How the page listens.
#[derive(Serialize)]
struct Listen {
    /// Steps of a window, and from window to window.
    window: usize,
    every: usize,
    /// Steps a second, where they are known.
    rate: Option<f64>,
    sound: Option<Heard>,
}

/// Samples a second, of a step, and from step to step.
#[derive(Serialize)]
struct Heard {
    rate: usize,
    frame: usize,
    hop: usize,
}

impl Listen {
    fn of(prepared: &Prepared) -> Option<Self> {
        let way = &prepared.listens.as_ref()?.way;
        let sound = prepared.ears.as_ref().map(|ears| {
            let sizes = ears.sizes();
            Heard {
                rate: sizes.rate,
                frame: sizes.samples,
                hop: sizes.step,
            }
        });
        Some(Listen {
            window: way.window,
            every: way.hop,
            rate: prepared.options.rate,
            sound,
        })
    }
}

#[derive(Serialize)]
struct Example {
    name: String,
    text: String,
}

pub(super) fn html(module: &[u8], prepared: &Prepared) -> Result<String> {
    let saved = prepared.saved;
    let sizes = Sizes::of(&prepared.image);
    let tokens = prepared.plan.tokens;
    let whole = prepared.plan.format == Format::Int8;
    let outputs = if saved.classes.is_empty() && saved.vocabulary.len() == sizes.outputs {
        &saved.vocabulary
    } else {
        &saved.classes
    };
    let unit = prepared.plan.unit.as_ref();
    let numbers = output_names(saved);
    let outputs = if unit.is_some() { &numbers[..] } else { &outputs[..] };
    let scales = unit.filter(|_| whole).map_or(&[][..], |unit| &unit.scales);
    let content = Content {
        name: &prepared.options.name,
        title: title(saved),
        facts: facts(module, prepared),
        inputs: if tokens { 1 } else { sizes.inputs },
        count: sizes.outputs,
        outputs: outputs.iter().map(line).collect(),
        probabilities: (sizes.outputs > 1 && unit.is_none()) || prepared.plan.several,
        several: prepared.plan.several,
        whole,
        scale: about::logit_scale(prepared.plan.format),
        units: scales.iter().map(|scale| scale.deviation).collect(),
        offsets: scales.iter().map(|scale| scale.mean).collect(),
        quantiles: unit.map_or(1, |unit| unit.quantiles),
        features: saved.feature_names.iter().map(line).collect(),
        vocabulary: tokens.then_some(saved.vocabulary.as_slice()),
        examples: examples(saved, prepared.samples),
        module: BASE64_STANDARD.encode(module),
        listen: Listen::of(prepared),
    };
    let json = serde_json::to_string(&content).map_err(|error| Error::data("the export to the web", error))?;
    // Nothing in it may end the script that holds it.
    let json = json.replace('<', "\\u003c");
    let json = names::json(&json);
    let page = include_str!("page.html").replacen("/* CHARTS */", &chart::style(), 1);
    let script = if content.listen.is_some() {
        include_str!("listen.js")
    } else {
        ""
    };
    let page = page.replacen("/* LISTEN */", script, 1);
    Ok(page.replacen(">MODEL<", &format!(">{json}<"), 1))
}

fn title(saved: &SavedModel) -> String {
    format!("A recurrent network for {}", line(&saved.provenance.dataset))
}

fn facts(module: &[u8], prepared: &Prepared) -> String {
    let cells = prepared.saved.model.config().layers.iter();
    let cells: Vec<String> = cells
        .map(|cell| format!("{} with {} units", cell.name(), cell.hidden()))
        .collect();
    let numbers = match prepared.plan.format {
        Format::Float => "f32",
        Format::Int8 => "int8",
    };
    format!(
        "{}; {numbers}, {} bytes of tables, a module of {} bytes. Everything is in this page: nothing is sent or loaded. Made by ernn {}.",
        cells.join(", "),
        prepared.memory().tables,
        module.len(),
        env!("CARGO_PKG_VERSION")
    )
}

/// Some sequences as text, one of each class first.
fn examples(saved: &SavedModel, samples: &Samples) -> Vec<Example> {
    // Who hears has no use for the numbers of a sound.
    let most = if saved.sound().is_some() { 1 } else { EXAMPLES };
    let mut seen = BTreeSet::new();
    let all = 0..samples.sequences.len();
    let (first, rest): (Vec<usize>, Vec<usize>) = all.partition(|&index| match samples.labels.get(index) {
        Some(&label) => seen.insert(label),
        None => true,
    });
    let mut left = NUMBERS;
    let mut found = Vec::new();
    for index in first.into_iter().chain(rest) {
        let sequence = &samples.sequences[index];
        // The first one is there in any case, if need be without its end.
        let taken = if found.is_empty() {
            sequence.len().min(left / samples.features * samples.features)
        } else {
            sequence.len()
        };
        if taken > left || found.len() == most {
            continue;
        }
        left -= taken;
        found.push(Example {
            name: example_name(saved, samples, index, taken < sequence.len()),
            text: text(saved, &sequence[..taken], samples.features),
        });
    }
    found
}

fn example_name(saved: &SavedModel, samples: &Samples, index: usize, cut: bool) -> String {
    let label = samples
        .labels
        .get(index)
        .and_then(|&label| saved.classes.get(label as usize));
    let labels = samples.indicators.get(index).map(|row| {
        let own = saved.classes.iter().zip(row).filter(|(_, holds)| **holds == 1);
        let own: Vec<String> = own.map(|(name, _)| line(name)).collect();
        if own.is_empty() {
            "none of the labels".to_string()
        } else {
            own.join(", ")
        }
    });
    let what = match (label, samples.real) {
        (None, true) if labels.is_some() => labels.unwrap_or_default(),
        (Some(class), _) => line(class),
        (None, true) if !samples.numbers.is_empty() => numbers_of(samples, index),
        (None, true) => "of the data".to_string(),
        (None, false) => "drawn, of no meaning".to_string(),
    };
    let cut = if cut { ", its beginning" } else { "" };
    format!("{}: {what}{cut}", index + 1)
}

/// The true numbers of a sequence; of many the first.
fn numbers_of(samples: &Samples, index: usize) -> String {
    let targets = samples.numbers.len() / samples.sequences.len().max(1);
    let own = samples.numbers.iter().skip(index * targets).take(targets);
    let texts: Vec<String> = own.map(f32::to_string).collect();
    list(&texts)
}

fn text(saved: &SavedModel, sequence: &[f32], features: usize) -> String {
    if saved.model.config().embedding.is_some() {
        let token = |&token: &f32| saved.vocabulary.get(token as usize).map_or("", String::as_str);
        let words: Vec<&str> = sequence.iter().map(token).collect();
        let letters = saved
            .vocabulary
            .iter()
            .all(|word| word.chars().count() == 1 || word.starts_with('<'));
        return words.join(if letters { "" } else { " " });
    }
    let line = |step: &[f32]| step.iter().map(f32::to_string).collect::<Vec<_>>().join(", ");
    sequence.chunks_exact(features).map(line).collect::<Vec<_>>().join("\n")
}
