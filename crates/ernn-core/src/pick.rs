//! Small things that every number format does: the class of logits, a copy.

/// The place of the largest number, the first of equals; 0 of none.
pub fn largest<N: PartialOrd>(logits: &[N]) -> usize {
    let mut best = (0, logits.first());
    for (place, logit) in logits.iter().enumerate().skip(1) {
        if best.1.is_some_and(|largest| logit > largest) {
            best = (place, Some(logit));
        }
    }
    best.0
}

/// Copies as many numbers as both have. Unlike `copy_from_slice` it has no path to a panic, whose text and machinery would lie in
/// the flash of every device.
pub(crate) fn copy<N: Copy>(to: &mut [N], from: &[N]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = from;
    }
}
