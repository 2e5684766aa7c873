//! The elements of NumPy's arrays: numbers, times and text in bytes of either order.

use super::super::recordings::iso;

/// An element of an array: how its bytes are read.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub kind: Kind,
    /// Bytes.
    pub size: usize,
    pub big_endian: bool,
}

/// What an element is.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// A count of so many nanoseconds since 1970, NumPy's `M`.
    Time(i64),
    /// Fixed-width text of bytes, NumPy's `S`.
    Bytes,
    /// Fixed-width text of 32-bit characters, NumPy's `U`.
    Characters,
}

impl Element {
    /// Reads NumPy's type code, quotes and all, e.g. `'<f4'`.
    pub fn parse(descr: &str) -> Option<Element> {
        let quote = descr.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        let code = descr[1..].split(quote).next()?;
        let (order, code) = code.split_at_checked(1)?;
        let (kind, size) = code.split_at_checked(1)?;
        let (size, unit) = match size.split_once('[') {
            Some((size, unit)) => (size, nanoseconds(unit.strip_suffix(']')?)),
            None => (size, None),
        };
        let size: usize = size.parse().ok()?;
        let (kind, size) = match (kind, size) {
            ("b", 1) => (Kind::Bool, 1),
            ("i", 1 | 2 | 4 | 8) => (Kind::Signed, size),
            ("u", 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
            ("f", 2 | 4 | 8) => (Kind::Float, size),
            ("M", 8) => (Kind::Time(unit?), size),
            ("S", 1..) => (Kind::Bytes, size),
            ("U", 1..) => (Kind::Characters, size.checked_mul(4)?),
            _ => return None,
        };
        let big_endian = match order {
            "<" | "|" => false,
            ">" => true,
            "=" => cfg!(target_endian = "big"),
            _ => return None,
        };
        Some(Element { kind, size, big_endian })
    }

    /// The bytes as a little-endian word, sign and floating point not yet interpreted.
    pub fn word(self, bytes: &[u8]) -> u64 {
        let push = |word: u64, &byte: &u8| word << 8 | u64::from(byte);
        if self.big_endian {
            bytes.iter().fold(0, push)
        } else {
            bytes.iter().rev().fold(0, push)
        }
    }

    pub fn signed(self, bytes: &[u8]) -> i64 {
        let unused = 64 - 8 * self.size;
        (self.word(bytes) << unused) as i64 >> unused
    }

    pub fn number(self, bytes: &[u8]) -> Option<f64> {
        match (self.kind, self.size) {
            (Kind::Bool | Kind::Unsigned, _) => Some(self.word(bytes) as f64),
            (Kind::Signed, _) => Some(self.signed(bytes) as f64),
            (Kind::Float, 2) => Some(half(self.word(bytes) as u16)),
            (Kind::Float, 4) => Some(f64::from(f32::from_bits(self.word(bytes) as u32))),
            (Kind::Float, _) => Some(f64::from_bits(self.word(bytes))),
            (Kind::Bytes | Kind::Characters | Kind::Time(_), _) => None,
        }
    }

    /// The element as text; `None` for NaN.
    pub fn text(self, bytes: &[u8]) -> Option<String> {
        match self.kind {
            Kind::Bool | Kind::Unsigned => Some(self.word(bytes).to_string()),
            Kind::Signed => Some(self.signed(bytes).to_string()),
            Kind::Time(unit) => iso(self.signed(bytes), unit, false),
            // Adding zero turns -0 into 0.
            Kind::Float => self
                .number(bytes)
                .filter(|number| !number.is_nan())
                .map(|number| (number + 0.0).to_string()),
            Kind::Bytes => Some(String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_owned()),
            Kind::Characters => {
                let one = Element { size: 4, ..self };
                let characters = bytes.chunks_exact(4).map(|bytes| one.word(bytes) as u32);
                let text: String = characters
                    .map(|code| char::from_u32(code).unwrap_or('\u{fffd}'))
                    .collect();
                Some(text.trim_end_matches('\0').trim().to_owned())
            }
        }
    }
}

/// The nanoseconds of NumPy's units of time.
fn nanoseconds(unit: &str) -> Option<i64> {
    const SECOND: i64 = 1_000_000_000;
    Some(match unit {
        "D" => 86_400 * SECOND,
        "h" => 3600 * SECOND,
        "m" => 60 * SECOND,
        "s" => SECOND,
        "ms" => SECOND / 1000,
        "us" => 1000,
        "ns" => 1,
        _ => return None,
    })
}

/// IEEE half precision: 1 sign bit, 5 of exponent, 10 of fraction.
pub(crate) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}
