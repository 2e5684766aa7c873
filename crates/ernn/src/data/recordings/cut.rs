//! Pieces become windows with labels, groups, names and times.

use super::super::labels::Names;
use super::super::number::shown;
use super::super::raw::{Raw, Targets};
use super::super::{Forecast, Part, UNLABELLED, Values};
use super::events::Events;
use super::facts::RecordingFacts;
use super::log::Log;
use super::options::{Aim, LabelAt, PURITY, RecordingOptions};
use super::pieces::{self, Piece, Timing, text_of};
use super::sets::WindowSets;
use super::span::Span;
use crate::{Error, Result};

/// Windows of a block of the only recording at most, and blocks at least where there are that many windows.
const BLOCK: usize = 10;
const BLOCKS: usize = 5;
/// Values of all windows at most.
const MOST_VALUES: usize = 8_000_000_000;

/// Cuts the recordings of one part into sequences: windows, or without a length of one whole pieces.
///
/// # Errors
/// If settings contradict each other or the times, or nothing is left.
pub(in crate::data) fn cut(mut log: Log, window: Option<Span>, options: &RecordingOptions) -> Result<Raw> {
    options.check(window)?;
    if !log.targets.is_empty() && options.aim == Aim::Steps && options.events.is_some() {
        let expected = "one of them: a model learns numbers or classes of steps";
        return Err(Error::setting("labels", "--labels FILE and --target", expected));
    }
    if options.horizon.is_some() && log.forecast.is_empty() && !options.every_window {
        let expected = "--target with the channels whose next values are predicted";
        return Err(Error::setting("horizon", "no target", expected));
    }
    let timing = Timing::of(&log, options)?;
    let events = options
        .events
        .as_deref()
        .map(|path| Events::read(path, &mut log, &timing))
        .transpose()?;
    log.label_all();
    let length = window.map(|window| timing.steps(window, "window")).transpose()?;
    let hop = options.hop.map(|hop| timing.steps(hop, "hop")).transpose()?.or(length);
    let forecast = forecast(&log, length, &timing, options)?;
    let ahead = forecast.as_ref().map_or(0, |forecast| forecast.horizon);
    let mut cutter = Cutter {
        length,
        hop,
        options,
        ahead: if options.every_window { 0 } else { ahead },
        forecast,
        block: block(&log, length.map(|length| length + ahead), &timing, options),
        facts: RecordingFacts {
            recordings: log.recordings.len(),
            rate: timing.rate,
            found_rate: timing.found_rate,
            window: length,
            hop,
            horizon: if options.every_window { 0 } else { ahead },
            ..RecordingFacts::default()
        },
        features: log.feature_names.len(),
        out: Out::default(),
        on_grid: timing.grid.is_some(),
        sets: log.of_sets.then(|| WindowSets::new(&log.labels.names)),
        purest: 0.0,
        longest: 0,
    };
    for (number, recording) in log.recordings.iter().enumerate() {
        cutter.facts.rows += recording.rows;
        cutter.note_time(recording, &timing);
        let (own, gaps) = pieces::pieces(number, recording, cutter.features, &timing, events.as_ref())?;
        cutter.note_gaps(&gaps);
        let group = log.group_of(number);
        let place = Place {
            log: &log,
            recording: number,
            timing: &timing,
            group,
        };
        let mut windows = 0;
        cutter.check_size(&own)?;
        own.iter().for_each(|piece| cutter.piece(piece, &place, &mut windows));
    }
    cutter.finish(log, timing.note)
}

/// Which values are to be predicted, where the next ones of channels are.
fn forecast(log: &Log, length: Option<usize>, timing: &Timing, options: &RecordingOptions) -> Result<Option<Forecast>> {
    let Some(horizon) = options.horizon else {
        return Ok(None);
    };
    let season = options
        .season
        .map(|season| timing.steps(season, "season"))
        .transpose()?;
    if let Some((season, length)) = season.zip(length).filter(|(season, length)| season > length) {
        let expected = format!("at most the {length} steps of --window, in which the last season is looked up");
        return Err(Error::setting("season", format!("{season} steps"), expected));
    }
    Ok(Some(Forecast {
        channels: log.forecast.clone(),
        horizon: timing.steps(horizon, "horizon")?,
        season,
    }))
}

/// Steps of a block, if the recordings are one group that a split has to divide.
fn block(log: &Log, length: Option<usize>, timing: &Timing, options: &RecordingOptions) -> Option<usize> {
    let mut groups: Vec<u32> = (0..log.recordings.len()).map(|number| log.group_of(number)).collect();
    groups.sort_unstable();
    groups.dedup();
    let length = length.filter(|_| groups.len() == 1 && !options.every_window && !options.whole)?;
    let rows: usize = log.recordings.iter().map(|recording| recording.rows).sum();
    let steps = rows as f64 * timing.grid.map_or(1.0, |grid| grid.rate * grid.apart);
    let windows = (steps / length as f64) as usize;
    Some((windows / BLOCKS).clamp(1, BLOCK) * length)
}

/// Where a piece is from.
struct Place<'a> {
    log: &'a Log,
    recording: usize,
    timing: &'a Timing,
    group: u32,
}

/// What becomes of the windows.
#[derive(Default)]
struct Out {
    values: Vec<f32>,
    offsets: Vec<usize>,
    labels: Vec<u32>,
    /// The numbers of each window that are to be learned, `[windows, targets]`, or of each step, `[steps, targets]`.
    numbers: Vec<f32>,
    /// The label of each step, where those are asked for.
    step_labels: Vec<u32>,
    follows: Vec<bool>,
    /// The group of the recording, or its recording and block.
    groups: Vec<u64>,
    overlapping: Vec<bool>,
    names: Vec<String>,
    times: Vec<[String; 2]>,
    step_times: Vec<Vec<String>>,
    /// When each value of a forecast is, where someone asks for it.
    ahead: Vec<Vec<String>>,
    /// The window and channel of the first missing value that is left.
    first_missing: Option<String>,
}

struct Cutter<'a> {
    length: Option<usize>,
    hop: Option<usize>,
    options: &'a RecordingOptions,
    block: Option<usize>,
    /// Which values are to be predicted, where they are the next ones.
    forecast: Option<Forecast>,
    /// Steps behind a window that belong to it: those whose values are to be learned.
    ahead: usize,
    features: usize,
    facts: RecordingFacts,
    out: Out,
    /// Rows were put onto a grid.
    on_grid: bool,
    /// The sets of labels that windows have, where several can hold.
    sets: Option<WindowSets>,
    /// The largest share of a window that one label covers, of those left out.
    purest: f64,
    /// Steps of the longest piece.
    longest: usize,
}

/// What a window's labels say.
enum Verdict {
    /// It has this label.
    Label(u32),
    /// No label covers enough; the share of the most frequent one.
    Mixed(f64),
    /// Too many of its steps have none.
    Unlabelled,
}

impl Cutter<'_> {
    fn note_time(&mut self, recording: &super::Recording, timing: &Timing) {
        let seconds = match (timing.clock, recording.times.as_slice(), timing.rate) {
            (Some(clock), [first, .., last], _) => clock.seconds(*last) - clock.seconds(*first),
            (Some(_), _, _) => 0.0,
            (None, _, Some(rate)) => recording.rows as f64 / rate,
            (None, _, None) => return,
        };
        *self.facts.seconds.get_or_insert(0.0) += seconds;
    }

    fn note_gaps(&mut self, gaps: &[f64]) {
        self.facts.gaps += gaps.len();
        if let Some(seconds) = &mut self.facts.seconds {
            *seconds -= gaps.iter().sum::<f64>();
        }
        for &gap in gaps {
            self.facts.longest_gap = Some(self.facts.longest_gap.map_or(gap, |longest| longest.max(gap)));
        }
    }

    /// Refuses windows that overlap so much that they hold more values than any machine here has room for.
    fn check_size(&self, pieces: &[Piece]) -> Result<()> {
        let (Some(length), Some(hop)) = (self.length, self.hop) else {
            return Ok(());
        };
        let windows: usize = pieces.iter().map(|piece| piece.steps() / hop + 1).sum();
        let values = windows.saturating_mul(length).saturating_mul(self.features) + self.out.values.len();
        if values <= MOST_VALUES {
            return Ok(());
        }
        let found = format!("{hop} steps, which makes {:.0} GB of windows", values as f64 * 4e-9);
        Err(Error::setting(
            "hop",
            found,
            format!("at most {:.0} GB", MOST_VALUES as f64 * 4e-9),
        ))
    }

    /// Cuts a piece; `windows` counts those of its recording.
    fn piece(&mut self, piece: &Piece, place: &Place, windows: &mut usize) {
        let steps = piece.steps();
        self.longest = self.longest.max(steps);
        let length = self.length.unwrap_or(steps);
        if steps < length + self.ahead && !self.asks_for_steps() {
            self.facts.short += 1;
            return;
        }
        let (mut free, mut last_end) = (0, None);
        for (start, length) in self.places(steps, length) {
            *windows += 1;
            let Some(label) = self.label(piece, start, length) else {
                continue;
            };
            let Some(numbers) = self.numbers(piece, start, length) else {
                continue;
            };
            let Some(group) = self.group(piece, place, start, length) else {
                continue;
            };
            let overlapping = start < free;
            if !overlapping {
                // No step is read twice by what judges, and none is predicted twice.
                free = start + length.max(self.ahead);
            }
            self.out.follows.push(last_end == Some(start));
            last_end = Some(start + length);
            self.out
                .step_labels
                .extend(piece.labels.get(start..start + length).unwrap_or_default());
            self.out.overlapping.push(overlapping);
            self.out.labels.push(label);
            self.out.numbers.extend(numbers);
            self.out.groups.push(group);
            let range = start * self.features..(start + length) * self.features;
            let values = &piece.values[range];
            self.out.values.extend_from_slice(values);
            let missing = values.iter().position(|value| value.is_nan());
            let missing = missing.filter(|_| self.out.first_missing.is_none());
            self.out.offsets.push(self.out.values.len() / self.features);
            self.name(piece, place, start, length, *windows);
            if let Some(value) = missing {
                let feature = shown(place.log.feature_names[value % self.features].as_bytes());
                let (name, times) = (self.out.names.last(), self.out.times.last());
                let (name, [start, end]) = name.zip(times).expect("the window that was just named");
                self.out.first_missing = Some(format!(", window {name} ({start} to {end}), column {feature}"));
            }
        }
    }

    /// Whether someone wants to know the class of each step.
    fn asks_for_steps(&self) -> bool {
        self.options.every_window && self.options.aim == Aim::Steps
    }

    /// Where windows begin in a piece, and how long they are: of one that is asked about step by step, each step once, to its end.
    fn places(&self, steps: usize, length: usize) -> Vec<(usize, usize)> {
        if self.asks_for_steps() {
            let starts = (0..steps).step_by(length);
            return starts.map(|start| (start, length.min(steps - start))).collect();
        }
        let last = steps - length - self.ahead;
        let mut starts: Vec<usize> = (0..=last).step_by(self.hop.unwrap_or(steps)).collect();
        // Who asks for a forecast wants to know what follows the last row.
        let asks = self.options.every_window && self.forecast.is_some();
        if asks && starts.last().is_some_and(|&start| start < last) {
            starts.push(last);
        }
        starts.into_iter().map(|start| (start, length)).collect()
    }

    /// The label of a window, [`UNLABELLED`] where nobody asks; none if it is left out.
    fn label(&mut self, piece: &Piece, start: usize, length: usize) -> Option<u32> {
        if piece.labels.is_empty() || self.options.every_window {
            return Some(UNLABELLED);
        }
        if self.options.aim == Aim::Steps {
            let any = piece.labels[start..start + length]
                .iter()
                .find(|&&label| label != UNLABELLED);
            self.facts.unlabelled += usize::from(any.is_none());
            return any.copied();
        }
        let own = &piece.labels[start..start + length];
        if let Some(sets) = &mut self.sets {
            let set = sets.of(own, self.options.label_at, self.options.purity.unwrap_or(PURITY));
            self.facts.unlabelled += usize::from(set.is_none());
            return set;
        }
        match self.verdict(own) {
            Verdict::Label(label) => return Some(label),
            Verdict::Mixed(share) => {
                self.purest = self.purest.max(share);
                self.facts.mixed += 1;
            }
            Verdict::Unlabelled => self.facts.unlabelled += 1,
        }
        None
    }

    /// The numbers of a window, none where nobody asks for numbers. Nothing at all if too many are missing: then it is left out.
    fn numbers(&mut self, piece: &Piece, start: usize, length: usize) -> Option<Vec<f32>> {
        if self.options.every_window || (piece.numbers.is_empty() && self.forecast.is_none()) {
            return Some(Vec::new());
        }
        if let Some(forecast) = &self.forecast {
            let numbers = forecast.following(&piece.values, self.features, start + length);
            self.facts.unlabelled += usize::from(numbers.is_none());
            return numbers;
        }
        let targets = piece.numbers.len() / piece.steps();
        let own = &piece.numbers[start * targets..(start + length) * targets];
        if self.options.aim == Aim::Steps {
            let whole = own
                .chunks_exact(targets)
                .any(|step| step.iter().all(|number| !number.is_nan()));
            self.facts.unlabelled += usize::from(!whole);
            return whole.then(|| own.to_vec());
        }
        let numbers = (0..targets).map(|target| self.number(own.iter().skip(target).step_by(targets).copied()));
        let numbers: Option<Vec<f32>> = numbers.collect();
        self.facts.unlabelled += usize::from(numbers.is_none());
        numbers
    }

    /// The mean of the numbers of some steps, or that of the last one; none if too many are missing.
    fn number(&self, own: impl ExactSizeIterator<Item = f32> + Clone) -> Option<f32> {
        let known = || own.clone().filter(|number| !number.is_nan());
        let share = known().count() as f64 / own.len() as f64;
        match self.options.label_at {
            LabelAt::End => own.clone().last().filter(|number| !number.is_nan()),
            LabelAt::Most if share < self.options.purity.unwrap_or(PURITY) - 1e-9 => None,
            LabelAt::Most => Some((known().map(f64::from).sum::<f64>() / known().count() as f64) as f32),
        }
    }

    fn verdict(&self, labels: &[u32]) -> Verdict {
        if self.options.label_at == LabelAt::End {
            return match labels[labels.len() - 1] {
                UNLABELLED => Verdict::Unlabelled,
                label => Verdict::Label(label),
            };
        }
        let mut sorted = labels.to_vec();
        sorted.sort_unstable();
        let known = sorted.partition_point(|&label| label != UNLABELLED);
        let runs = sorted[..known].chunk_by(|a, b| a == b);
        // Of two the first in the file.
        let most = runs.rev().max_by_key(|run| run.len());
        let share = |count: usize| count as f64 / labels.len() as f64;
        let purity = self.options.purity.unwrap_or(PURITY) - 1e-9;
        match most {
            Some(run) if share(run.len()) >= purity => Verdict::Label(run[0]),
            _ if share(known) < purity => Verdict::Unlabelled,
            Some(run) => Verdict::Mixed(share(run.len())),
            None => Verdict::Unlabelled,
        }
    }

    /// The group of a window; none if it lies in two blocks.
    fn group(&mut self, piece: &Piece, place: &Place, start: usize, length: usize) -> Option<u64> {
        let Some(block) = self.block else {
            return Some(u64::from(place.group));
        };
        // Blocks count the rows of the recording, so that pieces share them.
        let step = |step: usize| (piece.rows.start + step) / block;
        if step(start) != step(start + length + self.ahead - 1) {
            self.facts.across += 1;
            return None;
        }
        Some((place.recording as u64) << 32 | step(start) as u64)
    }

    fn name(&mut self, piece: &Piece, place: &Place, start: usize, length: usize, number: usize) {
        let recording = &place.log.recordings[place.recording];
        self.out.names.push(match recording.name.as_str() {
            "" => number.to_string(),
            name => format!("{name}/{number}"),
        });
        let at = |step: usize| time_text(recording, place.timing, piece, step);
        let times = [at(start), at(start + length)];
        if self.asks_for_steps() {
            self.out.step_times.push((start..=start + length).map(at).collect());
        }
        if let Some(forecast) = self.forecast.as_ref().filter(|_| self.options.every_window) {
            let end = start + length;
            self.out.ahead.push((end..end + forecast.horizon).map(at).collect());
        }
        self.out.times.push(times);
    }

    fn finish(mut self, mut log: Log, note: Option<String>) -> Result<Raw> {
        let path = log.path().to_owned();
        if self.out.names.is_empty() {
            return Err(self.nothing(&log));
        }
        let labelled = !self.options.every_window && self.out.labels.iter().all(|&label| label != UNLABELLED);
        let steps = self.options.aim == Aim::Steps;
        self.facts.windows = self.out.names.len();
        let mut groups = Names::default();
        let mut raw = Raw::new(&path, self.features);
        if self.block.is_some() {
            self.facts.blocks = self.out.groups.iter().collect::<std::collections::BTreeSet<_>>().len();
        }
        let blocks = self.block.is_some();
        let numbers = self
            .out
            .groups
            .iter()
            .map(|&group| groups.number(&group_name(&log, group, blocks)));
        let numbers: Vec<u32> = numbers.collect();
        let mut offsets = vec![0];
        offsets.append(&mut self.out.offsets);
        raw.part = Part {
            features: self.features,
            offsets,
            values: Values::Numbers(self.out.values),
            labels: if labelled && !steps {
                self.out.labels
            } else {
                Vec::new()
            },
            step_labels: if labelled && steps {
                self.out.step_labels
            } else {
                Vec::new()
            },
            follows: if self.out.follows.contains(&true) {
                self.out.follows
            } else {
                Vec::new()
            },
            groups: numbers,
            overlapping: match self.options.keep_overlap || !self.out.overlapping.contains(&true) {
                true => Vec::new(),
                false => self.out.overlapping,
            },
            ..Part::default()
        };
        raw.notes = std::mem::take(&mut log.notes);
        raw.notes.extend(note.into_iter().chain(self.facts.sentences()));
        let names = match &self.forecast {
            Some(forecast) => forecast.names(&log.feature_names),
            None => log.targets,
        };
        raw.ahead = self.out.ahead;
        raw.forecast = self.forecast;
        let numbers = match steps {
            true => {
                raw.part.step_numbers = self.out.numbers;
                Vec::new()
            }
            false => self.out.numbers,
        };
        raw.targets = Targets {
            numbers,
            first_missing: None,
            wanted: !names.is_empty() && !self.options.every_window,
            names,
        };
        raw.groups = groups;
        raw.feature_names = log.feature_names;
        if let (Some(sets), true) = (self.sets, labelled) {
            raw.declared = sets.declared(log.declared);
            raw.labels = sets.found;
        } else if labelled {
            raw.labels = log.labels;
        }
        raw.of_sets = log.of_sets;
        // On a grid short gaps are filled: the first empty cell may have a value by now.
        raw.first_missing = if self.on_grid {
            self.out.first_missing
        } else {
            log.first_missing
        };
        raw.names = self.out.names;
        raw.times = self.out.times;
        raw.step_times = self.out.step_times;
        raw.recordings = Some(self.facts);
        raw.of_steps = steps;
        Ok(raw)
    }

    /// Why there is no window.
    fn nothing(&self, log: &Log) -> Error {
        let refuse = |found: String, expected: String| Error::format(log.path(), "", found, expected);
        let facts = &self.facts;
        if facts.rows == 0 {
            return refuse("no row".to_owned(), "at least one".to_owned());
        }
        let needed = self.length.map(|length| length + self.ahead);
        let Some(length) = needed.filter(|length| self.longest < *length) else {
            if self.options.aim == Aim::Steps && !log.targets.is_empty() {
                let found = format!(
                    "no window with a number to predict: {} without any, {} on the border of two blocks",
                    facts.unlabelled, facts.across
                );
                return refuse(
                    found,
                    "at least one step with a number in the column of --target".to_owned(),
                );
            }
            let purity = self.options.purity.unwrap_or(PURITY);
            let found = format!(
                "no window with a label: {} without one that covers {:.0} % of it (at most {:.0} %), {} without labels, {} on the border of \
                 two blocks",
                facts.mixed,
                100.0 * purity,
                100.0 * self.purest,
                facts.unlabelled,
                facts.across
            );
            return refuse(
                found,
                "at least one; a shorter --window, or a smaller --purity".to_owned(),
            );
        };
        let seconds = |steps: usize| {
            facts
                .rate
                .map_or_else(String::new, |rate| format!(" ({} s)", steps as f64 / rate))
        };
        let found = format!(
            "{} steps{} in the longest piece without a gap",
            self.longest,
            seconds(self.longest)
        );
        refuse(
            found,
            match self.ahead {
                0 => format!("at least the {length} steps{} of --window", seconds(length)),
                _ => format!(
                    "at least the {length} steps{} of --window and --horizon",
                    seconds(length)
                ),
            },
        )
    }
}

/// What a group is called: the person, the recording, or of a recording in blocks the block.
fn group_name(log: &Log, group: u64, blocks: bool) -> String {
    if blocks {
        let (recording, block) = (
            &log.recordings[(group >> 32) as usize],
            (group & u64::from(u32::MAX)) + 1,
        );
        return format!("{} block {block}", recording.name).trim_start().to_owned();
    }
    match log.groups.names.get(group as usize) {
        Some(name) => name.clone(),
        None => match log.recordings[group as usize - log.groups.names.len()].name.as_str() {
            "" => "1".to_owned(),
            name => name.to_owned(),
        },
    }
}

/// When a step of a piece begins, as its file would write it; behind the last step, when it would.
fn time_text(recording: &super::Recording, timing: &Timing, piece: &Piece, step: usize) -> String {
    let behind = step.saturating_sub(piece.steps());
    if let Some(grid) = timing.grid {
        return text_of(recording, timing, piece.rows.start, step as f64 / grid.rate);
    }
    let last = || piece.nearest[piece.steps() - 1];
    match (piece.nearest.get(step), timing.rate.or(timing.found_rate)) {
        (Some(&row), _) => text_of(recording, timing, row, 0.0),
        (None, Some(rate)) => text_of(recording, timing, last(), (1 + behind) as f64 / rate),
        // The rows behind the last one.
        (None, None) => (last() + 2 + behind).to_string(),
    }
}
