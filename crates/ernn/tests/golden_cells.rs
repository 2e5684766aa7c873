//! Every cell gives what an independent implementation gives.
//!
//! The golden file holds, for each case, the states of all steps and the gradients of every parameter, of the inputs and of
//! the initial state, made by a plain time loop with torch's autograd. Here each case goes the way that training takes: fold,
//! kernels forward and backward, unfold; on every instruction set of this machine, in `f64` and `f32`.

mod support;

use std::collections::BTreeSet;

use ernn::cell::{
    Activation, AntisymmetricConfig, CellConfig, ErnnConfig, FastRnnConfig, Projection, Rank, RnnConfig, Sign, Span,
    Start, StepSizes,
};
use ernn::{Isa, Panels, Real};
use ernn_kernels::leaky::{LeakyGradient, StateGradient, Trace, backward, forward};
use support::{Case, Golden, assert_close};

fn activation(case: &Case) -> Activation {
    match case.text("activation") {
        "relu" => Activation::Relu,
        "tanh" => Activation::Tanh,
        "sigmoid" => Activation::Sigmoid,
        other => panic!("activation {other}"),
    }
}

fn rank(case: &Case) -> Rank {
    match case.text("structure") {
        "dense" => Rank::Full,
        "low-rank" => Rank::Low(case.count("r")),
        other => panic!("structure {other}"),
    }
}

/// One of two values of a setting.
fn either<T>(case: &Case, setting: &str, first: (&str, T), second: (&str, T)) -> T {
    match case.text(setting) {
        text if text == first.0 => first.1,
        text if text == second.0 => second.1,
        text => panic!("{setting} {text}"),
    }
}

fn cell(case: &Case) -> CellConfig {
    let (hidden, rank, activation) = (case.count("D"), rank(case), activation(case));
    match case.text("cell") {
        "rnn" => CellConfig::Rnn(RnnConfig {
            hidden,
            rank,
            activation,
        }),
        "fastrnn" => CellConfig::FastRnn(FastRnnConfig {
            hidden,
            rank,
            activation,
            ..Default::default()
        }),
        "antisymmetric" => CellConfig::Antisymmetric(AntisymmetricConfig {
            hidden,
            rank,
            activation,
            epsilon: case.number("epsilon"),
            gamma: case.number("gamma"),
            ..Default::default()
        }),
        "ernn" => CellConfig::Ernn(ErnnConfig {
            hidden,
            rank,
            activation,
            iterations: case.count("K"),
            start: either(case, "start", ("previous", Start::Previous), ("zero", Start::Zero)),
            sign: either(case, "sign", ("plus", Sign::Plus), ("minus", Sign::Minus)),
            steps: either(
                case,
                "eta_kind",
                ("step", StepSizes::PerStep),
                ("iteration", StepSizes::PerIteration),
            ),
            gamma: case.number("gamma"),
            projection: either(case, "P", ("U", Projection::Shared), ("I", Projection::Identity)),
            max_steps: case.count("T"),
            ..Default::default()
        }),
        other => panic!("cell {other}"),
    }
}

/// The tensor of a span, or its gradient, as the cell lays it out: `eta` is `[K,T]` in the file and `[T,K]` here.
fn of_span<F: Real>(case: &Case, prefix: &str, span: &Span) -> Vec<F> {
    let role = format!("{prefix}{}", span.name);
    let values = case.values::<F>(&role);
    assert_eq!(values.len(), span.len(), "{} {role}", case.name());
    match (span.name.as_str(), &case.shape(&role)[..]) {
        ("eta", &[iterations, steps]) => {
            let of_step = |step| (0..iterations).map(move |iteration| iteration * steps + step);
            (0..steps).flat_map(of_step).map(|index| values[index]).collect()
        }
        ("eta", _) => values,
        (_, shape) => {
            assert_eq!(shape, span.shape, "{} {role}", case.name());
            values
        }
    }
}

fn case_agrees<F: Real>(case: &Case, isa: Isa, tolerance: f64) {
    let (cell, inputs, hidden, steps) = (cell(case), case.count("d"), case.count("D"), case.count("T"));
    let check = |role: &str, actual: &[F], expected: &[F]| {
        assert_close(&format!("{isa:?}, {} {role}", case.name()), actual, expected, tolerance);
    };
    cell.check().expect("settings within their ranges");
    let spans = cell.spans(inputs, "", 0);
    let mut parameters = vec![F::ZERO; cell.parameter_count(inputs)];
    for span in &spans {
        parameters[span.range()].copy_from_slice(&of_span(case, "", span));
    }
    let lengths: Vec<usize> = case.description["lengths"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|length| length.as_u64().expect("a length") as usize)
        .collect();
    let panels =
        |role: &str, features| Panels::from_time_major(isa, &case.values::<F>(role), steps, features, &lengths);

    let folded = cell.fold(inputs, &parameters);
    let (x, h0) = (panels("x", inputs), case.values::<F>("h0"));
    let mut trace = Trace::default();
    forward(&folded.view(), &x, Some(&h0), &mut trace);
    check("states", &trace.states().to_time_major(), &case.values("states"));

    let mut folded_gradient = LeakyGradient::default();
    let (mut x_gradient, mut h0_gradient) = (Panels::new(isa, inputs, &lengths), Vec::new());
    let at_states = StateGradient {
        last: Some(&case.values("loss.last")),
        all: Some(&panels("loss.states", hidden)),
    };
    backward(
        &folded.view(),
        &x,
        &mut trace,
        at_states,
        &mut folded_gradient,
        Some(&mut x_gradient),
        Some(&mut h0_gradient),
    );
    let mut gradient = vec![F::ZERO; parameters.len()];
    cell.unfold(inputs, &parameters, &folded_gradient, &mut gradient);
    for span in &spans {
        let expected = of_span(case, "grad.", span);
        check(&format!("grad.{}", span.name), &gradient[span.range()], &expected);
    }
    check("grad.x", &x_gradient.to_time_major(), &case.values("grad.x"));
    check("grad.h0", &h0_gradient, &case.values("grad.h0"));
}

fn cells_agree<F: Real>(tolerance: f64) {
    let golden = Golden::open("leaky_cells.safetensors");
    let mut count = 0;
    for case in golden.cases() {
        count += 1;
        for isa in Isa::available() {
            case_agrees::<F>(&case, isa, tolerance);
        }
    }
    assert_eq!(count, 40, "cases of the golden file");
}

#[test]
fn states_and_gradients_equal_torch_in_f64() {
    cells_agree::<f64>(1e-11);
}

#[test]
fn states_and_gradients_equal_torch_in_f32() {
    cells_agree::<f32>(1e-4);
}

/// The file's parameters and the cells' are the same names, and every cell and structure is there.
#[test]
fn no_parameter_is_left_out() {
    let golden = Golden::open("leaky_cells.safetensors");
    let mut seen = BTreeSet::new();
    for case in golden.cases() {
        let listed = case.description["parameters"].as_array().expect("a list");
        let stored: BTreeSet<_> = listed
            .iter()
            .map(|name| name.as_str().expect("a name").to_string())
            .collect();
        let spans = cell(&case).spans(case.count("d"), "", 0);
        let ours: BTreeSet<_> = spans.into_iter().map(|span| span.name).collect();
        assert_eq!(ours, stored, "{}", case.name());
        seen.insert((cell(&case).name(), case.text("structure").to_string()));
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
}
