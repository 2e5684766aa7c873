//! Optimizers, clipping and schedules give what torch gives, step by step for 20 steps.

mod support;

use ernn::Real;
use ernn::cell::Span;
use ernn::optim::{Optimizer, OptimizerConfig, Schedule, clip_global_norm};
use support::{Case, Golden, assert_close};

fn read<T: serde::de::DeserializeOwned>(case: &Case, setting: &str) -> T {
    serde_json::from_value(case.description[setting].clone()).expect("settings that ernn reads")
}

fn spans(case: &Case) -> Vec<Span> {
    let mut start = 0;
    let described = case.description["spans"].as_array().expect("spans");
    let span = described.iter().enumerate().map(|(index, span)| {
        let span = Span {
            name: format!("tensor {index}"),
            shape: serde_json::from_value(span["shape"].clone()).expect("a shape"),
            start,
            decay: span["decay"].as_bool().expect("decay"),
            learning_rate_scale: span["learning_rate_scale"].as_f64().expect("a factor"),
        };
        start += span.len();
        span
    });
    span.collect()
}

fn optimizers_agree<F: Real>(prefix: &str, tolerance: f64) {
    let golden = Golden::open("optim.safetensors");
    for case in golden.cases_of::<F>(prefix) {
        let spans = spans(&case);
        let mut parameters = case.values::<F>("start");
        let length = parameters.len();
        let mut optimizer = Optimizer::new(read::<OptimizerConfig>(&case, "optimizer"), length);
        let (gradients, expected) = (case.values::<F>("gradients"), case.values::<F>("parameters"));
        let steps = gradients.chunks_exact(length).zip(expected.chunks_exact(length));
        for (step, (gradient, expected)) in steps.enumerate() {
            optimizer.step(&mut parameters, gradient, case.number("learning_rate"), &spans);
            assert_close(
                &format!("{} step {step}", case.name()),
                &parameters,
                expected,
                tolerance,
            );
        }
        assert_eq!(optimizer.steps(), 20);
    }
}

#[test]
fn adam_and_adamw_equal_torch() {
    optimizers_agree::<f64>("adam", 1e-13);
    optimizers_agree::<f32>("adam", 2e-6);
}

#[test]
fn sgd_with_momentum_and_nesterov_equals_torch() {
    optimizers_agree::<f64>("sgd", 1e-13);
    optimizers_agree::<f32>("sgd", 2e-6);
}

fn clipping_agrees<F: Real>(tolerance: f64) {
    let golden = Golden::open("optim.safetensors");
    for case in golden.cases_of::<F>("clipping") {
        let mut gradients = case.values::<F>("before");
        let width = case.shape("before")[1];
        let max_norm = case.number("max_norm");
        let clip = |gradient| F::from_f64(clip_global_norm(gradient, max_norm));
        let norms: Vec<F> = gradients.chunks_exact_mut(width).map(clip).collect();
        assert!(
            norms[0].to_f64() < max_norm && norms[19].to_f64() > max_norm,
            "both kinds of gradient"
        );
        assert_close("norms", &norms, &case.values("norms"), tolerance);
        assert_close("clipped", &gradients, &case.values("after"), tolerance);
    }
}

#[test]
fn clipping_equals_torch() {
    clipping_agrees::<f64>(1e-14);
    clipping_agrees::<f32>(1e-6);
}

#[test]
fn schedules_equal_torch() {
    let golden = Golden::open("optim.safetensors");
    let mut seen = 0;
    for case in golden.cases().filter(|case| case.name().starts_with("schedule_")) {
        let schedule: Schedule = read(&case, "schedule");
        let base = case.number("learning_rate");
        let expected = case.values::<f64>("rates");
        let actual: Vec<f64> = (0..expected.len())
            .map(|epoch| schedule.learning_rate(base, epoch))
            .collect();
        // Absolute; the rates are 1e-5 to 3e-2.
        assert_close(case.name(), &actual, &expected, 1e-16);
        seen += 1;
    }
    assert_eq!(seen, 5);
}
