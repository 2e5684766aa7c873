//! Successive halving: rounds of more and more folds for fewer and fewer trials.
//!
//! ```text
//! round 0     the first two folds                  all trials
//! round 1     the other folds of the same cut      a third
//! round 2     a second cut, other seeds            a third of those
//! round 3     a third cut                          a third of those, at least two
//! ```

/// A share of trials goes on: one of so many.
const GOES_ON: usize = 3;
/// Trials that a round has at least, if there are as many.
const FEWEST: usize = 2;
/// Folds of the first round.
const FIRST_FOLDS: usize = 2;
/// Cuts at most.
const CUTS: usize = 3;

/// The folds of a round: (cut, fold).
pub(super) fn folds_of(round: usize, folds: usize) -> Vec<(usize, usize)> {
    let first = FIRST_FOLDS.min(folds);
    match round {
        0 => (0..first).map(|fold| (0, fold)).collect(),
        1 => (first..folds).map(|fold| (0, fold)).collect(),
        round => (0..folds).map(|fold| (round - 1, fold)).collect(),
    }
}

/// Rounds.
pub(super) const ROUNDS: usize = CUTS + 1;

/// How many of a round's trials go on to the next.
pub(super) fn goes_on(trials: usize) -> usize {
    trials.div_ceil(GOES_ON).max(FEWEST).min(trials)
}

/// Fits that so many trials take, and their estimate.
pub(super) fn fits(trials: usize, folds: usize) -> usize {
    let mut left = trials;
    let mut fits = folds;
    for round in 0..ROUNDS {
        fits += left * folds_of(round, folds).len();
        left = goes_on(left);
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_have_every_fold_once() {
        for folds in 2..8 {
            let all: Vec<(usize, usize)> = (0..ROUNDS).flat_map(|round| folds_of(round, folds)).collect();
            let expected: Vec<(usize, usize)> = (0..CUTS)
                .flat_map(|cut| (0..folds).map(move |fold| (cut, fold)))
                .collect();
            assert_eq!(all, expected);
        }
    }

    #[test]
    fn a_third_goes_on_and_never_fewer_than_two() {
        assert_eq!([60, 20, 7, 3, 2, 1].map(goes_on), [20, 7, 3, 2, 2, 1]);
        assert_eq!(fits(60, 5), 5 + 120 + 60 + 35 + 15);
    }
}
