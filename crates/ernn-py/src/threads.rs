//! The threads that kernels called from Python compute with.
//!
//! A pool does not survive a fork (its threads stay with the parent), so each process has its own, made when it is first needed.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

struct Owned {
    process: u32,
    pool: Arc<ThreadPool>,
}

static POOL: Mutex<Option<Owned>> = Mutex::new(None);

/// Runs `work` on `count` threads with the interpreter released.
pub fn run<T: Send>(py: Python, count: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool(count)?;
    Ok(py.detach(|| pool.install(work)))
}

/// As [`run`] for `work` whose threads are those of recurrent kernels alone: one thread is the calling one.
pub fn run_kernels<T: Send>(py: Python, count: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if count == 1 {
        return Ok(py.detach(|| ernn_kernels::alone(work)));
    }
    run(py, count, work)
}

fn pool(count: usize) -> PyResult<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(owned) = slot.take() {
        if owned.process != process {
            // Dropping it would wait for threads that this process does not have.
            std::mem::forget(owned);
        } else if owned.pool.current_num_threads() == count {
            let pool = Arc::clone(&owned.pool);
            *slot = Some(owned);
            return Ok(pool);
        }
    }
    let built = ThreadPoolBuilder::new().num_threads(count).build();
    let pool = built.map_err(|error| {
        PyValueError::new_err(format!(
            "threads: found {count} ({error}), expected a number of threads that this machine can start"
        ))
    })?;
    let pool = Arc::new(pool);
    *slot = Some(Owned {
        process,
        pool: Arc::clone(&pool),
    });
    Ok(pool)
}
