//! `ernn train DATA --folds K`: the flags, the lines on stderr, and the numbers for people.

use std::path::Path;

use clap::Args;
use ernn::data::{Dataset, Scheme};
use ernn::evaluate::{FoldReport, FoldsReport, Spread, figures};
use ernn::folds::{self, Ended, FoldsStart, Request, Watcher};
use ernn::names::{self, counted};
use ernn::train::{Ending, Options, Report, RunConfig, RunFolder};

use crate::failure::{Failure, Result};
use crate::output::{self, grouped, percent, say, seconds};
use crate::progress::Progress;

/// Flags of training by folds.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Folds")]
pub struct FoldFlags {
    /// Cut the training part into K folds, stratified by class, with groups whole, or hold out each group in turn (groups); train once for
    /// each, and judge what was held out; then train on everything. The test part is for that last model alone
    #[arg(long, value_name = "K|groups")]
    pub folds: Option<Scheme>,
    /// With --folds: no model on everything in the end
    #[arg(long, requires = "folds")]
    pub no_final: bool,
}

impl FoldFlags {
    /// What is asked for, where it is.
    pub fn request(&self) -> Option<Request> {
        self.folds.map(|scheme| Request {
            scheme,
            final_model: !self.no_final,
        })
    }
}

/// Trains by folds from the beginning.
pub fn fresh(dataset: &Dataset, config: &RunConfig, request: Request, options: &Options) -> Result<Report> {
    let mut progress = Progress::new();
    reported(folds::train(
        dataset,
        config,
        request,
        options,
        &mut Lines::default(),
        &mut progress,
    ))
}

/// Goes on with a training by folds.
pub fn resumed(dataset: &Dataset, folder: RunFolder, options: &Options) -> Result<Report> {
    let mut progress = Progress::new();
    reported(folds::resume(
        dataset,
        folder,
        options,
        &mut Lines::default(),
        &mut progress,
    ))
}

pub(super) fn reported(ended: ernn::Result<Ended>) -> Result<Report> {
    match ended? {
        Ended::Done(report) if report.part == "folds" && report.ending == Ending::Diverged => {
            let error = report.error.unwrap_or_default();
            Err(Failure::Partial(format!("all folds diverged; the first one: {error}")))
        }
        Ended::Done(report) => Ok(*report),
        Ended::Interrupted(folder) => Err(interrupted(folder.as_deref())),
    }
}

fn interrupted(folder: Option<&Path>) -> Failure {
    Failure::Interrupted(folder.map_or_else(
        || "the same command: a search begins anew".to_string(),
        |folder| format!("`ernn train --resume {}`", folder.display()),
    ))
}

/// A line on stderr for each fold.
#[derive(Default)]
struct Lines {
    folds: usize,
    warned: Vec<String>,
}

impl Watcher for Lines {
    fn folds_started(&mut self, start: &FoldsStart) {
        self.folds = start.folds;
        let before = match start.ended {
            0 => String::new(),
            ended => format!(", {ended} of them done before"),
        };
        let folder = start
            .out
            .map_or_else(String::new, |out| format!(", in {}", out.display()));
        say(&format!(
            "{} of {}{before}{folder}",
            counted(start.folds, "fold"),
            counted(start.sequences, "sequence")
        ));
    }

    fn fold_done(&mut self, fold: &FoldReport, ended: usize) {
        let score = fold
            .score
            .map_or_else(|| "diverged".to_string(), |score| format!("{score:.4}"));
        let group = fold.group.as_ref();
        let group = group.map_or_else(String::new, |group| format!(" (group {})", names::line(group)));
        say(&format!(
            "{ended}/{} fold {}{group}: {score} on {}, trained in {}",
            self.folds,
            fold.fold,
            counted(fold.sequences, "sequence"),
            seconds(fold.train_seconds)
        ));
    }

    fn warning(&mut self, text: &str) {
        if !self.warned.iter().any(|said| said == text) {
            self.warned.push(text.to_string());
            say(&format!("warning: {text}"));
        }
    }
}

/// Groups that are named, the worst ones.
const SHOWN_GROUPS: usize = 5;
/// With fewer groups an interval over them means nothing.
const FEW_GROUPS: usize = 5;

/// The numbers of all folds, for people.
pub fn summary(report: &FoldsReport) -> String {
    let drawn = match report.trials {
        1 => String::new(),
        trials => format!(", drawn anew after {}", counted(trials, "trial")),
    };
    let mut text = format!("{} folds{drawn}: {}", report.folds.len(), spread(report));
    if let (Some([low, high]), Some(chance)) = (report.interval, report.chance) {
        let verdict = match report.is_chance() {
            true => "no better than always naming the most frequent class, which has",
            false => "always naming the most frequent class has",
        };
        text += &format!(
            "\n95 % interval {} to {}; {verdict} {}",
            percent(low),
            percent(high),
            percent(chance)
        );
    }
    if !report.groups.is_empty() {
        let worst = report.groups.iter().take(SHOWN_GROUPS).map(|group| {
            let score = match (group.accuracy, group.mean_absolute_error) {
                (Some(accuracy), _) => percent(accuracy),
                (_, error) => format!("MAE {}", figures(error.unwrap_or(f64::NAN))),
            };
            format!(
                "{} ({score} of {})",
                names::line(&group.group),
                grouped(group.sequences)
            )
        });
        let worst: Vec<String> = worst.collect();
        text += &format!("\nworst groups: {}", worst.join(", "));
        text += &few_groups(report);
    }
    if report.copies > 0 {
        text += &copies(report);
    }
    format!("{text}\n{}", output::evaluation("held out", &report.pooled))
}

/// What numbers from a handful of groups are worth.
fn few_groups(report: &FoldsReport) -> String {
    let count = report.groups.len();
    if count >= FEW_GROUPS {
        return String::new();
    }
    format!(
        "\nonly {count} groups: each was judged by models that had not seen it, which estimates a new group, but from {count} examples; \
         the interval cannot be trusted"
    )
}

/// Which copies were held out together, and which could not be.
fn copies(report: &FoldsReport) -> String {
    let are = if report.copies == 1 {
        "is a copy of another"
    } else {
        "are copies of others"
    };
    let torn = match report.torn {
        0 => "copies were held out together".to_string(),
        torn => format!(
            "{} of them of one in another group, which was trained on",
            grouped(torn)
        ),
    };
    format!("\n{} {are}; {torn}", counted(report.copies, "sequence"))
}

fn spread(report: &FoldsReport) -> String {
    let metric = report.metric;
    let shown = |value: f64| metric.text(metric.shown(value));
    let diverged = report.folds.iter().filter(|fold| fold.score.is_none()).count();
    let diverged = match diverged {
        0 => String::new(),
        count => format!("; {count} diverged"),
    };
    match report.score {
        None => "all diverged".to_string(),
        Some(Spread {
            mean,
            deviation,
            lowest,
            highest,
        }) => format!(
            "{} ± {} ({} to {}){diverged}",
            metric.phrase(mean),
            shown(deviation.unwrap_or(0.0)),
            shown(lowest),
            shown(highest)
        ),
    }
}
