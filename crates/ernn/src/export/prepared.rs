//! A model that is ready to become the files of any target: planned, and run beside the library.

use ernn_core::{Format, Sizes};

use super::listen::Listens;
use super::logits::Logits;
use super::network::Network;
use super::plan::Plan;
use super::sound::Ears;
use super::{Options, Parity, Samples, c, check_float, device_logits, float, int, int_logits, parity};
use crate::Result;
use crate::checkpoint::SavedModel;

/// Sequences of a self-test, and steps of each at most: flash is small.
const TEST_SEQUENCES: usize = 2;
const TEST_STEPS: usize = 32;

/// A model that is ready to be written in some form.
pub(super) struct Prepared<'a> {
    pub saved: &'a SavedModel,
    pub samples: &'a Samples,
    pub options: &'a Options,
    pub plan: Plan,
    /// Of a model of sound.
    pub ears: Option<Ears>,
    /// Of a model that listens.
    pub listens: Option<Listens>,
    pub image: Vec<u8>,
    /// What the device must say about the samples.
    pub logits: Logits,
    /// Of `f32`: the comparison with the library.
    pub parity: Option<Parity>,
}

impl<'a> Prepared<'a> {
    pub fn new(saved: &'a SavedModel, samples: &'a Samples, options: &'a Options) -> Result<Self> {
        c::check_name(&options.name)?;
        let plan = match options.format {
            Format::Float => float::plan(&Network::of(saved)?),
            Format::Int8 => int::plan(saved, samples, options.state)?,
        };
        let image = plan.encode();
        let (parity, logits) = match options.format {
            Format::Float => {
                let parity = check_float(saved, &image, samples)?;
                (Some(parity), Logits::Float(device_logits(&image, samples)))
            }
            Format::Int8 => {
                // The library must take the samples as well.
                parity::expected(saved, samples)?;
                let (logits, saturations) = int_logits(&image, samples);
                (None, Logits::Whole(logits, saturations))
            }
        };
        Ok(Prepared {
            saved,
            samples,
            options,
            listens: Listens::of(saved, &plan, options.listening.as_ref())?,
            plan,
            ears: Ears::of(saved)?,
            image,
            logits,
            parity,
        })
    }

    /// The sequences of a self-test, and of each the logits after its last step as text.
    pub fn tests(&self) -> impl Iterator<Item = (&[f32], Vec<String>)> {
        let features = self.samples.features;
        let sequences = self.samples.sequences.iter().take(TEST_SEQUENCES).enumerate();
        sequences.map(move |(index, sequence)| {
            let steps = (sequence.len() / features).min(TEST_STEPS);
            let row = self.logits.row(index, steps - 1, self.plan.outputs);
            (&sequence[..steps * features], row)
        })
    }

    /// `vocabulary.json` of a model that has one: its tokens in the order of their numbers. A device takes numbers alone.
    pub fn vocabulary(&self) -> Option<(String, Vec<u8>)> {
        let tokens = &self.saved.vocabulary;
        let text = || serde_json::to_string(tokens).expect("texts") + "\n";
        (!tokens.is_empty()).then(|| ("vocabulary.json".to_string(), text().into_bytes()))
    }

    pub fn memory(&self) -> Memory {
        let sizes = Sizes::of(&self.image);
        // The steps; of whole numbers also the saturations, and what fills up to them.
        let (number, kept, rest) = match self.plan.format {
            Format::Float => (4, 4, 4),
            Format::Int8 => (2, if self.plan.narrow { 1 } else { 2 }, 8),
        };
        Memory {
            image: self.image.len(),
            tables: self.plan.table_bytes(),
            state: (kept * sizes.state).next_multiple_of(4) + rest,
            scratch: number * sizes.scratch,
            sound: self.ears.as_ref().map_or(0, |ears| {
                let sizes = ears.sizes();
                2 * sizes.samples + 6 + 4 * sizes.work
            }),
            listening: self.listens.as_ref().map_or(0, |listens| {
                let state = (kept * sizes.state).next_multiple_of(4) + rest;
                let shares = 2 * usize::from(listens.way.average) * self.plan.outputs;
                listens.copies() * state + 8 + (shares + 12).next_multiple_of(4)
            }),
        }
    }
}

/// Bytes that an exported model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Memory {
    /// The device image.
    pub image: usize,
    /// Of it, the numbers of the model.
    pub tables: usize,
    /// A stream's state.
    pub state: usize,
    /// The scratch that streams share.
    pub scratch: usize,
    /// What making steps of sound takes; 0 of a model that does not read sound.
    pub sound: usize,
    /// What listening to a stream without an end takes, in the place of one state; 0 of a model that does not.
    pub listening: usize,
}

impl Memory {
    /// Of a device with flash: so many bytes there, of what they are, and the memory of streams.
    pub(super) fn on_flash(self, bytes: usize, what: &str) -> String {
        let more = [
            (self.sound, "to make steps of sound"),
            (self.listening, "to listen without an end"),
        ];
        let more = more.into_iter().filter(|(bytes, _)| *bytes > 0);
        let more: String = more.map(|(bytes, what)| format!(", {bytes} bytes {what}")).collect();
        format!(
            "flash: {bytes} bytes of {what}, and code; RAM: {} bytes a stream, {} bytes of scratch for all streams{more}",
            self.state, self.scratch
        )
    }
}
