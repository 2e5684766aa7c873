//! `ernn completions`: what a shell needs to complete the command's words.

use clap::Args;
use clap_complete::Shell;

use crate::failure::Result;
use crate::output;

/// Arguments of `ernn completions`.
#[derive(Args)]
#[command(after_help = NOTES)]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const NOTES: &str = "\
The script goes to stdout. For bash:

  ernn completions bash > ~/.local/share/bash-completion/completions/ernn";

/// Runs `ernn completions`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command(), "ernn", &mut script);
    Ok(output::print_exactly(String::from_utf8_lossy(&script).trim_end())?)
}
