//! A part cut into folds: each sequence is held out once. Stratified by class; groups, and copies of one sequence, stay whole.
//!
//! Units (a group, the copies of a sequence, or a single sequence) are dealt out one after the other, the largest first, each to the fold
//! in which it raises `sum over classes (n[fold, class] / n[class])^2` least: single sequences are spread evenly over the folds within
//! each class, and groups as nearly as they allow it.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::random::stream;
use super::{Part, Values};
use crate::{Error, Result};

const PURPOSE: &[u8; 8] = b"folds\0\0\0";
/// More is a slip of the finger; a fold of one sequence each is `--folds N` all the same.
const MOST: usize = 1000;

/// How a part is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Scheme {
    /// So many folds, nearly alike.
    Number(usize),
    /// Each group is a fold.
    Groups,
}

impl FromStr for Scheme {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match (text, text.parse()) {
            ("groups", _) => Ok(Scheme::Groups),
            (_, Ok(number @ 2..=MOST)) => Ok(Scheme::Number(number)),
            _ => Err(format!(
                "found {text}, expected groups (each one held out in turn) or a number of folds, 2 to {MOST}"
            )),
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheme::Number(number) => write!(formatter, "{number}"),
            Scheme::Groups => formatter.write_str("groups"),
        }
    }
}

impl From<Scheme> for String {
    fn from(scheme: Scheme) -> Self {
        scheme.to_string()
    }
}

impl TryFrom<String> for Scheme {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

/// A part cut into folds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// The sequences that each fold holds out, ascending.
    pub held_out: Vec<Vec<usize>>,
    /// Sequences that are copies of an earlier one, to the bit.
    pub copies: usize,
    /// Those of them that belong to another group than the one they are copies of: no cut into groups keeps them together.
    pub torn: usize,
}

impl Folds {
    /// The sequences that are trained on when this fold is held out, ascending.
    pub fn rest(&self, fold: usize) -> Vec<usize> {
        let others = self.held_out.iter().enumerate().filter(|(index, _)| *index != fold);
        let mut rest: Vec<usize> = others.flat_map(|(_, held_out)| held_out.iter().copied()).collect();
        rest.sort_unstable();
        rest
    }
}

/// Cuts a part; the same part, scheme and seed give the same folds.
///
/// # Errors
/// If there are fewer groups (or other sequences) than folds, or no groups where they are asked for.
pub fn folds(part: &Part, scheme: Scheme, seed: u64) -> Result<Folds> {
    let first = first_copies(part);
    let copies = first.iter().enumerate().filter(|(index, first)| *index != **first);
    let group = |sequence: usize| part.groups.get(sequence);
    let torn = copies
        .clone()
        .filter(|(index, first)| group(*index) != group(**first))
        .count();
    let copies = copies.count();
    let units = units(part, &first);
    let held_out = match scheme {
        Scheme::Groups if part.groups.is_empty() => {
            return Err(refusal(
                scheme,
                "data that names the group (person, speaker, device) of each sequence; --folds 5 does without",
            ));
        }
        Scheme::Groups if units.len() < 2 => return Err(refusal(scheme, "at least two groups")),
        Scheme::Groups => units,
        Scheme::Number(number) if number > units.len() => {
            let (what, count) = match part.groups.is_empty() {
                true => ("different sequences", units.len()),
                false => ("groups, which stay whole", units.len()),
            };
            return Err(refusal(scheme, &format!("at most {count}, as there are {what}")));
        }
        Scheme::Number(number) => deal(part, units, number, seed),
    };
    Ok(Folds { held_out, copies, torn })
}

fn refusal(scheme: Scheme, expected: &str) -> Error {
    Error::setting("--folds", scheme, expected)
}

/// For each sequence the first one that holds the same values, itself in most cases.
fn first_copies(part: &Part) -> Vec<usize> {
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut content = Vec::new();
    (0..part.len())
        .map(|sequence| {
            content.clear();
            let steps = part.offsets[sequence]..part.offsets[sequence + 1];
            match &part.values {
                Values::Numbers(_) => {
                    content.extend(part.sequence(sequence).iter().flat_map(|value| value.to_le_bytes()))
                }
                Values::Tokens(tokens) => content.extend(tokens[steps].iter().flat_map(|token| token.to_le_bytes())),
                Values::Images(images) => content.extend_from_slice(images.picture(sequence)),
            }
            *seen.entry(digest(&content)).or_insert(sequence)
        })
        .collect()
}

/// 160 bits of a content: the contents of a large part would fill the memory once more.
fn digest(content: &[u8]) -> Vec<u8> {
    use sha1::{Digest, Sha1};
    Sha1::digest(content).to_vec()
}

/// What stays whole, each ascending, in the order of their first sequences.
fn units(part: &Part, first: &[usize]) -> Vec<Vec<usize>> {
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut units: Vec<Vec<usize>> = Vec::new();
    for (sequence, &first) in first.iter().enumerate() {
        let name = part
            .groups
            .get(sequence)
            .map_or(first as u64, |&group| u64::from(group));
        let place = *places.entry(name).or_insert_with(|| {
            units.push(Vec::new());
            units.len() - 1
        });
        units[place].push(sequence);
    }
    units
}

fn deal(part: &Part, mut units: Vec<Vec<usize>>, number: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = stream(PURPOSE, seed, 0);
    units.shuffle(&mut random);
    units.sort_by_key(|unit| std::cmp::Reverse(unit.len()));
    let strata = part.strata();
    let classes = strata.iter().max().map_or(1, |&label| label as usize + 1);
    let class = |sequence: usize| strata.get(sequence).map_or(0, |&label| label as usize);
    let count = |sequences: &[usize]| {
        let mut counts = vec![0.0; classes];
        sequences.iter().for_each(|&sequence| counts[class(sequence)] += 1.0);
        counts
    };
    let total = count(&(0..part.len()).collect::<Vec<_>>());
    let mut held: Vec<Vec<f64>> = vec![vec![0.0; classes]; number];
    let mut folds: Vec<Vec<usize>> = vec![Vec::new(); number];
    for unit in units {
        let own = count(&unit);
        let raised = |held: &[f64]| -> f64 {
            let of_class = |class: usize| {
                let (before, after) = (held[class], held[class] + own[class]);
                if total[class] > 0.0 {
                    (after * after - before * before) / (total[class] * total[class])
                } else {
                    0.0
                }
            };
            (0..classes).map(of_class).sum()
        };
        let best = (0..number).min_by(|&one, &other| {
            raised(&held[one])
                .total_cmp(&raised(&held[other]))
                .then(folds[one].len().cmp(&folds[other].len()))
        });
        let best = best.expect("at least two folds");
        held[best].iter_mut().zip(&own).for_each(|(held, own)| *held += own);
        folds[best].extend(unit);
    }
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    folds
}

#[cfg(test)]
#[path = "folds_tests.rs"]
mod tests;
