//! `ernn predict --stream`: steps line by line from stdin, a line for each step or every N steps, flushed.

use std::io::{self, BufRead, Write};
use std::path::Path;

use ernn::checkpoint::SavedModel;
use ernn::data::{MissingPolicy, Task};
use ernn::evaluate::{Stream, called, length_note};
use ernn::{Error, Result as LibraryResult};
use serde_json::{Map, Value, json};

use super::predict::{Form, Format, by_name, quoted, shown};
use super::predict_labels;
use super::stream_steps::Steps;
use crate::failure::Result;
use crate::output::{say, significant};

/// Bytes of a line at most: more are no step, and must not fill the memory.
const LONGEST_LINE: u64 = 1 << 20;

/// Runs until the input ends.
pub fn run(saved: &SavedModel, input: impl BufRead, form: Form, every: u64, missing: MissingPolicy) -> Result<()> {
    let mut out = io::stdout().lock();
    let mut stream = Stream::new(saved)?;
    let mut steps = Steps::new(saved, missing);
    let mut warned = false;
    if form.format == Format::Csv {
        writeln!(out, "{}", shown(header(saved), form.format))?;
        out.flush()?;
    }
    each_line(input, |number, content| {
        if steps.is_break(content) {
            stream.reset();
            steps.reset();
            return Ok(());
        }
        steps.push(&mut stream, content).map_err(|error| at(number, error))?;
        if let Some(note) = length_note(&saved.model, stream.steps()).filter(|_| !warned) {
            say(&format!("warning: {note}"));
            warned = true;
        }
        if (stream.steps() as u64).is_multiple_of(every) {
            writeln!(out, "{}", shown(said(saved, &stream, form), form.format))?;
            out.flush()?;
        }
        Ok(())
    })
}

/// Hands over each line of the input, without its end, with its number from 1.
pub(super) fn each_line(mut input: impl BufRead, mut take: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let mut line = String::new();
    for number in 1_u64.. {
        if !read_line(&mut input, &mut line, number)? {
            break;
        }
        let content = line.strip_suffix('\n').unwrap_or(&line);
        take(number, content.strip_suffix('\r').unwrap_or(content))?;
    }
    Ok(())
}

fn read_line(input: &mut impl BufRead, line: &mut String, number: u64) -> LibraryResult<bool> {
    line.clear();
    let read = io::Read::take(input, LONGEST_LINE).read_line(line);
    let read = read.map_err(|source| match source.kind() {
        io::ErrorKind::InvalidData => format_error(number, "bytes that are no text", "numbers"),
        _ => Error::io(Path::new("standard input"), "read")(source),
    })?;
    if read as u64 == LONGEST_LINE {
        return Err(format_error(
            number,
            "a line of over a million bytes",
            "the values of one step",
        ));
    }
    Ok(read > 0)
}

pub(super) fn at(number: u64, error: Error) -> Error {
    match error {
        Error::Data { problem, .. } => Error::data(format!("standard input, line {number}"), problem),
        other => other,
    }
}

fn format_error(number: u64, found: &str, expected: &str) -> Error {
    Error::format(Path::new("standard input"), format!(", line {number}"), found, expected)
}

fn header(saved: &SavedModel) -> String {
    match saved.model.config().task {
        Task::Regression | Task::StepRegression if saved.model.config().classes == 1 => "step,number".to_string(),
        Task::Regression | Task::StepRegression => {
            format!("step,{}", joined(saved.output_names().iter().map(|name| quoted(name))))
        }
        Task::NextToken => "step,token,p_token".to_string(),
        Task::MultiLabel => format!("step,{}", predict_labels::columns(&saved.classes)),
        Task::Classification | Task::StepClassification => {
            let names = saved
                .classes
                .iter()
                .map(|class| format!(",{}", quoted(&format!("p_{class}"))));
            format!("step,class{}", names.collect::<String>())
        }
    }
}

/// What the model says after the steps so far.
fn said(saved: &SavedModel, stream: &Stream, form: Form) -> String {
    let step = stream.steps();
    if let Some(row) = stream.label_probabilities() {
        return match form.format {
            Format::Csv => format!(
                "{step},{}",
                predict_labels::cells(&saved.classes, &Ok(row), form.digits)
            ),
            Format::Json => {
                let mut line = predict_labels::entries(&saved.classes, &row, form.digits);
                line["step"] = json!(step);
                line.to_string()
            }
        };
    }
    let Some(prediction) = stream.prediction() else {
        return String::new();
    };
    let class = prediction.class;
    let probability = |class: usize| significant(prediction.probabilities[class], form.digits);
    match (saved.model.config().task, form.format) {
        (Task::Regression | Task::StepRegression, Format::Csv) => {
            format!("{step},{}", joined(stream.numbers().iter().map(f32::to_string)))
        }
        (Task::Regression | Task::StepRegression, Format::Json) => match &stream.numbers()[..] {
            [number] => json!({"step": step, "number": number}).to_string(),
            numbers => json!({"step": step, "numbers": by_name(saved, numbers)}).to_string(),
        },
        (Task::NextToken, Format::Csv) => {
            let token = quoted(&saved.vocabulary[class]);
            format!("{step},{token},{}", probability(class))
        }
        (Task::NextToken, Format::Json) => {
            let token = &saved.vocabulary[class];
            json!({"step": step, "token": token, "probability": probability(class)}).to_string()
        }
        (_, Format::Csv) => {
            let shares = (0..saved.classes.len()).map(|class| format!(",{}", probability(class)));
            format!(
                "{step},{}{}",
                quoted(called(saved, &prediction)),
                shares.collect::<String>()
            )
        }
        (_, Format::Json) => {
            let pairs = saved.classes.iter().enumerate();
            let shares: Map<String, Value> = pairs.map(|(class, name)| (name.clone(), probability(class))).collect();
            json!({"step": step, "class": called(saved, &prediction), "probabilities": shares}).to_string()
        }
    }
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(",")
}
