//! Every case as an ONNX file: its logits are the model's, by the export's own check and in ONNX Runtime where there is one.

use std::fs;
use std::path::Path;

use ernn::cell::{CellConfig, Folded};
use ernn::checkpoint::{Provenance, SavedModel};
use ernn::data::{Normalization, Task};
use ernn::exchange::onnx;
use ernn::model::{Embedding, Model, ModelConfig, Pooling, Workspace};
use ernn::{Isa, Panels};
use serde_json::{Value, json};

use crate::onnx_runtime;
use crate::table::{Case, cases, model_of};

/// With a normalization that is undone exactly.
fn saved(model: Model<f32>) -> SavedModel {
    let config = model.config();
    let features = config.features();
    let mean = (0..features).map(|feature| feature as f32 - 1.5).collect();
    let scale = (0..features).map(|feature| [0.5, 4.0][feature % 2]).collect();
    let vocabulary = config.embedding.as_ref().map_or(0, |embedding| embedding.vocabulary);
    let names = |word: &str, count: usize| (1..=count).map(|index| format!("{word} {index}")).collect();
    SavedModel {
        derivation: Default::default(),
        decision: Default::default(),
        normalization: Normalization { mean, scale },
        classes: names("class", config.classes),
        vocabulary: names("word", vocabulary),
        feature_names: names("channel", features),
        provenance: Provenance::default(),
        model,
    }
}

/// Writes `NAME.onnx`, and `NAME.json` for `reference/onnx_runtime.py`.
fn write(folder: &Path, name: &str, saved: &SavedModel, case: &Value) {
    let notes =
        onnx::write(&folder.join(format!("{name}.onnx")), saved).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(
        notes.iter().any(|note| note.starts_with("parity: ")),
        "{name}: {notes:?}"
    );
    fs::write(folder.join(format!("{name}.json")), case.to_string()).unwrap();
}

/// A sequence as it is measured, `[T][d]`, of normalized values.
fn measured(saved: &SavedModel, values: &[f32]) -> Vec<Vec<f32>> {
    let Normalization { mean, scale } = &saved.normalization;
    let row = |row: &[f32]| {
        let values = row.iter().zip(mean.iter().zip(scale));
        values.map(|(value, (mean, scale))| value / scale + mean).collect()
    };
    values.chunks_exact(mean.len()).map(row).collect()
}

/// The same, normalized again: what the model reads.
fn normalized(saved: &SavedModel, rows: &[Vec<f32>]) -> Vec<f32> {
    let mut values = rows.concat();
    let features = saved.normalization.mean.len();
    values
        .chunks_exact_mut(features)
        .for_each(|row| assert!(saved.normalization.apply_row(row)));
    values
}

fn panels(width: usize, sequences: &[Vec<f32>]) -> Panels<f32> {
    let lengths: Vec<usize> = sequences.iter().map(|values| values.len() / width).collect();
    let mut panels = Panels::new(Isa::best(), width, &lengths);
    for (sequence, values) in sequences.iter().enumerate() {
        panels.set_sequence(sequence, values);
    }
    panels
}

fn write_case(folder: &Path, index: usize, case: &Case) {
    let saved = saved(case.model());
    let sequences: Vec<_> = (0..case.lengths.len().min(6))
        .map(|sequence| measured(&saved, &case.sequence(sequence)))
        .collect();
    let values: Vec<_> = sequences.iter().map(|rows| normalized(&saved, rows)).collect();
    let panels = panels(case.config.input_size, &values);
    let logits = saved.model.logits(&panels, &mut Workspace::default()).unwrap();
    let expected: Vec<_> = logits.chunks_exact(case.config.classes).collect();
    let text = json!({"sequences": sequences, "output": "logits", "expected": expected});
    write(folder, &format!("case-{index}"), &saved, &text);
}

/// Whether a layer's state is found by as many iterations as it needs.
fn is_at_equilibrium(case: &Case) -> bool {
    let mut cells = case.cells().into_iter();
    cells.any(|(inputs, cell, parameters)| matches!(cell.fold(inputs, parameters), Folded::Equilibrium(_)))
}

#[test]
fn every_case_is_the_same_in_onnx_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let (at_equilibrium, cases): (Vec<_>, Vec<_>) = cases().into_iter().partition(is_at_equilibrium);
    for case in at_equilibrium {
        let error = onnx::to_bytes(&saved(case.model())).unwrap_err().to_string();
        assert!(error.starts_with("solver: "), "{}: {error}", case.name);
    }
    for (index, case) in cases.iter().enumerate() {
        write_case(folder.path(), index, case);
    }
    if let Some(said) = onnx_runtime::run(folder.path(), 2e-5) {
        assert!(
            said.contains(&format!("{} files in ONNX Runtime", cases.len())),
            "{said}"
        );
    }
}

/// A model whose layers are GRU, ERNN and LSTM: operators and loops in one file.
fn mixed(task: Task, bidirectional: bool) -> ModelConfig {
    let layers = ["gru", "ernn", "lstm"].map(|kind| CellConfig::of_kind(kind).unwrap().with_hidden(9));
    ModelConfig {
        task,
        bidirectional,
        classes: if task == Task::Regression { 1 } else { 3 },
        ..model_of(layers.to_vec())
    }
}

/// The logits of every step, from the states that the model gives.
fn step_logits(model: &Model<f32>, panels: &Panels<f32>) -> Vec<Vec<f32>> {
    let states = model.states(panels, &mut Workspace::default()).unwrap();
    let states = &states.last().unwrap().all;
    let tensor = |name: &str| {
        let span = model.spans().iter().find(|span| span.name == name).unwrap();
        &model.parameters()[span.range()]
    };
    let (weight, bias) = (tensor("readout.weight"), tensor("readout.bias"));
    let mut state = vec![0.0; states.features()];
    let mut of_sequence = |(sequence, &length): (usize, &usize)| {
        let mut logits = Vec::new();
        for step in 0..length {
            states.read_step(sequence, step, &mut state);
            let rows = weight.chunks_exact(state.len()).zip(bias);
            logits.extend(rows.map(|(row, bias)| row.iter().zip(&state).map(|(a, b)| a * b).sum::<f32>() + bias));
        }
        logits
    };
    panels.lengths().iter().enumerate().map(&mut of_sequence).collect()
}

#[test]
fn every_task_is_the_same_in_onnx_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let wave = |sequence: usize, length: usize| -> Vec<f32> {
        let value = |index: usize| ((index * (sequence + 3)) as f32 * 0.7).sin();
        (0..2 * length).map(value).collect()
    };
    for (name, task, bidirectional) in [
        ("steps", Task::StepClassification, false),
        ("steps-both-ways", Task::StepClassification, true),
        ("number", Task::Regression, true),
        ("numbers-of-steps", Task::StepRegression, true),
    ] {
        let saved = saved(Model::new(mixed(task, bidirectional), 3).unwrap());
        let sequences = [5, 1, 8].map(|length| measured(&saved, &wave(length, length)));
        let panels = panels(2, &sequences.each_ref().map(|rows| normalized(&saved, rows)));
        let (output, expected) = if task == Task::Regression {
            let values = saved.model.logits(&panels, &mut Workspace::default()).unwrap();
            ("value", values.into_iter().map(|value| vec![value]).collect())
        } else {
            let output = if task.is_of_numbers() { "value" } else { "logits" };
            (output, step_logits(&saved.model, &panels))
        };
        let case = json!({"sequences": sequences, "output": output, "expected": expected});
        write(folder.path(), name, &saved, &case);
    }
    for (name, task) in [("text", Task::Classification), ("next-token", Task::NextToken)] {
        let tied = task == Task::NextToken;
        let config = ModelConfig {
            input_size: 9,
            classes: if tied { 7 } else { 3 },
            pooling: Pooling::Mean,
            embedding: Some(Embedding {
                vocabulary: 7,
                deviation: 1.0,
                tied,
            }),
            ..mixed(task, false)
        };
        let saved = saved(Model::new(config, 4).unwrap());
        let sequences: [Vec<u32>; 3] = [vec![1, 6, 0, 3], vec![5], vec![2, 2, 4]];
        let panels = panels(9, &sequences.each_ref().map(|tokens| saved.model.embed(tokens)));
        let expected = if tied {
            step_logits(&saved.model, &panels)
        } else {
            let logits = saved.model.logits(&panels, &mut Workspace::default()).unwrap();
            logits.chunks_exact(3).map(<[f32]>::to_vec).collect()
        };
        let case = json!({"sequences": sequences, "output": "logits", "expected": expected});
        write(folder.path(), name, &saved, &case);
    }
    if let Some(said) = onnx_runtime::run(folder.path(), 2e-5) {
        assert!(said.contains("6 files in ONNX Runtime"), "{said}");
    }
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    let case = cases().into_iter().find(|case| !is_at_equilibrium(case)).unwrap();
    let bytes = || onnx::to_bytes(&saved(case.model())).unwrap().0;
    assert_eq!(bytes(), bytes());
}
