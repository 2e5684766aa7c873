//! How a table of numbers is read: what each column is, where the names alone do not say it.

use super::super::OpenOptions;
use super::super::one_or_more;
use super::super::recordings::{Aim, RecordingOptions, Span};
use crate::{Error, Result};

/// How a table of numbers is read. The label column and the encoding are those of [`TextOptions`](crate::data::TextOptions).
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableOptions {
    /// Columns that are not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The columns that are channels, in this order; empty: all that are nothing else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
    /// The column that says which rows are one sequence; `None`: `series`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_column: Option<String>,
    /// The column with the group (person, session) of each sequence; `None`: `group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_column: Option<String>,
    /// The column by whose numbers the rows of a sequence are ordered; `None`: `step`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_column: Option<String>,
    /// The length of a window, where a row is a step of a recording that is cut into windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Span>,
    /// How recordings are cut.
    #[serde(skip_serializing_if = "RecordingOptions::is_default")]
    pub recordings: RecordingOptions,
    /// Whether there is a header.
    #[serde(skip_serializing_if = "Layout::is_default")]
    pub layout: Layout,
    /// The columns with the numbers of each sequence that are to be learned; of arrays `y`. Empty: classes are learned.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "one_or_more")]
    pub target: Vec<String>,
    /// The columns of 0 and 1 that say which labels a sequence has; of arrays the names of the columns of `y`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels_from: Vec<String>,
    /// What labels are that look like numbers to predict.
    #[serde(skip_serializing_if = "LabelKind::is_default")]
    pub labels: LabelKind,
    /// Columns of the settings of a run that new data need not have: its labels, its groups, what it ignores. No setting of a run.
    #[serde(skip)]
    pub may_lack: Vec<String>,
    /// Channels of the model that reads the table; they are channels whatever they look like. No setting of a run.
    #[serde(skip)]
    pub of_model: Vec<String>,
}

impl TableOptions {
    /// Nothing was said.
    pub fn is_default(&self) -> bool {
        *self == TableOptions::default()
    }

    /// Whether several labels of a sequence can hold.
    pub fn has_label_sets(&self) -> bool {
        self.recordings.aim == Aim::Labels || !self.labels_from.is_empty()
    }

    /// Whether each step has numbers to predict of its own.
    pub fn has_step_targets(&self) -> bool {
        self.recordings.aim == Aim::Steps && !self.target.is_empty()
    }

    /// Refuses classes of steps of what is no recording.
    pub(super) fn check_steps(&self) -> Result<()> {
        if self.recordings.aim != Aim::Steps || self.is_of_recordings() || self.has_step_targets() {
            return Ok(());
        }
        Err(Error::setting(
            "task",
            "no recordings",
            "--window or --time, which make recordings of a table, or --target with the numbers of steps",
        ))
    }

    /// Whether a row is a step of a recording that is cut: a window or a time column was named.
    pub fn is_of_recordings(&self) -> bool {
        self.window.is_some() || self.recordings.time_column.is_some() || self.recordings.unbroken
    }
}

/// Whether a table has a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// A line with the names of the columns.
    #[default]
    Header,
    /// That of the UCR archive: no header, a sequence a row, its label first; separated by tabs, commas or blanks.
    Ucr,
}

impl Layout {
    /// With a header.
    pub fn is_default(&self) -> bool {
        *self == Layout::Header
    }
}

/// What labels are that look like numbers to predict: numbers, nearly as many as there are sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelKind {
    /// A question: the data is refused.
    #[default]
    Ask,
    /// Classes, as any other label.
    Classes,
}

impl LabelKind {
    /// A question.
    pub fn is_default(&self) -> bool {
        *self == LabelKind::Ask
    }
}

/// What was said about columns: the flag and the names, in the order in which they take a column.
pub(super) struct Said<'a> {
    pub options: &'a TableOptions,
    pub label: Option<&'a str>,
}

impl<'a> Said<'a> {
    pub fn new(options: &'a OpenOptions) -> Said<'a> {
        Said {
            options: &options.table,
            label: options.text.label_column.as_deref(),
        }
    }

    /// Whether new data may lack a column that the run's settings name.
    pub fn may_lack(&self, name: &str) -> bool {
        self.options.may_lack.iter().any(|other| other == name)
    }

    /// Whether a column is a channel whatever it looks like.
    pub fn is_channel(&self, name: &str) -> bool {
        let mut asked = self.options.channels.iter().chain(&self.options.of_model);
        asked.any(|other| other.eq_ignore_ascii_case(name))
    }
}
