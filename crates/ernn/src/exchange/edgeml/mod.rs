//! EdgeML's cells (Microsoft, <https://github.com/microsoft/EdgeML>) as folders of `.npy` files, in TensorFlow's and PyTorch's version.
//!
//! Vectors are rows there, so every matrix is the transpose of ours. d values a step, D units, C classes:
//!
//! ```text
//! FastRNN    c = u(x W + h U + B), h' = sigmoid(beta) h + sigmoid(alpha) c
//! FastGRNN   z = g(x W + h U + Bg), c = u(x W + h U + Bh), h' = z h + (sigmoid(zeta) (1 - z) + sigmoid(nu)) c
//!            W [d,D] or W1 [d,rW] W2 [rW,D];   U [D,D] or U1 [D,rU] U2 [rU,D]
//! UGRNNLR    z = g(1, Bg), c = u(2, Bh), h' = z h + (1 - z) c;   (k, b) for x Wk + h Uk + b
//! GRULR      r = g(1, Br), z = g(2, Bg), c = u(x W3 + (r h) U3 + Bh), h' = z h + (1 - z) c
//! LSTMLR     i, f: see below; c~ = u(3, Bc), o = g(4, Bo), c' = f c + i c~, h' = o u(c')
//!            Wk [d,D], or W [d,rW] for all gates and Wk [rW,D];   Uk [D,D], or U [D,rU] and Uk [rU,D]
//! all        biases [1,D], scalars [1,1]; FC [D,C], FCbias [C]: logits = h_T FC + FCbias
//! ```
//!
//! - One factor for all gates is how our low-rank cells are, too: `(x W) Wk` is `W1[k] W2 x` with `W1[k] = Wk^T`, `W2 = W^T`.
//! - LSTM: the TensorFlow version has f in matrix 1 and i in 2, the PyTorch versions i in 1 and f in 2, with biases Bf and Bi right in
//!   both. No file says which ([`Flavor`]).
//! - An early PyTorch FastGRNN, and the CUDA one, has all of W, W1, W2, U, U1, U2 transposed. The shapes tell, unless d = D and all
//!   ranks are full (or D).
//! - Nonlinearities are in no file. `mean.npy` and `std.npy` hold one number for each of the T d columns of the flattened sequence;
//!   a model here has one for each of the d channels.

mod npy;
mod read;
mod write;

pub use read::read;
pub use write::write;

/// Which implementation wrote the files; matters for an LSTM only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// Matrix 1 is f, matrix 2 is i.
    TensorFlow,
    /// Matrix 1 is i, matrix 2 is f.
    PyTorch,
}

/// EdgeML's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    FastRnn,
    FastGrnn,
    Ugrnn,
    Gru,
    Lstm,
}

impl Kind {
    /// EdgeML's numbers of our groups of rows; none for the cells that have one matrix without a number.
    fn matrices(self, flavor: Flavor) -> &'static [usize] {
        match (self, flavor) {
            (Kind::FastRnn | Kind::FastGrnn, _) => &[],
            (Kind::Ugrnn, _) => &[1, 2],
            (Kind::Gru, _) => &[1, 2, 3],
            // Ours: i, f, g, o.
            (Kind::Lstm, Flavor::PyTorch) => &[1, 2, 3, 4],
            (Kind::Lstm, Flavor::TensorFlow) => &[2, 1, 3, 4],
        }
    }

    /// Our vectors of D numbers and EdgeML's files for their parts, in our order.
    fn biases(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Kind::FastRnn => &[("b", &["B"])],
            Kind::FastGrnn => &[("b_z", &["Bg"]), ("b_h", &["Bh"])],
            Kind::Ugrnn => &[("b", &["Bg", "Bh"])],
            Kind::Gru => &[("b", &["Br", "Bg", "Bh"])],
            Kind::Lstm => &[("b", &["Bi", "Bf", "Bc", "Bo"])],
        }
    }

    /// Numbers of the same name here and there, before the sigmoid.
    fn scalars(self) -> &'static [&'static str] {
        match self {
            Kind::FastRnn => &["alpha", "beta"],
            Kind::FastGrnn => &["zeta", "nu"],
            _ => &[],
        }
    }
}
