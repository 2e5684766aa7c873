//! A layer of whole numbers: its record, its tensors, and the products that all families form.
//!
//! Places stand in the record: word 13 holds those of `h`, of the memory `c`, of codes `B h` and of `phi`, word 14 those of the input,
//! of `a` and of `e`, and the shift of `c` (of `c I + A B`), a byte each. A matrix is two tensors, see `matrix.rs`.

use super::math::{GATE_PLACES, Saturations, hard_sigmoid, hard_tanh, round_shift, sigmoid, tanh};
use super::matrix::Matrix;
use super::state::{State, Values};
use super::{deep, gated, leaky};
use crate::image::Image;
use crate::layer::{Activation, Kind, Record};

/// Binary places of a layer's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub h: u32,
    pub memory: u32,
    pub codes: u32,
    pub phi: u32,
    pub decay: u32,
    pub gain: u32,
    pub identity: u32,
}

/// A layer of a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer<'a> {
    pub record: Record,
    pub places: Places,
    pub image: Image<'a>,
}

impl<'a> Layer<'a> {
    pub fn of(image: &Image<'a>, index: usize) -> Option<Self> {
        let record = Record::of(image.record(index))?;
        let [one, two, _] = record.places;
        let [h, memory, codes, phi] = one.to_le_bytes().map(u32::from);
        let [_, decay, gain, identity] = two.to_le_bytes().map(u32::from);
        let places = Places {
            h,
            memory,
            codes,
            phi,
            decay,
            gain,
            identity,
        };
        let layer = Layer {
            record,
            places,
            image: *image,
        };
        layer.is_sound().then_some(layer)
    }

    /// No shift of a step leaves 64 bits.
    fn is_sound(&self) -> bool {
        let Places {
            h,
            memory,
            codes,
            phi,
            decay,
            gain,
            identity,
        } = self.places;
        let states = h <= 15 && memory <= 15 && codes <= 15 && phi <= 15;
        let small = |word: u32| (word as i32).unsigned_abs() <= 65_536;
        let numbers = [self.record.start, self.record.previous, self.record.identity];
        let numbers = numbers.iter().chain(&self.record.scalars).all(|&word| small(word));
        let bounded = self.record.activation == Activation::Relu || phi == GATE_PLACES;
        let known = self.record.kind != Kind::Equilibrium;
        known && states && numbers && bounded && (8..=15).contains(&decay) && gain <= 24 && identity <= 30
    }

    /// The places that its inputs must have.
    pub fn input_places(&self) -> u32 {
        self.record.places.get(1).map_or(0, |word| word & 255)
    }

    pub fn matrix(&self, index: usize) -> Matrix<'a> {
        Matrix::of(&self.image, self.record.first.wrapping_add(index))
    }

    /// A tensor of `i32`.
    pub fn wholes(&self, index: usize) -> &'a [[u8; 4]] {
        self.image.floats(self.record.first.wrapping_add(index))
    }

    /// A tensor of `i16`.
    pub fn shorts(&self, index: usize) -> &'a [[u8; 2]] {
        self.image.tensor(self.record.first.wrapping_add(index)).as_chunks().0
    }

    /// The tensor behind the layer's last one, if all have the sizes that they must have.
    pub fn check(&self, inputs: usize) -> Option<usize> {
        let count = match self.record.kind {
            Kind::Deep => deep::check(self, inputs)?,
            Kind::Leaky => leaky::check(self, inputs)?,
            _ => gated::check(self, inputs)?,
        };
        self.record.first.checked_add(count)
    }

    /// Numbers that a step needs for itself.
    pub fn scratch_len(&self) -> usize {
        match self.record.kind {
            Kind::Deep => deep::scratch_len(self),
            Kind::Leaky => leaky::scratch_len(&self.record),
            _ => gated::scratch_len(&self.record),
        }
    }

    /// One step: `state` goes on by the input.
    pub fn step<S: State>(
        &self,
        step: u32,
        input: Values,
        state: &mut [S],
        scratch: &mut [i16],
        saturations: &mut Saturations,
    ) {
        match self.record.kind {
            Kind::Deep => deep::step(self, step, input, state, scratch, saturations),
            Kind::Leaky => leaky::step(self, step, input, state, scratch, saturations),
            _ => gated::step(self, step, input, state, scratch, saturations),
        }
    }

    /// Whether `R`, or `A` and `B`, of these `rows` stand from the tensor `index` on; gives the number of tensors.
    pub fn recurrent(&self, index: usize, rows: usize) -> Option<usize> {
        let Record { hidden, rank, .. } = self.record;
        if rank == 0 {
            return self.matrix(index).is(rows, hidden).then_some(2);
        }
        let right = self.matrix(index.wrapping_add(2));
        (self.matrix(index).is(rows, rank) && right.is(rank, hidden)).then_some(4)
    }

    /// Whether `a` and `e` stand from the tensor `index` on.
    pub fn step_sizes(&self, index: usize) -> Option<usize> {
        let count = self.record.rows.checked_mul(self.record.iterations);
        let fits = |index| Some(self.shorts(index).len()) == count;
        (fits(index) && fits(index.wrapping_add(1))).then_some(2)
    }

    /// `(a, e)` of all iterations of a step, from the tensor `index` on.
    pub fn iterations(&self, index: usize, step: u32) -> impl Iterator<Item = (i64, i64)> + use<'a> {
        let k = self.record.iterations;
        let from = self.record.row(step).saturating_mul(k);
        let [a, e] = [index, index.wrapping_add(1)].map(|index| self.shorts(index).iter().skip(from).take(k));
        a.zip(e)
            .map(|(a, e)| (i64::from(i16::from_le_bytes(*a)), i64::from(i16::from_le_bytes(*e))))
    }

    /// `phi` of a sum.
    pub fn phi(&self, sum: i32, saturations: &mut Saturations) -> i16 {
        activate(self.record.activation, self.places.phi, sum, saturations)
    }

    /// The gates' activation of a sum.
    pub fn gate(&self, sum: i32, saturations: &mut Saturations) -> i16 {
        activate(self.record.gate, GATE_PLACES, sum, saturations)
    }

    /// Codes `B source`.
    pub fn encode(&self, index: usize, source: Values, codes: &mut [i16], saturations: &mut Saturations) {
        for (code, product) in codes.iter_mut().zip(self.matrix(index).products(source, 0)) {
            *code = saturations.narrow(product);
        }
    }
}

fn activate(activation: Activation, places: u32, sum: i32, saturations: &mut Saturations) -> i16 {
    match activation {
        Activation::Relu => saturations.narrow(round_shift(i64::from(sum.max(0)), 16_u32.saturating_sub(places))),
        Activation::Tanh => tanh(sum),
        Activation::Sigmoid => sigmoid(sum),
        Activation::HardTanh => hard_tanh(sum),
        Activation::HardSigmoid => hard_sigmoid(sum),
    }
}

/// Cuts the first numbers off a slice; none where there are fewer, which no parsed model meets.
pub(super) fn cut<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let whole = core::mem::take(slice);
    match whole.split_at_mut_checked(count) {
        Some((first, rest)) => {
            *slice = rest;
            first
        }
        None => &mut [],
    }
}

/// The bias at a place; 0 beyond the end.
pub(super) fn bias(biases: &[[u8; 4]], place: usize) -> i32 {
    biases.get(place).map_or(0, |bias| i32::from_le_bytes(*bias))
}
