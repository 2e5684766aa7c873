//! The two heavy kernels as functions of their own for every register type, each with its instruction set enabled.
//!
//! Inlining them at every place of use would make functions so large that the compiler needs minutes; a call costs nothing
//! beside the thousands of operations behind it.

use crate::outer::{Outer, outer};
use crate::product::{Epilogue, Product, product};
use crate::simd::Vector;
use crate::simd::portable::{PortableF32, PortableF64};
#[cfg(target_arch = "x86_64")]
use crate::simd::x86::{Avx2F32, Avx2F64, Avx512F32, Avx512F64};

/// A register type with its compiled kernels.
pub(crate) trait Compiled: Vector {
    /// Matrix x panel, see [`crate::product`].
    fn product<E: Epilogue<Self>>(of: Product<Self::Scalar>, epilogue: &mut E);
    /// Weight gradient, see [`crate::outer`].
    fn outer(of: Outer<Self::Scalar>, gradient: &mut [Self::Scalar]);
}

macro_rules! compiled {
    ($vector:ident $(, $features:literal)?) => {
        impl Compiled for $vector {
            #[inline(always)]
            fn product<E: Epilogue<Self>>(of: Product<Self::Scalar>, epilogue: &mut E) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn run<E: Epilogue<$vector>>(of: Product<<$vector as Vector>::Scalar>, epilogue: &mut E) {
                    product::<$vector, E>(of, epilogue);
                }
                // SAFETY: only reached from kernels that the dispatch has entered on a processor with these instructions.
                #[allow(unused_unsafe)]
                unsafe {
                    run(of, epilogue);
                }
            }
            #[inline(always)]
            fn outer(of: Outer<Self::Scalar>, gradient: &mut [Self::Scalar]) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn run(of: Outer<<$vector as Vector>::Scalar>, gradient: &mut [<$vector as Vector>::Scalar]) {
                    outer::<$vector>(of, gradient);
                }
                // SAFETY: only reached from kernels that the dispatch has entered on a processor with these instructions.
                #[allow(unused_unsafe)]
                unsafe {
                    run(of, gradient);
                }
            }
        }
    };
}

compiled!(PortableF32);
compiled!(PortableF64);
#[cfg(target_arch = "x86_64")]
compiled!(Avx2F32, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(Avx2F64, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(Avx512F32, "avx512f,avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(Avx512F64, "avx512f,avx2,fma");
