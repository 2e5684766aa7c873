//! Stochastic gradient descent with momentum.
//!
//! ```text
//! g = gradient + w p          u = mu u + g          p -= eta (g + mu u: Nesterov, else u)
//! ```
//!
//! p: parameters, u: momentum (both `[length]`), eta: learning rate, mu: momentum factor, w: weight decay. Source:
//! Sutskever et al. 2013 in the form of `torch.optim.SGD` without dampening.

use ernn_kernels::Real;
use serde::{Deserialize, Serialize};

/// Gradient descent with momentum. Defaults are those of torch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sgd {
    /// Part of the last step that goes on.
    pub momentum: f64,
    /// Weight of the L2 term, on spans that decay.
    pub weight_decay: f64,
    /// Looks ahead along the momentum.
    pub nesterov: bool,
}

impl Sgd {
    /// One step on one span; the three slices have one length.
    pub(super) fn apply<F: Real>(
        &self,
        learning_rate: f64,
        decay: bool,
        parameters: &mut [F],
        gradient: &[F],
        momentum: &mut [F],
    ) {
        let penalty = F::from_f64(if decay { self.weight_decay } else { 0.0 });
        let keep = F::from_f64(self.momentum);
        let rate = F::from_f64(learning_rate);
        // Both forms are rate * (a g + b u); plain momentum looks at u alone.
        let (a, b) = if self.nesterov {
            (F::ONE, keep)
        } else {
            (F::ZERO, F::ONE)
        };
        for ((p, &g), u) in parameters.iter_mut().zip(gradient).zip(momentum) {
            let g = g + penalty * *p;
            *u = keep * *u + g;
            *p -= rate * (a * g + b * *u);
        }
    }
}
