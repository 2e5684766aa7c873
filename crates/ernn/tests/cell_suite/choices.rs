//! Which settings the cases have: every value of a setting meets every value of every other, for each cell.

use std::collections::BTreeSet;

use ernn::cell::CellConfig;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The settings of a case, each with the number of its values.
const AXES: [(&str, usize); 21] = [
    ("cell", CellConfig::KINDS.len()),
    ("rank", 2),
    ("input rank", 2),
    ("iterations", 4),
    ("start", 2),
    ("sign", 2),
    ("steps", 3),
    ("projection", 2),
    ("solver", 5),
    ("contract", 2),
    ("widths", 4),
    ("reset", 2),
    ("gate activation", 2),
    ("activation", 5),
    ("lengths", 6),
    ("layers", 3),
    ("bidirectional", 2),
    ("pooling", 5),
    ("class weights", 2),
    ("dropout", 2),
    ("layer dropout", 2),
];

/// One value of each axis.
#[derive(Clone, Debug)]
pub struct Choice([usize; AXES.len()]);

impl Choice {
    /// The value of an axis.
    pub fn of(&self, axis: &str) -> usize {
        let place = AXES.iter().position(|&(name, _)| name == axis);
        self.0[place.unwrap_or_else(|| panic!("no axis {axis}"))]
    }

    /// The cell of a layer: from layer to layer another one.
    pub fn kind(&self, layer: usize) -> &'static str {
        CellConfig::KINDS[(self.0[0] + layer) % CellConfig::KINDS.len()]
    }

    /// Axes and values.
    pub fn name(&self) -> String {
        let picked = |((name, _), value): (&(&str, usize), &usize)| format!("{name} {value}");
        let others: Vec<_> = AXES.iter().zip(&self.0).skip(1).map(picked).collect();
        format!("{}, {}", self.kind(0), others.join(", "))
    }

    fn pairs(&self, axes: &[usize]) -> Vec<Pair> {
        let of = |(a, b): (usize, usize)| [(a, self.0[a]), (b, self.0[b])];
        two_of(axes).into_iter().map(of).collect()
    }
}

/// Two axes other than the cell, and a value of each.
type Pair = [(usize, usize); 2];

fn two_of(axes: &[usize]) -> Vec<(usize, usize)> {
    let first = axes.iter().enumerate();
    first
        .flat_map(|(place, &a)| axes[place + 1..].iter().map(move |&b| (a, b)))
        .collect()
}

/// The axes that mean something to a cell of this kind; the others mean something to the layers above it.
fn axes_of(kind: &str) -> Vec<usize> {
    let gated = ["fastgrnn", "ugrnn", "gru", "lstm"];
    let means = |axis: &str| match axis {
        "cell" => false,
        "input rank" => gated.contains(&kind) || ["rnn", "fastrnn"].contains(&kind),
        "iterations" | "start" | "sign" | "steps" => kind == "ernn" || kind == "deep-transition",
        "projection" | "solver" | "contract" => kind == "ernn",
        "widths" => kind == "deep-transition",
        "reset" => kind == "gru",
        "gate activation" => gated.contains(&kind) || kind == "gated-antisymmetric",
        _ => true,
    };
    (0..AXES.len()).filter(|&axis| means(AXES[axis].0)).collect()
}

/// Choices such that, for each cell, every pair of values of two of its axes occurs; the same ones every time.
pub fn choices() -> Vec<Choice> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut chosen = Vec::new();
    for (cell, kind) in CellConfig::KINDS.iter().enumerate() {
        let axes = axes_of(kind);
        let mut wanted = BTreeSet::new();
        for (a, b) in two_of(&axes) {
            wanted.extend((0..AXES[a].1).flat_map(|x| (0..AXES[b].1).map(move |y| [(a, x), (b, y)])));
        }
        while let Some(&pair) = wanted.first() {
            let mut draw = || {
                let mut choice: [usize; AXES.len()] = std::array::from_fn(|axis| rng.random_range(0..AXES[axis].1));
                choice[0] = cell;
                for (axis, value) in pair {
                    choice[axis] = value;
                }
                Choice(choice)
            };
            let candidates: Vec<Choice> = (0..50).map(|_| draw()).collect();
            let gain = |choice: &&Choice| choice.pairs(&axes).iter().filter(|pair| wanted.contains(*pair)).count();
            let best = candidates.iter().max_by_key(gain).expect("candidates").clone();
            best.pairs(&axes).iter().for_each(|pair| {
                wanted.remove(pair);
            });
            chosen.push(best);
        }
    }
    chosen
}

#[test]
fn for_each_cell_every_value_meets_every_value_of_every_other_axis() {
    let choices = choices();
    for (cell, kind) in CellConfig::KINDS.iter().enumerate() {
        let axes = axes_of(kind);
        let of_cell = choices.iter().filter(|choice| choice.0[0] == cell);
        let seen: BTreeSet<Pair> = of_cell.flat_map(|choice| choice.pairs(&axes)).collect();
        for (a, b) in two_of(&axes) {
            let met = seen.iter().filter(|pair| pair[0].0 == a && pair[1].0 == b).count();
            assert_eq!(met, AXES[a].1 * AXES[b].1, "{kind}: {} with {}", AXES[a].0, AXES[b].0);
        }
    }
}
