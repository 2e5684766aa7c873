//! From the number type and the instruction set to a compiled kernel.
//!
//! Each entry is a function of its own with its instruction set enabled; all kernel code is inlined into it. The entries are
//! not generic, so they are compiled in this crate, at this crate's optimization level.

use crate::simd::portable::{PortableF32, PortableF64};
#[cfg(target_arch = "x86_64")]
use crate::simd::x86::{Avx2F32, Avx2F64, Avx512F32, Avx512F64};
use crate::{Isa, deep, equilibrium, gated, leaky, softmax};

/// The kernels of one number type.
pub trait Kernels: Sized {
    #[doc(hidden)]
    fn leaky_forward(isa: Isa, task: leaky::ForwardTask<Self>);
    #[doc(hidden)]
    fn leaky_backward(isa: Isa, task: leaky::BackwardTask<Self>);
    #[doc(hidden)]
    fn leaky_sequence(isa: Isa, task: leaky::SequenceTask<Self>);
    #[doc(hidden)]
    fn gated_forward(isa: Isa, task: gated::ForwardTask<Self>);
    #[doc(hidden)]
    fn gated_backward(isa: Isa, task: gated::BackwardTask<Self>);
    #[doc(hidden)]
    fn gated_sequence(isa: Isa, task: gated::SequenceTask<Self>);
    #[doc(hidden)]
    fn deep_forward(isa: Isa, task: deep::ForwardTask<Self>);
    #[doc(hidden)]
    fn deep_backward(isa: Isa, task: deep::BackwardTask<Self>);
    #[doc(hidden)]
    fn deep_sequence(isa: Isa, task: deep::SequenceTask<Self>);
    #[doc(hidden)]
    fn equilibrium_solve(isa: Isa, task: equilibrium::SolveTask<Self>);
    #[doc(hidden)]
    fn equilibrium_gradient(isa: Isa, task: equilibrium::GradientTask<Self>);
    #[doc(hidden)]
    fn softmax_logits(isa: Isa, task: softmax::LogitsTask<Self>);
    #[doc(hidden)]
    fn softmax_weight(isa: Isa, task: softmax::WeightTask<Self>);
    #[doc(hidden)]
    fn softmax_states(isa: Isa, task: softmax::StatesTask<Self>);
}

/// One method: checks that the processor has the instruction set, then enters the function compiled for it.
macro_rules! entry {
    ($name:ident, $family:ident::$kernel:ident($task:ident), $scalar:ident, $avx2:ident, $avx512:ident, $portable:ident) => {
        fn $name(isa: Isa, task: $family::$task<Self>) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2(task: $family::$task<$scalar>) {
                $family::$kernel::<$avx2>(task);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512(task: $family::$task<$scalar>) {
                $family::$kernel::<$avx512>(task);
            }
            assert!(isa.is_available(), "this processor has no {isa:?}");
            match isa {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the processor has AVX-512F, AVX2 and FMA: asserted above.
                Isa::Avx512 => unsafe { avx512(task) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the processor has AVX2 and FMA: asserted above.
                Isa::Avx2 => unsafe { avx2(task) },
                _ => $family::$kernel::<$portable>(task),
            }
        }
    };
}

macro_rules! kernels {
    ($scalar:ident, $avx2:ident, $avx512:ident, $portable:ident) => {
        impl Kernels for $scalar {
            entry!(
                leaky_forward,
                leaky::forward_block(ForwardTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                leaky_backward,
                leaky::backward_block(BackwardTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                leaky_sequence,
                leaky::run_sequence(SequenceTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                gated_forward,
                gated::forward_block(ForwardTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                gated_backward,
                gated::backward_block(BackwardTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                gated_sequence,
                gated::run_sequence(SequenceTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                deep_forward,
                deep::forward_block(ForwardTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                deep_backward,
                deep::backward_block(BackwardTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                deep_sequence,
                deep::run_sequence(SequenceTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                equilibrium_solve,
                equilibrium::solve(SolveTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                equilibrium_gradient,
                equilibrium::differentiate(GradientTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                softmax_logits,
                softmax::logits(LogitsTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                softmax_weight,
                softmax::weight(WeightTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
            entry!(
                softmax_states,
                softmax::states(StatesTask),
                $scalar,
                $avx2,
                $avx512,
                $portable
            );
        }
    };
}

kernels!(f32, Avx2F32, Avx512F32, PortableF32);
kernels!(f64, Avx2F64, Avx512F64, PortableF64);
