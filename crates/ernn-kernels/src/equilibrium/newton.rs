//! Newton's step: `(gamma I - diag(phi') R) dz = F`.
//!
//! With `R = c I + A B`, `q = 1 / (gamma - c phi')` and `p = phi' q` (Sherman, Morrison, Woodbury):
//!
//! ```text
//! (I - B diag(p) A) w = B (q F)        r unknowns
//! dz = q F + p (A w)
//! ```
//!
//! `B diag(p) A` of all lanes is one product of the constant matrix `[r r, D]` of all `B[.,i] A[i,.]` with the panel `p`. Where the
//! diagonal part cannot be divided by, or `R` is dense, the system of `D` unknowns is solved as it stands.

use super::linear::eliminate;
use super::solve::{Panels, Point, plain_step};
use super::{Equilibrium, Packs};
use crate::Real;
use crate::blocks::cut;
use crate::compiled::Compiled;
use crate::pack::Packed;
use crate::product::{Epilogue, Product, Store};
use crate::simd::{Vector, load_row, row, store_row};

/// Writes the step of all lanes to `panels.step`; where the system is singular, the fixed-point step.
#[inline(always)]
pub(super) fn step<V: Compiled>(
    cell: &Equilibrium<V::Scalar>,
    packs: &Packs<V::Scalar>,
    point: &Point<V::Scalar>,
    panels: &mut Panels<V::Scalar>,
    scratch: &mut [V::Scalar],
) {
    let (n, panel) = (cell.unknowns(), cell.hidden * row::<V>());
    let [system, right, p] = cut(scratch, [n * n * row::<V>(), n * row::<V>(), panel]);
    if packs.dense.is_empty() {
        // q F, for now in the place of the step.
        diagonal::<V>(cell, [point.outputs, point.residual], p, Some(panels.step));
        reduced_system::<V>(&packs.system, n, p, system);
        V::product(Product::plain(&packs.right, panels.step), &mut Store::plain(right));
        eliminate::<V>(n, system, right);
        let mut whole = Whole::<V> { p, step: panels.step };
        V::product(Product::plain(&packs.left, right), &mut whole);
    } else {
        derivatives::<V>(cell, point.outputs, p);
        dense_system::<V>(cell, &packs.dense, p, system);
        panels.step.copy_from_slice(point.residual);
        eliminate::<V>(n, system, panels.step);
    }
    replace_singular::<V>(cell, point.residual, panels.step, p);
}

/// Epilogue of the product with `A`: `dz = q F + p sum`.
struct Whole<'a, V: Vector> {
    p: &'a [V::Scalar],
    step: &'a mut [V::Scalar],
}

impl<V: Vector> Epilogue<V> for Whole<'_, V> {
    #[inline(always)]
    fn finish(&mut self, index: usize, sum: [V; 2]) {
        let at = index * row::<V>();
        let p = load_row::<V>(&self.p[at..at + row::<V>()]);
        let out = &mut self.step[at..at + row::<V>()];
        let old = load_row::<V>(out);
        store_row([p[0].mul_add(sum[0], old[0]), p[1].mul_add(sum[1], old[1])], out);
    }
}

/// `phi'`, from the outputs.
#[inline(always)]
pub(super) fn derivatives<V: Compiled>(cell: &Equilibrium<V::Scalar>, outputs: &[V::Scalar], out: &mut [V::Scalar]) {
    out.fill(V::Scalar::ONE);
    V::derive(cell.activation, outputs, out);
}

/// `p`, and `q F` where wanted, of the outputs and `F`.
#[inline(always)]
pub(super) fn diagonal<V: Compiled>(
    cell: &Equilibrium<V::Scalar>,
    [outputs, residual]: [&[V::Scalar]; 2],
    p: &mut [V::Scalar],
    scaled: Option<&mut [V::Scalar]>,
) {
    derivatives::<V>(cell, outputs, p);
    let (gamma, identity, one) = (
        V::splat(cell.gamma),
        V::splat(-cell.identity()),
        V::splat(V::Scalar::ONE),
    );
    let Some(scaled) = scaled else {
        for p in p.chunks_exact_mut(V::LANES) {
            let slope = V::load(p);
            slope.div(slope.mul_add(identity, gamma)).store(p);
        }
        return;
    };
    let rows = p.chunks_exact_mut(V::LANES).zip(residual.chunks_exact(V::LANES));
    for ((p, residual), scaled) in rows.zip(scaled.chunks_exact_mut(V::LANES)) {
        let slope = V::load(p);
        let inverse = one.div(slope.mul_add(identity, gamma));
        V::load(residual).mul(inverse).store(scaled);
        slope.mul(inverse).store(p);
    }
}

/// `out = left * right`, number by number.
#[inline(always)]
pub(super) fn multiply<V: Vector>(left: &[V::Scalar], right: &[V::Scalar], out: &mut [V::Scalar]) {
    let rows = left.chunks_exact(V::LANES).zip(right.chunks_exact(V::LANES));
    for ((left, right), out) in rows.zip(out.chunks_exact_mut(V::LANES)) {
        V::load(left).mul(V::load(right)).store(out);
    }
}

/// `I - B diag(p) A`, or its transpose, by the matrix.
#[inline(always)]
pub(super) fn reduced_system<V: Compiled>(
    matrix: &Packed<V::Scalar>,
    n: usize,
    p: &[V::Scalar],
    system: &mut [V::Scalar],
) {
    let mut store = Store::<V> {
        out: system,
        scale: V::splat(-V::Scalar::ONE),
    };
    V::product(Product::plain(matrix, p), &mut store);
    add_diagonal::<V>(n, V::Scalar::ONE, system);
}

/// `gamma I - diag(phi') R`.
#[inline(always)]
fn dense_system<V: Vector>(
    cell: &Equilibrium<V::Scalar>,
    matrix: &[V::Scalar],
    slopes: &[V::Scalar],
    system: &mut [V::Scalar],
) {
    let n = cell.hidden;
    let lines = matrix.chunks_exact(n).zip(slopes.chunks_exact(row::<V>()));
    for ((weights, slope), line) in lines.zip(system.chunks_exact_mut(n * row::<V>())) {
        let slope = load_row::<V>(slope);
        for (&weight, out) in weights.iter().zip(line.chunks_exact_mut(row::<V>())) {
            let weight = V::splat(-weight);
            store_row([slope[0].mul(weight), slope[1].mul(weight)], out);
        }
    }
    add_diagonal::<V>(n, cell.gamma, system);
}

/// Adds a number to the diagonal of `[n,n][lane]`.
#[inline(always)]
pub(super) fn add_diagonal<V: Vector>(n: usize, value: V::Scalar, system: &mut [V::Scalar]) {
    let value = V::splat(value);
    for index in 0..n {
        let out = &mut system[index * (n + 1) * row::<V>()..][..row::<V>()];
        let old = load_row::<V>(out);
        store_row([old[0].add(value), old[1].add(value)], out);
    }
}

/// The fixed-point step in the lanes whose step is not finite.
#[inline(always)]
fn replace_singular<V: Vector>(
    cell: &Equilibrium<V::Scalar>,
    residual: &[V::Scalar],
    step: &mut [V::Scalar],
    spare: &mut [V::Scalar],
) {
    let mut poison = [V::zero(); 2];
    for step in step.chunks_exact(row::<V>()) {
        let step = load_row::<V>(step);
        for half in 0..2 {
            poison[half] = poison[half].add(step[half].sub(step[half]));
        }
    }
    let mut sums = [V::Scalar::ZERO; 64];
    store_row(poison, &mut sums);
    if sums.iter().all(|&sum| sum == V::Scalar::ZERO) {
        return;
    }
    // 0 where all is finite, else NaN, and NaN is greater than nothing.
    let below = V::splat(-V::Scalar::ONE);
    let finite = [poison[0].greater(below), poison[1].greater(below)];
    plain_step::<V>(cell, residual, spare);
    for (plain, step) in spare.chunks_exact(row::<V>()).zip(step.chunks_exact_mut(row::<V>())) {
        let (plain, newton) = (load_row::<V>(plain), load_row::<V>(step));
        let low = newton[0].choose(plain[0], finite[0]);
        store_row([low, newton[1].choose(plain[1], finite[1])], step);
    }
}
