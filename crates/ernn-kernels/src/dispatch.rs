//! From the number type and the instruction set to a compiled kernel.
//!
//! Each entry is a function of its own with its instruction set enabled; all kernel code is inlined into it. The entries are
//! not generic, so they are compiled in this crate, at this crate's optimization level.

use crate::Isa;
use crate::leaky::{BackwardTask, ForwardTask, SequenceTask, backward_block, forward_block, run_sequence};
use crate::simd::portable::{PortableF32, PortableF64};
#[cfg(target_arch = "x86_64")]
use crate::simd::x86::{Avx2F32, Avx2F64, Avx512F32, Avx512F64};

/// The kernels of one number type.
pub trait Kernels: Sized {
    #[doc(hidden)]
    fn forward_block(isa: Isa, task: ForwardTask<Self>);
    #[doc(hidden)]
    fn backward_block(isa: Isa, task: BackwardTask<Self>);
    #[doc(hidden)]
    fn run_sequence(isa: Isa, task: SequenceTask<Self>);
}

/// One method: checks that the processor has the instruction set, then enters the function compiled for it.
macro_rules! entry {
    ($name:ident, $task:ident, $scalar:ident, $avx2:ident, $avx512:ident, $portable:ident) => {
        fn $name(isa: Isa, task: $task<Self>) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2(task: $task<$scalar>) {
                $name::<$avx2>(task);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512(task: $task<$scalar>) {
                $name::<$avx512>(task);
            }
            assert!(isa.is_available(), "this processor has no {isa:?}");
            match isa {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the processor has AVX-512F, AVX2 and FMA: asserted above.
                Isa::Avx512 => unsafe { avx512(task) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the processor has AVX2 and FMA: asserted above.
                Isa::Avx2 => unsafe { avx2(task) },
                _ => $name::<$portable>(task),
            }
        }
    };
}

macro_rules! kernels {
    ($scalar:ident, $avx2:ident, $avx512:ident, $portable:ident) => {
        impl Kernels for $scalar {
            entry!(forward_block, ForwardTask, $scalar, $avx2, $avx512, $portable);
            entry!(backward_block, BackwardTask, $scalar, $avx2, $avx512, $portable);
            entry!(run_sequence, SequenceTask, $scalar, $avx2, $avx512, $portable);
        }
    };
}

kernels!(f32, Avx2F32, Avx512F32, PortableF32);
kernels!(f64, Avx2F64, Avx512F64, PortableF64);
