//! How a model listens to a stream: what flags say, else what its file says, else what it was trained on.

use ernn::checkpoint::{Listening, SavedModel};
use ernn::data::{OpenOptions, Span, Task};
use ernn::train::PastRun;

use crate::failure::{Failure, Result};
use crate::reading::{ReadingFlags, settings};

/// Steps a second of a model's inputs, where they are known.
pub fn rate(saved: &SavedModel, options: &OpenOptions) -> Option<f64> {
    let of_sound = saved.sound().map(|recipe| recipe.steps_per_second());
    of_sound.or(options.table.recordings.rate)
}

/// When a step ends, from 1: in seconds where the rate is known, else its number.
pub fn time(saved: &SavedModel, rate: Option<f64>, step: usize) -> f64 {
    match (saved.sound(), rate) {
        (Some(recipe), _) => recipe.end_of(step),
        (None, Some(rate)) => step as f64 / rate,
        (None, None) => step as f64,
    }
}

/// Whether a model that reads a stream reads windows of it unless it is told otherwise: it was trained on windows or on clips of one length.
pub fn is_natural(saved: &SavedModel) -> Result<bool> {
    let config = saved.model.config();
    if config.task != Task::Classification || config.bidirectional || config.embedding.is_some() {
        return Ok(false);
    }
    Ok(saved.decision.listening.is_some() || trained_window(saved)?.is_some())
}

/// Steps of the window that a model was trained on, where all sequences had one length, and that length is known in steps.
fn trained_window(saved: &SavedModel) -> Result<Option<usize>> {
    let recipe = saved.sound();
    let of_clips = recipe
        .as_ref()
        .and_then(|recipe| Some(recipe.mel.frames(recipe.length?)));
    if of_clips.is_some() {
        return Ok(of_clips);
    }
    let rate = recipe.map(|recipe| recipe.steps_per_second());
    let table = settings(saved)?.map(|run| run.data.table);
    Ok(table.and_then(|table| table.window?.steps("window", rate.or(table.recordings.rate)).ok()))
}

/// The way of listening; `run` is the run folder's report, where there is one.
pub fn of(
    saved: &SavedModel,
    window: Option<Span>,
    hop: Option<Span>,
    options: &OpenOptions,
    run: Option<&PastRun>,
) -> Result<Listening> {
    let rate = rate(saved, options);
    let steps = |span: Span, flag| span.steps(flag, rate);
    let mut listening = match (window, &saved.decision.listening) {
        (None, Some(stored)) => stored.clone(),
        (window, stored) => {
            let asked = window.map(|window| steps(window, "window")).transpose()?;
            let longest = run.and_then(|run| run.longest_sequence);
            let window = asked.or(trained_window(saved)?).or(longest).ok_or_else(|| {
                Failure::Usage(
                    "--window: the model does not say how long its sequences were; --window 1s, or in steps, does"
                        .to_string(),
                )
            })?;
            let fresh = Listening::of_window(window, &saved.classes);
            match stored {
                Some(stored) => Listening {
                    window: fresh.window,
                    hop: fresh.hop,
                    chosen: None,
                    ..stored.clone()
                },
                None => fresh,
            }
        }
    };
    if let Some(hop) = hop {
        listening.hop = steps(hop, "hop")?;
        listening.chosen = None;
    }
    listening.check(&saved.classes)?;
    Ok(listening)
}

/// How an export listens: as a flag says (a window, and from window to window), or as the model does by nature; none where it does not.
pub fn for_export(saved: &SavedModel, asked: &[Span], reading: &ReadingFlags) -> Result<Option<Listening>> {
    if asked.len() > 2 {
        let problem = "--listen: expected a window and from window to window, as in --listen 1s,250ms";
        return Err(Failure::Usage(problem.to_string()));
    }
    let config = saved.model.config();
    let able = config.task == Task::Classification && !config.bidirectional && config.embedding.is_none();
    if !able && !asked.is_empty() {
        let problem = "--listen is for models of one direction that give a class for a sequence of numbers or sound";
        return Err(Failure::Usage(problem.to_string()));
    }
    if !able || saved.classes.len() < 2 || asked.is_empty() && !is_natural(saved)? {
        return Ok(None);
    }
    let options = reading.as_for(saved)?.options();
    of(saved, asked.first().copied(), asked.get(1).copied(), &options, None).map(Some)
}
