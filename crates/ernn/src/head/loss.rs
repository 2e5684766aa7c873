//! Softmax cross-entropy over classes.
//!
//! ```text
//! log p[n,c] = l[n,c] - m_n - ln sum_k exp(l[n,k] - m_n)         m_n = max_c l[n,c], so that no exponential overflows
//! loss       = sum_n w[y_n] (-log p[n,y_n]) / sum_n w[y_n]
//! dl[n,c]    = w[y_n] (p[n,c] - [c = y_n]) / sum_n w[y_n]
//! ```
//!
//! Shapes: logits l [sequences, classes], targets y [sequences], class weights w [classes] (1 where none are given). The
//! weighted mean is that of `torch.nn.CrossEntropyLoss(weight=w)`; balanced weights are those of scikit-learn's
//! `compute_class_weight("balanced")`.

use ernn_kernels::Real;

/// Turns rows of logits into probabilities, in place.
pub fn softmax<F: Real>(logits: &mut [F], classes: usize) {
    assert_rows(logits, classes);
    for row in logits.chunks_exact_mut(classes) {
        let sum = exponentials(row);
        for value in row {
            *value /= sum;
        }
    }
}

/// Mean cross-entropy of `targets` under `logits` `[sequences, classes]`; sets the gradient of the logits.
///
/// With class weights it is the weighted mean. Where the weights of all targets sum to 0 (torch gives NaN there), also for no
/// sequences at all, loss and gradient are 0: nothing counts, so nothing is learned.
///
/// # Panics
/// If sizes disagree or a target is no class.
pub fn cross_entropy<F: Real>(
    logits: &[F],
    classes: usize,
    targets: &[u32],
    class_weights: Option<&[F]>,
    gradient: &mut Vec<F>,
) -> F {
    assert_rows(logits, classes);
    assert_eq!(logits.len(), targets.len() * classes, "one target a row of logits");
    assert!(
        class_weights.is_none_or(|weights| weights.len() == classes),
        "one weight a class"
    );
    weighted_cross_entropy(logits, classes, targets, class_weights, None, gradient)
}

/// As [`cross_entropy`], with a weight for each row `[sequences]` beside those of the classes: `w[y_n] v[n]` in the place of `w[y_n]`.
///
/// # Panics
/// As [`cross_entropy`]; or if there is not one weight a row.
pub fn weighted_cross_entropy<F: Real>(
    logits: &[F],
    classes: usize,
    targets: &[u32],
    class_weights: Option<&[F]>,
    row_weights: Option<&[f32]>,
    gradient: &mut Vec<F>,
) -> F {
    let shares = shares(targets, class_weights, row_weights);
    gradient.clear();
    gradient.extend_from_slice(logits);
    if shares.iter().all(|&share| share == F::ZERO) {
        gradient.fill(F::ZERO);
        return F::ZERO;
    }
    let mut loss = F::ZERO;
    for ((row, &target), &share) in gradient.chunks_exact_mut(classes).zip(targets).zip(&shares) {
        loss += share * row_loss(row, target as usize, share);
    }
    loss
}

/// How much of the mean each row is: its weight, `w[y_n] v[n]`, in the sum of all; 0 for all where nothing counts.
///
/// # Panics
/// If there is not one weight a row.
pub(super) fn shares<F: Real>(targets: &[u32], class_weights: Option<&[F]>, row_weights: Option<&[f32]>) -> Vec<F> {
    let fits = |weights: &[f32]| weights.len() == targets.len();
    assert!(row_weights.is_none_or(fits), "one weight a row");
    let weight = |row: usize| {
        let of_class = class_weights.map_or(F::ONE, |weights| weights[targets[row] as usize]);
        row_weights.map_or(of_class, |weights| of_class * F::from_f64(f64::from(weights[row])))
    };
    let total: F = (0..targets.len()).map(weight).sum();
    if total == F::ZERO {
        return vec![F::ZERO; targets.len()];
    }
    (0..targets.len()).map(|row| weight(row) / total).collect()
}

/// The negative log-likelihood of one row of logits, which becomes its gradient, scaled by `share`.
fn row_loss<F: Real>(row: &mut [F], target: usize, share: F) -> F {
    let largest = maximum(row);
    let margin = largest - row[target];
    let sum = exponentials(row);
    let scale = share / sum;
    for value in row.iter_mut() {
        *value *= scale;
    }
    row[target] -= share;
    margin + sum.ln()
}

/// Replaces a row by `exp(row - max)` and gives the sum.
pub(super) fn exponentials<F: Real>(row: &mut [F]) -> F {
    let largest = maximum(row);
    let mut sum = F::ZERO;
    for value in row {
        *value = (*value - largest).exp();
        sum += *value;
    }
    sum
}

pub(super) fn maximum<F: Real>(row: &[F]) -> F {
    row.iter().copied().fold(row[0], F::max)
}

fn assert_rows<F>(logits: &[F], classes: usize) {
    assert!(
        classes > 0 && logits.len().is_multiple_of(classes),
        "logits that are not [sequences, classes]"
    );
}

/// Weights that let every class count the same: `N / (C n_c)` for `N` sequences of `C` classes that occur, `n_c` of class
/// `c`; 0 for a class that does not occur. Their mean over the sequences is 1.
pub fn balanced_class_weights(counts: &[usize]) -> Vec<f64> {
    let total: usize = counts.iter().sum();
    let present = counts.iter().filter(|&&count| count > 0).count();
    let weight = |&count: &usize| match count {
        0 => 0.0,
        _ => total as f64 / (present * count) as f64,
    };
    counts.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_sum_to_one_for_any_size_of_logits() {
        let mut values = vec![1e4f32, -1e4, 0.0, 1e-3, 0.0, -1e-3, 88.9, 88.9, 88.9];
        softmax(&mut values, 3);
        assert_eq!(&values[..3], [1.0, 0.0, 0.0]);
        for row in values.chunks_exact(3) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{row:?}");
        }
    }

    #[test]
    fn equal_logits_lose_the_logarithm_of_the_classes() {
        let mut gradient = Vec::new();
        let loss = cross_entropy(&[7.0f64; 8], 4, &[0, 3], None, &mut gradient);
        assert!((loss - 4f64.ln()).abs() < 1e-15);
        assert_eq!(gradient[..4], [-0.375, 0.125, 0.125, 0.125]);
    }

    #[test]
    fn gradient_agrees_with_finite_differences() {
        let logits = [0.3, -1.2, 0.8, 2.0, 0.1, -0.4, 0.0, 0.5, 1.5f64];
        let (targets, weights) = ([2, 0, 1], [0.5, 2.0, 1.25]);
        let (mut gradient, mut unused) = (Vec::new(), Vec::new());
        cross_entropy(&logits, 3, &targets, Some(&weights), &mut gradient);
        for index in 0..logits.len() {
            let mut loss_at = |shift: f64| {
                let mut moved = logits;
                moved[index] += shift;
                cross_entropy(&moved, 3, &targets, Some(&weights), &mut unused)
            };
            let slope = (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6;
            assert!((slope - gradient[index]).abs() < 1e-9, "{index}");
        }
    }

    #[test]
    fn a_row_of_weight_two_counts_as_two_rows() {
        let logits = [0.3, -1.2, 0.8, 2.0, 0.1, -0.4f64];
        let twice = [&logits[..3], &logits[..]].concat();
        let (mut weighted, mut repeated) = (Vec::new(), Vec::new());
        let class_weights = Some(&[0.5, 2.0, 1.0][..]);
        let loss = weighted_cross_entropy(&logits, 3, &[2, 0], class_weights, Some(&[2.0, 1.0]), &mut weighted);
        let other = cross_entropy(&twice, 3, &[2, 2, 0], class_weights, &mut repeated);
        assert!((loss - other).abs() < 1e-15);
        for index in 0..3 {
            assert!((weighted[index] - 2.0 * repeated[index]).abs() < 1e-15, "{index}");
            assert!((weighted[3 + index] - repeated[6 + index]).abs() < 1e-15, "{index}");
        }
    }

    #[test]
    fn a_hopeless_logit_gives_a_large_finite_loss() {
        let mut gradient = Vec::new();
        let loss = cross_entropy(&[1e4f32, -1e4], 2, &[1], None, &mut gradient);
        assert_eq!(loss, 2e4);
        assert_eq!(gradient, [1.0, -1.0]);
    }

    #[test]
    fn a_non_finite_logit_shows_in_the_loss() {
        let mut gradient = Vec::new();
        assert!(!cross_entropy(&[0.0, f32::NAN], 2, &[0], None, &mut gradient).is_finite());
        assert!(!cross_entropy(&[0.0, f32::INFINITY], 2, &[0], None, &mut gradient).is_finite());
    }

    #[test]
    fn nothing_that_counts_gives_no_loss() {
        let mut gradient = vec![1.0];
        assert_eq!(cross_entropy::<f32>(&[], 2, &[], None, &mut gradient), 0.0);
        assert!(gradient.is_empty());
        let loss = cross_entropy(&[1.0, 2.0], 2, &[1], Some(&[1.0, 0.0]), &mut gradient);
        assert_eq!((loss, gradient), (0.0, vec![0.0, 0.0]));
    }

    #[test]
    fn balanced_weights_follow_scikit_learn() {
        // compute_class_weight("balanced") of labels 0 x 97 and 2 x 3.
        assert_eq!(balanced_class_weights(&[97, 0, 3]), [100.0 / 194.0, 0.0, 100.0 / 6.0]);
        assert_eq!(balanced_class_weights(&[5, 5]), [1.0, 1.0]);
        assert!(balanced_class_weights(&[]).is_empty());
    }
}
