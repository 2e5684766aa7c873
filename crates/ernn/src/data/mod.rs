//! Data: a path or a name becomes a [`Dataset`] of ragged, labelled sequences.
//!
//! [`open`] takes a known name ([`known`]) or a path: a file, or a folder with training, validation and test files. Every
//! reader gives the same in-between form, and only then labels become classes and missing values are dealt with, so all
//! formats behave alike. [`Normalization`] and [`split`] finish the preparation for training.

mod archive;
mod audio;
mod augment;
mod builtin;
mod channels;
mod checksum;
mod csv;
mod derived;
mod dsa;
mod facts;
mod folder;
mod forecast;
mod folds;
mod har;
mod json_lines;
mod kind;
mod known;
mod label_sets;
mod labels;
mod log_folder;
mod lookup;
mod memory;
mod missing;
mod normalize;
mod npy;
mod npz;
mod number;
pub(crate) mod one_or_more;
mod open;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod part;
mod pictures;
mod preparation;
pub mod random;
mod raw;
mod recordings;
mod save;
mod similar;
mod split;
mod synthetic;
mod target;
mod text;
mod transforms;
mod ts;
mod unpacked;
mod values;
mod view;

pub use audio::{Hearing, MelSettings, SoundRecipe, hear, open_recordings, sound_recipe};
pub use augment::{Augmentation, Augmenter};
pub use channels::ChannelMatch;
pub use csv::{LabelKind, Layout, TableOptions};
pub use derived::{Derivation, Deriver};
pub use facts::{DatasetFacts, PartFacts, describe};
pub use folds::{Folds, Scheme, folds};
pub use forecast::Forecast;
pub use kind::{SourceKind, kind};
#[cfg(all(test, feature = "fetch"))]
pub(crate) use known::IN_PERSON;
pub use known::{Known, as_known, found, known, plain_name};
pub use label_sets::SEPARATOR;
pub use labels::list;
pub use memory::in_memory;
pub use missing::MissingPolicy;
pub use normalize::Normalization;
pub(crate) use npy::{half, numbers};
pub use number::parse as parse_number;
pub use open::{
    LabelledStreams, OpenOptions, open, open_sequences, open_streams, open_texts, open_windows, read_sequences,
    read_texts, read_windows,
};
pub use part::{Dataset, Part, Sequences, Task, UNLABELLED};
pub use preparation::{Preparation, SplitBy};
pub use recordings::{Aim, LabelAt, RecordingFacts, RecordingOptions, Span, TimeUnit};
pub(crate) use save::encode as npy_bytes;
pub use save::{FileKind, Saved, save};
pub use similar::{nearest_first, similar};
pub use split::split;
pub use target::TargetScale;
pub(crate) use text::is_running_text;
pub use text::{END_OF_LINE, Encoding, InvalidText, Reading, Script, TextOptions, TokenKind, UNKNOWN, Vocabulary};
pub(crate) use transforms::are_axes;
pub use transforms::{Transforms, Triad};
pub(crate) use unpacked::stem;
pub use values::{Images, NoiseKind, NoiseSteps, Values};
pub use view::View;
