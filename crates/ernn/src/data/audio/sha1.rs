//! SHA-1: the hash by which Speech Commands splits its speakers, and the name of a cached file. Not for secrets.

use ::sha1::{Digest, Sha1};

/// The hash of all bytes.
pub(super) fn sha1(bytes: &[u8]) -> [u8; 20] {
    Sha1::digest(bytes).into()
}

/// The hash of all bytes as 40 hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    sha1(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of FIPS 180.
    #[test]
    fn published_examples() {
        let table: [(&[u8], &str); 5] = [
            (b"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
            (&[b'a'; 55], "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
            (&[b'a'; 64], "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
        ];
        for (bytes, expected) in table {
            assert_eq!(hexadecimal(bytes), expected);
        }
    }
}
