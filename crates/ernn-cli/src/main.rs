//! The `ernn` command: arguments become settings, the library does the work, the result is printed or saved.
//!
//! stdout carries results only, stderr everything else. Exit codes: see [`failure::Failure::exit_code`].

mod arguments;
mod classes;
mod commands;
mod failure;
mod help;
mod labels;
mod numbers;
mod output;
mod progress;
mod reading;
mod recording_flags;
mod significant;
mod table;
mod table_flags;
mod terminal;
mod text_flags;
mod unused;
mod version;

use std::collections::HashSet;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::output::Level;

/// Train, evaluate and use small recurrent networks on sequences.
#[derive(Parser)]
#[command(name = "ernn", version, after_help = EXIT_CODES, subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    volume: Volume,
    #[command(subcommand)]
    command: Command,
}

/// How much is said beside the result.
#[derive(Args)]
struct Volume {
    /// Say nothing but errors; the result still goes to stdout
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more: settings, times, every epoch
    #[arg(short, long, global = true)]
    verbose: bool,
}

impl Volume {
    fn level(&self) -> Level {
        match (self.quiet, self.verbose) {
            (true, _) => Level::Quiet,
            (_, true) => Level::Verbose,
            _ => Level::Normal,
        }
    }
}

const EXIT_CODES: &str = "\
DATA is a known name (see `ernn data list`), a file (.ts, .csv, .tsv, .jsonl, .npy, .npz, .txt, .wav with --window, .parquet where it is built in; also packed: .gz, .bz2, .xz, .zst), or a folder whose files are named after \
their parts (X_TRAIN.ts, train.npy, test.csv).

Exit codes: 0 done; 1 a file, the data or the training went wrong, or `predict` had no answer for a sequence; 2 wrong arguments or \
settings; 130 stopped by Ctrl-C (what was done is saved).

ERNN_ISA=avx512, avx2 or portable chooses the instruction set; without it the best one of this machine runs.";

#[derive(Subcommand)]
enum Command {
    /// Train a model on a data set and leave a run folder.
    Train(Box<commands::train::Arguments>),
    /// Train several cells under one protocol, each with several seeds, and make a table and a picture.
    Compare(Box<commands::compare::Arguments>),
    /// Run the experiments of the paper's tables, and put the results beside its figures.
    Reproduce(Box<commands::reproduce::Arguments>),
    /// Make a page of results: of reproduce, train and compare.
    Report(commands::report::Arguments),
    /// Measure a model on a part of a data set.
    Evaluate(commands::evaluate::Arguments),
    /// Measure what a model really does: gradients, equilibria, step sizes; or draw figure 1 of the paper
    Analyze(Box<commands::analyze::Arguments>),
    /// Classify sequences, one line each.
    Predict(Box<commands::predict::Arguments>),
    /// Show what is inside a model file.
    Inspect(commands::inspect::Arguments),
    /// Read a model that another program trained, and save it as one of ours
    Import(commands::import::Arguments),
    /// Write a model for another program
    Export(commands::export::Arguments),
    /// Show known data sets, or look into one.
    Data(commands::data::Arguments),
    /// Print what a shell needs to complete words
    Completions(commands::completions::Arguments),
    /// Write manual pages
    Man(commands::man::Arguments),
}

/// All arguments, with the defaults of their settings.
fn command() -> clap::Command {
    help::with_defaults(Cli::command().max_term_width(80))
}

/// The names of the arguments that a command was given.
fn given(matches: &ArgMatches) -> HashSet<String> {
    let Some((_, matches)) = matches.subcommand() else {
        return HashSet::new();
    };
    let ids = matches.ids().map(|id| id.as_str());
    ids.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine))
        .map(String::from)
        .collect()
}

fn main() -> ExitCode {
    let matches = arguments::matches(command().long_version(version::long()));
    let Cli { volume, command } = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    output::set_level(volume.level());
    output::say_more(&format!("ernn {}", version::long()));
    let outcome = ernn::Isa::choice()
        .map_err(|error| failure::Failure::Library(ernn::Error::instruction_set(error)))
        .and_then(|_| output::timed("all", || run(command, &given(&matches))));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(command: Command, given: &HashSet<String>) -> failure::Result<()> {
    match command {
        Command::Train(arguments) => commands::train::run(&arguments, given),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Evaluate(arguments) => commands::evaluate::run(&arguments),
        Command::Analyze(arguments) => commands::analyze::run(&arguments),
        Command::Predict(arguments) => commands::predict::run(&arguments, given),
        Command::Inspect(arguments) => commands::inspect::run(&arguments),
        Command::Import(arguments) => commands::import::run(&arguments),
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Data(arguments) => commands::data::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
        Command::Man(arguments) => commands::man::run(&arguments),
    }
}
