//! `ernn export --to c` and `--to rust`: a model for a device.

use std::path::Path;

use clap::Args;
use ernn::checkpoint::SavedModel;
use ernn::export::{self, Options, Parity, Samples};

use super::evaluate::{Chosen, PartName};
use crate::failure::Result;
use crate::output::say;
use crate::reading::ReadingFlags;

/// What only devices need.
#[derive(Args)]
#[command(next_help_heading = "Devices (--to c, --to rust)")]
pub struct DeviceFlags {
    /// Sequences of the training part of DATA for the self-test [default: drawn ones]
    #[arg(long, value_name = "DATA")]
    calibrate: Option<String>,
    /// Beginning of all names in the exported code [default: ernn]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

impl DeviceFlags {
    /// The flag that was given, of those that only devices need.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [(self.calibrate.is_some(), "--calibrate"), (self.name.is_some(), "--name")];
        flags.into_iter().find_map(|(given, flag)| given.then_some(flag))
    }

    fn options(&self) -> Options {
        let default = Options::default();
        Options {
            name: self.name.clone().unwrap_or(default.name),
        }
    }
}

/// Sequences for the comparison with the library.
const COMPARED: usize = 64;

fn samples(saved: &SavedModel, flags: &DeviceFlags, reading: &ReadingFlags) -> Result<Samples> {
    let Some(data) = &flags.calibrate else {
        return Ok(Samples::drawn(saved));
    };
    let chosen = Chosen::open(saved, data, reading)?;
    let (_, view) = chosen.part(saved, Some(PartName::Train))?;
    Ok(Samples::of(saved, &view, COMPARED)?)
}

/// Exports to C.
pub fn to_c(saved: &SavedModel, out: &Path, flags: &DeviceFlags, reading: &ReadingFlags) -> Result<()> {
    let report = export::write_c(out, saved, &samples(saved, flags, reading)?, &flags.options())?;
    say_parity(&report.parity);
    match (&report.compiler, report.same_bits) {
        (None, _) => say("note: no C compiler was found (CC, cc, gcc, clang): the C was not compiled, its arithmetic was only run in Rust"),
        (Some(compiler), true) => say(&format!("{compiler}: compiled, the self-test passes, all logits are the same bits as in Rust")),
        (Some(compiler), false) => say(&format!("{compiler}: compiled, the self-test passes, some logits differ from Rust's in the last bits")),
    }
    say(&format!(
        "flash: {} bytes of tables, and code; RAM: {} bytes a stream, {} bytes of scratch for all",
        report.tables, report.state, report.scratch
    ));
    Ok(())
}

/// Exports to Rust.
pub fn to_rust(saved: &SavedModel, out: &Path, flags: &DeviceFlags, reading: &ReadingFlags) -> Result<()> {
    let report = export::write_rust(out, saved, &samples(saved, flags, reading)?, &flags.options())?;
    say_parity(&report.parity);
    match &report.compiler {
        None => say("note: no cargo was found: the crate was not compiled"),
        Some(cargo) => say(&format!("{cargo}: compiled, the self-test passes")),
    }
    say(&format!(
        "flash: an image of {} bytes, and code; RAM: {} bytes a stream, {} bytes of scratch for all",
        report.image, report.state, report.scratch
    ));
    Ok(())
}

fn say_parity(parity: &Parity) {
    say(&format!(
        "compared with the library on {} steps of {} sequences: logits differ by at most {:.1e} of the largest (allowed: {:.0e}), {} \
         of the sequences get another class",
        parity.steps, parity.sequences, parity.largest_difference, parity.bound, parity.other_classes
    ));
}
