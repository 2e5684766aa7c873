//! How data is read: the flags that several subcommands share.

use std::path::{Path, PathBuf};

use clap::Args;
use ernn::checkpoint::SavedModel;
use ernn::data::{self, Dataset, MissingPolicy, OpenOptions, TextOptions};
use ernn::train::RunConfig;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::failure::Result;
use crate::text_flags::TextFlags;

/// How data is read.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Reading")]
pub struct ReadingFlags {
    /// What to do about missing values: refuse, interpolate, previous or zero [default: refuse; for a model, as in its run]
    #[arg(long, value_name = "POLICY", value_parser = named::<MissingPolicy>)]
    pub missing: Option<MissingPolicy>,
    /// Values a step in two-dimensional arrays (label in column 0, then the steps)
    #[arg(long, value_name = "N")]
    pub features: Option<usize>,
    /// Folder of a known data set that is not built in (also read from ERNN_DATA_DIR)
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// How text is read.
    #[command(flatten)]
    pub text: TextFlags,
}

impl ReadingFlags {
    /// These flags, and where they say nothing, how the model's own data was read; that of an imported model is not known.
    pub fn as_for(&self, saved: &SavedModel) -> Result<Self> {
        if saved.provenance.is_imported() {
            return Ok(self.clone());
        }
        let config = RunConfig::from_toml(&saved.provenance.settings, Path::new("the model's settings"), None)?;
        Ok(ReadingFlags {
            missing: self.missing.or(Some(config.data.missing)),
            features: self.features.or(config.data.features),
            data_dir: self.data_dir.clone(),
            text: self.text.over(&config.data.text).into(),
        })
    }

    /// The library's options.
    pub fn options(&self) -> OpenOptions {
        OpenOptions {
            data_dir: self.data_dir.clone(),
            missing: self.missing.unwrap_or_default(),
            features: self.features,
            text: self.text.over(&TextOptions::default()),
        }
    }

    /// Opens a data set.
    pub fn open(&self, source: &str) -> Result<Dataset> {
        Ok(data::open(source, &self.options())?)
    }
}

/// A value by the name that it has in the settings file; the error lists the names that exist.
pub fn named<T: DeserializeOwned>(text: &str) -> std::result::Result<T, String> {
    let deserializer: StrDeserializer<'_, ValueError> = text.into_deserializer();
    T::deserialize(deserializer).map_err(|error| error.to_string())
}
