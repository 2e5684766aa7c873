//! How long a model takes for one sequence, with nothing else to do.
//!
//! Measured once a row, on one thread, and kept in `ROW/latency.json`: all seeds of a row compute the same operations, and a table
//! that is written again has the same number.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use ernn::Result;
use ernn::checkpoint::{SavedModel, write_atomically};
use ernn::data::{Dataset, Part, View};
use ernn::evaluate;
use ernn::train::Machine;

const LATENCY_FILE: &str = "latency.json";

/// Repetitions: until the time is over, but at least the smallest and at most the largest number.
const TIME: Duration = Duration::from_millis(200);
const FEWEST: usize = 11;
const MOST: usize = 2001;

/// Tokens of a text that count as one sequence, as in the paper.
const MOST_TOKENS: usize = 300;

#[derive(Serialize)]
struct Written {
    milliseconds: f64,
    steps: usize,
    repetitions: usize,
    machine: Machine,
}

#[derive(Deserialize)]
struct Read {
    milliseconds: f64,
}

/// The stored milliseconds of a row; none if nobody has measured yet.
pub(crate) fn stored(row: &Path) -> Option<f64> {
    let text = fs::read_to_string(row.join(LATENCY_FILE)).ok()?;
    let read: Read = serde_json::from_str(&text).ok()?;
    Some(read.milliseconds)
}

/// Measures with the model of one of the row's runs, and stores the milliseconds.
pub(crate) fn measure(row: &Path, run: &Path, dataset: &Dataset) -> Result<()> {
    let saved = SavedModel::load(run)?;
    let part = dataset.test.as_ref().unwrap_or(&dataset.train);
    let sequence = typical_sequence(part, &saved)?;
    let mut times = time(&saved, &sequence);
    times.sort_by(f64::total_cmp);
    let written = Written {
        milliseconds: 1e3 * times[times.len() / 2],
        steps: sequence.len() / saved.model.config().input_size,
        repetitions: times.len(),
        machine: Machine::here(1),
    };
    let text = serde_json::to_string_pretty(&written).expect("plain structs") + "\n";
    write_atomically(&row.join(LATENCY_FILE), text.as_bytes())
}

/// One normalized sequence: the first one of median length.
fn typical_sequence(part: &Part, saved: &SavedModel) -> Result<Vec<f32>> {
    let mut order: Vec<usize> = (0..part.len()).collect();
    order.sort_by_key(|&sequence| part.length(sequence));
    let middle = part.length(order[order.len() / 2]);
    let first = (0..part.len()).find(|&sequence| part.length(sequence) == middle);
    let view = evaluate::prepared(saved, View::chosen(part, first.as_slice()))?;
    if view.is_tokens() {
        let tokens = view.tokens(0);
        return Ok(saved.model.embed(&tokens[..tokens.len().min(MOST_TOKENS)]));
    }
    let mut values = vec![0.0; middle * view.features()];
    view.read(0, &mut values);
    Ok(values)
}

/// Seconds of each repetition.
fn time(saved: &SavedModel, sequence: &[f32]) -> Vec<f64> {
    let mut runner = saved.model.runner();
    let mut once = || {
        let began = Instant::now();
        black_box(runner.logits(black_box(sequence)));
        began.elapsed().as_secs_f64()
    };
    once();
    let began = Instant::now();
    let mut times = Vec::new();
    while times.len() < FEWEST || (times.len() < MOST && began.elapsed() < TIME) {
        times.push(once());
    }
    times
}
