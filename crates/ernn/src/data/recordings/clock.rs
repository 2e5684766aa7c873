//! Times of rows: numbers of some unit, or ISO 8601; what was meant is told from the cells and said.
//!
//! ```text
//! timestamp_ms, time (s)      the name says it
//! 1.7e18 1.7e15 1.7e12 1.7e9  counted since 1970 in ns, us, ms, s
//! 0 20 40 ...                 with --rate 50: milliseconds, as one unit alone gives about that rate
//! 2026-03-01T12:00:00.5+01:00, 2026-03-01 12:00:00    ISO 8601; without an offset all times are of one zone
//! ```

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::super::number::{Decimal, exact, shown};

/// What the numbers of a time column count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl TimeUnit {
    const ALL: [TimeUnit; 4] = [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns];

    /// Units in a second.
    pub(crate) fn per_second(self) -> f64 {
        match self {
            TimeUnit::S => 1.0,
            TimeUnit::Ms => 1e3,
            TimeUnit::Us => 1e6,
            TimeUnit::Ns => 1e9,
        }
    }

    fn name(self) -> &'static str {
        match self {
            TimeUnit::S => "seconds",
            TimeUnit::Ms => "milliseconds",
            TimeUnit::Us => "microseconds",
            TimeUnit::Ns => "nanoseconds",
        }
    }

    /// Decimals of a time as it is written: a microsecond at least.
    fn decimals(self) -> usize {
        match self {
            TimeUnit::S => 6,
            TimeUnit::Ms => 3,
            TimeUnit::Us | TimeUnit::Ns => 0,
        }
    }

    /// The unit that the last word of a column's name says.
    fn of_name(name: &str) -> Option<TimeUnit> {
        let name = name.to_lowercase();
        let word = name
            .rsplit(|letter: char| !letter.is_alphanumeric())
            .find(|word| !word.is_empty())?;
        match word {
            "s" | "sec" | "secs" | "second" | "seconds" => Some(TimeUnit::S),
            "ms" | "msec" | "millis" | "milliseconds" => Some(TimeUnit::Ms),
            "us" | "usec" | "micros" | "microseconds" => Some(TimeUnit::Us),
            "ns" | "nsec" | "nanos" | "nanoseconds" => Some(TimeUnit::Ns),
            _ => None,
        }
    }

    /// The unit in which this is a time since 1970, between 1973 and 2100 or so.
    pub(crate) fn since_1970(value: f64) -> Option<TimeUnit> {
        let is_of = |unit: &TimeUnit| (1e8..5e9).contains(&(value / unit.per_second()));
        Self::ALL.into_iter().find(is_of)
    }
}

/// How the times of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Numbers.
    Number,
    /// ISO 8601 with an offset from UTC.
    Instant,
    /// ISO 8601 without one.
    Civil,
}

/// Reads the cells of a time column: a number as it is, ISO 8601 in seconds since 1970. All cells have the form of the first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeReader {
    form: Option<Form>,
}

impl TimeReader {
    /// The time in a cell; else what was expected.
    pub fn read(&mut self, text: &[u8], decimal: Decimal) -> Result<f64, String> {
        let Some((time, form)) = parse(text, decimal) else {
            return Err("a time: a number, or ISO 8601 such as 2026-03-01T12:00:00.5".to_owned());
        };
        match self.form.get_or_insert(form) {
            first if *first == form => Ok(time),
            Form::Number => Err("a number as in the rows before".to_owned()),
            Form::Instant => Err("a time with an offset from UTC as in the rows before".to_owned()),
            Form::Civil => Err("a time without an offset from UTC as in the rows before".to_owned()),
        }
    }

    /// How times were written; none if there were none.
    pub fn form(&self) -> Option<Form> {
        self.form
    }
}

fn parse(text: &[u8], decimal: Decimal) -> Option<(f64, Form)> {
    if let Some(number) = exact(text, decimal) {
        return Some((number, Form::Number));
    }
    let text = std::str::from_utf8(text).ok()?.trim();
    let seconds = |stamp: Timestamp| stamp.as_nanosecond() as f64 / 1e9;
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return Some((seconds(stamp), Form::Instant));
    }
    let civil: DateTime = text.parse().ok()?;
    Some((seconds(TimeZone::UTC.to_timestamp(civil).ok()?), Form::Civil))
}

/// Whether a cell is a time in words.
pub(crate) fn is_iso(text: &[u8]) -> bool {
    matches!(parse(text, Decimal::Point), Some((_, Form::Instant | Form::Civil)))
}

/// The time of so many units of so many nanoseconds since 1970, as ISO 8601 says it: in UTC, or without an offset. None out of range.
pub(crate) fn iso(count: i64, unit: i64, utc: bool) -> Option<String> {
    let stamp = Timestamp::from_nanosecond(i128::from(count) * i128::from(unit)).ok()?;
    Some(match utc {
        true => stamp.to_string(),
        false => TimeZone::UTC.to_datetime(stamp).to_string(),
    })
}

/// What the times of some recordings mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    form: Form,
    unit: TimeUnit,
}

impl Clock {
    /// What times are, by what was said, the name of their column, a value of them, and how far apart they are; a sentence about it where
    /// it was guessed. Else what was found and what was expected.
    pub fn of(
        form: Form,
        said: Option<TimeUnit>,
        column: &str,
        first: f64,
        apart: Option<f64>,
        rate: Option<f64>,
    ) -> Result<(Clock, Option<String>), (String, String)> {
        let clock = |unit| Clock { form, unit };
        if form != Form::Number {
            return Ok((clock(TimeUnit::S), None));
        }
        if let Some(unit) = said.or_else(|| TimeUnit::of_name(column)) {
            return Ok((clock(unit), None));
        }
        if let Some(unit) = TimeUnit::since_1970(first) {
            let note = format!("times in {} are {} since 1970", shown(column.as_bytes()), unit.name());
            return Ok((clock(unit), Some(note)));
        }
        let near = |unit: &TimeUnit| {
            let found = unit.per_second() / apart?;
            (rate? / 3.0..rate? * 3.0).contains(&found).then_some(())
        };
        let fitting: Vec<TimeUnit> = TimeUnit::ALL.into_iter().filter(|unit| near(unit).is_some()).collect();
        let between = apart.filter(|apart| (1e-6..1.0).contains(apart)).map(|_| TimeUnit::S);
        let unit = fitting.first().copied().or(between.filter(|_| rate.is_none()));
        let Some(unit) = unit else {
            let apart = apart.map_or_else(String::new, |apart| format!(", {apart} from one to the next"));
            let found = format!("numbers from {first}{apart}, in no unit that their column names");
            return Err((
                found,
                "a word on what they count: --time-unit s, ms, us or ns".to_owned(),
            ));
        };
        Ok((
            clock(unit),
            Some(format!("times in {} are {}", shown(column.as_bytes()), unit.name())),
        ))
    }

    /// Seconds in a time as it was read.
    pub fn seconds(&self, time: f64) -> f64 {
        time / self.unit.per_second()
    }

    /// The time as it was read, `seconds` behind `start`, in the way in which the column writes it.
    pub fn text(&self, start: f64, seconds: f64) -> String {
        if self.form == Form::Number {
            return trimmed(start + seconds * self.unit.per_second(), self.unit.decimals());
        }
        let microseconds = ((start + seconds) * 1e6).round();
        match Timestamp::from_microsecond(microseconds as i64) {
            Ok(stamp) if self.form == Form::Civil => stamp.to_string().trim_end_matches('Z').to_owned(),
            Ok(stamp) => stamp.to_string(),
            Err(_) => trimmed(start + seconds, 6),
        }
    }
}

/// A number with so many decimals, without zeros behind the last.
pub(crate) fn trimmed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match decimals {
        0 => text,
        _ => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(column: &str, first: f64, apart: f64, rate: Option<f64>) -> Result<TimeUnit, (String, String)> {
        Clock::of(Form::Number, None, column, first, Some(apart), rate).map(|(clock, _)| clock.unit)
    }

    #[test]
    fn units_are_told_by_name_by_size_and_by_rate() {
        assert_eq!(number("timestamp_ms", 0.0, 20.0, None), Ok(TimeUnit::Ms));
        assert_eq!(number("Time (s)", 0.0, 20.0, None), Ok(TimeUnit::S));
        for (size, unit) in [
            (1.0, TimeUnit::S),
            (1e3, TimeUnit::Ms),
            (1e6, TimeUnit::Us),
            (1e9, TimeUnit::Ns),
        ] {
            assert_eq!(number("t", 1.7e9 * size, 0.02 * size, None), Ok(unit));
        }
        assert_eq!(number("t", 0.0, 20.0, Some(50.0)), Ok(TimeUnit::Ms));
        assert_eq!(number("t", 0.0, 0.02, None), Ok(TimeUnit::S));
        let (found, expected) = number("t", 5.0, 20.0, None).unwrap_err();
        assert!(
            found.contains("numbers from 5, 20 from one") && expected.contains("--time-unit"),
            "{found}"
        );
        // 20 s, 20 ms, 20 us: none is near one step an hour.
        assert!(number("t", 0.0, 20.0, Some(0.5 / 3600.0)).is_err());
    }

    #[test]
    fn iso_8601_is_read_and_written() {
        let mut reader = TimeReader::default();
        let read = |reader: &mut TimeReader, text: &str| reader.read(text.as_bytes(), Decimal::Point);
        let a = read(&mut reader, "2026-03-01T12:00:00.5+01:00").unwrap();
        let b = read(&mut reader, "2026-03-01T11:00:01Z").unwrap();
        assert_eq!(b - a, 0.5);
        let found = read(&mut reader, "2026-03-01 12:00:00").unwrap_err();
        assert!(found.contains("with an offset"), "{found}");
        let (clock, note) = Clock::of(Form::Instant, None, "t", a, Some(0.5), None).unwrap();
        assert_eq!(
            (clock.text(a, 0.25), note),
            ("2026-03-01T11:00:00.75Z".to_owned(), None)
        );
        let mut civil = TimeReader::default();
        let a = read(&mut civil, "2026-03-01 12:00:00").unwrap();
        let (clock, _) = Clock::of(Form::Civil, None, "t", a, Some(0.5), None).unwrap();
        assert_eq!(clock.text(a, 90.0), "2026-03-01T12:01:30");
        for text in ["noon", "", "12:00", "2026-13-01T00:00:00Z"] {
            assert!(read(&mut TimeReader::default(), text).is_err(), "{text}");
        }
        assert!(is_iso(b"2026-03-01T12:00:00Z") && !is_iso(b"17") && !is_iso(b"walk"));
    }

    #[test]
    fn numbers_are_written_in_their_unit() {
        let clock = |unit| Clock {
            form: Form::Number,
            unit,
        };
        assert_eq!(clock(TimeUnit::Ms).text(1_700_000_000_000.0, 2.56), "1700000002560");
        assert_eq!(clock(TimeUnit::S).text(0.0, 2.56), "2.56");
        assert_eq!(clock(TimeUnit::Us).text(5.0, 1e-3), "1005");
    }
}
