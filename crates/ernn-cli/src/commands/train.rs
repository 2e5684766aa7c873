//! `ernn train`: settings from defaults, file and flags; a run; its report.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use ernn::Error;
use ernn::checkpoint::EnsembleFolder;
use ernn::data::{self, Dataset};
use ernn::ensemble;
use ernn::folds::{self, Request};
use ernn::names::{self, counted};
use ernn::train::{self, Ending, Options, Out, Outcome, Report, RunConfig, RunFolder};
use ernn_lab::auto;

use super::run_settings::{Given, Judged, open_options, stop_on_signals, threads};
use super::setting_flags::SettingFlags;
use super::show::{self, Sources};
use super::train_auto::{self, AutoFlags};
use super::train_ensemble;
use super::train_folds::{self, FoldFlags};
use crate::failure::{Failure, Result};
use crate::output::{self, Level, percent, seconds};
use crate::progress::{Progress, sparkline};
use crate::reading::{ReadingFlags, open};
use crate::terminal::{self, Stream};
use crate::unused::{refuse_for_data, refuse_for_solver};

/// Arguments of `ernn train`.
#[derive(Args)]
pub struct Arguments {
    /// Known name, file or folder (left out with --resume; may be left out with --config)
    data: Option<String>,
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
    /// Train N models, with the seeds S, S + 1 and so on from --seed, into one folder: `evaluate`, `predict` and --teacher take it as a model
    /// and average the answers. It is N times as large and takes N times as long
    #[arg(long, value_name = "N", conflicts_with_all = ["resume", "from", "folds", "auto"])]
    ensemble: Option<usize>,
    /// Threads that compute [default: all]; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Write the losses, the metric, the learning rate and the gradient norm of each epoch for TensorBoard, too, into the run folder
    #[arg(long)]
    tensorboard: bool,
    /// Do not train: print all settings that the run would have, as TOML, and why
    #[arg(long, conflicts_with_all = ["resume", "json", "out", "tensorboard"])]
    show: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folds: FoldFlags,
    #[command(flatten)]
    auto: AutoFlags,
    #[command(flatten)]
    settings: SettingFlags,
    #[command(flatten)]
    reading: ReadingFlags,
}

/// Runs `ernn train`.
pub fn run(arguments: &Arguments, flags: &HashSet<String>) -> Result<()> {
    if arguments.show {
        let opened = opened(arguments)?;
        refuse(arguments, &opened)?;
        let text = show::text(&opened.config, &opened.dataset, &opened.sources(flags));
        return Ok(output::print_exactly(&text)?);
    }
    let options = Options {
        out: arguments
            .out
            .clone()
            .map_or_else(|| Out::Numbered(PathBuf::from("runs")), Out::At),
        threads: threads(arguments.threads)?,
        tensorboard: arguments.tensorboard,
        ..Options::default()
    };
    let (report, losses) = match &arguments.resume {
        Some(folder) => resumed(arguments, flags, folder, &options)?,
        None => fresh(arguments, flags, &options)?,
    };
    if arguments.json {
        output::print_json(&report)?;
    } else {
        output::print(&summary(&report, &losses))?;
    }
    match (&report.ending, &report.out) {
        (Ending::Interrupted, Some(folder)) => Err(Failure::Interrupted(format!(
            "`ernn train --resume {}`",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

fn given<'a>(arguments: &'a Arguments, file: Option<&'a Path>) -> Given<'a> {
    Given {
        data: arguments.data.as_deref(),
        config: file,
        reading: &arguments.reading,
        settings: &arguments.settings,
        cells: true,
    }
}

/// What a run begins with.
struct Opened {
    config: RunConfig,
    /// The settings file.
    file: Option<PathBuf>,
    dataset: Dataset,
    /// The folds that judge, asked for or by default.
    folds: Option<Request>,
}

impl Opened {
    fn sources<'a>(&'a self, flags: &'a HashSet<String>) -> Sources<'a> {
        Sources {
            given: flags,
            file: self.file.as_deref(),
            folds: self.folds.map(|folds| folds.scheme),
        }
    }
}

/// Settings and data. What is wrong with flags is said before anything is read.
fn opened(arguments: &Arguments) -> Result<Opened> {
    let (config, file) = settings(arguments, None)?;
    let dataset = given(arguments, file.as_deref()).open(&config)?;
    let folds = arguments.folds.request().or_else(|| {
        let scheme = RunConfig::folds_for(&config.data.source, &config.data.options(), &dataset);
        scheme.filter(|_| by_default(arguments)).map(|scheme| Request {
            scheme,
            final_model: true,
        })
    });
    let judged = dataset.test.is_some() || folds.is_some() || arguments.auto.is_asked();
    // A model to begin with has settings of its own.
    let config = match arguments.from {
        None => {
            let dataset = &dataset;
            settings(arguments, Some(Judged { dataset, judged }))?.0
        }
        Some(_) => config,
    };
    refuse_for_data(&arguments.settings, &config, &dataset)?;
    let by_folds = folds.is_some() || arguments.auto.is_asked();
    let by_part = !config.training.retrain && (config.training.validation > 0.0 || dataset.validation.is_some());
    if config.training.unknown > 0.0 && !by_folds && !by_part {
        return Err(Failure::Usage(
            "--unknown: found no sequences to learn it from that are not trained on, expected a validation part (--validation 0.2) or folds \
             (--folds 5)"
                .to_string(),
        ));
    }
    Ok(Opened {
        config,
        file,
        dataset,
        folds,
    })
}

/// Refuses what training would be refused for, without training.
fn refuse(arguments: &Arguments, opened: &Opened) -> Result<()> {
    let (config, dataset) = (&opened.config, &opened.dataset);
    threads(arguments.threads)?;
    if let Some(request) = arguments.auto.request(arguments.folds.folds) {
        return Ok(auto::check(dataset, config, &request)?);
    }
    if let Some(request) = opened.folds {
        return Ok(folds::check(dataset, config, request)?);
    }
    if let Some(members) = arguments.ensemble {
        ensemble::check(dataset, config, members)?;
    }
    Ok(train::check(dataset, config)?)
}

/// Whether nothing is said about how long a run trains and what judges it.
fn by_default(arguments: &Arguments) -> bool {
    const LENGTH_AND_JUDGE: [&str; 5] = ["epochs", "validation", "patience", "retrain", "teacher"];
    let said = LENGTH_AND_JUDGE.iter().any(|flag| arguments.settings.has(flag))
        || arguments.config.is_some()
        || arguments.from.is_some()
        || arguments.ensemble.is_some();
    !said && !arguments.auto.is_asked()
}

/// Defaults, settings file and flags; and the settings file.
fn settings(arguments: &Arguments, dataset: Option<Judged>) -> Result<(RunConfig, Option<PathBuf>)> {
    let settings_of_run = arguments.from.as_deref().map(|run| run.join("config.toml"));
    let settings_of_run = settings_of_run.filter(|path| path.is_file());
    let file = arguments.config.clone().or(settings_of_run);
    let mut config = given(arguments, file.as_deref()).settings(dataset)?;
    refuse_for_solver(&arguments.settings, &config)?;
    if let Some(run) = &arguments.from {
        super::models::must_be_there(run)?;
        let file = run.join("model.safetensors");
        config.training.from = Some(if run.is_dir() { file } else { run.clone() });
    }
    config.check()?;
    Ok((config, file))
}

fn fresh(arguments: &Arguments, flags: &HashSet<String>, options: &Options) -> Result<Finished> {
    if let Out::At(folder) = &options.out {
        RunFolder::check_free(folder)?;
    }
    let opened = opened(arguments)?;
    let (config, dataset) = (&opened.config, &opened.dataset);
    if output::says(Level::Verbose) {
        output::say_more(&show::text(config, dataset, &opened.sources(flags)));
    }
    stop_on_signals(&options.stop, "stopping after this batch");
    if let Some(request) = arguments.auto.request(arguments.folds.folds) {
        return Ok((train_auto::fresh(dataset, config, &request, options)?, Vec::new()));
    }
    if let Some(request) = opened.folds {
        if arguments.folds.request().is_none() {
            output::say(&format!(
                "no test part, {} sequences: folds judge, then one model is trained on all of them (--validation 0.2: only one, on a part)",
                dataset.train.len()
            ));
        }
        return Ok((train_folds::fresh(dataset, config, request, options)?, Vec::new()));
    }
    if by_default(arguments)
        && let Some(why) = RunConfig::folds_missing(&config.data.source, &config.data.options(), dataset)
    {
        output::say(&format!("note: {why}"));
    }
    if let Some(members) = arguments.ensemble {
        return Ok((train_ensemble::fresh(dataset, config, members, options)?, Vec::new()));
    }
    watched(|progress| train::train(dataset, config, options, progress))
}

/// The report of a run, and the training loss of each epoch that was measured.
type Finished = (Report, Vec<f64>);

/// A run that diverges says where its last good state lies.
fn watched(run: impl FnOnce(&mut Progress) -> ernn::Result<Outcome>) -> Result<Finished> {
    let mut progress = Progress::new();
    let outcome = output::timed("training", || run(&mut progress)).map_err(|error| match error {
        Error::NotFinite { .. } => Failure::Diverged(error, progress.folder_with_epoch().map(Path::to_path_buf)),
        error => Failure::Library(error),
    })?;
    Ok((outcome.report, progress.losses().to_vec()))
}

/// What goes with `--resume`.
const WITH_RESUME: [&str; 7] = ["resume", "epochs", "threads", "data_dir", "json", "quiet", "verbose"];

/// Refuses what a run that goes on cannot take, by its name.
fn refuse_with_resume(flags: &HashSet<String>) -> Result<()> {
    let mut stray: Vec<String> = flags
        .iter()
        // Groups of arguments have names as types have.
        .filter(|flag| !WITH_RESUME.contains(&flag.as_str()) && !flag.starts_with(char::is_uppercase))
        .map(|flag| match &flag[..] {
            "data" => "DATA".to_string(),
            flag => format!("--{}", flag.replace('_', "-")),
        })
        .collect();
    stray.sort();
    if stray.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--resume goes on with the settings of the run: found {} beside it, expected --epochs, --threads, --data-dir or --json alone",
        stray.join(", ")
    )))
}

fn resumed(arguments: &Arguments, flags: &HashSet<String>, path: &Path, options: &Options) -> Result<Finished> {
    refuse_with_resume(flags)?;
    let by_folds = folds::is_run_by_folds(path);
    let ensemble = EnsembleFolder::is_at(path);
    let folder = match by_folds || ensemble {
        true => RunFolder::open_without_checkpoint(path)?,
        false => RunFolder::open(path)?,
    };
    let mut config = folder.read_config()?;
    config.data.data_dir = arguments.reading.data_dir.clone().or(config.data.data_dir);
    if let Some(epochs) = arguments.settings.whole("epochs") {
        if by_folds || ensemble {
            let what = if ensemble { "an ensemble" } else { "a training by folds" };
            return Err(Failure::Usage(format!(
                "--epochs: {what} goes on as it was begun; more epochs are another one (--config)"
            )));
        }
        config.extend_to(epochs)?;
    }
    let dataset = output::timed("reading the data", || {
        open(&data::as_known(&config.data.source), &open_options(&config))
    })?;
    stop_on_signals(&options.stop, "stopping after this batch");
    // Members and folds that have not begun are written as those before them.
    let options = &Options {
        tensorboard: train::writes_events(path),
        ..options.clone()
    };
    if by_folds {
        return Ok((train_folds::resumed(&dataset, folder, options)?, Vec::new()));
    }
    if ensemble {
        return Ok((train_ensemble::resumed(&dataset, &folder, options)?, Vec::new()));
    }
    let options = Options {
        folds: folds::numbers(path)?,
        ..options.clone()
    };
    watched(|progress| train::resume(&dataset, &config, folder, &options, progress))
}

fn summary(report: &Report, losses: &[f64]) -> String {
    if !report.members.is_empty() {
        return format!("{}{}", train_ensemble::summary(report), folder(report));
    }
    let by_folds = report.folds.as_ref().map(train_folds::summary);
    let of_run = match report.part {
        "folds" => {
            return format!(
                "{}: {}\n{}{}",
                names::line(&report.dataset),
                report.cell,
                by_folds.unwrap_or_default(),
                folder(report)
            );
        }
        _ => summary_of_run(report, losses),
    };
    match by_folds {
        Some(by_folds) => format!("{by_folds}\n\nthe final model, on everything:\n{of_run}"),
        None => of_run,
    }
}

fn folder(report: &Report) -> String {
    let folder = report.out.as_ref();
    folder.map_or_else(String::new, |out| format!("\nrun folder: {}", out.display()))
}

fn summary_of_run(report: &Report, losses: &[f64]) -> String {
    let evaluation = output::evaluation(report.part, &report.evaluation);
    let validation = report
        .validation_accuracy
        .map_or_else(String::new, |accuracy| format!(" (validation {})", percent(accuracy)));
    let folder = folder(report);
    let ended = matches!(report.ending, Ending::Finished | Ending::EarlyStopped);
    let second = if ended && report.settings.training.retrain {
        "retrained: the model is the last epoch of the second pass, on all sequences\n"
    } else {
        ""
    };
    let chosen = match (report.validated, ended) {
        (false, true) => format!(
            "no validation part: the model is the last of {}",
            counted(report.epochs, "epoch")
        ),
        _ => format!("best epoch {} of {}{validation}", report.best_epoch, report.epochs),
    };
    format!(
        "{}: {}, {}\n{chosen}, trained in {}, seed {}\n{second}{}{evaluation}{folder}",
        names::line(&report.dataset),
        report.cell,
        output::size(report.parameters, report.nonzero_parameters),
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
