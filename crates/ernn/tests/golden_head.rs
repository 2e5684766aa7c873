//! Readout and loss give what torch gives: values, gradients, and a loss curve of 20 training steps.

mod support;

use ernn::Real;
use ernn::head::{Readout, cross_entropy, softmax};
use ernn::optim::{Optimizer, OptimizerConfig, Schedule, clip_global_norm};
use support::{Case, Golden, assert_close};

fn readout(case: &Case) -> Readout {
    Readout {
        inputs: case.count("inputs"),
        classes: case.count("classes"),
    }
}

fn head_agrees<F: Real>(case: &Case, tolerance: f64) {
    let readout = readout(case);
    let name = |role: &str| format!("{} {role}", case.name());
    let check = |role: &str, actual: &[F]| assert_close(&name(role), actual, &case.values(role), tolerance);

    let parameters = [case.values::<F>("weight"), case.values("bias")].concat();
    let states = case.values("states");
    let mut logits = Vec::new();
    readout.forward(&parameters, &states, &mut logits);
    check("logits", &logits);

    let weights = case.has("class_weights").then(|| case.values::<F>("class_weights"));
    let mut logit_gradient = Vec::new();
    let targets = case.integers("targets");
    let loss = cross_entropy(
        &logits,
        readout.classes,
        &targets,
        weights.as_deref(),
        &mut logit_gradient,
    );
    check("loss", &[loss]);
    check("grad.logits", &logit_gradient);

    let (mut gradient, mut state_gradient) = (vec![F::ZERO; parameters.len()], Vec::new());
    readout.backward(
        &parameters,
        &states,
        &logit_gradient,
        &mut gradient,
        &mut state_gradient,
    );
    let spans = readout.spans(0);
    check("grad.weight", &gradient[spans[0].range()]);
    check("grad.bias", &gradient[spans[1].range()]);
    check("grad.states", &state_gradient);

    softmax(&mut logits, readout.classes);
    check("probabilities", &logits);
}

#[test]
fn readout_and_loss_equal_torch_in_f64() {
    let golden = Golden::open("head.safetensors");
    for prefix in ["plain", "weighted"] {
        golden
            .cases_of::<f64>(prefix)
            .iter()
            .for_each(|case| head_agrees::<f64>(case, 1e-13));
    }
    // Logits of some thousands: their last bits are 1e-12, and softmax passes that on.
    golden
        .cases_of::<f64>("large_logits")
        .iter()
        .for_each(|case| head_agrees::<f64>(case, 1e-11));
}

#[test]
fn readout_and_loss_equal_torch_in_f32() {
    let golden = Golden::open("head.safetensors");
    for prefix in ["plain", "weighted"] {
        golden
            .cases_of::<f32>(prefix)
            .iter()
            .for_each(|case| head_agrees::<f32>(case, 2e-6));
    }
    golden
        .cases_of::<f32>("large_logits")
        .iter()
        .for_each(|case| head_agrees::<f32>(case, 2e-3));
}

fn training_agrees<F: Real>(tolerance: f64) {
    let golden = Golden::open("head.safetensors");
    let case = &golden.cases_of::<F>("training")[0];
    let readout = readout(case);
    let spans = readout.spans(0);
    let schedule = Schedule::Step {
        every: case.count("every"),
        factor: case.number("factor"),
    };
    let mut parameters = case.values::<F>("start");
    let mut optimizer = Optimizer::new(OptimizerConfig::default(), parameters.len());
    let (states, targets) = (case.values::<F>("states"), case.integers("targets"));
    let weights = case.values::<F>("class_weights");
    let (mut logits, mut logit_gradient, mut state_gradient) = (Vec::new(), Vec::new(), Vec::new());
    let (mut losses, mut norms) = (Vec::new(), Vec::new());
    let batch = case.shape("targets")[1];
    let batches = states
        .chunks_exact(batch * readout.inputs)
        .zip(targets.chunks_exact(batch));
    for (step, (states, targets)) in batches.enumerate() {
        readout.forward(&parameters, states, &mut logits);
        losses.push(cross_entropy(
            &logits,
            readout.classes,
            targets,
            Some(&weights),
            &mut logit_gradient,
        ));
        let mut gradient = vec![F::ZERO; parameters.len()];
        readout.backward(&parameters, states, &logit_gradient, &mut gradient, &mut state_gradient);
        norms.push(F::from_f64(clip_global_norm(&mut gradient, case.number("max_norm"))));
        let rate = schedule.learning_rate(case.number("learning_rate"), step);
        optimizer.step(&mut parameters, &gradient, rate, &spans);
    }
    assert_eq!(losses.len(), 20);
    assert_close("losses", &losses, &case.values("losses"), tolerance);
    assert_close("norms", &norms, &case.values("norms"), tolerance);
    assert_close("parameters", &parameters, &case.values("end"), tolerance);
}

#[test]
fn twenty_training_steps_equal_torch() {
    training_agrees::<f64>(1e-12);
    training_agrees::<f32>(1e-5);
}
