//! One step of the gated family in whole numbers; groups and formulas are those of [`crate::float`].
//!
//! Tensors: `W` and its factors, `b`, `R` or `A` and its factors, `B` and its factors. Scalars and `epsilon` have 14 places.

use super::layer::{Layer, bias, cut};
use super::math::{GATE_PLACES, ONE, SUM_PLACES, Saturations, round_shift};
use super::matrix::Rows;
use super::state::{State, Values, threshold};
use crate::layer::{Groups, Kind, Record};

/// Binary places of a cell's scalars.
const SCALAR_PLACES: u32 = 14;

/// Number of tensors, if their sizes are right.
pub(super) fn check(layer: &Layer, inputs: usize) -> Option<usize> {
    let (hidden, groups) = (layer.record.hidden, layer.record.kind.groups()?);
    let of = |(from, to): (usize, usize)| to.wrapping_sub(from).checked_mul(hidden);
    let fits = layer.matrix(0).is(of(groups.input)?, inputs) && Some(layer.wholes(2).len()) == of((0, groups.all));
    let recurrent = layer.recurrent(3, of(groups.state)?).filter(|_| fits)?;
    Some(recurrent.wrapping_add(3))
}

/// The next `h`, `B h`; with a reset before the product `r * h` and `B (r * h)`, too.
pub(super) fn scratch_len(record: &Record) -> usize {
    let copies = if record.kind == Kind::GruBefore { 2 } else { 1 };
    record.hidden.saturating_add(record.rank).saturating_mul(copies)
}

/// Groups of a cell, and rows that are read for each.
const GROUPS: usize = 4;

/// What the sums of a step read: for each group its rows of `W` and of `R`. Each group is asked for unit by unit, once.
struct Sources<'a> {
    layer: &'a Layer<'a>,
    step: u32,
    input: [Option<Rows<'a, 'a>>; GROUPS],
    state: [Option<Rows<'a, 'a>>; GROUPS],
}

impl<'a> Sources<'a> {
    /// Rows of `W` read the input, those of `R` the state, `h` or `B h`.
    fn new(layer: &'a Layer<'a>, groups: Groups, step: u32, input: Values<'a>, state: Values<'a>) -> Self {
        let hidden = layer.record.hidden;
        let rows = |index: usize, (from, to): (usize, usize), values: Values<'a>| {
            let matrix = layer.matrix(index);
            core::array::from_fn(|group| {
                let row = group.wrapping_sub(from).wrapping_mul(hidden);
                (from..to).contains(&group).then(|| matrix.products(values, row))
            })
        };
        Sources {
            layer,
            step,
            input: rows(0, groups.input, input),
            state: rows(3, groups.state, state),
        }
    }

    /// The sum of one group at its next unit, which is this one.
    fn sum(&mut self, group: usize, unit: usize, saturations: &mut Saturations) -> i32 {
        let place = group.wrapping_mul(self.layer.record.hidden).wrapping_add(unit);
        let mut sum = i64::from(bias(self.layer.wholes(2), place));
        for rows in [&mut self.input, &mut self.state] {
            let rows = rows.get_mut(group).and_then(Option::as_mut);
            sum = sum.wrapping_add(rows.and_then(Iterator::next).unwrap_or(0));
        }
        saturations.whole(sum)
    }

    fn gate(&mut self, group: usize, unit: usize, saturations: &mut Saturations) -> i32 {
        let sum = self.sum(group, unit, saturations);
        i32::from(self.layer.gate(sum, saturations))
    }
}

pub(super) fn step<S: State>(
    layer: &Layer,
    step: u32,
    input: Values,
    state: &mut [S],
    mut scratch: &mut [i16],
    saturations: &mut Saturations,
) {
    let Record { hidden, rank, .. } = layer.record;
    let Some(groups) = layer.record.kind.groups() else {
        return;
    };
    let Some((h, memory)) = state.split_at_mut_checked(hidden) else {
        return;
    };
    let (next, codes) = (cut(&mut scratch, hidden), cut(&mut scratch, rank));
    let own = if rank > 0 {
        layer.encode(5, S::values(h), codes, saturations);
        Values::Wide(codes)
    } else {
        S::values(h)
    };
    let mut sources = Sources::new(layer, groups, step, input, own);
    if groups.reset {
        let (reset, reset_codes) = (cut(&mut scratch, hidden), cut(&mut scratch, rank));
        for (unit, (reset, h)) in reset.iter_mut().zip(h.iter()).enumerate() {
            let gate = i64::from(sources.gate(0, unit, saturations));
            *reset = saturations.narrow(round_shift(gate.wrapping_mul(i64::from(h.wide())), GATE_PLACES));
        }
        if rank > 0 {
            layer.encode(5, Values::Wide(reset), reset_codes, saturations);
        }
        // The last group reads what was reset.
        let (group, (from, _)) = (groups.all.wrapping_sub(1), groups.state);
        let row = group.wrapping_sub(from).wrapping_mul(hidden);
        let rows = layer
            .matrix(3)
            .products(Values::Wide(if rank > 0 { reset_codes } else { reset }), row);
        if let Some(last) = sources.state.get_mut(group) {
            *last = Some(rows);
        }
    }
    let mut memories = memory.iter_mut();
    for (unit, (next, h)) in next.iter_mut().zip(h.iter()).enumerate() {
        *next = unit_step(&mut sources, unit, h.wide(), memories.next(), saturations);
    }
    for (unit, (h, next)) in h.iter_mut().zip(next.iter()).enumerate() {
        *h = S::kept(*next, threshold(step, unit), saturations);
    }
}

/// `gate old + other new`, of a gate and a weight with 15 places.
fn mix(layer: &Layer, (gate, h): (i32, i16), (other, phi): (i32, i16), saturations: &mut Saturations) -> i16 {
    let places = layer.places;
    let old = (
        i64::from(gate).wrapping_mul(i64::from(h)),
        GATE_PLACES.wrapping_add(places.h),
    );
    let new = (
        i64::from(other).wrapping_mul(i64::from(phi)),
        GATE_PLACES.wrapping_add(places.phi),
    );
    saturations.combine(old, new, places.h)
}

/// The next state of one unit; that of its memory is left there.
fn unit_step<S: State>(
    sources: &mut Sources,
    unit: usize,
    h: i16,
    memory: Option<&mut S>,
    saturations: &mut Saturations,
) -> i16 {
    let layer = sources.layer;
    let (record, places) = (&layer.record, layer.places);
    let [one, two] = record.scalars.map(|word| i64::from(word as i32));
    match record.kind {
        Kind::Lstm => lstm(sources, unit, memory, saturations),
        Kind::GruAfter => {
            let r = i64::from(sources.gate(1, unit, saturations));
            let from_state = round_shift(
                r.wrapping_mul(i64::from(sources.sum(3, unit, saturations))),
                GATE_PLACES,
            );
            let from_input = sources.sum(0, unit, saturations);
            let sum = saturations.whole(from_state.wrapping_add(i64::from(from_input)));
            let n = layer.phi(sum, saturations);
            let z = sources.gate(2, unit, saturations);
            mix(layer, (z, h), (ONE.wrapping_sub(z), n), saturations)
        }
        Kind::GruBefore => {
            let sum = sources.sum(2, unit, saturations);
            let n = layer.phi(sum, saturations);
            let z = sources.gate(1, unit, saturations);
            mix(layer, (z, h), (ONE.wrapping_sub(z), n), saturations)
        }
        Kind::Ugrnn => {
            let sum = sources.sum(1, unit, saturations);
            let c = layer.phi(sum, saturations);
            let z = sources.gate(0, unit, saturations);
            mix(layer, (z, h), (ONE.wrapping_sub(z), c), saturations)
        }
        Kind::FastGrnn => {
            let p = sources.sum(2, unit, saturations);
            let (z, c) = gate_and_candidate(sources, unit, p, saturations);
            let rest = i64::from(ONE.wrapping_sub(z));
            // zeta (1 - z) + nu, with 15 places; nu has 14.
            let weight = round_shift(one.wrapping_mul(rest), SCALAR_PLACES).wrapping_add(two.wrapping_mul(2));
            mix(layer, (z, h), (weight as i32, c), saturations)
        }
        Kind::Antisymmetric => {
            let own = round_shift(
                i64::from(h).wrapping_mul(i64::from(record.identity as i32)),
                places.identity,
            );
            let product = sources.sum(2, unit, saturations);
            let p = saturations.whole(own.wrapping_add(i64::from(product)));
            let (z, c) = gate_and_candidate(sources, unit, p, saturations);
            let step = round_shift(i64::from(z).wrapping_mul(i64::from(c)), GATE_PLACES);
            let step = (one.wrapping_mul(step), SCALAR_PLACES.wrapping_add(places.phi));
            saturations.combine((i64::from(h), places.h), step, places.h)
        }
        Kind::Leaky | Kind::Deep | Kind::Equilibrium => h,
    }
}

/// `z = sigma(p + b_z)`, `c = phi(p + b_c)`, of the sums 0 and 1.
fn gate_and_candidate(sources: &mut Sources, unit: usize, p: i32, saturations: &mut Saturations) -> (i32, i16) {
    let z = sources.sum(0, unit, saturations);
    let z = saturations.add(z, p);
    let z = sources.layer.gate(z, saturations);
    let c = sources.sum(1, unit, saturations);
    let c = saturations.add(c, p);
    (i32::from(z), sources.layer.phi(c, saturations))
}

/// `c <- sigma(f) c + sigma(i) phi(g)`, `h <- sigma(o) phi(c)`.
fn lstm<S: State>(sources: &mut Sources, unit: usize, memory: Option<&mut S>, saturations: &mut Saturations) -> i16 {
    let Some(memory) = memory else { return 0 };
    let (layer, places) = (sources.layer, sources.layer.places);
    let [i, f, o] = [0, 1, 2].map(|group| i64::from(sources.gate(group, unit, saturations)));
    let sum = sources.sum(3, unit, saturations);
    let g = i64::from(layer.phi(sum, saturations));
    let kept = (
        f.wrapping_mul(i64::from(memory.wide())),
        GATE_PLACES.wrapping_add(places.memory),
    );
    let new = (i.wrapping_mul(g), GATE_PLACES.wrapping_add(places.phi));
    let next = saturations.combine(kept, new, places.memory);
    // The memory stands behind the state.
    let place = layer.record.hidden.wrapping_add(unit);
    *memory = S::kept(next, threshold(sources.step, place), saturations);
    let sum = i32::from(memory.wide()) << SUM_PLACES.saturating_sub(places.memory).min(16);
    let shown = i64::from(layer.phi(sum, saturations));
    let shown = (o.wrapping_mul(shown), GATE_PLACES.wrapping_add(places.phi));
    saturations.combine(shown, (0, 0), places.h)
}
