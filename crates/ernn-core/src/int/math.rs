//! Whole-number arithmetic: values are `integer / 2^places`, nothing wraps, and what does not fit becomes the end of its range and is
//! counted.
//!
//! | | type | places |
//! |---|---|---|
//! | sums before an activation, logits | `i32` | 16 |
//! | gates, and activations between -1 and 1 | `i16` | 15 |
//! | inputs, states, codes `B h`, ReLU | `i16` | by calibration |
//!
//! tanh is a straight line between its values at `0, 1/16, .. 8`; a sigmoid is `(1 + tanh(x / 2)) / 2`. The error of a line is at most
//! `tanh''/8 / 16^2 = 3.8e-4`.

/// Binary places of sums and logits.
pub const SUM_PLACES: u32 = 16;
/// Binary places of gates.
pub(crate) const GATE_PLACES: u32 = 15;
/// 1 of a gate.
pub(crate) const ONE: i32 = 1 << 15;

/// `tanh(n / 16)` with 15 places.
pub const TANH: [i16; 129] = [
    0, 2045, 4075, 6073, 8025, 9919, 11_743, 13_486, 15_143, 16_706, 18_173, 19_542, 20_813, 21_986, 23_066, 24_054,
    24_956, 25_776, 26_519, 27_191, 27_797, 28_341, 28_830, 29_268, 29_660, 30_010, 30_322, 30_600, 30_847, 31_067,
    31_262, 31_435, 31_589, 31_726, 31_846, 31_953, 32_048, 32_132, 32_206, 32_271, 32_329, 32_381, 32_426, 32_466,
    32_501, 32_532, 32_560, 32_584, 32_606, 32_625, 32_642, 32_657, 32_670, 32_681, 32_691, 32_700, 32_708, 32_715,
    32_721, 32_727, 32_732, 32_736, 32_740, 32_743, 32_746, 32_749, 32_751, 32_753, 32_755, 32_756, 32_758, 32_759,
    32_760, 32_761, 32_762, 32_762, 32_763, 32_764, 32_764, 32_765, 32_765, 32_765, 32_766, 32_766, 32_766, 32_766,
    32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767,
    32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767,
    32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767, 32_767,
    32_767,
];

/// Numbers that did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saturations(pub(crate) u32);

impl Saturations {
    fn count(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    /// The nearest `i8`.
    pub(crate) fn narrowest(&mut self, value: i32) -> i8 {
        let near = value.clamp(-128, 127);
        if near != value {
            self.count();
        }
        near as i8
    }

    /// The nearest `i16`.
    pub(crate) fn narrow(&mut self, value: i64) -> i16 {
        let near = value.clamp(-32_768, 32_767);
        if near != value {
            self.count();
        }
        near as i16
    }

    /// The nearest `i32`.
    pub(crate) fn whole(&mut self, value: i64) -> i32 {
        let near = value.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        if near != value {
            self.count();
        }
        near as i32
    }

    /// `a + b`.
    pub(crate) fn add(&mut self, a: i32, b: i32) -> i32 {
        self.whole(i64::from(a).wrapping_add(i64::from(b)))
    }

    /// `a / 2^a_places + b / 2^b_places` with `places` places, rounded once. `|a|`, `|b|` are at most 2^33, and places such that no
    /// shift leaves 62 bits: parsing has checked that.
    pub(crate) fn combine(&mut self, (a, a_places): (i64, u32), (b, b_places): (i64, u32), places: u32) -> i16 {
        let common = a_places.max(b_places).max(places);
        let [a, b] = [(a, a_places), (b, b_places)].map(|(value, own)| value << common.saturating_sub(own).min(40));
        self.narrow(round_shift(a.wrapping_add(b), common.saturating_sub(places)))
    }
}

/// `value / 2^shift`, to the nearest; halves go up.
pub(crate) fn round_shift(value: i64, shift: u32) -> i64 {
    if shift == 0 {
        return value;
    }
    let half = 1_i64 << shift.saturating_sub(1).min(62);
    value.wrapping_add(half) >> shift.min(63)
}

/// `tanh`; from 16 to 15 places.
pub(crate) fn tanh(x: i32) -> i16 {
    let size = x.unsigned_abs().min(8 << SUM_PLACES);
    let index = (size >> 12) as usize;
    let rest = (size & 4095) as i32;
    let at = |index: usize| TANH.get(index).map_or(32_767, |&value| i32::from(value));
    let low = at(index);
    let value = low.wrapping_add(
        (at(index.wrapping_add(1)).wrapping_sub(low))
            .wrapping_mul(rest)
            .wrapping_add(2048)
            >> 12,
    );
    if x < 0 {
        value.wrapping_neg() as i16
    } else {
        value as i16
    }
}

/// `1 / (1 + e^-x)`; from 16 to 15 places.
pub(crate) fn sigmoid(x: i32) -> i16 {
    (ONE.wrapping_add(i32::from(tanh(x >> 1))) >> 1) as i16
}

/// `x` between -1 and 1; from 16 to 15 places.
pub(crate) fn hard_tanh(x: i32) -> i16 {
    (x >> 1).clamp(-32_767, 32_767) as i16
}

/// `(x + 1) / 2` between 0 and 1; from 16 to 15 places.
pub(crate) fn hard_sigmoid(x: i32) -> i16 {
    (x.saturating_add(1 << SUM_PLACES) >> 2).clamp(0, 32_767) as i16
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;

    #[test]
    fn the_table_is_that_of_tanh() {
        for (index, &value) in TANH.iter().enumerate() {
            let exact = (index as f64 / 16.0).tanh() * 32_768.0;
            assert!((f64::from(value) - exact).abs() <= 1.0, "{index}");
        }
    }

    #[test]
    fn activations_are_near_the_exact_ones() {
        for x in (-700_000..=700_000).step_by(37) {
            let real = f64::from(x) / 65_536.0;
            let error = |found: i16, exact: f64| (f64::from(found) / 32_768.0 - exact).abs();
            assert!(error(tanh(x), real.tanh()) < 4.2e-4, "tanh {real}");
            assert!(
                error(sigmoid(x), 1.0 / (1.0 + (-real).exp())) < 2.5e-4,
                "sigmoid {real}"
            );
            assert!(error(hard_tanh(x), real.clamp(-1.0, 1.0)) < 4e-5, "hard tanh {real}");
            assert!(
                error(hard_sigmoid(x), (real / 2.0 + 0.5).clamp(0.0, 1.0)) < 4e-5,
                "hard sigmoid {real}"
            );
        }
        for x in [i32::MIN, i32::MIN + 1, i32::MAX] {
            let end = if x < 0 { -1.0 } else { 1.0 };
            assert!((f64::from(tanh(x)) / 32_768.0 - end).abs() < 1e-4);
            assert!((f64::from(sigmoid(x)) / 32_768.0 - (end + 1.0) / 2.0).abs() < 1e-4);
        }
    }

    #[test]
    fn what_does_not_fit_becomes_the_end_and_is_counted() {
        let mut saturations = Saturations::default();
        assert_eq!(
            (saturations.narrow(32_768), saturations.narrow(-40_000)),
            (32_767, -32_768)
        );
        assert_eq!(saturations.add(i32::MAX, 1), i32::MAX);
        assert_eq!(saturations.combine((1 << 30, 15), (1 << 30, 15), 15), 32_767);
        assert_eq!(saturations, Saturations(4));
        assert_eq!(
            (saturations.narrow(32_767), saturations.add(i32::MAX, 0)),
            (32_767, i32::MAX)
        );
        assert_eq!(
            saturations.combine((3, 2), (1, 0), 1),
            4,
            "0.75 + 1 = 1.75, of halves 3.5, and up"
        );
        assert_eq!(saturations, Saturations(4));
    }
}
