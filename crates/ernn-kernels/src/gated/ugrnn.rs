//! UGRNN (Collins, Sohl-Dickstein, Sussillo, 2017): `h_t = z h_{t-1} + (1 - z) c`, `z = sigma(sum_z)`, `c = phi(sum_c)`.

use super::{Constants, Formula, Here, Past, Plan};
use crate::Real;
use crate::simd::Vector;

pub(crate) struct Ugrnn;

impl Formula for Ugrnn {
    const PLAN: Plan = Plan {
        groups: 2,
        kept: 2,
        input: (0, 2),
        state: (0, 2),
        memory: false,
        reset: false,
        scalars: false,
        gates: (0, 1),
        candidate: 1,
        prepared: false,
        gated_candidate: false,
    };

    #[inline(always)]
    fn forward<V: Vector>(_: &Constants<V>, [z, c, _, _]: [V; 4], h: V, _: V) -> V {
        z.mul_add(h.sub(c), c)
    }

    #[inline(always)]
    fn backward<V: Vector>(_: &Constants<V>, here: &Here<V>) -> Past<V> {
        let [z, c, _, _] = here.kept;
        let rest = V::splat(V::Scalar::ONE).sub(z);
        Past {
            deltas: [
                here.gradient.mul(here.h.sub(c)),
                here.gradient.mul(rest),
                V::zero(),
                V::zero(),
            ],
            gradient: here.gradient.mul(z),
            memory_gradient: V::zero(),
            scalars: [V::zero(); 2],
        }
    }
}
