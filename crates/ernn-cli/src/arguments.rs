//! The command line becomes arguments: numbers may be negative, names may have capital letters, and a wrong flag is answered with the
//! one that was probably meant.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, ArgMatches, Command};
use ernn::data::similar;
use ernn::names;
use ernn::train::alias;

/// Reads the arguments of this process, or says what is wrong with them and ends it.
pub fn matches(command: Command) -> ArgMatches {
    let mut command = lenient(command);
    let arguments = joined(std::env::args_os());
    let matches = command.try_get_matches_from_mut(&arguments);
    matches
        .unwrap_or_else(|error| with_expectation(with_hint(error, &command, &arguments), &command, &arguments).exit())
}

/// Negative numbers with a signed exponent, which the parser takes for a heap of short flags, joined to the flag before them.
fn joined(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let is_negative = |text: &str| text.starts_with('-') && text.contains("e-") && text.parse::<f64>().is_ok();
    let is_flag = |text: &str| text.starts_with("--") && text.len() > 2 && !text.contains('=');
    let mut all: Vec<OsString> = Vec::new();
    for argument in arguments {
        match all.last_mut().filter(|flag| flag.to_str().is_some_and(is_flag)) {
            Some(flag) if argument.to_str().is_some_and(is_negative) => {
                flag.push("=");
                flag.push(argument);
            }
            _ => all.push(argument),
        }
    }
    all
}

fn lenient(command: Command) -> Command {
    let arg = |arg: Arg| match (arg.get_action().takes_values(), arg.is_positional()) {
        (false, _) => arg,
        (true, true) => arg.ignore_case(true),
        // `-0.01` is the value of a flag; alone it would be no file.
        (true, false) => arg.ignore_case(true).allow_negative_numbers(true),
    };
    command.mut_args(arg).mut_subcommands(lenient)
}

/// The flag that stands for what someone wrote, among those that there are.
fn meant<'a>(written: &str, flags: &[&'a str]) -> Option<&'a str> {
    let written = written.to_lowercase().replace('_', "-");
    let ours = alias(&written).unwrap_or(&written);
    let known = flags.iter().copied().find(|flag| *flag == ours);
    known.or_else(|| similar(&written, flags.iter().copied()).first().copied())
}

/// A value that is no number, or none of those that a flag takes: what was found and what was expected, in our words.
fn with_expectation(error: Error, command: &Command, arguments: &[OsString]) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (Some(flag), Some(found)) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue)) else {
        return error;
    };
    let Some(expected) = error.source().and_then(expected_number) else {
        return error;
    };
    let flag = flag.split(' ').next().unwrap_or_default();
    let text = format!("{flag}: found {}, expected {expected}", names::line(found));
    Error::raw(error.kind(), text + "\n").with_cmd(addressed(command, arguments))
}

/// What a reader of numbers wants, told from its error; none of another error.
fn expected_number(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref::<ParseIntError>() {
        return Some(match error.kind() {
            IntErrorKind::PosOverflow => "a smaller whole number".to_string(),
            _ => "a whole number, 0 or more".to_string(),
        });
    }
    if error.is::<ParseFloatError>() {
        return Some("a number".to_string());
    }
    // `-3 is not in 0..=9`, of the parser of arguments.
    let text = error.to_string();
    let (_, range) = text.split_once(" is not in ")?;
    let (least, most) = range
        .split_once("..")
        .map(|(least, most)| (least, most.trim_start_matches('=')))?;
    let unbounded = [i64::MAX.to_string(), u64::MAX.to_string(), String::new()];
    Some(match unbounded.iter().any(|bound| bound == most) {
        true => format!("a whole number, {least} or more"),
        false => format!("a whole number from {least} to {most}"),
    })
}

/// The error with the flag that was probably meant.
fn with_hint(mut error: Error, command: &Command, arguments: &[OsString]) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(written)) = error.get(ContextKind::InvalidArg).cloned() else {
        return error;
    };
    let name = written.trim_start_matches('-').split('=').next().unwrap_or_default();
    // `-lr 0.01` is taken for the short flag `-l`.
    let typed = arguments
        .iter()
        .filter_map(|argument| argument.to_str()?.strip_prefix('-'));
    let mut typed = typed.filter(|argument| !argument.starts_with('-'));
    let name = match name.len() {
        1 => typed.find(|argument| argument.starts_with(name)).unwrap_or(name),
        _ => name,
    };
    let command = addressed(command, arguments);
    let flags: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    if let Some(flag) = meant(name, &flags) {
        // clap's own guess takes letters alone into account.
        error.remove(ContextKind::Suggested);
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{flag}")));
    }
    error
}

/// The subcommand that the arguments speak to.
fn addressed<'a>(mut command: &'a Command, arguments: &[OsString]) -> &'a Command {
    for argument in arguments.iter().skip(1) {
        if let Some(below) = argument.to_str().and_then(|name| command.find_subcommand(name)) {
            command = below;
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_other_programs_are_understood() {
        let flags = [
            "learning-rate",
            "hidden",
            "batch-size",
            "layers",
            "weight-decay",
            "iterations",
            "halve-every",
        ];
        for (written, flag) in [
            ("lr", "learning-rate"),
            ("learning_rate", "learning-rate"),
            ("Hidden-Size", "hidden"),
            ("bs", "batch-size"),
            ("num-layers", "layers"),
            ("hiden", "hidden"),
            ("n_iter", "iterations"),
        ] {
            assert_eq!(meant(written, &flags), Some(flag), "{written}");
        }
        assert_eq!(meant("quiet", &flags), None);
        // A flag that this subcommand does not have is not named.
        assert_eq!(meant("lr", &["hidden"]), None);
    }

    #[test]
    fn every_alias_stands_for_a_flag_and_is_none() {
        let command = crate::command();
        let flags: Vec<String> = command
            .get_subcommands()
            .flat_map(|command| command.get_arguments().filter_map(Arg::get_long).map(String::from))
            .collect();
        let is_flag = |name: &str| flags.iter().any(|flag| flag == name);
        for (flag, aliases) in ernn::train::ALIASES {
            assert!(is_flag(flag), "{flag}");
            assert!(aliases.iter().all(|alias| !is_flag(alias)), "{aliases:?}");
        }
    }
}
