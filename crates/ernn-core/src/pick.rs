//! The class of logits.

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
