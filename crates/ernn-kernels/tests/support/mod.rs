//! What the kernel tests share.

use ernn_kernels::{Activation, Real};

/// A small generator, so that the tests need no dependency (PCG's multiplier; upper bits).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64 * 2.0 - 1.0
    }

    pub fn vector<F: Real>(&mut self, len: usize, scale: f64) -> Vec<F> {
        (0..len).map(|_| F::from_f64(self.next() * scale)).collect()
    }
}

pub const ACTIVATIONS: [Activation; 5] = [
    Activation::Relu,
    Activation::Tanh,
    Activation::Sigmoid,
    Activation::HardTanh,
    Activation::HardSigmoid,
];

pub fn activate(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Activation::HardTanh => x.clamp(-1.0, 1.0),
        Activation::HardSigmoid => ((x + 1.0) / 2.0).clamp(0.0, 1.0),
    }
}

/// `matrix v`.
pub fn times(matrix: &[f64], columns: usize, v: &[f64]) -> Vec<f64> {
    let dot = |row: &[f64]| row.iter().zip(v).map(|(m, v)| m * v).sum();
    matrix.chunks(columns).map(dot).collect()
}

pub fn doubles<F: Real>(values: &[F]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

#[track_caller]
pub fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * (1.0 + expected.abs()),
        "{what}: found {found}, expected {expected}"
    );
}

pub fn bits<F: Real>(values: &[F]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

/// Weight of an entry of the states in the loss of the gradient tests.
pub fn all_weight(index: usize) -> f64 {
    (index as f64 * 0.7).sin()
}
