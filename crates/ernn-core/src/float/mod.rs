//! Models of `f32`: weights, states and sums.
//!
//! Every sum starts from the bias and runs over the inputs and then over the states, in their order, one product after the other, as
//! in the library's kernels; those fuse product and addition, and nothing is fused here. Exported C makes the same operations in the
//! same order.

mod deep;
mod equilibrium;
mod gated;
mod layer;
mod leaky;
mod linear;
mod session;
mod watch;

pub use session::Session;
pub use watch::Watch;

use self::layer::Layer;
use crate::error::ParseError;
use crate::image::{Format, Image, Sizes};

/// A parsed model of `f32`.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    image: Image<'a>,
}

/// A matrix or vector of an image.
type Floats<'a> = &'a [[u8; 4]];

impl<'a> Model<'a> {
    /// The model in these bytes; they stay where they are.
    ///
    /// # Errors
    /// If they were cut or changed, if a later version wrote them, or they contradict themselves.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let model = Model {
            image: Image::parse(bytes, Format::Float)?,
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
        let image = Image::parse(bytes, Format::Float)?;
        Model { image }.measured()
    }

    /// How much memory it needs.
    pub fn sizes(&self) -> Sizes {
        self.image.sizes
    }

    /// Whether it reads tokens instead of numbers.
    pub fn reads_tokens(&self) -> bool {
        self.image.reads_tokens()
    }

    fn layer(&self, index: usize) -> Option<Layer<'a>> {
        Layer::of(&self.image, index)
    }

    /// Mean and scale of the inputs; the rows of the embedding and nothing.
    fn input(&self) -> [Floats<'a>; 2] {
        [0, 1].map(|index| self.image.floats(index))
    }

    /// Weight and bias of the readout.
    fn readout(&self) -> [Floats<'a>; 2] {
        [2, 1].map(|back| self.image.floats(self.image.tensors.wrapping_sub(back)))
    }

    /// Numbers at the beginning of a state that derived channels remember.
    fn memory(&self) -> usize {
        if self.reads_tokens() {
            0
        } else {
            self.image.derived().memory()
        }
    }

    /// Numbers that the readout reads.
    pub fn readout_inputs(&self) -> usize {
        self.hidden().saturating_mul(self.image.pooling().statistics())
    }

    /// Size of the last layer's state.
    fn hidden(&self) -> usize {
        let last = self.layer(self.image.layers.saturating_sub(1));
        last.map_or(0, |layer| layer.record.hidden)
    }

    /// Every size against every tensor; gives the numbers of state and scratch.
    fn measured(&self) -> Result<(usize, usize), ParseError> {
        let content = |fits: bool, place| if fits { Ok(()) } else { Err(ParseError::Content(place)) };
        let (sizes, first) = (self.sizes(), self.image.first);
        content(sizes.inputs > 0 && first > 0 && sizes.outputs > 0, "a size of 0")?;
        content(!self.image.narrow_states(), "states of 8 bits")?;
        let [mean, scale] = self.input().map(<[_]>::len);
        if self.reads_tokens() {
            let plain = self.image.input_tensors() == 2;
            content(
                plain && Some(mean) == sizes.inputs.checked_mul(first) && scale == 0,
                "embedding",
            )?;
        } else {
            content(self.image.derives_all(), "derived channels")?;
            content(mean == first && scale == first, "normalization")?;
        }
        let (mut inputs, mut scratch, mut next) = (first, 0, self.image.input_tensors());
        let mut state = self.memory();
        for index in 0..self.image.layers {
            let layer = self
                .layer(index)
                .ok_or(ParseError::Content("a record without meaning"))?;
            content(layer.record.first == next, "tensors of a layer")?;
            next = layer.check(inputs).ok_or(ParseError::Content("shapes of a layer"))?;
            inputs = layer.record.hidden;
            state = state.saturating_add(layer.record.state_len());
            scratch = scratch.max(layer.scratch_len());
        }
        let readout = self.readout().map(<[_]>::len);
        content(self.image.tensors == next.saturating_add(2), "number of tensors")?;
        let pooling = self.image.pooling();
        let seen = inputs.saturating_mul(pooling.statistics());
        let weights = sizes.outputs.checked_mul(seen);
        content(weights == Some(readout[0]) && readout[1] == sizes.outputs, "readout")?;
        state = state.saturating_add(inputs.saturating_mul(pooling.kept(None)));
        // The input of the step, and what the readout reads.
        Ok((state, scratch.saturating_add(first).max(seen)))
    }
}
