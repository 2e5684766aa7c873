//! `ernn train`: settings from defaults, file and flags; a run; its report.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use ernn::Error;
use ernn::train::{self, Ending, Options, Out, Outcome, Report, RunConfig, RunFolder};

use super::run_settings::{Given, opened, stop_on_signals, threads};
use super::show::{self, Sources};
use super::train_flags::{ModelFlags, TrainingFlags};
use crate::failure::{Failure, Result};
use crate::output::{self, Level, percent, seconds};
use crate::progress::{Progress, sparkline};
use crate::reading::ReadingFlags;
use crate::terminal::{self, Stream};

/// Arguments of `ernn train`.
#[derive(Args)]
pub struct Arguments {
    /// Known name, file or folder (left out with --resume; may be left out with --config)
    data: Option<String>,
    /// Passes over the training part
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Settings file, as the config.toml of a run folder; flags come on top
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// Begin with the weights of this run or model file instead of drawn ones; a run folder's settings are taken, too, unless --config names
    /// others
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    from: Option<PathBuf>,
    /// Run folder, new or empty [default: runs/DATA-CELL-N]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the run in this folder (more --epochs may be asked for)
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Threads that compute [default: all]; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Do not train: print all settings that the run would have, as TOML, and why
    #[arg(long, conflicts_with_all = ["resume", "json", "out"])]
    show: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelFlags,
    #[command(flatten)]
    training: TrainingFlags,
    #[command(flatten)]
    reading: ReadingFlags,
}

/// Runs `ernn train`.
pub fn run(arguments: &Arguments, given: &HashSet<String>) -> Result<()> {
    if arguments.show {
        let (config, file) = settings(arguments)?;
        let dataset = opened(&config)?;
        let file = file.as_deref();
        return Ok(output::print_exactly(&show::text(
            &config,
            &dataset,
            &Sources { given, file },
        ))?);
    }
    let options = Options {
        out: arguments
            .out
            .clone()
            .map_or_else(|| Out::Numbered(PathBuf::from("runs")), Out::At),
        threads: threads(arguments.threads)?,
        ..Options::default()
    };
    let (outcome, losses) = match &arguments.resume {
        Some(folder) => resumed(arguments, folder, &options)?,
        None => fresh(arguments, given, &options)?,
    };
    if arguments.json {
        output::print_json(&outcome.report)?;
    } else {
        output::print(&summary(&outcome.report, &losses))?;
    }
    match (&outcome.report.ending, &outcome.report.out) {
        (Ending::Interrupted, Some(folder)) => Err(Failure::Interrupted(format!(
            "`ernn train --resume {}`",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// Defaults, settings file and flags; and the settings file.
fn settings(arguments: &Arguments) -> Result<(RunConfig, Option<PathBuf>)> {
    let settings_of_run = arguments.from.as_deref().map(|run| run.join("config.toml"));
    let settings_of_run = settings_of_run.filter(|path| path.is_file());
    let file = arguments.config.clone().or(settings_of_run);
    let given = Given {
        data: arguments.data.as_deref(),
        config: file.as_deref(),
        epochs: arguments.epochs,
        reading: &arguments.reading,
        training: &arguments.training,
    };
    let mut config = given.settings()?;
    arguments.model.apply(&mut config)?;
    if let Some(run) = &arguments.from {
        let file = run.join("model.safetensors");
        config.training.from = Some(if run.is_dir() { file } else { run.clone() });
    }
    config.check()?;
    Ok((config, file))
}

fn fresh(arguments: &Arguments, given: &HashSet<String>, options: &Options) -> Result<Finished> {
    let (config, file) = settings(arguments)?;
    if let Out::At(folder) = &options.out {
        RunFolder::check_free(folder)?;
    }
    let dataset = opened(&config)?;
    if output::says(Level::Verbose) {
        let file = file.as_deref();
        output::say_more(&show::text(&config, &dataset, &Sources { given, file }));
    }
    stop_on_signals(&options.stop, "stopping after this batch");
    watched(|progress| train::train(&dataset, &config, options, progress))
}

/// A run that came to its end, and the training loss of each epoch.
type Finished = (Outcome, Vec<f64>);

/// A run that diverges says where its last good state lies.
fn watched(run: impl FnOnce(&mut Progress) -> ernn::Result<Outcome>) -> Result<Finished> {
    let mut progress = Progress::new();
    let outcome = output::timed("training", || run(&mut progress)).map_err(|error| match error {
        Error::NotFinite { .. } => Failure::Diverged(error, progress.folder_with_epoch().map(Path::to_path_buf)),
        error => Failure::Library(error),
    })?;
    Ok((outcome, progress.losses().to_vec()))
}

fn resumed(arguments: &Arguments, path: &Path, options: &Options) -> Result<Finished> {
    if arguments.data.is_some()
        || arguments.model != ModelFlags::default()
        || arguments.training != TrainingFlags::default()
        || (ReadingFlags {
            data_dir: None,
            ..arguments.reading.clone()
        }) != ReadingFlags::default()
    {
        let text =
            "--resume goes on with the settings of the run; only --epochs, --threads, --data-dir and --json go with it";
        return Err(Failure::Usage(text.to_string()));
    }
    let folder = RunFolder::open(path)?;
    let mut config = folder.read_config()?;
    config.data.data_dir = arguments.reading.data_dir.clone().or(config.data.data_dir);
    if let Some(epochs) = arguments.epochs {
        config.extend_to(epochs)?;
    }
    let dataset = opened(&config)?;
    stop_on_signals(&options.stop, "stopping after this batch");
    watched(|progress| train::resume(&dataset, &config, folder, options, progress))
}

fn summary(report: &Report, losses: &[f64]) -> String {
    let evaluation = output::evaluation(report.part, &report.evaluation);
    let validation = report
        .validation_accuracy
        .map_or_else(String::new, |accuracy| format!(" (validation {})", percent(accuracy)));
    let folder = report
        .out
        .as_ref()
        .map_or_else(String::new, |out| format!("\nrun folder: {}", out.display()));
    let ended = matches!(report.ending, Ending::Finished | Ending::EarlyStopped);
    let second = if ended && report.settings.training.retrain {
        "retrained: the model is the last epoch of the second pass, on all sequences\n"
    } else {
        ""
    };
    format!(
        "{}: {}, {}\nbest epoch {} of {}{validation}, trained in {}, seed {}\n{second}{}{evaluation}{folder}",
        report.dataset,
        report.cell,
        output::size(report.parameters, report.nonzero_parameters),
        report.best_epoch,
        report.epochs,
        seconds(report.train_seconds),
        report.seed,
        curve(losses),
    )
}

/// How the training loss fell, for a person at a terminal.
fn curve(losses: &[f64]) -> String {
    let (Some(first), Some(last)) = (losses.first(), losses.last()) else {
        return String::new();
    };
    if losses.len() < 2 || !Stream::Out.is_terminal() || !terminal::has_blocks() {
        return String::new();
    }
    format!("training loss {first:.4} {} {last:.4}\n", sparkline(losses, 40))
}
