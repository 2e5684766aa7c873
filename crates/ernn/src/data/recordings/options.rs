//! How recordings are cut into sequences.

use std::path::PathBuf;

use super::clock::TimeUnit;
use super::span::Span;
use crate::{Error, Result};

/// Share of a window that its most frequent label covers at least, where nothing else was said.
pub(crate) const PURITY: f64 = 2.0 / 3.0;
/// Steps that may be missing between two rows, where nothing else was said: what is longer is a gap.
pub(crate) const GAP_STEPS: f64 = 5.0;

/// How recordings are cut into sequences. The length of a window is [`TableOptions::window`](crate::data::TableOptions::window).
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordingOptions {
    /// The column with the time of each row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_column: Option<String>,
    /// What the numbers of the time column count; `None`: told from the column's name and its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<TimeUnit>,
    /// Steps a second: rows with times are put onto this grid, rows without times are taken to have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// From the start of a window to that of the next; `None`: its length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop: Option<Span>,
    /// The longest time between two rows that is filled with a straight line; `None`: five steps. A longer one ends a piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_gap: Option<Span>,
    /// Share of a window that its most frequent label covers at least, above 0 and up to 1; `None`: two thirds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purity: Option<f64>,
    /// What has a class: a window or each of its steps.
    #[serde(skip_serializing_if = "Aim::is_default")]
    pub aim: Aim,
    /// How many values of the targets behind a window are to be predicted; `None`: the targets are numbers of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub horizon: Option<Span>,
    /// After what time the values of the targets come again, more or less: who forecasts without a model takes those of the last season.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub season: Option<Span>,
    /// Which label a window has.
    #[serde(skip_serializing_if = "LabelAt::is_default")]
    pub label_at: LabelAt,
    /// A table of events with the columns start, end and label, which label the rows between; instead of a label column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<PathBuf>,
    /// Windows that overlap are kept in the validation and the test part, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_overlap: bool,
    /// A single recording is not divided into blocks, as no split divides it. No setting of a run.
    #[serde(skip)]
    pub whole: bool,
    /// Recordings stay whole, with a class for each step: someone listens to them. No setting of a run.
    #[serde(skip)]
    pub unbroken: bool,
    /// All windows are wanted, whatever their labels: someone wants an answer for each. No setting of a run.
    #[serde(skip)]
    pub every_window: bool,
}

impl RecordingOptions {
    /// Nothing was said.
    pub fn is_default(&self) -> bool {
        *self == RecordingOptions::default()
    }

    /// Refuses values that make no sense, and what changes nothing without a window or a time.
    ///
    /// # Errors
    /// Names the flag.
    pub(crate) fn check(&self, window: Option<Span>) -> Result<()> {
        if let Some(rate) = self.rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            return Err(Error::setting("rate", rate, "a number of steps a second, above 0"));
        }
        if let Some(purity) = self.purity.filter(|purity| !(*purity > 0.0 && *purity <= 1.0)) {
            return Err(Error::setting("purity", purity, "a share above 0 and at most 1"));
        }
        let of_window = [
            ("hop", self.hop.is_some()),
            ("horizon", self.horizon.is_some()),
            ("keep-overlap", self.keep_overlap),
        ];
        if let Some((flag, _)) = of_window.iter().find(|(_, given)| *given && window.is_none()) {
            return Err(Error::setting(flag, "no window", "--window with the length of one"));
        }
        if self.season.is_some() && self.horizon.is_none() {
            return Err(Error::setting(
                "season",
                "no forecast",
                "--horizon with the steps to predict",
            ));
        }
        let of_windows = [
            ("purity", self.purity.is_some()),
            ("label-at", !self.label_at.is_default()),
        ];
        if let Some((flag, _)) = of_windows.iter().find(|(_, given)| *given && self.horizon.is_some()) {
            let expected = "it without --horizon: a forecast has no label of its window";
            return Err(Error::setting(flag, "a forecast", expected));
        }
        if let Some((flag, _)) = of_windows.iter().find(|(_, given)| *given && self.aim == Aim::Steps) {
            return Err(Error::setting(
                flag,
                "a class for each step",
                "it for classes of windows alone",
            ));
        }
        let of_recordings = [
            ("rate", self.rate.is_some()),
            ("purity", self.purity.is_some()),
            ("label-at", !self.label_at.is_default()),
            ("labels", self.events.is_some()),
        ];
        let none = window.is_none() && self.time_column.is_none() && !self.unbroken;
        if let Some((flag, _)) = of_recordings.iter().find(|(_, given)| *given && none) {
            return Err(Error::setting(
                flag,
                "no recordings",
                "--window or --time, which make recordings of a table",
            ));
        }
        if self.horizon.is_some() && self.aim == Aim::Steps {
            return Err(Error::setting(
                "horizon",
                "a number for each step",
                "it without --task steps: a forecast is what follows a window",
            ));
        }
        let of_time = [
            ("max-gap", self.max_gap.is_some()),
            ("time-unit", self.time_unit.is_some()),
        ];
        if let Some((flag, _)) = of_time.iter().find(|(_, given)| *given && self.time_column.is_none()) {
            return Err(Error::setting(flag, "no times", "--time with the name of a column"));
        }
        Ok(())
    }
}

/// What has a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// A window.
    #[default]
    Windows,
    /// A window, or any sequence: each of some labels holds or does not.
    Labels,
    /// Each step; those without a label are in no loss and no figure.
    Steps,
}

impl Aim {
    /// A window.
    pub fn is_default(&self) -> bool {
        *self == Aim::Windows
    }
}

/// Which label a window has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelAt {
    /// The most frequent one, if it covers enough of the window.
    #[default]
    Most,
    /// That of its last step: what a causal model is asked for.
    End,
}

impl LabelAt {
    /// The most frequent one.
    pub fn is_default(&self) -> bool {
        *self == LabelAt::Most
    }
}
