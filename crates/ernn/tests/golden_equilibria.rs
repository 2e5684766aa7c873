//! The ERNN at its equilibrium gives what scipy's root finder and torch's autograd give, by every solver.

mod support;

use ernn::cell::{
    Activation, CellConfig, EquilibriumGradient, ErnnConfig, FoldedGradient, Piece, Projection, Rank, Sign, Solver,
};
use ernn::{Isa, Panels, Real};
use ernn_kernels::{StateGradient, Trace};
use support::{Case, Golden, assert_close};

const CASES: usize = 32;

const SOLVERS: [(Solver, EquilibriumGradient); 4] = [
    (Solver::FixedPoint, EquilibriumGradient::Implicit),
    (Solver::FixedPoint, EquilibriumGradient::Unrolled),
    (Solver::Anderson, EquilibriumGradient::Implicit),
    (Solver::Newton, EquilibriumGradient::Implicit),
];

fn cell(case: &Case, (solver, gradient): (Solver, EquilibriumGradient), tolerance: f64) -> CellConfig {
    CellConfig::Ernn(ErnnConfig {
        hidden: case.count("D"),
        rank: match case.text("structure") {
            "dense" => Rank::Full,
            _ => Rank::Low(case.count("r")),
        },
        activation: match case.text("activation") {
            "relu" => Activation::Relu,
            "tanh" => Activation::Tanh,
            _ => Activation::Sigmoid,
        },
        sign: match case.text("sign") {
            "plus" => Sign::Plus,
            _ => Sign::Minus,
        },
        projection: match case.text("P") {
            "U" => Projection::Shared,
            _ => Projection::Identity,
        },
        gamma: case.number("gamma"),
        contract: case.number("contract"),
        solver,
        gradient,
        tolerance,
        relative_tolerance: 0.0,
        max_iterations: 300,
        ..ErnnConfig::default()
    })
}

fn case_agrees<F: Real>(case: &Case, cell: &CellConfig, isa: Isa, tolerance: f64) {
    let (inputs, hidden, steps) = (case.count("d"), case.count("D"), case.count("T"));
    let check = |role: &str, actual: &[F], expected: &[F]| {
        assert_close(
            &format!("{isa:?}, {cell:?}, {} {role}", case.name()),
            actual,
            expected,
            tolerance,
        );
    };
    cell.check().expect("settings within their ranges");
    let spans = cell.spans(inputs, "", 0);
    let listed = case.description["parameters"].as_array().expect("a list").len();
    assert_eq!(spans.len(), listed, "the file's parameters: no step sizes");
    let mut parameters = vec![F::ZERO; cell.parameter_count(inputs)];
    for span in &spans {
        parameters[span.range()].copy_from_slice(&case.values::<F>(&span.name));
    }
    let panels =
        |role: &str, features| Panels::from_time_major(isa, &case.values::<F>(role), steps, features, &[steps]);
    let folded = cell.fold(inputs, &parameters);
    let x = panels("x", inputs);
    let piece = Piece {
        input: &x,
        initial: None,
        first_step: 0,
    };
    let mut trace = Trace::default();
    folded.forward(piece, &mut trace);
    check("states", &trace.states().to_time_major(), &case.values("states"));
    let (mut folded_gradient, mut x_gradient) = (FoldedGradient::default(), Panels::new(isa, inputs, &[steps]));
    let at_states = StateGradient {
        all: Some(&panels("weights", hidden)),
        ..StateGradient::default()
    };
    folded.backward(
        piece,
        &mut trace,
        at_states,
        &mut folded_gradient,
        Some(&mut x_gradient),
        None,
    );
    let mut gradient = vec![F::ZERO; parameters.len()];
    cell.unfold(inputs, &parameters, &folded_gradient, &mut gradient);
    for span in &spans {
        let role = format!("grad.{}", span.name);
        check(&role, &gradient[span.range()], &case.values(&role));
    }
    check("grad.x", &x_gradient.to_time_major(), &case.values("grad.x"));
}

fn solvers_agree<F: Real>(residual: f64, tolerance: f64) {
    let golden = Golden::open("equilibria.safetensors");
    assert_eq!(golden.cases().count(), CASES);
    for case in golden.cases() {
        for solver in SOLVERS {
            for isa in Isa::available() {
                case_agrees::<F>(&case, &cell(&case, solver, residual), isa, tolerance);
            }
        }
    }
}

#[test]
fn states_and_gradients_equal_scipy_and_torch_in_f64() {
    solvers_agree::<f64>(1e-13, 1e-9);
}

#[test]
fn states_and_gradients_equal_scipy_and_torch_in_f32() {
    solvers_agree::<f32>(1e-6, 1e-4);
}
