//! Models of whole numbers: `int8` weights, `int16` inputs, `int16` or `int8` states, `int32` sums.
//!
//! The same operations in the same order as exported C, so that both give the same bits on every machine, as does a host that runs this
//! code. Only the values of an input, and what is derived of them, are `f32`: `(x - mean) * scale`, rounded to the nearest, halves away from
//! zero.

mod deep;
mod gated;
mod layer;
mod leaky;
pub mod math;
mod matrix;
mod session;
pub(crate) mod state;

pub(crate) use math::Saturations;
pub use session::Session;
pub use state::State;

use self::layer::Layer;
use self::matrix::Matrix;
use crate::error::ParseError;
use crate::image::{Format, Image, Sizes};

/// A parsed model of whole numbers.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    image: Image<'a>,
}

impl<'a> Model<'a> {
    /// The model in these bytes; they stay where they are.
    ///
    /// # Errors
    /// If they were cut or changed, if a later version wrote them, or they contradict themselves.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let model = Model {
            image: Image::parse(bytes, Format::Int8)?,
        };
        let sizes = model.sizes();
        if model.measured()? != (sizes.state, sizes.scratch) {
            return Err(ParseError::Content("sizes of state and scratch"));
        }
        Ok(model)
    }

    /// The numbers of state and scratch that an image needs, whatever its header says of them: for whoever writes images.
    ///
    /// # Errors
    /// As [`Model::parse`].
    pub fn measure(bytes: &'a [u8]) -> Result<(usize, usize), ParseError> {
        let image = Image::parse(bytes, Format::Int8)?;
        Model { image }.measured()
    }

    /// Bits of a stream's numbers: 16, or 8.
    pub fn state_bits(&self) -> u32 {
        if self.image.narrow_states() { 8 } else { 16 }
    }

    /// How much memory it needs: the state in numbers of [`Model::state_bits`], the scratch in those of `i16`.
    pub fn sizes(&self) -> Sizes {
        self.image.sizes
    }

    /// Whether it reads tokens instead of numbers.
    pub fn reads_tokens(&self) -> bool {
        self.image.reads_tokens()
    }

    /// Numbers at the beginning of a state that hold the `f32` that derived channels remember.
    fn memory(&self) -> usize {
        let parts: usize = if self.image.narrow_states() { 4 } else { 2 };
        let floats = if self.reads_tokens() {
            0
        } else {
            self.image.derived().memory()
        };
        floats.saturating_mul(parts)
    }

    fn layer(&self, index: usize) -> Option<Layer<'a>> {
        Layer::of(&self.image, index)
    }

    /// Weight and bias of the readout.
    fn readout(&self) -> (Matrix<'a>, &'a [[u8; 4]]) {
        let weight = self.image.tensors.wrapping_sub(3);
        (
            Matrix::of(&self.image, weight),
            self.image.floats(weight.wrapping_add(2)),
        )
    }

    /// Every size against every tensor; gives the numbers of state and scratch.
    fn measured(&self) -> Result<(usize, usize), ParseError> {
        let content = |fits: bool, place| if fits { Ok(()) } else { Err(ParseError::Content(place)) };
        let (sizes, first) = (self.sizes(), self.image.first);
        content(sizes.inputs > 0 && first > 0 && sizes.outputs > 0, "a size of 0")?;
        let [mean, scale] = [0, 1].map(|index| self.image.tensor(index).len());
        if self.reads_tokens() {
            let bytes = sizes.inputs.checked_mul(first).and_then(|count| count.checked_mul(2));
            let plain = self.image.input_tensors() == 2;
            content(plain && Some(mean) == bytes && scale == 0, "embedding")?;
        } else {
            let bytes = first.checked_mul(4);
            content(self.image.derives_all(), "derived channels")?;
            content(Some(mean) == bytes && Some(scale) == bytes, "normalization")?;
        }
        let (mut inputs, mut scratch, mut next) = (first, 0, self.image.input_tensors());
        let mut state = self.memory();
        let mut places = None;
        for index in 0..self.image.layers {
            let layer = self
                .layer(index)
                .ok_or(ParseError::Content("a record without meaning"))?;
            content(layer.record.first == next, "tensors of a layer")?;
            content(
                places.is_none_or(|places| places == layer.input_places()),
                "places of a layer's input",
            )?;
            next = layer.check(inputs).ok_or(ParseError::Content("shapes of a layer"))?;
            inputs = layer.record.hidden;
            places = Some(layer.places.h);
            state = state.saturating_add(layer.record.state_len());
            scratch = scratch.max(layer.scratch_len());
        }
        content(self.image.tensors == next.saturating_add(3), "number of tensors")?;
        let (weight, bias) = self.readout();
        let pooling = self.image.pooling();
        let seen = inputs.saturating_mul(pooling.statistics());
        content(weight.is(sizes.outputs, seen) && bias.len() == sizes.outputs, "readout")?;
        let whole = if self.image.narrow_states() { 4 } else { 2 };
        let kept = inputs.saturating_mul(pooling.kept(Some(whole)));
        Ok((state.saturating_add(kept), scratch.saturating_add(first).max(seen)))
    }
}
