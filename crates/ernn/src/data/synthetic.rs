//! Synthetic tasks that need a long memory, of any length, drawn from the data seed.
//!
//! `adding` (Hochreiter, Schmidhuber, Neural Computation 9 (8), 1997; in this form Arjovsky, Shah, Bengio, ICML 2016), T steps:
//!
//! ```text
//! x[t] = (uniform in [0, 1), mark)      mark 1 at one step of the first half and one of the second, else 0
//! target = sum of the two marked values           always saying 1 has a mean squared error of 1/6
//! ```
//!
//! `copy-memory` (Arjovsky, Shah, Bengio), T + 20 steps, one-hot in 10 categories:
//!
//! ```text
//! symbols[10] | T - 1 blanks | delimiter | 10 blanks      symbols: 8 categories, then blank, then delimiter
//! class of each step: blank, and the symbols again at the last 10        guessing among them: 10 ln 8 / (T + 20)
//! ```
//!
//! A sequence depends on seed, part and its number alone: with more sequences, the first ones stay the same.

use std::path::Path;

use rand::Rng;
use rayon::prelude::*;

use super::known::{Entry, Known};
use super::random::stream;
use super::{Dataset, OpenOptions, Part, Task, Values};
use crate::{Error, Result};

/// Training sequences, where nothing is said.
const SEQUENCES: usize = 10_000;
/// Steps of `adding` and blanks of `copy-memory`, where nothing is said.
const ADDING_LENGTH: usize = 400;
const COPY_LENGTH: usize = 100;
/// Most values of a part: 4 GiB of them.
const MOST: usize = 1 << 30;

/// Symbols to remember, and of how many kinds.
const REMEMBERED: usize = 10;
const SYMBOLS: u32 = 8;
const BLANK: u32 = 8;
const DELIMITER: u32 = 9;
const CATEGORIES: usize = 10;

/// The tasks.
pub(super) static SETS: [Entry; 2] = [
    entry(
        "adding",
        "synthetic: the sum of two marked numbers, any length (adding-750), 2 channels, 10000 + 1000 sequences",
    ),
    entry(
        "copy-memory",
        "synthetic: ten symbols recalled after any length (copy-memory-500), 10 channels, 10000 + 1000 sequences",
    ),
];

const fn entry(name: &'static str, description: &'static str) -> Entry {
    Entry {
        known: Known {
            name,
            description,
            source: "https://proceedings.mlr.press/v48/arjovsky16.html",
            license: "none needed: drawn here",
            built_in: true,
        },
        files: "",
        find: |_| None,
        open,
        counts: &[],
    }
}

/// The task of a name that may end with a length: `adding` for `adding-750`, and 750.
pub(super) fn split_name(name: &str) -> (&str, Option<usize>) {
    let of_task = |(task, digits): (&'_ str, &str)| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let known = SETS.iter().find(|entry| entry.known.name == task && is_number)?;
        Some((known.known.name, digits.parse().ok()?))
    };
    match name.rsplit_once('-').and_then(of_task) {
        Some((task, length)) => (task, Some(length)),
        None => (name, None),
    }
}

fn open(name: &str, _: &Path, options: &OpenOptions) -> Result<Dataset> {
    let (task, named) = split_name(name);
    let is_adding = task == "adding";
    let usual = if is_adding { ADDING_LENGTH } else { COPY_LENGTH };
    let length = chosen_length(named, options.preparation.length)?.unwrap_or(usual);
    let sequences = options.preparation.sequences.unwrap_or(SEQUENCES);
    let (features, steps) = if is_adding {
        (2, length)
    } else {
        (CATEGORIES, length.saturating_add(2 * REMEMBERED))
    };
    check("length", length, if is_adding { 2 } else { 1 }, MOST / 100)?;
    check("sequences", sequences, 1, MOST / features / steps)?;
    let seed = options.preparation.data_seed;
    let make = if is_adding { adding } else { copy_memory };
    let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let symbols = ["0", "1", "2", "3", "4", "5", "6", "7", "blank", "delimiter"];
    Ok(Dataset {
        name: name.to_owned(),
        feature_names: if is_adding {
            named(&["value", "mark"])
        } else {
            named(&symbols)
        },
        classes: if is_adding { Vec::new() } else { named(&symbols[..9]) },
        task: if is_adding {
            Task::Regression
        } else {
            Task::StepClassification
        },
        train: make(seed, 0, sequences, length),
        test: Some(make(seed, 1, sequences.div_ceil(10), length)),
        ..Dataset::default()
    })
}

fn chosen_length(named: Option<usize>, option: Option<usize>) -> Result<Option<usize>> {
    match (named, option) {
        (Some(named), Some(option)) if named != option => Err(Error::setting(
            "length",
            option,
            format!("{named} as in the name, or a name without a length"),
        )),
        _ => Ok(named.or(option)),
    }
}

fn check(name: &str, found: usize, least: usize, most: usize) -> Result<()> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(Error::setting(name, found, format!("{least} to {most}")))
}

/// A whole number below `bound`.
fn below(random: &mut impl Rng, bound: usize) -> usize {
    ((u64::from(random.next_u32()) * bound as u64) >> 32) as usize
}

/// Uniform in [0, 1), a multiple of 2^-24.
fn uniform(random: &mut impl Rng) -> f32 {
    (random.next_u32() >> 8) as f32 / 16_777_216.0
}

/// The position of a sequence's numbers in the stream of its part.
fn position(part: u64, sequence: usize) -> u64 {
    part << 40 | sequence as u64
}

/// A part of `adding`, `[length, 2]` a sequence.
fn adding(seed: u64, part: u64, sequences: usize, length: usize) -> Part {
    let mut values = vec![0.0; sequences * length * 2];
    let rows = values.par_chunks_exact_mut(length * 2).enumerate();
    let numbers = rows.map(|(sequence, steps)| {
        let mut random = stream(b"adding\0\0", seed, position(part, sequence));
        steps
            .iter_mut()
            .step_by(2)
            .for_each(|value| *value = uniform(&mut random));
        let half = length / 2;
        let marked = [below(&mut random, half), half + below(&mut random, length - half)];
        marked.iter().for_each(|&step| steps[2 * step + 1] = 1.0);
        marked.iter().map(|&step| steps[2 * step]).sum()
    });
    let numbers = numbers.collect();
    Part {
        features: 2,
        offsets: (0..=sequences).map(|sequence| sequence * length).collect(),
        values: Values::Numbers(values),
        numbers,
        ..Part::default()
    }
}

/// A part of `copy-memory`, `[blanks + 20, 10]` a sequence.
fn copy_memory(seed: u64, part: u64, sequences: usize, blanks: usize) -> Part {
    let steps = blanks + 2 * REMEMBERED;
    let mut values = vec![0.0; sequences * steps * CATEGORIES];
    let mut step_labels = vec![BLANK; sequences * steps];
    let rows = values
        .par_chunks_exact_mut(steps * CATEGORIES)
        .zip(step_labels.par_chunks_exact_mut(steps));
    rows.enumerate().for_each(|(sequence, (inputs, labels))| {
        let mut random = stream(b"copying\0", seed, position(part, sequence));
        let (front, recalled) = labels.split_at_mut(steps - REMEMBERED);
        debug_assert_eq!(front.len(), blanks + REMEMBERED);
        recalled
            .iter_mut()
            .for_each(|label| *label = below(&mut random, SYMBOLS as usize) as u32);
        let delimiter = blanks + REMEMBERED - 1;
        for (step, input) in inputs.chunks_exact_mut(CATEGORIES).enumerate() {
            let category = match step {
                _ if step < REMEMBERED => recalled[step],
                _ if step == delimiter => DELIMITER,
                _ => BLANK,
            };
            input[category as usize] = 1.0;
        }
    });
    Part {
        features: CATEGORIES,
        offsets: (0..=sequences).map(|sequence| sequence * steps).collect(),
        values: Values::Numbers(values),
        step_labels,
        ..Part::default()
    }
}

#[cfg(test)]
#[path = "synthetic_tests.rs"]
mod tests;
