//! Anderson's extrapolation, type II: the step that the last steps together point to.
//!
//! ```text
//! c  = argmin |F - sum_j c_j dF_j|^2
//! dz = F / gamma - sum_j c_j (dz_j + dF_j / gamma)          j over the last MEMORY steps
//! ```
//!
//! By the normal equations, one small system a lane, with a trace of regularization: they are singular once a column stands still.

use super::linear::eliminate;
use super::{Equilibrium, solve::plain_step};
use crate::Real;
use crate::blocks::cut;
use crate::simd::{Vector, load_row, row, store_row};

/// Steps that are remembered.
pub(super) const MEMORY: usize = 5;

/// What a method keeps from iteration to iteration, or just its scratch.
pub(super) struct Memory<'a, F> {
    /// `[dz_j | dF_j | normal equations | coefficients]`, `[MEMORY][D][lane]` each of the first two.
    pub(super) values: &'a mut [F],
    /// Steps recorded.
    recorded: usize,
}

impl<'a, F: Real> Memory<'a, F> {
    /// Panel rows that Anderson needs.
    pub(super) fn rows(hidden: usize) -> usize {
        2 * MEMORY * hidden + MEMORY * MEMORY + MEMORY
    }

    /// In this scratch.
    #[inline(always)]
    pub(super) fn new(values: &'a mut [F]) -> Self {
        Memory { values, recorded: 0 }
    }

    /// Forgets all steps: those that are missing are steps of length 0.
    #[inline(always)]
    pub(super) fn clear(&mut self, hidden: usize, lanes: usize) {
        self.values[..2 * MEMORY * hidden * lanes].fill(F::ZERO);
    }

    /// Takes the steps of the accepted lanes.
    #[inline(always)]
    pub(super) fn record<V: Vector<Scalar = F>>(&mut self, z: [&[F]; 2], residual: [&[F]; 2], accepted: &[F; 64]) {
        let panel = z[0].len();
        let slot = self.recorded % MEMORY;
        self.recorded += 1;
        let [steps, changes] = cut(&mut *self.values, [MEMORY * panel; 2]);
        difference::<V>(z, accepted, &mut steps[slot * panel..(slot + 1) * panel]);
        difference::<V>(residual, accepted, &mut changes[slot * panel..(slot + 1) * panel]);
    }

    /// Writes the step of all lanes.
    ///
    /// The normal equations are formed of multiples, so that squares of large numbers stay finite: `largest` is `max |F|` of each lane.
    #[inline(always)]
    pub(super) fn step<V: Vector<Scalar = F>>(
        &mut self,
        cell: &Equilibrium<F>,
        residual: &[F],
        largest: &[F; 64],
        step: &mut [F],
    ) {
        let panel = residual.len();
        let lengths = [
            MEMORY * panel,
            MEMORY * panel,
            MEMORY * MEMORY * row::<V>(),
            MEMORY * row::<V>(),
        ];
        let [steps, changes, system, coefficients] = cut(&mut *self.values, lengths);
        let single = size_of::<F>() == 4;
        let share = V::splat(F::from_f64(if single { 1e-6 } else { 1e-12 }));
        let (largest, tiny) = (load_row::<V>(largest), V::splat(F::from_f64(1e-30)));
        let one = V::splat(F::ONE);
        let scale = [one.div(largest[0].max(tiny)), one.div(largest[1].max(tiny))];
        let mut trace = [tiny; 2];
        for i in 0..MEMORY {
            let left = &changes[i * panel..(i + 1) * panel];
            for j in 0..=i {
                let sum = dot::<V>(left, &changes[j * panel..(j + 1) * panel], scale);
                store_row(sum, &mut system[(i * MEMORY + j) * row::<V>()..]);
                store_row(sum, &mut system[(j * MEMORY + i) * row::<V>()..]);
                if i == j {
                    trace = [sum[0].mul_add(share, trace[0]), sum[1].mul_add(share, trace[1])];
                }
            }
            store_row(dot::<V>(left, residual, scale), &mut coefficients[i * row::<V>()..]);
        }
        for index in 0..MEMORY {
            let out = &mut system[index * (MEMORY + 1) * row::<V>()..][..row::<V>()];
            let old = load_row::<V>(out);
            store_row([old[0].add(trace[0]), old[1].add(trace[1])], out);
        }
        eliminate::<V>(MEMORY, system, coefficients);
        plain_step::<V>(cell, residual, step);
        let inverse = V::splat(F::ONE / cell.gamma);
        for j in 0..MEMORY {
            let factor = load_row::<V>(&coefficients[j * row::<V>()..]);
            let rows = steps[j * panel..(j + 1) * panel]
                .chunks_exact(row::<V>())
                .zip(changes[j * panel..(j + 1) * panel].chunks_exact(row::<V>()));
            for ((step_j, change), out) in rows.zip(step.chunks_exact_mut(row::<V>())) {
                let (step_j, change, old) = (load_row::<V>(step_j), load_row::<V>(change), load_row::<V>(out));
                let mut new = [V::zero(); 2];
                for half in 0..2 {
                    let both = change[half].mul_add(inverse, step_j[half]);
                    new[half] = old[half].sub(both.mul(factor[half]));
                }
                store_row(new, out);
            }
        }
    }
}

/// `after - before` in the accepted lanes, 0 in the others.
#[inline(always)]
fn difference<V: Vector>([before, after]: [&[V::Scalar]; 2], accepted: &[V::Scalar; 64], out: &mut [V::Scalar]) {
    let accepted = load_row::<V>(accepted);
    let mask = [accepted[0].greater(V::zero()), accepted[1].greater(V::zero())];
    let rows = before.chunks_exact(row::<V>()).zip(after.chunks_exact(row::<V>()));
    for ((before, after), out) in rows.zip(out.chunks_exact_mut(row::<V>())) {
        let (before, after) = (load_row::<V>(before), load_row::<V>(after));
        let low = after[0].sub(before[0]).or_zero(mask[0]);
        store_row([low, after[1].sub(before[1]).or_zero(mask[1])], out);
    }
}

/// The inner product of each lane, of both sides times `scale`.
#[inline(always)]
fn dot<V: Vector>(left: &[V::Scalar], right: &[V::Scalar], scale: [V; 2]) -> [V; 2] {
    let mut sum = [V::zero(); 2];
    for (left, right) in left.chunks_exact(row::<V>()).zip(right.chunks_exact(row::<V>())) {
        let (left, right) = (load_row::<V>(left), load_row::<V>(right));
        for half in 0..2 {
            sum[half] = left[half]
                .mul(scale[half])
                .mul_add(right[half].mul(scale[half]), sum[half]);
        }
    }
    sum
}
