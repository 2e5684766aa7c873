//! `ernn train DATA --auto`: the flags, and the lines on stderr while it searches.

use std::time::{Duration, Instant};

use clap::Args;
use ernn::data::{Dataset, Scheme};
use ernn::names::counted;
use ernn::train::{Options, Report, RunConfig};
use ernn_lab::auto::{self, Effort, Trial, Watcher};

use super::train_folds;
use crate::failure::Result;
use crate::output::{say, seconds};
use crate::progress::Progress;

/// Flags of the search.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Search")]
pub struct AutoFlags {
    /// Search for settings by folds for about so long (60s, 5m), then train the best on everything. What other flags set stays as it is;
    /// the test part is for the last model alone. The run folder gets auto.csv and auto.md, and a config.toml that repeats the last
    /// training without the search
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "60s", value_parser = time, conflicts_with = "no_final")]
    pub auto: Option<Duration>,
    /// With --auto: so many trials instead of a time; the result is then the same on every machine, whatever its threads
    #[arg(long, value_name = "N", requires = "auto")]
    pub trials: Option<usize>,
    /// With --auto: the largest size of a model, in KB (4 bytes a parameter)
    #[arg(long, value_name = "X", requires = "auto")]
    pub budget_kb: Option<f64>,
}

impl AutoFlags {
    /// Whether a search is asked for.
    pub fn is_asked(&self) -> bool {
        self.auto.is_some()
    }

    /// What is asked for, where it is.
    pub fn request(&self, scheme: Option<Scheme>) -> Option<auto::Request> {
        let time = self.auto?;
        Some(auto::Request {
            effort: self.trials.map_or(Effort::Time(time), Effort::Trials),
            budget_kb: self.budget_kb,
            scheme,
        })
    }
}

/// `60`, `60s`, `5m` or `1h`.
fn time(text: &str) -> std::result::Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let unit = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (number, factor) = unit.unwrap_or((text, &1.0));
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() && (1.0..=1e6).contains(&(number * factor)) => {
            Ok(Duration::from_secs_f64(number * factor))
        }
        _ => Err(format!(
            "found {text}, expected a time of a second or more, as 60s, 5m or 1h"
        )),
    }
}

/// Searches, and trains what was found.
pub fn fresh(dataset: &Dataset, config: &RunConfig, request: &auto::Request, options: &Options) -> Result<Report> {
    let mut progress = Progress::new();
    let ended = auto::train(dataset, config, request, options, &mut Lines::new(), &mut progress);
    train_folds::reported(ended)
}

/// A line on stderr for each round.
struct Lines {
    began: Instant,
    warned: Vec<String>,
}

impl Lines {
    fn new() -> Self {
        Lines {
            began: Instant::now(),
            warned: Vec::new(),
        }
    }
}

impl Watcher for Lines {
    fn search_started(&mut self, trials: Option<usize>, folds: usize) {
        let trials = trials.map_or_else(
            || "as many trials as time allows".to_string(),
            |trials| counted(trials, "trial"),
        );
        say(&format!(
            "searching: {trials}, judged by {folds} folds of the training part"
        ));
    }

    fn round_done(&mut self, round: usize, trials: &[&Trial], left: usize) {
        let best = trials.first().and_then(|trial| Some((trial, trial.score()?)));
        let best = best.map_or_else(
            || "none came to its end".to_string(),
            |(trial, score)| {
                format!(
                    "best {:.4} on {} folds: {}",
                    score.mean,
                    trial.scores.len(),
                    trial.name()
                )
            },
        );
        say(&format!(
            "round {}: {}, {left} left, {}; {best}",
            round + 1,
            counted(trials.len(), "trial"),
            seconds(self.began.elapsed().as_secs_f64())
        ));
    }

    fn warning(&mut self, text: &str) {
        if !self.warned.iter().any(|said| said == text) {
            self.warned.push(text.to_string());
            say(&format!("warning: {text}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("60", 60), ("60s", 60), ("5m", 300), ("1h", 3600), ("1.5m", 90)] {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "0", "s", "-5s", "1d", "nan", "inf", "train.csv"] {
            assert!(time(text).unwrap_err().contains("as 60s, 5m or 1h"), "{text}");
        }
    }
}
