//! The channels that a model derives, with what was fitted on the training sequences: `ernn_core::inputs` on whole sequences and on
//! single steps.
//!
//! The scale of a compressed channel is a fifth of the median size of `x_t - m_t` over the training sequences, of those that are not 0 (the
//! first step of a sequence always is); 1 where all are. Of more than four million values a channel, every so-many-th sequence is looked at.

use ernn_core::inputs::{self, Derived, Kind};
use serde::{Deserialize, Serialize};

use super::transforms::{Transforms, Triad};
use super::{Part, Values, View};
use crate::{Error, Result};

/// Derived channels with their scales, as a model file holds them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derivation {
    /// Whether there are first differences.
    #[serde(default)]
    pub differences: bool,
    /// The scale of each compressed channel; none: nothing is compressed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scales: Vec<f32>,
    /// The three channels of each magnitude.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triads: Vec<Triad>,
}

/// Values of a channel that are looked at for its scale.
const LOOKED_AT: usize = 4 << 20;

impl Derivation {
    /// Takes the scales from sequences, which should be those to train on.
    ///
    /// # Errors
    /// If triads are not there, or the steps are not numbers.
    pub fn fit(transforms: &Transforms, view: &View, names: &[String]) -> Result<Self> {
        if !transforms.derives() {
            return Ok(Self::default());
        }
        refuse_others(transforms, view)?;
        transforms.check(names)?;
        let channels = view.channels();
        let scales = if transforms.compress {
            (0..channels).map(|channel| scale(view, channel)).collect()
        } else {
            Vec::new()
        };
        Ok(Derivation {
            differences: transforms.differences,
            scales,
            triads: if transforms.magnitudes {
                transforms.triads(names)?
            } else {
                Vec::new()
            },
        })
    }

    /// Whether no channel is derived.
    pub fn is_none(&self) -> bool {
        *self == Derivation::default()
    }

    /// Channels that the model reads where the data has so many.
    pub fn features(&self, channels: usize) -> usize {
        let kinds = 1 + usize::from(self.differences) + usize::from(!self.scales.is_empty());
        channels.saturating_mul(kinds).saturating_add(self.triads.len())
    }

    /// Channels of the data, where the model reads so many; none if no number of them gives that.
    pub fn channels(&self, features: usize) -> Option<usize> {
        let kinds = 1 + usize::from(self.differences) + usize::from(!self.scales.is_empty());
        let own = features.checked_sub(self.triads.len())?;
        own.is_multiple_of(kinds).then_some(own / kinds)
    }

    /// Whether it fits data of so many channels: a positive finite scale for each, and triads of channels that are there.
    pub fn fits(&self, channels: usize) -> bool {
        let scaled = self.scales.is_empty() || self.scales.len() == channels;
        let positive = self.scales.iter().all(|&scale| scale.is_finite() && scale > 0.0);
        let inside = self.triads.iter().flatten().all(|&place| (place as usize) < channels);
        scaled && positive && inside
    }

    /// Refuses sequences that it is not of; `part` says what they are like.
    pub(super) fn check(&self, part: Option<&Part>) -> Result<()> {
        let refuse = |found: String| {
            Err(Error::data(
                "transforms of the inputs",
                format!("found {found}, expected sequences of numbers with the channels of the training part"),
            ))
        };
        match part {
            Some(part) if !matches!(part.values, Values::Numbers(_)) => refuse("other values than numbers".to_owned()),
            Some(part) if !self.fits(part.features) => refuse(format!("{} channels", part.features)),
            _ => Ok(()),
        }
    }

    /// The names of all channels that the model reads, for channels of these names.
    pub fn names(&self, channels: &[String]) -> Vec<String> {
        let named = |kind: &'static str| channels.iter().map(move |name| format!("{kind} of {name}"));
        let differences = self.differences.then(|| named("difference")).into_iter().flatten();
        let compressed = (!self.scales.is_empty())
            .then(|| named("compressed"))
            .into_iter()
            .flatten();
        let name = |place: &u32| channels.get(*place as usize).map_or("", String::as_str);
        let lengths = self.triads.iter().map(|triad| {
            let [a, b, c] = triad.each_ref().map(name);
            format!("magnitude of {a}, {b}, {c}")
        });
        channels
            .iter()
            .cloned()
            .chain(differences)
            .chain(compressed)
            .chain(lengths)
            .collect()
    }

    /// Ready to derive the channels of data that has so many.
    pub fn ready(&self, channels: usize) -> Deriver {
        Deriver {
            channels,
            differences: self.differences,
            scales: self.scales.iter().map(|scale| scale.to_le_bytes()).collect(),
            triads: self.triads.iter().flatten().map(|place| place.to_le_bytes()).collect(),
        }
    }
}

/// Pictures and tokens have no channels that follow a motion.
fn refuse_others(transforms: &Transforms, view: &View) -> Result<()> {
    let found = match view.first_part().map(|part| &part.values) {
        Some(Values::Tokens(_)) => "tokens",
        Some(Values::Images(_)) => "pictures",
        _ => return Ok(()),
    };
    let asked = [
        ("differences", transforms.differences),
        ("compress", transforms.compress),
        ("magnitudes", transforms.magnitudes),
    ];
    let name = asked.iter().find_map(|&(name, asked)| asked.then_some(name));
    let found = format!("true for sequences of {found}");
    let expected = format!(
        "false (--{} false), or sequences of numbers",
        name.unwrap_or("differences")
    );
    Err(Error::setting(name.unwrap_or("transforms"), found, expected))
}

/// A fifth of the median size of the high-passed channel.
fn scale(view: &View, channel: usize) -> f32 {
    let every = view.steps().div_ceil(LOOKED_AT).max(1);
    let channels = view.channels();
    let mut sizes = Vec::new();
    for index in (0..view.len()).step_by(every) {
        let values = view.numbers(index).iter().skip(channel).step_by(channels);
        let mut mean = values.clone().next().copied().unwrap_or(0.0);
        for &x in values {
            mean = inputs::followed(mean, x);
            sizes.push((x - mean).abs());
        }
    }
    sizes.retain(|&size| size > 0.0 && size.is_finite());
    if sizes.is_empty() {
        return 1.0;
    }
    let middle = sizes.len() / 2;
    let (_, median, _) = sizes.select_nth_unstable_by(middle, f32::total_cmp);
    // Half of the smallest numbers would be 0.
    (*median / 5.0).max(f32::MIN_POSITIVE)
}

/// A derivation for data of so many channels, ready to be used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deriver {
    channels: usize,
    differences: bool,
    scales: Vec<[u8; 4]>,
    triads: Vec<[u8; 4]>,
}

impl Deriver {
    fn derived(&self) -> Derived<'_> {
        Derived {
            channels: self.channels,
            differences: self.differences,
            scales: &self.scales,
            triads: &self.triads,
        }
    }

    /// Channels that it gives.
    pub fn features(&self) -> usize {
        self.derived().outputs()
    }

    /// How many of them are of one channel each: the first ones, kind after kind.
    pub(super) fn by_channel(&self) -> usize {
        self.features() - self.triads.len() / 3
    }

    /// A memory for a stream of steps.
    pub fn memory(&self) -> Vec<f32> {
        vec![0.0; self.derived().memory()]
    }

    /// One step of a stream; `first` says that nothing came before it.
    pub fn step(&self, first: bool, step: &[f32], memory: &mut [f32]) -> Vec<f32> {
        let mut out = Vec::with_capacity(self.features());
        self.derived().step(first, step, memory, |value| out.push(value));
        out
    }

    /// A whole sequence, `[length, channels]`, into `[length, features]`.
    pub fn sequence(&self, values: &[f32], out: &mut [f32]) {
        let derived = self.derived();
        let mut memory = vec![0.0; derived.memory()];
        let mut compressed = Vec::with_capacity(if self.scales.is_empty() { 0 } else { values.len() });
        let (channels, features) = (self.channels.max(1), derived.outputs().max(1));
        let steps = values.chunks_exact(channels).zip(out.chunks_exact_mut(features));
        for (place, (step, out)) in steps.enumerate() {
            let mut rooms = out.iter_mut();
            derived.step_by_kind(place == 0, step, &mut memory[..], |value, kind| {
                if let Some(room) = rooms.next() {
                    *room = value;
                }
                if kind == Kind::Compressed {
                    compressed.push(value);
                }
            });
        }
        if compressed.is_empty() {
            return;
        }
        // Many at once: this is most of the work of reading.
        inputs::asinh_all(&mut compressed);
        let from = features - self.triads.len() / 3 - channels;
        for (out, compressed) in out.chunks_exact_mut(features).zip(compressed.chunks_exact(channels)) {
            out[from..from + channels].copy_from_slice(compressed);
        }
    }
}

#[cfg(test)]
#[path = "derived_tests.rs"]
mod tests;
