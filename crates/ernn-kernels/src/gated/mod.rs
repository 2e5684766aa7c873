//! The gated family: LSTM, GRU, UGRNN, FastGRNN and the gated AntisymmetricRNN, once folded.
//!
//! A step first forms *groups* of `D` sums, then a cell's own formula takes them unit by unit:
//!
//! ```text
//! sum_g  = [W_g x_t] + [R_g h_{t-1}] + b_g          g = 0..groups-1
//! h_t    = cell(sum_0, sum_1, .., h_{t-1}, c_{t-1})  and c_t, for a cell with a memory
//! ```
//!
//! Which groups read the input and which the state stands in the plan of the cell (`Plan`): the input's groups come first, the state's
//! last, and those in both are one product. `R` is dense, or `A B` with one `B` for all groups, `A [groups D, r]`.
//!
//! | cell | groups | input | state |
//! |---|---|---|---|
//! | LSTM | i, f, o, g | all | all |
//! | GRU, reset after the product | n, r, z, n | first three | last three |
//! | GRU, reset before the product | r, z, n | all | r, z; n reads `r * h` |
//! | UGRNN | z, c | all | all |
//! | FastGRNN | z, c, p | p | p |
//! | gated AntisymmetricRNN | z, c, p | z, c | p |
//!
//! Everything but the formula is shared: packing, products, lengths, low rank, weight gradients, one sequence.

mod antisymmetric;
mod backward;
mod fastgrnn;
mod forward;
mod gru;
mod lstm;
mod sequence;
mod ugrnn;

pub(crate) use backward::{BackwardTask, backward};
pub(crate) use forward::{ForwardTask, forward};
pub use sequence::SequenceRunner;
pub(crate) use sequence::{SequenceTask, sequence};

use crate::blocks::{BackwardBlock, ForwardBlock, Layout, Recurrence};
use crate::compiled::Compiled;
use crate::leaky::Recurrent;
use crate::pack::Packed;
use crate::panels::slot_rows;
use crate::simd::Vector;
use crate::{Activation, Isa, Real};

/// The cells of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gates {
    /// Long short-term memory, no peepholes. Groups i, f, o, g.
    Lstm,
    /// Gated recurrent unit, reset after the product (torch, cuDNN). Groups n of the input, r, z, n of the state.
    GruAfter,
    /// Gated recurrent unit, reset before the product (Cho et al.). Groups r, z, n.
    GruBefore,
    /// Update-gate network. Groups z, c.
    Ugrnn,
    /// FastGRNN. Groups z, c, p; scalars `sigmoid(zeta)`, `sigmoid(nu)`.
    FastGrnn,
    /// Gated AntisymmetricRNN. Groups z, c, p; scalars `epsilon` and nothing.
    Antisymmetric,
}

/// Which groups are what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Number of groups.
    pub(crate) groups: usize,
    /// The first ones are kept for the backward pass.
    pub(crate) kept: usize,
    /// From, and up to but not including: the groups that read the input.
    pub(crate) input: (usize, usize),
    /// The groups that read the state.
    pub(crate) state: (usize, usize),
    /// Whether a memory is carried beside `h`.
    pub(crate) memory: bool,
    /// Whether the last group reads `r * h`, `r` the first group.
    pub(crate) reset: bool,
    /// Groups that become gates (`r` of a reset does so earlier).
    pub(crate) gates: (usize, usize),
    /// The group that becomes the candidate.
    pub(crate) candidate: usize,
    /// Whether [`Formula::prepare`] has something to do.
    pub(crate) prepared: bool,
    /// Whether [`Formula::candidate`] has something to do.
    pub(crate) gated_candidate: bool,
    /// Whether the scalars are learned.
    pub(crate) scalars: bool,
}

impl Plan {
    /// Groups with a product of both.
    pub(crate) const fn joint(&self) -> (usize, usize) {
        (
            if self.input.0 > self.state.0 {
                self.input.0
            } else {
                self.state.0
            },
            if self.input.1 < self.state.1 {
                self.input.1
            } else {
                self.state.1
            },
        )
    }

    /// Whether this group is one of both.
    const fn is_joint(&self, group: usize) -> bool {
        group >= self.joint().0 && group < self.joint().1
    }

    /// Groups that read the input alone.
    pub(crate) const fn input_alone(&self) -> (usize, usize) {
        if self.reset {
            // They stand behind the joint ones.
            return (self.joint().1, self.input.1);
        }
        if self.is_joint(self.input.0) {
            (self.input.0, self.input.0)
        } else if self.joint().0 < self.joint().1 {
            (self.input.0, self.joint().0)
        } else {
            self.input
        }
    }

    /// Groups that read the state alone.
    pub(crate) const fn state_alone(&self) -> (usize, usize) {
        if self.joint().0 < self.joint().1 {
            (self.joint().1, self.state.1)
        } else {
            self.state
        }
    }

    /// Whether the sum of this group is a product's, or only its bias.
    pub(crate) const fn has_product(&self, group: usize) -> bool {
        (group >= self.input.0 && group < self.input.1) || (group >= self.state.0 && group < self.state.1)
    }

    /// Groups of the recurrent matrix: those that read `h`, and the one that reads `r * h`.
    pub(crate) const fn recurrent_groups(&self) -> usize {
        self.state.1 - self.state.0 + self.reset as usize
    }

    /// Panels of codes `B h` that a step has.
    pub(crate) const fn codes(&self) -> usize {
        1 + self.reset as usize
    }

    /// Groups of sums that are not kept.
    pub(crate) const fn spare(&self) -> usize {
        let spare = self.groups - self.kept;
        if self.reset { 1 } else { spare }
    }
}

/// What a cell's formula reads besides sums and states.
#[derive(Clone, Copy)]
pub(crate) struct Constants<V> {
    pub(crate) scalars: [V; 2],
    /// `c` of `R = c I + A B`.
    pub(crate) identity: V,
}

impl<V: Vector> Constants<V> {
    #[inline(always)]
    fn new(scalars: [V::Scalar; 2], identity: V::Scalar) -> Self {
        Constants {
            scalars: [V::splat(scalars[0]), V::splat(scalars[1])],
            identity: V::splat(identity),
        }
    }
}

/// What the step backwards reads, of some lanes of one unit.
pub(crate) struct Here<V> {
    /// The groups that are kept: gates and candidate, activated.
    pub(crate) kept: [V; 4],
    /// `h_{t-1}`.
    pub(crate) h: V,
    /// `c_{t-1}`.
    pub(crate) memory: V,
    /// `phi(c_t)`.
    pub(crate) shown: V,
    /// Gradient at `h_t`.
    pub(crate) gradient: V,
    /// Gradient at `c_t`, that through `h_t` included.
    pub(crate) memory_gradient: V,
}

/// A step backwards.
pub(crate) struct Past<V> {
    /// Gradients at gates and candidate.
    pub(crate) deltas: [V; 4],
    /// What of the gradient at `h_{t-1}` does not come through a product.
    pub(crate) gradient: V,
    /// Gradient at `c_{t-1}`.
    pub(crate) memory_gradient: V,
    /// Gradients at the scalars.
    pub(crate) scalars: [V; 2],
}

/// A cell's own formula; each one in its file. The activations are the skeleton's: over whole panels they are one loop.
pub(crate) trait Formula {
    const PLAN: Plan;

    /// What is done with the sums before the gates are activated, for `prepared` cells.
    #[inline(always)]
    fn prepare<V: Vector>(_: &Constants<V>, sums: [V; 4], _: V) -> [V; 4] {
        sums
    }

    /// The candidate before its activation, for cells with a `gated_candidate`; the gates are activated.
    #[inline(always)]
    fn candidate<V: Vector>(groups: [V; 4]) -> V {
        groups[Self::PLAN.candidate]
    }

    /// `h_t`; of a cell with a memory `c_t` instead.
    fn forward<V: Vector>(constants: &Constants<V>, groups: [V; 4], h: V, memory: V) -> V;

    /// `h_t` from the groups and `phi(c_t)`, for cells with a memory.
    #[inline(always)]
    fn show<V: Vector>(_: [V; 4], shown: V) -> V {
        shown
    }

    /// The inverse of `show`: the gradient at `phi(c_t)`.
    #[inline(always)]
    fn show_back<V: Vector>(_: [V; 4], gradient: V) -> V {
        gradient
    }

    /// From the gradient at the new state to those at gates, candidate and old state. What a `gated_candidate`, a `prepared` sum or
    /// a reset passes on follows later.
    fn backward<V: Vector>(constants: &Constants<V>, here: &Here<V>) -> Past<V>;

    /// All deltas, once that of the candidate's sum is known, for cells with a `gated_candidate`.
    #[inline(always)]
    fn candidate_back<V: Vector>(_: [V; 4], deltas: [V; 4]) -> [V; 4] {
        deltas
    }

    /// The delta of the sum that [`Formula::prepare`] has shared out, from the others.
    #[inline(always)]
    fn prepare_back<V: Vector>(deltas: [V; 4]) -> V {
        deltas[0].add(deltas[1])
    }
}

impl Gates {
    /// The plan of a cell.
    pub(crate) const fn plan(self) -> Plan {
        match self {
            Gates::Lstm => lstm::Lstm::PLAN,
            Gates::GruAfter => gru::GruAfter::PLAN,
            Gates::GruBefore => gru::GruBefore::PLAN,
            Gates::Ugrnn => ugrnn::Ugrnn::PLAN,
            Gates::FastGrnn => fastgrnn::FastGrnn::PLAN,
            Gates::Antisymmetric => antisymmetric::Antisymmetric::PLAN,
        }
    }
}

/// A kernel for whichever cell it is; each cell's is a function of its own (see [`crate::compiled`]).
macro_rules! kernel {
    ($name:ident, $compiled:ident($task:ident), $gates:ident: $path:expr) => {
        #[doc = concat!("Enters `", stringify!($compiled), "` of the task's cell.")]
        #[inline(always)]
        pub(crate) fn $name<V: Compiled>(task: $task<V::Scalar>) {
            let $gates = &task;
            match $path {
                Gates::Lstm => V::$compiled::<lstm::Lstm>(task),
                Gates::GruAfter => V::$compiled::<gru::GruAfter>(task),
                Gates::GruBefore => V::$compiled::<gru::GruBefore>(task),
                Gates::Ugrnn => V::$compiled::<ugrnn::Ugrnn>(task),
                Gates::FastGrnn => V::$compiled::<fastgrnn::FastGrnn>(task),
                Gates::Antisymmetric => V::$compiled::<antisymmetric::Antisymmetric>(task),
            }
        }
    };
}

kernel!(forward_block, gated_forward(ForwardTask), of: of.cell.gates);
kernel!(backward_block, gated_backward(BackwardTask), of: of.cell.gates);
kernel!(run_sequence, gated_sequence(SequenceTask), of: of.runner.gates);

/// A folded cell of the gated family.
#[derive(Clone, Copy, Debug)]
pub struct Gated<'a, F> {
    /// Which cell.
    pub gates: Gates,
    /// `d`.
    pub inputs: usize,
    /// `D`.
    pub hidden: usize,
    /// `W`, `[groups that read the input * D, d]` row-major, group by group in the order of the module's table.
    pub input_weight: &'a [F],
    /// `b`, `[all groups * D]`.
    pub bias: &'a [F],
    /// `R`, `[groups that read the state * D, D]`.
    pub recurrent: Recurrent<'a, F>,
    /// Activation of the gates.
    pub gate: Activation,
    /// Activation of the candidate.
    pub activation: Activation,
    /// The cell's scalars, see [`Gates`].
    pub scalars: [F; 2],
}

impl<F: Real> Gated<'_, F> {
    fn rank(&self) -> usize {
        self.recurrent.rank()
    }

    fn identity(&self) -> F {
        match self.recurrent {
            Recurrent::LowRank { identity, .. } => identity,
            Recurrent::Dense(_) => F::ZERO,
        }
    }

    /// Panics unless all slices have the sizes that the docs say: a broken caller, never bad data.
    fn check(&self) {
        let (d, hidden, plan) = (self.inputs, self.hidden, self.gates.plan());
        assert!(d > 0 && hidden > 0, "sizes of a cell are at least 1");
        let rows = (plan.input.1 - plan.input.0) * hidden;
        assert_eq!(self.input_weight.len(), rows * d, "W is [groups D, d]");
        assert_eq!(self.bias.len(), plan.groups * hidden, "b is [groups D]");
        self.recurrent.check(plan.recurrent_groups() * hidden, hidden);
        assert!(
            self.identity() == F::ZERO || self.gates == Gates::Antisymmetric,
            "only the antisymmetric cell has c I in its R"
        );
    }

    /// Sizes of the gradient's parts: W, b, R or A, B, scalars.
    fn gradient_sizes(&self) -> [usize; 5] {
        let [left, right] = self.recurrent.lengths();
        [self.input_weight.len(), self.bias.len(), left, right, 2]
    }
}

/// Gradients of a folded cell, each of its parameter's shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GatedGradient<F> {
    /// Of `W`.
    pub input_weight: Vec<F>,
    /// Of `b`, all groups.
    pub bias: Vec<F>,
    /// Of `R` if dense, else of `A`.
    pub left: Vec<F>,
    /// Of `B`; empty for a dense `R`.
    pub right: Vec<F>,
    /// Of the scalars; zeros where the cell does not learn them.
    pub scalars: Vec<F>,
}

impl<F: Real> Recurrence<F> for Gated<'_, F> {
    type Gradient = GatedGradient<F>;

    fn layout(&self, isa: Isa) -> Layout {
        self.check();
        let (hidden, rank, lanes, plan) = (self.hidden, self.rank(), isa.lanes::<F>(), self.gates.plan());
        Layout {
            inputs: self.inputs,
            hidden,
            memory: if plan.memory { hidden } else { 0 },
            saved: plan.kept * hidden,
            codes: plan.codes() * rank,
            gradients: self.gradient_sizes().to_vec(),
            forward_scratch: forward::scratch_len(&plan, hidden, rank, lanes),
            backward_scratch: backward::scratch_len(&plan, hidden, rank, lanes),
        }
    }

    fn pack_forward(&self, packs: &mut Vec<Packed<F>>) {
        forward::pack(self, packs);
    }

    fn pack_backward(&self, packs: &mut Vec<Packed<F>>) {
        backward::pack(self, packs);
    }

    fn forward_block(&self, isa: Isa, block: ForwardBlock<F>) {
        F::gated_forward(isa, ForwardTask { cell: self, block });
    }

    fn backward_block(&self, isa: Isa, block: BackwardBlock<F>) {
        F::gated_backward(isa, BackwardTask { cell: self, block });
    }

    fn parts<'g>(&self, gradient: &'g mut GatedGradient<F>) -> Vec<&'g mut Vec<F>> {
        vec![
            &mut gradient.input_weight,
            &mut gradient.bias,
            &mut gradient.left,
            &mut gradient.right,
            &mut gradient.scalars,
        ]
    }
}

/// Numbers from one step's panels of `features` to the next.
#[inline(always)]
fn slot(features: usize, row: usize) -> usize {
    slot_rows(features) * row
}
