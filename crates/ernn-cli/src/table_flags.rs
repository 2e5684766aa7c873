//! How tables of numbers are read: flags, and what they make of settings.

use std::path::PathBuf;

use clap::Args;
use ernn::data::{LabelKind, Layout, RecordingOptions, SourceKind, Span, TableOptions};

use crate::reading::named;
use crate::recording_flags::{Labels, RecordingFlags, labels};
use crate::unused::Flag;

/// What the columns of a table of numbers are.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Reading tables")]
pub struct TableFlags {
    /// Columns that are not read (one without a name is called 'Unnamed: N', from 0)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Columns that are channels, whatever their names are [default: all that are nothing else]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    channels: Vec<String>,
    /// Column that says which rows are one sequence [default: series]
    #[arg(long, value_name = "NAME", visible_alias = "series")]
    series_column: Option<String>,
    /// Column with the person, session or device of a sequence; a split never divides a group [default: group]
    #[arg(long, value_name = "NAME", visible_alias = "group")]
    group_column: Option<String>,
    /// Column by whose numbers the rows of a sequence are ordered [default: step; without one they stay in their order]
    #[arg(long, value_name = "NAME")]
    step_column: Option<String>,
    /// What the first line is: header (names of the columns) or ucr (a sequence a row, its label first, as the UCR archive has it)
    /// [default: header]
    #[arg(long, value_name = "KIND", value_parser = named::<Layout>)]
    layout: Option<Layout>,
    /// Learn numbers, not classes: the column with the number of each sequence, the same in all its rows (y: the array y of an .npz), or
    /// several of them; a window of a recording has the mean of its rows, or with --horizon the values behind it
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    target: Vec<String>,
    /// Learn which of several labels each sequence has: the columns of 0 and 1 that say it (of arrays the names of the columns of y); a window
    /// of a recording has a label that covers --purity of it
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    labels_from: Vec<String>,
    /// What labels are that look like numbers to predict: ask (refuse them) or classes [default: ask]; or a FILE with labels of recordings:
    /// a table with start, end and label, labels of Audacity, or Label Studio's JSON
    #[arg(long, value_name = "KIND|FILE", value_parser = labels)]
    labels: Option<Labels>,
    #[command(flatten)]
    recordings: RecordingFlags,
    /// What only a model and its run know.
    #[arg(skip)]
    known: Known,
}

/// What a model and its run say about new data.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    may_lack: Vec<String>,
    of_model: Vec<String>,
}

impl TableFlags {
    /// The flags, and where they say nothing, `settings`.
    pub fn over(&self, settings: &TableOptions) -> TableOptions {
        let list = |own: &[String], other: &[String]| if own.is_empty() { other.to_vec() } else { own.to_vec() };
        let name = |own: &Option<String>, other: &Option<String>| own.clone().or_else(|| other.clone());
        TableOptions {
            ignore: list(&self.ignore, &settings.ignore),
            channels: list(&self.channels, &settings.channels),
            series_column: name(&self.series_column, &settings.series_column),
            group_column: name(&self.group_column, &settings.group_column),
            step_column: name(&self.step_column, &settings.step_column),
            window: self.recordings.window.or(settings.window),
            recordings: self.recordings.over(self.events(), &settings.recordings),
            layout: self.layout.unwrap_or(settings.layout),
            target: list(&self.target, &settings.target),
            labels_from: list(&self.labels_from, &settings.labels_from),
            labels: self.label_kind().unwrap_or(settings.labels),
            may_lack: list(&self.known.may_lack, &settings.may_lack),
            of_model: list(&self.known.of_model, &settings.of_model),
        }
    }

    /// The length of a window and from window to window, as flags say.
    pub fn spans(&self) -> [Option<Span>; 2] {
        [self.recordings.window, self.recordings.hop]
    }

    fn label_kind(&self) -> Option<LabelKind> {
        match self.labels {
            Some(Labels::Kind(kind)) => Some(kind),
            _ => None,
        }
    }

    fn events(&self) -> Option<PathBuf> {
        match &self.labels {
            Some(Labels::Events(path)) => Some(path.clone()),
            _ => None,
        }
    }

    /// Which of the flags were given, and whether they apply to a kind of data.
    pub fn applying(&self, kind: SourceKind) -> Vec<Flag> {
        use SourceKind::{Arrays, Other, Recordings, Table, Texts, Ts};
        let table = matches!(kind, Table | Texts | Other);
        // Arrays whose rows are steps of recordings are read as a table is.
        let rows = table || kind == Arrays && self.recordings.makes_recordings();
        let own = table || matches!(kind, Ts | Arrays | Recordings);
        let tables = "tables of your own";
        let numbers = matches!(kind, Table | Other | Ts | Arrays);
        let mut flags = vec![
            ("--ignore", !self.ignore.is_empty(), rows, tables),
            ("--channels", !self.channels.is_empty(), rows, tables),
            ("--series-column", self.series_column.is_some(), rows, tables),
            ("--group-column", self.group_column.is_some(), rows, tables),
            ("--step-column", self.step_column.is_some(), rows, tables),
            ("--layout", self.layout.is_some(), table, tables),
            (
                "--target",
                !self.target.is_empty(),
                numbers,
                "tables and arrays of your own",
            ),
            (
                "--labels-from",
                !self.labels_from.is_empty(),
                numbers && kind != Ts,
                "tables and arrays of your own",
            ),
            ("--labels", self.label_kind().is_some(), own, "data of your own"),
            (
                "--labels",
                self.events().is_some(),
                rows || kind == Recordings,
                "recordings of your own",
            ),
        ];
        let recordings = self.recordings.given().into_iter();
        let labels = self.recordings.asks_for_labels();
        let applies = |flag: &str| table || kind == Arrays || (kind == Recordings && !OF_TABLES.contains(&flag));
        flags.extend(recordings.map(|(flag, given)| match flag {
            "--task" if labels || (self.recordings.asks_for_steps() && !self.target.is_empty()) => {
                (flag, given, numbers && kind != Ts, "tables and arrays of your own")
            }
            _ => (flag, given, applies(flag), to(kind)),
        }));
        flags
    }

    /// The flags over the settings of a run, for new data that its model reads: it may lack the run's label and group, and what the run
    /// ignored, but not what a flag names.
    pub fn after_run(&self, settings: &TableOptions, label: Option<&str>, channels: &[String]) -> TableOptions {
        let own = self.over(&TableOptions::default());
        let given = |name: &&String| !own.ignore.contains(name) && own.group_column.as_ref() != Some(name);
        let target = settings.target.iter().filter(|_| own.target.is_empty());
        let names = settings.ignore.iter().chain(&settings.group_column).filter(given);
        let labels = settings.labels_from.iter().filter(|_| own.labels_from.is_empty());
        TableOptions {
            may_lack: names
                .chain(labels)
                .chain(target)
                .cloned()
                .chain(label.map(String::from))
                .collect(),
            of_model: channels.to_vec(),
            // Events are of the recordings that they were made for.
            recordings: RecordingOptions {
                events: self.events(),
                ..self.recordings.over(None, &settings.recordings)
            },
            ..self.over(settings)
        }
    }
}

/// What sound says by itself.
const OF_TABLES: [&str; 4] = ["--time", "--time-unit", "--rate", "--max-gap"];

/// What flags of recordings are for, in words for this kind of data.
fn to(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Recordings => "recordings in tables: sound has its own time",
        _ => "recordings of your own",
    }
}

impl From<TableOptions> for TableFlags {
    fn from(options: TableOptions) -> Self {
        TableFlags {
            ignore: options.ignore,
            channels: options.channels,
            series_column: options.series_column,
            group_column: options.group_column,
            step_column: options.step_column,
            recordings: (options.window, options.recordings.clone()).into(),
            layout: Some(options.layout),
            target: options.target,
            labels_from: options.labels_from,
            labels: match options.recordings.events {
                Some(path) => Some(Labels::Events(path)),
                None => Some(Labels::Kind(options.labels)),
            },
            known: Known {
                may_lack: options.may_lack,
                of_model: options.of_model,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use ernn::data::Span;

    use super::*;

    #[test]
    fn flags_stand_over_settings_and_silent_ones_change_nothing() {
        let settings = TableOptions {
            ignore: vec!["time".to_string()],
            group_column: Some("person".to_string()),
            window: Some(Span::Steps(9)),
            layout: Layout::Ucr,
            ..TableOptions::default()
        };
        assert_eq!(TableFlags::default().over(&settings), settings);
        assert_eq!(
            TableFlags::from(settings.clone()).over(&TableOptions::default()),
            settings
        );
        let flags = TableFlags {
            ignore: vec!["date".to_string()],
            ..TableFlags::default()
        };
        let over = flags.after_run(&settings, Some("activity"), &["x".to_string()]);
        assert_eq!(
            (over.ignore, over.group_column),
            (vec!["date".to_string()], Some("person".to_string()))
        );
        assert_eq!(over.may_lack, ["time", "person", "activity"]);
        assert_eq!(over.of_model, ["x"]);
    }
}
