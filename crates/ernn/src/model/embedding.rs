//! The embedding: a row of numbers for each token, learned with the rest.
//!
//! ```text
//! x_t = E[token_t]        dE[v] += sum over steps with token v of dx_t
//! ```
//!
//! Shapes: E [vocabulary, size], x [block][time][size][lane]. Initial values are normal, as those of `torch.nn.Embedding`. Tied weights
//! (Press and Wolf, EACL 2017): E is the readout's weight itself, and both gradients are added up in it.

use ernn_kernels::{Panels, Real};
use rand::Rng;
use rand_distr::{Distribution, Normal};
use serde::{Deserialize, Serialize};

use crate::cell::Span;

/// Sizes and initial values of an embedding; the size of its rows is the model's input size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embedding {
    /// Number of tokens.
    pub vocabulary: usize,
    /// Standard deviation of the initial values.
    pub deviation: f64,
    /// Whether the readout's weight is the embedding.
    pub tied: bool,
}

impl Embedding {
    /// The tensor of its own, if it has one.
    pub(super) fn span(&self, size: usize, start: usize) -> Option<Span> {
        (!self.tied).then(|| Span {
            name: "embedding.weight".to_string(),
            shape: vec![self.vocabulary, size],
            start,
            decay: false,
            learning_rate_scale: 1.0,
        })
    }

    /// Draws the initial rows.
    pub(super) fn initialize<F: Real>(&self, rng: &mut impl Rng, rows: &mut [F]) {
        let normal = Normal::new(0.0, self.deviation).expect("checked: finite and not negative");
        for value in rows {
            *value = F::from_f64(normal.sample(rng));
        }
    }
}

/// Writes the row of each token: `tokens` sequence after sequence, `rows` `[vocabulary, size]`.
pub(super) fn look_up<F: Real>(rows: &[F], size: usize, tokens: &[u32], lengths: &[usize], out: &mut Panels<F>) {
    let starts = starts(lengths);
    out.pack_steps(size, lengths, |sequence, step| {
        &rows[tokens[starts[sequence] + step] as usize * size..][..size]
    });
}

/// Adds the gradient at each step of a piece to the row of its token. The piece's first step is `first_step` of the sequences.
pub(super) fn add_back<F: Real>(
    at_input: &Panels<F>,
    tokens: &[u32],
    lengths: &[usize],
    first_step: usize,
    gradient: &mut [F],
) {
    let size = at_input.features();
    let starts = starts(lengths);
    let mut row = vec![F::ZERO; size];
    for (sequence, &steps) in at_input.lengths().iter().enumerate() {
        for step in 0..steps {
            at_input.read_step(sequence, step, &mut row);
            let token = tokens[starts[sequence] + first_step + step] as usize;
            for (sum, &value) in gradient[token * size..][..size].iter_mut().zip(&row) {
                *sum += value;
            }
        }
    }
}

/// Where each sequence starts among the steps of all.
pub(super) fn starts(lengths: &[usize]) -> Vec<usize> {
    lengths
        .iter()
        .scan(0, |end, length| {
            let start = *end;
            *end += length;
            Some(start)
        })
        .collect()
}
