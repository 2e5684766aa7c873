//! A validation part cut from a training part: stratified by class, or by whole groups where the data names them.
//!
//! Windows of one subject overlap and resemble each other, so a validation part that shares subjects with the training part
//! measures nothing. Without groups each class gives its share, by largest remainders; with groups the best of many seeded
//! draws of whole groups is taken, judged by how near it comes to the wished share of every class.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;

use super::Part;
use super::random::stream;
use crate::{Error, Result};

const PURPOSE: &[u8; 8] = b"split\0\0\0";
/// Draws of groups that are compared.
const DRAWS: usize = 256;

/// Indices of the training and of the validation sequences, both ascending; `fraction` of them go to validation.
///
/// Every class keeps at least one training sequence, groups stay whole, and with `fraction > 0` both sides hold at least one
/// sequence. The same part, fraction and seed give the same split.
///
/// # Errors
/// If `fraction` is not in `0..1`, or the part is too small to be split that way.
pub fn split(part: &Part, fraction: f64, seed: u64) -> Result<(Vec<usize>, Vec<usize>)> {
    if !(0.0..1.0).contains(&fraction) {
        let expected = "a fraction of at least 0 and below 1";
        return Err(Error::setting("validation", fraction, expected));
    }
    let mut held_out = vec![false; part.len()];
    if fraction > 0.0 {
        let chosen = if part.groups.is_empty() {
            by_class(part, fraction, seed)?
        } else {
            by_group(part, fraction, seed)?
        };
        chosen.into_iter().for_each(|sequence| held_out[sequence] = true);
    }
    Ok((0..part.len()).partition(|&sequence| !held_out[sequence]))
}

fn too_small(problem: &str) -> Error {
    let problem = format!("{problem}; train without one (--validation 0) or give a validation part of its own");
    Error::data("validation split", problem)
}

/// The class of a sequence, or what stands for its labels; unlabelled data is one class.
fn class(strata: &[u32], sequence: usize) -> usize {
    strata.get(sequence).map_or(0, |&label| label as usize)
}

fn class_counts(strata: &[u32], sequences: impl Iterator<Item = usize>) -> Vec<usize> {
    let classes = strata.iter().max().map_or(1, |&label| label as usize + 1);
    let mut counts = vec![0; classes];
    sequences.for_each(|sequence| counts[class(strata, sequence)] += 1);
    counts
}

fn by_class(part: &Part, fraction: f64, seed: u64) -> Result<Vec<usize>> {
    let strata = part.strata();
    let counts = class_counts(&strata, 0..part.len());
    let shares = shares(&counts, fraction);
    if shares.iter().sum::<usize>() == 0 {
        return Err(too_small(
            "no class has two sequences, one to train with and one to validate with",
        ));
    }
    let mut members = vec![Vec::new(); counts.len()];
    (0..part.len()).for_each(|sequence| members[class(&strata, sequence)].push(sequence));
    let mut random = stream(PURPOSE, seed, 0);
    let mut chosen = Vec::new();
    for (members, share) in members.iter_mut().zip(shares) {
        members.shuffle(&mut random);
        chosen.extend_from_slice(&members[..share]);
    }
    Ok(chosen)
}

/// How many sequences each class gives: its fraction rounded down, and the rest to the largest remainders.
fn shares(counts: &[usize], fraction: f64) -> Vec<usize> {
    let most = |class: usize| counts[class].saturating_sub(1);
    let exact = |class: usize| counts[class] as f64 * fraction;
    let mut shares: Vec<usize> = (0..counts.len())
        .map(|class| (exact(class) as usize).min(most(class)))
        .collect();
    let total: usize = counts.iter().sum();
    let wanted = ((total as f64 * fraction).round() as usize).max(1);
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by(|&a, &b| {
        exact(b)
            .fract()
            .total_cmp(&exact(a).fract())
            .then(counts[b].cmp(&counts[a]))
    });
    for class in order {
        if shares.iter().sum::<usize>() < wanted && shares[class] < most(class) {
            shares[class] += 1;
        }
    }
    shares
}

fn by_group(part: &Part, fraction: f64, seed: u64) -> Result<Vec<usize>> {
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    part.groups
        .iter()
        .enumerate()
        .for_each(|(sequence, &group)| members.entry(group).or_default().push(sequence));
    if members.len() < 2 {
        return Err(too_small("all sequences belong to one group, which must stay whole"));
    }
    let members: Vec<Vec<usize>> = members.into_values().collect();
    let strata = part.strata();
    let counts: Vec<Vec<usize>> = members
        .iter()
        .map(|group| class_counts(&strata, group.iter().copied()))
        .collect();
    let total = class_counts(&strata, 0..part.len());

    let mut random = stream(PURPOSE, seed, 1);
    let mut order: Vec<usize> = (0..members.len()).collect();
    let mut best: Option<(f64, Vec<usize>)> = None;
    for _ in 0..DRAWS {
        order.shuffle(&mut random);
        let Some((distance, chosen)) = draw(&order, &counts, &total, fraction) else {
            continue;
        };
        if best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, chosen));
        }
    }
    let (_, chosen) = best.ok_or_else(|| {
        too_small("every group is the only one with sequences of some class, which would then have none to train with")
    })?;
    Ok(chosen
        .into_iter()
        .flat_map(|group| members[group].iter().copied())
        .collect())
}

/// Takes groups in this order as long as each brings the held-out share of the classes nearer to the wished one. `None` if no
/// group may be held out.
fn draw(order: &[usize], counts: &[Vec<usize>], total: &[usize], fraction: f64) -> Option<(f64, Vec<usize>)> {
    let mut held = vec![0; total.len()];
    let mut chosen = Vec::new();
    let mut distance = f64::INFINITY;
    for &group in order.iter() {
        let with: Vec<usize> = held
            .iter()
            .zip(&counts[group])
            .map(|(held, count)| held + count)
            .collect();
        let class_lost = with.iter().zip(total).any(|(&held, &total)| total > 0 && held == total);
        let new_distance = distance_to_share(&with, total, fraction);
        if !class_lost && new_distance < distance {
            held = with;
            distance = new_distance;
            chosen.push(group);
        }
    }
    (!chosen.is_empty()).then_some((distance, chosen))
}

/// How far the held-out counts are from `fraction` of each class, and of all.
fn distance_to_share(held: &[usize], total: &[usize], fraction: f64) -> f64 {
    let off = |held: usize, total: usize| (held as f64 - fraction * total as f64).abs();
    let classes: f64 = held.iter().zip(total).map(|(&held, &total)| off(held, total)).sum();
    classes + off(held.iter().sum(), total.iter().sum())
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
