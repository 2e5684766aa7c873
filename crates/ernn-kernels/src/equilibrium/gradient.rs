//! The gradient through the equilibria of a group of tiles.
//!
//! With `g` the gradient at `z` and `J = gamma I - diag(phi') R`, the implicit function theorem gives
//!
//! ```text
//! J^T lambda = g,   delta = diag(phi') lambda                    (one step: delta = phi' g / gamma)
//! dR += delta z^T    dc += <delta, z>    dW += delta x^T    db += delta    dx += W^T delta
//! ```
//!
//! For `R = c I + A B`, with `p` and `q` as in [`super::newton`]: `(I - A^T diag(p) B^T) v = A^T (p g)`, `delta = p (g + B^T v)`.

use super::linear::eliminate;
use super::newton::{add_diagonal, derivatives, diagonal, multiply, reduced_system};
use super::{Equilibrium, Packs, Through};
use crate::Real;
use crate::blocks::cut;
use crate::compiled::Compiled;
use crate::outer::{Outer, Rows, sum_rows};
use crate::panels::slot_rows;
use crate::product::{Epilogue, Product, Store};
use crate::simd::{Vector, load_row, row, store_row};

/// Tiles whose deltas are kept at once.
const CHUNK: usize = 16;

/// A group of tiles; panels stand a slot apart.
pub struct GradientTask<'a, F> {
    pub(crate) cell: &'a Equilibrium<'a, F>,
    pub(crate) packs: &'a Packs<F>,
    /// `[tiles][d][lane]`.
    pub(crate) input: &'a [F],
    /// `[tiles][D][lane]`.
    pub(crate) z: &'a [F],
    /// `[tiles][D][lane]`: `phi(R z + u)`.
    pub(crate) outputs: &'a [F],
    /// `[tiles][D][lane]`: the gradient at `z`, 0 in unused lanes.
    pub(crate) gradient: &'a [F],
    /// `[tiles][lane]`: 1 where an equilibrium was found, else 0.
    pub(crate) converged: &'a [F],
    /// The parts of the gradient, one after the other.
    pub(crate) sums: &'a mut [F],
    /// `[tiles][d][lane]`; may be empty.
    pub(crate) input_gradient: &'a mut [F],
    pub(crate) scratch: &'a mut [F],
}

/// Numbers of scratch that [`differentiate`] needs.
pub(super) fn scratch_len<F: Real>(cell: &Equilibrium<F>, lanes: usize) -> usize {
    let (hidden, rank, n) = (cell.hidden, cell.rank(), cell.unknowns());
    let chunk = CHUNK * (slot_rows(hidden) + 2 * slot_rows(rank));
    (chunk + n * n + n + 2 * hidden) * lanes
}

/// Adds the gradients of a group; inlined into the function that the dispatch enters.
#[inline(always)]
pub(crate) fn differentiate<V: Compiled>(task: GradientTask<V::Scalar>) {
    let GradientTask {
        cell,
        packs,
        input,
        z,
        outputs,
        gradient,
        converged,
        sums,
        input_gradient,
        scratch,
    } = task;
    let (d, hidden, rank) = (cell.inputs, cell.hidden, cell.rank());
    let (stride, code_stride, input_stride) = (
        slot_rows(hidden) * row::<V>(),
        slot_rows(rank) * row::<V>(),
        slot_rows(d) * row::<V>(),
    );
    let panel = hidden * row::<V>();
    let (kept, scratch) = scratch.split_at_mut(CHUNK * (stride + 2 * code_stride));
    let [deltas, codes, codes_gradient] = cut(kept, [CHUNK * stride, CHUNK * code_stride, CHUNK * code_stride]);
    let [input_weight, bias, left, right, identity] = cut(sums, cell.gradient_sizes());
    let tiles = z.len() / stride;
    let mut first = 0;
    while first < tiles {
        let count = CHUNK.min(tiles - first);
        for local in 0..count {
            let tile = first + local;
            let delta = &mut deltas[local * stride..][..panel];
            let of = Column::<V> {
                outputs: &outputs[tile * stride..][..panel],
                gradient: &gradient[tile * stride..][..panel],
                converged: load_row::<V>(&converged[tile * row::<V>()..]),
            };
            delta_of(cell, packs, &of, delta, scratch);
            if rank > 0 {
                let code = rank * row::<V>();
                let out = &mut codes[local * code_stride..][..code];
                V::product(
                    Product::plain(&packs.right, &z[tile * stride..][..panel]),
                    &mut Store::plain(out),
                );
                let out = &mut codes_gradient[local * code_stride..][..code];
                V::product(Product::plain(&packs.left_turned, delta), &mut Store::plain(out));
            }
            if let Some(sum) = identity.first_mut() {
                *sum += inner::<V>(delta, &z[tile * stride..][..panel]);
            }
            if !input_gradient.is_empty() {
                let out = &mut input_gradient[tile * input_stride..][..d * row::<V>()];
                V::product(Product::plain(&packs.input_turned, delta), &mut Store::plain(out));
            }
        }
        let deltas = rows(deltas, stride, hidden);
        let states = rows(&z[first * stride..], stride, hidden);
        let inputs = rows(&input[first * input_stride..], input_stride, d);
        if rank > 0 {
            let codes = rows(codes, code_stride, rank);
            add::<V>(count, deltas, codes, left);
            add::<V>(count, rows(codes_gradient, code_stride, rank), states, right);
        } else {
            add::<V>(count, deltas, states, left);
        }
        add::<V>(count, deltas, inputs, input_weight);
        sum_rows::<V>(count, deltas, bias);
        first += count;
    }
}

/// The inner product of two panels.
#[inline(always)]
fn inner<V: Vector>(left: &[V::Scalar], right: &[V::Scalar]) -> V::Scalar {
    let mut sum = V::zero();
    for (left, right) in left.chunks_exact(V::LANES).zip(right.chunks_exact(V::LANES)) {
        sum = V::load(left).mul_add(V::load(right), sum);
    }
    sum.sum()
}

#[inline(always)]
fn rows<F>(values: &[F], stride: usize, features: usize) -> Rows<'_, F> {
    Rows {
        values,
        stride,
        features,
    }
}

#[inline(always)]
fn add<V: Compiled>(count: usize, left: Rows<V::Scalar>, right: Rows<V::Scalar>, sums: &mut [V::Scalar]) {
    V::outer(
        Outer {
            count,
            left,
            right,
            scale: V::Scalar::ONE,
        },
        sums,
    );
}

/// The columns of one tile.
struct Column<'a, V: Vector> {
    outputs: &'a [V::Scalar],
    gradient: &'a [V::Scalar],
    converged: [V; 2],
}

/// `delta` of one tile.
#[inline(always)]
fn delta_of<V: Compiled>(
    cell: &Equilibrium<V::Scalar>,
    packs: &Packs<V::Scalar>,
    of: &Column<V>,
    delta: &mut [V::Scalar],
    scratch: &mut [V::Scalar],
) {
    let (n, panel) = (cell.unknowns(), cell.hidden * row::<V>());
    let [system, unknowns, p, product] = cut(scratch, [n * n * row::<V>(), n * row::<V>(), panel, panel]);
    if cell.solver.through == Through::Implicit {
        if packs.dense.is_empty() {
            diagonal::<V>(cell, [of.outputs, of.gradient], p, None);
            multiply::<V>(p, of.gradient, product);
            reduced_system::<V>(&packs.system_turned, n, p, system);
            V::product(Product::plain(&packs.left_turned, product), &mut Store::plain(unknowns));
            eliminate::<V>(n, system, unknowns);
            let mut whole = Whole::<V> {
                p,
                gradient: of.gradient,
                delta,
            };
            V::product(Product::plain(&packs.right_turned, unknowns), &mut whole);
        } else {
            derivatives::<V>(cell, of.outputs, p);
            turned_system::<V>(cell, &packs.dense, p, system);
            product.copy_from_slice(of.gradient);
            eliminate::<V>(n, system, product);
            multiply::<V>(p, product, delta);
        }
    }
    let mut converged = [V::Scalar::ZERO; 64];
    store_row(of.converged, &mut converged);
    let all = converged[..row::<V>()].iter().all(|&lane| lane > V::Scalar::ZERO);
    if !all || cell.solver.through == Through::OneStep {
        one_step::<V>(cell, of, p, delta);
    }
}

/// Epilogue of the product with `B^T`: `delta = p (g + sum)`.
struct Whole<'a, V: Vector> {
    p: &'a [V::Scalar],
    gradient: &'a [V::Scalar],
    delta: &'a mut [V::Scalar],
}

impl<V: Vector> Epilogue<V> for Whole<'_, V> {
    #[inline(always)]
    fn finish(&mut self, index: usize, sum: [V; 2]) {
        let at = index * row::<V>();
        let p = load_row::<V>(&self.p[at..at + row::<V>()]);
        let g = load_row::<V>(&self.gradient[at..at + row::<V>()]);
        let out = &mut self.delta[at..at + row::<V>()];
        store_row([p[0].mul(g[0].add(sum[0])), p[1].mul(g[1].add(sum[1]))], out);
    }
}

/// `gamma I - R^T diag(phi')`.
#[inline(always)]
fn turned_system<V: Vector>(
    cell: &Equilibrium<V::Scalar>,
    matrix: &[V::Scalar],
    slopes: &[V::Scalar],
    system: &mut [V::Scalar],
) {
    let n = cell.hidden;
    for (index, line) in system.chunks_exact_mut(n * row::<V>()).enumerate() {
        let columns = line.chunks_exact_mut(row::<V>()).zip(slopes.chunks_exact(row::<V>()));
        for (column, (out, slope)) in columns.enumerate() {
            let (slope, weight) = (load_row::<V>(slope), V::splat(-matrix[column * n + index]));
            store_row([slope[0].mul(weight), slope[1].mul(weight)], out);
        }
    }
    add_diagonal::<V>(n, cell.gamma, system);
}

/// Through one step: in all lanes, or where no equilibrium was found.
#[inline(always)]
fn one_step<V: Compiled>(
    cell: &Equilibrium<V::Scalar>,
    of: &Column<V>,
    slopes: &mut [V::Scalar],
    delta: &mut [V::Scalar],
) {
    derivatives::<V>(cell, of.outputs, slopes);
    let mut mask = [of.converged[0].greater(V::zero()), of.converged[1].greater(V::zero())];
    if cell.solver.through == Through::OneStep {
        mask = [V::zero().greater(V::zero()); 2];
    }
    let inverse = V::splat(V::Scalar::ONE / cell.gamma);
    let lines = slopes
        .chunks_exact(row::<V>())
        .zip(of.gradient.chunks_exact(row::<V>()));
    for ((slope, gradient), out) in lines.zip(delta.chunks_exact_mut(row::<V>())) {
        let (slope, gradient, exact) = (load_row::<V>(slope), load_row::<V>(gradient), load_row::<V>(out));
        let mut new = [V::zero(); 2];
        for half in 0..2 {
            let plain = slope[half].mul(gradient[half]).mul(inverse);
            new[half] = exact[half].choose(plain, mask[half]);
        }
        store_row(new, out);
    }
}
