//! Printing: results to stdout, everything else to stderr, neither with a panic when nobody listens.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use ernn::cell::Equilibria;
use ernn::evaluate::{Evaluation, Segments, Unknown, figures};
use ernn::names::{self, counted};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::classes;
use crate::labels;
use crate::table::columns_of;
use crate::terminal::{self, Look, Stream};

/// Prints a result that people read; a terminal gets its long lines broken between words.
pub fn print(text: &str) -> io::Result<()> {
    let text = shown(text);
    match Stream::Out.is_terminal() {
        true => print_exactly(&wrapped(&text, terminal::width())),
        false => print_exactly(&text),
    }
}

/// Prints a result that programs read.
pub fn print_exactly(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

/// Prints one JSON object, from which every character of a name can be read back.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    print_exactly(&names::json(&serde_json::to_string_pretty(value)?))
}

/// Text whose names command no terminal. Colors and weights are this command's own: names lost their escapes where they were put in.
fn shown(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut shown = names::lines(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.find(|letter: char| !letter.is_ascii_digit() && letter != ';');
        let opening = match end {
            Some(end) if piece[end..].starts_with('m') => "\u{1b}[",
            _ => "\\u{1b}[",
        };
        shown += opening;
        shown += &names::lines(piece);
    }
    shown
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Errors alone.
    Quiet,
    /// What a person wants to know.
    Normal,
    /// Settings and times as well.
    Verbose,
}

/// One for the process: set once, before anything is said.
static LEVEL: AtomicU8 = AtomicU8::new(Level::Normal as u8);

/// Says how much is said from now on.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Whether things of this level are said.
pub fn says(level: Level) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// Says something beside the result, on stderr, unless `--quiet` asked for silence.
pub fn say(text: &str) {
    if says(Level::Normal) {
        complain(text);
    }
}

/// Says what only `--verbose` asks for.
pub fn say_more(text: &str) {
    if says(Level::Verbose) {
        complain(text);
    }
}

/// Says what nobody can turn off: errors.
pub fn complain(text: &str) {
    let text = match Stream::Err.is_terminal() {
        true => wrapped(text, terminal::width()),
        false => text.to_string(),
    };
    let text = with_looks(&text, Stream::Err.has_colors());
    // A closed stderr is nobody's loss.
    let write = || {
        let _ = writeln!(io::stderr(), "{}", shown(&text));
    };
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// The line that changes on a terminal, where there is one: what is said stands above it, whoever says it.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// The line that changes from now on.
pub fn set_bar(bar: Option<ProgressBar>) {
    *BAR.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// Broken between words, so that a terminal does not break within them. What has no blank stays whole: a path is copied.
fn wrapped(text: &str, columns: usize) -> String {
    let lines = text.split('\n').map(|line| {
        if columns_of(line) <= columns {
            return line.to_string();
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut broken = " ".repeat(indent);
        let mut used = indent;
        for (number, word) in line[indent..].split(' ').enumerate() {
            let width = columns_of(word);
            if number > 0 && used + 1 + width > columns {
                used = indent + 2;
                broken += &format!("\n{}", " ".repeat(used));
            } else if number > 0 {
                broken.push(' ');
                used += 1;
            }
            broken += word;
            used += width;
        }
        broken
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The kind of a message stands out.
fn with_looks(text: &str, colors: bool) -> String {
    let kinds = [
        ("error:", Look::Error),
        ("warning:", Look::Warning),
        ("note:", Look::Hint),
        ("hint:", Look::Hint),
    ];
    match kinds
        .iter()
        .find_map(|&(kind, look)| Some((kind, look, text.strip_prefix(kind)?)))
    {
        Some((kind, look, rest)) => format!("{}{rest}", look.paint(kind, colors)),
        None => text.to_string(),
    }
}

/// Does some work; `--verbose` says how long it took.
pub fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    say_more(&format!("{what}: {:.3} s", began.elapsed().as_secs_f64()));
    done
}

/// The numbers of an evaluation, for people.
pub fn evaluation(part: &str, found: &Evaluation) -> String {
    let mut text = without_equilibria(part, found);
    if let Some(equilibria) = &found.equilibria {
        text += &format!("\n\n{}", self::equilibria(equilibria));
    }
    text
}

/// What became of runs of steps with one class.
fn segments(found: &Segments) -> String {
    let [tenth, quarter, half] = found.f1.map(percent);
    let an_hour = |count: usize| {
        let hours = found.hours.filter(|hours| *hours > 0.0);
        hours.map_or_else(String::new, |hours| {
            format!(" ({} an hour)", figures(count as f64 / hours))
        })
    };
    format!(
        "segments: F1 {tenth}, {quarter}, {half} at overlaps of 10, 25, 50 %\n\
         at 50 %: {} of {} found, {} missed{}, {} said that are not there{}",
        grouped(found.found[2]),
        grouped(found.segments),
        grouped(found.missed()),
        an_hour(found.missed()),
        grouped(found.false_alarms()),
        an_hour(found.false_alarms())
    )
}

/// How equilibria were found, in a line.
pub fn equilibria(found: &Equilibria) -> String {
    let missed = match found.not_found {
        0 => "all found".to_string(),
        _ => format!("{} not found", percent(found.share_not_found())),
    };
    format!(
        "equilibria: {}, {missed}, {:.1} iterations on average (at most {}), largest residual {:.1e}",
        counted(found.steps as usize, "step"),
        found.mean_iterations(),
        found.most_iterations,
        found.largest_residual,
    )
}

fn without_equilibria(part: &str, found: &Evaluation) -> String {
    if let Some(labels) = &found.labels {
        let colors = Stream::Out.has_colors();
        return format!(
            "{part} ({}): {}, loss {:.4}\n{}",
            counted(found.examples, "sequence"),
            Look::Bold.paint(&score(found), colors),
            found.loss,
            labels::text(labels, colors)
        );
    }
    let Some(balanced) = found.balanced_accuracy else {
        return of_steps_or_numbers(part, found);
    };
    let colors = Stream::Out.has_colors();
    let macro_f1 = found
        .macro_f1
        .map_or_else(String::new, |f1| format!(", macro F1 {}", percent(f1)));
    let calibration = found.reliability.as_ref().map_or_else(String::new, |found| {
        format!(", calibration error {}", percent(found.error))
    });
    let unknown = found
        .unknown
        .as_ref()
        .map_or_else(String::new, |own| unknown(own, found.examples));
    let (what, segments) = match &found.segments {
        None => ("sequence", String::new()),
        Some(segments) => ("step", format!("\n{}", self::segments(segments))),
    };
    format!(
        "{part} ({}): {}, loss {:.4}\nbalanced accuracy {}{macro_f1}{calibration}{unknown}{segments}\n\n{}",
        counted(found.examples, what),
        Look::Bold.paint(&score(found), colors),
        found.loss,
        percent(balanced),
        classes::text(found, colors),
    )
}

/// What became of answers where some are "unknown".
fn unknown(own: &Unknown, examples: usize) -> String {
    let others = own.accuracy.map_or_else(String::new, |right| {
        format!("; {} of the others are right", percent(right))
    });
    format!(
        "\nunknown (probability below {}): {} of {} answers{others}",
        percent(own.below),
        grouped(own.examples),
        grouped(examples)
    )
}

fn of_steps_or_numbers(part: &str, found: &Evaluation) -> String {
    let score = score(found);
    let examples = |thing: &str| counted(found.examples, thing);
    match (found.perplexity, found.accuracy) {
        (Some(_), Some(accuracy)) => {
            let (loss, right) = (found.loss, percent(accuracy));
            format!(
                "{part} ({}): {score}, loss {loss:.4}, {right} of the next tokens right",
                examples("token")
            )
        }
        (_, Some(_)) => format!("{part} ({}): {score}, loss {:.4}", examples("step"), found.loss),
        _ => match &found.numbers {
            Some(numbers) => {
                let thing = if numbers.of_steps { "step" } else { "sequence" };
                format!("{part} ({}): {}", examples(thing), crate::numbers::text(numbers))
            }
            None => format!("{part} ({}): {score}", examples("sequence")),
        },
    }
}

/// `accuracy 97.3 %`, or what else the task is judged by.
pub fn score(found: &Evaluation) -> String {
    let (metric, value) = found.score();
    metric.phrase(value)
}

/// `2,467 parameters, 9.6 KB`, or with zeros among them `2,467 parameters, 600 nonzero, 2.3 KB`: 4 bytes for each that is not 0.
pub fn size(parameters: usize, nonzero: usize) -> String {
    let share = match parameters - nonzero {
        0 => String::new(),
        _ => format!(", {} nonzero", grouped(nonzero)),
    };
    format!("{} parameters{share}, {}", grouped(parameters), bytes(4 * nonzero))
}

/// A probability with so many significant digits, as it stands in CSV and JSON alike.
pub fn significant(number: f64, digits: usize) -> serde_json::Value {
    let rounded = format!("{number:.*e}", digits.saturating_sub(1));
    rounded.parse::<f64>().unwrap_or(number).into()
}

/// `97.3 %`.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// `12,345`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1.2 KB`, 1 KB being 1,024 bytes.
pub fn bytes(count: usize) -> String {
    let scaled = count as f64 / 1024.0;
    match count {
        0..1024 => format!("{count} bytes"),
        1024..1_048_576 => format!("{scaled:.1} KB"),
        _ => format!("{:.1} MB", scaled / 1024.0),
    }
}

/// `3.2 s`, `4 min 05 s`.
pub fn seconds(time: f64) -> String {
    if time < 60.0 {
        return format!("{time:.1} s");
    }
    let whole = time.round() as u64;
    match whole / 3600 {
        0 => format!("{} min {:02} s", whole / 60, whole % 60),
        hours => format!("{hours} h {:02} min", whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colors_reach_a_terminal() {
        assert_eq!(shown("\u{1b}[1;31mred\u{1b}[0m\n\tb"), "\u{1b}[1;31mred\u{1b}[0m\n\tb");
        assert_eq!(
            shown("a\u{1b}[2Jb\u{1b}]0;c\u{7}\u{1b}["),
            "a\\u{1b}[2Jb\\u{1b}]0;c\\u{7}\\u{1b}["
        );
    }

    #[test]
    fn probabilities_have_the_digits_asked_for() {
        let text = |number, digits| significant(number, digits).to_string();
        assert_eq!(text(0.123_456, 4), "0.1235");
        assert_eq!(text(0.999_96, 4), "1.0");
        assert_eq!(text(1.234_56e-30, 4), "1.235e-30");
        assert_eq!(text(0.25, 4), "0.25");
        assert_eq!(text(0.1 + 0.2, 17), "0.30000000000000004");
        assert_eq!(text(f64::NAN, 4), "null");
    }

    #[test]
    fn messages_break_between_words() {
        assert_eq!(
            wrapped("error: a file is missing", 12),
            "error: a\n  file is\n  missing"
        );
        assert_eq!(wrapped("a: b", 12), "a: b");
        assert_eq!(wrapped("  one two three", 10), "  one two\n    three");
        assert_eq!(wrapped("see /a/path/that/is/long", 10), "see\n  /a/path/that/is/long");
    }

    #[test]
    fn the_kind_of_a_message_stands_out() {
        assert_eq!(with_looks("warning: a", false), "warning: a");
        assert_eq!(with_looks("warning: a", true), "\u{1b}[33mwarning:\u{1b}[0m a");
        assert_eq!(with_looks("epoch 1", true), "epoch 1");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([12, 2048, 3 << 20].map(bytes), ["12 bytes", "2.0 KB", "3.0 MB"]);
        assert_eq!(size(2467, 2467), "2,467 parameters, 9.6 KB");
        assert_eq!(size(2467, 600), "2,467 parameters, 600 nonzero, 2.3 KB");
        assert_eq!(
            [1.25, 245.0, 7260.0].map(seconds),
            ["1.2 s", "4 min 05 s", "2 h 01 min"]
        );
    }
}
