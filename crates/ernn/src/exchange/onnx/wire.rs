//! The wire format of protocol buffers, as far as ONNX files and TensorBoard's events need it (protobuf.dev/programming-guides/encoding).
//!
//! ```text
//! message = (key value)*      key = varint(field << 3 | type)
//! type 0: varint, 7 bits a byte from the lowest on, the top bit says that more follow; an int64 below 0 is its two's complement
//! type 1: 8 bytes             type 5: 4 bytes, little-endian             type 2: varint(length), then so many bytes
//! ```

/// Writes the fields of a message, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

const VARINT: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const LENGTH: u64 = 2;
const FOUR_BYTES: u64 = 5;

impl Writer {
    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, kind: u64) {
        self.raw_varint(field << 3 | kind);
    }

    /// An `int32`, `int64` or enum.
    pub fn integer(&mut self, field: u64, value: i64) {
        self.key(field, VARINT);
        self.raw_varint(value as u64);
    }

    /// A `float`.
    pub fn float(&mut self, field: u64, value: f32) {
        self.key(field, FOUR_BYTES);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A `double`.
    pub fn double(&mut self, field: u64, value: f64) {
        self.key(field, EIGHT_BYTES);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// `bytes` or a `string`.
    pub fn bytes(&mut self, field: u64, value: &[u8]) {
        self.key(field, LENGTH);
        self.raw_varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// A message inside.
    pub fn message(&mut self, field: u64, write: impl FnOnce(&mut Writer)) {
        let mut inner = Writer::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    Integer(i64),
    Float(f32),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    pub fn integer(self) -> Result<i64, String> {
        match self {
            Field::Integer(value) => Ok(value),
            other => Err(format!("found {}, expected an integer", other.kind())),
        }
    }

    pub fn float(self) -> Result<f32, String> {
        match self {
            Field::Float(value) => Ok(value),
            other => Err(format!("found {}, expected a float", other.kind())),
        }
    }

    pub fn bytes(self) -> Result<&'a [u8], String> {
        match self {
            Field::Bytes(value) => Ok(value),
            other => Err(format!("found {}, expected bytes", other.kind())),
        }
    }

    pub fn text(self) -> Result<String, String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|error| format!("text that is not UTF-8: {error}"))
    }

    fn kind(self) -> &'static str {
        match self {
            Field::Integer(_) => "an integer",
            Field::Float(_) => "a float",
            Field::Bytes(_) => "bytes",
        }
    }
}

/// All fields of a message with their numbers.
pub(super) fn fields(mut bytes: &[u8]) -> Result<Vec<(u64, Field<'_>)>, String> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            VARINT => Field::Integer(varint(&mut bytes)? as i64),
            EIGHT_BYTES => Field::Bytes(take(&mut bytes, 8)?),
            LENGTH => {
                let length = varint(&mut bytes)?;
                Field::Bytes(take(&mut bytes, length)?)
            }
            FOUR_BYTES => {
                let four = take(&mut bytes, 4)?.try_into().expect("four bytes");
                Field::Float(f32::from_le_bytes(four))
            }
            kind => return Err(format!("found a field of type {kind}, expected 0, 1, 2 or 5")),
        };
        found.push((key >> 3, value));
    }
    Ok(found)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("found a varint of more than ten bytes".to_string())
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Result<&'a [u8], String> {
    let (found, length) = (bytes.len(), usize::try_from(length).unwrap_or(usize::MAX));
    let short = || format!("found the end after {found} bytes, expected {length}");
    let (head, tail) = bytes.split_at_checked(length).ok_or_else(short)?;
    *bytes = tail;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of protobuf's own page on the encoding.
    #[test]
    fn bytes_are_those_of_the_specification() {
        let mut writer = Writer::default();
        writer.integer(1, 150);
        writer.bytes(2, b"testing");
        writer.message(3, |inner| inner.integer(1, 150));
        writer.integer(4, -2);
        let expected = [
            &[0x08, 0x96, 0x01, 0x12, 0x07][..],
            b"testing",
            &[0x1a, 0x03, 0x08, 0x96, 0x01],
            &[0x20, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ]
        .concat();
        assert_eq!(writer.finish(), expected);
        let found = fields(&expected).unwrap();
        let inner = Field::Bytes(&[0x08, 0x96, 0x01]);
        let wanted = [
            (1, Field::Integer(150)),
            (2, Field::Bytes(b"testing")),
            (3, inner),
            (4, Field::Integer(-2)),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let mut writer = Writer::default();
        writer.bytes(2, b"testing");
        writer.float(16, 0.5);
        let bytes = writer.finish();
        for length in [1, 2, 5, bytes.len() - 1] {
            assert!(fields(&bytes[..length]).unwrap_err().contains("the end"), "{length}");
        }
        assert!(fields(&[0xff; 11]).unwrap_err().contains("varint"));
        assert!(fields(&[0x0b]).unwrap_err().contains("type 3"));
    }
}
