//! From a plan to its table: the missing runs of this process, then what lies in the folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::difference::{self, Pairs};
use super::folder::{self, Folder};
use super::table::{Best, Table, TableRow};
use super::{Part, Plan, PlannedRun, RunDone, Shard, Start, Watcher, latency, picture};
use ernn::data::{Dataset, Scheme};
use ernn::folds;
use ernn::train::{self, BatchProgress, Ending, Observer, PastRun, RunFolder, available_threads};
use ernn::{Error, Result};

/// What does not change the result of a comparison.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder.
    pub out: PathBuf,
    /// The runs of this process.
    pub shard: Shard,
    /// Threads that compute.
    pub threads: usize,
    /// Set it to true to stop after the batch under way.
    pub stop: Arc<AtomicBool>,
}

impl Options {
    /// All runs with all threads, in this folder.
    pub fn new(out: PathBuf) -> Self {
        Options {
            out,
            shard: Shard::default(),
            threads: available_threads(),
            stop: Arc::default(),
        }
    }
}

/// `runs/DATASET-compare`: the same name each time, so that the same command goes on with the same comparison.
pub fn default_folder(source: &str) -> PathBuf {
    Path::new("runs").join(format!("{}-compare", train::file_stem(ernn::data::plain_name(source))))
}

/// A comparison as far as it has come.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The numbers of all runs that have ended, in whatever process.
    pub table: Table,
    /// Whether someone asked to stop.
    pub interrupted: bool,
}

/// Does the missing runs of this process, and writes the table of all that have ended. A run that diverges is counted, and the
/// others go on.
pub fn compare(dataset: &Dataset, plan: &Plan, options: &Options, watcher: &mut dyn Watcher) -> Result<Comparison> {
    let process = Process {
        dataset,
        plan,
        options,
        folder: Folder::open(&options.out, plan)?,
    };
    let interrupted = !process.train(watcher)?;
    Ok(Comparison {
        table: process.write()?,
        interrupted,
    })
}

/// One process and the folder that it may share.
struct Process<'a> {
    dataset: &'a Dataset,
    plan: &'a Plan,
    options: &'a Options,
    folder: Folder,
}

impl Process<'_> {
    /// The missing runs of this process; false if it was stopped before their end.
    fn train(&self, watcher: &mut dyn Watcher) -> Result<bool> {
        let began = Instant::now();
        let runs = self.plan.runs(self.options.shard);
        let mut missing = Vec::new();
        for &run in &runs {
            if self.folder.ended(self.plan, run)?.is_none() {
                missing.push(run);
            }
        }
        let mut ended = runs.len() - missing.len();
        watcher.started(&Start {
            rows: self.plan.rows.len(),
            runs: runs.len(),
            ended,
            out: &self.folder.path,
        });
        for run in missing {
            let name = self.plan.run_name(run);
            match self.one_run(run, watcher)? {
                OneRun::Ended(past) => {
                    ended += 1;
                    watcher.run_done(&RunDone {
                        name: &name,
                        run: &past,
                        ended,
                        runs: runs.len(),
                        seconds: began.elapsed().as_secs_f64(),
                    });
                }
                OneRun::Taken => watcher.run_taken(&name),
                OneRun::Interrupted => return Ok(false),
            }
        }
        Ok(true)
    }

    fn one_run(&self, run: PlannedRun, watcher: &mut dyn Watcher) -> Result<OneRun> {
        if self.options.stop.load(Ordering::Relaxed) {
            return Ok(OneRun::Interrupted);
        }
        let path = self.folder.run_path(self.plan, run);
        let Some(folder) = RunFolder::enter(&path)? else {
            return Ok(OneRun::Taken);
        };
        // Another process may have done it since the folder was looked at.
        if let Some(past) = self.folder.ended(self.plan, run)? {
            return Ok(OneRun::Ended(Box::new(past)));
        }
        let settings = self.plan.settings(run);
        if folder.has_checkpoint() && folder.read_config()?.portable().asked() != settings.asked() {
            return Err(folder::other_settings(&path));
        }
        let options = train::Options {
            threads: self.options.threads,
            test: self.plan.part == Part::Test,
            stop: Arc::clone(&self.options.stop),
            ..train::Options::default()
        };
        let mut seen = Seen {
            name: self.plan.run_name(run),
            passes: settings.training.passes(),
            watcher,
        };
        if let Some(scheme) = self.plan.folds {
            folds::in_folder(self.dataset, &settings, scheme, folder, &options, &mut seen)?;
            let past = self.folder.ended(self.plan, run)?;
            return Ok(past.map_or(OneRun::Interrupted, |past| OneRun::Ended(Box::new(past))));
        }
        match train::resume(self.dataset, &settings, folder, &options, &mut seen) {
            Ok(outcome) if outcome.report.ending == Ending::Interrupted => return Ok(OneRun::Interrupted),
            // One that diverged has left its report as well.
            Ok(_) | Err(Error::NotFinite { .. }) => {}
            Err(error) => return Err(error),
        }
        let past = self.folder.ended(self.plan, run)?;
        Ok(past.map_or(OneRun::Interrupted, |past| OneRun::Ended(Box::new(past))))
    }

    /// Collects what has ended, whoever did it, and writes table and picture.
    fn write(&self) -> Result<Table> {
        let _lock = self.folder.lock()?;
        let mut ended = Vec::new();
        let mut rows = Vec::new();
        for (index, row) in self.plan.rows.iter().enumerate() {
            let runs = self.ended_runs(index)?;
            let latency = self.latency(index, &runs)?;
            let past: Vec<PastRun> = runs.into_iter().map(|(_, past)| past).collect();
            rows.push(TableRow::new(row, &past, self.plan.seeds.len(), latency));
            ended.push(past);
        }
        let first = ended.iter().flatten().find(|run| run.is_finished());
        let mut table = Table {
            dataset: self.plan.dataset.clone(),
            part: first.map(|run| run.part.clone()),
            seeds: self.plan.seeds.clone(),
            complete: rows.iter().all(|row| row.complete),
            rows,
            best: Vec::new(),
            pairs: self.pairs(),
        };
        difference::to_the_best(&mut table);
        if !self.plan.rows.iter().all(|row| row.varied.is_empty()) {
            table.sort();
            table.best = self.write_best(&table)?;
        }
        let picture = picture::draw(&self.plan.rows, &ended);
        self.folder.write("curves.svg", &picture)?;
        self.folder.write("compare.csv", &table.to_csv())?;
        let markdown = format!("{}\n![Learning curves](curves.svg)\n", table.to_markdown());
        self.folder.write("compare.md", &markdown)?;
        self.folder.write("compare.tex", &table.to_latex())?;
        Ok(table)
    }

    /// How the runs of two rows belong together, and how much they have in common.
    fn pairs(&self) -> Pairs {
        let share = |held: f64| held / (1.0 - held);
        let settings = &self.plan.rows[0].settings;
        match (self.plan.part, self.plan.folds) {
            (_, Some(Scheme::Number(number))) => Pairs::folds(share(1.0 / number as f64)),
            (_, Some(Scheme::Groups)) => {
                let groups: BTreeSet<u32> = self.dataset.train.groups.iter().copied().collect();
                Pairs::folds(share(1.0 / groups.len().max(2) as f64))
            }
            (Part::Validation, None) if self.dataset.validation.is_none() => {
                Pairs::splits(share(settings.training.validation))
            }
            _ => Pairs::seeds(),
        }
    }

    /// The settings of the best row of each kind, each in a file that `ernn train --config` reads.
    fn write_best(&self, sorted: &Table) -> Result<Vec<Best>> {
        let mut found: Vec<Best> = Vec::new();
        for scored in sorted.rows.iter().filter(|row| row.score.is_some()) {
            let row = self.plan.rows.iter().find(|row| row.name == scored.name);
            let Some(row) = row.filter(|row| found.iter().all(|best| best.kind != row.kind)) else {
                continue;
            };
            let best = Best {
                kind: row.kind.clone(),
                row: row.name.clone(),
                file: format!("best/{}.toml", row.kind),
            };
            self.folder.write(&best.file, &row.settings.to_portable_toml())?;
            found.push(best);
        }
        Ok(found)
    }

    fn ended_runs(&self, row: usize) -> Result<Vec<(PlannedRun, PastRun)>> {
        let runs = self.plan.seeds.iter().map(|&seed| PlannedRun { row, seed });
        let ended = runs.map(|run| Ok(self.folder.ended(self.plan, run)?.map(|past| (run, past))));
        ended.filter_map(Result::transpose).collect()
    }

    /// The stored latency of a row, or that of its first finished run. Who asked to stop does not wait for a measurement.
    fn latency(&self, row: usize, runs: &[(PlannedRun, PastRun)]) -> Result<Option<f64>> {
        let path = self.folder.path.join(&self.plan.rows[row].name);
        let stored = latency::stored(&path);
        let finished = runs.iter().find(|(_, past)| past.is_finished());
        match finished {
            Some((run, _)) if stored.is_none() && !self.options.stop.load(Ordering::Relaxed) => {
                latency::measure(&path, &self.folder.model_path(self.plan, *run), self.dataset)?;
                Ok(latency::stored(&path))
            }
            _ => Ok(stored),
        }
    }
}

/// What became of one missing run.
enum OneRun {
    Ended(Box<PastRun>),
    Taken,
    Interrupted,
}

/// Of a run only warnings are said here, and how far it is.
struct Seen<'a> {
    name: String,
    passes: usize,
    watcher: &'a mut dyn Watcher,
}

impl folds::Watcher for Seen<'_> {
    fn warning(&mut self, text: &str) {
        self.watcher.warning(text);
    }
}

impl Observer for Seen<'_> {
    fn batch_done(&mut self, progress: &BatchProgress) {
        self.watcher.under_way(&self.name, progress.share(self.passes));
    }

    fn warning(&mut self, text: &str) {
        self.watcher.warning(text);
    }
}
