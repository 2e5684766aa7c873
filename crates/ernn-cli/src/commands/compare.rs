//! `ernn compare`: several cells under one protocol, several seeds each; a table and a picture.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use ernn::cell::CellConfig;
use ernn::data::Scheme;
use ernn::names::counted;
use ernn::train::Ending;
use ernn_lab::compare::{self, Matching, Options, Plan, Request, RunDone, Shard, Start, Vary, Watcher};

use super::run_settings::{Given, Judged, stop_on_signals, threads};
use super::setting_flags::SharedFlags;
use crate::failure::{Failure, Result};
use crate::output::{self, say, seconds};
use crate::progress::Runs;
use crate::reading::{ReadingFlags, word};
use crate::unused::refuse_for_data;

/// Arguments of `ernn compare`.
#[derive(Args)]
#[command(after_help = NOTES)]
pub struct Arguments {
    /// Known name, file or folder (may be left out with --config)
    data: Option<String>,
    /// Kinds of cells, a row of the table each [default: all that there are]
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    cells: Vec<String>,
    /// Inner iterations K, a row each, for the cells that have them (ernn, deep-transition)
    #[arg(long, value_name = "K,...", value_delimiter = ',')]
    iterations: Vec<usize>,
    /// A setting, by its name in config.toml, and the values to try, a row each; several: all combinations. The validation part
    /// judges, and the test part is not read
    #[arg(long, value_name = "NAME=V,V,...")]
    vary: Vec<Vary>,
    /// So many combinations of --vary for each cell, drawn at random
    #[arg(long, value_name = "N")]
    draw: Option<usize>,
    /// Judge by folds of the training part instead of the test part: K of them, stratified and with groups whole, or each group in turn
    /// (groups). The same folds for all rows, others for each seed
    #[arg(long, value_name = "K|groups")]
    folds: Option<Scheme>,
    /// Seeds of each row: N of them, from --seed on
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: usize,
    /// What the cells have alike: their hidden size, or, as nearly as possible, the number of parameters of the first row
    #[arg(long = "match", value_name = "WHAT", value_enum, default_value = "hidden")]
    matching: Alike,
    /// Do part I of N of the runs, beside other processes that do the others in the same folder
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    shard: Shard,
    /// Settings file, as the config.toml of a run folder; flags come on top
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of the comparison, new, or one to go on with [default: runs/DATA-compare]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads that compute [default: all]; the result does not depend on it, times do
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the table as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SharedFlags,
    #[command(flatten)]
    reading: ReadingFlags,
}

const NOTES: &str = "\
All cells are trained alike. A flag of the network goes to the cells that have such a setting.

The same command again goes on: runs that are finished are not run again, one that was stopped goes on from its checkpoint. The \
table is written from all runs that are finished, by whatever process. A run that diverges is counted, and the others go on.

--vary searches for settings: `ernn compare DATA --cells lstm,ernn --vary learning-rate=0.002,0.005,0.01 --vary dropout=0,0.3` sorts \
the table by the validation part, which each seed draws anew where the data has none, and leaves the best settings of each cell in \
DIR/best/CELL.toml for `ernn train --config`. With --folds 5 the folds judge instead.

\
The table holds every row against the best one, pair by pair (seeds, folds), and says which differences are more than noise. compare.csv has \
the score of each seed and fold, compare.tex the table for LaTeX.";

/// What all cells have alike.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Alike {
    Hidden,
    Parameters,
}

/// Runs `ernn compare`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let given = Given {
        data: arguments.data.as_deref(),
        config: arguments.config.as_deref(),
        reading: &arguments.reading,
        settings: arguments.settings.all(),
        cells: false,
    };
    let config = given.settings(None)?;
    let out = arguments.out.clone();
    let options = Options {
        out: out.unwrap_or_else(|| compare::default_folder(&config.data.source)),
        shard: arguments.shard,
        threads: threads(arguments.threads)?,
        stop: Arc::default(),
    };
    let dataset = given.open(&config)?;
    // Without folds, rows are chosen by a validation part.
    let config = given.settings(Some(Judged {
        dataset: &dataset,
        judged: arguments.folds.is_some(),
    }))?;
    refuse_for_data(arguments.settings.all(), &config, &dataset)?;
    output::say_more(&format!("settings that all cells share:\n{}", config.to_toml()));
    let plan = Plan::new(&config, &dataset, &request(arguments))?;
    stop_on_signals(&options.stop, "stopping after this batch");
    let done = compare::compare(&dataset, &plan, &options, &mut Lines::default())?;
    if arguments.json {
        output::print_json(&done.table)?;
    } else {
        let text = done.table.to_markdown();
        output::print(&format!("{text}\ncomparison: {}", options.out.display()))?;
    }
    if done.interrupted {
        let how = "the same command (what is finished is not run again)";
        return Err(Failure::Interrupted(how.to_string()));
    }
    Ok(())
}

fn request(arguments: &Arguments) -> Request {
    let mut cells: Vec<String> = arguments.cells.iter().map(|cell| word(cell)).collect();
    if cells.is_empty() {
        cells = CellConfig::KINDS.iter().map(ToString::to_string).collect();
    }
    let settings = arguments.settings.all().of_layers();
    Request {
        cells,
        iterations: arguments.iterations.clone(),
        layer_settings: settings.map(|(name, value)| (name.to_string(), value)).collect(),
        seeds: arguments.seeds,
        vary: arguments.vary.clone(),
        draw: arguments.draw,
        folds: arguments.folds,
        matching: match arguments.matching {
            Alike::Hidden => Matching::Hidden,
            Alike::Parameters => Matching::Parameters,
        },
    }
}

/// A line on stderr for each run.
#[derive(Default)]
pub(super) struct Lines {
    warned: HashSet<String>,
    progress: Runs,
}

impl Watcher for Lines {
    fn started(&mut self, start: &Start) {
        let before = match start.ended {
            0 => String::new(),
            ended => format!(", {ended} of them done before"),
        };
        let (rows, runs, out) = (
            counted(start.rows, "row"),
            counted(start.runs, "run"),
            start.out.display(),
        );
        say(&format!("comparing {rows}: {runs}{before}, in {out}"));
        self.progress.started(start.ended, start.runs);
    }

    fn under_way(&mut self, name: &str, share: f64) {
        self.progress.under_way(name, share);
    }

    fn run_done(&mut self, done: &RunDone) {
        let run = done.run;
        let mut result = "diverged".to_string();
        let mut others = vec![format!("trained in {}", seconds(run.train_seconds))];
        if run.ending != Ending::Diverged {
            let part = if run.folds.is_some() {
                "folds"
            } else {
                run.part.as_str()
            };
            result = format!("{part} {}", output::score(&run.evaluation));
            if run.folds.is_none() {
                others.push(format!("best epoch {}", run.best_epoch));
            }
        }
        self.progress.run_done(done.name, done.ended, &result, &others);
    }

    fn run_taken(&mut self, name: &str) {
        self.progress.run_taken();
        say(&format!("{name}: left to the process that is training it"));
    }

    fn warning(&mut self, text: &str) {
        if self.warned.insert(text.to_string()) {
            say(&format!("warning: {text}"));
        }
    }
}
