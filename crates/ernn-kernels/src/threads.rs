//! Work shared out over threads: those of the current rayon pool, or none beside the caller's.

use std::cell::Cell;

use rayon::prelude::*;

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with the recurrent kernels in it (all but [`crate::Softmax`]) on the calling thread, and without asking for a pool: to
/// hand a small batch to another thread and wait for it costs more than its arithmetic.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    /// Puts the old value back, even if a kernel panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _before = Before(ALONE.replace(true));
    work()
}

/// How many threads there are.
pub(crate) fn count() -> usize {
    if ALONE.get() { 1 } else { rayon::current_num_threads() }
}

/// Runs the tasks on all threads; on one thread without any overhead.
pub(crate) fn for_each_block<T: Send>(tasks: Vec<T>, run: impl Fn(T) + Sync + Send) {
    if count() == 1 || tasks.len() == 1 {
        tasks.into_iter().for_each(run);
    } else {
        tasks.into_par_iter().with_max_len(1).for_each(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_means_the_calling_thread() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let caller = || {
            let own = std::thread::current().id();
            alone(|| for_each_block(vec![(); 50], |()| assert_eq!(std::thread::current().id(), own)));
        };
        caller();
        pool.install(caller);
        assert_eq!(pool.install(count), 3, "only while it runs");
    }
}
