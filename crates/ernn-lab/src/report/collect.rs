//! Finds results below some paths and puts them into groups.
//!
//! ```text
//! *.json of ernn reproduce                 a group for each experiment and protocol
//! compare.toml, ROW/seed-N/                a group for each comparison
//! config.toml, result.json                 a run folder: a group for each data set
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use super::group::{Group, GroupRow};
use crate::reproduce::{Curves, ExperimentFiles, Paper, Protocol, RunRecord, Variant};
use crate::reproduce::{confusion_of, pairs_of, timelines_of, validation_of};
use ernn::train::PastRun;
use ernn::{Error, Result};

/// All results below these paths.
///
/// # Errors
/// If a path cannot be read, a file is no result although it says so, or there is no result at all.
pub fn collect(paths: &[PathBuf]) -> Result<Vec<Group>> {
    let mut found = Found::default();
    for path in paths {
        let before = found.runs;
        found.look(path)?;
        if found.runs == before {
            return Err(Error::Format {
                path: path.clone(),
                place: String::new(),
                found: "no result".to_string(),
                expected: "results of ernn reproduce, the folder of a run that has ended, or a comparison".to_string(),
            });
        }
    }
    Ok(found.sorted())
}

#[derive(Default)]
struct Found {
    groups: Vec<Group>,
    runs: usize,
}

impl Found {
    fn look(&mut self, path: &Path) -> Result<()> {
        if path.is_file() {
            return self.result_file(path, true);
        }
        if path.join("compare.toml").is_file() {
            return self.comparison(path);
        }
        if path.join("config.toml").is_file() {
            return self.run_folder(path);
        }
        for entry in entries(path)? {
            if entry.is_dir() && !entry.is_symlink() {
                self.look(&entry)?;
            } else if entry.extension().is_some_and(|extension| extension == "json") {
                self.result_file(&entry, false)?;
            }
        }
        Ok(())
    }

    /// A file that was named must be a result; one that lies about may be anything.
    fn result_file(&mut self, path: &Path, named: bool) -> Result<()> {
        let text = fs::read_to_string(path).map_err(read_error(path))?;
        let claims = text.contains("\"experiment\"") && text.contains("\"history\"");
        if !claims && !named {
            return Ok(());
        }
        let record = RunRecord::parse(&text, path)?;
        let variant = Variant {
            protocol: record.protocol,
            quick: record.quick,
        };
        let key = format!("{}/{variant}", record.experiment);
        let mut notes = vec![format!(
            "Protocol {}: {}.",
            record.protocol.name(),
            record.protocol.meaning()
        )];
        if let Some(table) = &record.table {
            notes.insert(0, format!("The paper's {table}."));
        }
        if record.quick {
            notes.push("Tiny version: these numbers say that it runs, and nothing else.".to_string());
        }
        let row = record.row.clone();
        self.add(&key, record.title.clone(), notes, &row, record);
        Ok(())
    }

    fn comparison(&mut self, path: &Path) -> Result<()> {
        for row in entries(path)?.into_iter().filter(|path| path.is_dir()) {
            for run in entries(&row)?.into_iter().filter(|path| path.is_dir()) {
                if let Some(past) = PastRun::read(&run)? {
                    let title = format!("Comparison on {}", past.dataset);
                    let name = file_name(&row);
                    let key = format!("{}/compare", path.display());
                    let record = record_of(&past, &name, &name);
                    self.add(
                        &key,
                        title,
                        vec![format!("Comparison in {}.", path.display())],
                        &name,
                        record,
                    );
                }
            }
        }
        Ok(())
    }

    fn run_folder(&mut self, path: &Path) -> Result<()> {
        let Some(past) = PastRun::read(path)? else {
            return Ok(()); // It has not ended.
        };
        let name = file_name(path);
        let title = format!("{}, {}", name, past.settings.cell());
        let key = format!("{}/runs", past.dataset);
        let record = record_of(&past, &name, &title);
        let notes = vec!["Runs of their own; they may differ in anything.".to_string()];
        self.add(
            &key,
            format!("Runs on {}", past.dataset),
            notes,
            &path.display().to_string(),
            record,
        );
        Ok(())
    }

    fn add(&mut self, key: &str, title: String, notes: Vec<String>, row: &str, record: RunRecord) {
        self.runs += 1;
        let place = self.groups.iter().position(|group| group.key == key);
        let place = place.unwrap_or_else(|| {
            self.groups.push(Group {
                key: key.to_string(),
                title,
                notes,
                rows: Vec::new(),
            });
            self.groups.len() - 1
        });
        let rows = &mut self.groups[place].rows;
        match rows.iter_mut().find(|known| known.name == row) {
            // The same file, named twice.
            Some(known) if known.runs.contains(&record) => {}
            Some(known) => known.runs.push(record),
            None => rows.push(GroupRow {
                name: row.to_string(),
                runs: vec![record],
            }),
        }
    }

    /// Experiments and rows in the order in which they stand in the tables; everything else by name behind them.
    fn sorted(mut self) -> Vec<Group> {
        let experiments = ExperimentFiles::embedded().read().unwrap_or_default();
        let place = |group: &Group| {
            let name = &group.rows[0].runs[0].experiment;
            experiments.iter().position(|experiment| experiment.name == *name)
        };
        for group in &mut self.groups {
            let order = place(group).map(|index| &experiments[index].rows);
            let row_place = |name: &str| order.and_then(|rows| rows.iter().position(|row| row.name == name));
            group
                .rows
                .sort_by_key(|row| (row_place(&row.name).unwrap_or(usize::MAX), row.name.clone()));
            group
                .rows
                .iter_mut()
                .for_each(|row| row.runs.sort_by_key(|run| run.seed));
        }
        self.groups
            .sort_by_key(|group| (place(group).unwrap_or(usize::MAX), group.key.clone()));
        self.groups
    }
}

/// A run that belongs to no experiment.
fn record_of(past: &PastRun, row: &str, title: &str) -> RunRecord {
    let metric = past.evaluation.score().0;
    let tested = past.is_finished() && past.part == "test";
    let (classes, confusion) = confusion_of(past);
    RunRecord {
        experiment: String::new(),
        title: String::new(),
        table: None,
        row: row.to_string(),
        row_title: title.to_string(),
        protocol: if past.settings.training.retrain {
            Protocol::Paper
        } else {
            Protocol::Honest
        },
        quick: false,
        seed: past.settings.training.seed,
        metric,
        test: tested.then(|| metric.of_evaluation(&past.evaluation)),
        validation: validation_of(past, metric),
        paper: Paper::default(),
        cut_short: !past.is_finished(),
        ending: past.ending,
        error: past.error.clone(),
        epochs: past.epochs(),
        best_epoch: past.best_epoch,
        parameters: past.parameters,
        embedding_parameters: past.embedding_parameters,
        size_kb: past.size_kb,
        train_seconds: past.train_seconds,
        seconds_to_best: past.seconds_to_best(),
        latency_milliseconds: None,
        dataset: past.dataset.clone(),
        fingerprint: String::new(),
        revision: None,
        version: past.version.clone(),
        machine: past.machine.clone(),
        settings: past.settings.portable(),
        classes,
        confusion,
        pairs: pairs_of(past),
        timelines: timelines_of(past),
        history: Curves::of(past, metric),
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(read_error(folder))?;
    let paths = entries.map(|entry| Ok(entry.map_err(read_error(folder))?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn read_error(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Io {
        path,
        action: "read",
        source,
    }
}
