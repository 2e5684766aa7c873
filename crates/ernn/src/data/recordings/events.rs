//! Labels in a file of their own: from a time to a time, a label.
//!
//! ```text
//! start,end,label      a table with a header; `onset`, `duration` and `class` are understood; a column `recording` names one of several
//! 1.5<TAB>3.2<TAB>dog  labels of Audacity: no header, seconds since the beginning
//! [{"annotations": [{"result": [{"value": {"start": .., "end": .., "timeserieslabels": [..]}}]}]}]     Label Studio's JSON
//! ```
//!
//! Times are those of the recordings' own clock, times since 1970, or seconds since the beginning of a recording: that by which the middle
//! of every event lies in a recording; of several the one by which most time has a label.

use std::ffi::OsStr;
use std::path::Path;

use super::super::UNLABELLED;
use super::super::labels::{self, Names};
use super::super::number::{Decimal, exact, shown};
use super::clock::{Clock, Form, TimeReader, TimeUnit};
use super::log::{Log, Recording};
use super::pieces::{Timing, is_civil};
use crate::{Error, Result};

const STARTS: [&str; 5] = ["start", "onset", "begin", "from", "tmin"];
const ENDS: [&str; 5] = ["end", "offset", "stop", "to", "tmax"];
const DURATIONS: [&str; 2] = ["duration", "length"];
const LABELS: [&str; 7] = [
    "label",
    "class",
    "event",
    "activity",
    "description",
    "annotation",
    "text",
];
const RECORDINGS: [&str; 5] = ["recording", "file", "filename", "series", "session"];

/// Seconds by which one event may end behind the start of the next: rounding.
const SAME: f64 = 1e-6;

/// A label from a time to a time.
#[derive(Clone, Debug)]
struct Event {
    start: f64,
    end: f64,
    label: u32,
    /// What the file calls the recording that it is of; none: whichever has its time.
    named: Option<String>,
    /// The recording of that name, an index into [`Log::recordings`].
    recording: Option<usize>,
    /// Start and end as they are written.
    written: [String; 2],
    /// The line in its file; of JSON the number of the event.
    line: usize,
}

/// Events in the seconds of the recordings, by start.
#[derive(Clone, Debug)]
pub(super) struct Events {
    list: Vec<Event>,
    /// Times count from the beginning of a recording.
    relative: bool,
    clock: Option<Clock>,
    /// Seconds of the longest event.
    longest: f64,
}

/// What the times of events count.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    /// What those of the recordings do, times this for seconds.
    Absolute(f64),
    /// Seconds since the beginning of a recording.
    Relative,
}

impl Events {
    /// Reads events and finds out what their times mean; `log` gets their labels, and loses its own.
    pub fn read(path: &Path, log: &mut Log, timing: &Timing) -> Result<Events> {
        if timing.clock.is_none() && timing.rate.is_none() {
            let expected = "--time with a column of times, or --rate with the rows a second";
            return Err(Error::setting(
                "labels",
                format!("{} beside rows without times", path.display()),
                expected,
            ));
        }
        log.labels = Names::default();
        let (mut list, form) = parse(path, &mut log.labels)?;
        if list.is_empty() {
            return Err(Error::format(
                path,
                "",
                "no event",
                "at least one with a start, an end and a label",
            ));
        }
        find_recordings(path, &mut list, log)?;
        check_zones(path, form, log)?;
        let meanings = meanings(&list, form, log, timing);
        let reading = |meaning: &Meaning| Events::with(list.clone(), *meaning, timing.clock);
        let all: Vec<Events> = meanings.iter().map(reading).collect();
        let lost = |events: &Events| {
            events
                .list
                .iter()
                .find(|event| !events.lies_in_one(event, log))
                .cloned()
        };
        let losses: Vec<Option<Event>> = all.iter().map(lost).collect();
        // Of several that fit the one by which most time has a label: 2 s is within 2000 ms, too.
        let fitting = all.into_iter().zip(&losses).filter(|(_, lost)| lost.is_none());
        let most = fitting
            .map(|(events, _)| events)
            .reduce(|a, b| if b.covered() > a.covered() { b } else { a });
        if let Some(events) = most {
            events.check(path, log)?;
            return Ok(events);
        }
        let event = losses.into_iter().flatten().next().expect("no meaning fits");
        let [from, to] = event.written.each_ref().map(|text| shown(text.as_bytes()));
        let found = format!("an event from {from} to {to}, outside of every recording");
        let expected = format!(
            "times within {}{}, in its unit or in seconds since its beginning",
            log.path().display(),
            span(log, timing)
        );
        Err(Error::format(path, format!(", line {}", event.line), found, expected))
    }

    fn with(mut list: Vec<Event>, meaning: Meaning, clock: Option<Clock>) -> Events {
        if let Meaning::Absolute(seconds) = meaning {
            for event in &mut list {
                event.start *= seconds;
                event.end *= seconds;
            }
        }
        list.sort_by(|a, b| a.start.total_cmp(&b.start));
        Events {
            longest: list.iter().map(|event| event.end - event.start).fold(0.0, f64::max),
            list,
            relative: matches!(meaning, Meaning::Relative),
            clock,
        }
    }

    /// Seconds of the recordings' clock at which the times of events begin.
    fn zero(&self, recording: &Recording) -> f64 {
        let first = recording.times.first().copied();
        match (self.relative, self.clock, first) {
            (true, Some(clock), Some(first)) => clock.seconds(first),
            _ => 0.0,
        }
    }

    /// Seconds of all events.
    fn covered(&self) -> f64 {
        self.list.iter().map(|event| event.end - event.start).sum()
    }

    /// Whether the middle of an event is in a recording.
    fn lies_in_one(&self, event: &Event, log: &Log) -> bool {
        log.recordings.iter().enumerate().any(|(number, recording)| {
            let zero = self.zero(recording);
            let (from, to) = match (self.clock, recording.times.as_slice()) {
                (Some(clock), [first, .., last]) => (clock.seconds(*first), clock.seconds(*last)),
                (None, _) => (0.0, f64::INFINITY),
                _ => return false,
            };
            let middle = 0.5 * (event.start + event.end) + zero;
            event.may_be_of(number) && (from..=to).contains(&middle)
        })
    }

    /// Refuses events that a person has to say more about.
    fn check(&self, path: &Path, log: &Log) -> Result<()> {
        let refuse = |event: &Event, found: String, expected: &str| {
            Err(Error::format(path, format!(", line {}", event.line), found, expected))
        };
        if let Some(event) = self.list.iter().find(|event| event.recording.is_none())
            && self.relative
            && log.recordings.len() > 1
        {
            let found = format!(
                "an event in seconds since the beginning of one of {} recordings",
                log.recordings.len()
            );
            return refuse(
                event,
                found,
                "a column recording that says which, or times on the recordings' own clock",
            );
        }
        for (place, event) in self.list.iter().enumerate() {
            let later = self.list[place + 1..]
                .iter()
                .take_while(|later| later.start < event.end - SAME);
            let mut rivals = later.filter(|later| later.label != event.label);
            if let Some(rival) = rivals.find(|rival| rival.recording == event.recording) {
                let name = |label: u32| shown(log.labels.names[label as usize].as_bytes());
                let found = format!(
                    "{} while {} of line {} goes on",
                    name(rival.label),
                    name(event.label),
                    event.line
                );
                return refuse(rival, found, "one label at a time");
            }
        }
        Ok(())
    }

    /// The label at a time of a recording, which has this number, in seconds of its clock.
    pub fn label_at(&self, number: usize, recording: &Recording, seconds: f64) -> u32 {
        let time = seconds - self.zero(recording);
        let begun = self.list.partition_point(|event| event.start <= time + 1e-9);
        let mut near = self.list[..begun]
            .iter()
            .rev()
            .take_while(|event| time - event.start <= self.longest);
        let running = near.find(|event| time < event.end && event.may_be_of(number));
        running.map_or(UNLABELLED, |event| event.label)
    }
}

impl Event {
    /// Whether it is of the recording of this number, or of any.
    fn may_be_of(&self, number: usize) -> bool {
        self.recording.is_none_or(|own| own == number)
    }
}

/// From when to when a single recording goes.
fn span(log: &Log, timing: &Timing) -> String {
    match (timing.clock, &log.recordings[..]) {
        (Some(clock), [one]) if !one.times.is_empty() => {
            let time = |row: usize| clock.text(one.times[row], 0.0);
            format!(" ({} to {})", time(0), time(one.times.len() - 1))
        }
        _ => String::new(),
    }
}

/// Finds the recordings that events name: by their names, those of their files, or the end of their names.
fn find_recordings(path: &Path, list: &mut [Event], log: &Log) -> Result<()> {
    for event in list {
        let Some(named) = &event.named else { continue };
        let place = format!(", line {}", event.line);
        let found = format!("an event of {}", shown(named.as_bytes()));
        match recordings_of(named, log)[..] {
            [one] => event.recording = Some(one),
            [] => {
                let names: Vec<String> = log.recordings.iter().map(|recording| recording.name.clone()).collect();
                let expected = match names.iter().all(String::is_empty) {
                    true => format!("one of {}, or events that name no recording", log.path().display()),
                    false => format!("one of the recordings {}", labels::list(&names)),
                };
                return Err(Error::format(path, place, found, expected));
            }
            [first, second, ..] => {
                let [first, second] = [first, second].map(|number| shown(log.recordings[number].name.as_bytes()));
                let expected = format!("the name of one recording: {first} or {second}");
                return Err(Error::format(path, place, found, expected));
            }
        }
    }
    Ok(())
}

fn recordings_of(named: &str, log: &Log) -> Vec<usize> {
    let of_file = |recording: &Recording| {
        let file = &log.files[recording.file];
        [file.file_name(), file.file_stem()].contains(&Some(OsStr::new(named)))
    };
    let ways: [&dyn Fn(&Recording) -> bool; 3] = [&|recording| recording.name == named, &of_file, &|recording| {
        recording.name.rsplit_once('/').is_some_and(|(_, end)| end == named)
    }];
    let all = |is_meant: &dyn Fn(&Recording) -> bool| -> Vec<usize> {
        let numbered = log.recordings.iter().enumerate();
        numbered
            .filter(|(_, recording)| is_meant(recording))
            .map(|(number, _)| number)
            .collect()
    };
    ways.into_iter()
        .map(all)
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// Times without an offset from UTC are of a zone that nobody knows.
fn check_zones(path: &Path, form: Form, log: &Log) -> Result<()> {
    let (found, expected) = match (form, log.form) {
        (Form::Civil, Some(Form::Instant)) => ("times without an offset from UTC", "times with one"),
        (Form::Instant, Some(Form::Civil)) => ("times with an offset from UTC", "times without one"),
        _ => return Ok(()),
    };
    Err(Error::format(
        path,
        "",
        found,
        format!("{expected}, as those of {}", log.path().display()),
    ))
}

/// What the times may mean, the likeliest first.
fn meanings(list: &[Event], form: Form, log: &Log, timing: &Timing) -> Vec<Meaning> {
    if form != Form::Number {
        return vec![Meaning::Absolute(1.0)];
    }
    let mut all = Vec::new();
    if let Some(clock) = timing.clock {
        if !is_civil(log.form) {
            all.push(Meaning::Absolute(clock.seconds(1.0)));
        }
        let since = list.first().and_then(|event| TimeUnit::since_1970(event.start));
        all.extend(since.map(|unit| Meaning::Absolute(1.0 / unit.per_second())));
    }
    all.push(Meaning::Relative);
    all
}

fn parse(path: &Path, names: &mut Names) -> Result<(Vec<Event>, Form)> {
    let bytes = std::fs::read(path).map_err(Error::io(path, "read"))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match bytes.trim_ascii_start().first() {
        Some(b'[' | b'{') => label_studio(path, bytes, names),
        _ => table(path, bytes, names),
    }
}

/// The columns of a table of events.
struct Columns {
    start: usize,
    end: usize,
    /// The end is a duration.
    is_duration: bool,
    label: usize,
    recording: Option<usize>,
}

impl Columns {
    fn named(header: &csv::StringRecord) -> std::result::Result<Columns, String> {
        let word = |name: &str| {
            let name = name.trim().to_lowercase();
            name.split(|letter: char| !letter.is_alphanumeric())
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        let find = |wanted: &[&str]| header.iter().position(|name| wanted.contains(&word(name).as_str()));
        let missing = |what: &str| {
            let names: Vec<String> = header.iter().map(str::to_owned).collect();
            format!("no column {what} among {}", labels::list(&names))
        };
        let (end, duration) = (find(&ENDS), find(&DURATIONS));
        Ok(Columns {
            start: find(&STARTS).ok_or_else(|| missing("start"))?,
            end: end.or(duration).ok_or_else(|| missing("end"))?,
            is_duration: end.is_none(),
            label: find(&LABELS).ok_or_else(|| missing("label"))?,
            recording: find(&RECORDINGS),
        })
    }
}

fn table(path: &Path, bytes: &[u8], names: &mut Names) -> Result<(Vec<Event>, Form)> {
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let separator = [b'\t', b';', b',']
        .into_iter()
        .find(|separator| first.contains(separator))
        .unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let decimal = if separator == b',' {
        Decimal::Point
    } else {
        Decimal::Comma
    };
    let (mut list, mut times) = (Vec::new(), TimeReader::default());
    let mut columns: Option<Columns> = None;
    for record in reader.records() {
        let record = record.map_err(|error| Error::format(path, "", error.to_string(), "a table of events"))?;
        let line = record.position().map_or(0, |position| position.line() as usize);
        // Audacity writes the frequencies of a label on a line of their own.
        if record.get(0).is_some_and(|text| text.trim() == "\\") {
            continue;
        }
        let Some(columns) = &columns else {
            let is_data = record.len() >= 3 && TimeReader::default().read(record[0].trim().as_bytes(), decimal).is_ok();
            let own = match is_data {
                true => Ok(Columns {
                    start: 0,
                    end: 1,
                    is_duration: false,
                    label: 2,
                    recording: None,
                }),
                false => Columns::named(&record),
            };
            let own = own.map_err(|found| {
                let expected = "a header with start, end (or duration) and label, or lines of start, end, label";
                Error::format(path, format!(", line {line}"), found, expected)
            })?;
            if is_data {
                list.push(event(path, &record, &own, line, (&mut times, decimal), names)?);
            }
            columns = Some(own);
            continue;
        };
        list.push(event(path, &record, columns, line, (&mut times, decimal), names)?);
    }
    Ok((list, times.form().unwrap_or(Form::Number)))
}

fn event(
    path: &Path,
    record: &csv::StringRecord,
    columns: &Columns,
    line: usize,
    (times, decimal): (&mut TimeReader, Decimal),
    names: &mut Names,
) -> Result<Event> {
    let refuse = |found: String, expected: &str| Error::format(path, format!(", line {line}"), found, expected);
    let cell = |column: usize| record.get(column).map(str::trim).unwrap_or_default();
    let mut time = |column: usize| {
        let text = cell(column);
        times
            .read(text.as_bytes(), decimal)
            .map_err(|expected| refuse(shown(text.as_bytes()), &expected))
    };
    let start = time(columns.start)?;
    let end = match columns.is_duration {
        false => time(columns.end)?,
        true => {
            let text = cell(columns.end);
            start
                + exact(text.as_bytes(), decimal)
                    .ok_or_else(|| refuse(shown(text.as_bytes()), "a duration, a number"))?
        }
    };
    if end < start {
        return Err(refuse(
            format!(
                "an end of {} before the start of {}",
                shown(cell(columns.end).as_bytes()),
                shown(cell(columns.start).as_bytes())
            ),
            "an end behind it",
        ));
    }
    let label = cell(columns.label);
    if label.is_empty() {
        return Err(refuse("no label".to_owned(), "one for each event"));
    }
    Ok(Event {
        start,
        end,
        label: names.number(label),
        written: [columns.start, columns.end].map(|column| cell(column).to_owned()),
        recording: None,
        named: columns
            .recording
            .map(|column| cell(column).to_owned())
            .filter(|name| !name.is_empty()),
        line,
    })
}

fn label_studio(path: &Path, bytes: &[u8], names: &mut Names) -> Result<(Vec<Event>, Form)> {
    let refuse = |place: String, found: String, expected: &str| Error::format(path, place, found, expected);
    let json: serde_json::Value = serde_json::from_slice(bytes)
        .map_err(|error| refuse(String::new(), error.to_string(), "JSON as Label Studio exports it"))?;
    let tasks = json.as_array().cloned().unwrap_or_else(|| vec![json.clone()]);
    let (mut list, mut times) = (Vec::new(), TimeReader::default());
    for task in &tasks {
        let results = task["annotations"].as_array().into_iter().flatten();
        for result in results.flat_map(|annotation| annotation["result"].as_array().into_iter().flatten()) {
            let (value, line) = (&result["value"], list.len() + 1);
            let label = ["timeserieslabels", "labels"]
                .iter()
                .find_map(|key| value[*key][0].as_str());
            let Some(label) = label else { continue };
            let mut time = |key: &str| {
                let text = value[key]
                    .as_str()
                    .map_or_else(|| value[key].to_string(), str::to_owned);
                let place = format!(", event {line}, {key}");
                times
                    .read(text.as_bytes(), Decimal::Point)
                    .map_err(|expected| refuse(place, shown(text.as_bytes()), &expected))
            };
            let (start, end) = (time("start")?, time("end")?);
            list.push(Event {
                start,
                end,
                label: names.number(label),
                written: [start, end].map(|time| time.to_string()),
                named: None,
                recording: None,
                line,
            });
        }
    }
    Ok((list, times.form().unwrap_or(Form::Number)))
}
