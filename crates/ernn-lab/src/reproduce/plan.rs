//! What is to be run, most valuable first: ERNN of every experiment, then the strongest baselines, then the rest.

use super::{Experiment, Row, Variant};
use crate::compare::Shard;
use ernn::train::RunConfig;
use ernn::{Error, Result};

/// Baselines of an experiment that count as its strongest.
const STRONGEST: usize = 2;
const MOST_SEEDS: usize = 100;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Names of rows; empty: all.
    pub rows: Vec<String>,
    /// Seeds of each row, from 1 on; none: as the experiment says.
    pub seeds: Option<usize>,
    /// Protocol, in full or quick.
    pub variant: Variant,
}

/// How soon a row is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// ERNN.
    Ernn,
    /// The baselines with the paper's best figures.
    Strongest,
    /// All others.
    Rest,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Index of its experiment.
    pub experiment: usize,
    /// Index of its row.
    pub row: usize,
    /// Its seed.
    pub seed: u64,
}

/// Experiments and the runs that are asked for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The experiments, with the rows that are asked for.
    pub experiments: Vec<Experiment>,
    /// Protocol, in full or quick.
    pub variant: Variant,
    seeds: Option<usize>,
}

impl Plan {
    /// The rows of these experiments that are asked for.
    ///
    /// # Errors
    /// If no experiment has a row of a name, or the number of seeds is out of range.
    pub fn new(mut experiments: Vec<Experiment>, selection: &Selection) -> Result<Self> {
        if let Some(seeds) = selection.seeds.filter(|seeds| !(1..=MOST_SEEDS).contains(seeds)) {
            return Err(setting("--seeds", &seeds.to_string(), format!("1 to {MOST_SEEDS}")));
        }
        for name in &selection.rows {
            let has = |experiment: &Experiment| experiment.rows.iter().any(|row| row.name == *name);
            if !experiments.iter().any(has) {
                return Err(setting(
                    "--rows",
                    name,
                    format!("names of rows: {}", names(&experiments)),
                ));
            }
        }
        if !selection.rows.is_empty() {
            for experiment in &mut experiments {
                experiment.rows.retain(|row| selection.rows.contains(&row.name));
            }
            experiments.retain(|experiment| !experiment.rows.is_empty());
        }
        Ok(Plan {
            experiments,
            variant: selection.variant,
            seeds: selection.seeds,
        })
    }

    /// Seeds of an experiment.
    pub fn seeds(&self, experiment: &Experiment) -> usize {
        let own = if self.variant.quick {
            experiment.quick.seeds
        } else {
            experiment.seeds
        };
        self.seeds.unwrap_or(own)
    }

    /// The number of seeds that was asked for.
    pub(super) fn asked_seeds(&self) -> Option<usize> {
        self.seeds
    }

    /// The runs of one process. Runs are dealt out in turns, so that every process has its share of the rows that take long. The tiny
    /// versions go experiment by experiment: to read the data takes longer than they do.
    pub fn runs(&self, shard: Shard) -> Vec<PlannedRun> {
        let mut all = Vec::new();
        for (index, experiment) in self.experiments.iter().enumerate() {
            for (row, stage) in stages(experiment).into_iter().enumerate() {
                for seed in 1..=self.seeds(experiment) as u64 {
                    let run = PlannedRun {
                        experiment: index,
                        row,
                        seed,
                    };
                    all.push((stage, seed, run));
                }
            }
        }
        let data = |run: PlannedRun| if self.variant.quick { run.experiment } else { 0 };
        all.sort_by_key(|&(stage, seed, run)| (data(run), stage, seed, run.experiment, run.row));
        let own = all.into_iter().enumerate().filter(|(index, _)| shard.holds(*index));
        own.map(|(_, (_, _, run))| run).collect()
    }

    /// The experiment and the row of a run.
    pub fn row(&self, run: PlannedRun) -> (&Experiment, &Row) {
        let experiment = &self.experiments[run.experiment];
        (experiment, &experiment.rows[run.row])
    }

    /// The settings of a run.
    pub fn settings(&self, run: PlannedRun) -> RunConfig {
        let (experiment, row) = self.row(run);
        experiment.settings(row, self.variant, run.seed)
    }

    /// `NAME/VARIANT/ROW/seed-N`: its place below the folder of results and that of the work.
    pub fn run_name(&self, run: PlannedRun) -> String {
        let (experiment, row) = self.row(run);
        format!("{}/{}/{}/seed-{}", experiment.name, self.variant, row.name, run.seed)
    }
}

/// The stage of each row.
fn stages(experiment: &Experiment) -> Vec<Stage> {
    let is_ernn = |row: &Row| row.settings.cell() == "ernn";
    let figure = |row: &Row| row.paper.figure(experiment.metric);
    let baselines = experiment.rows.iter().filter(|row| !is_ernn(row));
    let mut figures: Vec<f64> = baselines.filter_map(figure).collect();
    figures.sort_by(f64::total_cmp);
    if experiment.metric.higher_is_better() {
        figures.reverse();
    }
    let strongest = &figures[..figures.len().min(STRONGEST)];
    let stage = |row: &Row| match figure(row) {
        _ if is_ernn(row) => Stage::Ernn,
        Some(figure) if strongest.contains(&figure) => Stage::Strongest,
        _ => Stage::Rest,
    };
    experiment.rows.iter().map(stage).collect()
}

fn names(experiments: &[Experiment]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in experiments.iter().flat_map(|experiment| &experiment.rows) {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    names.join(", ")
}

pub(super) fn setting(name: &str, found: &str, expected: String) -> Error {
    Error::Setting {
        name: name.to_string(),
        found: found.to_string(),
        expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::ExperimentFiles;

    fn har() -> Experiment {
        let experiments = ExperimentFiles::embedded().read().unwrap();
        experiments
            .into_iter()
            .find(|experiment| experiment.name == "har-2")
            .unwrap()
    }

    #[test]
    fn ernn_comes_first_and_then_the_strongest_baselines() {
        let plan = Plan::new(vec![har()], &Selection::default()).unwrap();
        let names: Vec<&str> = plan
            .runs(Shard::default())
            .into_iter()
            .map(|run| plan.row(run).1.name.as_str())
            .collect();
        let (rows, seeds) = (har().rows, har().seeds);
        assert_eq!(names.len(), seeds * rows.len());
        let ours = seeds * rows.iter().filter(|row| row.name.starts_with("ernn-")).count();
        assert!(
            ours > 0 && names[..ours].iter().all(|name| name.starts_with("ernn-")),
            "{names:?}"
        );
        let mut strongest = names[ours..ours + 2 * seeds].to_vec();
        strongest.sort();
        strongest.dedup();
        assert_eq!(strongest, ["fastgrnn", "spectral"]);
    }

    #[test]
    fn tiny_versions_go_experiment_by_experiment() {
        let experiments = ExperimentFiles::embedded().read().unwrap();
        let count = experiments.len();
        let quick = Selection {
            variant: Variant {
                quick: true,
                ..Variant::default()
            },
            ..Selection::default()
        };
        let plan = Plan::new(experiments, &quick).unwrap();
        for shard in ["1/1", "2/2"] {
            let mut order: Vec<usize> = plan
                .runs(shard.parse().unwrap())
                .iter()
                .map(|run| run.experiment)
                .collect();
            order.dedup();
            assert_eq!(order, (0..count).collect::<Vec<_>>(), "{shard}");
        }
    }

    #[test]
    fn every_run_is_in_one_shard() {
        let plan = Plan::new(vec![har()], &Selection::default()).unwrap();
        let mut shared: Vec<String> = Vec::new();
        for shard in ["1/3", "2/3", "3/3"] {
            shared.extend(
                plan.runs(shard.parse().unwrap())
                    .into_iter()
                    .map(|run| plan.run_name(run)),
            );
        }
        let mut all: Vec<String> = plan
            .runs(Shard::default())
            .into_iter()
            .map(|run| plan.run_name(run))
            .collect();
        shared.sort();
        all.sort();
        assert_eq!(shared, all);
    }

    #[test]
    fn rows_are_chosen_by_name_and_unknown_ones_refused() {
        let rows = |names: &[&str]| Selection {
            rows: names.iter().map(ToString::to_string).collect(),
            ..Selection::default()
        };
        let plan = Plan::new(vec![har()], &rows(&["lstm"])).unwrap();
        assert_eq!(plan.experiments[0].rows.len(), 1);
        let error = Plan::new(vec![har()], &rows(&["lstm", "elman"]))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("--rows: found elman") && error.contains("ernn-k1"),
            "{error}"
        );
    }

    #[test]
    fn a_protocol_is_a_change_of_the_settings() {
        let experiment = har();
        let of = |protocol, quick| experiment.settings(&experiment.rows[0], Variant { protocol, quick }, 7);
        use crate::reproduce::Protocol::{Honest, Paper};
        assert!(!of(Honest, false).training.retrain && of(Paper, false).training.retrain);
        assert_eq!(of(Paper, false).training.validation, 0.2);
        assert_eq!(of(Honest, true).training.epochs, experiment.quick.epochs);
        assert_eq!(of(Honest, true).training.seed, 7);
    }
}
