//! `ernn train DATA --ensemble N`: the lines on stderr, and the numbers for people.

use ernn::checkpoint::EpochRecord;
use ernn::data::Dataset;
use ernn::ensemble::{self, Watcher};
use ernn::names;
use ernn::train::{BatchProgress, MemberReport, Observer, Options, Report, RunConfig, RunFolder, Start};

use super::train_folds;
use crate::failure::Result;
use crate::output::{self, say, seconds, timed};
use crate::progress::Progress;

/// Trains an ensemble from the beginning.
pub fn fresh(dataset: &Dataset, config: &RunConfig, members: usize, options: &Options) -> Result<Report> {
    let mut lines = Lines::default();
    train_folds::reported(timed("training", || {
        ensemble::train(dataset, config, members, options, &mut lines)
    }))
}

/// Goes on with an ensemble.
pub fn resumed(dataset: &Dataset, folder: &RunFolder, options: &Options) -> Result<Report> {
    let mut lines = Lines::default();
    train_folds::reported(timed("training", || {
        ensemble::resume(dataset, folder, options, &mut lines)
    }))
}

/// The progress of one member after the other.
#[derive(Default)]
struct Lines {
    progress: Option<Progress>,
}

impl Observer for Lines {
    fn started(&mut self, start: &Start) {
        self.progress.get_or_insert_with(Progress::new).started(start);
    }

    fn batch_done(&mut self, progress: &BatchProgress) {
        self.progress.get_or_insert_with(Progress::new).batch_done(progress);
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.progress.get_or_insert_with(Progress::new).epoch_done(record);
    }

    fn warning(&mut self, text: &str) {
        say(&format!("warning: {text}"));
    }
}

impl Watcher for Lines {
    fn member_started(&mut self, number: usize, members: usize) {
        // The line of the member before goes away first.
        self.progress = None;
        say(&format!("member {number} of {members}"));
    }
}

/// The numbers of an ensemble, for people.
pub fn summary(report: &Report) -> String {
    let mut text = format!(
        "{}: {} of {} together: {}, trained in {}\n",
        names::line(&report.dataset),
        report.members.len(),
        report.cell,
        output::size(report.parameters, report.nonzero_parameters),
        seconds(report.train_seconds),
    );
    for (number, member) in (1..).zip(&report.members) {
        text += &format!("member-{number}, seed {}: {}\n", member.seed, score(report, member));
    }
    format!("{text}\n{}", output::evaluation(report.part, &report.evaluation))
}

/// What a member is worth alone.
fn score(report: &Report, member: &MemberReport) -> String {
    let metric = report.evaluation.score().0;
    format!("{} ({})", metric.phrase(member.score), member.part)
}
