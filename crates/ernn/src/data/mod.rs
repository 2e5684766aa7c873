//! Data: a path or a name becomes a [`Dataset`] of ragged, labelled sequences.
//!
//! [`open`] takes a known name ([`known`]) or a path: a file, or a folder with training, validation and test files. Every
//! reader gives the same in-between form, and only then labels become classes and missing values are dealt with, so all
//! formats behave alike. [`Normalization`] and [`split`] finish the preparation for training.

mod archive;
mod audio;
mod builtin;
mod channels;
mod checksum;
mod csv;
mod dsa;
mod facts;
mod folder;
mod har;
mod known;
mod labels;
mod lookup;
mod memory;
mod missing;
mod normalize;
mod npy;
mod npz;
mod number;
mod open;
mod part;
mod pictures;
mod preparation;
pub(crate) mod random;
mod raw;
mod split;
mod synthetic;
mod text;
mod ts;
mod values;
mod view;

pub use audio::{open_recordings, sound_features};
pub use channels::ChannelMatch;
pub use facts::{DatasetFacts, PartFacts, describe};
pub use known::{Known, found, known};
pub use labels::list;
pub use memory::in_memory;
pub use missing::MissingPolicy;
pub use normalize::Normalization;
pub(crate) use npy::{half, numbers};
pub use number::parse as parse_number;
pub use open::{OpenOptions, open, open_sequences, open_texts, read_sequences, read_texts};
pub use part::{Dataset, Part, Sequences, Task};
pub use preparation::{Preparation, SplitBy};
pub use split::split;
pub(crate) use text::is_running_text;
pub use text::{END_OF_LINE, InvalidText, TextOptions, TokenKind, UNKNOWN, Vocabulary};
pub use values::{Images, NoiseKind, NoiseSteps, Values};
pub use view::View;
