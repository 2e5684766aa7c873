//! `ernn man`: manual pages, made of the help texts.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use ernn::Error;
use ernn_lab::report;

use crate::failure::{Failure, Result};
use crate::output;

/// Arguments of `ernn man`.
#[derive(Args)]
#[command(after_help = NOTES)]
pub struct Arguments {
    /// Folder for the pages, such as ~/.local/share/man/man1 [default: the main page goes to stdout]
    dir: Option<PathBuf>,
}

const NOTES: &str = "\
Each command has a page: ernn.1, ernn-train.1 and so on. Older pages of this command are replaced, other files are not. To read \
one without installing it: `ernn man | man -l -`.";

/// Runs `ernn man`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut command = crate::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.dir else {
        let page = page(&command)?;
        return Ok(output::print_exactly(page.trim_end())?);
    };
    let mut pages = Vec::new();
    collect(&command, &mut pages);
    for command in &pages {
        may_be_replaced(&folder.join(file_name(command)))?;
    }
    for command in &pages {
        let path = folder.join(file_name(command));
        report::write(&path, &page(command)?)?;
        output::print_exactly(&path.display().to_string())?;
    }
    Ok(())
}

/// A command and those below it.
fn collect<'a>(command: &'a Command, pages: &mut Vec<&'a Command>) {
    pages.push(command);
    command.get_subcommands().for_each(|below| collect(below, pages));
}

fn file_name(command: &Command) -> String {
    Man::new(command.clone()).get_filename()
}

fn page(command: &Command) -> Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Nothing, or an older page of this command.
fn may_be_replaced(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let own = || fs::read_to_string(path).is_ok_and(|text| text.contains(".TH ernn"));
    if path.is_file() && own() {
        return Ok(());
    }
    let found = format!("{}, which is no page of this command", path.display());
    let expected = "a name that is free, or an older page";
    Err(Failure::Library(Error::setting("DIR", found, expected)))
}
