//! Time to accuracy: seconds of training until the validation part first shows a level.

use super::group::{Group, GroupRow};
use crate::compare::Spread;
use crate::reproduce::RunRecord;
use ernn::evaluate::Metric;

/// Levels as parts of the way to the best row: of its accuracy, or multiples of what should be low.
const HIGH: [f64; 3] = [0.9, 0.95, 0.99];
const LOW: [f64; 3] = [1.5, 1.2, 1.05];

/// Levels and, for each row, the mean seconds to each; none where not all of its runs reach it.
pub(super) struct Speed {
    /// As shown.
    pub levels: Vec<f64>,
    pub rows: Vec<Vec<Option<f64>>>,
}

impl Speed {
    /// None if no row has been validated.
    pub fn of(group: &Group) -> Option<Self> {
        let metric = group.metric();
        let all = group.rows.iter().flat_map(GroupRow::sound_runs);
        let best = all
            .flat_map(|run| &run.history.validation)
            .copied()
            .reduce(|a, b| better(metric, a, b))?;
        let factors = if metric.higher_is_better() { HIGH } else { LOW };
        let levels = factors.map(|factor| factor * best);
        let seconds = |row: &GroupRow, level: f64| {
            let times: Option<Vec<f64>> = row.sound_runs().map(|run| seconds_to(run, metric, level)).collect();
            Spread::of(&times?).map(|spread| spread.mean)
        };
        let rows = group.rows.iter();
        Some(Speed {
            levels: levels.map(|level| metric.shown(level)).to_vec(),
            rows: rows
                .map(|row| levels.iter().map(|&level| seconds(row, level)).collect())
                .collect(),
        })
    }
}

fn better(metric: Metric, a: f64, b: f64) -> f64 {
    if metric.higher_is_better() { a.max(b) } else { a.min(b) }
}

fn seconds_to(run: &RunRecord, metric: Metric, level: f64) -> Option<f64> {
    let reached = |&value: &f64| {
        if metric.higher_is_better() {
            value >= level
        } else {
            value <= level
        }
    };
    let epoch = run.history.validation.iter().position(reached)?;
    Some(run.history.seconds.iter().take(epoch + 1).sum())
}

/// The best value so far of the row's first sound run, against the seconds of training.
pub(super) fn course(row: &GroupRow, metric: Metric) -> Vec<(f64, f64)> {
    let Some(run) = row.sound_runs().next() else {
        return Vec::new();
    };
    let mut seconds = 0.0;
    let mut best: Option<f64> = None;
    let epochs = run.history.validation.iter().zip(&run.history.seconds);
    let point = |(&value, time): (&f64, &f64)| {
        seconds += time;
        let so_far = best.map_or(value, |best| better(metric, best, value));
        best = Some(so_far);
        (seconds, metric.shown(so_far))
    };
    epochs.map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::{group, run};
    use super::*;

    #[test]
    fn seconds_to_a_level_are_a_mean_over_runs_that_all_reach_it() {
        let fast = vec![run("fast", 1, &[0.91, 1.0]), run("fast", 2, &[0.5, 0.92, 0.995])];
        let slow = vec![run("slow", 1, &[0.1, 0.2, 0.95]), run("slow", 2, &[0.1])];
        let speed = Speed::of(&group(vec![fast, slow])).unwrap();
        assert_eq!(speed.levels, [90.0, 95.0, 99.0]);
        assert_eq!(speed.rows, [[Some(1.5), Some(2.5), Some(2.5)], [None, None, None]]);
    }

    #[test]
    fn low_values_are_levels_from_above() {
        let mut only = run("rnn", 1, &[300.0, 130.0, 100.0]);
        only.metric = Metric::Perplexity;
        let speed = Speed::of(&group(vec![vec![only.clone()]])).unwrap();
        assert_eq!(speed.levels, [150.0, 120.0, 105.0]);
        assert_eq!(speed.rows, [[Some(2.0), Some(3.0), Some(3.0)]]);
        let found = group(vec![vec![only]]);
        assert_eq!(
            course(&found.rows[0], Metric::Perplexity),
            [(1.0, 300.0), (2.0, 130.0), (3.0, 100.0)]
        );
    }

    #[test]
    fn nothing_to_say_without_a_validation_part() {
        assert!(Speed::of(&group(vec![vec![run("rnn", 1, &[])]])).is_none());
    }
}
