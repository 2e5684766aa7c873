//! Flags that cannot apply to the data or the network at hand are refused: nobody is to believe that they did something.

use ernn::data::{Dataset, OpenOptions, SourceKind, Task, kind};
use ernn::train::RunConfig;

use crate::commands::train_flags::{SharedModelFlags, TrainingFlags};
use crate::failure::{Failure, Result};
use crate::reading::ReadingFlags;

/// A flag: its name, whether it was given, whether it applies, and to what it does.
pub type Flag = (&'static str, bool, bool, &'static str);

/// Refuses the first flag that was given and does not apply to `what`.
pub fn refuse(what: &str, flags: &[Flag]) -> Result<()> {
    match flags.iter().find(|(_, given, applies, _)| *given && !applies) {
        None => Ok(()),
        Some((flag, .., to)) => Err(Failure::Usage(format!(
            "{flag} does not go with {what}; it is for {to}"
        ))),
    }
}

impl ReadingFlags {
    /// Refuses flags that change nothing about how this source is read.
    pub fn refuse_unused(&self, source: &str, options: &OpenOptions) -> Result<()> {
        let kind = kind(source, options);
        let known = |names: &[&str]| match kind {
            SourceKind::Known(name) => names.iter().any(|part| name.contains(part)),
            _ => false,
        };
        let other = kind == SourceKind::Other;
        let is = |kinds: &[SourceKind]| other || kinds.contains(&kind);
        let given = &self.preparation;
        let numbers = [SourceKind::Table, SourceKind::Ts, SourceKind::Arrays];
        let synthetic = known(&["adding", "copy-memory"]);
        let drawn = synthetic || known(&["permuted", "noisy", "google-12"]);
        let flags = [
            (
                "--missing",
                self.missing.is_some(),
                is(&numbers),
                "numbers of your own, which may be missing",
            ),
            (
                "--features",
                self.features.is_some(),
                is(&[SourceKind::Arrays]),
                "arrays of two dimensions (.npy, .npz)",
            ),
            (
                "--group-pattern",
                self.group_pattern.is_some(),
                is(&[SourceKind::Recordings]),
                "recordings of your own, in a folder a class",
            ),
            (
                "--data-seed",
                given.data_seed.is_some(),
                drawn,
                "known sets that are drawn: adding, copy-memory, google-12, and those with permuted or noisy in their names",
            ),
            (
                "--noise",
                given.noise.is_some(),
                known(&["noisy"]),
                "known sets with noisy in their names",
            ),
            ("--split", given.split.is_some(), known(&["dsa-19"]), "dsa-19"),
            ("--length", given.length.is_some(), synthetic, "adding and copy-memory"),
            (
                "--sequences",
                given.sequences.is_some(),
                synthetic,
                "adding and copy-memory",
            ),
        ];
        let name = described(source, kind);
        refuse(&name, &flags)?;
        refuse(&name, &self.text.applying(kind))?;
        refuse(&name, &self.table.applying(kind))
    }
}

/// `train.csv, a table`.
fn described(source: &str, kind: SourceKind) -> String {
    let what = match kind {
        SourceKind::Known(_) => "a known data set",
        SourceKind::RunningText => "a running text",
        SourceKind::Texts => "texts with classes",
        SourceKind::Table => "a table of numbers",
        SourceKind::Ts => "a file of series",
        SourceKind::Arrays => "arrays of numbers",
        SourceKind::Recordings => "recordings",
        SourceKind::Other => return source.to_string(),
    };
    format!("{source}, {what}")
}

/// Refuses flags of network and training that change nothing for this data.
pub fn refuse_for_data(
    model: &SharedModelFlags,
    training: &TrainingFlags,
    config: &RunConfig,
    dataset: &Dataset,
) -> Result<()> {
    let tokens = dataset.train.values.are_tokens();
    let by_class = matches!(dataset.task, Task::Classification | Task::StepClassification);
    let once = matches!(dataset.task, Task::Classification | Task::Regression);
    let own_validation = dataset.validation.is_some();
    let some = |value: Option<f64>| value.is_some_and(|value| value != 0.0);
    refuse(
        &dataset.name,
        &[
            ("--embedding", model.embedding.is_some(), tokens, "text"),
            ("--embedding-dropout", some(model.embedding_dropout), tokens, "text"),
            (
                "--tied",
                model.tied == Some(true),
                dataset.task == Task::NextToken,
                "text whose next token is predicted",
            ),
            (
                "--pooling",
                model.pooling.is_some(),
                once,
                "data with one target a sequence",
            ),
            (
                "--class-weights",
                training.class_weights.is_some(),
                by_class,
                "data with classes",
            ),
            (
                "--teacher",
                training.teacher.is_some(),
                dataset.task == Task::Classification,
                "data with a class for each sequence",
            ),
            ("--input-noise", some(training.input_noise), !tokens, "numbers"),
            ("--input-offset", some(training.input_offset), !tokens, "numbers"),
            ("--input-gain", some(training.input_gain), !tokens, "numbers"),
            ("--input-rotation", some(training.input_rotation), !tokens, "numbers"),
            ("--input-crop", some(training.input_crop), !tokens, "numbers"),
            ("--input-shift", some(training.input_shift), !tokens, "numbers"),
            ("--input-warp", some(training.input_warp), !tokens, "numbers"),
            (
                "--input-mask-steps",
                some(training.input_mask_steps),
                !tokens,
                "numbers",
            ),
            (
                "--input-mask-channels",
                some(training.input_mask_channels),
                !tokens,
                "numbers",
            ),
            (
                "--validation",
                training.validation.is_some(),
                !own_validation,
                "data without a validation part of its own",
            ),
        ],
    )?;
    let several = config.model.layers.len() > 1;
    let dropout = (
        "--layer-dropout",
        some(model.layer_dropout),
        several,
        "several layers (--layers)",
    );
    refuse("a single layer", &[dropout])
}

/// Refuses flags of one way to find the state of an ERNN that is found in another.
pub fn refuse_for_solver(model: &SharedModelFlags, iterations: bool, config: &RunConfig) -> Result<()> {
    let Some(solver) = config
        .layer_setting("solver")
        .and_then(|solver| Some(solver.as_str()?.to_string()))
    else {
        return Ok(());
    };
    let euler = solver == "euler";
    let (steps, equilibrium) = ("--solver euler", "--solver newton, anderson or fixed-point");
    refuse(
        &format!("--solver {solver}"),
        &[
            ("--iterations", iterations, euler, steps),
            ("--steps", model.steps.is_some(), euler, steps),
            ("--eta", model.eta.is_some(), euler, steps),
            ("--gradient", model.gradient.is_some(), !euler, equilibrium),
            ("--tolerance", model.tolerance.is_some(), !euler, equilibrium),
            (
                "--relative-tolerance",
                model.relative_tolerance.is_some(),
                !euler,
                equilibrium,
            ),
            ("--max-iterations", model.max_iterations.is_some(), !euler, equilibrium),
        ],
    )
}
