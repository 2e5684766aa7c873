//! SHA-1: the hash by which Speech Commands splits its speakers, and the name of a cached file. Not for secrets.
//!
//! ```text
//! w[t] = rotl1(w[t-3] ^ w[t-8] ^ w[t-14] ^ w[t-16])                        t = 16 .. 79
//! (a, b, c, d, e) = (rotl5(a) + f(b, c, d) + e + k + w[t], a, rotl30(b), c, d)
//! ```
//!
//! FIPS 180-4, sections 5 and 6.1.

/// The hash of all bytes.
pub(super) fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let (blocks, rest) = bytes.as_chunks::<64>();
    blocks.iter().for_each(|block| absorb(&mut state, block));
    let mut end = rest.to_vec();
    end.push(0x80);
    end.resize((end.len() + 8).next_multiple_of(64) - 8, 0);
    end.extend((bytes.len() as u64 * 8).to_be_bytes());
    end.as_chunks::<64>()
        .0
        .iter()
        .for_each(|block| absorb(&mut state, block));
    let mut hash = [0; 20];
    for (bytes, word) in hash.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    hash
}

/// The hash of all bytes as 40 hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    sha1(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn absorb(state: &mut [u32; 5], block: &[u8; 64]) {
    let mut words = [0u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..80 {
        words[t] = (words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (t, word) in words.into_iter().enumerate() {
        let (f, k) = match t {
            0..20 => (b & c | !b & d, 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6u32),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(f)
            .wrapping_add(e)
            .wrapping_add(k)
            .wrapping_add(word);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    for (sum, value) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of FIPS 180, and lengths around the end of a block (coreutils' sha1sum).
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
