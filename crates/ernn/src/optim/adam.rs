//! Adam and AdamW.
//!
//! ```text
//! g  = gradient (+ w p: Adam's L2 term)          p = (1 - eta w) p: AdamW's decay, before the step
//! m += (1 - beta1) (g - m)                       v = beta2 v + (1 - beta2) g^2
//! p -= eta / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
//! ```
//!
//! p: parameters, m: first moment, v: second moment (all `[length]`), eta: learning rate, w: weight decay, t: step, from 1.
//! Sources: Kingma and Ba 2015; Loshchilov and Hutter 2019; values and order of operations as `torch.optim.Adam`, `AdamW`.

use ernn_kernels::Real;
use serde::{Deserialize, Serialize};

/// Adam with weight decay as an L2 term of the gradient. Defaults are those of the paper and of torch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Adam {
    /// Memory of the gradient's mean.
    pub beta1: f64,
    /// Memory of the gradient's mean square.
    pub beta2: f64,
    /// Added to the root of the mean square.
    pub epsilon: f64,
    /// Weight of the L2 term, on spans that decay.
    pub weight_decay: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Adam {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
        }
    }
}

/// Adam with decoupled weight decay. Defaults are those of torch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamW {
    /// Memory of the gradient's mean.
    pub beta1: f64,
    /// Memory of the gradient's mean square.
    pub beta2: f64,
    /// Added to the root of the mean square.
    pub epsilon: f64,
    /// Times the learning rate: the fraction of a parameter lost a step, on spans that decay.
    pub weight_decay: f64,
}

impl Default for AdamW {
    fn default() -> Self {
        AdamW {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.01,
        }
    }
}

impl Adam {
    pub(super) fn rule<F: Real>(&self, step: u64, learning_rate: f64, decay: bool) -> Rule<F> {
        let penalty = if decay { self.weight_decay } else { 0.0 };
        Rule::new(self, step, learning_rate, penalty, 1.0)
    }
}

impl AdamW {
    pub(super) fn rule<F: Real>(&self, step: u64, learning_rate: f64, decay: bool) -> Rule<F> {
        let shrink = if decay {
            1.0 - learning_rate * self.weight_decay
        } else {
            1.0
        };
        let &AdamW {
            beta1, beta2, epsilon, ..
        } = self;
        let adam = Adam {
            beta1,
            beta2,
            epsilon,
            weight_decay: 0.0,
        };
        Rule::new(&adam, step, learning_rate, 0.0, shrink)
    }
}

/// The factors of one step on one span, found in f64 and rounded once.
pub(super) struct Rule<F> {
    penalty: F,
    shrink: F,
    first_weight: F,
    second_keep: F,
    second_weight: F,
    root_scale: F,
    epsilon: F,
    rate: F,
}

impl<F: Real> Rule<F> {
    fn new(adam: &Adam, step: u64, learning_rate: f64, penalty: f64, shrink: f64) -> Self {
        let correction = |beta: f64| 1.0 - beta.powf(step as f64);
        Rule {
            penalty: F::from_f64(penalty),
            shrink: F::from_f64(shrink),
            first_weight: F::from_f64(1.0 - adam.beta1),
            second_keep: F::from_f64(adam.beta2),
            second_weight: F::from_f64(1.0 - adam.beta2),
            root_scale: F::from_f64(1.0 / correction(adam.beta2).sqrt()),
            epsilon: F::from_f64(adam.epsilon),
            rate: F::from_f64(learning_rate / correction(adam.beta1)),
        }
    }

    /// One step; the four slices have one length.
    pub(super) fn apply(&self, parameters: &mut [F], gradient: &[F], first: &mut [F], second: &mut [F]) {
        let moments = first.iter_mut().zip(second);
        for ((p, &g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
            let g = g + self.penalty * *p;
            *m += self.first_weight * (g - *m);
            *v = self.second_keep * *v + self.second_weight * (g * g);
            let root = v.sqrt() * self.root_scale + self.epsilon;
            *p = self.shrink * *p - self.rate * (*m / root);
        }
    }
}
