//! A growable buffer whose first number lies on a cache line: a row of a panel then never straddles two lines.

use std::ops::{Deref, DerefMut};

use crate::Real;

/// Bytes in a cache line, and in the widest register.
const LINE: usize = 64;

/// Like a `Vec` of numbers, aligned to 64 bytes.
#[derive(Debug)]
pub(crate) struct Aligned<F> {
    storage: Vec<F>,
    start: usize,
    len: usize,
}

impl<F> Default for Aligned<F> {
    fn default() -> Self {
        Aligned {
            storage: Vec::new(),
            start: 0,
            len: 0,
        }
    }
}

impl<F: Real> Aligned<F> {
    /// Makes room for `len` numbers. What they are is unspecified (old values or zeros): the caller writes before it reads.
    pub(crate) fn resize(&mut self, len: usize) {
        let needed = len + LINE / size_of::<F>();
        if self.storage.len() < needed {
            // A fresh zeroed allocation is cheaper than growing: no copy, and pages are mapped when first touched.
            self.storage = vec![F::ZERO; needed];
            self.start = first_line(&self.storage);
        }
        self.len = len;
    }

    /// Numbers that there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.storage.len()
    }
}

impl<F> Deref for Aligned<F> {
    type Target = [F];
    fn deref(&self) -> &[F] {
        &self.storage[self.start..self.start + self.len]
    }
}

impl<F> DerefMut for Aligned<F> {
    fn deref_mut(&mut self) -> &mut [F] {
        &mut self.storage[self.start..self.start + self.len]
    }
}

impl<F: Clone> Clone for Aligned<F> {
    fn clone(&self) -> Self {
        // The copy lies elsewhere, and so does its first cache line.
        let mut storage = self.storage.clone();
        let start = first_line(&storage);
        storage[start..start + self.len].clone_from_slice(self);
        Aligned {
            storage,
            start,
            len: self.len,
        }
    }
}

/// The first number that lies on a cache line; none does in an empty buffer.
fn first_line<F>(storage: &[F]) -> usize {
    let offset = storage.as_ptr().align_offset(LINE);
    offset.min(LINE / size_of::<F>()).min(storage.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_begins_at_a_cache_line_too_and_holds_the_same() {
        let mut buffer = Aligned::default();
        for len in [0, 1, 100] {
            buffer.resize(len);
            for (index, value) in buffer.iter_mut().enumerate() {
                *value = index as f32;
            }
            // Many, so that their buffers lie at different places.
            let copies: Vec<Aligned<f32>> = (0..20).map(|_| buffer.clone()).collect();
            for copy in copies {
                assert_eq!(copy[..], buffer[..]);
                assert!((copy.as_ptr() as usize).is_multiple_of(LINE));
            }
        }
        assert!(Aligned::<f32>::default().clone().is_empty());
    }
}
