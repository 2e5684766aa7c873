//! Activations on registers, and their derivatives.
//!
//! `e^x = 2^n e^r`, `n = round(x / ln 2)`, `|r| <= ln 2 / 2`, and `e^r - 1` by its Taylor polynomial: degree 7 for `f32`
//! (error below `0.35^8 / 8! = 5e-9`), degree 13 for `f64` (`4e-18`). tanh goes through `e^2x - 1`, so that it keeps its
//! relative accuracy near 0.

use crate::Real;
use crate::simd::Vector;

/// The function `phi` of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(0, x)`.
    Relu,
    /// Hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `x` between -1 and 1: piecewise-linear tanh.
    HardTanh,
    /// `(x + 1) / 2` between 0 and 1: piecewise-linear sigmoid.
    HardSigmoid,
}

/// `1 / n!` for `n = 0..=13`.
const INVERSE_FACTORIALS: [f64; 14] = {
    let mut values = [1.0; 14];
    let mut n = 1;
    while n < 14 {
        values[n] = values[n - 1] / n as f64;
        n += 1;
    }
    values
};

/// `ln 2` cut after 11 bits, so that `n * LN2_HIGH` is exact.
const LN2_HIGH: f64 = 0.693_359_375;
const LN2_LOW: f64 = std::f64::consts::LN_2 - LN2_HIGH;

impl Activation {
    /// The largest slope.
    pub(crate) fn steepest(self) -> f64 {
        match self {
            Activation::Relu | Activation::Tanh | Activation::HardTanh => 1.0,
            Activation::HardSigmoid => 0.5,
            Activation::Sigmoid => 0.25,
        }
    }

    /// `phi(x)`.
    #[inline(always)]
    pub(crate) fn value<V: Vector>(self, x: V) -> V {
        match self {
            Activation::Relu => V::zero().max(x),
            Activation::Tanh => tanh(x),
            Activation::Sigmoid => sigmoid(x),
            Activation::HardTanh => between(-1.0, x),
            Activation::HardSigmoid => between(0.0, x.mul_add(constant(0.5), constant(0.5))),
        }
    }

    /// `phi(x)` of both registers of a row, which share the loads of the constants.
    #[inline(always)]
    pub(crate) fn row<V: Vector>(self, [low, high]: [V; 2]) -> [V; 2] {
        match self {
            Activation::Relu => [Relu::PHI.value(low), Relu::PHI.value(high)],
            Activation::Tanh => [Tanh::PHI.value(low), Tanh::PHI.value(high)],
            Activation::Sigmoid => [Sigmoid::PHI.value(low), Sigmoid::PHI.value(high)],
            Activation::HardTanh => [HardTanh::PHI.value(low), HardTanh::PHI.value(high)],
            Activation::HardSigmoid => [HardSigmoid::PHI.value(low), HardSigmoid::PHI.value(high)],
        }
    }

    /// `phi'(x) * factor`, from `y = phi(x)`.
    #[inline(always)]
    pub(crate) fn derivative_times<V: Vector>(self, y: V, factor: V) -> V {
        match self {
            Activation::Relu => factor.or_zero(y.greater(V::zero())),
            Activation::Tanh => factor.mul(V::splat(V::Scalar::ONE).sub(y.mul(y))),
            Activation::Sigmoid => factor.mul(y.sub(y.mul(y))),
            // y (1 - y) is above 0 just where y lies inside.
            Activation::HardSigmoid => factor.mul(constant(0.5)).or_zero(y.sub(y.mul(y)).greater(V::zero())),
            Activation::HardTanh => factor.or_zero(V::splat(V::Scalar::ONE).greater(y.mul(y))),
        }
    }
}

/// `phi` of whole registers in place; inlined into the function that [`crate::compiled::Compiled::activate`] enters.
#[inline(always)]
pub(crate) fn activate<V: Vector>(activation: Activation, values: &mut [V::Scalar]) {
    match activation {
        Activation::Relu => each::<V, Relu>(values),
        Activation::Tanh => each::<V, Tanh>(values),
        Activation::Sigmoid => each::<V, Sigmoid>(values),
        Activation::HardTanh => each::<V, HardTanh>(values),
        Activation::HardSigmoid => each::<V, HardSigmoid>(values),
    }
}

/// `deltas *= phi'(..)` of whole registers, from the outputs `phi(..)`; inlined as [`activate`].
#[inline(always)]
pub(crate) fn derive<V: Vector>(activation: Activation, outputs: &[V::Scalar], deltas: &mut [V::Scalar]) {
    match activation {
        Activation::Relu => each_derivative::<V, Relu>(outputs, deltas),
        Activation::Tanh => each_derivative::<V, Tanh>(outputs, deltas),
        Activation::Sigmoid => each_derivative::<V, Sigmoid>(outputs, deltas),
        Activation::HardTanh => each_derivative::<V, HardTanh>(outputs, deltas),
        Activation::HardSigmoid => each_derivative::<V, HardSigmoid>(outputs, deltas),
    }
}

/// One activation as a type, so that its loop holds no branch.
trait Phi {
    const PHI: Activation;
}

macro_rules! phi {
    ($($name:ident),+) => {
        $(struct $name;
        impl Phi for $name {
            const PHI: Activation = Activation::$name;
        })+
    };
}
phi!(Relu, Tanh, Sigmoid, HardTanh, HardSigmoid);

/// Registers that are activated at a time.
const TOGETHER: usize = 4;

#[inline(always)]
fn each<V: Vector, P: Phi>(values: &mut [V::Scalar]) {
    // Several at a time: they share the loads of the constants, and none waits for the division of the one before it.
    let mut groups = values.chunks_exact_mut(TOGETHER * V::LANES);
    for group in &mut groups {
        let mut registers = [V::zero(); TOGETHER];
        for (register, from) in registers.iter_mut().zip(group.chunks_exact(V::LANES)) {
            *register = P::PHI.value(V::load(from));
        }
        for (register, to) in registers.into_iter().zip(group.chunks_exact_mut(V::LANES)) {
            register.store(to);
        }
    }
    for register in groups.into_remainder().chunks_exact_mut(V::LANES) {
        P::PHI.value(V::load(register)).store(register);
    }
}

#[inline(always)]
fn each_derivative<V: Vector, P: Phi>(outputs: &[V::Scalar], deltas: &mut [V::Scalar]) {
    for (output, delta) in outputs.chunks_exact(V::LANES).zip(deltas.chunks_exact_mut(V::LANES)) {
        P::PHI.derivative_times(V::load(output), V::load(delta)).store(delta);
    }
}

/// `x`, but at least `low` and at most 1.
#[inline(always)]
fn between<V: Vector>(low: f64, x: V) -> V {
    constant::<V>(1.0).min(constant::<V>(low).max(x))
}

#[inline(always)]
fn constant<V: Vector>(value: f64) -> V {
    V::splat(V::Scalar::from_f64(value))
}

/// `(2^n, e^r - 1)` with `e^x = 2^n e^r`; `|x|` at most 80 (`f32`) or 700 (`f64`).
#[inline(always)]
fn split_exponential<V: Vector>(x: V) -> (V, V) {
    let single = size_of::<V::Scalar>() == 4;
    // Adding 1.5 * 2^(mantissa bits) rounds to a whole number and leaves it in the low bits.
    let rounder: V = constant(if single { 12_582_912.0 } else { 6_755_399_441_055_744.0 });
    let shifted = x.mul_add(constant(std::f64::consts::LOG2_E), rounder);
    let n = shifted.sub(rounder);
    let r = n.mul_add(constant(-LN2_LOW), n.mul_add(constant(-LN2_HIGH), x));
    let degree = if single { 7 } else { 13 };
    let mut sum: V = constant(INVERSE_FACTORIALS[degree]);
    let mut power = degree - 1;
    while power > 0 {
        sum = sum.mul_add(r, constant(INVERSE_FACTORIALS[power]));
        power -= 1;
    }
    (shifted.power_of_two(), sum.mul(r))
}

/// `e^x` of `x` at most 0; far below, where it is nothing beside 1, that of the limit.
#[inline(always)]
pub(crate) fn exponential_below<V: Vector>(x: V) -> V {
    let limit = if size_of::<V::Scalar>() == 4 { -80.0 } else { -700.0 };
    let (scale, rest) = split_exponential(constant::<V>(limit).max(x));
    scale.mul_add(rest, scale)
}

#[inline(always)]
fn tanh<V: Vector>(x: V) -> V {
    // Beyond this the result rounds to +-1.
    let limit = if size_of::<V::Scalar>() == 4 { 9.5 } else { 19.5 };
    let x = constant::<V>(limit).min(constant::<V>(-limit).max(x));
    let one = V::splat(V::Scalar::ONE);
    let (scale, rest) = split_exponential(x.add(x));
    let minus_one = scale.mul_add(rest, scale.sub(one));
    minus_one.div(minus_one.add(one.add(one)))
}

#[inline(always)]
fn sigmoid<V: Vector>(x: V) -> V {
    let limit = if size_of::<V::Scalar>() == 4 { 80.0 } else { 700.0 };
    let negative = V::zero().sub(constant::<V>(limit).min(constant::<V>(-limit).max(x)));
    let one = V::splat(V::Scalar::ONE);
    let (scale, rest) = split_exponential(negative);
    one.div(scale.mul_add(rest, scale).add(one))
}
