//! The native part of the Python package `ernn`: arrays go in, the library works with the interpreter released, arrays come out.
//!
//! Nothing is computed here. What a Python user sees stands in `python/ernn`.

mod failure;
mod layer;
mod model;
mod recordings;
mod sequences;
mod settings;
mod stream;
mod tape;
mod threads;
mod training;

/// The module `ernn._ernn`.
#[pyo3::pymodule]
mod _ernn {
    #[pymodule_export]
    use crate::failure::DivergedError;
    #[pymodule_export]
    use crate::layer::Layer;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::recordings::windows;
    #[pymodule_export]
    use crate::settings::Settings;
    #[pymodule_export]
    use crate::stream::{Listener, Stream};
    #[pymodule_export]
    use crate::tape::Tape;
    #[pymodule_export]
    use crate::training::fit;

    /// Refuses an instruction set that this machine lacks (`ERNN_ISA`) when the package is imported.
    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        match ernn::Isa::choice() {
            Ok(_) => Ok(()),
            Err(error) => Err(crate::failure::exception(ernn::Error::instruction_set(error))),
        }
    }

    /// The version of package and library.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
