//! A step of the gated family (`ernn_kernels::gated`), with the sums of the inputs formed outside, `u_t` `[batch, groups D]`.
//!
//! ```text
//! LSTM        i, f, o, g = u + R h          c' = f c + i g, h' = o phi(c')
//! GRU after   n, r, z = u; r', z', n' = R h + [0, 0, b_n]    n = phi(n + r n'), h' = n + z (h - n)
//! GRU before  r, z = (u + R h)              n = phi(n + R_n (r h)), h' the same
//! UGRNN       z, c = u + R h                h' = c + z (h - c)
//! FastGRNN    p = u + R h                   z = sigma(p + b_z), c = phi(p + b_c), h' = z h + (zeta (1 - z) + nu) c
//! Antisym.    z, c = u; p = R h             h' = h + epsilon sigma(p + z) phi(p + c)
//! ```

use std::ops::Range;

use ernn_kernels::gated::Gates;

use super::graph::{Builder, Name};
use super::pieces::{activate, product};
use crate::cell::FoldedGated;

/// `W` and `b` of the sums of the inputs.
pub(super) fn projection(cell: &FoldedGated<f32>) -> (&[f32], &[f32]) {
    let groups = match cell.gates {
        Gates::Lstm => 0..4,
        Gates::GruAfter | Gates::GruBefore => 0..3,
        Gates::Ugrnn | Gates::Antisymmetric => 0..2,
        Gates::FastGrnn => 2..3,
    };
    (&cell.input_weight, bias(cell, groups))
}

/// Vectors that the cell carries.
pub(super) fn states(cell: &FoldedGated<f32>) -> usize {
    1 + usize::from(cell.gates == Gates::Lstm)
}

/// The new states.
pub(super) fn step(body: &mut Builder, cell: &FoldedGated<f32>, sums: &str, old: &[Name]) -> Vec<Name> {
    let mut step = Step {
        body,
        cell,
        sums,
        h: &old[0],
    };
    match cell.gates {
        Gates::Lstm => step.lstm(&old[1]),
        Gates::GruAfter => vec![step.gru_after()],
        Gates::GruBefore => vec![step.gru_before()],
        Gates::Ugrnn => vec![step.ugrnn()],
        Gates::FastGrnn => vec![step.fastgrnn()],
        Gates::Antisymmetric => vec![step.antisymmetric()],
    }
}

/// Biases of some groups.
fn bias(cell: &FoldedGated<f32>, groups: Range<usize>) -> &[f32] {
    &cell.bias[groups.start * cell.hidden..groups.end * cell.hidden]
}

struct Step<'a> {
    body: &'a mut Builder,
    cell: &'a FoldedGated<f32>,
    sums: &'a str,
    h: &'a str,
}

impl Step<'_> {
    /// Groups of `R` times a state, plus an addend.
    fn product(&mut self, groups: Range<usize>, state: &str, addend: Option<&str>) -> Name {
        let hidden = self.cell.hidden;
        let rows = groups.start * hidden..groups.end * hidden;
        product(self.body, &self.cell.recurrent, hidden, rows, state, addend)
    }

    /// `N` groups that lie side by side.
    fn split<const N: usize>(&mut self, sums: &str) -> [Name; N] {
        let parts = self.body.split(sums, N);
        parts
            .try_into()
            .unwrap_or_else(|_| unreachable!("as many as asked for"))
    }

    fn gate(&mut self, sum: &str) -> Name {
        activate(self.body, self.cell.gate, sum)
    }

    fn candidate(&mut self, sum: &str) -> Name {
        activate(self.body, self.cell.activation, sum)
    }

    fn multiply(&mut self, one: &str, other: &str) -> Name {
        self.body.call("Mul", &[one, other])
    }

    fn add(&mut self, one: &str, other: &str) -> Name {
        self.body.call("Add", &[one, other])
    }

    /// `new + z (h - new)`.
    fn blend(&mut self, z: &str, new: &str) -> Name {
        let difference = self.body.call("Sub", &[self.h, new]);
        let kept = self.multiply(z, &difference);
        self.add(new, &kept)
    }

    fn lstm(&mut self, memory: &str) -> Vec<Name> {
        let sums = self.product(0..4, self.h, Some(self.sums));
        let [i, f, o, g] = self.split(&sums);
        let [i, f, o] = [i, f, o].map(|sum| self.gate(&sum));
        let g = self.candidate(&g);
        let (kept, written) = (self.multiply(&f, memory), self.multiply(&i, &g));
        let memory = self.add(&kept, &written);
        let shown = self.candidate(&memory);
        vec![self.multiply(&o, &shown), memory]
    }

    fn gru_after(&mut self) -> Name {
        let hidden = self.cell.hidden;
        let mut bias_of_state = vec![0.0; 2 * hidden];
        bias_of_state.extend_from_slice(bias(self.cell, 3..4));
        let bias_of_state = self.body.floats(&[3 * hidden], &bias_of_state);
        let of_state = self.product(0..3, self.h, Some(&bias_of_state));
        let [n, r, z] = self.split(self.sums);
        let [r_state, z_state, n_state] = self.split(&of_state);
        let [r, z] = [(r, r_state), (z, z_state)].map(|(one, other)| {
            let sum = self.add(&one, &other);
            self.gate(&sum)
        });
        let reset = self.multiply(&r, &n_state);
        let sum = self.add(&n, &reset);
        let n = self.candidate(&sum);
        self.blend(&z, &n)
    }

    fn gru_before(&mut self) -> Name {
        let [r, z, n] = self.split(self.sums);
        let gates = self.body.concat(&[r, z], -1);
        let sums = self.product(0..2, self.h, Some(&gates));
        let gates = self.gate(&sums);
        let [r, z] = self.split(&gates);
        let reset = self.multiply(&r, self.h);
        let sum = self.product(2..3, &reset, Some(&n));
        let n = self.candidate(&sum);
        self.blend(&z, &n)
    }

    fn ugrnn(&mut self) -> Name {
        let sums = self.product(0..2, self.h, Some(self.sums));
        let [z, c] = self.split(&sums);
        let (z, c) = (self.gate(&z), self.candidate(&c));
        self.blend(&z, &c)
    }

    fn fastgrnn(&mut self) -> Name {
        let hidden = self.cell.hidden;
        let p = self.product(0..1, self.h, Some(self.sums));
        let [z, c] = [0..1, 1..2].map(|group| {
            let bias = self.body.floats(&[hidden], bias(self.cell, group));
            self.add(&p, &bias)
        });
        let (z, c) = (self.gate(&z), self.candidate(&c));
        let [zeta, nu] = self.cell.scalars.map(|scalar| self.body.float(scalar));
        let one = self.body.float(1.0);
        let rest = self.body.call("Sub", &[&one, &z]);
        let weight = self.multiply(&rest, &zeta);
        let weight = self.add(&weight, &nu);
        let (kept, written) = (self.multiply(&z, self.h), self.multiply(&weight, &c));
        self.add(&kept, &written)
    }

    fn antisymmetric(&mut self) -> Name {
        let p = self.product(0..1, self.h, None);
        let [z, c] = self.split(self.sums);
        let [z, c] = [z, c].map(|sum| self.add(&p, &sum));
        let (z, c) = (self.gate(&z), self.candidate(&c));
        let gated = self.multiply(&z, &c);
        let epsilon = self.body.float(self.cell.scalars[0]);
        let change = self.multiply(&gated, &epsilon);
        self.add(self.h, &change)
    }
}
