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
            self.start = self.storage.as_ptr().align_offset(LINE).min(LINE / size_of::<F>());
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

impl<F: Real> Clone for Aligned<F> {
    fn clone(&self) -> Self {
        let mut copy = Aligned::default();
        copy.resize(self.len);
        copy.copy_from_slice(self);
        copy
    }
}
