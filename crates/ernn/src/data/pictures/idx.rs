//! IDX, the format of MNIST's files (LeCun, Cortes, Burges).
//!
//! ```text
//! 0 0 8 n | u32 size of each of the n dimensions | u8 values          big-endian; 8: unsigned bytes
//! ```

use crate::data::archive::Member;
use crate::{Error, Result};

/// The bytes of a file with these sizes, taken out of it without a copy of its own.
pub(super) fn values(member: Member, sizes: &[usize]) -> Result<Vec<u8>> {
    let Member { path, mut bytes, .. } = member;
    let error = |place: &str, found: String, expected: String| Err(Error::format(&path, place, found, expected));
    let header = 4 + 4 * sizes.len();
    if bytes.len() < header {
        return error(
            "",
            format!("{} bytes", bytes.len()),
            format!("an IDX header of {header}"),
        );
    }
    let word = |index: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| bytes[4 * index + byte]));
    let magic = 0x0800 + sizes.len() as u32;
    if word(0) != magic {
        let expected = format!("{magic:#010x}: bytes in {} dimensions", sizes.len());
        return error(", magic number", format!("{:#010x}", word(0)), expected);
    }
    for (index, &size) in sizes.iter().enumerate() {
        if word(index + 1) as usize != size {
            let place = format!(", size of dimension {}", index + 1);
            return error(&place, word(index + 1).to_string(), size.to_string());
        }
    }
    let expected: usize = sizes.iter().product();
    if bytes.len() - header != expected {
        return error(
            "",
            format!("{} bytes of values", bytes.len() - header),
            expected.to_string(),
        );
    }
    bytes.drain(..header);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(bytes: &[u8]) -> Member {
        Member {
            name: String::new(),
            path: "f".into(),
            bytes: bytes.to_vec(),
        }
    }

    const WHOLE: [u8; 15] = [0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 1, 7, 8, 9];

    #[test]
    fn values_stand_behind_the_header() {
        assert_eq!(values(member(&WHOLE), &[3, 1]).unwrap(), [7, 8, 9]);
    }

    #[test]
    fn refusals_name_what_was_found_and_expected() {
        let mut float = WHOLE;
        float[2] = 13;
        let mut larger = WHOLE;
        larger[7] = 4;
        let cases: [(&[u8], &str); 5] = [
            (&WHOLE[..11], "f: found 11 bytes, expected an IDX header of 12"),
            (
                &float,
                "f, magic number: found 0x00000d02, expected 0x00000802: bytes in 2 dimensions",
            ),
            (&larger, "f, size of dimension 1: found 4, expected 3"),
            (&WHOLE[..14], "f: found 2 bytes of values, expected 3"),
            (&[], "f: found 0 bytes, expected an IDX header of 12"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(values(member(bytes), &[3, 1]).unwrap_err().to_string(), expected);
        }
    }
}
