//! Printing: results to stdout, everything else to stderr, neither with a panic when nobody listens.

use std::io::{self, Write};

use ernn::cell::Equilibria;
use ernn::evaluate::Evaluation;
use ernn::names;
use serde::Serialize;

/// Prints a result for people.
pub fn print(text: &str) -> io::Result<()> {
    print_as_it_is(&shown(text))
}

fn print_as_it_is(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

/// Prints one JSON object, from which every character of a name can be read back.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    print_as_it_is(&names::json(&serde_json::to_string_pretty(value)?))
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

/// Says something beside the result, on stderr.
pub fn say(text: &str) {
    // A closed stderr is nobody's loss.
    let _ = writeln!(io::stderr(), "{}", shown(text));
}

/// The numbers of an evaluation, for people.
pub fn evaluation(part: &str, found: &Evaluation) -> String {
    let mut text = without_equilibria(part, found);
    if let Some(equilibria) = &found.equilibria {
        text += &format!("\n\n{}", self::equilibria(equilibria));
    }
    text
}

/// How equilibria were found, in a line.
pub fn equilibria(found: &Equilibria) -> String {
    let missed = match found.not_found {
        0 => "all found".to_string(),
        _ => format!("{} not found", percent(found.share_not_found())),
    };
    format!(
        "equilibria: {} steps, {missed}, {:.1} iterations on average (at most {}), largest residual {:.1e}",
        grouped(found.steps as usize),
        found.mean_iterations(),
        found.most_iterations,
        found.largest_residual,
    )
}

fn without_equilibria(part: &str, found: &Evaluation) -> String {
    let Some(balanced) = found.balanced_accuracy else {
        return of_steps_or_numbers(part, found);
    };
    let mut text = format!(
        "{part} ({} sequences): {}, balanced accuracy {}, loss {:.4}\n",
        grouped(found.examples),
        score(found),
        percent(balanced),
        found.loss,
    );
    let names: Vec<String> = found.per_class.iter().map(|class| names::line(&class.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(5);
    text += &format!("\n  {:<width$}  sequences   recall  precision", "class");
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_string(), percent);
    for (name, class) in names.iter().zip(&found.per_class) {
        let (recall, precision) = (share(class.recall), share(class.precision));
        text += &format!("\n  {name:<width$}  {:>9}  {recall:>7}  {precision:>9}", class.support);
    }
    text
}

fn of_steps_or_numbers(part: &str, found: &Evaluation) -> String {
    let (examples, score) = (grouped(found.examples), score(found));
    match (found.perplexity, found.accuracy) {
        (Some(_), Some(accuracy)) => {
            let (loss, right) = (found.loss, percent(accuracy));
            format!("{part} ({examples} tokens): {score}, loss {loss:.4}, {right} of the next tokens right")
        }
        (_, Some(_)) => format!("{part} ({examples} steps): {score}, loss {:.4}", found.loss),
        _ => format!("{part} ({examples} sequences): {score}"),
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
