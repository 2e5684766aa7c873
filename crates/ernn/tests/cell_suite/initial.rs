//! Initial values: the same ones for the same seed, others for another, with the mean and the deviation that the cells' docs
//! state; and the spans that they fill.

use std::collections::BTreeSet;

use ernn::cell::{
    AntisymmetricConfig, CellConfig, ErnnConfig, FastRnnConfig, GatedAntisymmetricConfig, GruConfig, LstmConfig, Rank,
    RnnConfig, SpectralConfig, UgrnnConfig,
};
use ernn::model::Model;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::assert_near;
use crate::table::cases;

#[test]
fn initial_values_follow_the_seed() {
    for case in cases() {
        let new = |seed| Model::<f64>::new(case.config.clone(), seed).expect("a model");
        let (first, again, other) = (new(4), new(4), new(5));
        assert_eq!(first, again, "{}", case.name);
        for span in first.spans() {
            let (a, b) = (&first.parameters()[span.range()], &other.parameters()[span.range()]);
            assert!(a.iter().all(|value| value.is_finite()), "{}, {}", case.name, span.name);
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            a.iter()
                .for_each(|&value| (low, high) = (low.min(value), high.max(value)));
            // Biases of 0 and 1 are not drawn.
            if low < high && a.iter().any(|value| value.fract() != 0.0) {
                assert_ne!(a, b, "{}, {}", case.name, span.name);
            }
        }
        let names: BTreeSet<_> = first.spans().iter().map(|span| &span.name).collect();
        assert_eq!(names.len(), first.spans().len(), "names of the spans are unique");
        let mut end = 0;
        for span in first.spans() {
            assert_eq!(
                std::mem::replace(&mut end, span.range().end),
                span.start,
                "spans stand side by side"
            );
        }
        assert_eq!(end, first.parameters().len());
    }
}

/// Mean and standard deviation.
fn spread(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

fn ernn(rank: Rank) -> CellConfig {
    CellConfig::Ernn(ErnnConfig {
        rank,
        ..Default::default()
    })
}

fn rnn(rank: Rank) -> CellConfig {
    CellConfig::Rnn(RnnConfig {
        rank,
        ..Default::default()
    })
}

fn antisymmetric(rank: Rank) -> CellConfig {
    CellConfig::Antisymmetric(AntisymmetricConfig {
        rank,
        deviation: 2.0,
        ..Default::default()
    })
}

/// The same low rank for both matrices of a cell that has them.
fn low_rank(kind: &str) -> CellConfig {
    let mut cell = CellConfig::of_kind(kind).expect("a kind");
    let (rank, input_rank) = (Rank::Low(16), Rank::Low(4));
    match &mut cell {
        CellConfig::Lstm(cell) => (cell.rank, cell.input_rank) = (rank, input_rank),
        CellConfig::Gru(cell) => (cell.rank, cell.input_rank) = (rank, input_rank),
        CellConfig::Ugrnn(cell) => (cell.rank, cell.input_rank) = (rank, input_rank),
        CellConfig::FastGrnn(cell) => (cell.rank, cell.input_rank) = (rank, input_rank),
        _ => panic!("{kind} has no low rank here"),
    }
    cell
}

fn gated_antisymmetric(rank: Rank) -> CellConfig {
    CellConfig::GatedAntisymmetric(GatedAntisymmetricConfig {
        rank,
        deviation: 2.0,
        ..Default::default()
    })
}

/// Nine inputs, hidden size 64, rank 16, that of W 4. Of a dense U of an ERNN the identity is taken off.
#[test]
fn initial_values_are_those_of_the_docs() {
    let low = Rank::Low(16);
    // A uniform distribution within +-1 deviates by the root of 1/3.
    let elman = 1.0 / 8.0 / 3f64.sqrt();
    let elman_factor = (16f64 * 64.0).powf(-0.25) / 3f64.sqrt();
    let input_factor = (4f64 * 64.0).powf(-0.25) / 3f64.sqrt();
    let wh_factor = (2.0 / 8.0 / 4f64).sqrt();
    let fast = || CellConfig::FastRnn(FastRnnConfig::default());
    let of_kind = |kind| CellConfig::of_kind(kind).expect("a kind");
    let expected = [
        (ernn(low), "W", 0.0, 0.1),
        (ernn(low), "b", 0.0, 0.0),
        (ernn(low), "V", 0.0, 0.1),
        (ernn(low), "H", 0.0, 0.1),
        (ernn(low), "eta", 0.01, 0.0),
        (ernn(Rank::Full), "W", 0.0, 0.1),
        (ernn(Rank::Full), "U", 0.0, 0.1),
        (rnn(Rank::Full), "W", 0.0, elman),
        (rnn(Rank::Full), "b", 0.0, elman),
        (rnn(Rank::Full), "U", 0.0, elman),
        (rnn(low), "U1", 0.0, elman_factor),
        (rnn(low), "U2", 0.0, elman_factor),
        (fast(), "W", 0.0, elman),
        (fast(), "U", 0.0, elman),
        (fast(), "alpha", -3.0, 0.0),
        (fast(), "beta", 3.0, 0.0),
        (antisymmetric(low), "W", 0.0, 1.0 / 3.0),
        (antisymmetric(low), "b", 0.0, 0.0),
        (antisymmetric(low), "A", 0.0, wh_factor),
        (antisymmetric(low), "B", 0.0, wh_factor),
        (antisymmetric(Rank::Full), "Wh", 0.0, 2.0 / 8.0),
        (gated_antisymmetric(low), "W", 0.0, 1.0 / 3.0),
        (gated_antisymmetric(low), "b", 0.0, 0.0),
        (gated_antisymmetric(low), "A", 0.0, wh_factor),
        (gated_antisymmetric(Rank::Full), "Wh", 0.0, 2.0 / 8.0),
        (of_kind("spectral"), "W", 0.0, elman),
        (of_kind("spectral"), "b", 0.0, 0.0),
        (of_kind("spectral"), "Hu", 0.0, 1.0),
        (of_kind("spectral"), "Hv", 0.0, 1.0),
        (of_kind("spectral"), "p", 0.0, 0.0),
        (of_kind("gru"), "b_n", 0.0, 0.0),
        (of_kind("fastgrnn"), "b_z", 1.0, 0.0),
        (of_kind("fastgrnn"), "b_h", 0.0, 0.0),
        (of_kind("fastgrnn"), "zeta", 1.0, 0.0),
        (of_kind("fastgrnn"), "nu", -4.0, 0.0),
    ];
    let gated = ["lstm", "gru", "ugrnn", "fastgrnn"].into_iter().flat_map(|kind| {
        [
            (of_kind(kind), "W", 0.0, elman),
            (of_kind(kind), "U", 0.0, elman),
            (low_rank(kind), "W1", 0.0, input_factor),
            (low_rank(kind), "W2", 0.0, input_factor),
            (low_rank(kind), "U1", 0.0, elman_factor),
            (low_rank(kind), "U2", 0.0, elman_factor),
        ]
    });
    for (cell, name, mean, deviation) in expected.into_iter().chain(gated) {
        let mut parameters = vec![f64::NAN; cell.parameter_count(9)];
        cell.initialize(9, &mut ChaCha8Rng::seed_from_u64(2), &mut parameters);
        let mut spans = cell.spans(9, "", 0).into_iter();
        let span = spans.find(|span| span.name == name).expect("a tensor");
        let values = &mut parameters[span.range()];
        if let ("U", CellConfig::Ernn(_)) = (name, &cell) {
            values.iter_mut().step_by(64 + 1).for_each(|value| *value -= 1.0);
        }
        let found = spread(values);
        let what = || format!("{} {name}: {found:?}", cell.name());
        let error = deviation / (span.len() as f64).sqrt();
        assert_near(found.0, mean, 4.0 * error + 1e-12, what);
        assert_near(found.1, deviation, 3.0 * error + 1e-12, what);
    }
}

/// The gate that keeps the state starts at 1: in torch's order of the gates the LSTM's second, the GRU's second, the UGRNN's first.
#[test]
fn the_gate_that_keeps_the_state_starts_open() {
    let (hidden, ones, zeros) = (3, [1.0; 3], [0.0; 3]);
    let cells = [
        (
            CellConfig::Lstm(LstmConfig {
                hidden,
                ..Default::default()
            }),
            [zeros, ones, zeros, zeros].concat(),
        ),
        (
            CellConfig::Gru(GruConfig {
                hidden,
                ..Default::default()
            }),
            [zeros, ones, zeros].concat(),
        ),
        (
            CellConfig::Ugrnn(UgrnnConfig {
                hidden,
                ..Default::default()
            }),
            [ones, zeros].concat(),
        ),
    ];
    for (cell, expected) in cells {
        let mut parameters = vec![f64::NAN; cell.parameter_count(2)];
        cell.initialize(2, &mut ChaCha8Rng::seed_from_u64(2), &mut parameters);
        let span = cell.spans(2, "", 0).into_iter().find(|span| span.name == "b");
        assert_eq!(parameters[span.expect("biases").range()], expected, "{}", cell.name());
    }
}

#[test]
fn a_spectral_cell_has_a_quarter_of_its_size_in_reflections() {
    for (hidden, reflections, expected) in [(64, 0, 16), (7, 0, 1), (3, 0, 1), (1, 0, 1), (7, 7, 7)] {
        let cell = CellConfig::Spectral(SpectralConfig {
            hidden,
            reflections,
            ..Default::default()
        });
        for name in ["Hu", "Hv"] {
            let span = cell.spans(2, "", 0).into_iter().find(|span| span.name == name);
            let span = span.expect("reflections");
            assert_eq!((&span.shape[..], span.decay), (&[expected, hidden][..], false));
        }
    }
}
