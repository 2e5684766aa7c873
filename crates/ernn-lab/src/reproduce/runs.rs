//! From a plan to results: the missing runs of this process, each through `train`, and a result file for each.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use toml::Value;

use super::plan::{Plan, PlannedRun, setting};
use super::record::{self, Curves};
use super::revision::revision;
use super::{RunDone, RunRecord, Start, Table, Watcher, limited};
use crate::compare::{Shard, latency};
use ernn::cell::CellConfig;
use ernn::checkpoint::EpochRecord;
use ernn::data::{self, Dataset, OpenOptions};
use ernn::train::{self, BatchProgress, Ending, Observer, PastRun, RunConfig, RunFolder, available_threads};
use ernn::{Error, Result};

/// What does not change results.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the result files.
    pub out: PathBuf,
    /// The folder of checkpoints and models.
    pub work: PathBuf,
    /// Where data is looked for.
    pub data_dir: Option<PathBuf>,
    /// The runs of this process.
    pub shard: Shard,
    /// Training time that a run may take in all, resumed pieces included.
    pub time_limit: Option<Duration>,
    /// Threads that compute.
    pub threads: usize,
    /// Whether an experiment that cannot be run is skipped instead of being an error.
    pub skip: bool,
    /// Set it to true to stop after the batch under way.
    pub stop: Arc<AtomicBool>,
}

impl Options {
    /// All runs with all threads, in these folders.
    pub fn new(out: PathBuf, work: PathBuf) -> Self {
        Options {
            out,
            work,
            data_dir: None,
            shard: Shard::default(),
            time_limit: None,
            threads: available_threads(),
            skip: false,
            stop: Arc::default(),
        }
    }
}

/// What became of a plan.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// One an experiment, from all result files that are there.
    pub tables: Vec<Table>,
    /// Experiments that could not be run.
    pub skipped: Vec<String>,
    /// Whether someone asked to stop.
    pub interrupted: bool,
}

/// Does the missing runs of this process. A run that diverges is written down, and the others go on.
///
/// # Errors
/// If data, a result file or a work folder is not what the plan asks for.
pub fn reproduce(plan: &Plan, options: &Options, watcher: &mut dyn Watcher) -> Result<Reproduction> {
    let mut process = Process {
        plan,
        options,
        data: None,
        skipped: Vec::new(),
        revision: revision(),
    };
    let interrupted = !process.train(watcher)?;
    let mut tables = Vec::new();
    for (index, experiment) in plan.experiments.iter().enumerate() {
        if !process.skipped.contains(&index) {
            let (records, seeds) = (process.records(index)?, plan.seeds(experiment));
            tables.push(Table::new(experiment, plan.variant, seeds, &records));
        }
    }
    let name = |&index: &usize| plan.experiments[index].name.clone();
    Ok(Reproduction {
        tables,
        skipped: process.skipped.iter().map(name).collect(),
        interrupted,
    })
}

/// The data of an experiment; little of it for the tiny version.
pub(super) fn open(plan: &Plan, experiment: usize, options: &Options) -> Result<Dataset> {
    let experiment = &plan.experiments[experiment];
    let settings = &experiment.rows[0].settings;
    let dataset = data::open(
        &data::as_known(&settings.data.source),
        &OpenOptions {
            data_dir: options.data_dir.clone(),
            ..settings.data.options()
        },
    )?;
    Ok(match plan.variant.quick {
        true => limited(dataset, experiment.quick.limit),
        false => dataset,
    })
}

struct Process<'a> {
    plan: &'a Plan,
    options: &'a Options,
    /// The data that was read last, with the index of its experiment.
    data: Option<(usize, Dataset)>,
    /// Indices of experiments that cannot be run.
    skipped: Vec<usize>,
    revision: Option<String>,
}

impl Process<'_> {
    /// The missing runs of this process; false if it was stopped before their end.
    fn train(&mut self, watcher: &mut dyn Watcher) -> Result<bool> {
        let began = Instant::now();
        let runs = self.plan.runs(self.options.shard);
        let mut missing = Vec::new();
        for &run in &runs {
            match self.over(run) {
                Ok(None) => missing.push(run),
                Ok(Some(_)) => {}
                Err(error) => self.skip(run, error, watcher)?,
            }
        }
        let mut done = runs.len() - missing.len();
        watcher.started(&Start {
            runs: runs.len(),
            over: done,
            out: &self.options.out,
        });
        for run in missing {
            if self.skipped.contains(&run.experiment) {
                continue;
            }
            let name = self.plan.run_name(run);
            match self.one_run(run, &name, watcher) {
                Ok(OneRun::Done(record)) => {
                    done += 1;
                    watcher.run_done(&RunDone {
                        name: &name,
                        record: &record,
                        done,
                        runs: runs.len(),
                        seconds: began.elapsed().as_secs_f64(),
                    });
                }
                Ok(OneRun::Taken) => watcher.run_taken(&name),
                Ok(OneRun::Interrupted) => return Ok(false),
                Err(error) => self.skip(run, error, watcher)?,
            }
        }
        Ok(true)
    }

    /// Leaves an experiment out and says why, or gives the error back if there is no other to go on with.
    fn skip(&mut self, run: PlannedRun, error: Error, watcher: &mut dyn Watcher) -> Result<()> {
        if !self.options.skip {
            return Err(error);
        }
        if !self.skipped.contains(&run.experiment) {
            self.skipped.push(run.experiment);
            watcher.skipped(&self.plan.experiments[run.experiment].name, &error.to_string());
        }
        Ok(())
    }

    fn result_path(&self, run: PlannedRun) -> PathBuf {
        self.options.out.join(format!("{}.json", self.plan.run_name(run)))
    }

    /// What there is of a run; a result of other settings is refused.
    fn result(&self, run: PlannedRun) -> Result<Option<RunRecord>> {
        let path = self.result_path(run);
        let record = RunRecord::read(&path)?;
        let asked = without_steps(&self.plan.settings(run));
        let differs = record
            .as_ref()
            .is_some_and(|record| without_steps(&record.settings) != asked);
        if differs {
            return Err(setting(
                "--out",
                &format!("{}, a result of other settings", path.display()),
                "results of the experiment as it is now; move the old ones away".to_string(),
            ));
        }
        Ok(record)
    }

    /// The result of a run that needs nothing more: it is over, or has had all the time that it may have.
    fn over(&self, run: PlannedRun) -> Result<Option<RunRecord>> {
        let limit = self.options.time_limit;
        let spent = |record: &RunRecord| limit.is_some_and(|limit| record.train_seconds >= limit.as_secs_f64());
        let record = self.result(run)?;
        Ok(record.filter(|record| record.is_over() || spent(record)))
    }

    /// The results of an experiment, whoever made them.
    fn records(&self, experiment: usize) -> Result<Vec<RunRecord>> {
        let runs = self.plan.runs(Shard::default()).into_iter();
        let own = runs.filter(|run| run.experiment == experiment);
        own.filter_map(|run| self.result(run).transpose()).collect()
    }

    fn one_run(&mut self, run: PlannedRun, name: &str, watcher: &mut dyn Watcher) -> Result<OneRun> {
        if self.options.stop.load(Ordering::Relaxed) {
            return Ok(OneRun::Interrupted);
        }
        self.open(run)?;
        let dataset = &self.data.as_ref().expect("just opened").1;
        let settings = self.plan.settings(run).resolved(dataset);
        let path = self.options.work.join(name);
        let Some(folder) = RunFolder::enter(&path)? else {
            return Ok(OneRun::Taken);
        };
        // Another process may have done it since the folder was looked at.
        if let Some(record) = self.over(run)? {
            return Ok(OneRun::Done(Box::new(record)));
        }
        if folder.has_checkpoint() && folder.read_config()?.portable().asked() != settings.portable().asked() {
            return Err(setting(
                "--work",
                &format!("{}, a run with other settings", path.display()),
                "a run of the experiment as it is now; remove the old one".to_string(),
            ));
        }
        let mut clock = Clock {
            passes: settings.training.passes(),
            ..Clock::new(name, watcher, &self.options.stop, self.limit(&path))
        };
        let options = train::Options {
            threads: self.options.threads,
            stop: Arc::clone(&clock.stop),
            ..train::Options::default()
        };
        match train::resume(dataset, &settings, folder, &options, &mut clock) {
            Ok(outcome) if outcome.report.ending == Ending::Interrupted && !clock.late => {
                return Ok(OneRun::Interrupted);
            }
            // One that diverged has left its report as well.
            Ok(_) | Err(Error::NotFinite { .. }) => {}
            Err(error) => return Err(error),
        }
        let Some(past) = PastRun::read(&path)? else {
            return Ok(OneRun::Interrupted);
        };
        let record = self.record(run, &past, latency(&path, &past, dataset)?, dataset);
        record.write(&self.result_path(run))?;
        Ok(OneRun::Done(Box::new(record)))
    }

    /// What is left of the time of a run; whole epochs of earlier pieces count.
    fn limit(&self, path: &Path) -> Option<Duration> {
        let spent = seconds_in(path);
        self.options
            .time_limit
            .map(|limit| limit.saturating_sub(Duration::from_secs_f64(spent)))
    }

    /// Reads the data of a run, unless it is that of the run before.
    fn open(&mut self, run: PlannedRun) -> Result<()> {
        if self.data.as_ref().is_some_and(|(of, _)| *of == run.experiment) {
            return Ok(());
        }
        self.data = None;
        let dataset = open(self.plan, run.experiment, self.options)?;
        self.data = Some((run.experiment, dataset));
        Ok(())
    }

    fn record(&self, run: PlannedRun, past: &PastRun, latency: Option<f64>, dataset: &Dataset) -> RunRecord {
        let (experiment, row) = self.plan.row(run);
        let metric = experiment.metric;
        let measured = metric.of_evaluation(&past.evaluation);
        let tested = past.is_finished() && past.part == "test";
        let (classes, confusion) = if tested {
            record::confusion(past)
        } else {
            Default::default()
        };
        RunRecord {
            experiment: experiment.name.clone(),
            title: experiment.title.clone(),
            table: experiment.table.clone(),
            row: row.name.clone(),
            row_title: row.title.clone(),
            protocol: self.plan.variant.protocol,
            quick: self.plan.variant.quick,
            seed: run.seed,
            metric,
            test: tested.then_some(measured),
            validation: record::validation(past, metric),
            paper: row.paper.clone(),
            cut_short: !past.is_finished(),
            ending: past.ending,
            error: past.error.clone(),
            epochs: record::epochs(past),
            best_epoch: past.best_epoch,
            parameters: past.parameters,
            embedding_parameters: past.embedding_parameters,
            size_kb: past.size_kb,
            train_seconds: past.train_seconds,
            seconds_to_best: past.seconds_to_best(),
            latency_milliseconds: latency,
            dataset: past.dataset.clone(),
            fingerprint: train::fingerprint(dataset),
            revision: self.revision.clone(),
            version: past.version.clone(),
            machine: past.machine.clone(),
            settings: past.settings.portable(),
            classes,
            confusion,
            pairs: record::pairs(past),
            timelines: record::timelines(past),
            history: Curves::of(past, metric),
        }
    }
}

/// What became of one missing run.
enum OneRun {
    Done(Box<RunRecord>),
    Taken,
    Interrupted,
}

/// The time of one sequence, measured once a row.
fn latency(run: &Path, past: &PastRun, dataset: &Dataset) -> Result<Option<f64>> {
    let row = run.parent().expect("a run lies in the folder of its row");
    if latency::stored(row).is_none() && past.is_finished() {
        latency::measure(row, run, dataset)?;
    }
    Ok(latency::stored(row))
}

/// Wall time of the epochs that a work folder tells of.
fn seconds_in(path: &Path) -> f64 {
    let lines = fs::read_to_string(path.join("metrics.jsonl")).unwrap_or_default();
    let records = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<EpochRecord>(line).ok());
    records.map(|record| record.seconds).sum()
}

/// Settings without what follows from the data: they can be compared before it is read.
fn without_steps(settings: &RunConfig) -> RunConfig {
    let mut settings = settings.portable().asked();
    if settings.has_in_layers("max_steps") {
        let one = Value::Integer(1);
        settings
            .set_in_layers("max_steps", &one)
            .expect("a length that every cell takes");
    }
    let hidden = settings.model.layers.first().map_or(0, CellConfig::hidden);
    let embedding = settings.model.embedding.get_or_insert_default();
    if embedding.size == 0 {
        embedding.size = hidden;
    }
    settings
}

/// Stops a run when its time is over or someone asks for it, and hands on what it says.
struct Clock<'a> {
    name: &'a str,
    /// Of this run.
    passes: usize,
    watcher: &'a mut dyn Watcher,
    /// Of the whole process.
    asked: &'a AtomicBool,
    /// Of this run.
    stop: Arc<AtomicBool>,
    end: Option<Instant>,
    /// Whether the time was over before anyone asked to stop.
    late: bool,
}

impl<'a> Clock<'a> {
    fn new(name: &'a str, watcher: &'a mut dyn Watcher, asked: &'a AtomicBool, left: Option<Duration>) -> Self {
        Clock {
            name,
            passes: 1,
            watcher,
            asked,
            stop: Arc::default(),
            end: left.map(|left| Instant::now() + left),
            late: false,
        }
    }
}

impl Observer for Clock<'_> {
    fn batch_done(&mut self, progress: &BatchProgress) {
        self.watcher.under_way(self.name, progress.share(self.passes));
        let asked = self.asked.load(Ordering::Relaxed);
        let late = self.end.is_some_and(|end| Instant::now() >= end);
        if (asked || late) && !self.stop.swap(true, Ordering::Relaxed) {
            self.late = !asked;
        }
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.watcher.epoch_done(self.name, record);
    }

    fn warning(&mut self, text: &str) {
        self.watcher.warning(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ernn::data::{Dataset, Part};

    #[test]
    fn what_follows_from_the_data_makes_no_other_settings() {
        let settings = RunConfig::defaults("a text of one's own");
        let text = Dataset {
            train: Part::of_tokens(vec![0, 1, 2], vec![0, 3], Vec::new()),
            ..Dataset::default()
        };
        let resolved = settings.resolved(&text);
        assert_ne!(resolved, settings);
        assert_eq!(without_steps(&resolved), without_steps(&settings));
        let mut other = settings.clone();
        other.model.embedding.get_or_insert_default().tied = true;
        assert_ne!(without_steps(&other), without_steps(&settings));
    }
}
