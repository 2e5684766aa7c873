//! Logarithms of whole numbers of 64 bits.

/// `log2(1 + n / 32)` with 16 binary places.
pub const TABLE: [u32; 33] = [
    0, 2909, 5732, 8473, 11_136, 13_727, 16_248, 18_704, 21_098, 23_433, 25_711, 27_936, 30_109, 32_234, 34_312,
    36_346, 38_336, 40_286, 42_196, 44_068, 45_904, 47_705, 49_472, 51_207, 52_911, 54_584, 56_229, 57_845, 59_434,
    60_997, 62_534, 64_047, 65_536,
];

/// `ln 2` in units of 2^-16.
const LN2: f32 = core::f32::consts::LN_2 / 65_536.0;

/// `ln(1e-10)`, and what the published features add to it: the feature of a sum of 0.
pub const SILENCE: f32 = -23.025_848;

/// `ln(sum 2^exponent)`; of 0 that of silence.
pub(super) fn natural(sum: u64, exponent: i32) -> f32 {
    if sum == 0 {
        return SILENCE;
    }
    let zeros = sum.leading_zeros();
    // The bits behind the first one: 5 choose a line of the table, 16 the place on it.
    let fraction = ((sum << zeros) >> 31) as u32;
    let line = (fraction >> 27) as usize;
    let along = (fraction >> 11) & 0xffff;
    let [from, to] = [line, line.wrapping_add(1)].map(|place| TABLE.get(place).copied().unwrap_or(0));
    let between = from.wrapping_add(to.wrapping_sub(from).wrapping_mul(along) >> 16);
    let whole = 63_i32.wrapping_sub(zeros as i32).wrapping_add(exponent);
    whole.wrapping_mul(65_536).wrapping_add(between as i32) as f32 * LN2
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;

    #[test]
    fn logarithms_are_those_of_double_precision() {
        for (place, &value) in TABLE.iter().enumerate() {
            let exact = (1.0 + place as f64 / 32.0).log2() * 65_536.0;
            assert!((f64::from(value) - exact).abs() <= 0.5, "{place}: {exact}");
        }
        let mut sum = 1_u64;
        while sum < u64::MAX >> 2 {
            for sum in [sum, sum + 1, sum - 1, 3 * (sum >> 1)] {
                if sum > 0 {
                    let exact = (sum as f64).ln() - 20.0 * std::f64::consts::LN_2;
                    let error = f64::from(natural(sum, -20)) - exact;
                    assert!(error.abs() < 1.5e-4, "{sum}: {error}");
                }
            }
            sum += (sum >> 3) + 1;
        }
        assert_eq!(natural(0, 5), SILENCE);
        assert_eq!(SILENCE, ((1e-10_f64 + f64::EPSILON).ln()) as f32);
    }
}
