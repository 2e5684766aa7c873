//! The gradient of the loss for every parameter, against central finite differences.
//!
//! Each span is moved as a whole, along a random direction, which takes in every entry of it; and some single entries are
//! moved, which tell where an error lies. Where the activation is a ReLU the move is so small that a kink is all but never
//! stepped over, and the tolerance wider to match.

use ernn::Isa;
use ernn::batch::Batch;
use ernn::cell::Span;
use ernn::model::Workspace;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::assert_near;
use crate::table::{Case, cases};

/// Entries of a span that are moved alone.
const SINGLES: usize = 4;

/// The loss, as a function of the parameters.
struct Loss<'a> {
    case: &'a Case,
    batch: Batch<f64>,
    workspace: Workspace<f64>,
    gradient: Vec<f64>,
}

impl<'a> Loss<'a> {
    fn new(case: &'a Case, isa: Isa) -> Self {
        Loss {
            case,
            batch: case.batch(isa),
            workspace: Workspace::default(),
            gradient: vec![0.0; case.parameters.len()],
        }
    }

    fn at(&mut self, parameters: &[f64]) -> f64 {
        let (model, options) = (self.case.model_with(parameters), self.case.options());
        let found = model.loss_and_gradient(&self.batch, &options, &mut self.workspace, &mut self.gradient);
        found.expect("a loss").0
    }

    /// The slope of the loss along a direction in one span.
    fn slope(&mut self, span: &Span, direction: &[f64], step: f64) -> f64 {
        let [above, below] = [step, -step].map(|by| {
            let mut moved = self.case.parameters.clone();
            for (value, direction) in moved[span.range()].iter_mut().zip(direction) {
                *value += by * direction;
            }
            self.at(&moved)
        });
        (above - below) / (2.0 * step)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Checks one case; gives for each span whether its gradient is other than 0.
fn check(case: &Case, isa: Isa) -> Vec<bool> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    // Moving by 1e-5 errs by 1e-10, rounding by 1e-11; moving by 1e-8, rounding errs by 1e-8.
    let (step, relative, absolute) = if case.is_smooth() {
        (1e-5, 1e-6, 2e-9)
    } else {
        (1e-8, 1e-5, 2e-7)
    };
    let mut loss = Loss::new(case, isa);
    loss.at(&case.parameters);
    let gradient = loss.gradient.clone();
    let check_span = |span: Span| {
        let gradient = &gradient[span.range()];
        let largest = gradient
            .iter()
            .fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let mut check = |direction: Vec<f64>, what: &str| {
            let found = dot(gradient, &direction);
            let expected = loss.slope(&span, &direction, step);
            let tolerance = relative * largest + absolute;
            assert_near(found, expected, tolerance, || {
                format!("{}, {isa:?}, {} {what}", case.name, span.name)
            });
        };
        check(
            (0..span.len()).map(|_| rng.random_range(-1.0..1.0)).collect(),
            "along a direction",
        );
        for _ in 0..SINGLES.min(span.len()) {
            let mut direction = vec![0.0; span.len()];
            let entry = rng.random_range(0..span.len());
            direction[entry] = 1.0;
            check(direction, &format!("entry {entry}"));
        }
        largest > 1e-6
    };
    case.config.spans().into_iter().map(check_span).collect()
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let isas = Isa::available();
    let mut alive = Vec::new();
    for (index, case) in cases().iter().enumerate() {
        alive.extend(check(case, isas[index % isas.len()]));
    }
    // A few have none: the recurrent matrix over one step from 0, units of a ReLU that all sleep.
    let count = alive.iter().filter(|&&alive| alive).count();
    assert!(
        count * 20 > alive.len() * 17,
        "{count} of {} spans have a gradient",
        alive.len()
    );
}

/// What the finite differences prove for one instruction set holds for the others.
#[test]
fn all_instruction_sets_give_the_same_gradient() {
    for case in cases() {
        let [mut loss, mut reference] = [Isa::best(), Isa::Portable].map(|isa| Loss::new(&case, isa));
        let expected = reference.at(&case.parameters);
        for isa in Isa::available() {
            loss.batch = case.batch(isa);
            assert_near(loss.at(&case.parameters), expected, 1e-12, || {
                format!("{}, {isa:?}", case.name)
            });
            for (index, (&found, &expected)) in loss.gradient.iter().zip(&reference.gradient).enumerate() {
                assert_near(found, expected, 1e-11, || {
                    format!("{}, {isa:?}, parameter {index}", case.name)
                });
            }
        }
    }
}
