//! `ernn data`: which data sets are known, and what is inside one.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use ernn::data::{self, DatasetFacts, MissingPolicy, OpenOptions, PartFacts, Task};
use ernn::evaluate::figures;
use ernn::names::{self, counted};
use ernn_lab::{report, show};
use serde_json::{Value, json};

use super::report::may_be_replaced;
use crate::failure::Result;
use crate::output::{self, grouped};
use crate::reading::{ReadingFlags, open};

/// Arguments of `ernn data`.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the known data sets
    List {
        /// Print one JSON array
        #[arg(long)]
        json: bool,
        /// Folder of known data sets that are not built in (also read from ERNN_DATA_DIR)
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
    /// Download a known data set that is not built in
    #[cfg(feature = "fetch")]
    Fetch(super::fetch::Arguments),
    /// Show counts, lengths, classes and missing values of a data set
    Info {
        /// Known name, file or folder
        data: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        reading: Box<ReadingFlags>,
    },
    /// Write a data set, as it is read, to a file that is read back to the same sequences
    Export(super::data_export::Arguments),
    /// Write one page to look at before training: classes, lengths, examples, channels by class and by group
    Show {
        /// Known name, file or folder
        data: String,
        /// The page; an older one is replaced, any other file is not
        #[arg(long, value_name = "FILE", default_value = "data.html")]
        out: PathBuf,
        #[command(flatten)]
        reading: Box<ReadingFlags>,
    },
}

/// Runs `ernn data`.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.command {
        Command::List { json, data_dir } => list(*json, data_dir.clone()),
        #[cfg(feature = "fetch")]
        Command::Fetch(arguments) => super::fetch::run(arguments),
        Command::Info { data, json, reading } => {
            // Missing values are counted, whatever is done about them later.
            let chosen = reading.missing.is_some();
            reading.refuse_unused(data, &reading.options())?;
            let options = OpenOptions {
                missing: reading.missing.unwrap_or(MissingPolicy::Zero),
                ..reading.options()
            };
            info(&data::describe(&open(data, &options)?), chosen, *json)
        }
        Command::Export(arguments) => super::data_export::run(arguments),
        Command::Show { data, out, reading } => {
            reading.refuse_unused(data, &reading.options())?;
            may_be_replaced(out, show::GENERATOR, "page of a data set")?;
            // Missing values are shown, whatever is done about them later.
            let options = OpenOptions {
                missing: reading.missing.unwrap_or(MissingPolicy::Zero),
                ..reading.options()
            };
            let dataset = data::open(data, &options)?;
            report::write(out, &show::html(&show::measure(&dataset)))?;
            Ok(output::print(&out.display().to_string())?)
        }
    }
}

fn list(json: bool, data_dir: Option<PathBuf>) -> Result<()> {
    let options = OpenOptions {
        data_dir,
        ..OpenOptions::default()
    };
    let sets: Vec<_> = data::known()
        .iter()
        .map(|set| (set, data::found(set.name, &options)))
        .collect();
    if json {
        let entry = |(set, found)| json!({"found": found, "set": set});
        let sets: Vec<Value> = sets
            .iter()
            .map(|(set, found)| entry((set, found)))
            .map(flattened)
            .collect();
        return Ok(output::print_json(&sets)?);
    }
    let mut text = String::new();
    for (number, (set, found)) in sets.iter().enumerate() {
        let place = match found {
            _ if set.built_in => "built in".to_string(),
            Some(path) => format!("found in {}", path.display()),
            None => "not found".to_string(),
        };
        text += &format!("{:<22}  {}\n{:22}  {place}\n", set.name, set.description, "");
        // Sets made of the same files stand one after the other and have one origin.
        if sets.get(number + 1).is_none_or(|(next, _)| next.source != set.source) {
            text += &format!("{:22}  {}; {}\n", "", set.license, set.source);
        }
    }
    if sets.iter().any(|(set, found)| found.is_none() && !set.built_in) {
        text += "name the folder of data sets that are not found with --data-dir or ERNN_DATA_DIR";
    }
    Ok(output::print(text.trim_end())?)
}

/// The set's own entries and `found` beside them.
fn flattened(mut entry: Value) -> Value {
    let mut set = entry["set"].take();
    set["found"] = entry["found"].take();
    set
}

fn info(facts: &DatasetFacts, filled: bool, json: bool) -> Result<()> {
    if json {
        return Ok(output::print_json(facts)?);
    }
    let step = match (facts.vocabulary, facts.features) {
        (0, 1) => "one value a step".to_string(),
        (0, features) => format!("{features} values a step"),
        (tokens, _) => format!("a token a step, of a vocabulary of {}", grouped(tokens)),
    };
    let mut text = format!("{}: {step}, {:.1} MB\n", names::line(&facts.name), facts.megabytes);
    let said;
    text += match facts.task {
        Task::Classification => "to learn: the class of each sequence\n",
        Task::StepClassification => "to learn: the class of each step\n",
        Task::NextToken => "to learn: the next token\n",
        Task::Regression if facts.target_names.len() > 1 => {
            said = format!("to learn: {} for each sequence\n", targets(facts));
            &said
        }
        Task::Regression => "to learn: one number a sequence\n",
        Task::StepRegression => "to learn: a number for each step\n",
        Task::MultiLabel => "to learn: which labels each sequence has (none, one or several)\n",
    };
    text += match facts.as_published {
        Some(true) => "sequences of each class as published\n",
        Some(false) => "NOT the published number of sequences of each class\n",
        None => "",
    };
    if facts.vocabulary == 0 {
        text += &format!("features: {}\n", names::joined(&facts.feature_names));
    }
    if !facts.constant_features.is_empty() {
        text += &format!(
            "never change in the training part: {}\n",
            names::joined(&facts.constant_features)
        );
    }
    if facts.classes.is_empty() && facts.task == Task::Classification {
        text += "no labels\n";
    }
    for part in &facts.parts {
        text += &format!("\n{}", part_text(part, facts, filled));
    }
    Ok(output::print(text.trim_end())?)
}

/// The numbers to predict by their names.
fn targets(facts: &DatasetFacts) -> String {
    let Some(forecast) = &facts.forecast else {
        return names::joined(&facts.target_names);
    };
    let channels: Vec<String> = forecast
        .channels
        .iter()
        .map(|&place| facts.feature_names[place].clone())
        .collect();
    format!(
        "the next {} of {}",
        names::counted(forecast.horizon, "value"),
        names::joined(&channels)
    )
}

/// `filled`: someone chose how.
fn part_text(part: &PartFacts, facts: &DatasetFacts, filled: bool) -> String {
    let mut text = match part.sequences {
        1 => format!("{}: one sequence of {}", part.name, counted(part.steps, "step")),
        sequences => format!(
            "{}: {} sequences of {} to {} steps (median {}), {} steps in all",
            part.name,
            grouped(sequences),
            part.shortest,
            part.longest,
            part.median_length,
            grouped(part.steps),
        ),
    };
    if part.groups > 0 {
        text += &format!(", {}", counted(part.groups, "group"));
    }
    text += &match (part.filled, filled) {
        (0, _) => ", no missing values\n".to_string(),
        (missing, true) => format!(", {} filled\n", counted(missing, "missing value")),
        (missing, false) => format!(
            ", {} (to train, choose --missing interpolate, previous or zero)\n",
            counted(missing, "missing value")
        ),
    };
    // Of a forecast all steps are much alike.
    let horizon = facts.forecast.as_ref().map_or(1, |forecast| forecast.horizon);
    for (place, (targets, [low, high])) in part
        .targets
        .iter()
        .zip(&part.target_ranges)
        .enumerate()
        .step_by(horizon)
    {
        let name = match facts.target_names.get(place).filter(|_| part.targets.len() > 1) {
            Some(name) => names::line(name),
            None => "numbers to predict".to_string(),
        };
        text += &format!(
            "  {name}: mean {}, standard deviation {}, {low} to {high}\n",
            figures(targets.mean),
            figures(targets.deviation)
        );
    }
    let steps = if facts.task == Task::StepClassification {
        " steps"
    } else {
        ""
    };
    for (class, count) in facts.classes.iter().zip(&part.class_counts) {
        text += &format!("  {}: {count}{steps}\n", names::line(class));
    }
    text
}
