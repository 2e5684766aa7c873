//! How data is read: the flags that several subcommands share.

use std::path::{Path, PathBuf};

use clap::Args;
use ernn::checkpoint::SavedModel;
use ernn::data::{
    self, Dataset, MissingPolicy, NoiseKind, OpenOptions, Preparation, Span, SplitBy, TableOptions, TextOptions,
};
use ernn::train::RunConfig;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::failure::Result;
use crate::output::say;
use crate::table_flags::TableFlags;
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
    /// Recordings: where in the file names the speaker stands, who stays on one side of a split, such as *_{group}_* [default: before
    /// _nohash_]
    #[arg(long, value_name = "PATTERN")]
    pub group_pattern: Option<String>,
    #[command(flatten)]
    pub preparation: PreparationFlags,
    /// How text is read.
    #[command(flatten)]
    pub text: TextFlags,
    /// What the columns of a table are.
    #[command(flatten)]
    pub table: TableFlags,
}

/// How known data sets are prepared; what is not named stays as in the settings.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Reading")]
pub struct PreparationFlags {
    /// Seed of permutations, noise behind pictures and synthetic sequences [default: 1]
    #[arg(long, value_name = "N")]
    pub data_seed: Option<u64>,
    /// Noise behind pictures: independent (each sequence its own) or fixed (one sample for all) [default: independent]
    #[arg(long, value_name = "KIND", value_parser = named::<NoiseKind>)]
    pub noise: Option<NoiseKind>,
    /// What the test part of dsa-19 has to itself: persons or segments [default: persons]
    #[arg(long, value_name = "WHAT", value_parser = named::<SplitBy>)]
    pub split: Option<SplitBy>,
    /// Steps of synthetic sequences
    #[arg(long, value_name = "N")]
    pub length: Option<usize>,
    /// Training sequences of a synthetic data set [default: 10000]
    #[arg(long, value_name = "N")]
    pub sequences: Option<usize>,
}

impl PreparationFlags {
    /// These flags, and where they say nothing, `others`.
    pub fn over(&self, others: Preparation) -> Preparation {
        Preparation {
            data_seed: self.data_seed.unwrap_or(others.data_seed),
            noise: self.noise.unwrap_or(others.noise),
            split: self.split.unwrap_or(others.split),
            length: self.length.or(others.length),
            sequences: self.sequences.or(others.sequences),
        }
    }
}

impl From<Preparation> for PreparationFlags {
    fn from(preparation: Preparation) -> Self {
        PreparationFlags {
            data_seed: Some(preparation.data_seed),
            noise: Some(preparation.noise),
            split: Some(preparation.split),
            length: preparation.length,
            sequences: preparation.sequences,
        }
    }
}

impl ReadingFlags {
    /// These flags, and where they say nothing, how the model's own data was read; that of an imported model is not known.
    pub fn as_for(&self, saved: &SavedModel) -> Result<Self> {
        let Some(config) = settings(saved)? else {
            return Ok(self.clone());
        };
        // New data may have no labels; a label column that a flag names must be there.
        let run_label = config.data.text.label_column.as_deref();
        let run_label = run_label.filter(|_| !self.text.names_labels());
        Ok(ReadingFlags {
            missing: self.missing.or(Some(config.data.missing)),
            features: self.features.or(config.data.features),
            data_dir: self.data_dir.clone(),
            group_pattern: self.group_pattern.clone().or(config.data.group_pattern),
            preparation: self.preparation.over(config.data.preparation).into(),
            text: self.text.over(&config.data.text).into(),
            table: self
                .table
                .after_run(&config.data.table, run_label, &saved.feature_names)
                .into(),
        })
    }

    /// The length of a window and from window to window, as flags say.
    pub fn spans(&self) -> [Option<Span>; 2] {
        self.table.spans()
    }

    /// The library's options.
    pub fn options(&self) -> OpenOptions {
        OpenOptions {
            data_dir: self.data_dir.clone(),
            missing: self.missing.unwrap_or_default(),
            features: self.features,
            group_pattern: self.group_pattern.clone(),
            preparation: self.preparation.over(Preparation::default()),
            text: self.text.over(&TextOptions::default()),
            table: self.table.over(&TableOptions::default()),
            ..OpenOptions::default()
        }
    }
}

/// Opens a data set and says what a person should know of how it was understood.
pub fn open(source: &str, options: &OpenOptions) -> Result<Dataset> {
    let dataset = data::open(source, options)?;
    dataset.notes.iter().for_each(|note| say(&format!("note: {note}")));
    Ok(dataset)
}

/// The settings of the run that a model comes from; none of an imported one.
pub fn settings(saved: &SavedModel) -> Result<Option<RunConfig>> {
    if saved.provenance.is_imported() {
        return Ok(None);
    }
    let config = RunConfig::from_toml(&saved.provenance.settings, Path::new("the model's settings"), None)?;
    Ok(Some(config))
}

/// A name as settings have it: small letters, words with hyphens between them.
pub fn word(text: &str) -> String {
    text.trim().to_lowercase().replace('_', "-")
}

/// A value by the name that it has in the settings file; the error lists the names that exist.
pub fn named<T: DeserializeOwned>(text: &str) -> std::result::Result<T, String> {
    let text = word(text);
    let deserializer: StrDeserializer<'_, ValueError> = text.as_str().into_deserializer();
    T::deserialize(deserializer).map_err(|error| error.to_string())
}
