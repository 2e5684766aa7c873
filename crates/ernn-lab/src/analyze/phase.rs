//! Where two hidden units go while the input walks at random: the paper's first figure, for RNN, FastRNN and ERNN with the same `U`, `W`, `b`.
//!
//! ```text
//! RNN      h' = phi(U h + W x + b)
//! FastRNN  h' = sigmoid(3) h + sigmoid(-3) phi(U h + W x + b)
//! ERNN     z = h + h',  K steps of eta on  F(z) = phi(U z + W x + b) - z  from z = 2 h;  at equilibrium F(z) = 0
//! ```
//!
//! From the paper are the two units, the random walk of variance 10 over 1000 steps, and the parameters at random. Chosen here: the walk has two
//! dimensions, each with normal steps; `phi = tanh`, `gamma = 1`, `P = I`; `U` is scaled to the spectral norm 0.9, below `gamma`, so that there is an
//! equilibrium at every step and only one; entries of `W` and `b` have a deviation of 0.1.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};
use serde::Serialize;

use super::field::Ground;
use super::matrix;
use super::statistics::length;
use ernn::cell::{
    Activation, CellConfig, ErnnConfig, FastRnnConfig, Folded, Projection, Rank, RnnConfig, Solver, StepSizes,
};
use ernn::{Error, Result};

const HIDDEN: usize = 2;

/// The spectral norm of `U`.
const NORM: f64 = 0.9;

/// The largest residual of the equilibrium.
const TOLERANCE: f64 = 1e-13;

/// Settings of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PhaseSettings {
    /// Seed of parameters and walk.
    pub seed: u64,
    /// Steps of the walk.
    pub steps: usize,
    /// Variance of a step of the walk, in each dimension.
    pub variance: f64,
    /// Step size of ERNN's inner iteration.
    pub eta: f64,
}

impl Default for PhaseSettings {
    fn default() -> Self {
        PhaseSettings {
            seed: 1,
            steps: 1000,
            variance: 10.0,
            eta: 0.2,
        }
    }
}

/// What was drawn, and where each cell went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// The settings.
    pub settings: PhaseSettings,
    /// `U`, `[2,2]`.
    pub u: Vec<f64>,
    /// `W`, `[2,2]`.
    pub w: Vec<f64>,
    /// `b`.
    pub b: Vec<f64>,
    /// The inputs `[steps][2]`.
    pub walk: Vec<[f64; 2]>,
    /// One a cell.
    pub paths: Vec<Path>,
}

/// The states of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    /// Which cell.
    pub cell: String,
    /// Its kind.
    #[serde(skip)]
    pub kind: &'static str,
    /// `h` after each step.
    pub states: Vec<[f64; 2]>,
    /// The largest `|F(z)|` that a step ended with; for ERNN.
    pub residual: Option<f64>,
}

/// Draws parameters and walk, and runs the cells.
///
/// # Errors
/// If a setting is out of range.
pub fn phase(settings: PhaseSettings) -> Result<Phase> {
    check(settings)?;
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    let mut normal = |deviation: f64, count: usize| -> Vec<f64> {
        let normal = Normal::new(0.0, deviation).expect("a deviation of 0 or more");
        (0..count).map(|_| normal.sample(&mut rng)).collect()
    };
    let mut u = normal(1.0, HIDDEN * HIDDEN);
    let factor = NORM / matrix::norm(&u, HIDDEN).expect("finite numbers").max(f64::MIN_POSITIVE);
    u.iter_mut().for_each(|value| *value *= factor);
    let (w, b) = (normal(0.1, HIDDEN * HIDDEN), normal(0.1, HIDDEN));
    let mut place = [0.0; 2];
    let walk: Vec<[f64; 2]> = normal(settings.variance.sqrt(), 2 * settings.steps)
        .chunks_exact(2)
        .map(|step| {
            place = [place[0] + step[0], place[1] + step[1]];
            place
        })
        .collect();
    let cells = cells(settings.eta).into_iter();
    let paths = cells.map(|(name, config, own)| path(name, &config, &[&w[..], &b, &u, &own].concat(), &walk));
    Ok(Phase {
        paths: paths.collect(),
        settings,
        u,
        w,
        b,
        walk,
    })
}

fn check(settings: PhaseSettings) -> Result<()> {
    let refuse = |name: &str, found: String, expected: &str| {
        Err(Error::Setting {
            name: name.to_string(),
            found,
            expected: expected.to_string(),
        })
    };
    if !(1..=100_000).contains(&settings.steps) {
        return refuse("steps", settings.steps.to_string(), "a number from 1 to 100000");
    }
    if !(settings.variance.is_finite() && settings.variance >= 0.0) {
        return refuse("variance", settings.variance.to_string(), "0 or a number above 0");
    }
    if !(settings.eta > 0.0 && settings.eta <= 1.0) {
        return refuse("eta", settings.eta.to_string(), "a number above 0 and up to 1");
    }
    Ok(())
}

/// Each cell with its name and the parameters that it has beside `W`, `b` and `U`.
fn cells(eta: f64) -> Vec<(String, CellConfig, Vec<f64>)> {
    let rnn = CellConfig::Rnn(RnnConfig {
        hidden: HIDDEN,
        rank: Rank::Full,
        ..Default::default()
    });
    let fast = CellConfig::FastRnn(FastRnnConfig {
        hidden: HIDDEN,
        ..Default::default()
    });
    let ernn = |iterations: usize| ErnnConfig {
        hidden: HIDDEN,
        rank: Rank::Full,
        iterations,
        activation: Activation::Tanh,
        steps: StepSizes::PerIteration,
        projection: Projection::Identity,
        ..Default::default()
    };
    let at_rest = ErnnConfig {
        solver: Solver::Newton,
        tolerance: TOLERANCE,
        relative_tolerance: 0.0,
        ..ernn(1)
    };
    let mut cells = vec![
        ("RNN".to_string(), rnn, Vec::new()),
        ("FastRNN".to_string(), fast, vec![-3.0, 3.0]),
    ];
    cells.extend([1, 3, 5].map(|k| (format!("ERNN, K = {k}"), CellConfig::Ernn(ernn(k)), vec![eta; k])));
    cells.push(("ERNN at equilibrium".to_string(), CellConfig::Ernn(at_rest), Vec::new()));
    cells
}

fn path(name: String, config: &CellConfig, parameters: &[f64], walk: &[[f64; 2]]) -> Path {
    let ground = Ground::of(&reordered(config, parameters)).expect("cells with a field");
    let field = ground.field(config);
    let mut residual: f64 = 0.0;
    let (mut states, mut h) = (Vec::with_capacity(walk.len()), [0.0; 2]);
    field.walk(&walk.concat(), |step| {
        let z = &step.points[step.points.len() - 1];
        residual = residual.max(length(&field.at(z, step.drive).force));
        h = [0, 1].map(|unit| z[unit] - field.cell.previous_scale * h[unit]);
        states.push(h);
    });
    Path {
        cell: name,
        kind: config.name(),
        states,
        residual: matches!(config, CellConfig::Ernn(_)).then_some(residual),
    }
}

/// Folds parameters that stand as `W, b, U, ..` in the order of the cell's own tensors.
fn reordered(config: &CellConfig, parameters: &[f64]) -> Folded<f64> {
    let (w, rest) = parameters.split_at(HIDDEN * HIDDEN);
    let (b, rest) = rest.split_at(HIDDEN);
    let (u, own) = rest.split_at(HIDDEN * HIDDEN);
    let mut ordered = Vec::with_capacity(parameters.len());
    for span in config.spans(HIDDEN, "", 0) {
        match &span.name[..] {
            "W" => ordered.extend_from_slice(w),
            "b" => ordered.extend_from_slice(b),
            "U" => ordered.extend_from_slice(u),
            _ => {
                let place = ordered.len() - HIDDEN * (2 * HIDDEN + 1);
                ordered.extend_from_slice(&own[place..place + span.len()]);
            }
        }
    }
    config.fold(HIDDEN, &ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_equilibrium_forgets_all_but_the_signs() {
        let found = phase(PhaseSettings {
            steps: 40,
            ..Default::default()
        })
        .unwrap();
        let names: Vec<&str> = found.paths.iter().map(|path| &path.cell[..]).collect();
        assert_eq!(
            names,
            [
                "RNN",
                "FastRNN",
                "ERNN, K = 1",
                "ERNN, K = 3",
                "ERNN, K = 5",
                "ERNN at equilibrium"
            ]
        );
        let last = &found.paths[5];
        assert!(last.residual.unwrap() < 1e-12, "{:?}", last.residual);
        // h_k + h_{k-1} is a function of x_k alone: it solves z = tanh(U z + W x + b).
        for (step, pair) in last.states.windows(2).enumerate() {
            let z = [0, 1].map(|unit| pair[0][unit] + pair[1][unit]);
            let x = found.walk[step + 1];
            for unit in 0..2 {
                let sum: f64 = (0..2)
                    .map(|other| found.u[2 * unit + other] * z[other] + found.w[2 * unit + other] * x[other])
                    .sum();
                assert!(((sum + found.b[unit]).tanh() - z[unit]).abs() < 1e-12, "step {step}");
            }
        }
        // More inner steps end nearer to the equilibrium.
        let residuals: Vec<f64> = found.paths[2..].iter().map(|path| path.residual.unwrap()).collect();
        assert!(residuals.is_sorted_by(|a, b| a > b), "{residuals:?}");
    }

    #[test]
    fn the_first_cells_follow_their_formulas() {
        let found = phase(PhaseSettings {
            steps: 5,
            ..Default::default()
        })
        .unwrap();
        let sums = |h: [f64; 2], x: [f64; 2]| {
            [0, 1].map(|unit| {
                let sum: f64 = (0..2)
                    .map(|other| found.u[2 * unit + other] * h[other] + found.w[2 * unit + other] * x[other])
                    .sum();
                (sum + found.b[unit]).tanh()
            })
        };
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let (mut rnn, mut fast) = ([0.0; 2], [0.0; 2]);
        for step in 0..5 {
            let x = found.walk[step];
            rnn = sums(rnn, x);
            let c = sums(fast, x);
            fast = [0, 1].map(|unit| sigmoid(3.0) * fast[unit] + sigmoid(-3.0) * c[unit]);
            for unit in 0..2 {
                assert!((found.paths[0].states[step][unit] - rnn[unit]).abs() < 1e-12);
                assert!((found.paths[1].states[step][unit] - fast[unit]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let good = PhaseSettings::default();
        for (settings, name) in [
            (PhaseSettings { steps: 0, ..good }, "steps: found 0"),
            (
                PhaseSettings {
                    variance: f64::NAN,
                    ..good
                },
                "variance: found NaN",
            ),
            (PhaseSettings { eta: 0.0, ..good }, "eta: found 0"),
        ] {
            let error = phase(settings).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }
}
