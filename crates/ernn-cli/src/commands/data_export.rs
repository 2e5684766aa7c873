//! `ernn data export`: a data set as it was read, in a file that is read back to the same sequences.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ernn::Error;
use ernn::checkpoint::write_atomically;
use ernn::data::{self, FileKind, plain_name};
use ernn::export::write_folder;
use ernn::names;
use ernn::train::file_stem;

use crate::failure::{Failure, Result};
use crate::output::{self, say};
use crate::reading::{ReadingFlags, open};

/// Arguments of `ernn data export`.
#[derive(Args)]
pub struct Arguments {
    /// Known name, file or folder
    data: String,
    /// Kind of file
    #[arg(long, value_enum, value_name = "KIND")]
    to: Kind,
    /// Where it goes: a file; of several parts as csv a folder with a table for each [default: NAME.csv, NAME.npz or NAME-csv]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: Box<ReadingFlags>,
}

/// Kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A table with a row for each step; a file for each part
    Csv,
    /// NumPy's arrays, all parts in one file
    Npz,
}

/// Runs `ernn data export`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let options = arguments.reading.options();
    arguments.reading.refuse_unused(&arguments.data, &options)?;
    if let Some(out) = &arguments.out {
        must_be_free(out, arguments.force)?;
    }
    let dataset = open(&arguments.data, &options)?;
    let (kind, ending) = match arguments.to {
        Kind::Csv => (FileKind::Csv, "csv"),
        Kind::Npz => (FileKind::Npz, "npz"),
    };
    let saved = data::save(&dataset, kind)?;
    let out = arguments.out.clone().unwrap_or_else(|| {
        let stem = file_stem(plain_name(&arguments.data));
        match saved.files.len() {
            1 => PathBuf::from(format!("{stem}.{ending}")),
            // A folder of a known name would hide the data set.
            _ => PathBuf::from(format!("{stem}-{ending}")),
        }
    });
    must_be_free(&out, arguments.force)?;
    saved
        .notes
        .iter()
        .for_each(|note| say(&format!("note: {}", names::line(note))));
    match &saved.files[..] {
        [(_, bytes)] => {
            must_end_in(&out, ending)?;
            write_atomically(&out, bytes)?;
        }
        _ => write_folder(&out, &saved.files)?,
    }
    say(&format!("read it with: ernn train {}", reading(&out, &saved.flags)));
    Ok(output::print(&names::path(&out))?)
}

/// The arguments that read it.
fn reading(out: &Path, flags: &[String]) -> String {
    let mut all = vec![names::path(out)];
    all.extend(flags.iter().map(names::line));
    all.join(" ")
}

/// A file's name tells its format when it is read.
fn must_end_in(out: &Path, ending: &str) -> Result<()> {
    if out.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending)) {
        return Ok(());
    }
    let expected = format!("a name that ends in .{ending}");
    Err(Failure::Library(Error::setting("--out", names::path(out), expected)))
}

fn must_be_free(out: &Path, force: bool) -> Result<()> {
    if out.symlink_metadata().is_err() || (force && out.is_file()) {
        return Ok(());
    }
    let expected = match out.is_dir() {
        true => "a new name: a folder is never replaced",
        false => "a new name (--force replaces a file)",
    };
    let found = format!("{}, which is there", names::path(out));
    Err(Failure::Library(Error::setting("--out", found, expected)))
}
