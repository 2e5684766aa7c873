//! The heavy kernels as functions of their own for every register type, each with its instruction set enabled.
//!
//! Inlining them at every place of use would make functions so large that the compiler needs minutes; a call costs nothing
//! beside the thousands of operations behind it. `inline(never)` alone does not keep them apart: of a function with an instruction
//! set, the compiler (1.95) heeds it only at calls from functions that have the same one, and the methods here have none. So the calls
//! go through a pointer that it cannot see through.

use std::hint::black_box;

use crate::Activation;
use crate::columns::{Columns, Start, Way, columns, inputs};
use crate::gated::{self, Formula};
use crate::math::{activate, derive};
use crate::outer::{Outer, outer};
use crate::product::{Epilogue, Product, product};
use crate::rows::{BlockOut, BlockRows, add_step, write_step};
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
    /// Matrix x vector of one sequence, see [`crate::columns`].
    fn columns(
        weights: &Columns<Self::Scalar>,
        source: &[Self::Scalar],
        start: Start<Self::Scalar>,
        way: Way,
        sums: &mut [Self::Scalar],
    );
    /// The input's part of the sums of several steps, see [`crate::columns::inputs`].
    fn inputs(
        weights: &Columns<Self::Scalar>,
        bias: &[Self::Scalar],
        sources: &[Self::Scalar],
        place: [usize; 2],
        rows: &mut [Self::Scalar],
    );
    /// An activation of whole registers, in place.
    fn activate(activation: Activation, values: &mut [Self::Scalar]);
    /// Its derivative, from the outputs, times the deltas.
    fn derive(activation: Activation, outputs: &[Self::Scalar], deltas: &mut [Self::Scalar]);
    /// Adds rows from outside to a panel, see [`crate::rows`].
    fn add_step(rows: BlockRows<Self::Scalar>, lengths: &[usize], step: usize, sums: &mut [Self::Scalar]);
    /// Writes a panel to rows outside.
    fn write_step(panel: &[Self::Scalar], lengths: &[usize], step: usize, out: &mut BlockOut<Self::Scalar>);
    /// Forward pass of one gated cell.
    fn gated_forward<C: Formula>(task: gated::ForwardTask<Self::Scalar>);
    /// Its backward pass.
    fn gated_backward<C: Formula>(task: gated::BackwardTask<Self::Scalar>);
    /// Its forward pass of one sequence.
    fn gated_sequence<C: Formula>(task: gated::SequenceTask<Self::Scalar>);
}

/// One method: a function of its own with the instruction set enabled.
macro_rules! entry {
    ($(#[$features:meta])? $name:ident $(<$generic:ident: $bound:ident>)? ($($argument:ident: $type:ty),+) => $call:expr) => {
        #[inline(always)]
        fn $name $(<$generic: $bound>)? ($($argument: $type),+) {
            $(#[$features])?
            #[inline(never)]
            fn run $(<$generic: $bound>)? ($($argument: $type),+) {
                $call
            }
            let run: unsafe fn($($type),+) = black_box(run $(::<$generic>)?);
            // SAFETY: only reached from kernels that the dispatch has entered on a processor with these instructions.
            unsafe { run($($argument),+) }
        }
    };
}

macro_rules! compiled {
    ($vector:ident, $scalar:ident $(, $features:literal)?) => {
        impl Compiled for $vector {
            #[inline(always)]
            fn product<E: Epilogue<Self>>(of: Product<$scalar>, epilogue: &mut E) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn run<E: Epilogue<$vector>>(of: Product<$scalar>, epilogue: &mut E) {
                    product::<$vector, E>(of, epilogue);
                }
                let run: unsafe fn(Product<$scalar>, &mut E) = black_box(run::<E>);
                // SAFETY: only reached from kernels that the dispatch has entered on a processor with these instructions.
                unsafe { run(of, epilogue) }
            }
            entry!($(#[target_feature(enable = $features)])? outer(of: Outer<$scalar>, gradient: &mut [$scalar])
                => outer::<$vector>(of, gradient));
            entry!($(#[target_feature(enable = $features)])?
                columns(weights: &Columns<$scalar>, source: &[$scalar], start: Start<$scalar>, way: Way, sums: &mut [$scalar])
                => columns::<$vector>(weights, source, start, way, sums));
            entry!($(#[target_feature(enable = $features)])?
                inputs(weights: &Columns<$scalar>, bias: &[$scalar], sources: &[$scalar], place: [usize; 2], rows: &mut [$scalar])
                => inputs::<$vector>(weights, bias, sources, place, rows));
            entry!($(#[target_feature(enable = $features)])? activate(activation: Activation, values: &mut [$scalar])
                => activate::<$vector>(activation, values));
            entry!($(#[target_feature(enable = $features)])?
                derive(activation: Activation, outputs: &[$scalar], deltas: &mut [$scalar])
                => derive::<$vector>(activation, outputs, deltas));
            entry!($(#[target_feature(enable = $features)])?
                add_step(rows: BlockRows<$scalar>, lengths: &[usize], step: usize, sums: &mut [$scalar])
                => add_step::<$vector>(rows, lengths, step, sums));
            entry!($(#[target_feature(enable = $features)])?
                write_step(panel: &[$scalar], lengths: &[usize], step: usize, out: &mut BlockOut<$scalar>)
                => write_step::<$vector>(panel, lengths, step, out));
            entry!($(#[target_feature(enable = $features)])?
                gated_forward<C: Formula>(task: gated::ForwardTask<$scalar>) => gated::forward::<$vector, C>(task));
            entry!($(#[target_feature(enable = $features)])?
                gated_backward<C: Formula>(task: gated::BackwardTask<$scalar>) => gated::backward::<$vector, C>(task));
            entry!($(#[target_feature(enable = $features)])?
                gated_sequence<C: Formula>(task: gated::SequenceTask<$scalar>) => gated::sequence::<$vector, C>(task));
        }
    };
}

compiled!(PortableF32, f32);
compiled!(PortableF64, f64);
#[cfg(target_arch = "x86_64")]
compiled!(Avx2F32, f32, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(Avx2F64, f64, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(Avx512F32, f32, "avx512f,avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(Avx512F64, f64, "avx512f,avx2,fma");
