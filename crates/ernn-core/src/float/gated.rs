//! One step of the gated family: groups of sums of a unit, then the cell's formula.
//!
//! ```text
//! sum_g = [W_g x] + [R_g h] + b_g        R dense, or A B with one B for all groups
//! ```
//!
//! | cell | |
//! |---|---|
//! | LSTM | `c <- sigma(f) c + sigma(i) phi(g)`, `h <- sigma(o) phi(c)` |
//! | GRU, reset after | `n = phi(n_x + sigma(r) n_h)`, `h <- n + sigma(z) (h - n)` |
//! | GRU, reset before | the same, where the product of n has read `sigma(r) h` |
//! | UGRNN | `h <- c + z (h - c)`, `z = sigma(sum_z)`, `c = phi(sum_c)` |
//! | FastGRNN | `z = sigma(p + b_z)`, `c = phi(p + b_c)`, `h <- z h + (zeta (1 - z) + nu) c` |
//! | gated AntisymmetricRNN | `z = sigma(p + ..)`, `c = phi(p + ..)`, `p = R h + c_I h`, `h <- h + epsilon z c` |

use super::Watch;
use super::layer::{Layer, cut, dot, product, rows};
use crate::layer::{Groups, Kind, Record};
use crate::pick::copy;

/// Number of tensors, if their sizes are right.
pub(super) fn check(layer: &Layer, inputs: usize) -> Option<usize> {
    let (hidden, groups) = (layer.record.hidden, layer.record.kind.groups()?);
    let of = |(from, to): (usize, usize)| to.wrapping_sub(from).checked_mul(hidden);
    let weights = of(groups.input)?.checked_mul(inputs)?;
    let fits = layer.tensor(0).len() == weights && Some(layer.tensor(1).len()) == of((0, groups.all));
    let recurrent = layer.recurrent(2, of(groups.state)?).filter(|_| fits)?;
    Some(recurrent.wrapping_add(2))
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
    input: &'a [f32],
    /// `h`, or `B h`.
    state: &'a [f32],
    /// `r * h`, or `B (r * h)`, of the last group of a reset; else empty.
    reset: &'a [f32],
}

impl Sources<'_> {
    /// The sum of one group and unit.
    fn sum(&self, group: usize, unit: usize) -> f32 {
        let layer = self.layer;
        let row_of = |(from, to): (usize, usize)| {
            (from..to).contains(&group).then(|| {
                group
                    .wrapping_sub(from)
                    .wrapping_mul(layer.record.hidden)
                    .wrapping_add(unit)
            })
        };
        let bias = group.wrapping_mul(layer.record.hidden).wrapping_add(unit);
        let mut sum = layer.tensor(1).get(bias).map_or(0.0, |bias| f32::from_le_bytes(*bias));
        if let Some(row) = row_of(self.groups.input).and_then(|row| rows(layer.tensor(0), self.input.len(), row).next())
        {
            sum = dot(sum, row, self.input);
        }
        let last = self.groups.reset && group.wrapping_add(1) == self.groups.all;
        let source = if last { self.reset } else { self.state };
        if let Some(row) = row_of(self.groups.state).and_then(|row| rows(layer.tensor(2), source.len(), row).next()) {
            sum = dot(sum, row, source);
        }
        sum
    }
}

pub(super) fn step(layer: &Layer, input: &[f32], state: &mut [f32], mut scratch: &mut [f32], watch: &mut impl Watch) {
    let Record { hidden, rank, .. } = layer.record;
    let Some(groups) = layer.record.kind.groups() else {
        return;
    };
    let Some((h, memory)) = state.split_at_mut_checked(hidden) else {
        return;
    };
    let (next, codes) = (cut(&mut scratch, hidden), cut(&mut scratch, rank));
    let encode = |source: &[f32], codes: &mut [f32]| product(layer.tensor(3), &[], source, codes);
    encode(h, codes);
    watch.codes(codes);
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
            *reset = layer.record.gate.of_float(sources.sum(0, unit)) * *h;
        }
        encode(reset, reset_codes);
        watch.inner(reset);
        watch.codes(reset_codes);
        sources.reset = if rank > 0 { reset_codes } else { reset };
    }
    let mut memories = memory.iter_mut();
    for (unit, (next, h)) in next.iter_mut().zip(h.iter()).enumerate() {
        *next = unit_step(&sources, unit, *h, memories.next(), watch);
    }
    copy(h, next);
}

/// The next state of one unit; that of its memory is left there.
fn unit_step(sources: &Sources, unit: usize, h: f32, memory: Option<&mut f32>, watch: &mut impl Watch) -> f32 {
    let record = &sources.layer.record;
    let sum = |group| sources.sum(group, unit);
    let gate = |x| record.gate.of_float(x);
    let mut phi = |x| {
        let value = record.activation.of_float(x);
        watch.phi(value);
        value
    };
    let [one, two] = record.scalars.map(f32::from_bits);
    match record.kind {
        Kind::Lstm => {
            let Some(memory) = memory else { return 0.0 };
            *memory = gate(sum(1)) * *memory + gate(sum(0)) * phi(sum(3));
            gate(sum(2)) * phi(*memory)
        }
        Kind::GruAfter => {
            let n = phi(gate(sum(1)) * sum(3) + sum(0));
            gate(sum(2)) * (h - n) + n
        }
        Kind::GruBefore => {
            let n = phi(sum(2));
            gate(sum(1)) * (h - n) + n
        }
        Kind::Ugrnn => {
            let c = phi(sum(1));
            gate(sum(0)) * (h - c) + c
        }
        Kind::FastGrnn => {
            let p = sum(2);
            let (z, c) = (gate(sum(0) + p), phi(sum(1) + p));
            z * h + ((1.0 - z) * one + two) * c
        }
        Kind::Antisymmetric => {
            let p = h * f32::from_bits(record.identity) + sum(2);
            let (z, c) = (gate(sum(0) + p), phi(sum(1) + p));
            one * (z * c) + h
        }
        Kind::Leaky | Kind::Deep | Kind::Equilibrium => h,
    }
}
