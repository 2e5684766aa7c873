//! Solutions: those of the equation, and what is said where there is none.

use ernn_kernels::equilibrium::{Method, Solver};
use ernn_kernels::{Activation, Isa};

use crate::case::{Case, METHODS, cases, outcomes, single};
use crate::support::{assert_close, doubles};

#[test]
fn every_method_finds_the_fixed_point_of_the_formula() {
    for case in cases() {
        let expected = case.plain_states();
        for isa in Isa::available() {
            let trace = case.run(isa);
            let found = trace.states().to_time_major();
            for (found, expected) in found.iter().zip(&expected) {
                assert_close(*found, *expected, 1e-10, &case.name);
            }
            assert!(
                trace.outcomes(&case.input(isa)).all(|outcome| outcome.converged),
                "{}",
                case.name
            );
            assert_eq!(
                trace.outcomes(&case.input(isa)).count(),
                case.lengths.iter().sum::<usize>()
            );
            let case = single(&case);
            for (found, expected) in doubles(&case.run(isa).states().to_time_major()).iter().zip(&expected) {
                assert_close(*found, *expected, 2e-4, &case.name);
            }
        }
    }
}

/// `D = 4`, one column a step: `norm I` (dense or as `c I`), ReLU.
fn hard_case(method: Method, norm: f64, dense: bool, drive: f64) -> Case<f32> {
    let hidden = 4;
    let mut left = vec![0.0f32; if dense { hidden * hidden } else { hidden }];
    if dense {
        (0..hidden).for_each(|unit| left[unit * (hidden + 1)] = norm as f32);
    }
    Case {
        name: format!("{method:?}, norm {norm}, dense {dense}, drive {drive}"),
        inputs: 1,
        hidden,
        rank: if dense { None } else { Some(1) },
        activation: Activation::Relu,
        identity: norm,
        gamma: 1.0,
        previous_scale: 1.0,
        solver: Solver {
            method,
            ..Solver::default()
        },
        lengths: vec![3],
        numbers: [
            vec![1.0; hidden],
            vec![0.0; hidden],
            left,
            vec![0.0; if dense { 0 } else { hidden }],
            vec![drive as f32; 3],
            vec![0.0; hidden],
        ],
    }
}

#[test]
fn where_there_is_no_equilibrium_the_outcome_says_so() {
    for method in METHODS {
        for dense in [false, true] {
            for isa in Isa::available() {
                // z = relu(0.5 z + 1) is 2; z = relu(z + 1) has no solution; z = relu(3 z - 1) has 0 (and 1/2).
                let easy = outcomes(&hard_case(method, 0.5, dense, 1.0), isa);
                assert!(easy.iter().all(|outcome| outcome.converged), "{easy:?}");
                let none = outcomes(&hard_case(method, 1.0, dense, 1.0), isa);
                assert!(
                    none.iter().all(|outcome| !outcome.converged && outcome.residual > 0.5),
                    "{method:?}, {none:?}"
                );
                let zero = outcomes(&hard_case(method, 3.0, dense, -1.0), isa);
                assert!(zero.iter().all(|outcome| outcome.converged), "{zero:?}");
                // Zero weights: the start is the solution.
                let still = outcomes(&hard_case(method, 0.0, dense, 1.0), isa);
                assert!(still.iter().all(|outcome| outcome.converged && outcome.iterations == 0));
                // Huge inputs are still numbers; infinite ones are no solution and say so.
                let huge = outcomes(&hard_case(method, 0.5, dense, 1e30), isa);
                assert!(huge.iter().all(|outcome| outcome.converged), "{method:?}, {huge:?}");
                let infinite = outcomes(&hard_case(method, 0.5, dense, f64::INFINITY), isa);
                assert!(
                    infinite
                        .iter()
                        .all(|outcome| !outcome.converged && !outcome.residual.is_finite())
                );
                let nan = outcomes(&hard_case(method, 0.5, dense, f64::NAN), isa);
                assert!(nan.iter().all(|outcome| !outcome.converged), "{nan:?}");
            }
        }
    }
}

#[test]
fn a_column_that_fails_leaves_its_neighbors_alone() {
    for method in METHODS {
        let mut case = hard_case(method, 0.5, true, 1.0);
        case.numbers[4][1] = f32::NAN;
        let outcomes = outcomes(&case, Isa::best());
        assert_eq!(
            outcomes.iter().map(|outcome| outcome.converged).collect::<Vec<_>>(),
            [true, false, true]
        );
        let states = case.run(Isa::best()).states().to_time_major();
        assert_close(f64::from(states[0]), 2.0, 1e-5, "the step before");
    }
}

/// Absolute and relative tolerance each stop the iteration on their own.
#[test]
fn both_tolerances_are_used() {
    let iterations = |absolute: f64, relative: f64, drive: f64| {
        let mut case = hard_case(Method::FixedPoint, 0.5, true, drive);
        (case.solver.absolute, case.solver.relative) = (absolute, relative);
        outcomes(&case, Isa::best())[0].iterations
    };
    assert!(iterations(1e-2, 0.0, 1.0) < iterations(1e-5, 0.0, 1.0));
    assert!(iterations(0.0, 1e-2, 1.0) < iterations(0.0, 1e-5, 1.0));
    // A relative tolerance does not know the scale, an absolute one does.
    assert_eq!(iterations(0.0, 1e-3, 1.0), iterations(0.0, 1e-3, 1024.0));
    assert!(iterations(1e-3, 0.0, 1.0) < iterations(1e-3, 0.0, 1024.0));
}

/// Newton needs a handful of iterations where the contraction needs hundreds.
#[test]
fn newton_converges_in_few_iterations() {
    for case in cases() {
        if case.solver.method == Method::Newton {
            let most = outcomes(&case, Isa::best())
                .iter()
                .map(|outcome| outcome.iterations)
                .max();
            assert!(most <= Some(9), "{}: {most:?}", case.name);
        }
    }
}
