//! Checksums: whether a file is, to the byte, the published one. CRC-32 finds damage and mistaken files; it is no defense
//! against forgery.

use std::path::Path;

use flate2::Crc;

use crate::{Error, Result};

/// Refuses a file whose bytes are not those with this CRC-32.
pub(super) fn verify(bytes: &[u8], expected: u32, path: &Path) -> Result<()> {
    let mut sum = Crc::new();
    sum.update(bytes);
    if sum.sum() == expected {
        return Ok(());
    }
    let found = format!("other bytes (CRC-32 {:08x})", sum.sum());
    let expected = format!("the published file (CRC-32 {expected:08x})");
    Err(Error::format(path, "", found, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_crc_32() {
        let verify = |sum| verify(b"123456789", sum, Path::new("a"));
        assert!(verify(0xcbf4_3926).is_ok());
        let error = verify(1).unwrap_err().to_string();
        assert_eq!(
            error,
            "a: found other bytes (CRC-32 cbf43926), expected the published file (CRC-32 00000001)"
        );
    }
}
