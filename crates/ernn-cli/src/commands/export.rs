//! `ernn export`: a model for another program.

use std::path::PathBuf;

use clap::Args;

use super::export_device::DeviceFlags;
use super::export_target::Target;
use crate::failure::{Failure, Result};
use crate::output;
use crate::reading::ReadingFlags;

/// Arguments of `ernn export`.
#[derive(Args)]
pub struct Arguments {
    /// Model file or run folder
    model: PathBuf,
    /// What the model becomes
    #[arg(long, value_enum)]
    to: Target,
    /// Where it goes: a name that does not exist yet
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    #[command(flatten)]
    device: DeviceFlags,
    #[command(flatten)]
    reading: ReadingFlags,
}

/// Runs `ernn export`.
pub fn run(arguments: &Arguments) -> Result<()> {
    super::must_be_free("--out", &arguments.out)?;
    let saved = super::models::load(&arguments.model)?;
    if !arguments.device.names_data() && arguments.reading != ReadingFlags::default() {
        let text = "flags that say how data is read go with --calibrate alone, which names the data";
        return Err(Failure::Usage(text.to_string()));
    }
    let Arguments {
        out, device, reading, ..
    } = arguments;
    arguments.to.write(&saved, (&arguments.model, out), device, reading)?;
    output::print(&arguments.out.display().to_string())?;
    Ok(())
}
