//! Event files of TensorBoard: the numbers of each epoch, with the epoch as step.
//!
//! ```text
//! record   length (u64), checksum of it (u32), an Event, checksum of it (u32); little-endian
//! checksum masked CRC-32C: the CRC rotated right by 15 bits, plus 0xa282ead8
//! Event    1 wall_time (double), 2 step (int64), 3 file_version (string), 5 summary: 1 value*: 1 tag (string), 2 simple_value (float)
//! ```
//!
//! The format is that of `tensorflow/core/lib/io/record_writer.h` and `tensorflow/core/util/event.proto`. The time of an event is the start
//! of the file plus the seconds of training, so that a run that goes on writes the events that it had written once again.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::checkpoint::{EnsembleFolder, EpochRecord, Phase};
use crate::data::Task;
use crate::evaluate::Metric;
use crate::exchange::onnx::wire::Writer;
use crate::{Error, Result};

/// TensorBoard takes any file with `tfevents` in its name.
pub(super) const EVENTS_FILE: &str = "events.out.tfevents.ernn";

const VERSION: &str = "brain.Event:2";

/// Whether a run, a member or a fold of it has such a file: then it goes on with it.
pub fn writes_events(run: &Path) -> bool {
    let inside = [run.to_path_buf(), EnsembleFolder::member(run, 1), run.join("folds/1")];
    inside.iter().any(|folder| folder.join(EVENTS_FILE).is_file())
}

/// An open event file.
#[derive(Debug)]
pub(super) struct Events {
    path: PathBuf,
    file: File,
    metric: Metric,
    /// When the file was begun, in seconds since 1970.
    start: f64,
    /// Seconds of training in it so far.
    seconds: f64,
}

impl Events {
    /// The file of a run folder, new or with what it holds.
    pub fn open(folder: &Path, task: Task) -> Result<Self> {
        let path = folder.join(EVENTS_FILE);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(Error::io(&path, "create"))?;
        let now = || {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |time| time.as_secs_f64())
        };
        let start = started(&mut file).unwrap_or_else(now);
        Ok(Events {
            path,
            file,
            metric: Metric::of(task),
            start,
            seconds: 0.0,
        })
    }

    /// Begins anew with these epochs: what a killed run wrote behind its last checkpoint goes.
    pub fn restart(&mut self, history: &[EpochRecord]) -> Result<()> {
        self.seconds = 0.0;
        let mut bytes = record(&event(self.start, 0, |event| event.bytes(3, VERSION.as_bytes())));
        history.iter().for_each(|epoch| bytes.extend(self.next(epoch)));
        let restart = |file: &mut File| -> io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(&bytes)
        };
        restart(&mut self.file).map_err(Error::io(&self.path, "write"))
    }

    /// Adds an epoch.
    pub fn append(&mut self, epoch: &EpochRecord) -> Result<()> {
        let bytes = self.next(epoch);
        self.file.write_all(&bytes).map_err(Error::io(&self.path, "write"))
    }

    fn next(&mut self, epoch: &EpochRecord) -> Vec<u8> {
        self.seconds += epoch.seconds;
        let scalars = scalars(epoch, self.metric);
        record(&event(self.start + self.seconds, epoch.epoch as i64, |event| {
            event.message(5, |summary| {
                for (tag, value) in &scalars {
                    summary.message(1, |scalar| {
                        scalar.bytes(1, tag.as_bytes());
                        scalar.float(2, *value as f32);
                    });
                }
            });
        }))
    }
}

/// The numbers of an epoch by their tags; a second pass, on everything, has tags of its own.
fn scalars(epoch: &EpochRecord, metric: Metric) -> Vec<(String, f64)> {
    let judged = match metric {
        Metric::Accuracy => "accuracy",
        Metric::MeanAveragePrecision => "average_precision",
        Metric::Perplexity => "perplexity",
        Metric::RootMeanSquaredError | Metric::MeanSquaredError => "root_mean_squared_error",
    };
    let pass = match epoch.phase {
        Phase::Select => "",
        Phase::Retrain => "retrain/",
    };
    let all = [
        ("loss/train".to_string(), Some(epoch.train_loss)),
        ("loss/validation".to_string(), epoch.validation_loss),
        (format!("{judged}/validation"), metric.after(epoch)),
        (
            "accuracy/train".to_string(),
            Some(epoch.train_accuracy).filter(|_| !metric.is_of_numbers() && metric != Metric::MeanAveragePrecision),
        ),
        (
            "balanced_accuracy/validation".to_string(),
            epoch.validation_balanced_accuracy,
        ),
        ("learning_rate".to_string(), Some(epoch.learning_rate)),
        ("gradient_norm".to_string(), Some(epoch.gradient_norm)),
    ];
    let all = all.into_iter();
    all.filter_map(|(tag, value)| Some((format!("{pass}{tag}"), value?)))
        .collect()
}

fn event(time: f64, step: i64, write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut event = Writer::default();
    event.double(1, time);
    if step != 0 {
        event.integer(2, step);
    }
    write(&mut event);
    event.finish()
}

/// Bytes before an event, and before the number of its first field, the time.
const BEFORE_EVENT: usize = 12;

/// The time of the first event of a file.
fn started(file: &mut File) -> Option<f64> {
    let mut beginning = [0; BEFORE_EVENT + 9];
    file.read_exact(&mut beginning).ok()?;
    let time = beginning[BEFORE_EVENT + 1..].try_into().ok()?;
    let time = f64::from_le_bytes(time);
    (beginning[BEFORE_EVENT] == 1 << 3 | 1 && time.is_finite()).then_some(time)
}

/// An event between its length and its checksums.
fn record(event: &[u8]) -> Vec<u8> {
    let length = (event.len() as u64).to_le_bytes();
    let [of_length, of_event] = [&length[..], event].map(|bytes| masked(crc(bytes)).to_le_bytes());
    [&length[..], &of_length, event, &of_event].concat()
}

fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), bit by bit: events are short.
fn crc(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let step = |crc: u32, _| crc >> 1 ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
    !bytes
        .iter()
        .fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(epoch: usize, phase: Phase) -> EpochRecord {
        EpochRecord {
            phase,
            epoch,
            train_loss: 1.5 / epoch as f64,
            train_accuracy: 0.25,
            validation_loss: (phase == Phase::Select).then_some(0.75),
            validation_accuracy: (phase == Phase::Select).then_some(0.5),
            learning_rate: 0.01,
            gradient_norm: 3.0,
            seconds: 0.5,
            ..EpochRecord::default()
        }
    }

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // RFC 3720, B.4.
        assert_eq!(crc(b"123456789"), 0xe306_9283);
        assert_eq!(crc(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc(&[0xff; 32]), 0x62a8_ab43);
    }

    /// `reference/tensorboard_events.py` wrote the same events with TensorBoard's own classes.
    #[test]
    fn bytes_are_those_of_tensorboard() {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Events::open(folder.path(), Task::Classification).unwrap();
        events.start = 1_700_000_000.25;
        events.restart(&[epoch(1, Phase::Select)]).unwrap();
        events.append(&epoch(2, Phase::Select)).unwrap();
        events.append(&epoch(300, Phase::Retrain)).unwrap();
        let expected = include_bytes!("../../tests/golden/events.out.tfevents.golden");
        assert!(std::fs::read(folder.path().join(EVENTS_FILE)).unwrap() == expected);
    }

    #[test]
    fn a_file_that_goes_on_has_the_bytes_of_one_that_was_never_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(EVENTS_FILE);
        let all: Vec<EpochRecord> = (1..=4).map(|number| epoch(number, Phase::Select)).collect();
        let mut events = Events::open(folder.path(), Task::Regression).unwrap();
        events.restart(&[]).unwrap();
        all.iter().for_each(|epoch| events.append(epoch).unwrap());
        drop(events);
        let whole = std::fs::read(&path).unwrap();
        // Cut within its last event, as a kill may leave it.
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        assert!(writes_events(folder.path()));
        let mut events = Events::open(folder.path(), Task::Regression).unwrap();
        events.restart(&all[..2]).unwrap();
        all[2..].iter().for_each(|epoch| events.append(epoch).unwrap());
        assert!(std::fs::read(&path).unwrap() == whole);
        let names = |task| {
            scalars(&all[0], Metric::of(task))
                .into_iter()
                .map(|(tag, _)| tag)
                .collect::<Vec<_>>()
        };
        assert!(!names(Task::Regression).contains(&"accuracy/train".to_string()));
        assert!(names(Task::NextToken).contains(&"perplexity/validation".to_string()));
    }
}
