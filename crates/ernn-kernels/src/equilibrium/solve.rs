//! Solves one tile of columns: `gamma z = phi(R z + u)`, each lane to its own tolerance.
//!
//! ```text
//! z  = phi(u) / gamma                                        the start: the first fixed-point step from 0
//! repeat:  stop where max |F(z)| <= absolute + relative max |gamma z|
//!          dz from F by the method,   z' = z + alpha dz,   keep z' where it is acceptable, else halve alpha
//! ```
//! Newton accepts what lowers the residual, the other methods what is finite. `alpha` doubles again, up to 1, with each step that is kept.

use super::anderson::Memory;
use super::newton;
use super::{Equilibrium, Method, Outcome, Packs};
use crate::blocks::cut;
use crate::compiled::Compiled;
use crate::product::{Epilogue, Init, Product, Store};
use crate::simd::{Vector, load_row, row, store_row};
use crate::{Activation, Real};

/// Halvings of a step before a column is given up.
const SMALLEST_STEP: f64 = 1.0 / 4096.0;

/// One tile to solve.
pub struct SolveTask<'a, F> {
    pub(crate) cell: &'a Equilibrium<'a, F>,
    pub(crate) packs: &'a Packs<F>,
    /// `[d][lane]`.
    pub(crate) input: &'a [F],
    /// Which lanes hold a column.
    pub(crate) used: &'a [bool],
    /// `[D][lane]`: the solution.
    pub(crate) z: &'a mut [F],
    /// `[D][lane]`: `phi(R z + u)`.
    pub(crate) outputs: &'a mut [F],
    /// One a lane.
    pub(crate) outcomes: &'a mut [Outcome],
    pub(crate) scratch: &'a mut [F],
}

/// Numbers of scratch that [`solve`] needs.
pub(super) fn scratch_len<F: Real>(cell: &Equilibrium<F>, lanes: usize) -> usize {
    let (hidden, n) = (cell.hidden, cell.unknowns());
    let method = match cell.solver.method {
        Method::FixedPoint => 0,
        Method::Anderson => Memory::<F>::rows(hidden),
        Method::Newton => n * n + n + hidden,
    };
    (6 * hidden + cell.rank() + method) * lanes
}

/// The panels of a tile while it is solved.
pub(super) struct Panels<'a, F> {
    /// `u`.
    pub(super) drive: &'a mut [F],
    /// `dz`.
    pub(super) step: &'a mut [F],
    /// `B z`.
    pub(super) codes: &'a mut [F],
}

/// A point and what is known there.
pub(super) struct Point<'a, F> {
    pub(super) z: &'a mut [F],
    /// `phi(R z + u)`.
    pub(super) outputs: &'a mut [F],
    /// `F(z)`.
    pub(super) residual: &'a mut [F],
}

/// What the lanes are at.
pub(super) struct Lanes<F> {
    /// `max |F(z)|`.
    pub(super) residual: [F; 64],
    /// `max |gamma z|`.
    pub(super) size: [F; 64],
    /// 1 where the lane goes on, 0 where it has stopped.
    pub(super) active: [F; 64],
    /// `alpha`.
    pub(super) step: [F; 64],
}

/// Solves the tile; inlined into the function that the dispatch enters.
#[inline(always)]
pub(crate) fn solve<V: Compiled>(task: SolveTask<V::Scalar>) {
    let SolveTask {
        cell,
        packs,
        input,
        used,
        z,
        outputs,
        outcomes,
        scratch,
    } = task;
    let (lanes, panel) = (row::<V>(), cell.hidden * row::<V>());
    let (head, method_scratch) = scratch.split_at_mut(6 * panel + cell.rank() * lanes);
    let [drive, residual, step, trial, trial_outputs, trial_residual, codes] =
        cut(head, [panel, panel, panel, panel, panel, panel, cell.rank() * lanes]);
    let mut panels = Panels { drive, step, codes };
    // The point that the lanes are at, and the one that is tried; they change places where no lane refuses.
    let mut current = Point { z, outputs, residual };
    let mut other = Point {
        z: trial,
        outputs: trial_outputs,
        residual: trial_residual,
    };
    let mut swapped = false;
    let product = Product {
        init: Init::Bias(cell.bias),
        ..Product::plain(&packs.input, input)
    };
    V::product(product, &mut Store::plain(panels.drive));
    start::<V>(cell, panels.drive, current.z);
    let mut at = Lanes::<V::Scalar> {
        residual: [V::Scalar::ZERO; 64],
        size: [V::Scalar::ZERO; 64],
        active: [V::Scalar::ZERO; 64],
        step: [V::Scalar::ONE; 64],
    };
    for (active, &used) in at.active.iter_mut().zip(used) {
        *active = if used { V::Scalar::ONE } else { V::Scalar::ZERO };
    }
    let mut memory = Memory::new(method_scratch);
    if cell.solver.method == Method::Anderson {
        memory.clear(cell.hidden, lanes);
    }
    (at.residual, at.size) = evaluate::<V>(cell, packs, &mut panels, &mut current);
    let absolute = V::Scalar::from_f64(cell.solver.absolute);
    let relative = V::Scalar::from_f64(cell.solver.relative);
    let smallest = V::Scalar::from_f64(SMALLEST_STEP);
    let half = V::Scalar::from_f64(0.5);
    for (lane, outcome) in outcomes.iter_mut().enumerate().take(lanes) {
        *outcome = Outcome::default();
        if at.active[lane] == V::Scalar::ZERO {
            outcome.converged = true;
        }
    }
    let mut iteration = 0;
    loop {
        let mut going = false;
        for (lane, outcome) in outcomes.iter_mut().enumerate().take(lanes) {
            if at.active[lane] > V::Scalar::ZERO {
                outcome.residual = at.residual[lane].to_f64();
                outcome.converged = at.residual[lane] <= absolute + relative * at.size[lane];
                let given_up = at.step[lane] < smallest || iteration == cell.solver.max_iterations;
                if outcome.converged || given_up || !at.residual[lane].is_finite() {
                    at.active[lane] = V::Scalar::ZERO;
                } else {
                    outcome.iterations = iteration as u32 + 1;
                    going = true;
                }
            }
        }
        if !going {
            break;
        }
        iteration += 1;
        match cell.solver.method {
            Method::FixedPoint => plain_step::<V>(cell, current.residual, panels.step),
            Method::Anderson => memory.step::<V>(cell, current.residual, &at.residual, panels.step),
            Method::Newton => newton::step::<V>(cell, packs, &current, &mut panels, memory.values),
        }
        advance::<V>(current.z, panels.step, &at, other.z);
        let (residuals, sizes) = evaluate::<V>(cell, packs, &mut panels, &mut other);
        let mut refused = false;
        let mut accepted = [V::Scalar::ZERO; 64];
        for lane in 0..lanes {
            if at.active[lane] > V::Scalar::ZERO {
                let better = match cell.solver.method {
                    Method::Newton => residuals[lane] < at.residual[lane],
                    _ => residuals[lane].is_finite(),
                };
                if better {
                    accepted[lane] = V::Scalar::ONE;
                    at.residual[lane] = residuals[lane];
                    at.size[lane] = sizes[lane];
                    at.step[lane] = (at.step[lane] + at.step[lane]).min(V::Scalar::ONE);
                } else {
                    refused = true;
                    at.step[lane] *= half;
                }
            }
        }
        if cell.solver.method == Method::Anderson {
            let residuals = [&*current.residual, &*other.residual];
            memory.record::<V>([&*current.z, &*other.z], residuals, &accepted);
        }
        if refused {
            keep::<V>(&accepted, other.z, current.z);
            keep::<V>(&accepted, other.outputs, current.outputs);
            keep::<V>(&accepted, other.residual, current.residual);
        } else {
            // The lanes that have stopped made no step: there both points are the same, to the bit.
            std::mem::swap(&mut current, &mut other);
            swapped = !swapped;
        }
    }
    if swapped {
        other.z.copy_from_slice(current.z);
        other.outputs.copy_from_slice(current.outputs);
    }
}

/// `z = phi(u) / gamma`.
#[inline(always)]
fn start<V: Compiled>(cell: &Equilibrium<V::Scalar>, drive: &[V::Scalar], z: &mut [V::Scalar]) {
    z.copy_from_slice(drive);
    V::activate(cell.activation, z);
    let inverse = V::splat(V::Scalar::ONE / cell.gamma);
    for value in z.chunks_exact_mut(V::LANES) {
        V::load(value).mul(inverse).store(value);
    }
}

/// `dz = F / gamma`.
#[inline(always)]
pub(super) fn plain_step<V: Vector>(cell: &Equilibrium<V::Scalar>, residual: &[V::Scalar], step: &mut [V::Scalar]) {
    let inverse = V::splat(V::Scalar::ONE / cell.gamma);
    for (from, to) in residual.chunks_exact(V::LANES).zip(step.chunks_exact_mut(V::LANES)) {
        V::load(from).mul(inverse).store(to);
    }
}

/// `z' = z + alpha dz` in the lanes that go on, `z` in the others.
#[inline(always)]
fn advance<V: Vector>(z: &[V::Scalar], step: &[V::Scalar], at: &Lanes<V::Scalar>, trial: &mut [V::Scalar]) {
    let active = load_row::<V>(&at.active);
    let alpha = load_row::<V>(&at.step);
    let mask = [active[0].greater(V::zero()), active[1].greater(V::zero())];
    let rows = z.chunks_exact(row::<V>()).zip(step.chunks_exact(row::<V>()));
    for ((z, step), out) in rows.zip(trial.chunks_exact_mut(row::<V>())) {
        let (z, step) = (load_row::<V>(z), load_row::<V>(step));
        let low = z[0].add(step[0].mul(alpha[0]).or_zero(mask[0]));
        let high = z[1].add(step[1].mul(alpha[1]).or_zero(mask[1]));
        store_row([low, high], out);
    }
}

/// Takes over the accepted lanes.
#[inline(always)]
fn keep<V: Vector>(accepted: &[V::Scalar; 64], from: &[V::Scalar], to: &mut [V::Scalar]) {
    let accepted = load_row::<V>(accepted);
    let mask = [accepted[0].greater(V::zero()), accepted[1].greater(V::zero())];
    for (from, to) in from.chunks_exact(row::<V>()).zip(to.chunks_exact_mut(row::<V>())) {
        let (new, old) = (load_row::<V>(from), load_row::<V>(to));
        store_row([new[0].choose(old[0], mask[0]), new[1].choose(old[1], mask[1])], to);
    }
}

/// `phi(R z + u)` and `F(z)`; gives `max |F|` and `max |gamma z|` of each lane. Where a number is not finite, neither is the lane's maximum.
#[inline(always)]
fn evaluate<V: Compiled>(
    cell: &Equilibrium<V::Scalar>,
    packs: &Packs<V::Scalar>,
    panels: &mut Panels<V::Scalar>,
    point: &mut Point<V::Scalar>,
) -> ([V::Scalar; 64], [V::Scalar; 64]) {
    let mut epilogue = Evaluation::<V> {
        activation: cell.activation,
        gamma: V::splat(cell.gamma),
        identity: V::splat(cell.identity()),
        z: point.z,
        outputs: point.outputs,
        residual: point.residual,
        largest: [V::zero(); 2],
        size: [V::zero(); 2],
        poison: [V::zero(); 2],
    };
    let source = if cell.rank() > 0 {
        V::product(
            Product::plain(&packs.right, epilogue.z),
            &mut Store::plain(panels.codes),
        );
        &*panels.codes
    } else {
        epilogue.z
    };
    let product = Product {
        init: Init::Panel(panels.drive),
        ..Product::plain(&packs.left, source)
    };
    V::product(product, &mut epilogue);
    let mut out = ([V::Scalar::ZERO; 64], [V::Scalar::ZERO; 64]);
    let Evaluation {
        largest, size, poison, ..
    } = epilogue;
    store_row([largest[0].add(poison[0]), largest[1].add(poison[1])], &mut out.0);
    store_row(size, &mut out.1);
    out
}

/// Epilogue of the recurrent product.
struct Evaluation<'a, V: Vector> {
    activation: Activation,
    gamma: V,
    identity: V,
    z: &'a [V::Scalar],
    outputs: &'a mut [V::Scalar],
    residual: &'a mut [V::Scalar],
    largest: [V; 2],
    size: [V; 2],
    /// 0, or NaN once a number was not finite: a maximum forgets NaN.
    poison: [V; 2],
}

impl<V: Vector> Epilogue<V> for Evaluation<'_, V> {
    #[inline(always)]
    fn finish(&mut self, index: usize, sum: [V; 2]) {
        let at = index * row::<V>();
        let z = load_row::<V>(&self.z[at..at + row::<V>()]);
        let mut outputs = [V::zero(); 2];
        let mut residual = [V::zero(); 2];
        for half in 0..2 {
            let sum = z[half].mul_add(self.identity, sum[half]);
            outputs[half] = self.activation.value(sum);
            let scaled = z[half].mul(self.gamma);
            residual[half] = outputs[half].sub(scaled);
            self.largest[half] = self.largest[half].max(size(residual[half]));
            self.size[half] = self.size[half].max(size(scaled));
            // An activation may hide what is not finite in its argument.
            let whole = residual[half].add(sum);
            self.poison[half] = self.poison[half].add(whole.sub(whole));
        }
        store_row(outputs, &mut self.outputs[at..at + row::<V>()]);
        store_row(residual, &mut self.residual[at..at + row::<V>()]);
    }
}

/// `|x|`.
#[inline(always)]
fn size<V: Vector>(x: V) -> V {
    x.max(V::zero().sub(x))
}
