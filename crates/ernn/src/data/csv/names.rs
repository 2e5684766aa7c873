//! What the names of columns say: time, persons, identifiers; and whether they are the steps of one sequence.

/// What a column is by its name, when it is no value to learn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sound {
    /// When a row was measured.
    Time,
    /// Whom it was measured on.
    Person,
    /// Which thing it belongs to: a number, a file.
    Identifier,
    /// A name that has a meaning here, which a flag has given to another column.
    Reserved,
}

/// Names of columns that have a meaning in every table.
pub(super) const RESERVED: [&str; 4] = ["series", "step", "label", "group"];
const UNITS: [&str; 18] = [
    "s",
    "ms",
    "us",
    "ns",
    "sec",
    "secs",
    "second",
    "seconds",
    "millis",
    "milliseconds",
    "min",
    "h",
    "utc",
    "local",
    "stamp",
    "unix",
    "epoch",
    "index",
];
const PERSONS: [&str; 6] = ["person", "subject", "user", "participant", "patient", "speaker"];
const NUMBERS: [&str; 7] = ["id", "ids", "name", "nr", "no", "number", "code"];
const IDENTIFIERS: [&str; 9] = [
    "id", "uid", "uuid", "guid", "file", "filename", "filepath", "index", "path",
];

/// What a name sounds like; nothing for most.
pub(super) fn sound(name: &str) -> Option<Sound> {
    if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
        return Some(Sound::Reserved);
    }
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (&first, rest) = words.split_first()?;
    let last = rest.last().copied().unwrap_or(first);
    let is_stamp = |word: &str| word.starts_with("timestamp") || word.starts_with("date");
    // T is a temperature.
    let is_clock = first == "time" || (first == "t" && name.starts_with('t'));
    if is_stamp(first) || is_stamp(last) || (is_clock && rest.iter().all(|word| UNITS.contains(word))) {
        return Some(Sound::Time);
    }
    if PERSONS.contains(&first) && rest.iter().all(|word| NUMBERS.contains(word)) {
        return Some(Sound::Person);
    }
    let identifies = match rest {
        [] => IDENTIFIERS.contains(&first),
        _ => matches!(last, "id" | "uid" | "uuid" | "guid") || (first == "file" && last == "name"),
    };
    identifies.then_some(Sound::Identifier)
}

/// The words of a name in lower case: `sampleId` and `sample_id` are `sample`, `id`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower_before = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && lower_before) {
            words.push(String::new());
        }
        lower_before = letter.is_lowercase();
        if letter.is_alphanumeric() {
            words
                .last_mut()
                .into_iter()
                .for_each(|word| word.extend(letter.to_lowercase()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Which names are steps of one sequence: numbers, or one beginning with numbers behind it, that rise.
///
/// Where several beginnings have numbers, the one with the most names counts.
pub(super) fn steps(names: &[&str]) -> Vec<bool> {
    let beginnings: Vec<Option<&str>> = names.iter().map(|name| beginning(name)).collect();
    let often = |wanted: Option<&str>| beginnings.iter().filter(|&&other| other == wanted).count();
    let best = beginnings
        .iter()
        .flatten()
        .max_by_key(|&&beginning| often(Some(beginning)));
    let is_step: Vec<bool> = beginnings
        .iter()
        .map(|own| own.is_some() && own.as_ref() == best)
        .collect();
    let numbers: Vec<f64> = names
        .iter()
        .zip(&is_step)
        .filter(|&(_, &is_step)| is_step)
        .map(|(name, _)| number(name, best.map_or(0, |beginning| beginning.len())))
        .collect();
    if numbers.windows(2).all(|pair| pair[0] < pair[1]) {
        is_step
    } else {
        vec![false; names.len()]
    }
}

/// What stands before the number of a name; nothing before a name that is a number; none if it has no number at its end.
fn beginning(name: &str) -> Option<&str> {
    if plain_number(name).is_some() {
        return Some("");
    }
    let start = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    (start.len() < name.len()).then_some(start)
}

fn number(name: &str, beginning: usize) -> f64 {
    plain_number(name)
        .or_else(|| name[beginning..].parse().ok())
        .unwrap_or(f64::NAN)
}

/// A name that is a number, with a point or a comma in it.
pub(super) fn plain_number(name: &str) -> Option<f64> {
    super::super::number::exact(name.as_bytes(), super::super::number::Decimal::Comma)
}

/// A name as it can stand in a command.
pub(super) fn quoted(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-.:+%@/".contains(letter);
    if !name.is_empty() && name.chars().all(plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_sound_like_something_else() {
        for (names, expected) in [
            (
                &[
                    "timestamp_ms",
                    "Timestamp",
                    "time",
                    "Time (s)",
                    "date",
                    "t",
                    "DateTime",
                    "event_timestamp",
                    "time_ms",
                ][..],
                Some(Sound::Time),
            ),
            (
                &["person", "Subject", "user_id", "subject_id", "patientId"],
                Some(Sound::Person),
            ),
            (
                &["id", "ID", "sample_id", "sampleId", "file", "file_name", "uuid"],
                Some(Sound::Identifier),
            ),
            (&["Label", "step"], Some(Sound::Reserved)),
            (
                &[
                    "x",
                    "ax",
                    "temperature",
                    "humidity",
                    "steps",
                    "grid",
                    "acc_time_x",
                    "response_time",
                    "candidate",
                    "te",
                    "T",
                    "",
                    "0",
                ],
                None,
            ),
        ] {
            for name in names {
                assert_eq!(sound(name), expected, "{name}");
            }
        }
    }

    #[test]
    fn steps_are_numbers_that_rise() {
        let all = |names: &[&str]| steps(names).into_iter().all(|is_step| is_step);
        for names in [
            &["0", "1", "2"][..],
            &["0.0", "0.1"],
            &["t0", "t1", "t10"],
            &["step_1", "step_2"],
            &["x1"],
            &["0,5", "1,0"],
        ] {
            assert!(all(names), "{names:?}");
        }
        for names in [
            &["ax", "ay"][..],
            &["t1", "t0"],
            &["x", "y1"],
            &["a1", "b2"],
            &["3", "2"],
        ] {
            assert!(!all(names), "{names:?}");
        }
        assert_eq!(steps(&["id", "t0", "t1"]), [false, true, true]);
    }

    #[test]
    fn names_in_commands() {
        assert_eq!(quoted("acc_x"), "acc_x");
        assert_eq!(quoted("Time (s)"), "'Time (s)'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
