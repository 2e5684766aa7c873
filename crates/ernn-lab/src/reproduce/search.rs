//! The search that the settings of rows come from: a comparison for each row, judged by the validation part.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::plan::{Plan, setting};
use super::runs::{Options, open};
use super::{Experiment, Row};
use crate::compare::{self, Comparison, Table, Watcher};
use ernn::checkpoint::write_with_folder;
use ernn::{Error, Result};

/// The searches of the rows that were asked for.
#[derive(Clone, Debug)]
pub struct Searched {
    /// One a row that has been searched.
    pub rows: Vec<SearchedRow>,
    /// Experiments that could not be searched.
    pub skipped: Vec<String>,
    /// Whether someone asked to stop.
    pub interrupted: bool,
}

/// The search of a row.
#[derive(Clone, Debug, Serialize)]
pub struct SearchedRow {
    /// Name of its experiment.
    pub experiment: String,
    /// Its name.
    pub row: String,
    /// The combinations, the best one first.
    pub table: Table,
}

/// Does the missing runs of this process, and writes the table of each row as `OUT/NAME/search/ROW.csv`; the runs lie in
/// `WORK/NAME/search/ROW`. The test part is not read.
///
/// # Errors
/// If data or a folder is not what the plan asks for, or no row that is asked for has a search.
pub fn search(plan: &Plan, options: &Options, watcher: &mut dyn Watcher) -> Result<Searched> {
    let mut searched = Searched {
        rows: Vec::new(),
        skipped: Vec::new(),
        interrupted: false,
    };
    for (index, experiment) in plan.experiments.iter().enumerate() {
        match search_rows(plan, index, options, watcher, &mut searched) {
            Err(error) if options.skip => {
                watcher.warning(&format!("skipped {}: {error}", experiment.name));
                searched.skipped.push(experiment.name.clone());
            }
            done => done?,
        }
        if searched.interrupted {
            break;
        }
    }
    Ok(searched)
}

/// The searches of an experiment, row by row.
fn search_rows(
    plan: &Plan,
    index: usize,
    options: &Options,
    watcher: &mut dyn Watcher,
    searched: &mut Searched,
) -> Result<()> {
    let experiment = &plan.experiments[index];
    let rows: Vec<&Row> = experiment
        .rows
        .iter()
        .filter(|row| !row.search.vary.is_empty())
        .collect();
    if rows.is_empty() {
        return if options.skip {
            Ok(())
        } else {
            Err(nothing_to_search(experiment))
        };
    }
    let dataset = open(plan, index, options)?;
    let folder = Path::new(&experiment.name).join(if plan.variant.quick { "search-quick" } else { "search" });
    for row in rows {
        let settings = experiment.settings(row, plan.variant, 1);
        let seeds = plan.asked_seeds().unwrap_or(row.search.seeds);
        let own = compare::Plan::search(&row.name, &settings, &row.search.vary, seeds, &dataset)?;
        let own_options = compare::Options {
            shard: options.shard,
            threads: options.threads,
            stop: Arc::clone(&options.stop),
            ..compare::Options::new(options.work.join(&folder).join(&row.name))
        };
        let Comparison { table, interrupted } =
            compare::compare(&dataset, &own, &own_options, watcher).map_err(of_work)?;
        let file = options.out.join(&folder).join(format!("{}.csv", row.name));
        write_with_folder(&file, table.to_csv().as_bytes())?;
        searched.rows.push(SearchedRow {
            experiment: experiment.name.clone(),
            row: row.name.clone(),
            table,
        });
        if interrupted {
            searched.interrupted = true;
            return Ok(());
        }
    }
    Ok(())
}

fn nothing_to_search(experiment: &Experiment) -> Error {
    setting(
        "--search",
        &format!("{}, whose rows vary no setting", experiment.name),
        "an experiment with [search]".to_string(),
    )
}

/// The folder of a comparison is that of the work here.
fn of_work(error: Error) -> Error {
    match error {
        Error::Setting { name, found, expected } if name == "--out" => setting("--work", &found, expected),
        error => error,
    }
}
