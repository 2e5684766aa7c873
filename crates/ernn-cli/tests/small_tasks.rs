//! Small tasks with a known answer, each of which the defaults must solve with no flag, judged by folds; and one without an answer.

mod support;

use std::f64::consts::TAU;
use std::fmt::Write as _;

use support::Place;

const SEQUENCES: usize = 150;

/// Numbers that only a seed decides.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Nearly normal: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn sign(&mut self) -> f64 {
        if self.uniform() < 0.5 { -1.0 } else { 1.0 }
    }

    fn normals(&mut self, steps: usize, mean: f64, deviation: f64) -> Vec<f64> {
        (0..steps).map(|_| mean + deviation * self.normal()).collect()
    }

    /// Noise with a bump of this height and width at a place.
    fn bump(&mut self, steps: usize, noise: f64, [height, width, place]: [f64; 3]) -> Vec<f64> {
        let value = |step: usize| height * (-((step as f64 - place) / width).powi(2)).exp();
        (0..steps).map(|step| value(step) + noise * self.normal()).collect()
    }
}

/// The channels of a sequence whose class has this sign.
type Draw = fn(&mut Random, f64) -> Vec<Vec<f64>>;

fn table(draw: Draw, shuffled: bool) -> String {
    let mut random = Random(7);
    let mut text = String::new();
    for sequence in 0..SEQUENCES {
        let class = random.sign();
        let channels = draw(&mut random, class);
        let named = if shuffled { random.sign() } else { class };
        if sequence == 0 {
            let names: Vec<String> = (1..=channels.len()).map(|channel| format!("c{channel}")).collect();
            let _ = writeln!(text, "series,label,{}", names.join(","));
        }
        for step in 0..channels[0].len() {
            let values: Vec<String> = channels.iter().map(|channel| format!("{:.4}", channel[step])).collect();
            let label = if named > 0.0 { "plus" } else { "minus" };
            let _ = writeln!(text, "s{sequence},{label},{}", values.join(","));
        }
    }
    text
}

/// What the folds say of a task; none where there is no time for it.
fn by_folds(draw: Draw, shuffled: bool) -> Option<serde_json::Value> {
    if std::env::var_os("ERNN_QUICK_TESTS").is_some() {
        println!("skipped: ERNN_QUICK_TESTS is set");
        return None;
    }
    let place = Place::new();
    place.write("task.csv", table(draw, shuffled));
    Some(place.json("train task.csv")["folds"].clone())
}

fn solved(draw: Draw) {
    if let Some(folds) = by_folds(draw, false) {
        let accuracy = folds["pooled"]["accuracy"]
            .as_f64()
            .unwrap_or_else(|| panic!("{folds}"));
        assert!(accuracy >= 0.95, "{accuracy}");
    }
}

#[test]
fn the_sign_of_a_mean() {
    solved(|random, class| {
        (0..3)
            .map(|channel| random.normals(30, if channel == 0 { 0.7 * class } else { 0.0 }, 1.0))
            .collect()
    });
}

#[test]
fn the_larger_variance_of_two_channels() {
    solved(|random, class| {
        [1.0, -1.0]
            .map(|sign| random.normals(40, 0.0, if sign * class > 0.0 { 1.8 } else { 1.0 }))
            .to_vec()
    });
}

#[test]
fn the_higher_of_two_frequencies() {
    solved(|random, class| {
        let (frequency, phase) = (if class > 0.0 { 0.15 } else { 0.1 }, random.between(0.0, TAU));
        let wave = (0..60).map(|step| (TAU * frequency * step as f64 + phase).sin() + 0.3 * random.normal());
        vec![wave.collect()]
    });
}

#[test]
fn the_order_of_two_bumps() {
    solved(|random, class| {
        let first = random.between(8.0, 30.0);
        let second = first + random.between(10.0, 25.0);
        let places = if class > 0.0 { [first, second] } else { [second, first] };
        places.map(|place| random.bump(64, 0.2, [2.0, 3.0, place])).to_vec()
    });
}

#[test]
fn a_bump_anywhere() {
    solved(|random, class| {
        let place = random.between(8.0, 72.0);
        vec![random.bump(80, 0.4, [if class > 0.0 { 3.0 } else { 0.0 }, 2.5, place])]
    });
}

#[test]
fn a_slow_trend_under_noise() {
    solved(|random, class| {
        let rising = (0..60).map(|step| class * 1.5 * (step as f64 / 60.0 - 0.5) + random.normal());
        vec![rising.collect()]
    });
}

#[test]
fn whether_two_means_have_the_same_sign() {
    solved(|random, class| {
        let one = random.sign();
        [one, one * class]
            .map(|sign| random.normals(40, 0.7 * sign, 1.0))
            .to_vec()
    });
}

#[test]
fn the_length_of_a_sequence() {
    solved(|random, class| {
        let steps = if class > 0.0 {
            random.between(42.0, 60.0)
        } else {
            random.between(20.0, 38.0)
        };
        vec![random.normals(steps as usize, 0.0, 1.0)]
    });
}

#[test]
fn labels_that_go_with_nothing_stay_at_chance_and_that_is_said() {
    let Some(folds) = by_folds(|random, _| (0..2).map(|_| random.normals(30, 0.0, 1.0)).collect(), true) else {
        return;
    };
    let [low, chance] = [&folds["interval"][0], &folds["chance"]].map(|value| value.as_f64().unwrap());
    assert!(low <= chance, "{folds}");
}
