//! How recordings are cut into windows: flags, and what they make of settings.

use std::path::PathBuf;

use clap::Args;
use ernn::data::{Aim, LabelAt, LabelKind, RecordingOptions, Span, TimeUnit};

use crate::reading::named;

/// How recordings are cut into windows.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Recordings: tables or arrays, or folders of them, with a row a step")]
pub struct RecordingFlags {
    /// Length of a window, in rows or time: 128, 2.56s, 250ms; it spans no gap, no recording and no person
    #[arg(long, value_name = "SPAN")]
    pub window: Option<Span>,
    /// From the start of a window to the next, in rows or time [default: the length of a window]
    #[arg(long, value_name = "SPAN")]
    pub hop: Option<Span>,
    /// Forecast: how many values of --target behind a window are predicted, in rows or time: 24, 2h. The target is a channel as well
    #[arg(long, value_name = "SPAN")]
    horizon: Option<Span>,
    /// With --horizon: after what time values come again, such as 24 or 1h; forecasts are compared with the last season's values
    #[arg(long, value_name = "SPAN")]
    season: Option<Span>,
    /// Column, or array, with the time of each row: seconds, ms, us or ns, also since 1970, or ISO 8601; with --rate rows are put onto its grid
    #[arg(long, value_name = "NAME")]
    time: Option<String>,
    /// What numbers in that column count: s, ms, us or ns [default: told from its name, the size of the numbers, and --rate]
    #[arg(long, value_name = "UNIT", value_parser = named::<TimeUnit>)]
    time_unit: Option<TimeUnit>,
    /// Steps a second [default: rows stay as they are]
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Longest time between two rows that a straight line fills; a longer one ends a piece [default: 5 steps]
    #[arg(long, value_name = "SPAN")]
    max_gap: Option<Span>,
    /// What has a class: windows, or steps (each step of a window: sleep stages, phases of a gait); steps without a label count for nothing;
    /// with --target what has numbers: steps of recordings, of tables with a row a step, or of arrays (load, angle, heart rate at each moment);
    /// or labels: a window, or any sequence of a table or an array, has none, one or several of them, as a|b in its label column, which may be
    /// empty [default: windows]
    #[arg(long, value_name = "WHAT", value_parser = named::<Aim>)]
    task: Option<Aim>,
    /// Share of a window that its most frequent label covers at least; others are left out, and counted; of several labels each one that
    /// covers it [default: 0.667]
    #[arg(long, value_name = "SHARE")]
    purity: Option<f64>,
    /// Which label a window has: most (the most frequent one) or end (that of its last step) [default: most]
    #[arg(long, value_name = "WHICH", value_parser = named::<LabelAt>)]
    label_at: Option<LabelAt>,
    /// Keep windows that overlap in validation and test parts, too
    #[arg(long)]
    keep_overlap: bool,
}

impl RecordingFlags {
    /// The flags, and where they say nothing, `settings`.
    pub fn over(&self, events: Option<PathBuf>, settings: &RecordingOptions) -> RecordingOptions {
        RecordingOptions {
            time_column: self.time.clone().or_else(|| settings.time_column.clone()),
            time_unit: self.time_unit.or(settings.time_unit),
            rate: self.rate.or(settings.rate),
            hop: self.hop.or(settings.hop),
            horizon: self.horizon.or(settings.horizon),
            season: self.season.or(settings.season),
            max_gap: self.max_gap.or(settings.max_gap),
            purity: self.purity.or(settings.purity),
            aim: self.task.unwrap_or(settings.aim),
            label_at: self.label_at.unwrap_or(settings.label_at),
            events: events.or_else(|| settings.events.clone()),
            keep_overlap: self.keep_overlap || settings.keep_overlap,
            every_window: settings.every_window,
            whole: settings.whole,
            unbroken: settings.unbroken,
        }
    }

    /// A row of a table or an array is a step of a recording.
    pub fn makes_recordings(&self) -> bool {
        self.window.is_some() || self.time.is_some()
    }

    /// Several labels can hold, of other data than recordings, too.
    pub fn asks_for_labels(&self) -> bool {
        self.task == Some(Aim::Labels)
    }

    /// Each step has a class, or numbers to predict.
    pub fn asks_for_steps(&self) -> bool {
        self.task == Some(Aim::Steps)
    }

    /// The flags, with whether each was given.
    pub fn given(&self) -> [(&'static str, bool); 12] {
        [
            ("--window", self.window.is_some()),
            ("--hop", self.hop.is_some()),
            ("--horizon", self.horizon.is_some()),
            ("--season", self.season.is_some()),
            ("--time", self.time.is_some()),
            ("--time-unit", self.time_unit.is_some()),
            ("--rate", self.rate.is_some()),
            ("--max-gap", self.max_gap.is_some()),
            ("--purity", self.purity.is_some()),
            ("--task", self.task.is_some()),
            ("--label-at", self.label_at.is_some()),
            ("--keep-overlap", self.keep_overlap),
        ]
    }
}

impl From<(Option<Span>, RecordingOptions)> for RecordingFlags {
    fn from((window, options): (Option<Span>, RecordingOptions)) -> Self {
        RecordingFlags {
            window,
            hop: options.hop,
            horizon: options.horizon,
            season: options.season,
            time: options.time_column,
            time_unit: options.time_unit,
            rate: options.rate,
            max_gap: options.max_gap,
            purity: options.purity,
            task: Some(options.aim),
            label_at: Some(options.label_at),
            keep_overlap: options.keep_overlap,
        }
    }
}

/// What `--labels` says: what numbers in the label column are, or the file of events with the labels.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// What the labels are.
    Kind(LabelKind),
    /// A file of events.
    Events(PathBuf),
}

/// The value of `--labels`.
pub fn labels(text: &str) -> Result<Labels, String> {
    match named::<LabelKind>(text) {
        Ok(kind) => Ok(Labels::Kind(kind)),
        Err(_) if std::path::Path::new(text).is_file() => Ok(Labels::Events(PathBuf::from(text))),
        Err(_) => Err(format!(
            "found {text:?}, expected ask, classes, or the path of a file of events (start, end, label): there is no file of this name"
        )),
    }
}
