//! What a layer is: the words of its record, and the tensors that follow from them.
//!
//! | word | of all formats | |
//! |---|---|---|
//! | 0 | [`Kind`] | |
//! | 1 | `D`, hidden size | |
//! | 2 | `r`, rank of `R`; 0: dense | |
//! | 3 | `phi` in bits 0-7, activation of the gates in bits 8-15 | |
//! | 4 | `K`, inner iterations; of an equilibrium the most | leaky, deep, equilibrium, else 0 |
//! | 5 | rows of step sizes | leaky and deep, else 0 |
//! | 6 | layers inside a step; of an equilibrium 1 for Newton's method | deep and equilibrium, else 0 |
//! | 7 | `c0`, `f32` (a whole number of `int8`); of an equilibrium `gamma` | leaky, deep, equilibrium |
//! | 8 | `s`, `f32` (a whole number of `int8`) | leaky, deep, equilibrium |
//! | 9 | `c` of `R = c I + A B` | |
//! | 10, 11 | the scalars of a gated cell; the absolute and relative tolerance of an equilibrium | |
//! | 12 | its first tensor | |
//! | 13-15 | binary places and shifts of `int8` (see `int`), else 0 | |
//!
//! Tensors, in this order, all row-major: leaky `W [D,d]`, `b [D]`, `R [D,D]` or `A [D,r]`, `B [r,D]`, `a [rows,K]`, `e [rows,K]`;
//! equilibrium the same without `a`, `e`; gated too, with a row a unit and group; deep `W [w_1,d]`, then `U_j`, `b_j` of each layer, then `a`, `e`.
//! The width of a layer of a deep cell is the length of its `b_j`.

/// The recurrences that a layer can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ERNN, RNN, FastRNN, AntisymmetricRNN, SpectralRNN.
    Leaky,
    /// ERNN with a network inside each step.
    Deep,
    /// Long short-term memory; groups i, f, o, g.
    Lstm,
    /// Gated recurrent unit, reset after the product; groups n of the input, r, z, n of the state.
    GruAfter,
    /// Gated recurrent unit, reset before the product; groups r, z, n.
    GruBefore,
    /// Update-gate network; groups z, c.
    Ugrnn,
    /// FastGRNN; groups z, c, p; scalars zeta, nu.
    FastGrnn,
    /// Gated AntisymmetricRNN; groups z, c, p; scalar epsilon.
    Antisymmetric,
    /// The exact ERNN, at its equilibrium; of `f32` alone, since its state has no bound.
    Equilibrium,
}

/// All kinds, in the order of their numbers.
const KINDS: [Kind; 9] = [
    Kind::Leaky,
    Kind::Deep,
    Kind::Lstm,
    Kind::GruAfter,
    Kind::GruBefore,
    Kind::Ugrnn,
    Kind::FastGrnn,
    Kind::Antisymmetric,
    Kind::Equilibrium,
];

/// Which groups of sums of a gated cell read what: `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// All groups.
    pub all: usize,
    /// Those that read the input.
    pub input: (usize, usize),
    /// Those with a product of the state.
    pub state: (usize, usize),
    /// Whether the last of `state` reads `r * h` instead of `h`; `r` is group 0.
    pub reset: bool,
}

impl Kind {
    /// The number in a record.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The kind of this number.
    pub fn of(number: u32) -> Option<Self> {
        KINDS.get(number as usize).copied()
    }

    /// The groups of a gated cell; `None` for the others.
    pub fn groups(self) -> Option<Groups> {
        let groups = |all, input, state, reset| {
            Some(Groups {
                all,
                input,
                state,
                reset,
            })
        };
        match self {
            Kind::Leaky | Kind::Deep | Kind::Equilibrium => None,
            Kind::Lstm => groups(4, (0, 4), (0, 4), false),
            Kind::GruAfter => groups(4, (0, 3), (1, 4), false),
            Kind::GruBefore => groups(3, (0, 3), (0, 3), true),
            Kind::Ugrnn => groups(2, (0, 2), (0, 2), false),
            Kind::FastGrnn => groups(3, (2, 3), (2, 3), false),
            Kind::Antisymmetric => groups(3, (0, 2), (2, 3), false),
        }
    }

    /// Whether a memory `c` is carried beside `h`.
    pub fn memory(self) -> bool {
        self == Kind::Lstm
    }
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(0, x)`.
    Relu,
    /// Hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `x` between -1 and 1.
    HardTanh,
    /// `(x + 1) / 2` between 0 and 1.
    HardSigmoid,
}

impl Activation {
    /// The number in a record.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The activation of this number.
    pub fn of(number: u32) -> Option<Self> {
        use Activation::{HardSigmoid, HardTanh, Relu, Sigmoid, Tanh};
        [Relu, Tanh, Sigmoid, HardTanh, HardSigmoid]
            .get(number as usize)
            .copied()
    }

    /// Its value.
    pub(crate) fn of_float(self, x: f32) -> f32 {
        use crate::math::{between, sigmoid, tanh};
        match self {
            Activation::Relu => between(0.0, f32::INFINITY, x),
            Activation::Tanh => tanh(x),
            Activation::Sigmoid => sigmoid(x),
            Activation::HardTanh => between(-1.0, 1.0, x),
            Activation::HardSigmoid => between(0.0, 1.0, x * 0.5 + 0.5),
        }
    }
}

/// The record of a layer, its words understood; numbers of one format stay words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub kind: Kind,
    pub hidden: usize,
    pub rank: usize,
    pub activation: Activation,
    pub gate: Activation,
    pub iterations: usize,
    pub rows: usize,
    /// Layers inside a step.
    pub inner: usize,
    pub start: u32,
    pub previous: u32,
    pub identity: u32,
    pub scalars: [u32; 2],
    pub first: usize,
    pub places: [u32; 3],
}

/// Sizes of a model are at most this, so that no product of two overflows 32 bits by much and no sum does.
pub(crate) const LARGEST: usize = 1 << 16;

impl Record {
    /// The record in these words; none if a word has no meaning.
    pub fn of(words: [u32; 16]) -> Option<Self> {
        let [
            kind,
            hidden,
            rank,
            phi,
            iterations,
            rows,
            inner,
            start,
            previous,
            identity,
            one,
            two,
            first,
            a,
            b,
            c,
        ] = words;
        let record = Record {
            kind: Kind::of(kind)?,
            hidden: hidden as usize,
            rank: rank as usize,
            activation: Activation::of(phi & 255)?,
            gate: Activation::of(phi >> 8)?,
            iterations: iterations as usize,
            rows: rows as usize,
            inner: inner as usize,
            start,
            previous,
            identity,
            scalars: [one, two],
            first: first as usize,
            places: [a, b, c],
        };
        record.is_sound().then_some(record)
    }

    fn is_sound(&self) -> bool {
        let sizes = self.hidden > 0 && self.hidden <= LARGEST && self.rank <= self.hidden && self.inner <= LARGEST;
        let steps = match self.kind {
            Kind::Leaky | Kind::Deep => {
                self.iterations > 0 && self.iterations <= LARGEST && self.rows > 0 && self.rows <= (1 << 24)
            }
            Kind::Equilibrium => self.iterations <= LARGEST && self.rows == 0,
            _ => self.iterations == 0 && self.rows == 0,
        };
        let inner = match self.kind {
            Kind::Deep => self.inner > 0 && self.rank == 0,
            Kind::Equilibrium => self.inner <= 1,
            _ => self.inner == 0,
        };
        sizes && steps && inner
    }

    /// Numbers of the layer's state.
    pub fn state_len(&self) -> usize {
        let copies = if self.kind.memory() { 2 } else { 1 };
        self.hidden.saturating_mul(copies)
    }

    /// The row of step sizes of a step.
    pub fn row(&self, step: u32) -> usize {
        (step as usize).min(self.rows.saturating_sub(1))
    }
}
