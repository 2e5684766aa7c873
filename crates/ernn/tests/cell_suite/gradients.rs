//! The gradient of the loss for every parameter, against central finite differences.
//!
//! Each span is moved as a whole, along a random direction, which takes in every entry of it; and some single entries are
//! moved, which tell where an error lies. Where the activation is a ReLU the move is so small that a kink is all but never
//! stepped over, and the tolerance wider to match.

use ernn::Isa;
use ernn::batch::Batch;
use ernn::cell::{Activation, CellConfig, ErnnConfig, Rank, Span, StepSizes};
use ernn::model::{LossOptions, Model, Workspace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::assert_near;
use crate::table::{Case, batch, cases, model_of};

/// Entries of a span that are moved alone.
const SINGLES: usize = 2;

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
    let (step, relative, absolute) = if case.smooth {
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

/// Of every fourth case: the mixture is formed at the logits, where all cases meet.
#[test]
fn gradients_with_a_teacher_are_those_of_finite_differences() {
    let isas = Isa::available();
    for (index, case) in cases().into_iter().step_by(4).enumerate() {
        let alone = Loss::new(&case, Isa::best()).at(&case.parameters);
        let case = case.taught();
        let mixed = Loss::new(&case, Isa::best()).at(&case.parameters);
        assert!((alone - mixed).abs() > 1e-3, "{}: the teacher says nothing", case.name);
        check(&case, isas[index % isas.len()]);
    }
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

/// Three rows and eight steps: as eight rows of which the last six are one.
#[test]
fn a_short_table_of_step_sizes_uses_its_last_row() {
    let (short_rows, steps, k) = (3, 8, 2);
    let config = |max_steps| {
        model_of(vec![CellConfig::Ernn(ErnnConfig {
            hidden: 5,
            rank: Rank::Low(2),
            iterations: k,
            activation: Activation::Tanh,
            steps: StepSizes::PerStep,
            max_steps,
            deviation: 0.5,
            ..Default::default()
        })])
    };
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut short = Model::<f64>::new(config(short_rows), 1).expect("a model");
    let eta = |model: &Model<f64>| {
        model
            .spans()
            .iter()
            .find(|span| span.name == "layers.0.eta")
            .expect("eta")
            .range()
    };
    let at = eta(&short);
    short.parameters_mut()[at.clone()].fill_with(|| rng.random_range(0.1..0.5));
    let (before, after) = (&short.parameters()[..at.end], &short.parameters()[at.end..]);
    let last_row = &before[at.end - k..];
    let parameters = [before, &last_row.repeat(steps - short_rows), after].concat();
    let long = Model::from_parameters(config(steps), parameters).expect("a model");

    let mut batch = batch(2, &[8, 2, 5]);
    for (sequence, length) in [8, 2, 5].into_iter().enumerate() {
        let values: Vec<f64> = (0..length * 2).map(|_| rng.random_range(-1.0..1.0)).collect();
        batch.inputs.set_sequence(sequence, &values);
    }
    let train = |model: &Model<f64>| {
        let mut gradient = vec![0.0; model.parameters().len()];
        let result = model.loss_and_gradient(
            &batch,
            &LossOptions::default(),
            &mut Workspace::default(),
            &mut gradient,
        );
        (result.expect("a loss"), gradient)
    };
    let ((short_loss, short_gradient), (long_loss, long_gradient)) = (train(&short), train(&long));
    assert_eq!(short_loss, long_loss);
    let (short_eta, long_eta) = (&short_gradient[at], &long_gradient[eta(&long)]);
    for (index, &found) in short_eta.iter().enumerate() {
        let (row, iteration) = (index / k, index % k);
        let rows = if row + 1 < short_rows { row..row + 1 } else { row..steps };
        let expected = rows.map(|row| long_eta[row * k + iteration]).sum();
        assert_near(found, expected, 1e-15, || {
            format!("eta row {row}, iteration {iteration}")
        });
    }
}
