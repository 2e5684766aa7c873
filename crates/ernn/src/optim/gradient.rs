//! What happens to a gradient before the step: is it finite, how long is it, is it too long.
//!
//! ```text
//! |g| = sqrt(sum_i g_i^2)          clipped: g * min(1, c / (|g| + 1e-6))
//! ```
//!
//! g [length], over all tensors at once; sums in f64, so that an f32 gradient can neither overflow nor lose its small terms.
//! Source: Pascanu et al. 2013 in the form of `torch.nn.utils.clip_grad_norm_`.

use ernn_kernels::Real;

use crate::cell::Span;

/// Independent sums of squares, so that the additions overlap; fixed, so that the norm is the same bits on every machine.
const PARTIAL_SUMS: usize = 8;

/// Values that are looked at together.
const CHUNK: usize = 64;

/// The Euclidean norm over all tensors.
pub fn global_norm<F: Real>(gradient: &[F]) -> f64 {
    let mut sums = [0.0; PARTIAL_SUMS];
    for chunk in gradient.chunks(PARTIAL_SUMS) {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            let value = value.to_f64();
            *sum += value * value;
        }
    }
    sums.iter().sum::<f64>().sqrt()
}

/// Shortens a gradient that is longer than `max_norm`; gives the norm that it had.
///
/// A gradient whose norm is not finite stays as it is, so that [`first_not_finite`] can still name the culprit.
pub fn clip_global_norm<F: Real>(gradient: &mut [F], max_norm: f64) -> f64 {
    let norm = global_norm(gradient);
    let factor = max_norm / (norm + 1e-6);
    if norm.is_finite() && factor < 1.0 {
        let factor = F::from_f64(factor);
        for value in gradient {
            *value *= factor;
        }
    }
    norm
}

/// The first span whose gradient holds an infinity or NaN, with that value.
pub fn first_not_finite<'a, F: Real>(gradient: &[F], spans: &'a [Span]) -> Option<(&'a Span, f64)> {
    spans.iter().find_map(|span| {
        // Looking at a whole chunk without an early end lets the compiler use vectors.
        let all_finite = |chunk: &&[F]| chunk.iter().fold(true, |finite, value| finite & value.is_finite());
        let chunk = gradient[span.range()].chunks(CHUNK).find(|chunk| !all_finite(chunk))?;
        let value = chunk.iter().find(|value| !value.is_finite())?;
        Some((span, value.to_f64()))
    })
}
