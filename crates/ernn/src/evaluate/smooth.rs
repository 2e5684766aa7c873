//! Classes of steps that do not flicker.
//!
//! ```text
//! classes = argmax over c_1 ... c_T of  sum over t of log p_t(c_t)  -  penalty * (number of t with c_t != c_{t-1})
//! ```
//!
//! The best path of Viterbi (IEEE Transactions on Information Theory 13, 1967) where every change of class costs the same, in nats. It runs
//! through windows that follow each other and needs the whole recording: a stream has the classes without it. At penalty 0 each step has
//! the class of its largest logit.

use super::segments::{Segments, recordings};
use super::{first_largest, rows, step_logits_in};
use crate::Result;
use crate::data::View;
use crate::model::Model;
use crate::model::Workspace;

/// Penalties to choose from, in nats.
const PENALTIES: [f64; 14] = [
    0.0, 1.0, 2.0, 4.0, 7.0, 12.0, 20.0, 35.0, 60.0, 100.0, 170.0, 300.0, 500.0, 1000.0,
];

/// The class of each step of each sequence, from their logits `[steps, classes]`.
pub(super) fn smoothed(part: &View, logits: &[Vec<f32>], classes: usize, penalty: f64) -> Vec<Vec<u32>> {
    let mut all = Vec::with_capacity(logits.len());
    for own in recordings(part) {
        let path = best_path(
            logits[own.clone()].iter().flat_map(|logits| rows(logits, classes)),
            classes,
            penalty,
        );
        let mut rest = &path[..];
        for logits in &logits[own] {
            let (steps, others) = rest.split_at(logits.len() / classes.max(1));
            all.push(steps.to_vec());
            rest = others;
        }
    }
    all
}

/// Logits stand for logarithms of probabilities: what they differ by is the same for all classes of a step.
fn best_path<'a>(steps: impl Iterator<Item = &'a [f32]>, classes: usize, penalty: f64) -> Vec<u32> {
    // The best sum of a path that ends in each class; where it came from, if not from the same class.
    let mut scores = vec![0.0; classes];
    let mut best = 0_u32;
    let mut leaders = Vec::new();
    let mut jumped = Vec::new();
    for row in steps {
        let bar = scores.get(best as usize).copied().unwrap_or(0.0) - penalty;
        leaders.push(best);
        for (score, &logit) in scores.iter_mut().zip(row) {
            let jumps = *score < bar;
            jumped.push(jumps);
            *score = if jumps { bar } else { *score } + f64::from(logit);
        }
        best = first_largest(&scores) as u32;
    }
    let mut path = vec![0; leaders.len()];
    let mut class = best;
    for step in (0..leaders.len()).rev() {
        path[step] = class;
        if jumped[step * classes + class as usize] {
            class = leaders[step];
        }
    }
    path
}

/// The penalty with the best segments (the mean of F1 at the three overlaps, then the most steps) of a prepared part; of equals the largest,
/// as a model that has learned its own sequences by heart flickers on others alone.
pub(crate) fn choose_penalty(model: &Model<f32>, part: &View) -> Result<f64> {
    let classes = model.config().classes;
    let logits = step_logits_in(model, part, &mut Workspace::default())?;
    let mut best = (0.0, 0, 0.0);
    for penalty in PENALTIES {
        let said = smoothed(part, &logits, classes, penalty);
        let f1 = Segments::of(part, &said).f1.iter().sum::<f64>();
        let right = (0..said.len())
            .flat_map(|index| said[index].iter().zip(part.step_labels(index)))
            .filter(|(said, label)| said == label)
            .count();
        if (f1, right) >= (best.0, best.1) {
            best = (f1, right, penalty);
        }
    }
    Ok(best.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Part;

    /// Two classes whose logits differ by the given numbers.
    fn path(differences: &[f32], penalty: f64) -> Vec<u32> {
        let logits: Vec<[f32; 2]> = differences.iter().map(|&difference| [0.0, difference]).collect();
        best_path(logits.iter().map(|row| &row[..]), 2, penalty)
    }

    #[test]
    fn a_change_must_be_worth_its_penalty() {
        let steps = [-3.0, -3.0, 1.0, -3.0, 2.0, 2.0, -1.0, 2.0];
        assert_eq!(path(&steps, 0.0), [0, 0, 1, 0, 1, 1, 0, 1]);
        assert_eq!(path(&steps, 1.0), [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(
            path(&steps, 4.9),
            [0, 0, 0, 0, 1, 1, 1, 1],
            "5 nats for class 1 at the end"
        );
        assert_eq!(path(&steps, 5.1), [0; 8]);
        assert_eq!(path(&[], 1.0), [0; 0]);
    }

    /// Against all paths of up to seven steps.
    #[test]
    fn no_path_is_better() {
        let logits: Vec<f32> = (0..21).map(|place| ((place * 37 + 11) % 23) as f32 / 5.0).collect();
        let rows: Vec<&[f32]> = logits.chunks(3).collect();
        for penalty in [0.0, 0.5, 1.0, 2.5] {
            let worth = |path: &[u32]| {
                let changes = path.windows(2).filter(|pair| pair[0] != pair[1]).count();
                let sum: f64 = path
                    .iter()
                    .zip(&rows)
                    .map(|(&class, row)| f64::from(row[class as usize]))
                    .sum();
                sum - penalty * changes as f64
            };
            let all = (0..3_u32.pow(7)).map(|code| (0..7).map(|step| code / 3_u32.pow(step) % 3).collect::<Vec<u32>>());
            let best = all.map(|path| worth(&path)).fold(f64::NEG_INFINITY, f64::max);
            let found = best_path(rows.iter().copied(), 3, penalty);
            assert!((worth(&found) - best).abs() < 1e-9, "{penalty}: {found:?}");
        }
    }

    #[test]
    fn windows_that_follow_each_other_are_smoothed_as_one() {
        let mut part = Part::new(1);
        for _ in 0..3 {
            part.push(&[0.0; 2], None, None);
        }
        part.follows = vec![false, true, false];
        let logits = vec![
            vec![0.0, -3.0, 0.0, -3.0],
            vec![0.0, 1.0, 0.0, -1.0],
            vec![0.0, 1.0, 0.0, 1.0],
        ];
        let view = View::of(&part);
        assert_eq!(smoothed(&view, &logits, 2, 1.5), [[0, 0], [0, 0], [1, 1]]);
        assert_eq!(smoothed(&view, &logits, 2, 0.0), [[0, 0], [1, 0], [1, 1]]);
    }
}
