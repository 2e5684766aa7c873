//! Which instruction set runs the kernels: chosen once at run time, the best one or the one that `ERNN_ISA` names.

use std::ffi::OsStr;
use std::fmt;
use std::sync::OnceLock;

/// The environment variable that names the instruction set of [`Isa::best`]: `avx512`, `avx2` or `portable`.
const VARIABLE: &str = "ERNN_ISA";

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

    /// The instruction set that everything runs on unless told otherwise, looked up once: that of `ERNN_ISA`, else the best one of
    /// this machine. A choice that cannot be had is passed over here; programs ask [`Isa::choice`] first.
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Isa::choice().unwrap_or_else(|_| Isa::available()[0]))
    }

    /// What the environment variable `ERNN_ISA` chooses, or the best instruction set of this machine where it is not set, or empty.
    ///
    /// # Errors
    /// If it names no instruction set, or one that this machine lacks.
    pub fn choice() -> Result<Isa, IsaError> {
        Isa::chosen(std::env::var_os(VARIABLE).as_deref())
    }

    fn chosen(name: Option<&OsStr>) -> Result<Isa, IsaError> {
        let available = Isa::available();
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Ok(available[0]);
        };
        let named = available.iter().find(|isa| name == isa.name());
        named.copied().ok_or_else(|| IsaError {
            found: name.to_string_lossy().into_owned(),
            available,
        })
    }

    /// Its name in `ERNN_ISA` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Avx512 => "avx512",
            Isa::Avx2 => "avx2",
            Isa::Portable => "portable",
        }
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

/// `ERNN_ISA` asks for what this machine does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsaError {
    /// What it names.
    pub found: String,
    /// What this machine has, best first.
    pub available: Vec<Isa>,
}

impl fmt::Display for IsaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.available.iter().map(|isa| isa.name()).collect();
        write!(
            f,
            "{VARIABLE}: found {:?}, expected an instruction set of this machine: {}",
            self.found,
            names.join(", ")
        )
    }
}

impl std::error::Error for IsaError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_available_set_can_be_chosen_by_its_name() {
        for isa in Isa::available() {
            assert_eq!(Isa::chosen(Some(OsStr::new(isa.name()))), Ok(isa));
        }
        for unset in [None, Some(OsStr::new(""))] {
            assert_eq!(Isa::chosen(unset), Ok(Isa::available()[0]));
        }
    }

    #[test]
    fn what_the_machine_lacks_is_refused_with_what_it_has() {
        let error = Isa::chosen(Some(OsStr::new("neon"))).unwrap_err().to_string();
        assert!(
            error.starts_with("ERNN_ISA: found \"neon\", expected") && error.ends_with("portable"),
            "{error}"
        );
    }
}
