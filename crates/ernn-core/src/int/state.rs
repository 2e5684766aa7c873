//! The numbers that a stream keeps between steps: of 16 bits, or the upper 8 of them.
//!
//! Within a step all numbers have 16 bits. A state of 8 bits is rounded when a step ends and has 8 zeros below it when the next one reads
//! it: half the memory a stream, and nothing else of a cell's arithmetic is another.
//!
//! A cell that moves slowly changes its state by less than half of the last bit, and rounded to the nearest it would stand still. So the
//! eight bits that are cut off round up as often as they are large: where they and a threshold make 256. The threshold goes by the golden
//! section from step to step, which spreads any few of its values evenly, and is another one for each unit. A state that does not move is
//! kept as it is.
//!
//! ```text
//! kept = floor((wide + threshold) / 256)        threshold = (159 step + 97 unit) mod 256
//! ```

use core::fmt::Debug;

use super::math::Saturations;

/// A number of a stream's state: `i16`, or `i8` where the image says so.
pub trait State: Copy + Debug + Default + Sealed {
    /// Its bits.
    const BITS: u32;
}

impl State for i16 {
    const BITS: u32 = 16;
}

impl State for i8 {
    const BITS: u32 = 8;
}

/// The threshold of a step and a number of the layer's state.
pub(super) fn threshold(step: u32, unit: usize) -> u8 {
    (step.wrapping_mul(159) as u8).wrapping_add((unit as u8).wrapping_mul(97))
}

/// Numbers that a product reads.
#[derive(Clone, Copy, Debug)]
pub enum Values<'v> {
    /// Of 16 bits.
    Wide(&'v [i16]),
    /// The upper 8 of 16 bits.
    Narrow(&'v [i8]),
}

impl Values<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Values::Wide(values) => values.len(),
            Values::Narrow(values) => values.len(),
        }
    }
}

/// What only this crate's numbers do.
pub trait Sealed: Sized {
    /// Numbers that hold an `i32`.
    const WHOLE: usize;
    /// With 16 bits.
    fn wide(self) -> i16;
    /// What is kept; `threshold` is that of the step and unit.
    fn kept(wide: i16, threshold: u8, saturations: &mut Saturations) -> Self;
    /// As a product reads them.
    fn values(all: &[Self]) -> Values<'_>;
    /// The `i32` in [`Sealed::WHOLE`] numbers, the lowest first.
    fn join(parts: &[Self]) -> i32;
    /// Puts an `i32` there.
    fn split(value: i32, parts: &mut [Self]);
}

impl Sealed for i16 {
    const WHOLE: usize = 2;

    fn wide(self) -> i16 {
        self
    }

    fn kept(wide: i16, _: u8, _: &mut Saturations) -> Self {
        wide
    }

    fn values(all: &[Self]) -> Values<'_> {
        Values::Wide(all)
    }

    fn join(parts: &[Self]) -> i32 {
        match *parts {
            [low, high] => i32::from(high) << 16 | i32::from(low as u16),
            _ => 0,
        }
    }

    fn split(value: i32, parts: &mut [Self]) {
        if let [low, high] = parts {
            (*low, *high) = (value as i16, (value >> 16) as i16);
        }
    }
}

impl Sealed for i8 {
    const WHOLE: usize = 4;

    fn wide(self) -> i16 {
        i16::from(self) << 8
    }

    fn kept(wide: i16, threshold: u8, saturations: &mut Saturations) -> Self {
        saturations.narrowest(i32::from(wide).wrapping_add(i32::from(threshold)) >> 8)
    }

    fn values(all: &[Self]) -> Values<'_> {
        Values::Narrow(all)
    }

    fn join(parts: &[Self]) -> i32 {
        match *parts {
            [a, b, c, d] => i32::from_le_bytes([a as u8, b as u8, c as u8, d as u8]),
            _ => 0,
        }
    }

    fn split(value: i32, parts: &mut [Self]) {
        if let [a, b, c, d] = parts {
            [*a, *b, *c, *d] = value.to_le_bytes().map(|byte| byte as i8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_the_end_and_counted() {
        let mut saturations = Saturations::default();
        for kept in i8::MIN..=i8::MAX {
            let wide = i16::from(kept) << 8;
            assert_eq!(i8::kept(wide, 255, &mut saturations), kept, "what does not move stays");
        }
        assert_eq!(saturations.0, 0);
        assert_eq!(i8::kept(i16::MAX, 255, &mut saturations), 127);
        assert_eq!(saturations.0, 1);
    }

    #[test]
    fn what_is_cut_off_comes_back_as_often_as_it_is_large() {
        for rest in 0..256_u16 {
            for unit in 0..20 {
                // Over any 64 steps, the mean of what was kept is near what there was.
                for first in [0, 777, u32::MAX - 20] {
                    let kept = |step: u32| {
                        let threshold = threshold(first.wrapping_add(step), unit);
                        i32::from(i8::kept(rest as i16, threshold, &mut Saturations::default()))
                    };
                    let sum: i32 = (0..64).map(kept).sum();
                    let error = f64::from(sum) - 64.0 * f64::from(rest) / 256.0;
                    assert!(error.abs() < 3.0, "{rest} {unit} {first}: {error}");
                }
            }
        }
    }

    #[test]
    fn sums_come_back_from_their_parts() {
        for value in [0, 1, -1, 255, -256, 65_535, -65_536, i32::MIN, i32::MAX] {
            let (mut two, mut four) = ([0_i16; 2], [0_i8; 4]);
            i16::split(value, &mut two);
            i8::split(value, &mut four);
            assert_eq!((i16::join(&two), i8::join(&four)), (value, value));
        }
    }
}
