//! Rows become pieces of even steps: cut where a gap is too long, put onto the grid, each step with its label.

use super::clock::{Clock, Form};
use super::events::Events;
use super::grid::Grid;
use super::log::{Log, Recording};
use super::options::{GAP_STEPS, RecordingOptions};
use super::span::Span;
use crate::{Error, Result};

/// Times the rate of the rows that a grid may have: more would be made up.
const UP: f64 = 4.0;
/// Steps that may be made of a row, on average, where there are many.
const MADE_UP: f64 = 100.0;
/// So many steps are made of any rows.
const SOME: f64 = 1e6;
/// Times from a row to the next, in medians, that are no lost rows.
const USUAL: f64 = 1.5;

/// What the times of recordings mean, and the steps that are made of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Timing {
    /// None without a time column.
    pub clock: Option<Clock>,
    /// None if rows stay as they are.
    pub grid: Option<Grid>,
    /// Steps a second; none if nobody said.
    pub rate: Option<f64>,
    /// Rows a second; none without times.
    pub found_rate: Option<f64>,
    /// Seconds between rows above which a piece ends; none without times.
    pub longest: Option<f64>,
    /// What was guessed.
    pub note: Option<String>,
}

impl Timing {
    /// By what was said, and by the times themselves.
    pub fn of(log: &Log, options: &RecordingOptions) -> Result<Timing> {
        let (Some(column), Some(form)) = (&log.time_column, log.form) else {
            if let Some((own, asked)) = log.rate.zip(options.rate).filter(|(own, asked)| own != asked) {
                let expected = format!("{own}, or nothing: so many frames of sound there are in a second");
                return Err(Error::setting("rate", asked, expected));
            }
            return Ok(Timing {
                rate: options.rate.or(log.rate),
                ..Timing::default()
            });
        };
        let refuse = |found: String, expected: String| {
            Error::format(log.path(), format!(", column {column:?}"), found, expected)
        };
        let Some(apart) = apart(log) else {
            return Err(refuse(
                "one time".to_owned(),
                "the times of two rows at least".to_owned(),
            ));
        };
        let first = log
            .recordings
            .iter()
            .find_map(|recording| recording.times.first().copied());
        let first = first.unwrap_or_default();
        let (clock, note) = Clock::of(form, options.time_unit, column, first, Some(apart), options.rate)
            .map_err(|(found, expected)| refuse(found, expected))?;
        let apart = clock.seconds(apart);
        let found_rate = 1.0 / apart;
        if let Some(rate) = options.rate.filter(|rate| *rate > UP * found_rate * 1.01) {
            let found = format!("{rate} Hz for rows that come at {found_rate:.4} Hz");
            return Err(Error::setting(
                "rate",
                found,
                format!("at most {UP} times as many steps as rows"),
            ));
        }
        let step = options.rate.map_or(apart, |rate| 1.0 / rate);
        let longest = options
            .max_gap
            .unwrap_or(Span::Seconds(GAP_STEPS * step.max(apart)))
            .seconds(step);
        Ok(Timing {
            clock: Some(clock),
            grid: options.rate.map(|rate| Grid { rate, apart, longest }),
            rate: options.rate,
            found_rate: Some(found_rate),
            longest: Some(longest),
            note,
        })
    }

    /// A length in steps.
    pub fn steps(&self, span: Span, flag: &str) -> Result<usize> {
        match (span, self.rate, self.found_rate) {
            (Span::Seconds(_), None, Some(found)) => {
                let expected =
                    format!("--rate with the steps a second, to count its steps (rows come at {found:.4} Hz)");
                Err(Error::setting(flag, span, expected))
            }
            _ => span.steps(flag, self.rate),
        }
    }
}

/// The time from a row to the next: the mean of those that are not much longer than the median, so that jitter cancels out and rows
/// that were lost count for nothing.
fn apart(log: &Log) -> Option<f64> {
    let pairs = log.recordings.iter().flat_map(|recording| recording.times.windows(2));
    let mut apart: Vec<f64> = pairs.map(|pair| pair[1] - pair[0]).collect();
    if apart.is_empty() {
        return None;
    }
    let middle = apart.len() / 2;
    let median = *apart.select_nth_unstable_by(middle, f64::total_cmp).1;
    let usual = apart.iter().filter(|apart| **apart <= USUAL * median);
    let (sum, count) = usual.fold((0.0, 0), |(sum, count), apart| (sum + apart, count + 1));
    Some(sum / f64::from(count))
}

/// Steps that follow each other evenly.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    /// The rows it comes from.
    pub rows: std::ops::Range<usize>,
    /// The row nearest to each step.
    pub nearest: Vec<usize>,
    /// `[steps, features]`
    pub values: Vec<f32>,
    /// The numbers of each step that are to be learned, `[steps, targets]`; empty if none are.
    pub numbers: Vec<f32>,
    /// The label of each step; empty if nothing is labelled.
    pub labels: Vec<u32>,
}

impl Piece {
    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.nearest.len()
    }
}

/// The pieces of a recording, and the gaps between them in seconds.
pub(super) fn pieces(
    number: usize,
    recording: &Recording,
    features: usize,
    timing: &Timing,
    events: Option<&Events>,
) -> Result<(Vec<Piece>, Vec<f64>)> {
    let seconds: Vec<f64> = match timing.clock {
        Some(clock) => recording.times.iter().map(|&time| clock.seconds(time)).collect(),
        None => Vec::new(),
    };
    let (ranges, gaps) = ranges(recording.rows, &seconds, timing.longest);
    if let Some(grid) = timing.grid {
        ranges
            .iter()
            .try_for_each(|rows| refuse_made_up(&seconds[rows.clone()], grid))?;
    }
    let made = ranges.into_iter().map(|rows| {
        let values = &recording.values[rows.start * features..rows.end * features];
        let (values, nearest) = match timing.grid {
            None => (values.to_vec(), rows.clone().collect()),
            Some(grid) => {
                let gridded = grid.put(&seconds[rows.clone()], values, features);
                let nearest = gridded.rows.into_iter().map(|row| row + rows.start).collect();
                (gridded.values, nearest)
            }
        };
        let nearest: Vec<usize> = nearest;
        let labels = match events {
            Some(events) => {
                let at = |(step, &row): (usize, &usize)| {
                    events.label_at(number, recording, time_of(recording, timing, &rows, step, row))
                };
                nearest.iter().enumerate().map(at).collect()
            }
            None if recording.labels.is_empty() => Vec::new(),
            None => nearest.iter().map(|&row| recording.labels[row]).collect(),
        };
        let targets = recording.numbers.len() / recording.rows.max(1);
        let of_row = |&row: &usize| &recording.numbers[row * targets..(row + 1) * targets];
        let numbers = nearest.iter().flat_map(of_row).copied().collect();
        Piece {
            rows,
            numbers,
            nearest,
            values,
            labels,
        }
    });
    Ok((made.collect(), gaps))
}

/// Refuses rows so far apart that nearly all steps would be made up.
fn refuse_made_up(seconds: &[f64], grid: Grid) -> Result<()> {
    let (Some(first), Some(last)) = (seconds.first(), seconds.last()) else {
        return Ok(());
    };
    let steps = (last - first) * grid.rate;
    if steps <= MADE_UP * seconds.len() as f64 + SOME {
        return Ok(());
    }
    let found = format!("{steps:.0} steps of {} Hz to make of {} rows", grid.rate, seconds.len());
    Err(Error::setting(
        "max-gap",
        found,
        "a time after which a piece ends, or another --rate",
    ))
}

/// Ranges of rows without a gap.
fn ranges(rows: usize, seconds: &[f64], longest: Option<f64>) -> (Vec<std::ops::Range<usize>>, Vec<f64>) {
    let (mut ranges, mut gaps, mut start) = (Vec::new(), Vec::new(), 0);
    for (row, pair) in seconds.windows(2).enumerate() {
        let apart = pair[1] - pair[0];
        if longest.is_some_and(|longest| apart > longest * (1.0 + 1e-9)) {
            ranges.push(start..row + 1);
            gaps.push(apart);
            start = row + 1;
        }
    }
    if start < rows {
        ranges.push(start..rows);
    }
    (ranges, gaps)
}

/// When a step of a piece is, in seconds: on the clock of the recording, or without one since its beginning.
pub(super) fn time_of(
    recording: &Recording,
    timing: &Timing,
    rows: &std::ops::Range<usize>,
    step: usize,
    nearest: usize,
) -> f64 {
    match (timing.clock, timing.grid) {
        (Some(clock), Some(grid)) => clock.seconds(recording.times[rows.start]) + step as f64 / grid.rate,
        (Some(clock), None) => clock.seconds(recording.times[nearest]),
        (None, _) => nearest as f64 / timing.rate.unwrap_or(1.0),
    }
}

/// The text of a time, `seconds` behind that of a row, in the way of the file; without times in seconds, or in rows from 1.
pub(super) fn text_of(recording: &Recording, timing: &Timing, row: usize, seconds: f64) -> String {
    match (timing.clock, timing.rate) {
        (Some(clock), _) => clock.text(recording.times[row], seconds),
        (None, Some(rate)) => super::clock::trimmed(row as f64 / rate + seconds, 6),
        (None, None) => (row + 1).to_string(),
    }
}

/// Whether numbers of one log are times in words.
pub(super) fn is_civil(form: Option<Form>) -> bool {
    matches!(form, Some(Form::Instant | Form::Civil))
}
