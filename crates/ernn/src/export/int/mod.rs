//! The plan of an `int8` image: whole numbers after training, with ranges from data.
//!
//! 1. The `f32` image runs over the calibration sequences and tells how large each number becomes ([`ranges`]).
//! 2. Each kind of number gets as many binary places as its range, a tenth wider, leaves in 16 bits.
//! 3. Each row of a matrix gets a scale of its own ([`matrix`]), and its errors make up for each other on the data ([`compensation`]);
//!    zeros stay zeros, and are left out where that is smaller ([`compressed`]). Biases, and sums, have 16 places.
//!
//! What the device then computes is `ernn_core::int`'s business; the tables stand in its documents.

mod accuracy;
mod compensation;
mod compressed;
mod matrix;
mod ranges;

use ernn_core::{Activation, Format};

pub use self::accuracy::{Accuracy, int_logits, measure};
use self::compensation::Moment;
use self::matrix::{Scaled, matrix};
use self::ranges::{LayerRange, Ranges};
use super::float::{Words, identity};
use super::network::{Cell, Network};
use super::plan::{DerivedPlan, Plan, PlannedLayer, Tensor, derived_tensors};
use super::{Samples, StateBits, float};
use crate::cell::{FoldedDeep, FoldedGated, FoldedLeaky, FoldedRecurrent};
use crate::checkpoint::SavedModel;
use crate::{Error, Result};

/// Binary places of sums, biases and logits.
const SUM: i32 = ernn_core::int::math::SUM_PLACES as i32;
/// Binary places of activations between -1 and 1.
const PHI: i32 = 15;
/// Binary places of a gated cell's scalars.
const SCALAR: i32 = 14;
/// Ranges are wider than those that were met by this factor.
const MARGIN: f64 = 1.1;

/// The image of a model in `int8`, calibrated on these sequences.
///
/// # Errors
/// If no stream can go through the model, its state has no bound, or its numbers are too large for 16 bits.
pub fn int_image(saved: &SavedModel, samples: &Samples, state: StateBits) -> Result<Vec<u8>> {
    Ok(plan(saved, samples, state)?.encode())
}

pub(super) fn plan(saved: &SavedModel, samples: &Samples, state: StateBits) -> Result<Plan> {
    let network = Network::of(saved)?;
    if network.layers.iter().any(|cell| matches!(cell, Cell::Equilibrium(_))) {
        return Err(no_bound());
    }
    let hidden: Vec<usize> = network.layers.iter().map(|cell| Words::of(cell).hidden).collect();
    let ranges = Ranges::of(&float::plan(&network).encode(), samples, &hidden);
    let input = places("input", ranges.input)?;
    let (mut source, mut seen) = (input, &ranges.seen);
    let mut layers = Vec::with_capacity(network.layers.len());
    for (index, (cell, range)) in network.layers.iter().zip(&ranges.layers).enumerate() {
        let layer = Layer::of(cell, range, source, seen).map_err(|error| in_layer(index, error))?;
        (source, seen) = (layer.h, &range.state);
        layers.push(layer.plan(cell).map_err(|error| in_layer(index, error))?);
    }
    let hidden = network.readout_weight.len() / network.outputs;
    // Of one statistic, what was seen of the state at all steps tells more than its few ends.
    let seen = if network.pooling.statistics().len() > 1 {
        &ranges.read
    } else {
        seen
    };
    let [weight, bias] = match &network.unit {
        Some(unit) => unit.scaled(&network.readout_weight, &network.readout_bias),
        None => [network.readout_weight.clone(), network.readout_bias.clone()],
    };
    let readout = matrix(&weight, hidden, SUM - source, seen)?;
    Ok(Plan {
        format: Format::Int8,
        inputs: network.inputs,
        first: network.first,
        outputs: network.outputs,
        unit: network.unit.clone(),
        several: network.several,
        pooling: network.pooling,
        tokens: network.tokens,
        narrow: state == StateBits::Int8,
        derived: DerivedPlan::of(&network.derivation, network.inputs),
        input: input_tensors(&network, input),
        layers,
        readout: with_bias(readout, &bias),
    })
}

/// Why an exact ERNN stays in `f32`.
fn no_bound() -> crate::Error {
    Error::setting(
        "solver",
        "a cell at its equilibrium, whose states add up over the steps without a bound that whole numbers could have",
        "f32 on the device, or a cell trained with the euler solver",
    )
}

/// Which layer an error is of.
fn in_layer(index: usize, error: crate::Error) -> crate::Error {
    match error {
        crate::Error::Setting { name, found, expected } => {
            crate::Error::setting(format!("layer {}, {name}", index + 1), found, expected)
        }
        other => other,
    }
}

/// Mean, and scale times the places; of tokens the embedding, and nothing.
fn input_tensors(network: &Network, places: i32) -> Vec<Tensor> {
    let [first, scale] = &network.input;
    if network.tokens {
        let rows = first
            .iter()
            .map(|&value| rounded(f64::from(value) * 2f64.powi(places)) as i16);
        return vec![Tensor::I16(rows.collect()), Tensor::F32(Vec::new())];
    }
    let scale = scale.iter().map(|&scale| scale * 2f32.powi(places));
    let mut tensors = vec![Tensor::F32(first.clone()), Tensor::F32(scale.collect())];
    tensors.extend(derived_tensors(&network.derivation));
    tensors
}

/// The most binary places, up to 15, with which a range fits 16 bits.
fn places(what: &str, range: f64) -> Result<i32> {
    let fits = |places: &i32| range * MARGIN * 2f64.powi(*places) <= 32_767.0;
    (0..=15).rev().find(fits).ok_or_else(|| {
        let found = format!("numbers up to {range:.3e} in the calibration data");
        Error::setting(what, found, "at most 29788, which 16 bits can hold")
    })
}

/// To the nearest, within 32 bits.
fn rounded(value: f64) -> i32 {
    // A cast from a float ends at the ends of the range.
    value.round() as i32
}

/// The binary places of a layer, and what its matrices read.
struct Layer<'a> {
    words: Words,
    below: &'a Moment,
    seen: &'a LayerRange,
    input: i32,
    h: i32,
    memory: i32,
    codes: i32,
    phi: i32,
}

impl<'a> Layer<'a> {
    fn of(cell: &Cell, range: &'a LayerRange, input: i32, below: &'a Moment) -> Result<Self> {
        let words = Words::of(cell);
        Ok(Layer {
            words,
            below,
            seen: range,
            input,
            h: places("hidden state", range.h)?,
            memory: places("memory", range.memory)?,
            codes: places("codes", range.codes)?,
            phi: match words.activation {
                Activation::Relu => places("activation", range.phi)?,
                _ => PHI,
            },
        })
    }

    fn plan(&self, cell: &Cell) -> Result<PlannedLayer> {
        match cell {
            Cell::Leaky(cell) => self.leaky(cell),
            Cell::Gated(cell) => self.gated(cell),
            Cell::Deep(cell) => self.deep(cell),
            Cell::Equilibrium(_) => Err(no_bound()),
        }
    }

    fn leaky(&self, cell: &FoldedLeaky<f32>) -> Result<PlannedLayer> {
        let mut tensors = with_bias(
            matrix(&cell.input_weight, cell.inputs, SUM - self.input, self.below)?,
            &cell.bias,
        );
        tensors.extend(self.recurrent(&cell.recurrent, cell.hidden)?);
        let steps = self.steps(&cell.decay, &cell.gain, &mut tensors)?;
        let (factor, shift) = self.identity(&cell.recurrent)?;
        let numbers = [cell.start_scale as i32, cell.previous_scale as i32, factor, 0, 0];
        Ok(self.planned(numbers, steps, shift, tensors))
    }

    fn deep(&self, cell: &FoldedDeep<f32>) -> Result<PlannedLayer> {
        let mut tensors = matrix(&cell.input_weight, cell.inputs, SUM - self.input, self.below)?.into_tensors();
        // Nothing is told of what lies between the layers of a step.
        let unseen = Moment::default();
        let (mut columns, mut source, mut seen) = (cell.hidden, self.h, self.seen.source());
        for layer in &cell.layers {
            tensors.extend(with_bias(
                matrix(&layer.weight, columns, SUM - source, seen)?,
                &layer.bias,
            ));
            (columns, source, seen) = (layer.width, self.phi, &unseen);
        }
        let steps = self.steps(&cell.decay, &cell.gain, &mut tensors)?;
        let numbers = [cell.start_scale as i32, cell.previous_scale as i32, 0, 0, 0];
        Ok(self.planned(numbers, steps, 0, tensors))
    }

    fn gated(&self, cell: &FoldedGated<f32>) -> Result<PlannedLayer> {
        let mut tensors = with_bias(
            matrix(&cell.input_weight, cell.inputs, SUM - self.input, self.below)?,
            &cell.bias,
        );
        tensors.extend(self.recurrent(&cell.recurrent, cell.hidden)?);
        let (factor, shift) = self.identity(&cell.recurrent)?;
        let mut scalars = [0; 2];
        for (scalar, &value) in scalars.iter_mut().zip(&cell.scalars) {
            if value.abs() > 4.0 {
                let expected = "a number from -4 to 4, which the format can hold";
                return Err(Error::setting("scalar", value, expected));
            }
            *scalar = rounded(f64::from(value) * 2f64.powi(SCALAR));
        }
        // Decay and gain are not there; their places must only be allowed ones.
        Ok(self.planned([0, 0, factor, scalars[0], scalars[1]], (15, 15), shift, tensors))
    }

    fn recurrent(&self, recurrent: &FoldedRecurrent<f32>, hidden: usize) -> Result<Vec<Tensor>> {
        match recurrent {
            FoldedRecurrent::Dense(weight) => {
                Ok(matrix(weight, hidden, SUM - self.h, self.seen.source())?.into_tensors())
            }
            FoldedRecurrent::LowRank { rank, left, right, .. } => {
                let mut tensors = matrix(left, *rank, SUM - self.codes, &self.seen.code)?.into_tensors();
                tensors.extend(matrix(right, hidden, self.codes - self.h, self.seen.source())?.into_tensors());
                Ok(tensors)
            }
        }
    }

    /// `c` as a whole number and a shift to the right: `c 2^(16 - places of h) = number / 2^shift`.
    fn identity(&self, recurrent: &FoldedRecurrent<f32>) -> Result<(i32, u32)> {
        let factor = f64::from(identity(recurrent)) * 2f64.powi(SUM - self.h);
        let fits = |shift: &u32| (factor * f64::from(1_u32 << shift)).abs() <= 32_767.0;
        let shift = (0..=30).rev().find(fits).unwrap_or(0);
        let number = (factor * f64::from(1_u32 << shift)).round();
        if number.abs() > 65_536.0 {
            return Err(Error::setting("identity", identity(recurrent), "a number near 1"));
        }
        Ok((number as i32, if number == 0.0 { 0 } else { shift }))
    }

    /// Adds `a` and `e`, and gives their places.
    fn steps(&self, decay: &[f32], gain: &[f32], tensors: &mut Vec<Tensor>) -> Result<(u32, u32)> {
        let mut add = |name: &str, values: &[f32], places: std::ops::RangeInclusive<i32>| {
            let largest = values
                .iter()
                .fold(0.0, |largest: f64, &value| largest.max(f64::from(value).abs()));
            let fits = |places: &i32| (largest * 2f64.powi(*places)).round() <= 32_767.0;
            let Some(places) = places.rev().find(fits) else {
                let found = format!("step sizes up to {largest:.3e}");
                let expected = "smaller ones, which 16 bits can hold";
                return Err(Error::setting(name, found, expected));
            };
            let whole = values
                .iter()
                .map(|&value| rounded(f64::from(value) * 2f64.powi(places)) as i16);
            tensors.push(Tensor::I16(whole.collect()));
            Ok(places as u32)
        };
        Ok((add("decay", decay, 8..=15)?, add("gain", gain, 0..=24)?))
    }

    fn planned(&self, numbers: [i32; 5], (decay, gain): (u32, u32), shift: u32, tensors: Vec<Tensor>) -> PlannedLayer {
        let bytes = |places: [i32; 4]| u32::from_le_bytes(places.map(|places| places as u8));
        let first = bytes([self.h, self.memory, self.codes, self.phi]);
        let second = bytes([self.input, decay as i32, gain as i32, shift as i32]);
        PlannedLayer {
            words: self
                .words
                .record(numbers.map(|number| number as u32), [first, second, 0]),
            tensors,
        }
    }
}

/// A matrix, and a bias with the places of sums.
fn with_bias(matrix: Scaled, bias: &[f32]) -> Vec<Tensor> {
    let mut tensors = matrix.into_tensors();
    let whole = bias.iter().map(|&value| rounded(f64::from(value) * 2f64.powi(SUM)));
    tensors.push(Tensor::I32(whole.collect()));
    tensors
}
