//! GRU (Cho et al., 2014), with the reset before the product as there, or after it (cuDNN, torch):
//!
//! ```text
//! n   = phi(sum_n + r * sum_n')     after:  groups n of the input, r, z, n' of the state
//! n   = phi(sum_n)                  before: groups r, z, n; the product of n has read r * h_{t-1}
//! h_t = (1 - z) n + z h_{t-1}       r = sigma(sum_r), z = sigma(sum_z)
//! ```

use super::{Constants, Formula, Here, Past, Plan};
use crate::Real;
use crate::simd::Vector;

pub(crate) struct GruAfter;
pub(crate) struct GruBefore;

/// `(1 - z) n + z h`.
#[inline(always)]
fn blend<V: Vector>(z: V, n: V, h: V) -> V {
    z.mul_add(h.sub(n), n)
}

/// The gradients at z and n.
#[inline(always)]
fn blend_back<V: Vector>(z: V, n: V, here: &Here<V>) -> [V; 2] {
    let rest = V::splat(V::Scalar::ONE).sub(z);
    [here.gradient.mul(here.h.sub(n)), here.gradient.mul(rest)]
}

impl Formula for GruAfter {
    const PLAN: Plan = Plan {
        groups: 4,
        kept: 4,
        input: (0, 3),
        state: (1, 4),
        memory: false,
        reset: false,
        scalars: false,
        gates: (1, 3),
        candidate: 0,
        prepared: false,
        gated_candidate: true,
    };

    #[inline(always)]
    fn candidate<V: Vector>([from_input, r, _, from_state]: [V; 4]) -> V {
        r.mul_add(from_state, from_input)
    }

    #[inline(always)]
    fn forward<V: Vector>(_: &Constants<V>, [n, _, z, _]: [V; 4], h: V, _: V) -> V {
        blend(z, n, h)
    }

    #[inline(always)]
    fn backward<V: Vector>(_: &Constants<V>, here: &Here<V>) -> Past<V> {
        let [n, _, z, _] = here.kept;
        let [at_z, at_n] = blend_back(z, n, here);
        Past {
            deltas: [at_n, V::zero(), at_z, V::zero()],
            gradient: here.gradient.mul(z),
            memory_gradient: V::zero(),
            scalars: [V::zero(); 2],
        }
    }

    #[inline(always)]
    fn candidate_back<V: Vector>([_, r, _, from_state]: [V; 4], [at_n, _, at_z, _]: [V; 4]) -> [V; 4] {
        [at_n, at_n.mul(from_state), at_z, at_n.mul(r)]
    }
}

impl Formula for GruBefore {
    const PLAN: Plan = Plan {
        groups: 3,
        kept: 3,
        input: (0, 3),
        state: (0, 2),
        memory: false,
        reset: true,
        scalars: false,
        gates: (1, 2),
        candidate: 2,
        prepared: false,
        gated_candidate: false,
    };

    #[inline(always)]
    fn forward<V: Vector>(_: &Constants<V>, [_, z, n, _]: [V; 4], h: V, _: V) -> V {
        blend(z, n, h)
    }

    #[inline(always)]
    fn backward<V: Vector>(_: &Constants<V>, here: &Here<V>) -> Past<V> {
        let [_, z, n, _] = here.kept;
        let [at_z, at_n] = blend_back(z, n, here);
        Past {
            deltas: [V::zero(), at_z, at_n, V::zero()],
            gradient: here.gradient.mul(z),
            memory_gradient: V::zero(),
            scalars: [V::zero(); 2],
        }
    }
}
