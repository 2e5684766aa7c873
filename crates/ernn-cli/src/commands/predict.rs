//! `ernn predict`: the class of each sequence and the probability of each class, or its number, one line a sequence.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ernn::checkpoint::SavedModel;
use ernn::data::{self, MissingPolicy, OpenOptions, Sequences, Task, Vocabulary};
use ernn::evaluate::{self, Prediction};
use serde_json::{Map, Value, json};

use super::predict_flags::PredictFlags;
use super::predict_stream;
use super::stream_steps::CANNOT_LOOK_AHEAD;
use crate::failure::{Failure, Result};
use crate::output::{significant, timed};

/// Arguments of `ernn predict`.
#[derive(Args)]
pub struct Arguments {
    /// Model file or run folder
    model: PathBuf,
    /// File of sequences, labelled or not; for a model of texts a table or a .txt with a text a line; for one of recordings a .wav
    /// or a folder of them; or - for stdin
    #[arg(required_unless_present = "stream", conflicts_with = "stream")]
    file: Option<String>,
    /// Form of the lines
    #[arg(long, value_enum, default_value = "csv")]
    format: Format,
    /// Read steps from stdin, one a line, values separated by commas or blanks (of text: one token a line, blanks included), and say after each what
    /// the model makes of all since the beginning; an empty line begins a new sequence
    #[arg(long)]
    stream: bool,
    /// With --stream: say it after every N steps [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    /// Significant digits of probabilities
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=17))]
    digits: u8,
    #[command(flatten)]
    reading: PredictFlags,
}

/// Form of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A header, then values separated by commas
    Csv,
    /// A JSON object a line
    Json,
}

/// Form of the lines and of the numbers in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub format: Format,
    /// Significant digits of probabilities.
    pub digits: usize,
}

impl Arguments {
    fn form(&self) -> Form {
        Form {
            format: self.format,
            digits: usize::from(self.digits),
        }
    }
}

/// Runs `ernn predict`.
pub fn run(arguments: &Arguments) -> Result<()> {
    // Said here: the parser drops a requirement that conflicts with the file.
    if arguments.every.is_some() && !arguments.stream {
        return Err(Failure::Usage("--every goes with --stream alone".to_string()));
    }
    let saved = SavedModel::load(&arguments.model)?;
    let options = arguments.reading.options(&saved)?;
    let Some(file) = &arguments.file else {
        if arguments.reading.missing == Some(MissingPolicy::Interpolate) {
            return Err(Failure::Usage(format!("--missing interpolate {CANNOT_LOOK_AHEAD}")));
        }
        let every = arguments.every.unwrap_or(1);
        return predict_stream::run(&saved, arguments.form(), every, options.missing);
    };
    must_judge_sequences(&saved)?;
    let mut sequences = timed("reading the data", || open(&saved, file, &options))?;
    if let Some(order) = super::channel_order(&saved, &sequences.source, &sequences.feature_names)? {
        sequences.part.reorder(&order);
    }
    super::warn_of_length(&saved, sequences.part.longest());
    let lines = match saved.model.config().task {
        Task::Regression => number_lines(&saved, &sequences, arguments.format)?,
        _ => class_lines(&saved, &sequences, arguments.form())?,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    out.write_all(&lines)?;
    Ok(out.flush()?)
}

/// A model that says something at every step has nothing to say about a whole sequence.
fn must_judge_sequences(saved: &SavedModel) -> Result<()> {
    let what = match saved.model.config().task {
        Task::Classification | Task::Regression => return Ok(()),
        Task::StepClassification => "a class",
        Task::NextToken => "a token",
    };
    Err(Failure::Library(ernn::Error::Data {
        dataset: "the model".to_string(),
        problem: format!(
            "found one that gives {what} at every step, expected one that gives a class or a number for each sequence \
             (`ernn predict MODEL --stream` says what it makes of each step)"
        ),
    }))
}

/// New data as the model reads it: texts, recordings or numbers.
fn open(saved: &SavedModel, file: &str, options: &OpenOptions) -> Result<Sequences> {
    let path = Path::new(file);
    if file != "-" {
        refuse_known(file)?;
    }
    if !saved.vocabulary.is_empty() {
        let vocabulary = Vocabulary::new(saved.vocabulary.clone());
        return Ok(match file {
            "-" => data::read_texts(io::stdin().lock(), options, &vocabulary)?,
            _ => data::open_texts(path, options, &vocabulary)?,
        });
    }
    if file == "-" {
        return Ok(data::read_sequences(io::stdin().lock(), options)?);
    }
    let is_recording = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("wav"));
    if path.is_dir() || is_recording {
        return Ok(data::open_recordings(
            path,
            &saved.provenance.dataset,
            &saved.feature_names,
        )?);
    }
    Ok(data::open_sequences(path, options)?)
}

/// A line for each class that the model gives.
fn class_lines(saved: &SavedModel, sequences: &Sequences, form: Form) -> Result<Vec<u8>> {
    let predictions = timed("prediction", || {
        evaluate::predict_named(saved, &sequences.part, &sequences.names)
    })?;
    let mut lines = Vec::new();
    let (classes, names) = (&saved.classes, &sequences.names);
    match form.format {
        Format::Csv => write_csv(&mut lines, classes, names, &predictions, form.digits)?,
        Format::Json => write_json(&mut lines, classes, names, &predictions, form.digits)?,
    }
    Ok(lines)
}

/// A line for each number that the model gives.
fn number_lines(saved: &SavedModel, sequences: &Sequences, format: Format) -> Result<Vec<u8>> {
    let numbers = evaluate::predict_numbers(saved, &sequences.part, &sequences.names)?;
    let mut lines = Vec::new();
    if format == Format::Csv {
        writeln!(lines, "sequence,value")?;
    }
    for (name, value) in sequences.names.iter().zip(numbers) {
        match format {
            Format::Csv => writeln!(lines, "{},{value}", quoted(name))?,
            Format::Json => writeln!(lines, "{}", json!({"sequence": name, "value": value}))?,
        }
    }
    Ok(lines)
}

/// The name of a data set is no file, though other commands take it.
fn refuse_known(file: &str) -> Result<()> {
    if Path::new(file).exists() || !data::known().iter().any(|known| known.name == file) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{file}: found the name of a known data set, expected a file, a folder or - (`ernn evaluate` takes known names)"
    )))
}

fn write_csv(
    out: &mut impl Write,
    classes: &[String],
    names: &[String],
    predictions: &[Prediction],
    digits: usize,
) -> io::Result<()> {
    write!(out, "sequence,class")?;
    for class in classes {
        write!(out, ",{}", quoted(&format!("p_{class}")))?;
    }
    writeln!(out)?;
    for (name, prediction) in names.iter().zip(predictions) {
        write!(out, "{},{}", quoted(name), quoted(&classes[prediction.class]))?;
        for probability in &prediction.probabilities {
            write!(out, ",{}", significant(*probability, digits))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_json(
    out: &mut impl Write,
    classes: &[String],
    names: &[String],
    predictions: &[Prediction],
    digits: usize,
) -> io::Result<()> {
    for (name, prediction) in names.iter().zip(predictions) {
        let pairs = classes.iter().zip(&prediction.probabilities);
        let pairs = pairs.map(|(class, &value)| (class.clone(), significant(value, digits)));
        let probabilities: Map<String, Value> = pairs.collect();
        let class = &classes[prediction.class];
        let line = json!({"sequence": name, "class": class, "probabilities": probabilities});
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A CSV field: quoted where it must be.
pub(super) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_separators_are_quoted() {
        let classes = ["plain", "a, \"b\""].map(String::from);
        let names = ["1".to_string()];
        let prediction = Prediction {
            class: 1,
            probabilities: vec![0.25, 0.75],
        };
        let mut out = Vec::new();
        write_csv(&mut out, &classes, &names, std::slice::from_ref(&prediction), 4).unwrap();
        let expected = "sequence,class,p_plain,\"p_a, \"\"b\"\"\"\n1,\"a, \"\"b\"\"\",0.25,0.75\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut out = Vec::new();
        write_json(&mut out, &classes, &names, &[prediction], 4).unwrap();
        let line: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(line["probabilities"]["a, \"b\""], 0.75);
    }
}
