//! A folded cell that owns its numbers, and the pieces that foldings are made of.

use ernn_kernels::leaky::{Leaky, Recurrent};
use ernn_kernels::{Activation, Matrix, Real, multiply_add};
use rand::Rng;
use rand_distr::{Distribution, Normal};

/// The recurrent matrix `R` of a folded cell.
#[derive(Clone, Debug, PartialEq)]
pub enum FoldedRecurrent<F> {
    /// `[D,D]`.
    Dense(Vec<F>),
    /// `c I + A B`.
    LowRank {
        /// `r`.
        rank: usize,
        /// `c`.
        identity: F,
        /// `A`, `[D,r]`.
        left: Vec<F>,
        /// `B`, `[r,D]`.
        right: Vec<F>,
    },
}

/// A folded cell; see [`ernn_kernels::leaky`] for the letters.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded<F> {
    /// `d`.
    pub inputs: usize,
    /// `D`.
    pub hidden: usize,
    /// `W`, `[D,d]`.
    pub input_weight: Vec<F>,
    /// `b`, `[D]`.
    pub bias: Vec<F>,
    /// `R`.
    pub recurrent: FoldedRecurrent<F>,
    /// `phi`.
    pub activation: Activation,
    /// `K`.
    pub iterations: usize,
    /// `c0`.
    pub start_scale: F,
    /// `s`.
    pub previous_scale: F,
    /// `a`, `[rows,K]`.
    pub decay: Vec<F>,
    /// `e`, `[rows,K]`.
    pub gain: Vec<F>,
    /// Whether the gradients of `a` and `e` are wanted.
    pub learned_steps: bool,
}

impl<F: Real> Folded<F> {
    /// The view that the kernels take.
    pub fn view(&self) -> Leaky<'_, F> {
        Leaky {
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: &self.input_weight,
            bias: &self.bias,
            recurrent: match &self.recurrent {
                FoldedRecurrent::Dense(weight) => Recurrent::Dense(weight),
                FoldedRecurrent::LowRank {
                    rank,
                    identity,
                    left,
                    right,
                } => Recurrent::LowRank {
                    rank: *rank,
                    identity: *identity,
                    left,
                    right,
                },
            },
            activation: self.activation,
            iterations: self.iterations,
            start_scale: self.start_scale,
            previous_scale: self.previous_scale,
            decay: &self.decay,
            gain: &self.gain,
            learned_steps: self.learned_steps,
        }
    }
}

/// `left * right` as a new matrix.
pub(crate) fn product<F: Real>(left: Matrix<F>, right: Matrix<F>, len: usize) -> Vec<F> {
    let mut out = vec![F::ZERO; len];
    multiply_add(F::ONE, left, right, &mut out);
    out
}

/// `out += values`.
pub(crate) fn add<F: Real>(out: &mut [F], values: &[F]) {
    assert_eq!(out.len(), values.len());
    for (out, &value) in out.iter_mut().zip(values) {
        *out += value;
    }
}

/// Cuts a slice at the lengths of a cell's tensors.
pub(crate) fn cut<F, const N: usize>(mut values: &[F], lengths: [usize; N]) -> [&[F]; N] {
    lengths.map(|len| {
        let (head, tail) = values.split_at(len);
        values = tail;
        head
    })
}

/// As [`cut`], for writing.
pub(crate) fn cut_mut<F, const N: usize>(mut values: &mut [F], lengths: [usize; N]) -> [&mut [F]; N] {
    lengths.map(|len| {
        let (head, tail) = std::mem::take(&mut values).split_at_mut(len);
        values = tail;
        head
    })
}

/// Fills with draws from a normal distribution around 0.
pub(crate) fn fill_normal<F: Real>(rng: &mut impl Rng, deviation: f64, values: &mut [F]) {
    let normal = Normal::new(0.0, deviation).expect("checked with the settings");
    for value in values {
        *value = F::from_f64(normal.sample(rng));
    }
}

/// Fills with draws from a uniform distribution between `-bound` and `bound`.
pub(crate) fn fill_uniform<F: Real>(rng: &mut impl Rng, bound: f64, values: &mut [F]) {
    use rand::RngExt;
    for value in values {
        *value = F::from_f64(rng.random_range(-bound..=bound));
    }
}

/// The logistic function.
pub(crate) fn sigmoid<F: Real>(x: F) -> F {
    F::ONE / (F::ONE + (-x).exp())
}
