//! Distillation: cross-entropy of the labels mixed with that of a teacher's probabilities.
//!
//! ```text
//! p_T[n,c] = softmax of l[n] / T        q[n,c] = what the teacher says, softened by the same temperature T
//! loss     = sum_n s_n ((1 - a) (-ln p_1[n,y_n]) + a T^2 sum_c q[n,c] (-ln p_T[n,c]))
//! dl[n,c]  = s_n ((1 - a) (p_1[n,c] - [c = y_n]) + a T (p_T[n,c] sum_k q[n,k] - q[n,c]))
//! ```
//!
//! Shapes: logits l and probabilities q [sequences, classes], targets y [sequences]. `s_n` is the share of a sequence in the weighted mean
//! of [`weighted_cross_entropy`], the same for both terms; a is the teacher's weight. The gradient of the second term shrinks as `1 / T^2`,
//! and its factor `T^2` undoes that.
//!
//! Source: Hinton, Vinyals, Dean, "Distilling the Knowledge in a Neural Network" (2015), arXiv 1503.02531, section 2.

use ernn_kernels::Real;

use super::loss::{exponentials, maximum, shares, weighted_cross_entropy};

/// How much a teacher counts beside the labels, and how its probabilities are softened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distillation {
    /// Share of the teacher in the loss, 0 to 1.
    pub weight: f64,
    /// What logits are divided by, those of the teacher and of the model, above 0.
    pub temperature: f64,
}

/// What a teacher says of the sequences of a batch.
#[derive(Clone, Copy, Debug)]
pub struct SoftTargets<'a> {
    /// Its probabilities at the temperature, `[sequences, classes]`.
    pub probabilities: &'a [f32],
    /// How much they count.
    pub distillation: Distillation,
}

/// As [`weighted_cross_entropy`], mixed with the cross-entropy of what a teacher says.
///
/// # Panics
/// As [`weighted_cross_entropy`]; or if there is not one probability a logit.
pub fn distilled_cross_entropy<F: Real>(
    logits: &[F],
    classes: usize,
    targets: &[u32],
    class_weights: Option<&[F]>,
    row_weights: Option<&[f32]>,
    teacher: SoftTargets,
    gradient: &mut Vec<F>,
) -> F {
    assert_eq!(teacher.probabilities.len(), logits.len(), "one probability a logit");
    let Distillation { weight, temperature } = teacher.distillation;
    let (own, temperature) = (F::from_f64(1.0 - weight), F::from_f64(temperature));
    let hard = weighted_cross_entropy(logits, classes, targets, class_weights, row_weights, gradient);
    gradient.iter_mut().for_each(|value| *value *= own);
    let weight = F::from_f64(weight);
    let mut soft = F::ZERO;
    let mut row = vec![F::ZERO; classes];
    for (index, &share) in shares(targets, class_weights, row_weights).iter().enumerate() {
        let place = index * classes..(index + 1) * classes;
        for (softened, &logit) in row.iter_mut().zip(&logits[place.clone()]) {
            *softened = logit / temperature;
        }
        let scale = weight * temperature * share;
        let says = &teacher.probabilities[place.clone()];
        soft += share * soft_row_loss(&mut row, says, scale, &mut gradient[place]);
    }
    own * hard + weight * temperature * temperature * soft
}

/// The cross-entropy of one row of softened logits, which become probabilities; adds its gradient, scaled.
fn soft_row_loss<F: Real>(row: &mut [F], says: &[f32], scale: F, gradient: &mut [F]) -> F {
    let widened = |value: f32| F::from_f64(f64::from(value));
    let largest = maximum(row);
    let below: F = row
        .iter()
        .zip(says)
        .map(|(&logit, &says)| widened(says) * (largest - logit))
        .sum();
    let mass: F = says.iter().map(|&says| widened(says)).sum();
    let sum = exponentials(row);
    for ((gradient, &exponential), &says) in gradient.iter_mut().zip(row.iter()).zip(says) {
        *gradient += scale * (exponential / sum * mass - widened(says));
    }
    below + mass * sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f64; 9] = [0.3, -1.2, 0.8, 2.0, 0.1, -0.4, 0.0, 0.5, 1.5];
    const SAYS: [f32; 9] = [0.25, 0.5, 0.25, 0.75, 0.125, 0.125, 0.0, 0.0, 1.0];
    const TARGETS: [u32; 3] = [2, 0, 1];

    fn loss(logits: &[f64], weight: f64, temperature: f64, gradient: &mut Vec<f64>) -> f64 {
        let teacher = SoftTargets {
            probabilities: &SAYS,
            distillation: Distillation { weight, temperature },
        };
        let (classes, rows) = (Some(&[0.5, 2.0, 1.25][..]), Some(&[1.0, 3.0, 0.5][..]));
        distilled_cross_entropy(logits, 3, &TARGETS, classes, rows, teacher, gradient)
    }

    /// The formula at the head of the file, term by term.
    fn plain(weight: f64, temperature: f64) -> f64 {
        let shares = [1.25 * 1.0, 0.5 * 3.0, 2.0 * 0.5];
        let total: f64 = shares.iter().sum();
        let log_probability = |row: usize, class: usize, temperature: f64| {
            let row = &LOGITS[3 * row..][..3];
            let sum: f64 = row.iter().map(|logit| (logit / temperature).exp()).sum();
            row[class] / temperature - sum.ln()
        };
        let of_row = |row: usize| {
            let hard = -log_probability(row, TARGETS[row] as usize, 1.0);
            let soft = |class: usize| -f64::from(SAYS[3 * row + class]) * log_probability(row, class, temperature);
            let soft: f64 = (0..3).map(soft).sum();
            shares[row] / total * ((1.0 - weight) * hard + weight * temperature.powi(2) * soft)
        };
        (0..3).map(of_row).sum()
    }

    #[test]
    fn is_the_mixture_of_both_terms() {
        for (weight, temperature) in [(0.0, 2.0), (0.3, 1.0), (0.5, 2.0), (1.0, 4.0)] {
            let found = loss(&LOGITS, weight, temperature, &mut Vec::new());
            let expected = plain(weight, temperature);
            assert!(
                (found - expected).abs() < 1e-13,
                "{weight} {temperature}: {found} {expected}"
            );
        }
    }

    #[test]
    fn gradient_agrees_with_finite_differences() {
        let (mut gradient, mut unused) = (Vec::new(), Vec::new());
        for (weight, temperature) in [(0.0, 2.0), (0.3, 1.0), (0.5, 2.0), (1.0, 4.0)] {
            loss(&LOGITS, weight, temperature, &mut gradient);
            for index in 0..LOGITS.len() {
                let mut at = |shift: f64| {
                    let mut moved = LOGITS;
                    moved[index] += shift;
                    loss(&moved, weight, temperature, &mut unused)
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                let error = (slope - gradient[index]).abs();
                assert!(error < 1e-8, "{weight} {temperature}, logit {index}: {error:e}");
            }
        }
    }

    #[test]
    fn a_teacher_of_no_weight_changes_no_bit() {
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        let weights = (Some(&[0.5, 2.0, 1.25][..]), Some(&[1.0, 3.0, 0.5][..]));
        let alone = weighted_cross_entropy(&LOGITS, 3, &TARGETS, weights.0, weights.1, &mut expected);
        assert_eq!((loss(&LOGITS, 0.0, 2.0, &mut found), found), (alone, expected));
    }

    #[test]
    fn hopeless_logits_give_a_large_finite_loss() {
        let teacher = SoftTargets {
            probabilities: &[0.5, 0.5],
            distillation: Distillation {
                weight: 1.0,
                temperature: 1.0,
            },
        };
        let mut gradient = Vec::new();
        let found = distilled_cross_entropy(&[1e4f32, -1e4], 2, &[1], None, None, teacher, &mut gradient);
        assert_eq!((found, gradient), (1e4, vec![0.5, -0.5]));
    }
}
