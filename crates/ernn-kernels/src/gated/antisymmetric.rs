//! AntisymmetricRNN with gating (Chang, Chen, Haber, Chi, ICLR 2019, eq. 16): one product `p = R h_{t-1}`, `R` antisymmetric but
//! for its diagonal, serves gate and candidate:
//!
//! ```text
//! z   = sigma(p + W_z x_t + b_z)      c = phi(p + W_c x_t + b_c)
//! h_t = h_{t-1} + epsilon z c
//! ```

use super::{Constants, Formula, Here, Past, Plan};
use crate::simd::Vector;

pub(crate) struct Antisymmetric;

impl Formula for Antisymmetric {
    const PLAN: Plan = Plan {
        groups: 3,
        kept: 2,
        input: (0, 2),
        state: (2, 3),
        memory: false,
        reset: false,
        scalars: false,
        gates: (0, 1),
        candidate: 1,
        prepared: true,
        gated_candidate: false,
    };

    #[inline(always)]
    fn prepare<V: Vector>(constants: &Constants<V>, [z, c, p, _]: [V; 4], h: V) -> [V; 4] {
        let p = h.mul_add(constants.identity, p);
        [z.add(p), c.add(p), p, p]
    }

    #[inline(always)]
    fn forward<V: Vector>(constants: &Constants<V>, [z, c, _, _]: [V; 4], h: V, _: V) -> V {
        constants.scalars[0].mul_add(z.mul(c), h)
    }

    #[inline(always)]
    fn backward<V: Vector>(constants: &Constants<V>, here: &Here<V>) -> Past<V> {
        let [z, c, _, _] = here.kept;
        let at_product = here.gradient.mul(constants.scalars[0]);
        Past {
            deltas: [at_product.mul(c), at_product.mul(z), V::zero(), V::zero()],
            gradient: here.gradient,
            memory_gradient: V::zero(),
            scalars: [V::zero(); 2],
        }
    }
}
