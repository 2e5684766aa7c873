//! Vectors for any processor: small arrays, which the compiler turns into whatever the target has.

use super::Vector;

macro_rules! portable_vector {
    ($name:ident, $scalar:ident, $bits:ident, $lanes:literal, $shift:literal, $one:literal) => {
        /// A register's worth of numbers in an array.
        #[derive(Clone, Copy)]
        pub(crate) struct $name([$scalar; $lanes]);

        impl $name {
            #[inline(always)]
            fn zip(self, other: Self, combine: impl Fn($scalar, $scalar) -> $scalar) -> Self {
                let mut out = self.0;
                for (value, right) in out.iter_mut().zip(other.0) {
                    *value = combine(*value, right);
                }
                $name(out)
            }
        }

        impl Vector for $name {
            type Scalar = $scalar;
            type Mask = [bool; $lanes];
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(value: $scalar) -> Self {
                $name([value; $lanes])
            }
            #[inline(always)]
            fn load(from: &[$scalar]) -> Self {
                let mut out = [0.0; $lanes];
                out.copy_from_slice(&from[..$lanes]);
                $name(out)
            }
            #[inline(always)]
            fn store(self, to: &mut [$scalar]) {
                to[..$lanes].copy_from_slice(&self.0);
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.zip(other, |a, b| a + b)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.zip(other, |a, b| a - b)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.zip(other, |a, b| a * b)
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self.zip(other, |a, b| a / b)
            }
            /// Rounded twice: a fused product would be a slow library call on processors without the instruction.
            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                self.mul(factor).add(addend)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                self.zip(other, |a, b| if a > b { a } else { b })
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                self.zip(other, |a, b| if a < b { a } else { b })
            }
            #[inline(always)]
            fn greater(self, other: Self) -> [bool; $lanes] {
                let mut out = [false; $lanes];
                for lane in 0..$lanes {
                    out[lane] = self.0[lane] > other.0[lane];
                }
                out
            }
            #[inline(always)]
            fn or_zero(self, mask: [bool; $lanes]) -> Self {
                let mut out = self.0;
                for lane in 0..$lanes {
                    if !mask[lane] {
                        out[lane] = 0.0;
                    }
                }
                $name(out)
            }
            #[inline(always)]
            fn choose(self, other: Self, mask: [bool; $lanes]) -> Self {
                let mut out = self.0;
                for lane in 0..$lanes {
                    if !mask[lane] {
                        out[lane] = other.0[lane];
                    }
                }
                $name(out)
            }
            #[inline(always)]
            fn power_of_two(self) -> Self {
                let mut out = self.0;
                for value in &mut out {
                    *value = $scalar::from_bits((value.to_bits() << $shift).wrapping_add($one));
                }
                $name(out)
            }
            #[inline(always)]
            fn prefetch(_: &[$scalar]) {}
            #[inline(always)]
            fn sum(self) -> $scalar {
                let mut width = $lanes;
                let mut values = self.0;
                while width > 1 {
                    width /= 2;
                    for lane in 0..width {
                        values[lane] += values[lane + width];
                    }
                }
                values[0]
            }
        }
    };
}

portable_vector!(PortableF32, f32, u32, 4, 23, 0x3f80_0000);
portable_vector!(PortableF64, f64, u64, 2, 52, 0x3ff0_0000_0000_0000);
