//! `ernn export` to one of [`Target`]: a model for a device or a browser.

use std::path::Path;

use clap::{Args, ValueEnum};
use ernn::cell::CellConfig;
use ernn::checkpoint::SavedModel;
use ernn::data::{Span, Task, View};
use ernn::evaluate::figures;
use ernn::export::{self, About, Accuracy, Format, Options, Parity, Samples, StateBits, Target};
use ernn::names::counted;
use ernn::train::PastRun;

use super::listening;
use super::parts::{Opened, PartName};
use crate::failure::{Failure, Result};
use crate::output::say;
use crate::reading::ReadingFlags;

/// The names of all devices, each after `before`, the last one after `last`.
pub fn device_names(before: &str, last: &str) -> String {
    let names = Target::ALL.map(|target| format!("{before}{}", target.name()));
    let (end, rest) = names.split_last().expect("devices");
    format!("{}{last}{end}", rest.join(", "))
}

/// What only devices need.
#[derive(Args)]
#[command(next_help_heading = format!("Devices ({})", device_names("--to ", ", ")))]
pub struct DeviceFlags {
    /// Numbers of the device [default: f32]
    #[arg(long, value_enum)]
    format: Option<Numbers>,
    /// Numbers that a stream of an int8 model keeps between steps [default: int16]
    #[arg(long, value_enum)]
    state: Option<StateNumbers>,
    /// Data whose training part gives the ranges of int8 numbers and the inputs of the self-test; of f32 the self-test's inputs are
    /// drawn if this is not given
    #[arg(long, value_name = "DATA")]
    calibrate: Option<String>,
    /// Beginning of all names and macros in the exported code, so that several models can stand in one program [default: of --out]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Listen to a stream without an end: windows of so many steps or seconds, one each HOP [default: as the model was trained on windows,
    /// or `evaluate --stream` has chosen; a quarter of the window]
    #[arg(long, value_name = "WINDOW[,HOP]", value_delimiter = ',', num_args = 1)]
    listen: Vec<Span>,
}

/// Numbers of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Numbers {
    /// As the model was trained
    F32,
    /// Weights of 8 bits, states of 16 or 8, sums of 32
    Int8,
}

/// Numbers of a stream's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StateNumbers {
    /// The upper 8 of 16 bits: half the memory a stream
    Int8,
    /// As all numbers within a step
    Int16,
}

impl DeviceFlags {
    /// The flag that was given, of those that only devices need.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            (self.format.is_some(), "--format"),
            (self.state.is_some(), "--state"),
            (self.calibrate.is_some(), "--calibrate"),
            (self.name.is_some(), "--name"),
            (!self.listen.is_empty(), "--listen"),
        ];
        flags.into_iter().find_map(|(given, flag)| given.then_some(flag))
    }

    /// Whether data is read.
    pub fn names_data(&self) -> bool {
        self.calibrate.is_some()
    }

    /// Writes a model, and says what came of it.
    pub fn write(&self, target: Target, saved: &SavedModel, places: Places, reading: &ReadingFlags) -> Result<()> {
        let (_, out) = places;
        let trial = Trial::new(saved, places, self, reading)?;
        let report = target.write(out, saved, &trial.samples, &trial.options)?;
        say_parity(report.parity.as_ref());
        say(&report.trial);
        trial.say_accuracy(saved, &report.image)?;
        say(&report.size);
        let silent = trial.options.listening.is_none() && saved.model.config().task == Task::Classification;
        if saved.sound().is_some() && silent && !saved.model.config().bidirectional {
            say("note: for a stream without an end, --listen 1s,250ms writes windows and events beside the model");
        }
        Ok(())
    }

    fn options(&self, saved: &SavedModel, (from, out): Places) -> Options {
        let folder = out.file_name().unwrap_or_default().to_string_lossy();
        Options {
            name: self.name.clone().unwrap_or_else(|| export::name_for(&folder)),
            format: match self.format {
                Some(Numbers::Int8) => Format::Int8,
                Some(Numbers::F32) | None => Format::Float,
            },
            state: match self.state {
                Some(StateNumbers::Int8) => StateBits::Int8,
                Some(StateNumbers::Int16) | None => StateBits::Int16,
            },
            about: about(saved, from),
            listening: None,
            rate: None,
        }
    }
}

/// The model's file or run folder, and where the export goes.
type Places<'a> = (&'a Path, &'a Path);

/// What the run of the model has said of it, where it lies beside the model and is of it; an export does without.
fn about(saved: &SavedModel, from: &Path) -> About {
    let folder = if from.is_dir() { Some(from) } else { from.parent() };
    let run = folder.and_then(|folder| PastRun::read(folder).ok().flatten());
    let own = |run: &PastRun| run.settings.portable().to_toml() == saved.provenance.settings;
    let Some(run) = run.filter(own) else {
        return About::default();
    };
    let (metric, value) = run.evaluation.score();
    About {
        steps: run.longest_sequence,
        score: Some(format!("{} on the {} part", metric.phrase(value), run.part)),
        test_accuracy: run.evaluation.accuracy.filter(|_| run.part == "test"),
    }
}

/// Sequences for calibration, self-test and comparison with the library.
const COMPARED: usize = 256;

/// The data that was named, if any, and samples of its training part, or drawn ones.
struct Trial {
    opened: Option<Opened>,
    samples: Samples,
    options: Options,
}

impl Trial {
    fn new(saved: &SavedModel, places: Places, flags: &DeviceFlags, reading: &ReadingFlags) -> Result<Self> {
        let mut options = flags.options(saved, places);
        options.listening = listening::for_export(saved, &flags.listen, reading)?;
        options.rate = listening::rate(saved, &reading.as_for(saved)?.options());
        if flags.state.is_some() && options.format != Format::Int8 {
            return Err(Failure::Usage("--state is for --format int8 alone".to_string()));
        }
        let Some(data) = &flags.calibrate else {
            if options.format == Format::Int8 {
                return Err(Failure::Usage(
                    "--format int8 needs --calibrate DATA, which gives the ranges of its numbers".to_string(),
                ));
            }
            let longest = options.about.steps.unwrap_or(usize::MAX);
            let samples = Samples::drawn_of(saved, longest);
            return Ok(Trial {
                opened: None,
                samples,
                options,
            });
        };
        let opened = Opened::new(saved, reading, data)?;
        let (_, view) = opened.test_first(saved, Some(PartName::Train))?;
        let samples = Samples::of(saved, &view, COMPARED)?;
        Ok(Trial {
            opened: Some(opened),
            samples,
            options,
        })
    }

    /// Says what whole numbers cost, on the part that `ernn evaluate` would take.
    fn say_accuracy(&self, saved: &SavedModel, image: &[u8]) -> Result<()> {
        let Some(opened) = self.opened.as_ref().filter(|_| self.options.format == Format::Int8) else {
            return Ok(());
        };
        let (part, view): (_, View) = opened.test_first(saved, None)?;
        let samples = Samples::of(saved, &view, usize::MAX)?;
        let found = export::measure(saved, image, &samples)?;
        if let Some([float, int8]) = &found.numbers {
            say(&format!(
                "on the {part} part ({} sequences): RMSE {} in f32, {} in int8; MAE {} and {}",
                found.sequences,
                figures(float.root_mean_squared_error),
                figures(int8.root_mean_squared_error),
                figures(float.mean_absolute_error),
                figures(int8.mean_absolute_error)
            ));
        } else if let (Some(float), Some(int8)) = (found.float, found.int8) {
            let (what, others) = match saved.model.config().task {
                Task::MultiLabel => ("all labels right", "other labels"),
                _ => ("accuracy", "another class"),
            };
            say(&format!(
                "{what} on the {part} part ({}): {:.2} % in f32, {:.2} % in int8 ({:+.2} points); {others} for {}",
                counted(found.sequences, "sequence"),
                100.0 * float,
                100.0 * int8,
                100.0 * (int8 - float),
                counted(found.sequences - found.alike, "sequence")
            ));
        } else {
            say(&format!(
                "on the {part} part ({}) logits differ from f32's by at most {:.1e} of the largest",
                counted(found.sequences, "sequence"),
                found.largest_difference
            ));
        }
        if let Some(warning) = self.warning(saved, &found, &samples)? {
            say(&format!("warning: {warning}"));
        }
        say(&format!(
            "saturations on the {part} part: {} in {}",
            counted(found.saturations as usize, "number"),
            counted(samples.steps(), "step")
        ));
        if !saved.model.config().layers.iter().all(CellConfig::is_bounded) {
            say(
                "note: the states of this model have no bound; beyond the ranges of the calibration data they end at the largest number \
                 (counted in the state's `saturations`), they never wrap",
            );
        }
        Ok(())
    }
}

/// More than so many points of accuracy, or percent of sequences with another class, are a plain loss.
const PLAIN_LOSS: f64 = 2.0;

/// Points of accuracy that whole numbers lose, or, without labels, percent of the sequences that they give another class.
fn lost(found: &Accuracy) -> f64 {
    let share = match (found.float, found.int8) {
        (Some(float), Some(int8)) => float - int8,
        _ => 1.0 - found.alike as f64 / found.sequences.max(1) as f64,
    };
    100.0 * share
}

impl Trial {
    /// A plain loss, and what states of 16 bits would do about it.
    fn warning(&self, saved: &SavedModel, found: &Accuracy, samples: &Samples) -> Result<Option<String>> {
        let loss = lost(found);
        if loss <= PLAIN_LOSS || !matches!(saved.model.config().task, Task::Classification | Task::MultiLabel) {
            return Ok(None);
        }
        let several = saved.model.config().task == Task::MultiLabel;
        let what = match (found.float, found.int8) {
            (Some(float), Some(int8)) if several => format!(
                "int8 gets all labels of {loss:.1} % fewer of the sequences right ({:.1} % instead of {:.1} %)",
                100.0 * int8,
                100.0 * float
            ),
            _ if several => format!("int8 gives {loss:.1} % of the sequences other labels than f32"),
            (Some(float), Some(int8)) => format!(
                "int8 loses {loss:.1} points of accuracy ({:.1} % instead of {:.1} %)",
                100.0 * int8,
                100.0 * float
            ),
            _ => format!("int8 gives {loss:.1} % of the sequences another class than f32"),
        };
        let helps = match self.options.state {
            StateBits::Int16 => "--format f32 loses nothing".to_string(),
            StateBits::Int8 => {
                let wide = export::int_image(saved, &self.samples, StateBits::Int16)?;
                let wide = lost(&export::measure(saved, &wide, samples)?);
                let also = if wide > PLAIN_LOSS {
                    ", --format f32 nothing"
                } else {
                    ""
                };
                format!("with --state int16, the default, it is {:.1}{also}", wide.max(0.0))
            }
        };
        Ok(Some(format!("{what}; {helps}")))
    }
}

fn say_parity(parity: Option<&Parity>) {
    let Some(parity) = parity else { return };
    if parity.of_numbers {
        return say(&format!(
            "compared with the library on {} steps of {} sequences: the number differs by at most {:.1e} deviations of those trained on \
             (allowed: {:.0e})",
            parity.steps, parity.sequences, parity.largest_difference, parity.bound
        ));
    }
    let others = if parity.of_labels {
        "other labels"
    } else {
        "another class"
    };
    say(&format!(
        "compared with the library on {} of {}: logits differ by at most {:.1e} of the largest (allowed: {:.0e}), {others} for {}",
        counted(parity.steps, "step"),
        counted(parity.sequences, "sequence"),
        parity.largest_difference,
        parity.bound,
        counted(parity.other_classes, "sequence")
    ));
}
