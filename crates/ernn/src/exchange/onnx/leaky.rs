//! A step of the leaky and of the deep family (`ernn_kernels::leaky`, `deep`), with `u_t` formed outside.
//!
//! ```text
//! z^0     = c0 h_{t-1}
//! z^{i+1} = a[t,i] z^i + e[t,i] f(z^i)        i = 0..K-1, one after the other in the graph
//! h_t     = z^K - s h_{t-1}
//! f(z)    = phi(R z + u_t)                    leaky
//! f(z)    = a_L, a_1 = phi(U z + u_t), a_j = phi(U_j a_{j-1} + b_j)      deep
//! ```

use super::graph::{Builder, Name};
use super::pieces::{Size, activate, matrix, product, scaled, sum};
use crate::cell::{FoldedDeep, FoldedLeaky};

/// `h_t` of a leaky cell.
pub(super) fn step(body: &mut Builder, cell: &FoldedLeaky<f32>, sizes: &[[Size; 2]], sums: &str, h: &str) -> Name {
    iterate(body, [cell.start_scale, cell.previous_scale], sizes, h, |body, z| {
        let sum = match z {
            Some(z) => product(body, &cell.recurrent, cell.hidden, 0..cell.hidden, z, Some(sums)),
            None => sums.to_string(),
        };
        activate(body, cell.activation, &sum)
    })
}

/// `h_t` of a deep cell.
pub(super) fn deep_step(body: &mut Builder, cell: &FoldedDeep<f32>, sizes: &[[Size; 2]], sums: &str, h: &str) -> Name {
    iterate(body, [cell.start_scale, cell.previous_scale], sizes, h, |body, z| {
        let first = &cell.layers[0];
        let sum = match z {
            Some(z) => matrix(body, &first.weight, first.width, z, Some(sums)),
            None => sums.to_string(),
        };
        let mut state = activate(body, cell.activation, &sum);
        for layer in &cell.layers[1..] {
            let bias = body.floats(&[layer.width], &layer.bias);
            let sum = matrix(body, &layer.weight, layer.width, &state, Some(&bias));
            state = activate(body, cell.activation, &sum);
        }
        state
    })
}

/// The inner iterations; `f` of nothing is `f(0)`.
fn iterate(
    body: &mut Builder,
    [start, previous]: [f32; 2],
    sizes: &[[Size; 2]],
    h: &str,
    f: impl Fn(&mut Builder, Option<&str>) -> Name,
) -> Name {
    let mut z = scaled(body, &Size::Fixed(start), Some(h));
    for [decay, gain] in sizes {
        let new = f(body, z.as_deref());
        let terms = [scaled(body, decay, z.as_deref()), scaled(body, gain, Some(&new))];
        z = sum(body, terms);
    }
    let back = scaled(body, &Size::Fixed(-previous), Some(h));
    let new = sum(body, [z, back]);
    new.unwrap_or_else(|| {
        let zero = body.float(0.0);
        body.call("Mul", &[h, &zero])
    })
}
