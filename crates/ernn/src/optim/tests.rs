//! Settings, state and spans; the numbers themselves are held against torch in `tests/golden_optim.rs`.

use super::*;

fn span(name: &str, start: usize, length: usize, decay: bool, learning_rate_scale: f64) -> Span {
    Span {
        name: name.to_string(),
        shape: vec![length],
        start,
        decay,
        learning_rate_scale,
    }
}

fn every_config() -> [OptimizerConfig; 3] {
    let sgd = Sgd {
        momentum: 0.9,
        ..Sgd::default()
    };
    [
        OptimizerConfig::Adam(Adam::default()),
        OptimizerConfig::AdamW(AdamW::default()),
        OptimizerConfig::Sgd(sgd),
    ]
}

#[test]
fn every_optimizer_finds_the_bottom_of_a_bowl() {
    let spans = [span("a", 0, 2, false, 1.0)];
    for config in every_config() {
        let mut optimizer = Optimizer::new(config.clone(), 2);
        let mut point = [3.0f64, -2.0];
        for _ in 0..2000 {
            let slope = [2.0 * point[0], 8.0 * point[1]];
            optimizer.step(&mut point, &slope, 0.02, &spans);
        }
        assert!(point.iter().all(|value| value.abs() < 1e-3), "{config:?}: {point:?}");
    }
}

#[test]
fn a_restored_optimizer_goes_on_with_the_same_bits() {
    let spans = [span("a", 0, 3, true, 1.0)];
    let slope = |step: u64| [0.3, -0.1 * step as f32, 0.7];
    for config in every_config() {
        let mut whole = Optimizer::new(config.clone(), 3);
        let mut expected = [1.0f32, 2.0, 3.0];
        for step in 0..5 {
            whole.step(&mut expected, &slope(step), 0.01, &spans);
        }
        let mut resumed = Optimizer::new(config, 3);
        let saved: Vec<_> = whole.state().map(|(name, values)| (name, values.to_vec())).collect();
        let tensor = |name: &str| {
            saved
                .iter()
                .find(|saved| saved.0 == name)
                .map(|saved| saved.1.as_slice())
        };
        resumed.restore(whole.steps(), tensor).unwrap();
        let mut actual = expected;
        whole.step(&mut expected, &slope(9), 0.01, &spans);
        resumed.step(&mut actual, &slope(9), 0.01, &spans);
        assert_eq!(expected.map(f32::to_bits), actual.map(f32::to_bits));
        assert_eq!(whole, resumed);
    }
}

#[test]
fn a_state_of_the_wrong_size_is_refused_and_changes_nothing() {
    let mut optimizer = Optimizer::<f32>::new(OptimizerConfig::default(), 3);
    let before = optimizer.clone();
    let short = |name: &str| (name == "first-moment").then_some(&[1.0, 2.0, 3.0][..]);
    let error = optimizer.restore(7, short).unwrap_err().to_string();
    assert_eq!(error, "optimizer state second-moment: found nothing, expected 3 values");
    let error = optimizer.restore(7, |_| Some(&[1.0][..])).unwrap_err().to_string();
    assert_eq!(error, "optimizer state first-moment: found 1 values, expected 3 values");
    assert_eq!(optimizer, before);
}

#[test]
#[should_panic(expected = "do not tile")]
fn a_parameter_without_a_span_is_a_bug() {
    let mut optimizer = Optimizer::new(OptimizerConfig::default(), 3);
    optimizer.step(&mut [0.0f32; 3], &[0.0; 3], 0.1, &[span("a", 0, 2, true, 1.0)]);
}

#[test]
fn norm_of_large_values_does_not_overflow() {
    assert!((global_norm(&[3e30f32, 4e30]) / 5e30 - 1.0).abs() < 1e-6);
    assert_eq!(global_norm::<f32>(&[]), 0.0);
}

#[test]
fn clipping_leaves_short_and_broken_gradients_alone() {
    let mut short = [0.3f32, 0.4];
    assert!((clip_global_norm(&mut short, 1.0) - 0.5).abs() < 1e-7);
    assert_eq!(short, [0.3, 0.4]);
    let mut broken = [1.0f32, f32::INFINITY];
    assert_eq!(clip_global_norm(&mut broken, 1.0), f64::INFINITY);
    assert_eq!(broken, [1.0, f32::INFINITY]);
    assert!(clip_global_norm(&mut [f32::NAN], 1.0).is_nan());
}

#[test]
fn the_first_tensor_that_is_not_finite_is_named() {
    let spans = [span("a", 0, 70, true, 1.0), span("b", 70, 130, true, 1.0)];
    let mut gradient = vec![0.5f32; 200];
    assert!(first_not_finite(&gradient, &spans).is_none());
    gradient[199] = f32::NEG_INFINITY;
    let (found, value) = first_not_finite(&gradient, &spans).unwrap();
    assert_eq!((found.name.as_str(), value), ("b", f64::NEG_INFINITY));
    gradient[69] = f32::NAN;
    let (found, value) = first_not_finite(&gradient, &spans).unwrap();
    assert!(found.name == "a" && value.is_nan());
}

#[test]
fn settings_are_read_with_defaults_and_unknown_ones_refused() {
    let read = |text: &str| serde_json::from_str::<OptimizerConfig>(text);
    let adam = OptimizerConfig::Adam(Adam {
        weight_decay: 0.1,
        ..Adam::default()
    });
    assert_eq!(read(r#"{"kind": "adam", "weight_decay": 0.1}"#).unwrap(), adam);
    assert_eq!(
        read(r#"{"kind": "adamw"}"#).unwrap(),
        OptimizerConfig::AdamW(AdamW::default())
    );
    assert_eq!(
        read(r#"{"kind": "sgd"}"#).unwrap(),
        OptimizerConfig::Sgd(Sgd::default())
    );
    for config in every_config() {
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(read(&text).unwrap(), config, "{text}");
    }
    let error = read(r#"{"kind": "adam", "weight-decay": 0.1}"#)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("weight_decay") && error.contains("weight-decay"),
        "{error}"
    );
    assert!(read(r#"{"kind": "adagrad"}"#).is_err());
}

#[test]
fn schedules_are_read_with_defaults_and_unknown_settings_refused() {
    let read = |text: &str| serde_json::from_str::<Schedule>(text);
    assert_eq!(read(r#"{"kind": "constant"}"#).unwrap(), Schedule::Constant);
    let step = Schedule::Step { every: 20, factor: 0.5 };
    assert_eq!(read(r#"{"kind": "step", "every": 20}"#).unwrap(), step);
    assert_eq!(read(&serde_json::to_string(&step).unwrap()).unwrap(), step);
    let cosine = Schedule::Cosine { epochs: 9, floor: 0.0 };
    assert_eq!(read(r#"{"kind": "cosine", "epochs": 9}"#).unwrap(), cosine);
    for unknown in [
        r#"{"kind": "cosine", "epochs": 9, "flor": 1}"#,
        r#"{"kind": "constant", "every": 2}"#,
    ] {
        assert!(read(unknown).is_err(), "{unknown}");
    }
}

#[test]
fn a_schedule_that_has_ended_stays_at_its_floor() {
    let cosine = Schedule::Cosine {
        epochs: 10,
        floor: 1e-4,
    };
    assert_eq!(cosine.learning_rate(0.1, 10), 1e-4);
    assert_eq!(cosine.learning_rate(0.1, 15), 1e-4);
    let never = Schedule::Step { every: 0, factor: 0.5 };
    assert_eq!(never.learning_rate(0.1, 1000), 0.1);
}
