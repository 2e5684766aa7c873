//! The pieces that foldings and initial values are made of.

use ernn_kernels::{Matrix, Real, multiply_add};
use rand::Rng;
use rand_distr::{Distribution, Normal};

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
