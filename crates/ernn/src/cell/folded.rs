//! A folded cell that owns its numbers: one of the kernels' families, run through one door.

use ernn_kernels::deep::{self, Deep, DeepGradient, DeepLayer};
use ernn_kernels::equilibrium;
use ernn_kernels::gated::{self, Gated, GatedGradient, Gates};
use ernn_kernels::leaky::{self, Leaky, LeakyGradient, Recurrent};
use ernn_kernels::{
    Activation, Isa, Panels, Real, StateGradient, StatesOut, Trace, backward, forward, infer, run_into,
};

use super::FoldedEquilibrium;

/// The recurrent matrix `R` of a folded cell.
#[derive(Clone, Debug, PartialEq)]
pub enum FoldedRecurrent<F> {
    /// `[D,D]`; of a gated cell `[groups D, D]`.
    Dense(Vec<F>),
    /// `c I + A B`.
    LowRank {
        /// `r`.
        rank: usize,
        /// `c`.
        identity: F,
        /// `A`, `[D,r]`; of a gated cell `[groups D, r]`.
        left: Vec<F>,
        /// `B`, `[r,D]`.
        right: Vec<F>,
    },
}

impl<F: Real> FoldedRecurrent<F> {
    pub(super) fn view(&self) -> Recurrent<'_, F> {
        match self {
            FoldedRecurrent::Dense(weight) => Recurrent::Dense(weight),
            FoldedRecurrent::LowRank {
                rank,
                identity,
                left,
                right,
            } => Recurrent::LowRank {
                rank: *rank,
                identity: *identity,
                left,
                right,
            },
        }
    }
}

/// A folded cell of the leaky family; see [`ernn_kernels::leaky`] for the letters.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedLeaky<F> {
    /// `d`.
    pub inputs: usize,
    /// `D`.
    pub hidden: usize,
    /// `W`, `[D,d]`.
    pub input_weight: Vec<F>,
    /// `b`, `[D]`.
    pub bias: Vec<F>,
    /// `R`.
    pub recurrent: FoldedRecurrent<F>,
    /// `phi`.
    pub activation: Activation,
    /// `K`.
    pub iterations: usize,
    /// `c0`.
    pub start_scale: F,
    /// `s`.
    pub previous_scale: F,
    /// `a`, `[rows,K]`.
    pub decay: Vec<F>,
    /// `e`, `[rows,K]`.
    pub gain: Vec<F>,
    /// Whether the gradients of `a` and `e` are wanted.
    pub learned_steps: bool,
}

impl<F: Real> FoldedLeaky<F> {
    /// The view that the kernels take, `first_step` steps into a sequence.
    pub fn view(&self, first_step: usize) -> Leaky<'_, F> {
        Leaky {
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: &self.input_weight,
            bias: &self.bias,
            recurrent: self.recurrent.view(),
            activation: self.activation,
            iterations: self.iterations,
            start_scale: self.start_scale,
            previous_scale: self.previous_scale,
            decay: &self.decay,
            gain: &self.gain,
            learned_steps: self.learned_steps,
            first_step,
        }
    }
}

/// A folded cell of the gated family; see [`ernn_kernels::gated`] for groups and scalars.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedGated<F> {
    /// Which cell.
    pub gates: Gates,
    /// `d`.
    pub inputs: usize,
    /// `D`.
    pub hidden: usize,
    /// `W`, `[groups that read the input * D, d]`.
    pub input_weight: Vec<F>,
    /// `b`, `[all groups * D]`.
    pub bias: Vec<F>,
    /// `R`.
    pub recurrent: FoldedRecurrent<F>,
    /// Activation of the gates.
    pub gate: Activation,
    /// Activation of the candidate.
    pub activation: Activation,
    /// The cell's scalars.
    pub scalars: [F; 2],
}

impl<F: Real> FoldedGated<F> {
    /// The view that the kernels take.
    pub fn view(&self) -> Gated<'_, F> {
        Gated {
            gates: self.gates,
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: &self.input_weight,
            bias: &self.bias,
            recurrent: self.recurrent.view(),
            gate: self.gate,
            activation: self.activation,
            scalars: self.scalars,
        }
    }
}

/// A folded deep-transition cell; see [`ernn_kernels::deep`] for the letters.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedDeep<F> {
    /// `d`.
    pub inputs: usize,
    /// `D`.
    pub hidden: usize,
    /// `W`, `[w_1,d]`.
    pub input_weight: Vec<F>,
    /// The layers of the transition.
    pub layers: Vec<FoldedLayer<F>>,
    /// `phi`.
    pub activation: Activation,
    /// `K`.
    pub iterations: usize,
    /// `c0`.
    pub start_scale: F,
    /// `s`.
    pub previous_scale: F,
    /// `a`, `[rows,K]`.
    pub decay: Vec<F>,
    /// `e`, `[rows,K]`.
    pub gain: Vec<F>,
}

/// A layer of a deep transition.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedLayer<F> {
    /// `w_j`.
    pub width: usize,
    /// `U_j`, `[w_j,w_{j-1}]`.
    pub weight: Vec<F>,
    /// `b_j`, `[w_j]`.
    pub bias: Vec<F>,
}

impl<F: Real> FoldedDeep<F> {
    fn layers(&self) -> Vec<DeepLayer<'_, F>> {
        self.layers
            .iter()
            .map(|layer| DeepLayer {
                width: layer.width,
                weight: &layer.weight,
                bias: &layer.bias,
            })
            .collect()
    }

    fn view<'a>(&'a self, layers: &'a [DeepLayer<'a, F>], first_step: usize) -> Deep<'a, F> {
        Deep {
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: &self.input_weight,
            layers,
            activation: self.activation,
            iterations: self.iterations,
            start_scale: self.start_scale,
            previous_scale: self.previous_scale,
            decay: &self.decay,
            gain: &self.gain,
            learned_steps: true,
            first_step,
        }
    }
}

/// A folded cell of any family.
#[derive(Clone, Debug, PartialEq)]
pub enum Folded<F> {
    /// ERNN, RNN, FastRNN, AntisymmetricRNN, SpectralRNN.
    Leaky(FoldedLeaky<F>),
    /// LSTM, GRU, UGRNN, FastGRNN, gated AntisymmetricRNN.
    Gated(FoldedGated<F>),
    /// Deep-transition ERNN.
    Deep(FoldedDeep<F>),
    /// ERNN at its equilibrium.
    Equilibrium(FoldedEquilibrium<F>),
}

/// The gradient of a folded cell's numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum FoldedGradient<F> {
    /// Of a leaky cell, or of one at its equilibrium.
    Leaky(LeakyGradient<F>),
    /// Of a gated cell.
    Gated(GatedGradient<F>),
    /// Of a deep-transition cell.
    Deep(DeepGradient<F>),
}

impl<F> FoldedGradient<F> {
    /// That of a leaky cell.
    ///
    /// # Panics
    /// If it is another family's: a broken caller.
    pub fn leaky(&self) -> &LeakyGradient<F> {
        match self {
            FoldedGradient::Leaky(gradient) => gradient,
            _ => panic!("the gradient belongs to a cell of another family"),
        }
    }

    /// That of a gated cell.
    ///
    /// # Panics
    /// As [`FoldedGradient::leaky`].
    pub fn gated(&self) -> &GatedGradient<F> {
        match self {
            FoldedGradient::Gated(gradient) => gradient,
            _ => panic!("the gradient belongs to a cell of another family"),
        }
    }

    /// That of a deep-transition cell.
    ///
    /// # Panics
    /// As [`FoldedGradient::leaky`].
    pub fn deep(&self) -> &DeepGradient<F> {
        match self {
            FoldedGradient::Deep(gradient) => gradient,
            _ => panic!("the gradient belongs to a cell of another family"),
        }
    }
}

/// The gradient as that of a family, made one if it was another's.
impl<F: Real> FoldedGradient<F> {
    fn as_leaky(&mut self) -> &mut LeakyGradient<F> {
        if !matches!(self, FoldedGradient::Leaky(_)) {
            *self = FoldedGradient::Leaky(LeakyGradient::default());
        }
        match self {
            FoldedGradient::Leaky(gradient) => gradient,
            _ => unreachable!("it was just made one"),
        }
    }

    fn as_gated(&mut self) -> &mut GatedGradient<F> {
        if !matches!(self, FoldedGradient::Gated(_)) {
            *self = FoldedGradient::Gated(GatedGradient::default());
        }
        match self {
            FoldedGradient::Gated(gradient) => gradient,
            _ => unreachable!("it was just made one"),
        }
    }

    fn as_deep(&mut self) -> &mut DeepGradient<F> {
        if !matches!(self, FoldedGradient::Deep(_)) {
            *self = FoldedGradient::Deep(DeepGradient::default());
        }
        match self {
            FoldedGradient::Deep(gradient) => gradient,
            _ => unreachable!("it was just made one"),
        }
    }
}

impl<F: Real> Default for FoldedGradient<F> {
    fn default() -> Self {
        FoldedGradient::Leaky(LeakyGradient::default())
    }
}

/// A piece of a batch to run over: its inputs, the states that it starts from, and its place in the sequences.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a, F: Real> {
    /// The inputs of these steps.
    pub input: &'a Panels<F>,
    /// `[sequences, state_len]`; none: zeros.
    pub initial: Option<&'a [F]>,
    /// Steps of the sequences before this piece.
    pub first_step: usize,
}

impl<F: Real> Folded<F> {
    /// `D`.
    pub fn hidden(&self) -> usize {
        match self {
            Folded::Leaky(cell) => cell.hidden,
            Folded::Gated(cell) => cell.hidden,
            Folded::Deep(cell) => cell.hidden,
            Folded::Equilibrium(cell) => cell.hidden,
        }
    }

    /// Numbers in the whole state of a sequence: `D`, or for the LSTM `2 D` (`h`, then `c`).
    pub fn state_len(&self) -> usize {
        match self {
            Folded::Gated(cell) if cell.gates == Gates::Lstm => 2 * cell.hidden,
            _ => self.hidden(),
        }
    }

    /// Runs over a piece and leaves all states in `trace`, with what the backward pass needs.
    pub fn forward(&self, piece: Piece<F>, trace: &mut Trace<F>) {
        let Piece {
            input,
            initial,
            first_step,
        } = piece;
        match self {
            Folded::Leaky(cell) => forward(&cell.view(first_step), input, initial, trace),
            Folded::Gated(cell) => forward(&cell.view(), input, initial, trace),
            Folded::Deep(cell) => forward(&cell.view(&cell.layers(), first_step), input, initial, trace),
            Folded::Equilibrium(cell) => equilibrium::forward(&cell.view(), input, initial, trace),
        }
    }

    /// As [`Folded::forward`] where no backward pass follows.
    pub fn infer(&self, piece: Piece<F>, trace: &mut Trace<F>) {
        let Piece {
            input,
            initial,
            first_step,
        } = piece;
        match self {
            Folded::Leaky(cell) => infer(&cell.view(first_step), input, initial, trace),
            Folded::Gated(cell) => infer(&cell.view(), input, initial, trace),
            Folded::Deep(cell) => infer(&cell.view(&cell.layers(), first_step), input, initial, trace),
            Folded::Equilibrium(cell) => equilibrium::forward(&cell.view(), input, initial, trace),
        }
    }

    /// As [`Folded::forward`] if a backward pass follows (`keep`), else as [`Folded::infer`]; the states also go into `output`.
    ///
    /// # Panics
    /// If a sequence is longer than the one before it, or `output` has not room for all states and no more.
    pub fn run_into(&self, piece: Piece<F>, trace: &mut Trace<F>, keep: bool, output: StatesOut<F>) {
        let Piece {
            input,
            initial,
            first_step,
        } = piece;
        match self {
            Folded::Leaky(cell) => run_into(&cell.view(first_step), input, initial, trace, keep, output),
            Folded::Gated(cell) => run_into(&cell.view(), input, initial, trace, keep, output),
            Folded::Deep(cell) => {
                let layers = cell.layers();
                run_into(&cell.view(&layers, first_step), input, initial, trace, keep, output);
            }
            Folded::Equilibrium(cell) => {
                equilibrium::forward(&cell.view(), input, initial, trace);
                trace.states().unpack_steps(output.reversed, output.values);
            }
        }
    }

    /// The gradient of the folded numbers, and of the inputs where wanted, after [`Folded::forward`] on the same piece.
    pub fn backward(
        &self,
        piece: Piece<F>,
        trace: &mut Trace<F>,
        states: StateGradient<F>,
        gradient: &mut FoldedGradient<F>,
        input_gradient: Option<&mut Panels<F>>,
        initial_gradient: Option<&mut Vec<F>>,
    ) {
        let (input, first_step) = (piece.input, piece.first_step);
        match self {
            Folded::Leaky(cell) => {
                let gradient = gradient.as_leaky();
                let view = cell.view(first_step);
                backward(&view, input, trace, states, gradient, input_gradient, initial_gradient);
            }
            Folded::Gated(cell) => {
                let gradient = gradient.as_gated();
                let view = cell.view();
                backward(&view, input, trace, states, gradient, input_gradient, initial_gradient);
            }
            Folded::Deep(cell) => {
                let gradient = gradient.as_deep();
                let layers = cell.layers();
                let view = cell.view(&layers, first_step);
                backward(&view, input, trace, states, gradient, input_gradient, initial_gradient);
            }
            Folded::Equilibrium(cell) => {
                let gradient = gradient.as_leaky();
                let view = cell.view();
                equilibrium::backward(&view, input, trace, states, gradient, input_gradient, initial_gradient);
            }
        }
    }

    /// The cell packed for one sequence at a time.
    pub fn runner(&self, isa: Isa) -> CellRunner<F> {
        match self {
            Folded::Leaky(cell) => CellRunner::Leaky(leaky::SequenceRunner::new(isa, &cell.view(0))),
            Folded::Gated(cell) => CellRunner::Gated(gated::SequenceRunner::new(isa, &cell.view())),
            Folded::Deep(cell) => CellRunner::Deep(deep::SequenceRunner::new(isa, &cell.view(&cell.layers(), 0))),
            Folded::Equilibrium(cell) => {
                CellRunner::Equilibrium(Box::new(equilibrium::SequenceRunner::new(isa, &cell.view())))
            }
        }
    }
}

/// A folded cell packed for one sequence at a time.
#[derive(Clone, Debug)]
pub enum CellRunner<F> {
    /// A leaky cell.
    Leaky(leaky::SequenceRunner<F>),
    /// A gated cell.
    Gated(gated::SequenceRunner<F>),
    /// A deep-transition cell.
    Deep(deep::SequenceRunner<F>),
    /// A cell at its equilibrium.
    Equilibrium(Box<equilibrium::SequenceRunner<F>>),
}

impl<F: Real> CellRunner<F> {
    /// Runs over `input` `[T, d]` from `state` `[state_len]`, which becomes the state after the last step, and writes all `h`
    /// `[T, D]`. `first_step` steps of the sequence were run before.
    pub fn run(&mut self, input: &[F], first_step: usize, state: &mut [F], states: &mut Vec<F>) {
        match self {
            CellRunner::Leaky(runner) => runner.run(input, first_step, state, states),
            CellRunner::Gated(runner) => runner.run(input, state, states),
            CellRunner::Deep(runner) => runner.run(input, first_step, state, states),
            CellRunner::Equilibrium(runner) => runner.run(input, state, states),
        }
    }
}
