//! What was tried, as `auto.csv` for programs and `auto.md` for people.

use serde::Serialize;

use crate::compare::{Varied, aligned};
use ernn::evaluate::statistics::paired;
use ernn::evaluate::{Metric, Spread};
use ernn::names::counted;

/// One combination of settings and how it fared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// From 1, in the order in which they were made.
    pub trial: usize,
    /// What it has of its own; empty for the settings that were asked for.
    pub varied: Vec<Varied>,
    /// Size of its model.
    pub kilobytes: f64,
    /// Rounds that it was in.
    pub rounds: usize,
    /// The score on each fold; none where its training diverged.
    pub scores: Vec<Option<f64>>,
    /// Mean loss over the folds, which tells trials of equal score apart.
    pub loss: f64,
    /// Wall time of all its trainings.
    pub train_seconds: f64,
    /// Whether the time ran out before the trainings of a round came to their end; that round does not count.
    pub cut_short: bool,
}

impl Trial {
    /// Its score over the folds, where all its trainings came to their end.
    pub fn score(&self) -> Option<Spread> {
        let scores: Option<Vec<f64>> = self.scores.iter().copied().collect();
        Spread::of(&scores?)
    }

    /// Its settings in words.
    pub fn name(&self) -> String {
        match self.varied.is_empty() {
            true => "as asked for".to_string(),
            false => self
                .varied
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
                .replace('_', " "),
        }
    }

    /// Small for a good one: first by score, then by loss.
    pub(super) fn key(&self, metric: Metric) -> (f64, f64) {
        let sign = if metric.higher_is_better() { -1.0 } else { 1.0 };
        match self.score() {
            Some(score) => (sign * score.mean, self.loss),
            None => (f64::INFINITY, f64::INFINITY),
        }
    }
}

/// All trials of a search, the best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trials {
    /// Name of the data set.
    pub dataset: String,
    /// What the score is.
    pub metric: Metric,
    /// Folds of a cut.
    pub folds: usize,
    /// Whether time ran out before all that was planned was done.
    pub cut_short: bool,
    /// Those that came furthest stand first, and the best among them.
    pub trials: Vec<Trial>,
}

/// Lines of the table for people.
const SHOWN: usize = 20;

impl Trials {
    /// Puts the best first: of those that came furthest, which all have the same folds behind them.
    pub(super) fn sort(&mut self) {
        let metric = self.metric;
        self.trials.sort_by(|one, other| {
            let (one_key, other_key) = (one.key(metric), other.key(metric));
            other
                .rounds
                .cmp(&one.rounds)
                .then(one_key.0.total_cmp(&other_key.0))
                .then(one_key.1.total_cmp(&other_key.1))
                .then(one.trial.cmp(&other.trial))
        });
    }

    /// Trials that at least one round has judged; the others were cut short.
    pub fn judged(&self) -> usize {
        self.trials.iter().filter(|trial| trial.rounds > 0).count()
    }

    /// The trial that was chosen.
    pub fn best(&self) -> Option<&Trial> {
        self.trials.first().filter(|trial| trial.score().is_some())
    }

    /// How far a trial is behind the best on the folds that both have: mean, standard error, probability of chance.
    fn behind(&self, trial: &Trial) -> Option<(f64, f64, f64)> {
        let best = self.best().filter(|best| best.trial != trial.trial)?;
        let pairs = trial.scores.iter().zip(&best.scores);
        let differences: Option<Vec<f64>> = pairs.map(|(one, other)| Some((*one)? - (*other)?)).collect();
        let test = paired(&differences?, 1.0 / (self.folds - 1) as f64)?;
        Some((test.mean, test.error, test.p))
    }

    /// One line a trial.
    pub fn to_csv(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for varied in self.trials.iter().flat_map(|trial| &trial.varied) {
            if !names.contains(&&varied.name[..]) {
                names.push(&varied.name);
            }
        }
        let mut text = String::from(
            "trial,rounds,folds,cut_short,metric,mean,deviation,loss,kilobytes,train_seconds,difference_to_best,standard_error,p",
        );
        names.iter().for_each(|name| text += &format!(",{name}"));
        for trial in &self.trials {
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let (score, behind) = (trial.score(), self.behind(trial));
            text += &format!(
                "\n{},{},{},{},{},{},{},{},{},{},{},{},{}",
                trial.trial,
                trial.rounds,
                trial.scores.len(),
                trial.cut_short,
                self.metric.name(),
                number(score.map(|score| score.mean)),
                number(score.and_then(|score| score.deviation)),
                trial.loss,
                trial.kilobytes,
                trial.train_seconds,
                number(behind.map(|behind| behind.0)),
                number(behind.map(|behind| behind.1)),
                number(behind.map(|behind| behind.2)),
            );
            for name in &names {
                let own = trial.varied.iter().find(|varied| varied.name == *name);
                text += &format!(",{}", own.map_or_else(String::new, Varied::word));
            }
        }
        text + "\n"
    }

    /// The best trials, and how sure the choice is.
    pub fn to_markdown(&self) -> String {
        let metric = self.metric;
        let shown = |value: f64| metric.text(metric.shown(value));
        let mut lines = vec![
            ["trial", "folds", metric.title(), "KB", "behind the best", "settings"]
                .map(String::from)
                .to_vec(),
        ];
        for trial in self.trials.iter().take(SHOWN) {
            let score = trial.score().map_or_else(
                || if trial.rounds == 0 { "cut short" } else { "diverged" }.to_string(),
                |score| format!("{} ± {}", shown(score.mean), shown(score.deviation.unwrap_or(0.0))),
            );
            let behind = self.behind(trial).map_or_else(
                || "-".to_string(),
                |(mean, error, p)| {
                    format!(
                        "{} ± {}, p {p:.2}",
                        metric.difference_text(metric.shown(mean)),
                        shown(error)
                    )
                },
            );
            lines.push(vec![
                trial.trial.to_string(),
                trial.scores.len().to_string(),
                score,
                format!("{:.1}", trial.kilobytes),
                behind,
                trial.name(),
            ]);
        }
        let more = match self.trials.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("\n{more} more stand in auto.csv.\n"),
        };
        let short = match self.cut_short {
            true => {
                "\nTime ran out before all rounds were done: another time another number of trials may come as far.\n"
            }
            false => "",
        };
        let cut = match self.trials.len() - self.judged() {
            0 => String::new(),
            cut => format!(", {cut} of them cut short by the time and not counted"),
        };
        format!(
            "{}: {}{cut}, {} folds a cut\n\n{}\n{MEANING}\n{}{more}{short}",
            self.dataset,
            counted(self.trials.len(), "trial"),
            self.folds,
            aligned(&lines),
            self.how_sure()
        )
    }

    /// What the choice is worth.
    fn how_sure(&self) -> String {
        let Some(best) = self.best() else {
            return String::new();
        };
        let Some(next) = self.trials.get(1).filter(|next| next.rounds > 0) else {
            return format!(
                "\nChosen: trial {} ({}), the only one that came to its end.\n",
                best.trial,
                best.name()
            );
        };
        let sure = |trial: &Trial| match self.behind(trial) {
            Some((mean, _, p)) if p < 0.05 => format!(
                "{} points behind, more than noise (p {p:.3})",
                self.metric.text(self.metric.shown(mean.abs()))
            ),
            Some((_, _, p)) => format!("not told apart from it by these folds (p {p:.2})"),
            None if trial.rounds == 0 => "cut short".to_string(),
            None => "not compared".to_string(),
        };
        let asked = self.trials.iter().find(|trial| trial.varied.is_empty());
        let asked = asked.filter(|asked| asked.trial != best.trial).map(|asked| {
            format!(
                " The settings as asked for are {} on the folds that they had.",
                sure(asked)
            )
        });
        format!(
            "\nChosen: trial {} ({}). The next one, trial {}, is {}.{}\n",
            best.trial,
            best.name(),
            next.trial,
            sure(next),
            asked.unwrap_or_default()
        )
    }
}

const MEANING: &str = "Mean ± sample standard deviation over the folds that a trial had; behind: mean difference to the best on the same folds ± \
standard error, with the probability of such a difference by chance (corrected resampled t-test, one comparison at a time).";

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(number: usize, rounds: usize, scores: &[f64], loss: f64) -> Trial {
        Trial {
            trial: number,
            varied: vec![Varied {
                name: "input_noise".to_string(),
                value: toml::Value::Integer(number as i64),
            }],
            kilobytes: 10.0,
            rounds,
            scores: scores.iter().map(|&score| Some(score)).collect(),
            loss,
            train_seconds: 1.0,
            cut_short: false,
        }
    }

    #[test]
    fn what_was_cut_short_is_marked_and_not_counted() {
        let mut trials = Trials {
            dataset: "d".to_string(),
            metric: Metric::Accuracy,
            folds: 2,
            cut_short: true,
            trials: vec![
                Trial {
                    cut_short: true,
                    ..trial(1, 0, &[], 0.0)
                },
                trial(2, 1, &[0.5, 0.75], 0.5),
            ],
        };
        trials.sort();
        assert_eq!((trials.judged(), trials.best().map(|best| best.trial)), (1, Some(2)));
        let csv = trials.to_csv();
        assert!(csv.contains("\n2,1,2,false,") && csv.contains("\n1,0,0,true,"), "{csv}");
        let text = trials.to_markdown();
        assert!(
            text.contains("d: 2 trials, 1 of them cut short by the time and not counted"),
            "{text}"
        );
        assert!(
            text.contains(" cut short |") && text.contains("the only one that came to its end"),
            "{text}"
        );
        trials.trials.remove(0);
        assert!(trials.best().is_none());
    }

    #[test]
    fn the_best_is_one_of_those_that_came_furthest() {
        let mut trials = Trials {
            dataset: "d".to_string(),
            metric: Metric::Accuracy,
            folds: 2,
            cut_short: false,
            trials: vec![
                trial(1, 1, &[1.0], 0.1),
                trial(2, 2, &[0.8, 0.9], 0.5),
                trial(3, 2, &[0.9, 0.8], 0.4),
                Trial {
                    scores: vec![Some(1.0), None],
                    ..trial(4, 2, &[], 0.0)
                },
            ],
        };
        trials.sort();
        let order: Vec<usize> = trials.trials.iter().map(|trial| trial.trial).collect();
        assert_eq!(order, [3, 2, 4, 1], "equal means go by the loss");
        let csv = trials.to_csv();
        assert_eq!(csv.lines().count(), 5);
        assert!(csv.lines().next().unwrap().ends_with(",p,input_noise"), "{csv}");
        let text = trials.to_markdown();
        assert!(
            text.contains("Chosen: trial 3 (input noise 3). The next one, trial 2, is not told apart from it"),
            "{text}"
        );
        assert!(text.contains(" diverged |"), "{text}");
    }
}
