//! Through the layers and back, over a piece of a batch.
//!
//! A layer runs once, or in both directions: then a second cell reads each sequence from its last step to its first, and the next
//! layer sees both states of a step side by side. Dropout between layers falls on a copy of the states, so that what a layer carries
//! on from step to step is never touched.

use ernn_kernels::{Isa, Panels, Real, StateGradient, Trace};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::cell::{Equilibria, Folded, FoldedGradient, Piece};

/// The folded cells of a layer: one, or one a direction.
pub(super) type FoldedLayer<F> = Vec<Folded<F>>;

/// Working memory of one direction of a layer.
#[derive(Debug, Default)]
pub(super) struct Direction<F: Real> {
    pub(super) trace: Trace<F>,
    gradient: FoldedGradient<F>,
    /// The inputs in reverse order, for the second direction.
    reversed: Option<Panels<F>>,
    input_gradient: Option<Panels<F>>,
    /// Gradient at all states, where it is not the next layer's input gradient as it stands.
    state_gradient: Option<Panels<F>>,
}

/// Working memory of a layer.
#[derive(Debug, Default)]
pub(super) struct LayerWorkspace<F: Real> {
    pub(super) directions: Vec<Direction<F>>,
    /// What the next layer reads, where that is not the states as they stand.
    output: Option<Panels<F>>,
    mask: Option<Panels<F>>,
    /// How the equilibria of all passes were found, since somebody asked.
    pub(super) equilibria: Equilibria,
}

impl<F: Real> LayerWorkspace<F> {
    /// Numbers that there is room for: what grows with the length of a batch, or of its pieces.
    pub(super) fn capacity(&self) -> usize {
        let of = |slot: &Option<Panels<F>>| slot.as_ref().map_or(0, Panels::capacity);
        let direction = |direction: &Direction<F>| {
            let own = [
                &direction.reversed,
                &direction.input_gradient,
                &direction.state_gradient,
            ];
            direction.trace.capacity() + own.into_iter().map(of).sum::<usize>()
        };
        of(&self.output) + of(&self.mask) + self.directions.iter().map(direction).sum::<usize>()
    }
}

/// The memory of a slot that is empty at first.
fn at<F: Real>(slot: &mut Option<Panels<F>>) -> &mut Panels<F> {
    slot.get_or_insert_with(|| Panels::new(Isa::best(), 1, &[]))
}

/// Dropout between layers: rate, and what its draws depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerDropout<'a> {
    pub(super) rate: f64,
    pub(super) seed: u64,
    pub(super) epoch: u64,
    /// Index of each sequence in its part.
    pub(super) sequences: &'a [usize],
}

impl LayerDropout<'_> {
    /// A mask for each state of each step, as torch's, drawn from (seed, epoch, sequence, layer, first step).
    pub(super) fn draw<F: Real>(&self, layer: usize, first_step: usize, like: &Panels<F>, mask: &mut Panels<F>) {
        mask.lay_out_as(like, like.features());
        let kept = F::from_f64(1.0 / (1.0 - self.rate));
        // Dropped are the draws below this; exact to 2^-32.
        let threshold = (self.rate * 2f64.powi(32)) as u32;
        let mut row = vec![F::ZERO; like.features()];
        for (slot, &sequence) in self.sequences.iter().enumerate() {
            let mut key = [0; 32];
            for (part, value) in key
                .chunks_exact_mut(8)
                .zip([self.seed, self.epoch, sequence as u64, layer as u64])
            {
                part.copy_from_slice(&value.to_le_bytes());
            }
            // Apart from the draws of the readout's dropout, whose key ends in letters.
            let mut rng = ChaCha8Rng::from_seed(key);
            rng.set_stream(first_step as u64);
            for step in 0..like.lengths()[slot] {
                for value in &mut row {
                    *value = if rng.next_u32() < threshold { F::ZERO } else { kept };
                }
                mask.set_step(slot, step, &row);
            }
        }
    }
}

/// One pass over a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass<'a, F: Real> {
    pub(super) input: &'a Panels<F>,
    /// The state of each layer, `[sequences, state_len]`; none: zeros.
    pub(super) initial: Option<&'a [Vec<F>]>,
    /// Steps of the sequences before this piece.
    pub(super) first_step: usize,
    pub(super) dropout: Option<LayerDropout<'a>>,
}

impl<F: Real> Pass<'_, F> {
    /// Whether a layer's output is its states as they stand.
    fn plain(&self, layer: &LayerWorkspace<F>) -> bool {
        self.dropout.is_none() && layer.directions.len() == 1
    }
}

/// Runs the layers, each on the output of the one before; `keep` what the backward pass needs.
pub(super) fn forward<F: Real>(
    folded: &[FoldedLayer<F>],
    pass: Pass<F>,
    layers: &mut Vec<LayerWorkspace<F>>,
    keep: bool,
) {
    layers.resize_with(folded.len(), LayerWorkspace::default);
    for (index, cells) in folded.iter().enumerate() {
        let (before, rest) = layers.split_at_mut(index);
        let own = &mut rest[0];
        own.directions.resize_with(cells.len(), Direction::default);
        let input = input_of(before, &pass);
        for (place, (cell, direction)) in cells.iter().zip(&mut own.directions).enumerate() {
            let piece = Piece {
                input: direction_input(input, place, &mut direction.reversed),
                initial: pass.initial.map(|states| &states[index][..]),
                first_step: pass.first_step,
            };
            if keep {
                cell.forward(piece, &mut direction.trace);
            } else {
                cell.infer(piece, &mut direction.trace);
            }
            let input = direction_input_of(input, place, &direction.reversed);
            direction
                .trace
                .outcomes(input)
                .for_each(|outcome| own.equilibria.count(outcome));
        }
        if index + 1 < folded.len() && !pass.plain(own) {
            join(own, pass, index);
        }
    }
}

/// What a layer reads: the output of the one before, or the inputs.
fn input_of<'a, F: Real>(before: &'a [LayerWorkspace<F>], pass: &Pass<'a, F>) -> &'a Panels<F> {
    let output = |layer: &'a LayerWorkspace<F>| match &layer.output {
        Some(output) if !pass.plain(layer) => output,
        _ => layer.directions[0].trace.states(),
    };
    before.last().map_or(pass.input, output)
}

/// The input itself, or for the second direction a copy in reverse order.
fn direction_input<'a, F: Real>(
    input: &'a Panels<F>,
    place: usize,
    reversed: &'a mut Option<Panels<F>>,
) -> &'a Panels<F> {
    if place == 0 {
        return input;
    }
    let reversed = at(reversed);
    reversed.lay_out_as(input, input.features());
    reversed.copy_features(0, input, 0, input.features(), true);
    reversed
}

/// What [`direction_input`] has given.
fn direction_input_of<'a, F: Real>(
    input: &'a Panels<F>,
    place: usize,
    reversed: &'a Option<Panels<F>>,
) -> &'a Panels<F> {
    match reversed {
        Some(reversed) if place > 0 => reversed,
        _ => input,
    }
}

/// Both directions side by side, and dropout.
fn join<F: Real>(own: &mut LayerWorkspace<F>, pass: Pass<F>, index: usize) {
    let LayerWorkspace {
        directions,
        output,
        mask,
        ..
    } = own;
    let output = at(output);
    put_side_by_side(directions, output);
    if let Some(dropout) = pass.dropout {
        let mask = at(mask);
        dropout.draw(index, pass.first_step, output, mask);
        output.multiply(mask);
    }
}

/// The states of a layer's directions side by side, each state at the step that it has just read.
pub(super) fn put_side_by_side<F: Real>(directions: &[Direction<F>], output: &mut Panels<F>) {
    let states = directions[0].trace.states();
    let hidden = states.features();
    output.lay_out_as(states, hidden * directions.len());
    for (place, direction) in directions.iter().enumerate() {
        output.copy_features(place * hidden, direction.trace.states(), 0, hidden, place == 1);
    }
}

/// Where the readout looks at the last layer's states, one entry a direction.
pub(super) enum AtTop<'a, F: Real> {
    /// At each sequence's last state, `[sequences, D]`.
    Last(&'a [Vec<F>]),
    /// At all states.
    All(&'a [Panels<F>]),
}

/// Back through the layers after [`forward`]: the gradient of each cell's folded numbers goes to `unfold` with the places of layer
/// and direction. The gradient of the inputs is formed if it is wanted, see [`input_gradient`].
pub(super) fn backward<F: Real>(
    folded: &[FoldedLayer<F>],
    pass: Pass<F>,
    layers: &mut [LayerWorkspace<F>],
    top: AtTop<F>,
    to_inputs: bool,
    mut unfold: impl FnMut(usize, usize, &FoldedGradient<F>),
) {
    for (index, cells) in folded.iter().enumerate().rev() {
        let (before, rest) = layers.split_at_mut(index);
        let (own, after) = rest.split_first_mut().expect("a workspace a layer");
        let at_output = after.first_mut().map(|next| join_back(next, own, &pass));
        let input = input_of(before, &pass);
        for (place, (cell, direction)) in cells.iter().zip(&mut own.directions).enumerate() {
            let states = match (&at_output, &top) {
                (Some(Some(panels)), _) => StateGradient {
                    all: Some(*panels),
                    ..StateGradient::default()
                },
                (Some(None), _) => StateGradient {
                    all: direction.state_gradient.as_ref(),
                    ..StateGradient::default()
                },
                (None, AtTop::Last(last)) => StateGradient {
                    last: Some(&last[place]),
                    ..StateGradient::default()
                },
                (None, AtTop::All(all)) => StateGradient {
                    all: Some(&all[place]),
                    ..StateGradient::default()
                },
            };
            let piece = Piece {
                input: direction_input_of(input, place, &direction.reversed),
                initial: None,
                first_step: pass.first_step,
            };
            let at_input = (index > 0 || to_inputs).then(|| at(&mut direction.input_gradient));
            cell.backward(
                piece,
                &mut direction.trace,
                states,
                &mut direction.gradient,
                at_input,
                None,
            );
            unfold(index, place, &direction.gradient);
        }
    }
}

/// The gradient at the inputs after a [`backward`] that formed it.
pub(super) fn input_gradient<F: Real>(layers: &mut [LayerWorkspace<F>]) -> &mut Panels<F> {
    add_directions(&mut layers[0])
}

/// The gradient at what a layer has read, of both directions together.
fn add_directions<F: Real>(layer: &mut LayerWorkspace<F>) -> &mut Panels<F> {
    let [first, others @ ..] = &mut layer.directions[..] else {
        unreachable!("a layer has a direction")
    };
    let total = at(&mut first.input_gradient);
    for other in others {
        // The second direction has read its input in reverse order.
        let (gradient, turned) = (at(&mut other.input_gradient), at(&mut other.state_gradient));
        turned.lay_out_as(gradient, gradient.features());
        turned.copy_features(0, gradient, 0, gradient.features(), true);
        total.add(turned);
    }
    total
}

/// The gradient at the output of a layer, from the layer that read it: as it stands where the output is the states, else shared out to
/// the directions' `state_gradient`.
fn join_back<'a, F: Real>(
    next: &'a mut LayerWorkspace<F>,
    own: &mut LayerWorkspace<F>,
    pass: &Pass<F>,
) -> Option<&'a Panels<F>> {
    let plain = pass.plain(own);
    let total = add_directions(next);
    if plain {
        return Some(total);
    }
    if let (Some(mask), true) = (&own.mask, pass.dropout.is_some()) {
        total.multiply(mask);
    }
    for (place, direction) in own.directions.iter_mut().enumerate() {
        let hidden = direction.trace.states().features();
        let gradient = at(&mut direction.state_gradient);
        gradient.lay_out_as(total, hidden);
        gradient.copy_features(0, total, place * hidden, hidden, place == 1);
    }
    None
}
