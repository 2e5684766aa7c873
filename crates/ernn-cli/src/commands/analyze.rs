//! `ernn analyze`: what a trained network really does, as numbers, pictures and a page.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use ernn::Error;
use ernn_lab::analyze::{self, GENERATOR, PhaseSettings, Settings, Subject};
use ernn_lab::report;

use super::parts::{Opened, PartName};
use crate::failure::{Failure, Result};
use crate::output;
use crate::reading::ReadingFlags;

/// Arguments of `ernn analyze`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = NOTES)]
pub struct Arguments {
    /// Model file or run folder
    #[arg(required = true)]
    model: Option<PathBuf>,
    /// Known name, file or folder
    #[arg(required = true)]
    data: Option<String>,
    /// Which part [default: validation; else train; of other data than the model's own, all]
    #[arg(long)]
    part: Option<PartName>,
    /// Folder for the numbers (JSON), the pictures (SVG) and the page (HTML)
    #[arg(long, value_name = "DIR", default_value = "analysis")]
    out: PathBuf,
    /// Sequences that gradients, spectra and residuals are measured on
    // `--sequences` of the reading flags is of synthetic data.
    #[arg(long, value_name = "N", default_value_t = Settings::default().sequences)]
    samples: usize,
    /// Sequences that accuracies with other iterations are measured on, at most
    #[arg(long, value_name = "N", default_value_t = Settings::default().accuracy_sequences)]
    accuracy_samples: usize,
    /// Seed of the choice of sequences
    #[arg(long, value_name = "N", default_value_t = Settings::default().seed)]
    seed: u64,
    /// Print the numbers as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadingFlags,
    #[command(subcommand)]
    other: Option<Other>,
}

const NOTES: &str = "\
The page is one file that needs nothing else. Files of an older analysis in the folder are replaced, others are not. A model whose file is called \
phase is named ./phase.";

#[derive(Subcommand)]
enum Other {
    /// Draw where two hidden units of RNN, FastRNN and ERNN go while the input walks at random (figure 1 of the paper)
    Phase(PhaseArguments),
}

#[derive(Args)]
struct PhaseArguments {
    /// Folder for the numbers, the picture and the page
    #[arg(long, value_name = "DIR", default_value = "phase")]
    out: PathBuf,
    /// Seed of parameters and walk
    #[arg(long, value_name = "N", default_value_t = PhaseSettings::default().seed)]
    seed: u64,
    /// Steps of the walk
    #[arg(long, value_name = "N", default_value_t = PhaseSettings::default().steps)]
    steps: usize,
    /// Variance of a step of the walk, in each of its two dimensions
    #[arg(long, value_name = "X", default_value_t = PhaseSettings::default().variance, allow_negative_numbers = true)]
    variance: f64,
    /// Step size of ERNN's inner iteration
    #[arg(long, value_name = "X", default_value_t = PhaseSettings::default().eta, allow_negative_numbers = true)]
    eta: f64,
    /// Print the numbers as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs `ernn analyze`.
pub fn run(arguments: &Arguments) -> Result<()> {
    match (&arguments.other, &arguments.model, &arguments.data) {
        (Some(Other::Phase(phase)), ..) => run_phase(phase),
        (None, Some(model), Some(data)) => run_model(arguments, model, data),
        _ => unreachable!("clap asks for both"),
    }
}

fn run_model(arguments: &Arguments, model: &Path, data: &str) -> Result<()> {
    for (flag, number) in [
        ("--samples", arguments.samples),
        ("--accuracy-samples", arguments.accuracy_samples),
    ] {
        if number == 0 {
            return Err(Failure::Usage(format!("{flag}: found 0, expected at least 1")));
        }
    }
    must_be_ours(&arguments.out, "analysis.html")?;
    let saved = super::models::load(model)?;
    let opened = Opened::new(&saved, &arguments.reading, data)?;
    let (name, part) = opened.validation_first(&saved, arguments.part)?;
    super::warn_of_length(&saved, part.longest());
    let subject = Subject {
        model: model.display().to_string(),
        dataset: opened.dataset.name.clone(),
        part: name.to_string(),
    };
    let settings = Settings {
        sequences: arguments.samples,
        accuracy_sequences: arguments.accuracy_samples,
        seed: arguments.seed,
    };
    let found = analyze::analyze(&saved, subject, part, settings, &mut |what| output::say(what))?;
    let files = analyze::files(&found);
    write(&arguments.out, &files)?;
    if arguments.json {
        return Ok(output::print_json(&found)?);
    }
    Ok(output::print(&format!(
        "{}\n\n{}",
        analyze::summary(&found),
        names(&arguments.out, &files)
    ))?)
}

fn run_phase(arguments: &PhaseArguments) -> Result<()> {
    must_be_ours(&arguments.out, "phase.html")?;
    let found = analyze::phase(PhaseSettings {
        seed: arguments.seed,
        steps: arguments.steps,
        variance: arguments.variance,
        eta: arguments.eta,
    })?;
    let files = analyze::phase_files(&found);
    write(&arguments.out, &files)?;
    if arguments.json {
        return Ok(output::print_json(&found)?);
    }
    Ok(output::print(&names(&arguments.out, &files))?)
}

fn names(folder: &Path, files: &[(String, String)]) -> String {
    let paths = files.iter().map(|(name, _)| folder.join(name).display().to_string());
    paths.collect::<Vec<_>>().join("\n")
}

fn write(folder: &Path, files: &[(String, String)]) -> Result<()> {
    for (name, text) in files {
        report::write(&folder.join(name), text)?;
    }
    Ok(())
}

/// A folder that is not there, or is empty, or holds the page of an older analysis.
fn must_be_ours(folder: &Path, page: &str) -> Result<()> {
    let own = fs::read_to_string(folder.join(page)).is_ok_and(|text| text.contains(GENERATOR));
    let empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => folder.symlink_metadata().is_err(),
    };
    if own || empty {
        return Ok(());
    }
    let found = format!("{}, which holds other things", folder.display());
    let expected = "a folder that is new or empty, or that of an older analysis";
    Err(Failure::Library(Error::setting("--out", found, expected)))
}
