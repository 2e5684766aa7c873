//! Text as it is read: unpacked, and UTF-8 checked on the way, whatever format the text has.
//!
//! ```text
//! NAME, NAME.gz, NAME.xz, NAME.zst -> bytes -> UTF-8 without byte order mark -> lines, CSV or JSON lines
//! ```
//!
//! A byte that is not UTF-8 is refused with its line and its offset, both in the unpacked text, or becomes U+FFFD, the
//! replacement character. Only a buffer of the text is in memory.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::Path;

use super::TextOptions;
use super::encoding::{Decoded, Encoding};
use crate::data::unpacked::{self, Damaged};
use crate::{Error, Result};

/// What to do about bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InvalidText {
    /// The file is refused.
    #[default]
    Refuse,
    /// Each becomes the replacement character U+FFFD.
    Replace,
}

const BUFFER: usize = 1 << 16;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A reader whose bytes are UTF-8.
pub(in crate::data) struct Checked<R> {
    source: R,
    invalid: InvalidText,
    raw: Vec<u8>,
    /// Bytes at the start of `raw` that begin a character and wait for its rest.
    held: usize,
    text: Vec<u8>,
    given: usize,
    /// Line, from 1, and offset of the next byte to check.
    line: usize,
    offset: u64,
    ended: bool,
}

/// The text of a file; a packed one is unpacked as it is read.
pub(super) fn open(path: &Path, options: &TextOptions) -> Result<Checked<Box<dyn Read>>> {
    let source = unpacked::open(path)?;
    let decoded: Box<dyn Read> = match options.encoding {
        Encoding::Utf8 => source,
        encoding => Box::new(Decoded::new(source, encoding)),
    };
    Ok(Checked::new(decoded, options.invalid))
}

/// The error for a table of numbers that could not be read to its end. Its bytes are never replaced: two labels would become one.
pub(in crate::data) fn table_error(path: &Path, error: io::Error) -> Error {
    let Some(found) = error.get_ref().and_then(|inner| inner.downcast_ref::<NotText>()) else {
        return reading_error(path, error);
    };
    if found.wide {
        return Error::format(path, "", "UTF-16 text", "UTF-8");
    }
    let place = format!(", line {}, byte {}", found.line, found.offset);
    let letter = |encoding: Encoding| encoding.letter(found.byte).filter(|letter| !letter.is_control());
    let would = |name: &str, letter: char| format!("UTF-8 text (--encoding {name} would read it as \"{letter}\")");
    let expected = match (letter(Encoding::Latin1), letter(Encoding::Windows1252)) {
        (Some(letter), _) => would("latin-1", letter),
        (None, Some(letter)) => would("windows-1252", letter),
        (None, None) => "UTF-8 text".to_owned(),
    };
    Error::format(path, place, format!("the byte 0x{:02x}", found.byte), expected)
}

/// The error for a text that could not be read to its end.
pub(in crate::data) fn reading_error(path: &Path, error: io::Error) -> Error {
    if let Some(found) = error.get_ref().and_then(|inner| inner.downcast_ref::<NotText>()) {
        let place = format!(", line {}, byte {}", found.line, found.offset);
        return Error::format(path, place, found, "UTF-8 text");
    }
    if let Some(damaged) = error.get_ref().and_then(|inner| inner.downcast_ref::<Damaged>()) {
        return Error::format(path, "", damaged, damaged.expected);
    }
    let packed = path
        .extension()
        .is_some_and(|end| end == "gz" || end == "xz" || end == "tgz");
    // Decoders tell damage by these kinds, or as "other"; what the operating system says has a number.
    if packed && error.raw_os_error().is_none() {
        let found = format!("packed data that is cut short or damaged ({error})");
        return Error::format(path, "", found, "the whole file as it was packed");
    }
    Error::io(path, "read")(error)
}

impl<R: Read> Checked<R> {
    /// Checks what `source` gives.
    pub fn new(source: R, invalid: InvalidText) -> Self {
        Checked {
            source,
            invalid,
            raw: vec![0; BUFFER],
            held: 0,
            text: Vec::with_capacity(BUFFER),
            given: 0,
            line: 1,
            offset: 0,
            ended: false,
        }
    }

    /// The next piece of text; it is empty only at the end.
    fn advance(&mut self) -> io::Result<()> {
        self.text.clear();
        self.given = 0;
        while self.text.is_empty() && !self.ended {
            let read = match self.source.read(&mut self.raw[self.held..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                outcome => outcome?,
            };
            self.ended = read == 0;
            self.check(self.held + read)?;
        }
        Ok(())
    }

    /// Moves the characters that are whole from `raw[..available]` to `text`.
    fn check(&mut self, available: usize) -> io::Result<()> {
        let mut from = 0;
        loop {
            let rest = &self.raw[from..available];
            let (valid, bad) = match std::str::from_utf8(rest) {
                Ok(_) => (rest.len(), 0),
                Err(error) => (error.valid_up_to(), error.error_len().unwrap_or(0)),
            };
            let mut good = &rest[..valid];
            if self.offset == 0 {
                good = good.strip_prefix(BYTE_ORDER_MARK).unwrap_or(good);
            }
            self.text.extend_from_slice(good);
            self.line += good.iter().filter(|&&byte| byte == b'\n').count();
            self.offset += valid as u64;
            from += valid;
            let left = available - from;
            let bad = if bad == 0 && self.ended { left } else { bad };
            if bad == 0 {
                self.raw.copy_within(from..available, 0);
                self.held = left;
                return Ok(());
            }
            self.refuse_or_replace(from)?;
            self.offset += bad as u64;
            from += bad;
        }
    }

    fn refuse_or_replace(&mut self, at: usize) -> io::Result<()> {
        let byte = self.raw[at];
        // Replacing would make noise of UTF-16.
        let wide = self.offset == 0 && matches!(byte, 0xfe | 0xff);
        if self.invalid == InvalidText::Replace && !wide {
            self.text.extend_from_slice("\u{fffd}".as_bytes());
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            NotText {
                byte,
                line: self.line,
                offset: self.offset,
                wide,
            },
        ))
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut text = self.fill_buf()?;
        let read = text.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> BufRead for Checked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.given == self.text.len() {
            self.advance()?;
        }
        Ok(&self.text[self.given..])
    }

    fn consume(&mut self, bytes: usize) {
        self.given += bytes;
    }
}

/// A byte that is no text, on its way through `io::Error`.
#[derive(Debug)]
struct NotText {
    byte: u8,
    line: usize,
    offset: u64,
    wide: bool,
}

impl fmt::Display for NotText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.wide {
            return write!(formatter, "UTF-16 text");
        }
        write!(
            formatter,
            "the byte 0x{:02x}, which --invalid-text replace would read as U+FFFD, and --encoding latin-1 as a letter",
            self.byte
        )
    }
}

impl std::error::Error for NotText {}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Gives one byte at a time, so that every character is divided.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn text(bytes: &[u8], invalid: InvalidText) -> Result<String> {
        let read = |source: &mut dyn Read| {
            let mut text = String::new();
            let outcome = Checked::new(source, invalid).read_to_string(&mut text);
            outcome
                .map(|_| text)
                .map_err(|error| reading_error(Path::new("t.txt"), error))
        };
        let whole = read(&mut &*bytes);
        let divided = read(&mut Drops(bytes));
        assert_eq!(format!("{whole:?}"), format!("{divided:?}"));
        whole
    }

    #[test]
    fn a_byte_order_mark_is_dropped_at_the_start_only() {
        assert_eq!(
            text("\u{feff}a\u{feff}é\n".as_bytes(), InvalidText::Refuse).unwrap(),
            "a\u{feff}é\n"
        );
        assert_eq!(text(b"", InvalidText::Refuse).unwrap(), "");
    }

    #[test]
    fn an_invalid_byte_is_refused_with_line_and_offset() {
        let error = text(b"caf\xc3\xa9\ncaf\xe9 au lait\n", InvalidText::Refuse).unwrap_err();
        assert_eq!(
            error.to_string(),
            "t.txt, line 2, byte 9: found the byte 0xe9, which --invalid-text replace would read as U+FFFD, and --encoding latin-1 as a letter, expected UTF-8 text"
        );
    }

    #[test]
    fn a_character_cut_off_by_the_end_is_invalid() {
        let error = text(b"ab\xe2\x82", InvalidText::Refuse).unwrap_err().to_string();
        assert!(error.contains(", line 1, byte 2: found the byte 0xe2"), "{error}");
        assert_eq!(text(b"ab\xe2\x82", InvalidText::Replace).unwrap(), "ab\u{fffd}");
    }

    #[test]
    fn invalid_bytes_are_replaced_on_demand() {
        assert_eq!(
            text(b"a\xffb\xe9c", InvalidText::Replace).unwrap(),
            "a\u{fffd}b\u{fffd}c"
        );
    }

    #[test]
    fn utf_16_is_refused_even_then() {
        let error = text(b"\xff\xfea\0b\0", InvalidText::Replace).unwrap_err().to_string();
        assert_eq!(error, "t.txt, line 1, byte 0: found UTF-16 text, expected UTF-8 text");
    }

    #[test]
    fn packed_text_that_is_cut_short_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.txt.gz");
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        (0..10_000).for_each(|number| writeln!(packed, "line {number}").unwrap());
        let packed = packed.finish().unwrap();
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let mut text = String::new();
            let outcome = open(&path, &TextOptions::default()).unwrap().read_to_string(&mut text);
            outcome
                .map(|_| text.lines().count())
                .map_err(|error| reading_error(&path, error))
        };
        assert_eq!(read(&packed).unwrap(), 10_000);
        let error = read(&packed[..packed.len() / 2]).unwrap_err().to_string();
        assert!(
            error.contains("t.txt.gz: found packed data that is cut short"),
            "{error}"
        );
    }
}
