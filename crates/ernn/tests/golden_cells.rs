//! Every cell gives what an independent implementation gives.
//!
//! The golden files hold, for each case, the states of all steps and the gradients of every parameter, of the inputs and of
//! the initial state, made by a plain time loop with torch's autograd. Here each case goes the way that training takes: fold,
//! kernels forward and backward, unfold; on every instruction set of this machine, in `f64` and `f32`.

mod support;

use std::collections::BTreeSet;

use ernn::cell::{
    Activation, AntisymmetricConfig, CellConfig, DeepTransitionConfig, ErnnConfig, FastGrnnConfig, FastRnnConfig,
    FoldedGradient, GateActivation, GatedAntisymmetricConfig, GruConfig, LstmConfig, Piece, Projection, Rank, Reset,
    RnnConfig, Sign, Span, SpectralConfig, Start, StepSizes, UgrnnConfig,
};
use ernn::{Isa, Panels, Real};
use ernn_kernels::{StateGradient, Trace};
use support::{Case, Golden, assert_close};

/// The files, each with its number of cases.
const FILES: [(&str, usize); 2] = [("leaky_cells.safetensors", 40), ("gated_cells.safetensors", 72)];

fn activation(case: &Case) -> Activation {
    match case.text("activation") {
        "relu" => Activation::Relu,
        "tanh" => Activation::Tanh,
        "sigmoid" => Activation::Sigmoid,
        "hard-tanh" => Activation::HardTanh,
        "hard-sigmoid" => Activation::HardSigmoid,
        other => panic!("activation {other}"),
    }
}

fn gate_activation(case: &Case) -> GateActivation {
    let (soft, hard) = (GateActivation::Sigmoid, GateActivation::HardSigmoid);
    either(case, "gate_activation", ("sigmoid", soft), ("hard-sigmoid", hard))
}

fn rank(case: &Case) -> Rank {
    match case.text("structure") {
        "dense" => Rank::Full,
        "low-rank" => Rank::Low(case.count("r")),
        other => panic!("structure {other}"),
    }
}

fn input_rank(case: &Case) -> Rank {
    match case.description.get("input_r") {
        None => Rank::Full,
        Some(_) => Rank::Low(case.count("input_r")),
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

/// The case's cell.
fn cell(case: &Case) -> CellConfig {
    let (hidden, activation) = (case.count("D"), activation(case));
    match case.text("cell") {
        "deep-ernn" => CellConfig::DeepTransition(DeepTransitionConfig {
            hidden,
            widths: case.counts("widths"),
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
            max_steps: case.count("T"),
            ..Default::default()
        }),
        "rnn" => CellConfig::Rnn(RnnConfig {
            hidden,
            rank: rank(case),
            input_rank: input_rank(case),
            activation,
        }),
        "fastrnn" => CellConfig::FastRnn(FastRnnConfig {
            hidden,
            rank: rank(case),
            input_rank: input_rank(case),
            activation,
            ..Default::default()
        }),
        "fastgrnn" => CellConfig::FastGrnn(FastGrnnConfig {
            hidden,
            rank: rank(case),
            input_rank: input_rank(case),
            gate_activation: gate_activation(case),
            activation,
            ..Default::default()
        }),
        "ugrnn" => CellConfig::Ugrnn(UgrnnConfig {
            hidden,
            rank: rank(case),
            input_rank: input_rank(case),
            gate_activation: gate_activation(case),
            activation,
        }),
        "gru" => CellConfig::Gru(GruConfig {
            hidden,
            rank: rank(case),
            input_rank: input_rank(case),
            gate_activation: gate_activation(case),
            activation,
            reset: either(case, "reset", ("after", Reset::After), ("before", Reset::Before)),
        }),
        "lstm" => CellConfig::Lstm(LstmConfig {
            hidden,
            rank: rank(case),
            input_rank: input_rank(case),
            gate_activation: gate_activation(case),
            activation,
        }),
        "antisymmetric" => CellConfig::Antisymmetric(AntisymmetricConfig {
            hidden,
            rank: rank(case),
            activation,
            epsilon: case.number("epsilon"),
            gamma: case.number("gamma"),
            ..Default::default()
        }),
        "gated-antisymmetric" => CellConfig::GatedAntisymmetric(GatedAntisymmetricConfig {
            hidden,
            rank: rank(case),
            gate_activation: gate_activation(case),
            activation,
            epsilon: case.number("epsilon"),
            gamma: case.number("gamma"),
            ..Default::default()
        }),
        "spectral" => CellConfig::Spectral(SpectralConfig {
            hidden,
            reflections: case.count("reflections"),
            radius: case.number("radius"),
            activation,
        }),
        "ernn" => CellConfig::Ernn(ErnnConfig {
            hidden,
            rank: rank(case),
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

/// `h`, and beside it `c` where the cell has one: `[sequences, D]` each, `[sequences, state_len]` together.
fn whole_states<F: Real>(h: Vec<F>, c: Option<Vec<F>>, hidden: usize) -> Vec<F> {
    let Some(c) = c else { return h };
    let rows = h.chunks_exact(hidden).zip(c.chunks_exact(hidden));
    rows.flat_map(|(h, c)| [h, c].concat()).collect()
}

/// The last step of each sequence of `[T, sequences, D]`.
fn last_steps<F: Real>(values: &[F], lengths: &[usize], hidden: usize) -> Vec<F> {
    let row =
        |(sequence, &length): (usize, &usize)| &values[((length - 1) * lengths.len() + sequence) * hidden..][..hidden];
    lengths.iter().enumerate().flat_map(row).copied().collect()
}

fn case_agrees<F: Real>(case: &Case, cell: &CellConfig, isa: Isa, tolerance: f64) {
    let (inputs, hidden, steps) = (case.count("d"), case.count("D"), case.count("T"));
    let check = |role: &str, actual: &[F], expected: &[F]| {
        assert_close(&format!("{isa:?}, {} {role}", case.name()), actual, expected, tolerance);
    };
    cell.check().expect("settings within their ranges");
    let spans = cell.spans(inputs, "", 0);
    let mut parameters = vec![F::ZERO; cell.parameter_count(inputs)];
    for span in &spans {
        parameters[span.range()].copy_from_slice(&of_span(case, "", span));
    }
    let lengths = case.lengths();
    let panels =
        |role: &str, features| Panels::from_time_major(isa, &case.values::<F>(role), steps, features, &lengths);
    let optional = |role: &str| case.has(role).then(|| case.values::<F>(role));

    let folded = cell.fold(inputs, &parameters);
    let x = panels("x", inputs);
    let initial = whole_states(case.values::<F>("h0"), optional("c0"), hidden);
    assert_eq!(initial.len(), lengths.len() * folded.state_len(), "{}", case.name());
    let piece = Piece {
        input: &x,
        initial: Some(&initial),
        first_step: 0,
    };
    let (states, memories) = (case.values::<F>("states"), optional("states.c"));
    let last_memory = memories.map(|memories| last_steps(&memories, &lengths, hidden));
    let last = whole_states(last_steps(&states, &lengths, hidden), last_memory, hidden);
    let mut trace = Trace::default();
    folded.infer(piece, &mut trace);
    check("states, no way back", &trace.states().to_time_major(), &states);
    folded.forward(piece, &mut trace);
    check("states", &trace.states().to_time_major(), &states);
    check("last states", &trace.last_state(), &last);

    let mut folded_gradient = FoldedGradient::default();
    let (mut x_gradient, mut initial_gradient) = (Panels::new(isa, inputs, &lengths), Vec::new());
    let at_memory = optional("loss.last_c");
    let at_states = StateGradient {
        last: Some(&case.values("loss.last")),
        last_memory: at_memory.as_deref(),
        all: Some(&panels("loss.states", hidden)),
        rows: None,
    };
    folded.backward(
        piece,
        &mut trace,
        at_states,
        &mut folded_gradient,
        Some(&mut x_gradient),
        Some(&mut initial_gradient),
    );
    let mut gradient = vec![F::ZERO; parameters.len()];
    cell.unfold(inputs, &parameters, &folded_gradient, &mut gradient);
    for span in &spans {
        let expected = of_span(case, "grad.", span);
        check(&format!("grad.{}", span.name), &gradient[span.range()], &expected);
    }
    check("grad.x", &x_gradient.to_time_major(), &case.values("grad.x"));
    let expected = whole_states(case.values("grad.h0"), optional("grad.c0"), hidden);
    check("grad.h0 and grad.c0", &initial_gradient, &expected);
}

fn cells_agree<F: Real>(tolerance: f64) {
    for (file, all) in FILES {
        let golden = Golden::open(file);
        let mut run = 0;
        for case in golden.cases() {
            let cell = cell(&case);
            run += 1;
            for isa in Isa::available() {
                case_agrees::<F>(&case, &cell, isa, tolerance);
            }
        }
        assert_eq!(run, all, "cases of {file}");
    }
}

#[test]
fn states_and_gradients_equal_torch_in_f64() {
    cells_agree::<f64>(1e-11);
}

#[test]
fn states_and_gradients_equal_torch_in_f32() {
    cells_agree::<f32>(1e-4);
}

/// The files' parameters and the cells' are the same names, and every cell and structure is there.
#[test]
fn no_parameter_is_left_out() {
    let (mut structures, mut input_ranks) = (BTreeSet::new(), BTreeSet::new());
    for (file, _) in FILES {
        for case in Golden::open(file).cases() {
            let cell = cell(&case);
            let listed = case.description["parameters"].as_array().expect("a list");
            let stored: BTreeSet<_> = listed
                .iter()
                .map(|name| name.as_str().expect("a name").to_string())
                .collect();
            let spans = cell.spans(case.count("d"), "", 0);
            let ours: BTreeSet<_> = spans.into_iter().map(|span| span.name).collect();
            assert_eq!(ours, stored, "{}", case.name());
            structures.insert((cell.name(), case.description.get("r").is_some()));
            input_ranks.insert((cell.name(), case.description.get("input_r").is_some()));
        }
    }
    let kinds = CellConfig::KINDS.len();
    assert_eq!(
        structures.len(),
        2 * kinds - 2,
        "all but spectral and deep in both: {structures:?}"
    );
    assert_eq!(input_ranks.len(), kinds + 6, "six cells in both: {input_ranks:?}");
}
