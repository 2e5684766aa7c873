//! The sequential solve that the harness compares with: one step after another, each started from the solution of the step before.
//!
//! What a person would write who does not know that the equilibria are independent: Newton with the low-rank system, the registers
//! holding units (one sequence has no other dimension), weights and buffers packed once, weight gradients formed at the end by matrix
//! products. Kept beside the kernels because it needs their registers; nothing else uses it.

use super::{Equilibrium, Solver};
use crate::columns::{Columns, Start, Way, padded};
use crate::compiled::Compiled;
use crate::leaky::{LeakyGradient, Recurrent};
use crate::simd::Vector;
use crate::{Activation, Isa, Matrix, Real, multiply_add};

/// A low-rank cell packed for one sequence, with all buffers.
#[derive(Clone, Debug)]
pub struct InOrder<F> {
    isa: Isa,
    inputs: usize,
    hidden: usize,
    rank: usize,
    activation: Activation,
    gamma: F,
    identity: F,
    previous_scale: F,
    solver: Solver,
    bias: Vec<F>,
    /// `A` and `B` as they are.
    plain: [Vec<F>; 2],
    /// `W`.
    input_weight: Columns<F>,
    /// `A`, `B`.
    left: Columns<F>,
    right: Columns<F>,
    /// `A^T`, `B^T`, for the way back.
    left_turned: Columns<F>,
    right_turned: Columns<F>,
    /// `[r r, D]`: `B[p,i] A[i,q]`, and with `p` and `q` exchanged.
    system: Columns<F>,
    system_turned: Columns<F>,
    /// `[T][D padded]`.
    z: Vec<F>,
    outputs: Vec<F>,
    deltas: Vec<F>,
    scratch: Vec<F>,
    /// Iterations of the last pass.
    pub iterations: usize,
}

/// What the kernel reads and writes: forwards `values` are the inputs `[T,d]`, backwards the gradients at the states `[T,D]`.
pub struct InOrderTask<'a, F> {
    runner: &'a mut InOrder<F>,
    values: &'a [F],
    back: bool,
}

impl<F: Real> InOrder<F> {
    /// Packs a cell of low rank.
    ///
    /// # Panics
    /// If `R` is dense.
    pub fn new(isa: Isa, cell: &Equilibrium<F>) -> Self {
        let Recurrent::LowRank {
            rank,
            identity,
            left,
            right,
        } = cell.recurrent
        else {
            panic!("the sequential solve is one of low rank");
        };
        let (lanes, hidden, d) = (isa.lanes::<F>() / 2, cell.hidden, cell.inputs);
        let turn = |matrix: &[F], rows: usize, columns: usize| Columns::new(matrix, [1, rows, columns], lanes);
        let flip = |matrix: &[F], rows: usize, columns: usize| -> Vec<F> {
            let at = |index: usize| matrix[index % rows * columns + index / rows];
            (0..rows * columns).map(at).collect()
        };
        let element = |p: usize, q: usize, i: usize| right[p * hidden + i] * left[i * rank + q];
        let system = |turned: bool| {
            let entry = |index: usize| {
                let (row, i) = (index / hidden, index % hidden);
                let (p, q) = (row / rank, row % rank);
                if turned { element(q, p, i) } else { element(p, q, i) }
            };
            turn(
                &(0..rank * rank * hidden).map(entry).collect::<Vec<_>>(),
                rank * rank,
                hidden,
            )
        };
        let width = padded(hidden, lanes);
        let mut bias = cell.bias.to_vec();
        bias.resize(width, F::ZERO);
        InOrder {
            isa,
            inputs: d,
            hidden,
            rank,
            activation: cell.activation,
            gamma: cell.gamma,
            identity,
            previous_scale: cell.previous_scale,
            solver: cell.solver,
            bias,
            plain: [left.to_vec(), right.to_vec()],
            input_weight: turn(cell.input_weight, hidden, d),
            left: turn(left, hidden, rank),
            right: turn(right, rank, hidden),
            left_turned: turn(&flip(left, hidden, rank), rank, hidden),
            right_turned: turn(&flip(right, rank, hidden), hidden, rank),
            system: system(false),
            system_turned: system(true),
            z: Vec::new(),
            outputs: Vec::new(),
            deltas: Vec::new(),
            scratch: vec![F::ZERO; 6 * width + 2 * padded(rank, lanes) + padded(rank * rank, lanes)],
            iterations: 0,
        }
    }

    /// Solves all steps of `input` `[T,d]` and writes the states `[T,D]`.
    pub fn forward(&mut self, input: &[F], states: &mut Vec<F>) {
        let (isa, hidden) = (self.isa, self.hidden);
        let (steps, width) = (input.len() / self.inputs, self.bias.len());
        self.z.resize(steps * width, F::ZERO);
        self.outputs.resize(steps * width, F::ZERO);
        F::equilibrium_in_order(
            isa,
            InOrderTask {
                runner: self,
                values: input,
                back: false,
            },
        );
        states.resize(steps * hidden, F::ZERO);
        let mut h = vec![F::ZERO; hidden];
        for (z, row) in self.z.chunks_exact(width).zip(states.chunks_exact_mut(hidden)) {
            for ((h, &z), out) in h.iter_mut().zip(z).zip(row) {
                *h = z - self.previous_scale * *h;
                *out = *h;
            }
        }
    }

    /// The gradient, given that at the states `[T,D]`.
    pub fn backward(&mut self, input: &[F], at_states: &[F], gradient: &mut LeakyGradient<F>) {
        let (isa, hidden, rank, d) = (self.isa, self.hidden, self.rank, self.inputs);
        let (steps, width) = (input.len() / d, self.bias.len());
        self.deltas.resize(steps * width, F::ZERO);
        F::equilibrium_in_order(
            isa,
            InOrderTask {
                runner: self,
                values: at_states,
                back: true,
            },
        );
        let parts = [
            (&mut gradient.input_weight, hidden * d),
            (&mut gradient.bias, hidden),
            (&mut gradient.left, hidden * rank),
            (&mut gradient.right, rank * hidden),
        ];
        for (part, len) in parts {
            part.clear();
            part.resize(len, F::ZERO);
        }
        // Rows of the padded width, of which the first D count.
        let deltas: Vec<F> = self
            .deltas
            .chunks_exact(width)
            .flat_map(|row| &row[..hidden])
            .copied()
            .collect();
        let z: Vec<F> = self
            .z
            .chunks_exact(width)
            .flat_map(|row| &row[..hidden])
            .copied()
            .collect();
        let deltas = Matrix::new(&deltas, steps, hidden);
        let [left, right] = &self.plain;
        let mut codes = vec![F::ZERO; steps * rank];
        multiply_add(
            F::ONE,
            Matrix::new(&z, steps, hidden),
            Matrix::new(right, rank, hidden).transposed(),
            &mut codes,
        );
        let mut turned = vec![F::ZERO; steps * rank];
        multiply_add(F::ONE, deltas, Matrix::new(left, hidden, rank), &mut turned);
        multiply_add(
            F::ONE,
            deltas.transposed(),
            Matrix::new(input, steps, d),
            &mut gradient.input_weight,
        );
        multiply_add(
            F::ONE,
            deltas.transposed(),
            Matrix::new(&codes, steps, rank),
            &mut gradient.left,
        );
        multiply_add(
            F::ONE,
            Matrix::new(&turned, steps, rank).transposed(),
            Matrix::new(&z, steps, hidden),
            &mut gradient.right,
        );
        for row in self.deltas.chunks_exact(width) {
            for (sum, &delta) in gradient.bias.iter_mut().zip(row) {
                *sum += delta;
            }
        }
    }
}

/// The kernel.
#[inline(always)]
pub(crate) fn in_order<V: Compiled>(task: InOrderTask<V::Scalar>) {
    let InOrderTask { runner, values, back } = task;
    if back {
        backwards::<V>(runner, values);
    } else {
        forwards::<V>(runner, values);
    }
}

#[inline(always)]
fn forwards<V: Compiled>(runner: &mut InOrder<V::Scalar>, input: &[V::Scalar]) {
    let (width, rank, hidden) = (runner.bias.len(), runner.rank, runner.hidden);
    let code_width = runner.right.width();
    let mut scratch = std::mem::take(&mut runner.scratch);
    let (mut solutions, mut all_outputs) = (std::mem::take(&mut runner.z), std::mem::take(&mut runner.outputs));
    let (drive, rest) = scratch.split_at_mut(width);
    let (residual, rest) = rest.split_at_mut(width);
    let (p, rest) = rest.split_at_mut(width);
    let (q, rest) = rest.split_at_mut(width);
    let (step, rest) = rest.split_at_mut(width);
    let (sums, rest) = rest.split_at_mut(width);
    let (codes, rest) = rest.split_at_mut(code_width);
    let (right, system) = rest.split_at_mut(code_width);
    let absolute = V::Scalar::from_f64(runner.solver.absolute);
    let relative = V::Scalar::from_f64(runner.solver.relative);
    runner.iterations = 0;
    for (index, x) in input.chunks_exact(runner.inputs).enumerate() {
        V::columns(&runner.input_weight, x, Start::From(&runner.bias), Way::To, drive);
        let (before, now) = solutions.split_at_mut(index * width);
        let z = &mut now[..width];
        let outputs = &mut all_outputs[index * width..(index + 1) * width];
        if index > 0 {
            z.copy_from_slice(&before[(index - 1) * width..]);
        } else {
            z.fill(V::Scalar::ZERO);
        }
        let mut last = None;
        for _ in 0..runner.solver.max_iterations {
            V::columns(&runner.right, &z[..hidden], Start::Zero, Way::To, codes);
            V::columns(&runner.left, &codes[..rank], Start::From(drive), Way::To, sums);
            let (largest, size) = evaluate::<V>(
                runner.identity,
                runner.gamma,
                runner.activation,
                [&*sums, &*z],
                outputs,
                residual,
            );
            // No line search: where the residual stops to fall, it is at the limit of the numbers.
            if largest <= absolute + relative * size || last.is_some_and(|last| largest >= last) {
                break;
            }
            last = Some(largest);
            runner.iterations += 1;
            diagonal::<V>(runner, outputs, p, q);
            for ((step, residual), q) in step
                .chunks_exact_mut(V::LANES)
                .zip(residual.chunks_exact(V::LANES))
                .zip(q.chunks_exact(V::LANES))
            {
                V::load(residual).mul(V::load(q)).store(step);
            }
            V::columns(&runner.right, &step[..hidden], Start::Zero, Way::To, right);
            V::columns(&runner.system, &p[..hidden], Start::Zero, Way::To, system);
            eliminate(rank, system, right);
            V::columns(&runner.left, &right[..rank], Start::Zero, Way::To, sums);
            let rows = z.chunks_exact_mut(V::LANES).zip(step.chunks_exact(V::LANES));
            for ((z, step), (p, sum)) in rows.zip(p.chunks_exact(V::LANES).zip(sums.chunks_exact(V::LANES))) {
                let step = V::load(p).mul_add(V::load(sum), V::load(step));
                V::load(z).add(step).store(z);
            }
        }
    }
    (runner.z, runner.outputs) = (solutions, all_outputs);
    runner.scratch = scratch;
}

#[inline(always)]
fn backwards<V: Compiled>(runner: &mut InOrder<V::Scalar>, at_states: &[V::Scalar]) {
    let (width, rank, hidden) = (runner.bias.len(), runner.rank, runner.hidden);
    let code_width = runner.right.width();
    let mut scratch = std::mem::take(&mut runner.scratch);
    let (carried, rest) = scratch.split_at_mut(width);
    let (product, rest) = rest.split_at_mut(width);
    let (p, rest) = rest.split_at_mut(width);
    let (q, rest) = rest.split_at_mut(width);
    let (sums, rest) = rest.split_at_mut(2 * width);
    let (right, rest) = rest.split_at_mut(2 * code_width);
    let (right, sums) = (&mut right[..code_width], &mut sums[..width]);
    let system = rest;
    carried.fill(V::Scalar::ZERO);
    for (index, at) in at_states.chunks_exact(hidden).enumerate().rev() {
        for (carried, &add) in carried.iter_mut().zip(at) {
            *carried = add - runner.previous_scale * *carried;
        }
        let outputs = &runner.outputs[index * width..(index + 1) * width];
        diagonal::<V>(runner, outputs, p, q);
        for ((out, p), g) in product
            .chunks_exact_mut(V::LANES)
            .zip(p.chunks_exact(V::LANES))
            .zip(carried.chunks_exact(V::LANES))
        {
            V::load(p).mul(V::load(g)).store(out);
        }
        V::columns(&runner.left_turned, &product[..hidden], Start::Zero, Way::To, right);
        V::columns(&runner.system_turned, &p[..hidden], Start::Zero, Way::To, system);
        eliminate(rank, system, right);
        V::columns(
            &runner.right_turned,
            &right[..rank],
            Start::From(carried),
            Way::To,
            sums,
        );
        let delta = &mut runner.deltas[index * width..(index + 1) * width];
        for ((out, p), sum) in delta
            .chunks_exact_mut(V::LANES)
            .zip(p.chunks_exact(V::LANES))
            .zip(sums.chunks_exact(V::LANES))
        {
            V::load(p).mul(V::load(sum)).store(out);
        }
    }
    runner.scratch = scratch;
}

/// `phi(sums + c z)` and the residual; gives `max |F|` and `max |gamma z|`.
#[inline(always)]
fn evaluate<V: Vector>(
    identity: V::Scalar,
    gamma: V::Scalar,
    activation: Activation,
    [sums, z]: [&[V::Scalar]; 2],
    outputs: &mut [V::Scalar],
    residual: &mut [V::Scalar],
) -> (V::Scalar, V::Scalar) {
    let (identity, gamma) = (V::splat(identity), V::splat(gamma));
    let (mut largest, mut size) = (V::zero(), V::zero());
    let rows = sums.chunks_exact(V::LANES).zip(z.chunks_exact(V::LANES));
    let rows = rows.zip(
        outputs
            .chunks_exact_mut(V::LANES)
            .zip(residual.chunks_exact_mut(V::LANES)),
    );
    for ((sum, z), (output, residual)) in rows {
        let z = V::load(z);
        let y = activation.value(z.mul_add(identity, V::load(sum)));
        let scaled = z.mul(gamma);
        let f = y.sub(scaled);
        y.store(output);
        f.store(residual);
        largest = largest.max(f.max(V::zero().sub(f)));
        size = size.max(scaled.max(V::zero().sub(scaled)));
    }
    let mut lanes = [[V::Scalar::ZERO; 16]; 2];
    largest.store(&mut lanes[0]);
    size.store(&mut lanes[1]);
    let most = lanes.map(|lanes| lanes.into_iter().fold(V::Scalar::ZERO, V::Scalar::max));
    (most[0], most[1])
}

#[inline(always)]
fn diagonal<V: Compiled>(runner: &InOrder<V::Scalar>, outputs: &[V::Scalar], p: &mut [V::Scalar], q: &mut [V::Scalar]) {
    p.fill(V::Scalar::ONE);
    V::derive(runner.activation, outputs, p);
    let (gamma, identity) = (V::splat(runner.gamma), V::splat(-runner.identity));
    let one = V::splat(V::Scalar::ONE);
    for (p, q) in p.chunks_exact_mut(V::LANES).zip(q.chunks_exact_mut(V::LANES)) {
        let slope = V::load(p);
        let inverse = one.div(slope.mul_add(identity, gamma));
        inverse.store(q);
        slope.mul(inverse).store(p);
    }
}

/// Solves `(I - system) x = right` of one column in place.
#[inline(always)]
fn eliminate<F: Real>(n: usize, system: &mut [F], right: &mut [F]) {
    for (index, value) in system[..n * n].iter_mut().enumerate() {
        *value = if index % (n + 1) == 0 { F::ONE - *value } else { -*value };
    }
    for k in 0..n {
        let mut best = k;
        for line in k + 1..n {
            if system[line * n + k].abs() > system[best * n + k].abs() {
                best = line;
            }
        }
        if best != k {
            (k..n).for_each(|column| system.swap(k * n + column, best * n + column));
            right.swap(k, best);
        }
        let inverse = F::ONE / system[k * n + k];
        let (upper, lower) = system.split_at_mut((k + 1) * n);
        let pivot = &upper[k * n + k + 1..];
        let head = right[k];
        for (line, right) in lower.chunks_exact_mut(n).zip(&mut right[k + 1..n]) {
            let factor = -(line[k] * inverse);
            for (to, &from) in line[k + 1..].iter_mut().zip(pivot) {
                *to += factor * from;
            }
            *right += factor * head;
        }
    }
    for k in (0..n).rev() {
        let mut sum = right[k];
        for column in k + 1..n {
            sum += -system[k * n + column] * right[column];
        }
        right[k] = sum / system[k * n + k];
    }
}
