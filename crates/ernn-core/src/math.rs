//! Activations of `f32`, by additions and products alone, so that they are the same bits on every machine and in exported C.
//!
//! `e^x = 2^n e^r`, `n = round(x / ln 2)`, `|r| <= ln 2 / 2`, and `e^r - 1` by its Taylor polynomial of degree 7 (error below
//! `0.35^8 / 8! = 5e-9`). tanh goes through `e^2x - 1`, so that it keeps its relative accuracy near 0. Nothing is fused.

/// `1.5 * 2^23`: adding it rounds to a whole number and leaves that in the low bits.
pub const ROUNDER: f32 = 12_582_912.0;
/// `ln 2` cut after 11 bits: its products with whole numbers are exact.
pub const LN2_HIGH: f32 = 355.0 / 512.0;
/// The rest of `ln 2`.
pub const LN2_LOW: f32 = -2.121_944_4e-4;
/// `1 / n!` from `n = 7` down to `n = 1`.
pub const POLYNOMIAL: [f32; 7] = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0];

/// `(2^n, e^r - 1)` with `e^x = 2^n e^r`; `|x|` at most 80.
fn split_exponential(x: f32) -> (f32, f32) {
    let shifted = x * core::f32::consts::LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let mut sum = 0.0;
    for coefficient in POLYNOMIAL {
        sum = sum * r + coefficient;
    }
    let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    (scale, sum * r)
}

/// `x`, but at least `low` and at most `high`; what is no number stays so.
pub(crate) fn between(low: f32, high: f32, x: f32) -> f32 {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// Hyperbolic tangent.
pub fn tanh(x: f32) -> f32 {
    // Beyond this the result rounds to +-1.
    let x = between(-9.5, 9.5, x);
    let (scale, rest) = split_exponential(x + x);
    let minus_one = scale * rest + (scale - 1.0);
    minus_one / (minus_one + 2.0)
}

/// `1 / (1 + e^-x)`.
pub fn sigmoid(x: f32) -> f32 {
    let (scale, rest) = split_exponential(-between(-80.0, 80.0, x));
    1.0 / ((scale * rest + scale) + 1.0)
}

/// Square root by Heron's method, of a positive number.
pub fn square_root(x: f32) -> f32 {
    // Half of the exponent: at most 4 % off, and each step squares that.
    let mut root = f32::from_bits((x.to_bits() >> 1).wrapping_add(0x1fbd_1df5));
    for _ in 0..3 {
        root = 0.5 * (root + x / root);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;

    #[test]
    fn activations_are_those_of_double_precision() {
        for index in -40_000..=40_000 {
            let x = index as f32 / 400.0;
            let exact = f64::from(x).tanh();
            let error = (f64::from(tanh(x)) - exact).abs();
            assert!(error <= 3e-7 * exact.abs(), "tanh {x}: {error}");
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            let error = (f64::from(sigmoid(x)) - exact).abs();
            assert!(error <= 3e-7 * exact.max(1e-30) || x < -80.0, "sigmoid {x}: {error}");
        }
        for index in 1..60_000 {
            let x = (index as f32 / 3000.0).exp() * 1e-6;
            let error = (f64::from(square_root(x)) - f64::from(x).sqrt()).abs();
            assert!(error <= 1e-7 * f64::from(x).sqrt(), "square root {x}: {error}");
        }
        assert!(tanh(f32::NAN).is_nan() && sigmoid(f32::NAN).is_nan());
        assert_eq!((tanh(f32::INFINITY), sigmoid(f32::INFINITY)), (1.0, 1.0));
    }
}
