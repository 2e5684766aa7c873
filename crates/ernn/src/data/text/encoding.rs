//! Encodings: bytes of another encoding become UTF-8 on their way.
//!
//! ```text
//! latin-1        byte b is U+00b (ISO 8859-1)
//! windows-1252   the same, but 0x80..=0x9f are letters and signs; five of these bytes mean nothing and are refused
//! ```

use std::io::{self, Read};

/// How the letters of a file are written as bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Encoding {
    /// Any letter; a byte that is none is refused.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// ISO 8859-1: Western European letters, one byte each.
    #[serde(rename = "latin-1")]
    Latin1,
    /// What Windows programs write in Western Europe: Latin-1 with typographic signs.
    #[serde(rename = "windows-1252")]
    Windows1252,
}

impl Encoding {
    /// UTF-8.
    pub fn is_default(&self) -> bool {
        *self == Encoding::Utf8
    }

    /// The letter of a byte; none for a byte without one, and in UTF-8, where most letters have several bytes.
    pub fn letter(self, byte: u8) -> Option<char> {
        match (self, byte) {
            (Encoding::Utf8, _) => None,
            (Encoding::Windows1252, 0x80..=0x9f) => SIGNS[usize::from(byte - 0x80)],
            _ => Some(char::from(byte)),
        }
    }
}

/// The bytes 0x80 to 0x9f of windows-1252, as the WHATWG's index states them; the five without a sign are none here.
const SIGNS: [Option<char>; 32] = [
    Some('€'),
    None,
    Some('‚'),
    Some('ƒ'),
    Some('„'),
    Some('…'),
    Some('†'),
    Some('‡'),
    Some('ˆ'),
    Some('‰'),
    Some('Š'),
    Some('‹'),
    Some('Œ'),
    None,
    Some('Ž'),
    None,
    None,
    Some('‘'),
    Some('’'),
    Some('“'),
    Some('”'),
    Some('•'),
    Some('–'),
    Some('—'),
    Some('˜'),
    Some('™'),
    Some('š'),
    Some('›'),
    Some('œ'),
    None,
    Some('ž'),
    Some('Ÿ'),
];

/// A reader whose bytes are UTF-8, if the source has the encoding that was said. A byte without a letter stays as it is, so that
/// whoever checks for UTF-8 finds it.
pub(in crate::data) struct Decoded<R> {
    source: R,
    encoding: Encoding,
    raw: Vec<u8>,
    /// Text that found no room in the caller's buffer.
    waiting: Vec<u8>,
    given: usize,
}

impl<R: Read> Decoded<R> {
    pub fn new(source: R, encoding: Encoding) -> Self {
        Decoded {
            source,
            encoding,
            raw: Vec::new(),
            waiting: Vec::new(),
            given: 0,
        }
    }

    fn refill(&mut self, most: usize) -> io::Result<()> {
        self.raw.resize(most.max(1), 0);
        let read = self.source.read(&mut self.raw)?;
        self.waiting.clear();
        self.given = 0;
        for &byte in &self.raw[..read] {
            match self.encoding.letter(byte) {
                Some(letter) => self
                    .waiting
                    .extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
                None => self.waiting.push(byte),
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.encoding == Encoding::Utf8 {
            return self.source.read(buffer);
        }
        if self.given == self.waiting.len() {
            self.refill(buffer.len())?;
        }
        let read = (&self.waiting[self.given..]).read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], encoding: Encoding) -> Vec<u8> {
        let mut text = Vec::new();
        let mut source = Decoded::new(bytes, encoding);
        let mut small = [0; 3];
        loop {
            let read = source.read(&mut small).unwrap();
            if read == 0 {
                return text;
            }
            text.extend_from_slice(&small[..read]);
        }
    }

    #[test]
    fn every_byte_has_its_letter() {
        let bytes: Vec<u8> = (0..=255).collect();
        let latin = String::from_utf8(decoded(&bytes, Encoding::Latin1)).unwrap();
        assert!(latin.chars().map(u32::from).eq(0..256));
        assert_eq!(decoded(b"5 \x80 \xe9", Encoding::Windows1252), "5 € é".as_bytes());
        assert_eq!(decoded(b"a\x81b", Encoding::Windows1252), b"a\x81b");
        assert_eq!(decoded("é".as_bytes(), Encoding::Utf8), "é".as_bytes());
    }

    #[test]
    fn letters_of_windows_are_distinct() {
        let mut letters: Vec<char> = (0..=255)
            .filter_map(|byte| Encoding::Windows1252.letter(byte))
            .collect();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), 256 - 5);
    }
}
