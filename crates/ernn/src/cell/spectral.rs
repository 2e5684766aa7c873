//! SpectralRNN (Zhang, Lei, Dhillon, ICML 2018): a plain RNN whose matrix has its singular values near 1.
//!
//! ```text
//! h' = phi(W x + R h + b)        R = Q_u diag(s) Q_v^T
//! Q  = H_0 H_1 .. H_{n-1}        H_i = I - 2 v v^T / (v^T v), v row i of Hu or Hv, its first i entries taken as 0
//! s  = 1 + 2 r (sigmoid(p) - 1/2)
//! ```
//!
//! Shapes: W [D,d], b [D], Hu [n,D], Hv [n,D], p [D]; `r`, the radius, is fixed. Folding: `R` is formed once an optimizer step, at
//! `4 n D^2` multiplications, and the time loop is that of a dense RNN. (The paper applies the reflections in every time step.)

use ernn_kernels::{Matrix, Real, multiply_add};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::pieces::{add, cut, cut_mut, fill_normal, fill_uniform, product, sigmoid};
use super::settings::check_hidden;
use super::{Activation, Cell, Folded, FoldedGradient, FoldedLeaky, FoldedRecurrent, Tensor};
use crate::{Error, Result};

/// Settings of a SpectralRNN; the defaults are the literature's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpectralConfig {
    /// `D`.
    pub hidden: usize,
    /// `n`, reflections in each of the two factors; 0: a quarter of D.
    pub reflections: usize,
    /// `r`: singular values lie in [1 - r, 1 + r].
    pub radius: f64,
    /// `phi`.
    pub activation: Activation,
}

impl Default for SpectralConfig {
    fn default() -> Self {
        SpectralConfig {
            hidden: 64,
            reflections: 0,
            radius: 0.01,
            activation: Activation::Relu,
        }
    }
}

impl SpectralConfig {
    fn count(&self) -> usize {
        match self.reflections {
            0 => (self.hidden / 4).max(1),
            count => count,
        }
    }

    /// Lengths of W, b, Hu, Hv, p.
    fn lengths(&self, inputs: usize) -> [usize; 5] {
        let reflections = self.count() * self.hidden;
        [self.hidden * inputs, self.hidden, reflections, reflections, self.hidden]
    }

    /// The singular values.
    fn singular<F: Real>(&self, p: &[F]) -> Vec<F> {
        let (radius, half) = (F::from_f64(2.0 * self.radius), F::from_f64(0.5));
        p.iter().map(|&p| F::ONE + radius * (sigmoid(p) - half)).collect()
    }

    /// `Q_u`, `Q_v`, both `[D,D]`.
    fn orthogonal<F: Real>(&self, hu: &[F], hv: &[F]) -> [Vec<F>; 2] {
        [hu, hv].map(|vectors| {
            let mut q = vec![F::ZERO; self.hidden * self.hidden];
            (0..self.hidden).for_each(|index| q[index * self.hidden + index] = F::ONE);
            for (index, vector) in vectors.chunks_exact(self.hidden).enumerate().rev() {
                reflect(vector, index, &mut q);
            }
            q
        })
    }
}

/// `v^T v` of the entries that count, and `v^T M`.
fn project<F: Real>(vector: &[F], first: usize, matrix: &[F]) -> (F, Vec<F>) {
    let hidden = vector.len();
    let mut squares = F::ZERO;
    let mut projection = vec![F::ZERO; hidden];
    for (row, &value) in vector.iter().enumerate().skip(first) {
        squares += value * value;
        for (sum, &entry) in projection.iter_mut().zip(&matrix[row * hidden..]) {
            *sum += value * entry;
        }
    }
    (squares, projection)
}

/// `M <- H M`. A vector of zeros reflects nothing.
fn reflect<F: Real>(vector: &[F], first: usize, matrix: &mut [F]) {
    let hidden = vector.len();
    let (squares, projection) = project(vector, first, matrix);
    if squares == F::ZERO {
        return;
    }
    for (row, &value) in vector.iter().enumerate().skip(first) {
        let factor = (value + value) / squares;
        for (entry, &projection) in matrix[row * hidden..].iter_mut().zip(&projection) {
            *entry -= factor * projection;
        }
    }
}

/// The vjp of `Q = H_0 .. H_{n-1}`: from the gradient at `Q`, which is used up as `Q` is, to those of the vectors.
///
/// With `M' = H M`, `w = M^T v`, `b = v^T v` and `G` the gradient at `M'`:
///
/// ```text
/// dv += -2/b (G w + M (G^T v)) + 4/b^2 (v^T G w) v        gradient at M: H G        M = H M'
/// ```
fn unreflect<F: Real>(vectors: &[F], mut q: Vec<F>, mut gradient: Vec<F>, out: &mut [F]) {
    let hidden = (q.len() as f64).sqrt() as usize;
    let rows = vectors.chunks_exact(hidden).zip(out.chunks_exact_mut(hidden));
    for (index, (vector, out)) in rows.enumerate() {
        reflect(vector, index, &mut q);
        let (squares, w) = project(vector, index, &q);
        if squares == F::ZERO {
            continue;
        }
        let (_, back) = project(vector, index, &gradient);
        let dot = |a: &[F], b: &[F]| a.iter().zip(b).fold(F::ZERO, |sum, (&a, &b)| sum + a * b);
        let along = dot(&back, &w);
        let two = F::ONE + F::ONE;
        for row in index..hidden {
            let range = row * hidden..(row + 1) * hidden;
            let across = dot(&gradient[range.clone()], &w) + dot(&q[range], &back);
            out[row] += (two * two * along * vector[row] / squares - two * across) / squares;
        }
        reflect(vector, index, &mut gradient);
    }
}

/// Multiplies the columns.
fn scale_columns<F: Real>(matrix: &[F], factors: &[F]) -> Vec<F> {
    let row = |row: &[F]| -> Vec<F> { row.iter().zip(factors).map(|(&m, &f)| m * f).collect() };
    matrix.chunks_exact(factors.len()).flat_map(row).collect()
}

impl Cell for SpectralConfig {
    const KEPT: usize = 2;

    fn is_bounded(&self) -> bool {
        self.activation.is_bounded()
    }

    fn check(&self) -> Result<()> {
        check_hidden(self.hidden)?;
        if self.reflections > self.hidden {
            let expected = format!("0 (a quarter of the hidden size) or up to it, {}", self.hidden);
            return Err(Error::setting("reflections", self.reflections, expected));
        }
        if !(0.0..1.0).contains(&self.radius) {
            let expected = "a number from 0 up to, but not including, 1";
            return Err(Error::setting("radius", self.radius, expected));
        }
        Ok(())
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let (hidden, count) = (self.hidden, self.count());
        let mut tensors = vec![Tensor::matrix("W", hidden, inputs), Tensor::vector("b", hidden)];
        // A reflection does not depend on the length of its vector: weight decay would do nothing but shrink it.
        for name in ["Hu", "Hv"] {
            tensors.push(Tensor {
                shape: vec![count, hidden],
                ..Tensor::vector(name, 0)
            });
        }
        tensors.push(Tensor::vector("p", hidden));
        tensors
    }

    /// W uniform in +-1/sqrt(D), b 0, reflections in random directions, p 0: all singular values 1.
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let [w, b, hu, hv, p] = cut_mut(parameters, self.lengths(inputs));
        fill_uniform(rng, 1.0 / (self.hidden as f64).sqrt(), w);
        b.fill(F::ZERO);
        fill_normal(rng, 1.0, hu);
        fill_normal(rng, 1.0, hv);
        p.fill(F::ZERO);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let [w, b, hu, hv, p] = cut(parameters, self.lengths(inputs));
        let hidden = self.hidden;
        let [u, v] = self.orthogonal(hu, hv);
        let scaled = scale_columns(&u, &self.singular(p));
        let recurrent = product(
            Matrix::new(&scaled, hidden, hidden),
            Matrix::new(&v, hidden, hidden).transposed(),
            hidden * hidden,
        );
        Folded::Leaky(FoldedLeaky {
            inputs,
            hidden,
            input_weight: w.to_vec(),
            bias: b.to_vec(),
            recurrent: FoldedRecurrent::Dense(recurrent),
            activation: self.activation.into(),
            iterations: 1,
            start_scale: F::ONE,
            previous_scale: F::ZERO,
            decay: vec![F::ZERO],
            gain: vec![F::ONE],
            learned_steps: false,
        })
    }

    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.leaky();
        let [_, _, hu, hv, p] = cut(parameters, self.lengths(inputs));
        let [dw, db, dhu, dhv, dp] = cut_mut(gradient, self.lengths(inputs));
        add(dw, &folded.input_weight);
        add(db, &folded.bias);
        let hidden = self.hidden;
        let singular = self.singular(p);
        let [u, v] = self.orthogonal(hu, hv);
        // R = (U S) V^T: dU = dR (V S), dV = dR^T (U S), ds = diag(U^T dR V).
        let outer = Matrix::new(&folded.left, hidden, hidden);
        let mut at_u = vec![F::ZERO; hidden * hidden];
        multiply_add(F::ONE, outer, Matrix::new(&v, hidden, hidden), &mut at_u);
        let radius = F::from_f64(2.0 * self.radius);
        for (unit, (out, &p)) in dp.iter_mut().zip(p).enumerate() {
            let column = (0..hidden).map(|row| u[row * hidden + unit] * at_u[row * hidden + unit]);
            let y = sigmoid(p);
            *out += column.fold(F::ZERO, |sum, value| sum + value) * radius * y * (F::ONE - y);
        }
        let at_u = scale_columns(&at_u, &singular);
        let at_v = product(
            outer.transposed(),
            Matrix::new(&scale_columns(&u, &singular), hidden, hidden),
            hidden * hidden,
        );
        unreflect(hu, u, at_u, dhu);
        unreflect(hv, v, at_v, dhv);
    }
}
