//! `ernn report`: results become one page and a Markdown file beside it.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use ernn::Error;
use ernn_lab::report::{self, GENERATOR};

use crate::failure::{Failure, Result};
use crate::output;

/// Arguments of `ernn report`.
#[derive(Args)]
#[command(after_help = NOTES)]
pub struct Arguments {
    /// Folders or files: results of `ernn reproduce`, run folders, comparisons
    #[arg(required = true, value_name = "RUNS")]
    runs: Vec<PathBuf>,
    /// The page; a Markdown file of the same name is written beside it
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "Results")]
    title: String,
}

const NOTES: &str = "\
The page is one file that needs nothing else: no script, no font, no network. An older report is replaced, any other file is not.";

/// Runs `ernn report`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let markdown = arguments.out.with_extension("md");
    if markdown == arguments.out {
        return Err(Failure::Usage(format!(
            "--out: found {}, expected a name that does not end in .md: the Markdown file has it",
            arguments.out.display()
        )));
    }
    [&arguments.out, &markdown]
        .into_iter()
        .try_for_each(|path| may_be_replaced(path, GENERATOR, "report"))?;
    let found = report::collect(&arguments.runs)?;
    let written = [
        (&arguments.out, report::html(&found, &arguments.title)),
        (&markdown, report::markdown(&found, &arguments.title)),
    ];
    for (path, text) in written {
        report::write(path, &text)?;
    }
    output::print(&format!("{}\n{}", arguments.out.display(), markdown.display()))?;
    Ok(())
}

/// Nothing, or an older page of the same kind.
pub(super) fn may_be_replaced(path: &Path, generator: &str, what: &str) -> Result<()> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    // A device has no end: it is not even looked into.
    let own = || fs::read_to_string(path).is_ok_and(|text| text.contains(generator));
    if path.is_file() && own() {
        return Ok(());
    }
    let found = format!("{}, which is no {what}", path.display());
    let expected = "a name that is free, or an older one";
    Err(Failure::Library(Error::setting("--out", found, expected)))
}
