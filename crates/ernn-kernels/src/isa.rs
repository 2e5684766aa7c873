//! Which instruction set runs the kernels: chosen once at run time.

use std::sync::OnceLock;

/// An instruction set that the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// x86-64 with AVX-512F: 512-bit vectors.
    Avx512,
    /// x86-64 with AVX2 and FMA: 256-bit vectors.
    Avx2,
    /// Plain Rust, any processor.
    Portable,
}

impl Isa {
    /// The instruction sets that this machine can run, best first; never empty.
    pub fn available() -> Vec<Isa> {
        [Isa::Avx512, Isa::Avx2, Isa::Portable]
            .into_iter()
            .filter(|isa| isa.is_available())
            .collect()
    }

    /// The best instruction set of this machine, looked up once.
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Isa::available()[0])
    }

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => is_x86_feature_detected!("avx512f") && Isa::Avx2.is_available(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 | Isa::Avx2 => false,
            Isa::Portable => true,
        }
    }

    /// Bytes in two vector registers: the width of a panel row.
    pub fn row_bytes(self) -> usize {
        match self {
            Isa::Avx512 => 128,
            Isa::Avx2 => 64,
            Isa::Portable => 32,
        }
    }

    /// Sequences that one panel holds side by side: two vectors of `F`.
    pub fn lanes<F>(self) -> usize {
        self.row_bytes() / size_of::<F>()
    }
}
