//! `ernn predict`: the class of each sequence, or its labels, and the probability of each, or its numbers, one line a sequence.

use std::collections::HashSet;
use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ernn::checkpoint::SavedModel;
use ernn::data::{self, Aim, MissingPolicy, OpenOptions, Sequences, SoundRecipe, Task, Vocabulary};
use ernn::evaluate::{Answer, Ensemble, Prediction};
use ernn::names;
use ernn::train::PastRun;
use serde_json::{Map, Value, json};

use super::predict_flags::PredictFlags;
use super::predict_generate::{self, GenerateFlags};
use super::predict_listen::Listen;
use super::source::Source;
use super::stream_steps::CANNOT_LOOK_AHEAD;
use super::{listening, predict_forecast, predict_labels, predict_segments, predict_step_numbers, predict_stream};
use crate::failure::{Failure, Result};
use crate::output::{say, significant, timed};

/// Arguments of `ernn predict`.
#[derive(Args)]
pub struct Arguments {
    /// Model file, run folder or folder of an ensemble
    model: PathBuf,
    /// File of sequences, labelled or not; for a model of texts a table or a .txt with a text a line; for one of recordings a .wav
    /// or a folder of them; or - for stdin
    #[arg(required_unless_present_any = ["stream", "generate"])]
    file: Option<String>,
    /// Average the answers with those of these models, of the same classes and channels: an ensemble
    #[arg(long = "with", value_name = "RUN,..", value_delimiter = ',')]
    others: Vec<PathBuf>,
    /// Form of the lines [default: csv; of --generate: the text itself]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Read steps from stdin, or from FILE if it is a pipe, one a line, values separated by commas or blanks (of text: one token a line, blanks included), and say after each what
    /// the model makes of all since the beginning; an empty line begins a new sequence. A model that was trained on windows, or with --window and
    /// --hop, reads windows: a line for each, and the event that is under way
    #[arg(long)]
    stream: bool,
    /// With --stream: say it after every N steps, of a state that runs on and not of windows [default: 1, or windows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    /// With --stream, of a model of sound: read samples (16 bits, the lower byte first, one channel, at the model's rate) in the place of lines
    #[arg(long, requires = "stream")]
    raw: bool,
    /// With --stream, of a model of sequences: say when events begin and end, in the place of every window
    #[arg(long, requires = "stream")]
    events: bool,
    /// With --stream, of windows: classes that are no events [default: as evaluate --stream has kept them, else those called background,
    /// silence, noise, unknown or other]
    #[arg(long, value_name = "CLASS,..", value_delimiter = ',', requires = "stream")]
    background: Vec<String>,
    /// Significant digits of probabilities
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=17))]
    digits: u8,
    #[command(flatten)]
    text: GenerateFlags,
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
            format: self.format.unwrap_or(Format::Csv),
            digits: usize::from(self.digits),
        }
    }
}

/// Runs `ernn predict`.
pub fn run(arguments: &Arguments, given: &HashSet<String>) -> Result<()> {
    // Said here: the parser drops a requirement that conflicts with the file.
    if arguments.every.is_some() && !arguments.stream {
        return Err(Failure::Usage("--every goes with --stream alone".to_string()));
    }
    let models = super::models::load_all(&arguments.model, &arguments.others)?;
    if let Some(count) = arguments.text.generate {
        let form = (arguments.format, arguments.form());
        return predict_generate::run(&models, count, &arguments.text, form, given);
    }
    let saved = models.first();
    let options = arguments.reading.options(saved)?;
    let source = Source::of(arguments.file.as_deref());
    if arguments.stream {
        if models.is_several() {
            return Err(Failure::Usage(
                "--stream runs one model, and an ensemble is several: name one of them".to_string(),
            ));
        }
        let Some(steps) = source.open()? else {
            return Err(Failure::Usage(
                "--stream reads from stdin or a pipe and cannot be used with a file of sequences: `--stream < FILE` reads its lines as steps"
                    .to_string(),
            ));
        };
        if arguments.reading.missing == Some(MissingPolicy::Interpolate) {
            return Err(Failure::Usage(format!("--missing interpolate {CANNOT_LOOK_AHEAD}")));
        }
        return stream(arguments, saved, steps, &options);
    }
    must_judge_sequences(saved)?;
    must_be_cut_alike(saved, &options)?;
    arguments
        .reading
        .refuse_unused(saved, &source.path().to_string_lossy())?;
    let mut sequences = timed("reading the data", || open(saved, source, &options))?;
    sequences
        .notes
        .iter()
        .for_each(|note| say(&format!("note: {}", names::line(note))));
    if let Some(order) = super::channel_order(saved, &sequences.source, &sequences.feature_names)? {
        sequences.part.reorder(&order);
    }
    super::warn_all_of_length(models.members(), sequences.part.longest());
    let (lines, problems) = match saved.model.config().task {
        Task::Regression => number_lines(&models, &sequences, arguments.form().format)?,
        Task::MultiLabel => predict_labels::lines(&models, &sequences, arguments.form())?,
        Task::StepRegression => (
            predict_step_numbers::lines(saved, &sequences, arguments.form().format)?,
            Vec::new(),
        ),
        Task::StepClassification => (
            predict_segments::lines(saved, &sequences, arguments.form())?,
            Vec::new(),
        ),
        _ => class_lines(&models, &sequences, arguments.form())?,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    out.write_all(shown(lines, arguments.form().format).as_bytes())?;
    out.flush()?;
    match problems.first() {
        None => Ok(()),
        Some(first) => Err(Failure::Partial(format!(
            "{} of {} sequences have no answer; the first: {first}",
            problems.len(),
            sequences.names.len()
        ))),
    }
}

/// Steps or samples as they come: windows of them where the model was trained on windows or a flag says so, else each step by itself.
fn stream(arguments: &Arguments, saved: &SavedModel, input: Box<dyn BufRead>, options: &OpenOptions) -> Result<()> {
    let [window, hop] = arguments.reading.spans();
    let asked = window.or(hop).is_some() || arguments.events || arguments.raw || !arguments.background.is_empty();
    if asked && arguments.every.is_some() {
        let problem = "--every is for a state that runs on for ever; of windows --hop says how often one begins";
        return Err(Failure::Usage(problem.to_string()));
    }
    let raw = match (arguments.raw, saved.sound()) {
        (true, None) => {
            let problem = "--raw reads sound, and the model was not trained on recordings of sound";
            return Err(Failure::Usage(problem.to_string()));
        }
        (raw, recipe) => recipe.filter(|_| raw),
    };
    if !asked && (arguments.every.is_some() || !listening::is_natural(saved)?) {
        let every = arguments.every.unwrap_or(1);
        return predict_stream::run(saved, input, arguments.form(), every, options.missing);
    }
    let run = PastRun::read(&arguments.model).ok().flatten();
    let mut listening = listening::of(saved, window, hop, options, run.as_ref())?;
    if !arguments.background.is_empty() {
        listening.background.clone_from(&arguments.background);
        listening.check(&saved.classes)?;
    }
    Listen {
        saved,
        rate: listening::rate(saved, options),
        listening,
        form: arguments.form(),
        events: arguments.events,
        raw,
        missing: options.missing,
    }
    .run(input)
}

/// The lines as they may be written: a terminal is given no command by a name, a program gets names as they are.
pub(super) fn shown(lines: String, format: Format) -> String {
    match format {
        Format::Json => names::json(&lines),
        Format::Csv if io::stdout().is_terminal() => names::lines(&lines),
        Format::Csv => lines,
    }
}

/// A model that says something at every step has nothing to say about a whole sequence.
fn must_judge_sequences(saved: &SavedModel) -> Result<()> {
    let what = match saved.model.config().task {
        Task::Classification
        | Task::StepClassification
        | Task::StepRegression
        | Task::Regression
        | Task::MultiLabel => return Ok(()),
        Task::NextToken => "a token",
    };
    let problem = format!(
        "found one that gives {what} at every step, expected one that gives classes or a number for each sequence \
         (`ernn predict MODEL --stream` says what it makes of each step, --generate N goes on with a text)"
    );
    Err(Failure::Library(ernn::Error::data("the model", problem)))
}

/// What has a class was decided in training.
fn must_be_cut_alike(saved: &SavedModel, options: &OpenOptions) -> Result<()> {
    let task = saved.model.config().task;
    let of_steps = task.is_of_steps();
    let asked = options.table.recordings.aim == Aim::Steps;
    if of_steps == asked || !options.table.is_of_recordings() {
        return Ok(());
    }
    let what = if task.is_of_numbers() { "a number" } else { "a class" };
    let has = if of_steps { "each step" } else { "each window" };
    Err(Failure::Usage(format!("--task: this model gives {what} for {has}")))
}

/// New data as the model reads it: texts, recordings or numbers.
fn open(saved: &SavedModel, source: Source, options: &OpenOptions) -> Result<Sequences> {
    let pipe = source.open()?;
    if let Source::File(file) = source {
        refuse_known(file)?;
    }
    let path = source.path();
    if !saved.vocabulary.is_empty() {
        let vocabulary = Vocabulary::new(saved.vocabulary.clone());
        return Ok(match pipe {
            Some(pipe) => data::read_texts(pipe, options, &vocabulary)?,
            None => data::open_texts(path, options, &vocabulary)?,
        });
    }
    if let Some(pipe) = pipe {
        return Ok(data::read_sequences(pipe, options)?);
    }
    let is_sound = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("wav"));
    if !options.table.is_of_recordings() && (path.is_dir() || is_sound) {
        return Ok(data::open_recordings(path, recipe_of(saved, path)?)?);
    }
    Ok(data::open_sequences(path, options)?)
}

/// How the model's inputs are made of the sound at a path.
fn recipe_of(saved: &SavedModel, path: &Path) -> Result<SoundRecipe> {
    let recipe = saved.sound().ok_or_else(|| {
        let problem = format!(
            "found a recording or a folder, expected a file of sequences with {} values a step: the model was trained on {}, \
             which is no data set of recordings",
            saved.channels(),
            saved.provenance.dataset
        );
        ernn::Error::data(path.display(), problem)
    })?;
    Ok(recipe)
}

/// A line for each class that the model gives.
fn class_lines(models: &Ensemble, sequences: &Sequences, form: Form) -> Result<(String, Vec<String>)> {
    let answers = timed("prediction", || models.predict_each(&sequences.part, &sequences.names))?;
    let classes = &models.first().classes;
    let called = |said: &Prediction| models.called(said).to_string();
    let lines = match form.format {
        Format::Csv => as_csv(classes, &called, sequences, &answers, form.digits),
        Format::Json => as_json(classes, &called, sequences, &answers, form.digits),
    };
    Ok((lines, problems(answers)))
}

/// Why some sequences have no answer.
pub(super) fn problems<T>(answers: Vec<Answer<T>>) -> Vec<String> {
    answers.into_iter().filter_map(std::result::Result::err).collect()
}

/// A line for each number that the model gives.
fn number_lines(models: &Ensemble, sequences: &Sequences, format: Format) -> Result<(String, Vec<String>)> {
    let answers = models.number_each(&sequences.part, &sequences.names)?;
    let saved = models.first();
    if let Some(forecast) = saved
        .provenance
        .forecast
        .as_ref()
        .filter(|_| !sequences.ahead.is_empty())
    {
        let lines = predict_forecast::lines(saved, forecast, sequences, &answers, format);
        return Ok((lines, problems(answers)));
    }
    let names = saved.output_names();
    let mut lines = String::new();
    if format == Format::Csv {
        let columns: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        lines += &format!("{},{}\n", head(sequences), columns.join(","));
    }
    for (index, answer) in answers.iter().enumerate() {
        lines += &match (format, answer) {
            (Format::Csv, Ok(values)) => {
                let values: Vec<String> = values.iter().map(f32::to_string).collect();
                format!("{},{}\n", beginning(sequences, index), values.join(","))
            }
            (Format::Csv, Err(_)) => format!("{}{}\n", beginning(sequences, index), ",".repeat(names.len())),
            (Format::Json, Ok(values)) => json_line(sequences, index, json!({"value": entry(saved, values)})),
            (Format::Json, Err(problem)) => json_line(sequences, index, json!({"value": null, "problem": problem})),
        };
    }
    Ok((lines, problems(answers)))
}

/// The only number, or several by the names of the outputs.
fn entry(saved: &SavedModel, values: &[f32]) -> Value {
    match values {
        [value] => json!(value),
        values => by_name(saved, values),
    }
}

/// Numbers by the names of the outputs.
pub(super) fn by_name(saved: &SavedModel, values: &[f32]) -> Value {
    let pairs = saved.output_names().into_iter().zip(values);
    Value::Object(pairs.map(|(name, value)| (name, json!(value))).collect())
}

/// The name of a data set is no file, though other commands take it.
fn refuse_known(file: &str) -> Result<()> {
    if Path::new(file).exists() || !data::known().iter().any(|known| known.name == data::plain_name(file)) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{file}: found the name of a known data set, expected a file, a folder or - (`ernn evaluate` takes known names)"
    )))
}

/// The columns that say which sequence a line is about; a window has its times.
pub(super) fn head(sequences: &Sequences) -> &'static str {
    if sequences.times.is_empty() {
        "sequence"
    } else {
        "sequence,start,end"
    }
}

/// What stands in them.
pub(super) fn beginning(sequences: &Sequences, index: usize) -> String {
    let name = quoted(&sequences.names[index]);
    match sequences.times.get(index) {
        Some([start, end]) => format!("{name},{},{}", quoted(start), quoted(end)),
        None => name,
    }
}

/// A line about a sequence with these entries behind its name and its times.
pub(super) fn json_line(sequences: &Sequences, index: usize, entries: Value) -> String {
    let mut line = json!({"sequence": sequences.names[index]});
    if let Some([start, end]) = sequences.times.get(index) {
        line["start"] = json!(start);
        line["end"] = json!(end);
    }
    for (name, value) in entries.as_object().into_iter().flatten() {
        line[name] = value.clone();
    }
    format!("{line}\n")
}

/// A line for each sequence, with what its answer is called; of one without an answer all but its name is empty.
fn as_csv(
    classes: &[String],
    called: &dyn Fn(&Prediction) -> String,
    sequences: &Sequences,
    answers: &[Answer<Prediction>],
    digits: usize,
) -> String {
    let mut text = format!("{},class", head(sequences));
    for class in classes {
        text += &format!(",{}", quoted(&format!("p_{class}")));
    }
    text += "\n";
    for (index, answer) in answers.iter().enumerate() {
        text += &beginning(sequences, index);
        match answer {
            Ok(prediction) => {
                text += &format!(",{}", quoted(&called(prediction)));
                for probability in &prediction.probabilities {
                    text += &format!(",{}", significant(*probability, digits));
                }
            }
            Err(_) => text += &",".repeat(1 + classes.len()),
        }
        text += "\n";
    }
    text
}

fn as_json(
    classes: &[String],
    called: &dyn Fn(&Prediction) -> String,
    sequences: &Sequences,
    answers: &[Answer<Prediction>],
    digits: usize,
) -> String {
    let entries = |answer: &Answer<Prediction>| match answer {
        Ok(prediction) => {
            let pairs = classes.iter().zip(&prediction.probabilities);
            let pairs = pairs.map(|(class, &value)| (class.clone(), significant(value, digits)));
            let probabilities: Map<String, Value> = pairs.collect();
            let class = called(prediction);
            json!({"class": class, "probabilities": probabilities})
        }
        Err(problem) => json!({"class": null, "probabilities": null, "problem": problem}),
    };
    let lines = answers.iter().enumerate();
    lines
        .map(|(index, answer)| json_line(sequences, index, entries(answer)))
        .collect()
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
        let mut sequences = Sequences {
            names: ["1", "2"].map(String::from).to_vec(),
            ..Sequences::default()
        };
        let prediction = Prediction {
            class: 1,
            probabilities: vec![0.25, 0.75],
        };
        let called = |said: &Prediction| classes[said.class].clone();
        let answers = [Ok(prediction), Err("why".to_string())];
        let expected = "sequence,class,p_plain,\"p_a, \"\"b\"\"\"\n1,\"a, \"\"b\"\"\",0.25,0.75\n2,,,\n";
        assert_eq!(as_csv(&classes, &called, &sequences, &answers, 4), expected);
        let lines = as_json(&classes, &called, &sequences, &answers, 4);
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["probabilities"]["a, \"b\""], 0.75);
        assert_eq!(
            (&lines[1]["class"], &lines[1]["problem"]),
            (&Value::Null, &"why".into())
        );
        sequences.times = [["0", "2.56"], ["2.56", "5.12"]]
            .map(|pair| pair.map(String::from))
            .to_vec();
        assert!(as_csv(&classes, &called, &sequences, &answers, 4).contains("\n2,2.56,5.12,,,\n"));
        assert!(as_json(&classes, &called, &sequences, &answers, 4).contains("\"start\":\"2.56\""));
    }
}
