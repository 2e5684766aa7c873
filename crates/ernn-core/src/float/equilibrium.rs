//! One step of the equilibrium family: the exact ERNN.
//!
//! ```text
//! u = W x + b        F(z) = phi(R z + u) - gamma z = 0, solved for z        h <- z - s h
//! ```
//!
//! `z` begins at `phi(u) / gamma`. An iteration is `z <- z + alpha dz`, `dz = F / gamma` (fixed point), or Newton's step, whose system has `r`
//! unknowns of `R = c I + A B`, with `q = 1 / (gamma - c phi')`, `p = phi' q`:
//!
//! ```text
//! (I - B diag(p) A) w = B (q F)        dz = q F + p (A w)
//! ```
//!
//! and `D` of a dense `R`: `(gamma I - diag(phi') R) dz = F`. Newton keeps what lowers `max |F|`, the fixed point what is finite; else `alpha`
//! is halved, and doubled again with each step that is kept. It ends where `max |F| <= absolute + relative max |gamma z|`, or after as
//! many iterations as the record says: time is bounded, and the last `z` is taken.
//!
//! Tensors: `W`, `b`, `R` or `A`, `B`. Words: 4 the most iterations, 6 the method (0 fixed point, 1 Newton), 7 `gamma`, 8 `s`, 9 `c`, 10
//! `absolute`, 11 `relative`.

use super::Watch;
use super::layer::{Layer, cut, dot, product, rows};
use super::linear::eliminate;
use crate::layer::{Activation, Record};
use crate::pick::copy;

/// Halvings of a step before the solver gives up.
const SMALLEST_STEP: f32 = 1.0 / 4096.0;

/// Number of tensors, if their sizes are right.
pub(super) fn check(layer: &Layer, inputs: usize) -> Option<usize> {
    let hidden = layer.record.hidden;
    let fits = Some(layer.tensor(0).len()) == hidden.checked_mul(inputs) && layer.tensor(1).len() == hidden;
    let recurrent = layer.recurrent(2, hidden).filter(|_| fits)?;
    Some(recurrent.wrapping_add(2))
}

/// Unknowns of Newton's system; 0 without one.
fn unknowns(record: &Record) -> usize {
    match (record.inner, record.rank) {
        (0, _) => 0,
        (_, 0) => record.hidden,
        (_, rank) => rank,
    }
}

/// `u`, two points with `phi` and `F` each, `dz`, `B z`; of Newton `p`, the system and its right side.
pub(super) fn scratch_len(record: &Record) -> usize {
    let n = unknowns(record);
    let newton = if n > 0 {
        n.saturating_mul(n).saturating_add(n).saturating_add(record.hidden)
    } else {
        0
    };
    record
        .hidden
        .saturating_mul(8)
        .saturating_add(record.rank)
        .saturating_add(newton)
}

/// A `z` and what is known there.
struct Point<'a> {
    z: &'a mut [f32],
    /// `phi(R z + u)`.
    outputs: &'a mut [f32],
    /// `F(z)`.
    residual: &'a mut [f32],
    /// `max |F(z)|`; no number where one of its numbers is not finite.
    largest: f32,
    /// `max |gamma z|`.
    size: f32,
}

impl<'a> Point<'a> {
    fn new(scratch: &mut &'a mut [f32], hidden: usize) -> Self {
        let [z, outputs, residual] = [hidden; 3].map(|count| cut(scratch, count));
        Point {
            z,
            outputs,
            residual,
            largest: 0.0,
            size: 0.0,
        }
    }
}

/// The cell with `u`, and room for `B z`.
struct Solver<'a> {
    layer: &'a Layer<'a>,
    gamma: f32,
    identity: f32,
    drive: &'a [f32],
    codes: &'a mut [f32],
}

fn absolute(x: f32) -> f32 {
    if x < 0.0 { -x } else { x }
}

fn larger(one: f32, other: f32) -> f32 {
    if other > one { other } else { one }
}

/// `phi'`, of the value of `phi`.
fn slope(activation: Activation, value: f32) -> f32 {
    let inside = |inside: bool, slope: f32| if inside { slope } else { 0.0 };
    match activation {
        Activation::Relu => inside(value > 0.0, 1.0),
        Activation::Tanh => 1.0 - value * value,
        Activation::Sigmoid => value - value * value,
        Activation::HardTanh => inside(value * value < 1.0, 1.0),
        Activation::HardSigmoid => inside(value - value * value > 0.0, 0.5),
    }
}

impl Solver<'_> {
    /// `phi`, `F` and their sizes at `z`.
    fn evaluate(&mut self, point: &mut Point) {
        let Record {
            hidden,
            rank,
            activation,
            ..
        } = self.layer.record;
        if rank > 0 {
            product(self.layer.tensor(3), &[], point.z, self.codes);
        }
        let (columns, source) = if rank > 0 {
            (rank, &*self.codes)
        } else {
            (hidden, &*point.z)
        };
        let (mut largest, mut size, mut poison) = (0.0, 0.0, 0.0);
        let sums = rows(self.layer.tensor(2), columns, 0).zip(self.drive);
        let results = point.outputs.iter_mut().zip(point.residual.iter_mut());
        for ((z, (output, residual)), (row, drive)) in point.z.iter().zip(results).zip(sums) {
            let mut sum = dot(*drive, row, source);
            if rank > 0 {
                sum += *z * self.identity;
            }
            let scaled = *z * self.gamma;
            *output = activation.of_float(sum);
            *residual = *output - scaled;
            largest = larger(largest, absolute(*residual));
            size = larger(size, absolute(scaled));
            // An activation may hide what is not finite in its argument.
            if !(*residual + sum).is_finite() {
                poison = f32::NAN;
            }
        }
        (point.largest, point.size) = (largest + poison, size);
    }

    /// Newton's step at a point.
    fn newton(&self, point: &Point, step: &mut [f32], mut scratch: &mut [f32]) {
        let Record {
            hidden,
            rank,
            activation,
            ..
        } = self.layer.record;
        let n = if rank > 0 { rank } else { hidden };
        let (p, right) = (cut(&mut scratch, hidden), cut(&mut scratch, n));
        let system = cut(&mut scratch, n.saturating_mul(n));
        let slopes = point.outputs.iter().map(|&output| slope(activation, output));
        if rank == 0 {
            // By reference, here and below: an iterator over rows that knows its length divides by their size, and for the compiler that may be 0.
            let mut all = system.chunks_exact_mut(n.max(1));
            let lines = all.by_ref().zip(rows(self.layer.tensor(2), hidden, 0));
            for (unit, ((line, weights), slope)) in lines.zip(slopes).enumerate() {
                for (column, (out, weight)) in line.iter_mut().zip(weights).enumerate() {
                    let own = if column == unit { self.gamma } else { 0.0 };
                    *out = own - slope * f32::from_le_bytes(*weight);
                }
            }
            copy(step, point.residual);
            return eliminate(n, system, step);
        }
        for (((p, step), residual), slope) in p.iter_mut().zip(step.iter_mut()).zip(point.residual.iter()).zip(slopes) {
            let inverse = 1.0 / (self.gamma - slope * self.identity);
            *step = *residual * inverse;
            *p = slope * inverse;
        }
        product(self.layer.tensor(3), &[], step, right);
        let mut all = system.chunks_exact_mut(n.max(1));
        let lines = all.by_ref().zip(rows(self.layer.tensor(3), hidden, 0));
        for (unknown, (line, codes)) in lines.enumerate() {
            line.fill(0.0);
            for ((code, p), left) in codes.iter().zip(p.iter()).zip(rows(self.layer.tensor(2), rank, 0)) {
                let scaled = -(f32::from_le_bytes(*code) * *p);
                for (out, left) in line.iter_mut().zip(left) {
                    *out += scaled * f32::from_le_bytes(*left);
                }
            }
            if let Some(own) = line.get_mut(unknown) {
                *own += 1.0;
            }
        }
        eliminate(n, system, right);
        for ((step, p), left) in step.iter_mut().zip(p.iter()).zip(rows(self.layer.tensor(2), rank, 0)) {
            *step += *p * dot(0.0, left, right);
        }
    }

    /// The fixed point's step, also where Newton's is not finite.
    fn plain(&self, point: &Point, step: &mut [f32]) {
        let inverse = 1.0 / self.gamma;
        step.iter_mut()
            .zip(point.residual.iter())
            .for_each(|(step, residual)| *step = *residual * inverse);
    }
}

pub(super) fn step(layer: &Layer, input: &[f32], h: &mut [f32], mut scratch: &mut [f32], watch: &mut impl Watch) {
    let record = &layer.record;
    let Record {
        hidden,
        rank,
        activation,
        ..
    } = *record;
    let [gamma, previous, identity] = [record.start, record.previous, record.identity].map(f32::from_bits);
    let [absolute, relative] = record.scalars.map(f32::from_bits);
    let is_newton = record.inner > 0;
    let drive = cut(&mut scratch, hidden);
    let [mut point, mut other] = [0; 2].map(|_| Point::new(&mut scratch, hidden));
    let (step, codes) = (cut(&mut scratch, hidden), cut(&mut scratch, rank));
    product(layer.tensor(0), layer.tensor(1), input, drive);
    for (z, drive) in point.z.iter_mut().zip(drive.iter()) {
        *z = activation.of_float(*drive) * (1.0 / gamma);
    }
    let mut solver = Solver {
        layer,
        gamma,
        identity,
        drive,
        codes,
    };
    solver.evaluate(&mut point);
    let mut alpha = 1.0;
    for _ in 0..record.iterations {
        let done = point.largest <= absolute + relative * point.size;
        if done || alpha < SMALLEST_STEP || !point.largest.is_finite() {
            break;
        }
        if is_newton {
            solver.newton(&point, step, scratch);
        }
        if !is_newton || step.iter().any(|value| !value.is_finite()) {
            solver.plain(&point, step);
        }
        for ((next, z), step) in other.z.iter_mut().zip(point.z.iter()).zip(step.iter()) {
            *next = *z + *step * alpha;
        }
        solver.evaluate(&mut other);
        if if is_newton {
            other.largest < point.largest
        } else {
            other.largest.is_finite()
        } {
            core::mem::swap(&mut point, &mut other);
            alpha = if alpha < 0.5 { alpha + alpha } else { 1.0 };
        } else {
            alpha *= 0.5;
        }
    }
    watch.inner(point.z);
    for (h, z) in h.iter_mut().zip(point.z.iter()) {
        *h = *z - *h * previous;
    }
}
