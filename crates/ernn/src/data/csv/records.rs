//! Records of a table: fields between separators, as RFC 4180 has them, each record with the line that it begins on.
//!
//! ```text
//! a,"b, ""c""",d      ->  a | b, "c" | d
//! ```
//!
//! Lines end with LF, CRLF or CR; blank lines are no records. A quote means something at the start of a field alone. What is in
//! memory is one record. We do this on our own because a quote that never closes has to be found with its line.

use std::io::{self, BufRead};

/// How fields are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::data) enum Separator {
    /// This byte.
    Byte(u8),
    /// Any blanks; those at the ends of a line are none.
    Blanks,
}

impl Separator {
    fn is(self, byte: u8) -> bool {
        match self {
            Separator::Byte(own) => byte == own,
            Separator::Blanks => matches!(byte, b' ' | b'\t'),
        }
    }
}

/// Why there is no next record.
#[derive(Debug)]
pub(in crate::data) enum Broken {
    /// The source.
    Source(io::Error),
    /// The end came inside quotes that were opened on this line.
    Quote(usize),
}

/// Reads records one after the other.
pub(in crate::data) struct Records<R> {
    source: R,
    splitter: Splitter,
}

impl<R: BufRead> Records<R> {
    pub fn new(source: R, separator: Separator) -> Records<R> {
        Records {
            source,
            splitter: Splitter::new(separator),
        }
    }

    /// Reads the next record; false at the end.
    pub fn advance(&mut self) -> Result<bool, Broken> {
        self.splitter.clear();
        loop {
            let bytes = match self.source.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                outcome => outcome.map_err(Broken::Source)?,
            };
            if bytes.is_empty() {
                return self.splitter.finish();
            }
            let (used, done) = self.splitter.feed(bytes);
            self.source.consume(used);
            if done {
                return Ok(true);
            }
        }
    }

    /// Fields of the current record.
    pub fn len(&self) -> usize {
        self.splitter.ends.len()
    }

    /// A field of the current record without blanks around it; nothing where there is none.
    pub fn field(&self, index: usize) -> &[u8] {
        self.whole_field(index).trim_ascii()
    }

    /// A field of the current record as it stands.
    pub fn whole_field(&self, index: usize) -> &[u8] {
        let Some(&end) = self.splitter.ends.get(index) else {
            return b"";
        };
        let start = index.checked_sub(1).map_or(0, |before| self.splitter.ends[before]);
        &self.splitter.fields[start..end]
    }

    /// The line, from 1, on which the current record begins.
    pub fn line(&self) -> usize {
        self.splitter.line
    }

    /// Fields of the current record that go over a line end, each with the lines on which its quotes open and close.
    pub fn divided(&self) -> &[Divided] {
        &self.splitter.divided
    }
}

/// A field in quotes with a line end inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::data) struct Divided {
    pub field: usize,
    pub opened: usize,
    pub closed: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first byte of a field.
    Begin,
    Plain,
    Quoted,
    /// After a quote inside quotes: their end, or the first of two.
    Closing,
}

struct Splitter {
    separator: Separator,
    state: State,
    /// The last byte was CR: LF belongs to it.
    after_return: bool,
    fields: Vec<u8>,
    ends: Vec<usize>,
    divided: Vec<Divided>,
    line: usize,
    next_line: usize,
    opened: usize,
}

impl Splitter {
    fn new(separator: Separator) -> Splitter {
        Splitter {
            separator,
            state: State::Begin,
            after_return: false,
            fields: Vec::new(),
            ends: Vec::new(),
            divided: Vec::new(),
            line: 1,
            next_line: 1,
            opened: 1,
        }
    }

    fn clear(&mut self) {
        self.state = State::Begin;
        self.fields.clear();
        self.ends.clear();
        self.divided.clear();
        self.line = self.next_line;
    }

    /// Takes bytes up to the end of a record; says how many, and whether it has ended.
    fn feed(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            at += 1;
            if std::mem::take(&mut self.after_return) && byte == b'\n' {
                continue;
            }
            match (self.state, byte) {
                (State::Quoted, b'"') => {
                    self.state = State::Closing;
                    self.note_lines();
                }
                (State::Quoted, byte) => {
                    self.next_line += usize::from(byte == b'\n');
                    self.fields.push(byte);
                }
                (State::Closing, b'"') => {
                    self.fields.push(byte);
                    self.state = State::Quoted;
                }
                (State::Begin, b'"') => {
                    self.opened = self.next_line;
                    self.state = State::Quoted;
                }
                (_, b'\n' | b'\r') => {
                    self.after_return = byte == b'\r';
                    self.end_field();
                    self.next_line += 1;
                    if !self.is_blank() {
                        return (at, true);
                    }
                    self.clear();
                }
                (_, byte) if self.separator.is(byte) => self.end_field(),
                _ => {
                    let ends = |&byte: &u8| byte == b'\n' || byte == b'\r' || self.separator.is(byte);
                    let end = bytes[at..].iter().position(ends).map_or(bytes.len(), |rest| at + rest);
                    self.fields.extend_from_slice(&bytes[at - 1..end]);
                    self.state = State::Plain;
                    at = end;
                }
            }
        }
        (at, false)
    }

    /// The source has ended.
    fn finish(&mut self) -> Result<bool, Broken> {
        if self.state == State::Quoted {
            return Err(Broken::Quote(self.opened));
        }
        if self.state == State::Begin && self.ends.is_empty() {
            return Ok(false);
        }
        self.end_field();
        Ok(!self.is_blank())
    }

    /// Quotes close, perhaps on another line than they were opened on.
    fn note_lines(&mut self) {
        let (field, opened, closed) = (self.ends.len(), self.opened, self.next_line);
        if opened == closed {
            return;
        }
        self.divided.retain(|other| other.field != field);
        self.divided.push(Divided { field, opened, closed });
    }

    fn end_field(&mut self) {
        if self.separator == Separator::Blanks && self.state == State::Begin {
            return;
        }
        self.ends.push(self.fields.len());
        self.state = State::Begin;
    }

    /// A line of blanks alone.
    fn is_blank(&self) -> bool {
        self.ends.len() <= 1 && self.divided.is_empty() && self.fields.trim_ascii().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    fn read(text: &str, separator: Separator, piece: usize) -> Result<Vec<String>, usize> {
        let source = io::BufReader::with_capacity(piece, text.as_bytes());
        let mut records = Records::new(source, separator);
        let mut found = Vec::new();
        loop {
            match records.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(found),
                Err(Broken::Quote(line)) => return Err(line),
                Err(Broken::Source(error)) => panic!("{error}"),
            }
            let fields: Vec<_> = (0..records.len())
                .map(|field| String::from_utf8_lossy(records.field(field)).into_owned())
                .collect();
            found.push(format!("{}: {}", records.line(), fields.join("|")));
        }
    }

    fn records(text: &str) -> Result<Vec<String>, usize> {
        let whole = read(text, Separator::Byte(b','), 1000);
        for piece in 1..4 {
            assert_eq!(read(text, Separator::Byte(b','), piece), whole, "{text:?}");
        }
        whole
    }

    #[test]
    fn line_ends_and_blank_lines() {
        for text in ["a,b\n\n c ,d\n", "a,b\r\n\r\n c ,d", "a,b\r\r c ,d\r", "a,b\n  \n c ,d"] {
            assert_eq!(records(text).unwrap(), ["1: a|b", "3: c|d"], "{text:?}");
        }
        assert_eq!(records("a,\n,\n,b").unwrap(), ["1: a|", "2: |", "3: |b"]);
        assert_eq!(records("").unwrap(), [""; 0]);
        assert_eq!(records("\n\n").unwrap(), [""; 0]);
    }

    #[test]
    fn quotes_hold_separators_quotes_and_line_ends() {
        assert_eq!(
            records("\"a,b\",\"c \"\"d\"\"\"\n\"e\nf\",g\"h\ni,\"\"").unwrap(),
            ["1: a,b|c \"d\"", "2: e\nf|g\"h", "4: i|"]
        );
        let text = "x,\"a\nb\"\n";
        let mut records = Records::new(text.as_bytes(), Separator::Byte(b','));
        assert!(records.advance().unwrap());
        let divided = Divided {
            field: 1,
            opened: 1,
            closed: 2,
        };
        assert_eq!(records.divided(), [divided]);
    }

    #[test]
    fn a_quote_that_never_closes_is_told_with_its_line() {
        assert_eq!(records("a,b\nc,\"d\ne,f\n"), Err(2));
        assert_eq!(records("a,\"b\"\"\n"), Err(1));
    }

    #[test]
    fn blanks_separate_however_many_they_are() {
        let found = read("  1.0  2.0\t3.0 \n\n 4.0 5.0", Separator::Blanks, 2).unwrap();
        assert_eq!(found, ["1: 1.0|2.0|3.0", "3: 4.0|5.0"]);
    }
}
