//! The linear readout: one logit a class.
//!
//! ```text
//! l[n,c] = b[c] + sum_i V[c,i] h[n,i]          l: logits, h: states, V: weight, b: bias
//! dV[c,i] += sum_n dl[n,c] h[n,i]     db[c] += sum_n dl[n,c]     dh[n,i] = sum_c dl[n,c] V[c,i]
//! ```
//!
//! Shapes: h [sequences, inputs], V [classes, inputs], b [classes], l [sequences, classes]. Initial values as
//! `torch.nn.Linear`: uniform within +-1/sqrt(inputs).

use ernn_kernels::Real;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::cell::Span;

/// Partial sums of a dot product: enough to fill vector registers, and the same on every processor, so that the order of
/// summation, hence every bit of a logit, depends on nothing but the width of the readout.
const PARTIAL_SUMS: usize = 8;

/// Rows that share one pass over the other operand.
const ROWS: usize = 4;

/// Sizes of a linear readout. Its parameters are one slice: weight `[classes, inputs]`, then bias `[classes]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Readout {
    /// Size of the states that it reads.
    pub inputs: usize,
    /// Logits that it gives.
    pub classes: usize,
}

impl Readout {
    /// Number of parameters: weight and bias.
    pub fn parameter_count(&self) -> usize {
        self.classes * (self.inputs + 1)
    }

    /// The two tensors, `start` being the index of the first in the model's flat parameter vector.
    pub fn spans(&self, start: usize) -> Vec<Span> {
        let span = |name: &str, shape: Vec<usize>, start, decay| Span {
            name: name.to_string(),
            shape,
            start,
            decay,
            learning_rate_scale: 1.0,
        };
        let weights = self.classes * self.inputs;
        vec![
            span("readout.weight", vec![self.classes, self.inputs], start, true),
            span("readout.bias", vec![self.classes], start + weights, false),
        ]
    }

    /// Draws the initial values: uniform within +-1/sqrt(inputs).
    pub fn initialize<F: Real>(&self, rng: &mut impl rand::Rng, parameters: &mut [F]) {
        self.check_parameters(parameters);
        let bound = 1.0 / (self.inputs.max(1) as f64).sqrt();
        for value in parameters {
            *value = F::from_f64(rng.random_range(-bound..=bound));
        }
    }

    /// Logits `[sequences, classes]` of states `[sequences, inputs]`. A sequence's logits are the same bits alone and in
    /// any batch.
    pub fn forward<F: Real>(&self, parameters: &[F], states: &[F], logits: &mut Vec<F>) {
        let (weight, bias) = self.split(parameters);
        logits.clear();
        logits.resize(self.sequences(states) * self.classes, F::ZERO);
        let states = states.chunks_exact(self.inputs);
        for (state, out) in states.zip(logits.chunks_exact_mut(self.classes)) {
            matrix_vector(weight, state, out);
            for (out, &bias) in out.iter_mut().zip(bias) {
                *out += bias;
            }
        }
    }

    /// Adds to the gradient of the parameters and sets the gradient of the states `[sequences, inputs]`, given that of the
    /// logits `[sequences, classes]`.
    pub fn backward<F: Real>(
        &self,
        parameters: &[F],
        states: &[F],
        logit_gradient: &[F],
        gradient: &mut [F],
        state_gradient: &mut Vec<F>,
    ) {
        let (weight, _) = self.split(parameters);
        self.check_parameters(gradient);
        let sequences = self.sequences(states);
        assert_eq!(
            logit_gradient.len(),
            sequences * self.classes,
            "gradient of the logits of the wrong size"
        );
        let (weight_gradient, bias_gradient) = gradient.split_at_mut(self.classes * self.inputs);
        state_gradient.clear();
        state_gradient.resize(states.len(), F::ZERO);
        let slopes = logit_gradient.chunks_exact(self.classes);
        for (slopes, out) in slopes.clone().zip(state_gradient.chunks_exact_mut(self.inputs)) {
            add_combination(out, weight, slopes.iter().copied());
        }
        for (class, row) in weight_gradient.chunks_exact_mut(self.inputs).enumerate() {
            let of_class = slopes.clone().map(|slopes| slopes[class]);
            add_combination(row, states, of_class.clone());
            bias_gradient[class] += of_class.sum();
        }
    }

    /// Weight and bias.
    fn split<'a, F>(&self, parameters: &'a [F]) -> (&'a [F], &'a [F]) {
        self.check_parameters(parameters);
        parameters.split_at(self.classes * self.inputs)
    }

    fn check_parameters<F>(&self, parameters: &[F]) {
        assert!(
            self.inputs > 0 && self.classes > 0,
            "a readout reads at least one value and gives at least one logit"
        );
        assert_eq!(
            parameters.len(),
            self.parameter_count(),
            "readout parameters of the wrong size"
        );
    }

    fn sequences<F>(&self, states: &[F]) -> usize {
        assert_eq!(
            states.len() % self.inputs,
            0,
            "states that are not [sequences, inputs] of the readout"
        );
        states.len() / self.inputs
    }
}

/// `out = rows b`, rows as wide as `b`.
fn matrix_vector<F: Real>(rows: &[F], b: &[F], out: &mut [F]) {
    for (out, rows) in out.chunks_mut(ROWS).zip(rows.chunks(ROWS * b.len())) {
        if out.len() == ROWS {
            out.copy_from_slice(&dots::<F, ROWS>(rows, b));
        } else {
            for (out, row) in out.iter_mut().zip(rows.chunks_exact(b.len())) {
                [*out] = dots(row, b);
            }
        }
    }
}

/// Dot products of `R` rows with `b`, each in the same fixed order: [`PARTIAL_SUMS`] strided sums, halved until one is left,
/// then the tail.
fn dots<F: Real, const R: usize>(rows: &[F], b: &[F]) -> [F; R] {
    let (body, tail) = b.as_chunks::<PARTIAL_SUMS>();
    let rows: [&[F]; R] = std::array::from_fn(|row| &rows[row * b.len()..(row + 1) * b.len()]);
    let bodies = rows.map(|row| &row.as_chunks::<PARTIAL_SUMS>().0[..body.len()]);
    let mut sums = [[F::ZERO; PARTIAL_SUMS]; R];
    for (chunk, b) in body.iter().enumerate() {
        for row in 0..R {
            sums[row] = multiply_add(sums[row], &bodies[row][chunk], b);
        }
    }
    std::array::from_fn(|row| {
        let row_tail = &rows[row][b.len() - tail.len()..];
        row_tail
            .iter()
            .zip(tail)
            .fold(halve(sums[row]), |sum, (&a, &b)| sum + a * b)
    })
}

/// `sums + a * b`
#[inline(always)]
fn multiply_add<F: Real>(sums: [F; PARTIAL_SUMS], a: &[F; PARTIAL_SUMS], b: &[F; PARTIAL_SUMS]) -> [F; PARTIAL_SUMS] {
    std::array::from_fn(|lane| sums[lane] + a[lane] * b[lane])
}

/// The sum, by adding the second half to the first until one is left. Not inlined: the compiler would otherwise shape the
/// loop before it after these pairs and fill half of each vector (half the speed, measured).
#[inline(never)]
fn halve<F: Real>(mut sums: [F; PARTIAL_SUMS]) -> F {
    let mut half = PARTIAL_SUMS / 2;
    while half > 0 {
        for index in 0..half {
            let other = sums[index + half];
            sums[index] += other;
        }
        half /= 2;
    }
    sums[0]
}

/// `target += sum_k factors[k] rows[k]`, k ascending; rows as wide as the target.
fn add_combination<F: Real>(target: &mut [F], rows: &[F], factors: impl Iterator<Item = F>) {
    let width = target.len();
    let mut factors = factors;
    for rows in rows.chunks(ROWS * width) {
        if rows.len() == ROWS * width {
            add_scaled::<F, ROWS>(target, rows, &mut factors);
        } else {
            for row in rows.chunks_exact(width) {
                add_scaled::<F, 1>(target, row, &mut factors);
            }
        }
    }
}

/// `target += sum_k factors[k] rows[k]` for `R` rows, in one pass over the target.
fn add_scaled<F: Real, const R: usize>(target: &mut [F], rows: &[F], factors: &mut impl Iterator<Item = F>) {
    let width = target.len();
    let rows: [&[F]; R] = std::array::from_fn(|row| &rows[row * width..][..width]);
    let factors: [F; R] = std::array::from_fn(|_| factors.next().expect("one factor a row"));
    for index in 0..width {
        let mut sum = target[index];
        for row in 0..R {
            sum += factors[row] * rows[row][index];
        }
        target[index] = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const READOUT: Readout = Readout { inputs: 83, classes: 6 };

    fn draw(seed: u64, count: usize) -> Vec<f32> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    #[test]
    fn initial_values_fill_the_bound_of_torch_linear() {
        let mut parameters = vec![0.0f64; READOUT.parameter_count()];
        READOUT.initialize(&mut ChaCha8Rng::seed_from_u64(1), &mut parameters);
        let bound = 1.0 / 83f64.sqrt();
        let largest = parameters
            .iter()
            .fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let mean = parameters.iter().sum::<f64>() / parameters.len() as f64;
        assert!(largest <= bound && largest > 0.95 * bound, "{largest} against {bound}");
        assert!(mean.abs() < 0.1 * bound, "{mean}");
    }

    #[test]
    fn spans_tile_the_parameters_and_only_the_weight_decays() {
        let spans = READOUT.spans(10);
        let ranges: Vec<_> = spans.iter().map(Span::range).collect();
        assert_eq!(ranges, [10..10 + 498, 508..514]);
        assert_eq!(spans.iter().map(|span| span.decay).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn logits_of_a_sequence_are_the_same_bits_alone_and_in_a_batch() {
        let (parameters, states) = (draw(2, READOUT.parameter_count()), draw(3, 83 * 37));
        let (mut together, mut alone) = (Vec::new(), Vec::new());
        READOUT.forward(&parameters, &states, &mut together);
        for (state, expected) in states.chunks_exact(83).zip(together.chunks_exact(6)) {
            READOUT.forward(&parameters, state, &mut alone);
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&alone), bits(expected));
        }
    }

    #[test]
    fn backward_adds_to_the_parameter_gradient_and_replaces_the_state_gradient() {
        let (parameters, states) = (draw(4, READOUT.parameter_count()), draw(5, 83 * 4));
        let slopes = draw(6, 6 * 4);
        let mut once = vec![0.0; READOUT.parameter_count()];
        let mut again = Vec::new();
        READOUT.backward(&parameters, &states, &slopes, &mut once, &mut again);
        let mut twice = once.clone();
        let first = again.clone();
        READOUT.backward(&parameters, &states, &slopes, &mut twice, &mut again);
        assert_eq!(first, again);
        for (twice, once) in twice.iter().zip(&once) {
            assert!((twice - 2.0 * once).abs() < 1e-5);
        }
    }

    #[test]
    fn no_sequences_give_no_logits() {
        let parameters = draw(7, READOUT.parameter_count());
        let mut logits = vec![1.0];
        READOUT.forward(&parameters, &[], &mut logits);
        assert!(logits.is_empty());
    }
}
