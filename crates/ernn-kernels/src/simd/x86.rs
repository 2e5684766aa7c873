//! AVX2+FMA and AVX-512F registers.

use std::arch::x86_64::*;

use super::Vector;

/// Implements the methods that are one intrinsic each.
macro_rules! intrinsics {
    ($scalar:ident, $splat:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident, $div:ident, $fma:ident,
     $max:ident, $min:ident) => {
        #[inline(always)]
        fn splat(value: $scalar) -> Self {
            // SAFETY: only reached behind the dispatch, on processors with the instruction.
            unsafe { Self($splat(value)) }
        }
        #[inline(always)]
        fn load(from: &[$scalar]) -> Self {
            assert!(from.len() >= Self::LANES);
            // SAFETY: the slice holds a whole register; the load needs no alignment. Instructions: as for `splat`.
            unsafe { Self($load(from.as_ptr())) }
        }
        #[inline(always)]
        fn store(self, to: &mut [$scalar]) {
            assert!(to.len() >= Self::LANES);
            // SAFETY: the slice holds a whole register; the store needs no alignment. Instructions: as for `splat`.
            unsafe { $store(to.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn prefetch(from: &[$scalar]) {
            // SAFETY: a prefetch reads nothing that the program sees and never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.as_ptr().cast()) }
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: as for `splat`.
            unsafe { Self($add(self.0, other.0)) }
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: as for `splat`.
            unsafe { Self($sub(self.0, other.0)) }
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: as for `splat`.
            unsafe { Self($mul(self.0, other.0)) }
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            // SAFETY: as for `splat`.
            unsafe { Self($div(self.0, other.0)) }
        }
        #[inline(always)]
        fn mul_add(self, factor: Self, addend: Self) -> Self {
            // SAFETY: as for `splat`.
            unsafe { Self($fma(self.0, factor.0, addend.0)) }
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: as for `splat`. The instruction returns its second operand if one is NaN.
            unsafe { Self($max(self.0, other.0)) }
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // SAFETY: as for `splat`. The instruction returns its second operand if one is NaN.
            unsafe { Self($min(self.0, other.0)) }
        }
    };
}

/// Eight `f32` in a 256-bit register.
#[derive(Clone, Copy)]
pub(crate) struct Avx2F32(__m256);

impl Vector for Avx2F32 {
    type Scalar = f32;
    type Mask = __m256;
    const LANES: usize = 8;

    intrinsics!(
        f32,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_div_ps,
        _mm256_fmadd_ps,
        _mm256_max_ps,
        _mm256_min_ps
    );

    #[inline(always)]
    fn greater(self, other: Self) -> __m256 {
        // SAFETY: as for `splat`.
        unsafe { _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: __m256) -> Self {
        // SAFETY: as for `splat`.
        unsafe { Self(_mm256_blendv_ps(other.0, self.0, mask)) }
    }
    #[inline(always)]
    fn or_zero(self, mask: __m256) -> Self {
        // SAFETY: as for `splat`.
        unsafe { Self(_mm256_and_ps(self.0, mask)) }
    }
    #[inline(always)]
    fn power_of_two(self) -> Self {
        // SAFETY: as for `splat`.
        unsafe {
            let exponent = _mm256_slli_epi32::<23>(_mm256_castps_si256(self.0));
            Self(_mm256_castsi256_ps(_mm256_add_epi32(
                exponent,
                _mm256_set1_epi32(0x3f80_0000),
            )))
        }
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        // SAFETY: as for `splat`.
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }
    #[inline(always)]
    fn sum_four(of: [Self; 4]) -> [f32; 4] {
        let mut sums = [0.0; 4];
        // SAFETY: as for `splat`; `sums` has room for the four numbers that are stored.
        unsafe {
            let halves = _mm256_hadd_ps(_mm256_hadd_ps(of[0].0, of[1].0), _mm256_hadd_ps(of[2].0, of[3].0));
            let four = _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps::<1>(halves));
            _mm_storeu_ps(sums.as_mut_ptr(), four);
        }
        sums
    }
    #[inline(always)]
    fn transpose(from: &[f32], from_stride: usize, to: &mut [f32], to_stride: usize) {
        transpose_f32(from, from_stride, to, to_stride);
    }
}

/// Turns 8 x 8 numbers.
#[inline(always)]
fn transpose_f32(from: &[f32], from_stride: usize, to: &mut [f32], to_stride: usize) {
    let mut rows = [Avx2F32::zero(); 8];
    for (row, value) in rows.iter_mut().enumerate() {
        *value = Avx2F32::load(&from[row * from_stride..]);
    }
    // SAFETY: only reached behind the dispatch, on processors with AVX2 (all with AVX-512F that the dispatch takes have it, too).
    let columns = unsafe {
        let pairs = [
            _mm256_unpacklo_ps(rows[0].0, rows[1].0),
            _mm256_unpackhi_ps(rows[0].0, rows[1].0),
            _mm256_unpacklo_ps(rows[2].0, rows[3].0),
            _mm256_unpackhi_ps(rows[2].0, rows[3].0),
            _mm256_unpacklo_ps(rows[4].0, rows[5].0),
            _mm256_unpackhi_ps(rows[4].0, rows[5].0),
            _mm256_unpacklo_ps(rows[6].0, rows[7].0),
            _mm256_unpackhi_ps(rows[6].0, rows[7].0),
        ];
        let fours = [
            _mm256_shuffle_ps::<0x44>(pairs[0], pairs[2]),
            _mm256_shuffle_ps::<0xee>(pairs[0], pairs[2]),
            _mm256_shuffle_ps::<0x44>(pairs[1], pairs[3]),
            _mm256_shuffle_ps::<0xee>(pairs[1], pairs[3]),
            _mm256_shuffle_ps::<0x44>(pairs[4], pairs[6]),
            _mm256_shuffle_ps::<0xee>(pairs[4], pairs[6]),
            _mm256_shuffle_ps::<0x44>(pairs[5], pairs[7]),
            _mm256_shuffle_ps::<0xee>(pairs[5], pairs[7]),
        ];
        [
            _mm256_permute2f128_ps::<0x20>(fours[0], fours[4]),
            _mm256_permute2f128_ps::<0x20>(fours[1], fours[5]),
            _mm256_permute2f128_ps::<0x20>(fours[2], fours[6]),
            _mm256_permute2f128_ps::<0x20>(fours[3], fours[7]),
            _mm256_permute2f128_ps::<0x31>(fours[0], fours[4]),
            _mm256_permute2f128_ps::<0x31>(fours[1], fours[5]),
            _mm256_permute2f128_ps::<0x31>(fours[2], fours[6]),
            _mm256_permute2f128_ps::<0x31>(fours[3], fours[7]),
        ]
    };
    for (column, value) in columns.into_iter().enumerate() {
        Avx2F32(value).store(&mut to[column * to_stride..]);
    }
}

/// Four `f64` in a 256-bit register.
#[derive(Clone, Copy)]
pub(crate) struct Avx2F64(__m256d);

impl Vector for Avx2F64 {
    type Scalar = f64;
    type Mask = __m256d;
    const LANES: usize = 4;

    intrinsics!(
        f64,
        _mm256_set1_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_mul_pd,
        _mm256_div_pd,
        _mm256_fmadd_pd,
        _mm256_max_pd,
        _mm256_min_pd
    );

    #[inline(always)]
    fn greater(self, other: Self) -> __m256d {
        // SAFETY: as for `splat`.
        unsafe { _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: __m256d) -> Self {
        // SAFETY: as for `splat`.
        unsafe { Self(_mm256_blendv_pd(other.0, self.0, mask)) }
    }
    #[inline(always)]
    fn or_zero(self, mask: __m256d) -> Self {
        // SAFETY: as for `splat`.
        unsafe { Self(_mm256_and_pd(self.0, mask)) }
    }
    #[inline(always)]
    fn power_of_two(self) -> Self {
        // SAFETY: as for `splat`.
        unsafe {
            let exponent = _mm256_slli_epi64::<52>(_mm256_castpd_si256(self.0));
            Self(_mm256_castsi256_pd(_mm256_add_epi64(
                exponent,
                _mm256_set1_epi64x(0x3ff0_0000_0000_0000),
            )))
        }
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        // SAFETY: as for `splat`.
        unsafe {
            let two = _mm_add_pd(_mm256_castpd256_pd128(self.0), _mm256_extractf128_pd::<1>(self.0));
            _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }
}

/// Sixteen `f32` in a 512-bit register.
#[derive(Clone, Copy)]
pub(crate) struct Avx512F32(__m512);

impl Vector for Avx512F32 {
    type Scalar = f32;
    type Mask = __mmask16;
    const LANES: usize = 16;

    intrinsics!(
        f32,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_div_ps,
        _mm512_fmadd_ps,
        _mm512_max_ps,
        _mm512_min_ps
    );

    #[inline(always)]
    fn greater(self, other: Self) -> __mmask16 {
        // SAFETY: as for `splat`.
        unsafe { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: __mmask16) -> Self {
        // SAFETY: as for `splat`.
        unsafe { Self(_mm512_mask_blend_ps(mask, other.0, self.0)) }
    }
    #[inline(always)]
    fn or_zero(self, mask: __mmask16) -> Self {
        // SAFETY: as for `splat`.
        unsafe { Self(_mm512_maskz_mov_ps(mask, self.0)) }
    }
    #[inline(always)]
    fn power_of_two(self) -> Self {
        // SAFETY: as for `splat`.
        unsafe {
            let exponent = _mm512_slli_epi32::<23>(_mm512_castps_si512(self.0));
            Self(_mm512_castsi512_ps(_mm512_add_epi32(
                exponent,
                _mm512_set1_epi32(0x3f80_0000),
            )))
        }
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        // SAFETY: as for `splat`.
        unsafe { _mm512_reduce_add_ps(self.0) }
    }
    #[inline(always)]
    fn transpose(from: &[f32], from_stride: usize, to: &mut [f32], to_stride: usize) {
        for (row, column) in [(0, 0), (0, 8), (8, 0), (8, 8)] {
            let (from, to) = (&from[row * from_stride + column..], &mut to[column * to_stride + row..]);
            transpose_f32(from, from_stride, to, to_stride);
        }
    }
}

/// Eight `f64` in a 512-bit register.
#[derive(Clone, Copy)]
pub(crate) struct Avx512F64(__m512d);

impl Vector for Avx512F64 {
    type Scalar = f64;
    type Mask = __mmask8;
    const LANES: usize = 8;

    intrinsics!(
        f64,
        _mm512_set1_pd,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_mul_pd,
        _mm512_div_pd,
        _mm512_fmadd_pd,
        _mm512_max_pd,
        _mm512_min_pd
    );

    #[inline(always)]
    fn greater(self, other: Self) -> __mmask8 {
        // SAFETY: as for `splat`.
        unsafe { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: __mmask8) -> Self {
        // SAFETY: as for `splat`.
        unsafe { Self(_mm512_mask_blend_pd(mask, other.0, self.0)) }
    }
    #[inline(always)]
    fn or_zero(self, mask: __mmask8) -> Self {
        // SAFETY: as for `splat`.
        unsafe { Self(_mm512_maskz_mov_pd(mask, self.0)) }
    }
    #[inline(always)]
    fn power_of_two(self) -> Self {
        // SAFETY: as for `splat`.
        unsafe {
            let exponent = _mm512_slli_epi64::<52>(_mm512_castpd_si512(self.0));
            Self(_mm512_castsi512_pd(_mm512_add_epi64(
                exponent,
                _mm512_set1_epi64(0x3ff0_0000_0000_0000),
            )))
        }
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        // SAFETY: as for `splat`.
        unsafe { _mm512_reduce_add_pd(self.0) }
    }
}
