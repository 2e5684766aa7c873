//! One step of the gated family in whole numbers; groups and formulas are those of [`crate::float`].
//!
//! Tensors: `W` and its factors, `b`, `R` or `A` and its factors, `B` and its factors. Scalars and `epsilon` have 14 places.

use super::layer::{Layer, bias, cut};
use super::math::{GATE_PLACES, ONE, SUM_PLACES, Saturations, round_shift};
use crate::layer::{Groups, Kind, Record};
use crate::pick::copy;

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

/// What the sums of a step read.
struct Sources<'a> {
    layer: &'a Layer<'a>,
    groups: Groups,
    input: &'a [i16],
    /// `h`, or `B h`.
    state: &'a [i16],
    /// `r * h`, or `B (r * h)`, of the last group of a reset; else empty.
    reset: &'a [i16],
}

impl Sources<'_> {
    /// The sum of one group and unit.
    fn sum(&self, group: usize, unit: usize, saturations: &mut Saturations) -> i32 {
        let (layer, hidden) = (self.layer, self.layer.record.hidden);
        let row_of = |(from, to): (usize, usize)| {
            let row = group.wrapping_sub(from).wrapping_mul(hidden).wrapping_add(unit);
            (from..to).contains(&group).then_some(row)
        };
        let mut sum = i64::from(bias(layer.wholes(2), group.wrapping_mul(hidden).wrapping_add(unit)));
        if let Some(row) = row_of(self.groups.input) {
            sum = sum.wrapping_add(layer.matrix(0).products(self.input, row).next().unwrap_or(0));
        }
        let last = self.groups.reset && group.wrapping_add(1) == self.groups.all;
        let source = if last { self.reset } else { self.state };
        if let Some(row) = row_of(self.groups.state) {
            sum = sum.wrapping_add(layer.matrix(3).products(source, row).next().unwrap_or(0));
        }
        saturations.whole(sum)
    }

    fn gate(&self, group: usize, unit: usize, saturations: &mut Saturations) -> i32 {
        let sum = self.sum(group, unit, saturations);
        i32::from(self.layer.gate(sum, saturations))
    }
}

pub(super) fn step(
    layer: &Layer,
    input: &[i16],
    state: &mut [i16],
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
    if rank > 0 {
        layer.encode(5, h, codes, saturations);
    }
    let mut sources = Sources {
        layer,
        groups,
        input,
        state: if rank > 0 { codes } else { h },
        reset: &[],
    };
    if groups.reset {
        let (reset, reset_codes) = (cut(&mut scratch, hidden), cut(&mut scratch, rank));
        for (unit, (reset, h)) in reset.iter_mut().zip(h.iter()).enumerate() {
            let gate = i64::from(sources.gate(0, unit, saturations));
            *reset = saturations.narrow(round_shift(gate.wrapping_mul(i64::from(*h)), GATE_PLACES));
        }
        if rank > 0 {
            layer.encode(5, reset, reset_codes, saturations);
        }
        sources.reset = if rank > 0 { reset_codes } else { reset };
    }
    let mut memories = memory.iter_mut();
    for (unit, (next, h)) in next.iter_mut().zip(h.iter()).enumerate() {
        *next = unit_step(&sources, unit, *h, memories.next(), saturations);
    }
    copy(h, next);
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
fn unit_step(sources: &Sources, unit: usize, h: i16, memory: Option<&mut i16>, saturations: &mut Saturations) -> i16 {
    let (layer, record, places) = (sources.layer, &sources.layer.record, sources.layer.places);
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
        Kind::Leaky | Kind::Deep => h,
    }
}

/// `z = sigma(p + b_z)`, `c = phi(p + b_c)`, of the sums 0 and 1.
fn gate_and_candidate(sources: &Sources, unit: usize, p: i32, saturations: &mut Saturations) -> (i32, i16) {
    let z = sources.sum(0, unit, saturations);
    let z = saturations.add(z, p);
    let z = sources.layer.gate(z, saturations);
    let c = sources.sum(1, unit, saturations);
    let c = saturations.add(c, p);
    (i32::from(z), sources.layer.phi(c, saturations))
}

/// `c <- sigma(f) c + sigma(i) phi(g)`, `h <- sigma(o) phi(c)`.
fn lstm(sources: &Sources, unit: usize, memory: Option<&mut i16>, saturations: &mut Saturations) -> i16 {
    let Some(memory) = memory else { return 0 };
    let (layer, places) = (sources.layer, sources.layer.places);
    let [i, f, o] = [0, 1, 2].map(|group| i64::from(sources.gate(group, unit, saturations)));
    let sum = sources.sum(3, unit, saturations);
    let g = i64::from(layer.phi(sum, saturations));
    let kept = (
        f.wrapping_mul(i64::from(*memory)),
        GATE_PLACES.wrapping_add(places.memory),
    );
    let new = (i.wrapping_mul(g), GATE_PLACES.wrapping_add(places.phi));
    *memory = saturations.combine(kept, new, places.memory);
    let sum = i32::from(*memory) << SUM_PLACES.saturating_sub(places.memory).min(16);
    let shown = i64::from(layer.phi(sum, saturations));
    let shown = (o.wrapping_mul(shown), GATE_PLACES.wrapping_add(places.phi));
    saturations.combine(shown, (0, 0), places.h)
}
