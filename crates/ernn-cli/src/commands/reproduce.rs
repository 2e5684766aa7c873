//! `ernn reproduce`: the paper's tables, row by row, beside its figures.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use ernn::checkpoint::EpochRecord;
use ernn::data::OpenOptions;
use ernn::names::counted;
use ernn::train::Ending;
use ernn_lab::compare::Shard;
use ernn_lab::reproduce::{
    self, Availability, Experiment, ExperimentFiles, Options, Plan, Protocol, RunDone, RunRecord, SearchedRow,
    Selection, Start, Variant, Watcher, availability,
};

use super::compare;
use super::run_settings::{stop_on_signals, threads};
use crate::failure::{Failure, Result};
use crate::output::{self, say, seconds};
use crate::progress::Runs;
use crate::reading::named;

/// Arguments of `ernn reproduce`.
#[derive(Args)]
#[command(after_help = NOTES)]
pub struct Arguments {
    /// Name of an experiment, or `all`: every one whose data is there
    #[arg(required_unless_present = "list")]
    experiment: Option<String>,
    /// Show the experiments, where their data is, and their rows
    #[arg(long, conflicts_with = "experiment")]
    list: bool,
    /// The tiny version: little data, few epochs; shows that it works
    #[arg(long)]
    quick: bool,
    /// Search for the settings of the rows among those that the experiment's [search] names: the validation part judges, and the test
    /// part is not read. A table a row, OUT/NAME/search/ROW.csv
    #[arg(long, conflicts_with_all = ["list", "protocol", "time_limit"])]
    search: bool,
    /// Rows, by their names [default: all]
    #[arg(long, value_name = "ROW,...", value_delimiter = ',')]
    rows: Vec<String>,
    /// Seeds of each row, from 1 on [default: as the experiment says]
    #[arg(long, value_name = "N")]
    seeds: Option<usize>,
    /// How results come about: honest (selected on validation, then the test part once) or paper (then trained anew on all of train)
    #[arg(long, value_name = "PROTOCOL", value_parser = named::<Protocol>, default_value = "honest")]
    protocol: Protocol,
    /// Do part I of N of the runs, beside other processes that do the others in the same folders
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    shard: Shard,
    /// Training time of a run in all; then it is marked as cut short and measured on the validation part alone
    #[arg(long, value_name = "MINUTES")]
    time_limit: Option<f64>,
    /// Folder of the result files, a small JSON file a run
    #[arg(long, value_name = "DIR", default_value = "results")]
    out: PathBuf,
    /// Folder of checkpoints and models; not needed any more once the results are there
    #[arg(long, value_name = "DIR", default_value = "runs/reproduce")]
    work: PathBuf,
    /// Folder of experiments, a file NAME.toml for each, to read instead of those in the program
    #[arg(long, value_name = "DIR")]
    experiments: Option<PathBuf>,
    /// Folder of data sets that are not built in (also read from ERNN_DATA_DIR)
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Threads that compute [default: all]; results do not depend on it, times do
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the tables as one JSON array
    #[arg(long)]
    json: bool,
}

const NOTES: &str = "\
The most valuable runs come first: ERNN of every experiment, then the strongest baselines, then the rest. The same command \
again goes on: runs whose result is there are not run again, one that was stopped goes on from its checkpoint, and one that was cut \
short goes on if it is given more time.

The test part is read once, by a finished run; figures of the best test epoch do not exist here. `ernn report results` makes a \
page of the results.

`ernn reproduce NAME --search` shows where the settings of the rows come from, and leaves the best ones of each row in \
WORK/NAME/search/ROW/best/ROW.toml.";

/// Runs `ernn reproduce`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let files = match &arguments.experiments {
        None => ExperimentFiles::embedded(),
        Some(folder) => ExperimentFiles::in_folder(folder)?,
    };
    let experiments = files.read()?;
    let Some(name) = arguments.experiment.as_deref().filter(|_| !arguments.list) else {
        return list(&experiments, arguments);
    };
    let options = Options {
        data_dir: arguments.data_dir.clone(),
        shard: arguments.shard,
        time_limit: time_limit(arguments.time_limit)?,
        threads: threads(arguments.threads)?,
        skip: name == "all",
        ..Options::new(arguments.out.clone(), arguments.work.clone())
    };
    let mut lines = Lines::default();
    let chosen = choose(experiments, name, arguments, &mut lines)?;
    let selection = Selection {
        rows: arguments.rows.clone(),
        seeds: arguments.seeds,
        variant: Variant {
            protocol: arguments.protocol,
            quick: arguments.quick,
        },
    };
    let plan = Plan::new(chosen, &selection)?;
    stop_on_signals(&options.stop, "stopping after this batch");
    if arguments.search {
        return search(&plan, &options, arguments.json);
    }
    let done = reproduce::reproduce(&plan, &options, &mut lines)?;
    // The line that changes goes before the tables come.
    drop(lines);
    if arguments.json {
        output::print_json(&done.tables)?;
    } else {
        let tables: Vec<String> = done.tables.iter().map(|table| table.to_markdown()).collect();
        output::print(&format!("{}\nresults: {}", tables.join("\n"), options.out.display()))?;
    }
    ended(done.interrupted, &done.skipped)
}

/// Searches for the settings of the rows.
fn search(plan: &Plan, options: &Options, json: bool) -> Result<()> {
    let done = reproduce::search(plan, options, &mut compare::Lines::default())?;
    if json {
        output::print_json(&done.rows)?;
    } else {
        let text = |row: &SearchedRow| format!("{}, row {}: {}", row.experiment, row.row, row.table.to_markdown());
        let tables: Vec<String> = done.rows.iter().map(text).collect();
        output::print(&format!("{}\nsearches: {}", tables.join("\n"), options.work.display()))?;
    }
    ended(done.interrupted, &done.skipped)
}

fn ended(interrupted: bool, skipped: &[String]) -> Result<()> {
    if interrupted {
        let how = "the same command (what is finished is not run again)";
        return Err(Failure::Interrupted(how.to_string()));
    }
    if !skipped.is_empty() {
        return Err(Failure::Partial(format!("not run: {}", skipped.join(", "))));
    }
    Ok(())
}

fn time_limit(minutes: Option<f64>) -> Result<Option<Duration>> {
    let refused = |minutes: f64| Failure::Usage(format!("--time-limit: found {minutes}, expected minutes above 0"));
    let Some(minutes) = minutes else {
        return Ok(None);
    };
    let duration = Duration::try_from_secs_f64(60.0 * minutes).map_err(|_| refused(minutes))?;
    if duration.is_zero() {
        return Err(refused(minutes));
    }
    Ok(Some(duration))
}

fn data_options(arguments: &Arguments) -> OpenOptions {
    OpenOptions {
        data_dir: arguments.data_dir.clone(),
        ..OpenOptions::default()
    }
}

/// The experiment of a name, or all whose data is there.
fn choose(
    mut experiments: Vec<Experiment>,
    name: &str,
    arguments: &Arguments,
    lines: &mut Lines,
) -> Result<Vec<Experiment>> {
    if name == "all" {
        let options = data_options(arguments);
        experiments.retain(|experiment| {
            let place = availability(experiment.source(), &options);
            if !place.is_there() {
                lines.skipped(&experiment.name, &place_text(experiment.source(), &place));
            }
            place.is_there()
        });
        return Ok(experiments);
    }
    let names: Vec<String> = experiments.iter().map(|experiment| experiment.name.clone()).collect();
    experiments.retain(|experiment| experiment.name == name);
    if experiments.is_empty() {
        let expected = format!("all, {}", names.join(", "));
        return Err(Failure::Library(ernn::Error::setting("experiment", name, expected)));
    }
    Ok(experiments)
}

fn place_text(source: &str, place: &Availability) -> String {
    match place {
        Availability::BuiltIn => format!("{source}, built in"),
        Availability::Found(path) => format!("{source}, found in {}", path.display()),
        Availability::NotFound => format!("{source} is not there (name its folder with --data-dir or ERNN_DATA_DIR)"),
        Availability::Unknown => format!("no data set {source} is known, and no such file is there"),
    }
}

fn list(experiments: &[Experiment], arguments: &Arguments) -> Result<()> {
    let options = data_options(arguments);
    let mut text = String::new();
    for experiment in experiments {
        let rows: Vec<&str> = experiment.rows.iter().map(|row| row.name.as_str()).collect();
        let table = experiment
            .table
            .as_ref()
            .map_or_else(String::new, |table| format!(" [{table}]"));
        let place = place_text(experiment.source(), &availability(experiment.source(), &options));
        text += &format!(
            "{:<18}  {}{table}\n{:18}  data: {place}; seeds: {}\n{:18}  rows: {}\n",
            experiment.name,
            experiment.title,
            "",
            experiment.seeds,
            "",
            rows.join(", ")
        );
    }
    Ok(output::print(text.trim_end())?)
}

/// Seconds between two lines about epochs: those of small data sets take milliseconds.
const EPOCH_LINES: Duration = Duration::from_secs(60);

/// A line on stderr for each run, and now and then one about an epoch.
#[derive(Default)]
struct Lines {
    warned: HashSet<String>,
    last: Option<Instant>,
    progress: Runs,
}

impl Watcher for Lines {
    fn started(&mut self, start: &Start) {
        let before = match start.over {
            0 => String::new(),
            over => format!(", {over} of them done before"),
        };
        say(&format!(
            "{}{before}; results in {}",
            counted(start.runs, "run"),
            start.out.display()
        ));
        self.last = Some(Instant::now());
        self.progress.started(start.over, start.runs);
    }

    fn under_way(&mut self, name: &str, share: f64) {
        self.progress.under_way(name, share);
    }

    fn epoch_done(&mut self, name: &str, record: &EpochRecord) {
        if self.last.is_some_and(|last| last.elapsed() < EPOCH_LINES) {
            return;
        }
        self.last = Some(Instant::now());
        let validation = record
            .validation_loss
            .map_or_else(String::new, |loss| format!(", validation loss {loss:.4}"));
        say(&format!(
            "{name}: epoch {}, training loss {:.4}{validation}, {}",
            record.epoch,
            record.train_loss,
            seconds(record.seconds)
        ));
    }

    fn run_done(&mut self, done: &RunDone) {
        self.last = Some(Instant::now());
        let record = done.record;
        let (result, mut others) = outcome(record);
        others.insert(0, format!("trained in {}", seconds(record.train_seconds)));
        self.progress.run_done(done.name, done.done, &result, &others);
    }

    fn run_taken(&mut self, name: &str) {
        self.progress.run_taken();
        say(&format!("{name}: left to the process that is training it"));
    }

    fn skipped(&mut self, experiment: &str, reason: &str) {
        say(&format!("skipped {experiment}: {reason}"));
    }

    fn warning(&mut self, text: &str) {
        if self.warned.insert(text.to_string()) {
            say(&format!("warning: {text}"));
        }
    }
}

/// What came of a run, and what else is worth saying where there is room.
fn outcome(record: &RunRecord) -> (String, Vec<String>) {
    let metric = record.metric;
    let figure = record.paper.figure(metric);
    let paper = figure.map_or_else(String::new, |figure| format!(" (paper {})", metric.text(figure)));
    let validation = record
        .validation
        .map(|value| format!("validation {}", metric.phrase(value)));
    match record.test {
        _ if record.ending == Ending::Diverged => ("diverged".to_string(), Vec::new()),
        Some(test) => (
            format!("test {}{paper}", metric.phrase(test)),
            vec![format!("best epoch {}", record.best_epoch)],
        ),
        None if record.is_over() => {
            let what = "no test part, so no result of the experiment".to_string();
            (what, validation.into_iter().collect())
        }
        None => (
            format!("cut short after {}", counted(record.epochs, "epoch")),
            validation.into_iter().collect(),
        ),
    }
}
