//! The columns of a batch, `(sequence, step)`, in tiles of as many as a panel row has lanes.
//!
//! A block of sequences of like length goes step by step, its sequences side by side; one of few or very unequal sequences goes
//! sequence by sequence, neighboring steps side by side. Which one does not change a bit of the result.

use super::{Equilibrium, Outcome, Packs};
use crate::Real;
use crate::aligned::Aligned;
use crate::panels::{Panels, slot_rows};

/// The lanes of a tile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tile {
    /// One step of a block of sequences.
    Step { block: usize, step: usize },
    /// `count` steps of one sequence from `first` on.
    Stretch {
        sequence: usize,
        first: usize,
        count: usize,
    },
}

/// What is kept of a batch's columns from the forward to the backward pass; panels stand a slot apart.
#[derive(Debug)]
pub(crate) struct Tiles<F: Real> {
    pub(super) list: Vec<Tile>,
    /// First tile of each block of sequences, and the end.
    pub(super) blocks: Vec<usize>,
    /// `[tiles][d][lane]`.
    pub(super) input: Aligned<F>,
    /// `[tiles][D][lane]`.
    pub(super) z: Aligned<F>,
    /// `[tiles][D][lane]`.
    pub(super) outputs: Aligned<F>,
    /// `[tiles][D][lane]`.
    pub(super) gradient: Aligned<F>,
    /// `[tiles][lane]`.
    pub(super) outcomes: Vec<Outcome>,
    pub(super) packs: Packs<F>,
}

impl<F: Real> Default for Tiles<F> {
    fn default() -> Self {
        Tiles {
            list: Vec::new(),
            blocks: Vec::new(),
            input: Aligned::default(),
            z: Aligned::default(),
            outputs: Aligned::default(),
            gradient: Aligned::default(),
            outcomes: Vec::new(),
            packs: Packs::default(),
        }
    }
}

impl<F: Real> Tiles<F> {
    /// Forgets all columns.
    pub(crate) fn forget(&mut self) {
        self.list.clear();
    }

    /// Cuts the batch into tiles and makes room.
    pub(super) fn lay_out(&mut self, cell: &Equilibrium<F>, input: &Panels<F>) {
        let lanes = input.lanes();
        self.list.clear();
        self.blocks.clear();
        for block in 0..input.blocks() {
            self.blocks.push(self.list.len());
            let lengths = input.block_lengths(block);
            let longest = lengths.iter().copied().max().unwrap_or(0);
            let stretches: usize = lengths.iter().map(|length| length.div_ceil(lanes)).sum();
            if longest <= stretches {
                self.list.extend((0..longest).map(|step| Tile::Step { block, step }));
                continue;
            }
            for (lane, &length) in lengths.iter().enumerate() {
                self.list.extend((0..length).step_by(lanes).map(|first| Tile::Stretch {
                    sequence: block * lanes + lane,
                    first,
                    count: lanes.min(length - first),
                }));
            }
        }
        self.blocks.push(self.list.len());
        let count = self.list.len();
        self.input.resize(count * slot_rows(cell.inputs) * lanes);
        self.z.resize(count * slot_rows(cell.hidden) * lanes);
        self.outputs.resize(count * slot_rows(cell.hidden) * lanes);
        self.outcomes.clear();
        self.outcomes.resize(count * lanes, Outcome::default());
    }

    /// The outcomes of all columns, in no particular order.
    pub(crate) fn outcomes<'a>(&'a self, input: &'a Panels<F>) -> impl Iterator<Item = Outcome> + 'a {
        let lanes = input.lanes();
        self.list.iter().enumerate().flat_map(move |(index, tile)| {
            let outcomes = &self.outcomes[index * lanes..(index + 1) * lanes];
            let used = used(*tile, input);
            outcomes
                .iter()
                .zip(used)
                .filter_map(|(outcome, used)| used.then_some(*outcome))
        })
    }
}

/// Which lanes of a tile hold a column.
pub(super) fn used<F: Real>(tile: Tile, input: &Panels<F>) -> [bool; 64] {
    let mut used = [false; 64];
    match tile {
        Tile::Step { block, step } => {
            for (used, &length) in used.iter_mut().zip(input.block_lengths(block)) {
                *used = step < length;
            }
        }
        Tile::Stretch { count, .. } => used[..count].fill(true),
    }
    used
}

/// Copies the panel rows of a tile from sequences to `out` `[features][lane]`; unused lanes get 0.
pub(super) fn gather<F: Real>(tile: Tile, from: &Panels<F>, out: &mut [F]) {
    let (lanes, features) = (from.lanes(), from.features());
    match tile {
        Tile::Step { block, step } => {
            let values = &from.block(block)[step * slot_rows(features) * lanes..][..features * lanes];
            let lengths = from.block_lengths(block);
            out.copy_from_slice(values);
            for lane in (0..lanes).filter(|&lane| lengths.get(lane).is_none_or(|&length| step >= length)) {
                out.iter_mut()
                    .skip(lane)
                    .step_by(lanes)
                    .for_each(|value| *value = F::ZERO);
            }
        }
        Tile::Stretch { sequence, first, count } => {
            let slot = slot_rows(features) * lanes;
            let values = &from.block(sequence / lanes)[first * slot..];
            for (feature, row) in out.chunks_exact_mut(lanes).enumerate() {
                row.fill(F::ZERO);
                for (step, value) in row[..count].iter_mut().enumerate() {
                    *value = values[step * slot + feature * lanes + sequence % lanes];
                }
            }
        }
    }
}

/// Copies the panel rows of a tile to a block of sequences `[steps][features][lane]`, used lanes alone.
pub(super) fn scatter<F: Real>(tile: Tile, features: usize, lanes: usize, used: &[bool], from: &[F], block: &mut [F]) {
    let slot = slot_rows(features) * lanes;
    match tile {
        Tile::Step { step, .. } => {
            let rows = block[step * slot..][..features * lanes].chunks_exact_mut(lanes);
            for (to, from) in rows.zip(from.chunks_exact(lanes)) {
                for (lane, to) in to.iter_mut().enumerate().filter(|&(lane, _)| used[lane]) {
                    *to = from[lane];
                }
            }
        }
        Tile::Stretch { sequence, first, count } => {
            for (feature, row) in from.chunks_exact(lanes).enumerate() {
                for (step, &value) in row[..count].iter().enumerate() {
                    block[(first + step) * slot + feature * lanes + sequence % lanes] = value;
                }
            }
        }
    }
}
