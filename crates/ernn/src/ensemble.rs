//! Ensembles: the same settings trained with several seeds, whose averaged answers are those of one model.
//!
//! ```text
//! ensemble.toml    how many members, and whether all of them have ended
//! config.toml      the settings of the first member
//! member-K/        the run folder of member K, of seed S + K - 1
//! result.json      the report: numbers of the averaged answers, sizes of all members together
//! ```
//!
//! Each member is a run of `train` in a folder of its own, and what it validates with is drawn by its own seed. So there are sequences that
//! no member was trained on only where the data brings a test or a validation part; else the numbers are those of the training part,
//! and the report says so.

use std::path::{Path, PathBuf};

use crate::checkpoint::{EnsembleFolder, MOST_MEMBERS, SavedModel};
use crate::data::{Dataset, View};
use crate::evaluate::{Ensemble, Evaluation};
use crate::folds::Ended;
use crate::train::{
    self, Card, Ending, Machine, MemberReport, Observer, Options, Out, PastRun, Report, RunConfig, RunFolder,
};
use crate::{Error, Result};

/// Sees an ensemble from outside.
pub trait Watcher: Observer {
    /// Before the run of member `number` of `members`, from 1.
    fn member_started(&mut self, _number: usize, _members: usize) {}
}

impl Watcher for () {}

/// Trains an ensemble of so many members from the beginning.
///
/// # Errors
/// If the settings cannot be those of an ensemble, there is no folder to leave it in, or as [`train::train`] of any member.
pub fn train(
    dataset: &Dataset,
    config: &RunConfig,
    members: usize,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> Result<Ended> {
    check(dataset, config, members)?;
    let Some(folder) = options.out.open(&dataset.name, config)? else {
        let expected = "a folder: an ensemble is one of run folders";
        return Err(Error::setting("out", "none", expected));
    };
    folder.write_config(config)?;
    let written = EnsembleFolder {
        members,
        complete: false,
    };
    written.write(folder.path())?;
    go(dataset, config, members, &folder, options, watcher)
}

/// Goes on where the training of an ensemble was stopped; members that have ended stay as they are.
///
/// # Errors
/// As [`train()`], and if settings or data are others.
pub fn resume(dataset: &Dataset, folder: &RunFolder, options: &Options, watcher: &mut dyn Watcher) -> Result<Ended> {
    let config = folder.read_config()?;
    let members = EnsembleFolder::read(folder.path())?.members;
    check(dataset, &config, members)?;
    go(dataset, &config, members, folder, options, watcher)
}

/// Refuses members, data and settings of which no ensemble can be made.
///
/// # Errors
/// As [`train()`].
pub fn check(dataset: &Dataset, config: &RunConfig, members: usize) -> Result<()> {
    config.check()?;
    if !(2..=MOST_MEMBERS).contains(&members) {
        let expected = format!("2 to {MOST_MEMBERS} members");
        return Err(Error::setting("--ensemble", members, expected));
    }
    if !crate::evaluate::is_averaged(dataset.task) {
        let expected =
            "data with one class, number or set of labels a sequence: the answers of the members are averaged";
        return Err(Error::setting("--ensemble", &dataset.name, expected));
    }
    if config.training.unknown > 0.0 {
        let expected = "0 with --ensemble: a member says where it knows nothing for itself alone";
        return Err(Error::setting("--unknown", config.training.unknown, expected));
    }
    if let Some(from) = &config.training.from {
        let expected = "none with --ensemble: members that begin with the same weights are too much alike";
        return Err(Error::setting("from", from.display(), expected));
    }
    with_seed(config, members).check()
}

/// The settings of a member, from 1.
fn with_seed(config: &RunConfig, number: usize) -> RunConfig {
    let mut config = config.clone();
    config.training.seed = config.training.seed.saturating_add(number as u64 - 1);
    config
}

fn go(
    dataset: &Dataset,
    config: &RunConfig,
    members: usize,
    folder: &RunFolder,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> Result<Ended> {
    let mut runs = Vec::new();
    for number in 1..=members {
        watcher.member_started(number, members);
        let path = EnsembleFolder::member(folder.path(), number);
        match member(dataset, &with_seed(config, number), &path, options, watcher)? {
            Some(run) => runs.push((path, run)),
            None => return Ok(Ended::Interrupted(Some(folder.path().to_path_buf()))),
        }
    }
    let report = report(dataset, config, &runs, folder.path(), options, watcher)?;
    folder.write_report(&report, &[])?;
    folder.write_card(&Card::of_all(&report, dataset))?;
    let written = EnsembleFolder {
        members,
        complete: true,
    };
    written.write(folder.path())?;
    Ok(Ended::Done(Box::new(report)))
}

/// One member that has ended, trained here or before; none if it was stopped.
fn member(
    dataset: &Dataset,
    config: &RunConfig,
    path: &Path,
    options: &Options,
    observer: &mut dyn Watcher,
) -> Result<Option<PastRun>> {
    if let Some(past) = PastRun::read(path)?.filter(PastRun::is_finished) {
        if past.settings.portable().asked() != config.portable().resolved(dataset).asked() {
            let found = format!("{}, a member with other settings", path.display());
            let expected = "an ensemble with the settings of its config.toml";
            return Err(Error::setting("--resume", found, expected));
        }
        return Ok(Some(past));
    }
    let Some(folder) = RunFolder::enter(path)? else {
        let found = format!("{}, in which another process is training", path.display());
        return Err(Error::setting("--resume", found, "a run that has stopped"));
    };
    let options = Options {
        out: Out::Nowhere,
        ..options.clone()
    };
    let ending = train::resume(dataset, config, folder, &options, observer)?
        .report
        .ending;
    match ending {
        Ending::Interrupted => Ok(None),
        _ => PastRun::read(path),
    }
}

fn report(
    dataset: &Dataset,
    config: &RunConfig,
    runs: &[(PathBuf, PastRun)],
    out: &Path,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> Result<Report> {
    let named = runs
        .iter()
        .map(|(path, _)| Ok((path.display().to_string(), SavedModel::load(path)?)));
    let ensemble = Ensemble::new(named.collect::<Result<_>>()?)?;
    let (part, evaluation) = measure(dataset, config, &ensemble, options, watcher)?;
    let past = || runs.iter().map(|(_, run)| run);
    Ok(Report {
        dataset: dataset.name.clone(),
        part,
        evaluation,
        validation_accuracy: None,
        cell: config.cell().to_string(),
        longest_sequence: past().find_map(|run| run.longest_sequence),
        parameters: ensemble.parameters(),
        nonzero_parameters: ensemble.nonzero_parameters(),
        embedding_parameters: past().map(|run| run.embedding_parameters).sum(),
        size_kb: ensemble.size_kb(),
        model_bytes: ensemble.members().iter().map(SavedModel::file_bytes).sum(),
        train_seconds: past().map(|run| run.train_seconds).sum(),
        epochs: past().map(PastRun::epochs).max().unwrap_or(0),
        optimizer_steps: 0,
        best_epoch: 0,
        validated: false,
        seed: config.training.seed,
        ending: Ending::Finished,
        cut_short: false,
        error: None,
        out: Some(out.to_path_buf()),
        version: env!("CARGO_PKG_VERSION"),
        settings: config.resolved(dataset),
        machine: Machine::here(options.threads),
        folds: None,
        members: past().map(member_report).collect(),
    })
}

fn member_report(run: &PastRun) -> MemberReport {
    MemberReport {
        seed: run.settings.training.seed,
        score: run.evaluation.score().1,
        part: run.part.clone(),
        size_kb: run.size_kb,
        train_seconds: run.train_seconds,
    }
}

/// The numbers of the averaged answers on a part that no member was trained on; where there is none, on what they were trained on.
fn measure(
    dataset: &Dataset,
    config: &RunConfig,
    ensemble: &Ensemble,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> Result<(&'static str, Evaluation)> {
    if let Some(test) = dataset.test.as_ref().filter(|_| options.test) {
        return Ok(("test", ensemble.evaluate(test)?));
    }
    if let Some(validation) = dataset.validation.as_ref().filter(|_| !config.training.retrain) {
        return Ok(("validation", ensemble.evaluate(validation)?));
    }
    watcher.warning(
        "the numbers of the ensemble are those of sequences that members were trained on: there are no others, as each member validates with \
         sequences of its own",
    );
    let all = std::iter::once(&dataset.train).chain(&dataset.validation);
    Ok(("train", ensemble.evaluate(View::of_all(all))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{self, OpenOptions};

    fn settings() -> RunConfig {
        let mut config = RunConfig::defaults("japanese-vowels");
        config.set_in_layers("rank", &toml::Value::Integer(2)).unwrap();
        config.set_in_layers("hidden", &toml::Value::Integer(4)).unwrap();
        config.training.epochs = 2;
        config.training.seed = 7;
        config
    }

    fn vowels() -> Dataset {
        data::open("japanese-vowels", &OpenOptions::default()).unwrap()
    }

    fn at(path: &Path) -> Options {
        Options {
            out: Out::At(path.to_path_buf()),
            ..Options::default()
        }
    }

    fn done(ended: Ended) -> Report {
        match ended {
            Ended::Done(report) => *report,
            Ended::Interrupted(_) => panic!("nobody has stopped it"),
        }
    }

    #[test]
    fn members_are_the_runs_of_their_seeds_and_the_report_is_of_their_mean() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("e");
        let dataset = vowels();
        let report = done(train(&dataset, &settings(), 2, &at(&path), &mut ()).unwrap());
        assert_eq!(report.part, "test");
        assert_eq!(
            report.members.iter().map(|member| member.seed).collect::<Vec<_>>(),
            [7, 8]
        );
        let all = Ensemble::load(std::slice::from_ref(&path)).unwrap();
        assert_eq!(all.evaluate(dataset.test.as_ref().unwrap()).unwrap(), report.evaluation);
        assert_eq!(report.parameters, 2 * all.first().model.parameters().len());
        assert_eq!(
            report.size_kb,
            report.members.iter().map(|member| member.size_kb).sum::<f64>()
        );
        for (number, member) in (0..).zip(all.members()) {
            let alone = train::train(
                &dataset,
                &with_seed(&settings(), number + 1),
                &Options::default(),
                &mut (),
            );
            assert!(
                alone.unwrap().model.to_bytes() == member.to_bytes(),
                "member {}",
                number + 1
            );
        }
    }

    #[test]
    fn what_a_member_validates_with_is_no_part_of_the_ensemble() {
        let parent = tempfile::tempdir().unwrap();
        let dataset = Dataset { test: None, ..vowels() };
        let path = parent.path().join("e");
        let report = done(train(&dataset, &settings(), 2, &at(&path), &mut ()).unwrap());
        assert_eq!((report.part, report.evaluation.examples), ("train", 270));
        assert!(report.members.iter().all(|member| member.part == "validation"));
    }

    #[test]
    fn what_cannot_be_an_ensemble_is_refused() {
        let refused = |members, change: fn(&mut RunConfig, &mut Options)| {
            let parent = tempfile::tempdir().unwrap();
            let (mut config, mut options) = (settings(), at(&parent.path().join("e")));
            change(&mut config, &mut options);
            let error = train(&vowels(), &config, members, &options, &mut ()).unwrap_err();
            assert!(!parent.path().join("e").exists());
            error.to_string()
        };
        assert_eq!(refused(1, |_, _| {}), "--ensemble: found 1, expected 2 to 100 members");
        assert!(
            refused(2, |config, _| config.training.from = Some("m".into())).starts_with("from: found m, expected none")
        );
        assert!(refused(2, |_, options| options.out = Out::Nowhere).starts_with("out: found none, expected a folder"));
        assert!(refused(2, |config, _| config.training.seed = i64::MAX as u64).starts_with("seed: found"));
    }
}
