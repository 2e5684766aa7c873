//! FastGRNN (Kusupati et al., NeurIPS 2018, section 3.2). One product `p = W x_t + U h_{t-1}` serves both gates:
//!
//! ```text
//! z   = sigma(p + b_z)      c = phi(p + b_c)
//! h_t = (zeta (1 - z) + nu) c + z h_{t-1}
//! ```
//!
//! The groups z and c have no product of their own: their sums are the biases.

use super::{Constants, Formula, Here, Past, Plan};
use crate::Real;
use crate::simd::Vector;

pub(crate) struct FastGrnn;

/// `zeta (1 - z) + nu`.
#[inline(always)]
fn weight<V: Vector>(constants: &Constants<V>, rest: V) -> V {
    rest.mul_add(constants.scalars[0], constants.scalars[1])
}

impl Formula for FastGrnn {
    const PLAN: Plan = Plan {
        groups: 3,
        kept: 2,
        input: (2, 3),
        state: (2, 3),
        memory: false,
        reset: false,
        scalars: true,
        gates: (0, 1),
        candidate: 1,
        prepared: true,
        gated_candidate: false,
    };

    #[inline(always)]
    fn prepare<V: Vector>(_: &Constants<V>, [z, c, p, _]: [V; 4], _: V) -> [V; 4] {
        [z.add(p), c.add(p), p, p]
    }

    #[inline(always)]
    fn forward<V: Vector>(constants: &Constants<V>, [z, c, _, _]: [V; 4], h: V, _: V) -> V {
        let rest = V::splat(V::Scalar::ONE).sub(z);
        z.mul_add(h, weight(constants, rest).mul(c))
    }

    #[inline(always)]
    fn backward<V: Vector>(constants: &Constants<V>, here: &Here<V>) -> Past<V> {
        let [z, c, _, _] = here.kept;
        let rest = V::splat(V::Scalar::ONE).sub(z);
        let at_weight = here.gradient.mul(c);
        let at_z = here.gradient.mul(here.h).sub(at_weight.mul(constants.scalars[0]));
        let at_c = here.gradient.mul(weight(constants, rest));
        Past {
            deltas: [at_z, at_c, V::zero(), V::zero()],
            gradient: here.gradient.mul(z),
            memory_gradient: V::zero(),
            scalars: [at_weight.mul(rest), at_weight],
        }
    }
}
