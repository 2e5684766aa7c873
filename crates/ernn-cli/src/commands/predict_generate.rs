//! `ernn predict --generate N`: a text that a model of running text goes on with, written as it comes.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

use clap::Args;
use ernn::checkpoint::SavedModel;
use ernn::data::{END_OF_LINE, Reading, Script, UNKNOWN, Vocabulary, list};
use ernn::evaluate::{Ensemble, Generator, NextToken, Sampling};
use ernn::{Error, names};
use serde_json::json;

use super::predict::{Form, Format, shown};
use crate::failure::{Failure, Result};
use crate::output::{say, significant};
use crate::reading::settings;
use crate::terminal::Stream;

/// How a text goes on.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Going on with a text")]
pub struct GenerateFlags {
    /// Of a model of running text: write N tokens that follow the prompt
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub generate: Option<u64>,
    /// What the text begins with [default: the beginning of a line]
    #[arg(long, value_name = "TEXT", requires = "generate", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Below 1 likely tokens become likelier, above 1 less likely; 0 takes the likeliest each time [default: 1]
    #[arg(long, value_name = "T", requires = "generate")]
    temperature: Option<f64>,
    /// Draw from the K likeliest tokens alone [default: from all]
    #[arg(long, value_name = "K", requires = "generate")]
    top_k: Option<usize>,
    /// Seed of the draws [default: 1]
    #[arg(long, value_name = "N", requires = "generate")]
    seed: Option<u64>,
}

/// What goes with `--generate`.
const OWN: [&str; 7] = ["model", "generate", "prompt", "temperature", "top_k", "seed", "format"];

impl GenerateFlags {
    fn sampling(&self) -> Sampling {
        let usual = Sampling::default();
        Sampling {
            temperature: self.temperature.unwrap_or(usual.temperature),
            top_k: self.top_k,
            seed: self.seed.unwrap_or(usual.seed),
        }
    }
}

/// Writes `count` tokens; `form` has a format only if one was asked for, `given` are the names of all arguments.
pub fn run(
    models: &Ensemble,
    count: u64,
    flags: &GenerateFlags,
    form: (Option<Format>, Form),
    given: &HashSet<String>,
) -> Result<()> {
    let (asked, form) = form;
    refuse_others(asked, given)?;
    if models.is_several() {
        return Err(Failure::Usage(
            "--generate runs one model, and an ensemble is several: name one of them".to_string(),
        ));
    }
    let saved = models.first();
    let mut generator = Generator::new(saved, flags.sampling())?;
    let script = script(saved)?;
    let prompt = flags.prompt.as_deref().unwrap_or_default();
    generator.read(&read(script, saved, prompt)?.tokens)?;
    let mut out = Output::new();
    if asked.is_none() {
        out.put(prompt)?;
    }
    let mut behind_blank = prompt.is_empty() || prompt.ends_with(char::is_whitespace);
    for _ in 0..count {
        let next = generator.write()?;
        let token = &saved.vocabulary[next.token as usize];
        if asked.is_some() {
            out.put_line(&line(token, next, form))?;
            continue;
        }
        let text = script.written(token, behind_blank);
        behind_blank = text.ends_with(char::is_whitespace);
        out.put(&text)?;
    }
    out.end()
}

/// Flags that change nothing about a text that goes on.
fn refuse_others(asked: Option<Format>, given: &HashSet<String>) -> Result<()> {
    if asked == Some(Format::Csv) {
        return Err(Failure::Usage(
            "--format csv does not go with --generate: without --format it writes the text, with --format json a line for each token"
                .to_string(),
        ));
    }
    if given.contains("file") {
        return Err(Failure::Usage(
            "--generate goes on with a --prompt, and reads no file of sequences".to_string(),
        ));
    }
    let goes = |name: &str| OWN.contains(&name) || (name == "digits" && asked.is_some());
    let command = crate::command();
    let predict = command.find_subcommand("predict");
    let flags = predict.into_iter().flat_map(|predict| predict.get_arguments());
    let mut others = flags.filter(|flag| given.contains(flag.get_id().as_str()) && !goes(flag.get_id().as_str()));
    match others.find_map(|flag| flag.get_long()) {
        None => Ok(()),
        Some("digits") => Err(Failure::Usage(
            "--digits goes with --generate only where --format json writes probabilities".to_string(),
        )),
        Some(flag) => Err(Failure::Usage(format!("--{flag} does not go with --generate"))),
    }
}

/// How the text that the model was trained on is written.
fn script(saved: &SavedModel) -> Result<Script> {
    Ok(match settings(saved)? {
        Some(run) => Script::of(&run.data.source, run.data.text.tokens),
        None => Script::Words,
    })
}

/// The prompt as the model reads it; an empty one is the end of the line before.
fn read(script: Script, saved: &SavedModel, prompt: &str) -> Result<Reading> {
    let vocabulary = Vocabulary::new(saved.vocabulary.clone());
    let mut reading = script.read(prompt, &vocabulary)?;
    if !reading.unknown.is_empty() {
        say(&format!(
            "note: not in the model's vocabulary, and read as {UNKNOWN}: {}",
            list(&reading.unknown)
        ));
    }
    if reading.tokens.is_empty() {
        let end = vocabulary.index(END_OF_LINE).ok_or_else(|| {
            let problem = format!(
                "found none, expected --prompt TEXT: the model's vocabulary has no {END_OF_LINE} to begin with"
            );
            Error::data("the prompt", problem)
        })?;
        reading.tokens.push(end);
    }
    Ok(reading)
}

fn line(token: &str, next: NextToken, form: Form) -> String {
    let probability = significant(next.probability, form.digits);
    shown(
        json!({"token": token, "probability": probability}).to_string(),
        Format::Json,
    )
}

/// stdout: at a terminal every token is seen at once, and none commands it.
struct Output {
    out: BufWriter<io::StdoutLock<'static>>,
    terminal: bool,
    /// Whether the text so far ends a line.
    line_ended: bool,
}

impl Output {
    fn new() -> Self {
        Output {
            out: BufWriter::new(io::stdout().lock()),
            terminal: Stream::Out.is_terminal(),
            line_ended: true,
        }
    }

    fn put(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.line_ended = text.ends_with('\n');
        if self.terminal {
            self.out.write_all(names::lines(text).as_bytes())?;
            return Ok(self.out.flush()?);
        }
        Ok(self.out.write_all(text.as_bytes())?)
    }

    fn put_line(&mut self, line: &str) -> Result<()> {
        self.put(&format!("{line}\n"))
    }

    fn end(mut self) -> Result<()> {
        if !self.line_ended {
            self.put("\n")?;
        }
        Ok(self.out.flush()?)
    }
}
