//! What a model of steps says of sequences: a line a segment, a run of steps of one class. Windows that follow each other are put together.

use ernn::checkpoint::SavedModel;
use ernn::data::Sequences;
use ernn::evaluate::{self, Prediction};
use serde_json::json;

use super::predict::{Form, Format, quoted};
use crate::failure::Result;
use crate::output::{significant, timed};

/// A run of steps of one class.
struct Segment {
    /// The recording, or the sequence.
    name: String,
    start: String,
    end: String,
    class: usize,
    /// Probabilities of the class at its steps, added up.
    probability: f64,
    steps: usize,
}

/// A line for each segment: from when to when, its class, the mean probability of that class.
pub(super) fn lines(saved: &SavedModel, sequences: &Sequences, form: Form) -> Result<String> {
    let answers = timed("prediction", || {
        evaluate::predict_steps(saved, &sequences.part, &sequences.names)
    })?;
    let mut segments: Vec<Segment> = Vec::new();
    for (index, steps) in answers.iter().enumerate() {
        let goes_on = sequences.part.follows.get(index) == Some(&true);
        extend(&mut segments, sequences, index, steps, goes_on);
    }
    let mut text = match form.format {
        Format::Csv => "sequence,start,end,class,probability\n".to_string(),
        Format::Json => String::new(),
    };
    for segment in &segments {
        let class = &saved.classes[segment.class];
        let probability = significant(segment.probability / segment.steps as f64, form.digits);
        let Segment { name, start, end, .. } = segment;
        text += &match form.format {
            Format::Csv => format!(
                "{},{},{},{},{probability}\n",
                quoted(name),
                quoted(start),
                quoted(end),
                quoted(class)
            ),
            Format::Json => format!(
                "{}\n",
                json!({"sequence": name, "start": start, "end": end, "class": class, "probability": probability})
            ),
        };
    }
    Ok(text)
}

fn extend(segments: &mut Vec<Segment>, sequences: &Sequences, index: usize, steps: &[Prediction], goes_on: bool) {
    let name = recording(&sequences.names[index], !sequences.step_times.is_empty());
    let time = |step: usize| match sequences.step_times.get(index) {
        Some(times) => times[step].clone(),
        None => step.to_string(),
    };
    let mut last = goes_on;
    for (step, said) in steps.iter().enumerate() {
        let probability = said.probabilities[said.class];
        match segments.last_mut() {
            Some(segment) if last && segment.class == said.class => {
                segment.end = time(step + 1);
                segment.probability += probability;
                segment.steps += 1;
            }
            _ => segments.push(Segment {
                name: name.clone(),
                start: time(step),
                end: time(step + 1),
                class: said.class,
                probability,
                steps: 1,
            }),
        }
        last = true;
    }
}

/// The name of the recording that a window is of: `anna/17` is of `anna`.
pub(super) fn recording(window: &str, is_window: bool) -> String {
    let name = window.rsplit_once('/').map_or("1", |(recording, _)| recording);
    (if is_window { name } else { window }).to_string()
}
