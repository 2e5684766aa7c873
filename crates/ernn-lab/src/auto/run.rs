//! From the data to the settings that folds like best, and their final run.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Watcher;
use super::clock::Clock;
use super::halving::{self, ROUNDS};
use super::space::{Candidate, Space};
use super::table::{Trial, Trials};
use ernn::checkpoint::write_atomically;
use ernn::data::{self, Dataset, Folds, Scheme};
use ernn::evaluate::{FoldsReport, Metric};
use ernn::folds::{self, Ended};
use ernn::names::counted;
use ernn::train::{self, Ending, Observer, Options, RunConfig, RunFolder};
use ernn::{Error, Result};

/// How long is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// About so long, with as many trials as that allows; what is found depends on the machine.
    Time(Duration),
    /// So many trials; the same result on every machine, whatever its threads.
    Trials(usize),
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// How long is searched.
    pub effort: Effort,
    /// The largest size of a model, in units of 1,024 bytes; none: any.
    pub budget_kb: Option<f64>,
    /// How the training part is cut; none: into five folds, or fewer where there is less.
    pub scheme: Option<Scheme>,
}

/// Trials at most and, where time decides, as many as are worth a search.
const MOST_TRIALS: usize = 500;
const FEWEST_TRIALS: usize = 4;
/// A search of few trials has fewer than were designed.
const TIMED_TRIALS: usize = 120;
/// Share of the time in which trials may still begin; the rest is for the estimate.
const SHARE: f64 = 0.8;
/// Share of that time after which the trainings that tell how long one takes are stopped.
const SAMPLE_SHARE: f64 = 0.25;
/// Folds drawn anew for the estimate have a seed that no cut of the search has.
const ESTIMATE_SEED: u64 = 1 << 32;
/// In a search no training takes more optimizer steps than this; the final one does, if the settings say so.
const MOST_STEPS: usize = 3000;

/// Searches, and trains what was found on everything.
///
/// # Errors
/// If the data cannot be cut into folds, no trial comes to its end (in the time asked for), no model is as small as asked for, or as
/// [`train::train`].
pub fn train(
    dataset: &Dataset,
    config: &RunConfig,
    request: &Request,
    options: &Options,
    watcher: &mut dyn Watcher,
    observer: &mut dyn Observer,
) -> Result<Ended> {
    let search = begin(dataset, config, request, options)?;
    let Some((trials, candidates)) = search.run(watcher)? else {
        return Ok(Ended::Interrupted(None));
    };
    let Some(best) = trials.best() else {
        return Err(Error::data(&dataset.name, search.nothing_found(&trials)));
    };
    if let Some(longer) = search.longer_than_asked(best) {
        watcher.warning(&longer);
    }
    let settings = &candidates[best.trial - 1].settings;
    let Some(report) = search.estimate(settings, trials.judged())? else {
        return Ok(Ended::Interrupted(None));
    };
    let settings = folds::settings_for(settings, dataset);
    let folder = options.out.open(&dataset.name, &settings)?;
    if let Some(folder) = &folder {
        let path = folder.path();
        write_atomically(&path.join("auto.csv"), trials.to_csv().as_bytes())?;
        write_atomically(&path.join("auto.md"), trials.to_markdown().as_bytes())?;
        folds::write_numbers(path, &report)?;
    }
    let options = Options {
        folds: Some(report),
        ..options.clone()
    };
    finish(dataset, &settings, folder, &options, observer)
}

/// Refuses what a search would be refused for before its first trial.
///
/// # Errors
/// As [`train()`].
pub fn check(dataset: &Dataset, config: &RunConfig, request: &Request) -> Result<()> {
    let options = Options::default();
    begin(dataset, config, request, &options)?.candidates()?;
    train::check(dataset, config)
}

fn begin<'a>(
    dataset: &'a Dataset,
    config: &'a RunConfig,
    request: &'a Request,
    options: &'a Options,
) -> Result<Search<'a>> {
    config.check()?;
    check_request(request)?;
    Search::new(dataset, config, request, options)
}

fn finish(
    dataset: &Dataset,
    settings: &RunConfig,
    folder: Option<RunFolder>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Ended> {
    let path = folder.as_ref().map(|folder| folder.path().to_path_buf());
    let outcome = match folder {
        Some(folder) => train::resume(dataset, settings, folder, options, observer)?,
        None => train::train(dataset, settings, options, observer)?,
    };
    Ok(match outcome.report.ending {
        Ending::Interrupted => Ended::Interrupted(path),
        _ => Ended::Done(Box::new(outcome.report)),
    })
}

fn check_request(request: &Request) -> Result<()> {
    let refuse = |name: &str, found: String, expected: String| {
        Err(Error::Setting {
            name: name.to_string(),
            found,
            expected,
        })
    };
    match request.effort {
        Effort::Trials(trials) if !(1..=MOST_TRIALS).contains(&trials) => {
            return refuse("--trials", trials.to_string(), format!("1 to {MOST_TRIALS}"));
        }
        Effort::Time(time) if time < Duration::from_secs(1) => {
            return refuse("--auto", format!("{time:?}"), "a second or more".to_string());
        }
        _ => {}
    }
    match request.budget_kb {
        Some(budget) if !(budget.is_finite() && budget > 0.0) => {
            refuse("--budget-kb", budget.to_string(), "a number above 0".to_string())
        }
        _ => Ok(()),
    }
}

struct Search<'a> {
    dataset: &'a Dataset,
    config: &'a RunConfig,
    request: &'a Request,
    options: &'a Options,
    scheme: Scheme,
    cuts: Vec<Folds>,
    began: Instant,
}

/// One training of a trial.
struct Fit {
    score: Option<f64>,
    loss: f64,
    seconds: f64,
}

/// How a training ended.
enum Fitted {
    Done(Fit),
    /// The time ran out; a whole one would have taken so many seconds.
    Cut(f64),
}

/// What came of a trial in a round.
enum Tried {
    NotBegun,
    /// The time ran out before all its trainings came to their end.
    Cut,
    Done(Vec<Fit>),
}

impl Tried {
    fn of(fits: Vec<Option<Fitted>>) -> Self {
        if fits.iter().all(Option::is_none) && !fits.is_empty() {
            return Tried::NotBegun;
        }
        let done = fits.into_iter().map(|fit| match fit {
            Some(Fitted::Done(fit)) => Some(fit),
            _ => None,
        });
        done.collect::<Option<_>>().map_or(Tried::Cut, Tried::Done)
    }
}

impl<'a> Search<'a> {
    fn new(dataset: &'a Dataset, config: &'a RunConfig, request: &'a Request, options: &'a Options) -> Result<Self> {
        folds::check_data(dataset, config)?;
        let seed = config.training.seed;
        let cut = |scheme, cut: u64| data::folds(&dataset.train, scheme, seed.wrapping_add(cut));
        let scheme = match request.scheme {
            Some(scheme) => scheme,
            None => {
                let fewer = [5, 4, 3].map(Scheme::Number);
                let possible = fewer.into_iter().find(|&scheme| cut(scheme, 0).is_ok());
                possible.unwrap_or(Scheme::Number(2))
            }
        };
        Ok(Search {
            dataset,
            config,
            request,
            options,
            scheme,
            cuts: (0..ROUNDS as u64 - 1)
                .map(|index| cut(scheme, index))
                .collect::<Result<_>>()?,
            began: Instant::now(),
        })
    }

    fn folds(&self) -> usize {
        self.cuts[0].held_out.len()
    }

    /// The time at which no more trials begin; none where their number decides.
    fn deadline(&self) -> Option<Instant> {
        match self.request.effort {
            Effort::Time(time) => Some(self.began + time.mul_f64(SHARE)),
            Effort::Trials(_) => None,
        }
    }

    /// What is tried, at least one.
    fn candidates(&self) -> Result<Vec<Candidate>> {
        let space = Space::new(self.config, self.dataset, self.request.budget_kb)?;
        let wanted = match self.request.effort {
            Effort::Trials(trials) => trials,
            Effort::Time(_) => TIMED_TRIALS,
        };
        let candidates = space.candidates(wanted);
        if candidates.is_empty() {
            let budget = self.request.budget_kb.unwrap_or_default();
            let expected = "room for the smallest model of this data";
            return Err(Error::setting("--budget-kb", budget, expected));
        }
        Ok(candidates)
    }

    /// All rounds; none if someone asked to stop.
    fn run(&self, watcher: &mut dyn Watcher) -> Result<Option<(Trials, Vec<Candidate>)>> {
        let candidates = self.candidates()?;
        let known = matches!(self.request.effort, Effort::Trials(_)).then_some(candidates.len());
        watcher.search_started(known, self.folds());
        let mut trials: Vec<Trial> = candidates
            .iter()
            .enumerate()
            .map(|(index, candidate)| trial(index, candidate))
            .collect();
        let mut left: Vec<usize> = (0..candidates.len()).collect();
        let mut cut_short = false;
        let metric = Metric::of(self.dataset.task);
        if known.is_none() {
            left.truncate(self.affordable(&candidates, watcher)?);
        }
        for round in 0..ROUNDS {
            let tried = self.round(round, &left, &candidates, &trials)?;
            if self.options.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let is_done = |index: &usize| matches!(tried[*index], Tried::Done(_));
            let done: Vec<usize> = left.iter().copied().filter(is_done).collect();
            cut_short |= done.len() < left.len();
            for (trial, tried) in trials.iter_mut().zip(&tried) {
                trial.cut_short |= matches!(tried, Tried::Cut);
            }
            // A round of which the time left less than two trials compares nothing.
            if done.len() < left.len() && (round > 0 || done.is_empty()) {
                break;
            }
            for (trial, tried) in trials.iter_mut().zip(tried) {
                take(trial, tried, round);
            }
            left = done;
            left.sort_by(|&one, &other| {
                let (one_key, other_key) = (trials[one].key(metric), trials[other].key(metric));
                one_key
                    .0
                    .total_cmp(&other_key.0)
                    .then(one_key.1.total_cmp(&other_key.1))
                    .then(one.cmp(&other))
            });
            let going_on = halving::goes_on(left.len());
            let shown: Vec<&Trial> = left.iter().map(|&index| &trials[index]).collect();
            watcher.round_done(round, &shown, if round + 1 < ROUNDS { going_on } else { 1 });
            left.truncate(going_on);
            left.sort_unstable();
            if left.len() < 2 {
                break;
            }
        }
        let mut trials = Trials {
            dataset: self.dataset.name.clone(),
            metric,
            folds: self.folds(),
            cut_short,
            trials: trials
                .into_iter()
                .filter(|trial| trial.rounds > 0 || trial.cut_short)
                .collect(),
        };
        trials.sort();
        match trials.trials.len() - trials.judged() {
            0 => {}
            cut => watcher.warning(&format!(
                "the time ran out: {} cut short and not counted",
                counted(cut, "trial")
            )),
        }
        Ok(Some((trials, candidates)))
    }

    /// How many trials the time allows, told from the first fits; warns if it is less than one.
    fn affordable(&self, candidates: &[Candidate], watcher: &mut dyn Watcher) -> Result<usize> {
        let Effort::Time(time) = self.request.effort else {
            return Ok(candidates.len());
        };
        let sample = candidates.len().min(2);
        let deadline = self.began + time.mul_f64(SHARE * SAMPLE_SHARE);
        let work =
            |index: usize, threads: usize| self.fit(&candidates[index].settings, (0, 0), threads, Some(deadline));
        let fits = folds::in_turns(sample, self.options.threads, &self.options.stop, work)?;
        let seconds = fits.iter().flatten().map(|fit| match fit {
            Fitted::Done(fit) => fit.seconds,
            Fitted::Cut(seconds) => *seconds,
        });
        let side_by_side = self.options.threads.clamp(1, sample.max(1));
        let of_one = seconds.sum::<f64>() / (sample.max(1) * side_by_side) as f64;
        let left = time.mul_f64(SHARE).as_secs_f64() - self.began.elapsed().as_secs_f64();
        let enough = |fits: usize| fits as f64 * of_one <= left;
        let first = halving::folds_of(0, self.folds()).len();
        if !enough(first) && !self.options.stop.load(Ordering::Relaxed) {
            watcher.warning(&format!(
                "--auto {} cannot hold the first trial, which takes about {}: what does not end in time is cut short and not counted; \
                 {}",
                in_words(time.as_secs_f64()),
                in_words(first as f64 * of_one),
                remedy(of_one * halving::fits(FEWEST_TRIALS, self.folds()) as f64)
            ));
        }
        let affordable = (FEWEST_TRIALS..=candidates.len())
            .rev()
            .find(|&trials| enough(halving::fits(trials, self.folds())));
        Ok(affordable.unwrap_or(FEWEST_TRIALS).min(candidates.len()))
    }

    /// What came of each trial in a round.
    fn round(&self, round: usize, left: &[usize], candidates: &[Candidate], trials: &[Trial]) -> Result<Vec<Tried>> {
        let folds = halving::folds_of(round, self.folds());
        let mut found: Vec<Tried> = trials.iter().map(|_| Tried::NotBegun).collect();
        let deadline = self.deadline();
        let late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
        let work = |index: usize, threads: usize| {
            if late() {
                return Ok(None);
            }
            let candidate = &candidates[left[index / folds.len()]];
            self.fit(&candidate.settings, folds[index % folds.len()], threads, deadline)
        };
        let count = left.len() * folds.len();
        let fits = folds::in_turns(count, self.options.threads, &self.options.stop, work)?;
        let mut fits = fits.into_iter();
        for &index in left {
            found[index] = Tried::of(fits.by_ref().take(folds.len()).collect());
        }
        Ok(found)
    }

    /// One training: the settings, with the seed of the cut. None if someone asked to stop.
    fn fit(
        &self,
        settings: &RunConfig,
        (cut, fold): (usize, usize),
        threads: usize,
        deadline: Option<Instant>,
    ) -> Result<Option<Fitted>> {
        let mut settings = folds::settings_for(settings, self.dataset);
        settings.training.seed = settings.training.seed.wrapping_add(cut as u64);
        let most = settings.training.max_steps;
        settings.training.max_steps = if most == 0 { MOST_STEPS } else { most.min(MOST_STEPS) };
        settings.lower_floor();
        let mut clock = Clock::new(deadline, settings.training.passes(), &self.options.stop);
        let options = Options {
            threads,
            stop: Arc::clone(&clock.stop),
            ..Options::default()
        };
        let found = folds::one_fold(self.dataset, &self.cuts[cut], fold, &settings, &options, &mut clock)?;
        Ok(match found {
            None => clock.cut().then(|| Fitted::Cut(clock.seconds())),
            Some(found) => Some(Fitted::Done(Fit {
                score: found.evaluation.as_ref().map(|evaluation| evaluation.score().1),
                loss: found.evaluation.map_or(f64::INFINITY, |evaluation| evaluation.loss),
                seconds: found.train_seconds,
            })),
        })
    }

    /// What is said where no trial can be chosen.
    fn nothing_found(&self, trials: &Trials) -> String {
        let count = trials.trials.len();
        match self.request.effort {
            Effort::Time(time) if trials.judged() == 0 => format!(
                "none of {} came to its end within --auto {}; {}",
                counted(count, "trial"),
                in_words(time.as_secs_f64()),
                remedy(f64::INFINITY)
            ),
            _ => format!(
                "none of {} came to its end; --trials 20 tries more",
                counted(count, "trial")
            ),
        }
    }

    /// The estimate is not cut short: what is said if it takes the search far beyond its time.
    fn longer_than_asked(&self, best: &Trial) -> Option<String> {
        let Effort::Time(time) = self.request.effort else {
            return None;
        };
        let folds = self.folds();
        let of_one = best.train_seconds / best.scores.len().max(1) as f64;
        let needed = of_one * folds as f64 / self.options.threads.clamp(1, folds) as f64;
        let over = self.began.elapsed().as_secs_f64() + needed - time.as_secs_f64();
        (over > SHARE * time.as_secs_f64()).then(|| {
            format!(
                "what was found is measured on {folds} folds drawn anew, which takes about {} more than --auto {}",
                in_words(over),
                in_words(time.as_secs_f64())
            )
        })
    }

    /// What the settings are worth, on folds that no choice has seen.
    fn estimate(&self, settings: &RunConfig, trials: usize) -> Result<Option<FoldsReport>> {
        let mut settings = folds::settings_for(settings, self.dataset);
        settings.training.seed = settings.training.seed.wrapping_add(ESTIMATE_SEED) & (i64::MAX as u64);
        folds::measure(self.dataset, &settings, self.scheme, trials, self.options)
    }
}

fn trial(index: usize, candidate: &Candidate) -> Trial {
    Trial {
        trial: index + 1,
        varied: candidate.varied.clone(),
        kilobytes: candidate.kilobytes,
        rounds: 0,
        scores: Vec::new(),
        loss: 0.0,
        train_seconds: 0.0,
        cut_short: false,
    }
}

/// `8 s`, `4 min`.
fn in_words(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{} s", seconds.ceil().max(1.0)),
        seconds => format!("{} min", (seconds / 60.0).ceil()),
    }
}

/// What helps where trials take longer than the time, of which so many seconds would do.
fn remedy(enough: f64) -> String {
    let longer = match enough.is_finite() {
        true => format!(
            "--auto {} holds a few",
            in_words(enough / SHARE).replace(" min", "m").replace(" s", "s")
        ),
        false => "a longer --auto".to_string(),
    };
    format!(
        "{longer}, --max-steps N makes trials shorter, and `ernn train` without --auto trains the settings as they are"
    )
}

/// Books a round.
fn take(trial: &mut Trial, tried: Tried, round: usize) {
    let Tried::Done(fits) = tried else { return };
    let before = trial.scores.len() as f64;
    let losses: f64 = fits.iter().map(|fit| fit.loss).sum();
    trial.train_seconds += fits.iter().map(|fit| fit.seconds).sum::<f64>();
    let all = before + fits.len() as f64;
    if all > 0.0 {
        trial.loss = (trial.loss * before + losses) / all;
    }
    trial.scores.extend(fits.into_iter().map(|fit| fit.score));
    trial.rounds = round + 1;
}
