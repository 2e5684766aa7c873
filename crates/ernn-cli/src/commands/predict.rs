//! `ernn predict`: the class of each sequence and the probability of each class, one line a sequence.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ernn::checkpoint::SavedModel;
use ernn::data;
use ernn::evaluate::{self, Prediction};
use serde_json::{Map, Value, json};

use super::predict_stream;
use crate::failure::{Failure, Result};
use crate::reading::ReadingFlags;

/// Arguments of `ernn predict`.
#[derive(Args)]
pub struct Arguments {
    /// Model file or run folder
    model: PathBuf,
    /// File of sequences, labelled or not, or - for stdin
    #[arg(required_unless_present = "stream", conflicts_with = "stream")]
    file: Option<String>,
    /// Form of the lines
    #[arg(long, value_enum, default_value = "csv")]
    format: Format,
    /// Read steps from stdin, one a line, values separated by commas or blanks (of text: one token a line), and say after each what
    /// the model makes of all since the beginning; an empty line begins a new sequence
    #[arg(long)]
    stream: bool,
    /// With --stream: say it after every N steps [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    #[command(flatten)]
    reading: ReadingFlags,
}

/// Form of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A header, then values separated by commas
    Csv,
    /// A JSON object a line
    Json,
}

/// Runs `ernn predict`.
pub fn run(arguments: &Arguments) -> Result<()> {
    // Said here: the parser drops a requirement that conflicts with the file.
    if arguments.every.is_some() && !arguments.stream {
        return Err(Failure::Usage("--every goes with --stream alone".to_string()));
    }
    let saved = SavedModel::load(&arguments.model)?;
    let Some(file) = &arguments.file else {
        return predict_stream::run(&saved, arguments.format, arguments.every.unwrap_or(1));
    };
    let options = arguments.reading.as_for(&saved)?.options();
    let mut sequences = match file.as_str() {
        "-" => data::read_sequences(io::stdin().lock(), &options)?,
        file => {
            refuse_known(file)?;
            data::open_sequences(Path::new(file), &options)?
        }
    };
    if let Some(order) = super::channel_order(&saved, &sequences.source, &sequences.feature_names)? {
        sequences.part.reorder(&order);
    }
    super::warn_of_length(&saved, sequences.part.longest());
    let predictions = evaluate::predict(&saved, &sequences.part)?;
    let mut out = BufWriter::new(io::stdout().lock());
    match arguments.format {
        Format::Csv => write_csv(&mut out, &saved.classes, &sequences.names, &predictions)?,
        Format::Json => write_json(&mut out, &saved.classes, &sequences.names, &predictions)?,
    }
    Ok(out.flush()?)
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

fn write_csv(out: &mut impl Write, classes: &[String], names: &[String], predictions: &[Prediction]) -> io::Result<()> {
    write!(out, "sequence,class")?;
    for class in classes {
        write!(out, ",{}", quoted(&format!("p_{class}")))?;
    }
    writeln!(out)?;
    for (name, prediction) in names.iter().zip(predictions) {
        write!(out, "{},{}", quoted(name), quoted(&classes[prediction.class]))?;
        for probability in &prediction.probabilities {
            write!(out, ",{probability}")?;
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
) -> io::Result<()> {
    for (name, prediction) in names.iter().zip(predictions) {
        let pairs = classes.iter().zip(&prediction.probabilities);
        let probabilities: Map<String, Value> = pairs.map(|(class, value)| (class.clone(), json!(value))).collect();
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
        write_csv(&mut out, &classes, &names, std::slice::from_ref(&prediction)).unwrap();
        let expected = "sequence,class,p_plain,\"p_a, \"\"b\"\"\"\n1,\"a, \"\"b\"\"\",0.25,0.75\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut out = Vec::new();
        write_json(&mut out, &classes, &names, &[prediction]).unwrap();
        let line: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(line["probabilities"]["a, \"b\""], 0.75);
    }
}
