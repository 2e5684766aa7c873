//! LSTM (Hochreiter and Schmidhuber, 1997; with a forget gate, no peepholes), groups i, f, o, g:
//!
//! ```text
//! c_t = sigma(f) c_{t-1} + sigma(i) phi(g)
//! h_t = sigma(o) phi(c_t)
//! ```
//!
//! Kept: the four activated gates. `phi(c_t)` is computed again on the way back: cheaper than its place in memory.

use super::{Constants, Formula, Here, Past, Plan};
use crate::simd::Vector;

pub(crate) struct Lstm;

impl Formula for Lstm {
    const PLAN: Plan = Plan {
        groups: 4,
        kept: 4,
        input: (0, 4),
        state: (0, 4),
        memory: true,
        reset: false,
        scalars: false,
        gates: (0, 3),
        candidate: 3,
        prepared: false,
        gated_candidate: false,
    };

    #[inline(always)]
    fn forward<V: Vector>(_: &Constants<V>, [i, f, _, g]: [V; 4], _: V, memory: V) -> V {
        f.mul_add(memory, i.mul(g))
    }

    #[inline(always)]
    fn show<V: Vector>([_, _, o, _]: [V; 4], shown: V) -> V {
        o.mul(shown)
    }

    #[inline(always)]
    fn show_back<V: Vector>([_, _, o, _]: [V; 4], gradient: V) -> V {
        gradient.mul(o)
    }

    #[inline(always)]
    fn backward<V: Vector>(_: &Constants<V>, here: &Here<V>) -> Past<V> {
        let [i, f, _, g] = here.kept;
        let at_memory = here.memory_gradient;
        Past {
            deltas: [
                at_memory.mul(g),
                at_memory.mul(here.memory),
                here.gradient.mul(here.shown),
                at_memory.mul(i),
            ],
            gradient: V::zero(),
            memory_gradient: at_memory.mul(f),
            scalars: [V::zero(); 2],
        }
    }
}
