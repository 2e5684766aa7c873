//! What a difference or a share is worth: tests and intervals.
//!
//! ```text
//! paired t              t = mean(d) / sqrt((1/n + ratio) var(d)),  n - 1 degrees of freedom
//! p                     P(|T| >= |t|) = I_x(n/2 - 1/2, 1/2),  x = (n-1) / (n-1 + t^2)
//! share of n            (p + z^2/2n +- z sqrt(p (1-p)/n + z^2/4n^2)) / (1 + z^2/n)
//! share, by clusters    p +- t_{g-1} sqrt(g/(g-1) sum over clusters (sum of (c - p))^2) / n
//! ```
//!
//! ratio: 0 for values that are drawn apart; of folds, whose training sides overlap, sequences held out over sequences trained on (the
//! corrected resampled t-test, Nadeau and Bengio, Machine Learning 52, 2003). Shares: Wilson 1927; clusters (groups): the robust variance.
//! Several tests: Holm 1979. The incomplete beta function I_x is Lentz's continued fraction.

use super::spread::mean;

/// With so many degrees of freedom Student's distribution is the normal one to many digits.
const MANY: f64 = 1e7;

/// What a paired test found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedTest {
    /// Mean of the differences.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
    /// Probability of a difference as large if there is none.
    pub p: f64,
}

/// The corrected paired t-test; none of fewer than two differences.
pub fn paired(differences: &[f64], ratio: f64) -> Option<PairedTest> {
    let n = differences.len();
    let mean = mean(differences).filter(|_| n > 1)?;
    let squares: f64 = differences.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / (n - 1) as f64;
    let error = ((1.0 / n as f64 + ratio) * variance).sqrt();
    let p = match (mean == 0.0, error == 0.0) {
        (true, _) => 1.0,
        // Always the same difference.
        (false, true) => 0.0,
        (false, false) => both_tails(mean / error, (n - 1) as f64),
    };
    Some(PairedTest { mean, error, p })
}

/// P(|T| >= |t|).
fn both_tails(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The value that so many degrees of freedom exceed, up or down, with this probability.
fn critical(freedom: f64, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if both_tails(middle, freedom) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Probabilities corrected for their number: each the largest so far of (how many are not smaller) times p.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&one, &other| probabilities[one].total_cmp(&probabilities[other]));
    let mut corrected = vec![0.0; probabilities.len()];
    let mut largest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(probabilities[index] * (order.len() - rank) as f64).min(1.0);
        corrected[index] = largest;
    }
    corrected
}

/// The interval of a share that is missed with this probability, each example for itself.
pub(crate) fn share_interval(right: usize, examples: usize, missed: f64) -> Option<[f64; 2]> {
    if examples == 0 {
        return None;
    }
    let n = examples as f64;
    let p = right as f64 / n;
    let z = critical(MANY, missed);
    let center = p + z * z / (2.0 * n);
    let reach = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    Some([((center - reach) / scale).max(0.0), ((center + reach) / scale).min(1.0)])
}

/// As [`share_interval`], of examples that come in clusters of (right, examples); none of fewer than two clusters.
pub(crate) fn clustered_interval(clusters: &[(usize, usize)], missed: f64) -> Option<[f64; 2]> {
    let g = clusters.len() as f64;
    let right: usize = clusters.iter().map(|cluster| cluster.0).sum();
    let examples: usize = clusters.iter().map(|cluster| cluster.1).sum();
    if clusters.len() < 2 || examples == 0 {
        return None;
    }
    let (n, p) = (examples as f64, right as f64 / examples as f64);
    let squares: f64 = clusters
        .iter()
        .map(|&(right, examples)| (right as f64 - p * examples as f64).powi(2))
        .sum();
    let reach = critical(g - 1.0, missed) * (g / (g - 1.0) * squares).sqrt() / n;
    Some([(p - reach).max(0.0), (p + reach).min(1.0)])
}

/// I_x(a, b).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on this side only.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut product = d;
    for step in 1..20_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for factor in [even, odd] {
            d = 1.0 / away(1.0 + factor * d);
            c = away(1.0 + factor / c);
            product *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    product
}

/// ln of the gamma function of a positive number: Stirling's series, after the recurrence has brought it beyond 10.
fn log_gamma(x: f64) -> f64 {
    let mut x = x;
    let mut shift = 0.0;
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
    }

    /// Values of `scipy.stats.t.sf(t, df) * 2`.
    #[test]
    fn probabilities_are_those_of_students_t() {
        near(both_tails(0.0, 4.0), 1.0);
        near(both_tails(1.0, 1.0), 0.5);
        near(both_tails(2.776_445_105_197_793_3, 4.0), 0.05);
        near(both_tails(-2.144_786_687_916_928, 14.0), 0.05);
        near(both_tails(12.706_204_736_432_095, 1.0), 0.05);
        near(critical(4.0, 0.05), 2.776_445_105);
        near(critical(MANY, 0.05), 1.959_964);
        near(critical(29.0, 0.05), 2.045_229_642);
    }

    #[test]
    fn a_paired_test_knows_its_correction() {
        let differences = [0.01, 0.03, 0.02, 0.04, 0.00];
        let plain = paired(&differences, 0.0).unwrap();
        near(plain.mean, 0.02);
        near(plain.error, (0.00025_f64 / 5.0).sqrt());
        // t = 0.02 / sqrt(0.00005) = 2.828427, 4 degrees of freedom.
        near(plain.p, 0.047_420_9);
        let corrected = paired(&differences, 0.25).unwrap();
        near(corrected.error, (0.00025_f64 * 0.45).sqrt());
        assert!(corrected.p > plain.p && corrected.p < 1.0);
        assert_eq!(paired(&[0.0, 0.0], 0.25).unwrap().p, 1.0);
        assert_eq!(paired(&[0.1], 0.25), None);
    }

    #[test]
    fn holm_steps_down() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            near(*found, expected);
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn intervals_of_shares() {
        // statsmodels' proportion_confint(9, 10, method="wilson")
        let [low, high] = share_interval(9, 10, 0.05).unwrap();
        near(low, 0.595_849_9);
        near(high, 0.982_123_8);
        assert_eq!(share_interval(10, 10, 0.05).unwrap()[1], 1.0);
        assert_eq!(share_interval(0, 0, 0.05), None);
        // Alike within a cluster: as if there were but two or four examples.
        let wide = clustered_interval(&[(10, 10), (0, 10), (10, 10), (0, 10)], 0.05).unwrap();
        assert_eq!(wide, [0.0, 1.0]);
        let even = clustered_interval(&[(9, 10), (9, 10), (9, 10)], 0.05).unwrap();
        near(even[0], 0.9);
        assert_eq!(clustered_interval(&[(9, 10)], 0.05), None);
    }
}
