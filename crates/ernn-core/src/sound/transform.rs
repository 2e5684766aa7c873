//! The Fourier transform of a frame: real numbers as half as many complex ones, in place.
//!
//! ```text
//! z[n] = v[2n] + i v[2n+1]              n < M = nfft / 2
//! Z    = DFT_M(z) / M                   stages of pairs, a halving each: t = w b / 2; a, b <- a / 2 + t, a / 2 - t
//! X[k] = ((Z[k] + Z*[M-k]) - i w^k (Z[k] - Z*[M-k])) / 2,   w = e^(-2 pi i / nfft)
//! ```
//!
//! Halvings and products are rounded down. No number passes 31 bits if those of `v` are below 2^29.

/// A number of 16 bits with 15 binary places, in its bytes.
type Half = [u8; 2];

/// Half of a product with a number of 15 binary places, rounded down.
pub(super) fn half(value: i32, factor: Half) -> i32 {
    ((i64::from(value) * i64::from(i16::from_le_bytes(factor))) >> 16) as i32
}

/// The place of a pair when the transform begins: its `bits` in the other order.
pub(super) fn reversed(place: usize, bits: u32) -> usize {
    place.reverse_bits().wrapping_shr(usize::BITS.wrapping_sub(bits))
}

/// The transform of pairs that stand in [`reversed`] order, divided by their number. `turns` are cosine and sine of `2 pi k / nfft`.
pub(super) fn forward(pairs: &mut [[i32; 2]], turns: &[[Half; 2]]) {
    let mut apart = 1;
    let mut stride = pairs.len();
    while apart < pairs.len() {
        for group in pairs.chunks_exact_mut(apart << 1) {
            let (low, high) = group.split_at_mut_checked(apart).unwrap_or((&mut [], &mut []));
            let mut both = low.iter_mut().zip(high);
            // The first factor of each group is 1, which has no place in 16 bits.
            if let Some((a, b)) = both.next() {
                let turned = b.map(|part| part >> 1);
                combine(a, b, turned);
            }
            for ((a, b), turn) in both.zip(turns.iter().step_by(stride).skip(1)) {
                let turned = turned(*b, *turn);
                combine(a, b, turned);
            }
        }
        apart <<= 1;
        stride >>= 1;
    }
}

/// Half of `(cosine - i sine) b`.
fn turned([real, imaginary]: [i32; 2], [cosine, sine]: [Half; 2]) -> [i32; 2] {
    [
        half(real, cosine).wrapping_add(half(imaginary, sine)),
        half(imaginary, cosine).wrapping_sub(half(real, sine)),
    ]
}

fn combine(a: &mut [i32; 2], b: &mut [i32; 2], turned: [i32; 2]) {
    let [real, imaginary] = a.map(|part| part >> 1);
    *a = [real.wrapping_add(turned[0]), imaginary.wrapping_add(turned[1])];
    *b = [real.wrapping_sub(turned[0]), imaginary.wrapping_sub(turned[1])];
}

/// The squares of the real numbers' spectrum in the places of `pairs`, each in two words, without their last `shift` bits.
pub(super) fn powers(pairs: &mut [[i32; 2]], turns: &[[Half; 2]], shift: u32) {
    let (Some((first, rest)), Some((_, turns))) = (pairs.split_first_mut(), turns.split_first()) else {
        return;
    };
    let [real, imaginary] = *first;
    *first = square([real.wrapping_add(imaginary), 0], shift);
    let mut turns = turns.iter();
    let mut rest = rest;
    loop {
        let turn = turns.next();
        rest = match (rest, turn) {
            ([low, middle @ .., high], Some(turn)) => {
                let ([a, b], [c, d]) = (*low, *high);
                let even = [a.wrapping_add(c) >> 1, b.wrapping_sub(d) >> 1];
                let odd = turned([b.wrapping_add(d), c.wrapping_sub(a)], *turn);
                *low = square([even[0].wrapping_add(odd[0]), even[1].wrapping_add(odd[1])], shift);
                *high = square([even[0].wrapping_sub(odd[0]), even[1].wrapping_sub(odd[1])], shift);
                middle
            }
            // w^k is -i: X[k] is Z*[k].
            ([middle], _) => {
                *middle = square(*middle, shift);
                return;
            }
            _ => return,
        };
    }
}

fn square([real, imaginary]: [i32; 2], shift: u32) -> [i32; 2] {
    let [real, imaginary] = [real, imaginary].map(|part| u64::from(part.unsigned_abs()));
    let power = real
        .wrapping_mul(real)
        .wrapping_add(imaginary.wrapping_mul(imaginary))
        .wrapping_shr(shift);
    [power as i32, (power >> 32) as i32]
}

/// The number in two words.
pub(super) fn joined([low, high]: [i32; 2]) -> u64 {
    u64::from(high as u32) << 32 | u64::from(low as u32)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::integer_division)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    fn turns(points: usize) -> Vec<[Half; 2]> {
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / points as f64;
        let half = |value: f64| ((value * 32_768.0).round().min(32_767.0) as i16).to_le_bytes();
        (0..points / 2)
            .map(|k| [half(angle(k).cos()), half(angle(k).sin())])
            .collect()
    }

    #[test]
    fn powers_are_those_of_a_plain_sum() {
        for points in [8_usize, 64, 512, 2048] {
            let mut state = 7_u32;
            let values: Vec<i32> = (0..points)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state as i32) >> 3
                })
                .collect();
            let bits = (points / 2).trailing_zeros();
            let mut pairs: Vec<[i32; 2]> = (0..points / 2)
                .map(|place| {
                    let pair = reversed(place, bits);
                    [values[2 * pair], values[2 * pair + 1]]
                })
                .collect();
            let turns = turns(points);
            forward(&mut pairs, &turns);
            powers(&mut pairs, &turns, 0);
            let scale = (points as f64 / 2.0).powi(2);
            let mut largest = 0.0_f64;
            let exact: Vec<f64> = (0..points / 2)
                .map(|k| {
                    let angle = |n: usize| std::f64::consts::TAU * ((k * n) % points) as f64 / points as f64;
                    let sum = |part: fn(f64) -> f64| {
                        (values.iter().enumerate())
                            .map(|(n, &value)| f64::from(value) * part(angle(n)))
                            .sum::<f64>()
                    };
                    let power = (sum(f64::cos).powi(2) + sum(f64::sin).powi(2)) / scale;
                    largest = largest.max(power);
                    power
                })
                .collect();
            for (k, (found, exact)) in pairs.iter().zip(exact).enumerate() {
                let error = (joined(*found) as f64).sqrt() - exact.sqrt();
                // Factors of 16 bits: 84 decibels below the largest.
                assert!(error.abs() < 6e-5 * largest.sqrt(), "{points} points, bin {k}: {error}");
            }
        }
    }

    #[test]
    fn no_number_passes_its_bits() {
        // The largest that a frame may hold, in the forms that add up most.
        for form in 0..4 {
            let value = |n: usize| match form {
                0 => (1 << 29) - 1,
                1 if n.is_multiple_of(2) => (1 << 29) - 1,
                2 if n % 4 < 2 => (1 << 29) - 1,
                _ => -(1 << 29),
            };
            let turns = turns(512);
            let mut pairs: Vec<[i32; 2]> = (0..256)
                .map(|place| [value(2 * reversed(place, 8)), value(2 * reversed(place, 8) + 1)])
                .collect();
            forward(&mut pairs, &turns);
            assert!(pairs.iter().flatten().all(|part| part.unsigned_abs() <= 1 << 30));
            powers(&mut pairs, &turns, 0);
            let sum: f64 = pairs.iter().map(|&pair| joined(pair) as f64).sum();
            let expected = 512.0 * 2f64.powi(58) * 512.0 / 65_536.0;
            assert!(sum < 1.01 * expected, "form {form}: {sum:e}");
        }
    }
}
