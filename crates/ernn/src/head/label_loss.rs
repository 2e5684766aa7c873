//! Binary cross-entropy of labels of which several can hold.
//!
//! ```text
//! loss[n,l] = max(x, 0) - x y + ln(1 + exp(-|x|))            x = x[n,l], y = y[n,l]: no exponential overflows
//! loss      = sum_nl w[l,y] loss[n,l] / sum_nl w[l,y]
//! dx[n,l]   = w[l,y] (p(x) - y) / sum_nl w[l,y]              p(x) = 1 / (1 + exp(-x)), the probability of the label
//! ```
//!
//! Shapes: logits x [sequences, labels], targets y [sequences, labels] of 0 and 1, weights w [labels, 2] of a label that does not hold and
//! of one that does (1 where none are given). Without weights it is the mean of `torch.nn.BCEWithLogitsLoss`.

use ernn_kernels::Real;

/// The probability of a label, `1 / (1 + exp(-x))`, for any size of the logit.
pub fn sigmoid<F: Real>(logit: F) -> F {
    let small = (-logit.abs()).exp();
    if logit >= F::ZERO {
        F::ONE / (F::ONE + small)
    } else if logit < F::ZERO {
        small / (F::ONE + small)
    } else {
        // What is no number stays so.
        logit
    }
}

/// How many rows of logits call exactly the labels that hold; shapes as above.
pub fn all_right<F: Real>(logits: &[F], indicators: &[u8], labels: usize) -> usize {
    let right = |(&logit, &holds): (&F, &u8)| (logit >= F::ZERO) == (holds != 0);
    let rows = logits.chunks_exact(labels).zip(indicators.chunks_exact(labels));
    rows.filter(|(logits, holds)| logits.iter().zip(*holds).all(right))
        .count()
}

/// `-ln` of the probability of what a label is.
pub fn label_loss<F: Real>(logit: F, holds: bool) -> F {
    let above = logit.max(F::ZERO) - if holds { logit } else { F::ZERO };
    let rest = (F::ONE + (-logit.abs()).exp()).ln();
    // The larger of a number and of none is the number: what is none is kept by the sum.
    above + rest
}

/// Mean binary cross-entropy of `targets` under `logits`, both `[sequences, labels]`; sets the gradient of the logits.
///
/// With weights `[labels, 2]` it is the weighted mean. Where all weights are 0, also for no sequences at all, loss and gradient are 0.
///
/// # Panics
/// If sizes disagree.
pub fn binary_cross_entropy<F: Real>(
    logits: &[F],
    labels: usize,
    targets: &[u8],
    weights: Option<&[F]>,
    gradient: &mut Vec<F>,
) -> F {
    assert_eq!(logits.len(), targets.len(), "one target a logit");
    assert!(
        labels > 0 && logits.len().is_multiple_of(labels),
        "logits that are not [sequences, labels]"
    );
    assert!(
        weights.is_none_or(|weights| weights.len() == 2 * labels),
        "two weights a label"
    );
    let weight = |place: usize| {
        weights.map_or(F::ONE, |weights| {
            weights[place % labels * 2 + usize::from(targets[place] != 0)]
        })
    };
    let total: F = (0..logits.len()).map(weight).sum();
    gradient.clear();
    gradient.resize(logits.len(), F::ZERO);
    if total == F::ZERO {
        return F::ZERO;
    }
    let mut loss = F::ZERO;
    for (place, slope) in gradient.iter_mut().enumerate() {
        let (logit, holds) = (logits[place], targets[place] != 0);
        let share = weight(place) / total;
        loss += share * label_loss(logit, holds);
        *slope = share * (sigmoid(logit) - if holds { F::ONE } else { F::ZERO });
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f64; 6] = [0.3, -1.2, 4.0, 0.75, -30.0, 2.5];
    const TARGETS: [u8; 6] = [1, 0, 0, 1, 1, 0];

    const PLAIN_LOSS: f64 = 6.300_258_063_355_319;
    const PLAIN_SLOPES: [f64; 6] = [
        -0.070_926_247_198_056_83,
        0.038_579_202_750_163_73,
        0.163_668_965_006_318_08,
        -0.053_470_216_804_101_17,
        -0.166_666_666_666_651_06,
        0.154_023_636_663_126_1,
    ];
    const WEIGHTED_LOSS: f64 = 6.970_713_554_865_374;
    const WEIGHTED_SLOPES: [f64; 6] = [
        -0.121_587_852_339_525_99,
        0.033_067_888_071_568_914,
        0.035_071_921_072_782_446,
        -0.091_663_228_807_030_58,
        -0.214_285_714_285_694_23,
        0.033_005_064_999_241_31,
    ];

    /// The numbers of `reference/multi_label.py`.
    #[test]
    fn losses_and_slopes_are_those_of_the_formulas() {
        for (weights, expected, slopes) in [
            (None, PLAIN_LOSS, PLAIN_SLOPES),
            (
                Some(&[0.5, 2.0, 1.0, 1.5, 0.25, 3.0][..]),
                WEIGHTED_LOSS,
                WEIGHTED_SLOPES,
            ),
        ] {
            let mut gradient = Vec::new();
            let loss = binary_cross_entropy(&LOGITS, 3, &TARGETS, weights, &mut gradient);
            assert!((loss - expected).abs() < 1e-12, "{loss}");
            for (found, expected) in gradient.iter().zip(slopes) {
                assert!((found - expected).abs() < 1e-12, "{gradient:?}");
            }
        }
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let weights = [0.5, 2.0, 1.0, 1.5, 0.25, 3.0];
        let (mut gradient, mut unused) = (Vec::new(), Vec::new());
        binary_cross_entropy(&LOGITS, 3, &TARGETS, Some(&weights), &mut gradient);
        for index in 0..LOGITS.len() {
            let mut loss_at = |shift: f64| {
                let mut moved = LOGITS;
                moved[index] += shift;
                binary_cross_entropy(&moved, 3, &TARGETS, Some(&weights), &mut unused)
            };
            let slope = (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6;
            assert!((slope - gradient[index]).abs() < 1e-8, "{index}");
        }
    }

    #[test]
    fn large_logits_stay_finite_and_nothing_is_hidden() {
        let mut gradient = Vec::new();
        let loss = binary_cross_entropy(&[1e4f32, -1e4], 2, &[0, 1], None, &mut gradient);
        assert_eq!((loss, &gradient[..]), (1e4, &[0.5, -0.5][..]));
        assert_eq!((sigmoid(1e4f32), sigmoid(-1e4f32), sigmoid(0.0f64)), (1.0, 0.0, 0.5));
        for value in [f32::NAN, f32::INFINITY] {
            assert!(!binary_cross_entropy(&[0.0, value], 2, &[0, 0], None, &mut gradient).is_finite());
        }
        assert_eq!(binary_cross_entropy::<f32>(&[], 2, &[], None, &mut gradient), 0.0);
        let none = binary_cross_entropy(&[1.0f32], 1, &[1], Some(&[1.0, 0.0]), &mut gradient);
        assert_eq!((none, &gradient[..]), (0.0, &[0.0][..]));
    }
}
