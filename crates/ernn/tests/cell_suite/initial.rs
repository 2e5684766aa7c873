//! Initial values: the same ones for the same seed, others for another, with the mean and the deviation that the cells' docs
//! state; and the spans that they fill.

use std::collections::BTreeSet;

use ernn::cell::{AntisymmetricConfig, CellConfig, ErnnConfig, FastRnnConfig, Rank, RnnConfig};
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
            if low < high {
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

/// Nine inputs, hidden size 64, rank 16. Of a dense U of an ERNN the identity is taken off.
#[test]
fn initial_values_are_those_of_the_docs() {
    let low = Rank::Low(16);
    // A uniform distribution within +-1 deviates by the root of 1/3.
    let elman = 1.0 / 8.0 / 3f64.sqrt();
    let elman_factor = (16f64 * 64.0).powf(-0.25) / 3f64.sqrt();
    let wh_factor = (2.0 / 8.0 / 4f64).sqrt();
    let fast = || CellConfig::FastRnn(FastRnnConfig::default());
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
    ];
    for (cell, name, mean, deviation) in expected {
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
