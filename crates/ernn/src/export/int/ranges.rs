//! How large the numbers of a model become on data, and how they move together.

use ernn_core::float::{Model, Session, Watch};

use super::compensation::Moment;
use crate::export::Samples;

/// The largest absolute values of a layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LayerRange {
    /// Of `h`, `z` and `r * h`.
    pub h: f64,
    /// Of the memory `c`.
    pub memory: f64,
    /// Of `B h`.
    pub codes: f64,
    /// Of `phi`.
    pub phi: f64,
    /// `D`.
    hidden: usize,
    /// What the recurrent matrix reads: `z`, or `h` where nothing else is told.
    inner: Moment,
    /// `B h`.
    pub code: Moment,
    /// `h`, as the next layer and the readout read it.
    pub state: Moment,
}

impl LayerRange {
    /// What the recurrent matrix reads.
    pub fn source(&self) -> &Moment {
        if self.inner == Moment::default() {
            &self.state
        } else {
            &self.inner
        }
    }
}

/// The largest absolute values of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ranges {
    /// Of the normalized inputs.
    pub input: f64,
    /// The same.
    pub seen: Moment,
    pub layers: Vec<LayerRange>,
    /// What the readout read at the ends of the sequences.
    pub read: Moment,
    under_way: usize,
}

fn largest(so_far: &mut f64, values: &[f32]) {
    for &value in values {
        *so_far = so_far.max(f64::from(value).abs());
    }
}

impl Ranges {
    /// Runs a `f32` image over sequences. Values of an input that the model would refuse are passed over.
    pub fn of(image: &[u8], samples: &Samples, hidden: &[usize]) -> Self {
        let layer = |&hidden: &usize| LayerRange {
            hidden,
            ..LayerRange::default()
        };
        let mut ranges = Ranges {
            layers: hidden.iter().map(layer).collect(),
            ..Ranges::default()
        };
        let model = Model::parse(image).expect("an image that was just made");
        let sizes = model.sizes();
        let (mut values, mut scratch) = (vec![0.0; sizes.state], vec![0.0; sizes.scratch]);
        let mut session = Session::new(&model, &mut values).expect("a state of the model's size");
        for sequence in samples.sequences.iter().take(samples.ranged) {
            session.reset();
            for step in sequence.chunks_exact(samples.features) {
                let _ = match model.reads_tokens() {
                    true => session.push_token_watched(&mut scratch, step[0] as usize, &mut ranges),
                    false => session.push_watched(&mut scratch, step, &mut ranges),
                };
            }
            if session.steps() > 0 && session.read(&mut scratch).is_ok() {
                ranges.read.look_at(&scratch[..model.readout_inputs()]);
            }
        }
        ranges
    }

    fn layer_mut(&mut self) -> &mut LayerRange {
        &mut self.layers[self.under_way]
    }
}

impl Watch for Ranges {
    fn input(&mut self, values: &[f32]) {
        largest(&mut self.input, values);
        self.seen.add(values);
    }

    fn layer(&mut self, index: usize) {
        self.under_way = index;
    }

    fn inner(&mut self, values: &[f32]) {
        largest(&mut self.layer_mut().h, values);
        self.layer_mut().inner.add(values);
    }

    fn codes(&mut self, values: &[f32]) {
        largest(&mut self.layer_mut().codes, values);
        self.layer_mut().code.add(values);
    }

    fn phi(&mut self, value: f32) {
        largest(&mut self.layer_mut().phi, &[value]);
    }

    fn state(&mut self, values: &[f32]) {
        let layer = self.layer_mut();
        let (h, memory) = values.split_at(layer.hidden.min(values.len()));
        largest(&mut layer.h, h);
        layer.state.add(h);
        largest(&mut layer.memory, memory);
    }
}
