//! State dicts of torch: golden modules with a readout that shows their states, drawn models there and back, refusals.

use std::fs;
use std::path::PathBuf;

use ernn::cell::{
    Activation, CellConfig, ErnnConfig, FastGrnnConfig, GateActivation, GruConfig, LstmConfig, Rank, Reset, RnnConfig,
};
use ernn::checkpoint::SavedModel;
use ernn::exchange::{ImportOptions, torch};
use ernn::model::{Model, ModelConfig, Pooling};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use tempfile::TempDir;

use crate::support::{Case, Golden, assert_close};
use crate::{bits, drawn, logits, says};

/// The bytes of a number in some type.
type Encoder = fn(f64) -> Vec<u8>;

/// Tensors of a file that a test makes.
#[derive(Clone, Default)]
struct Dict(Vec<(String, Dtype, Vec<usize>, Vec<u8>)>);

impl Dict {
    fn put(&mut self, name: &str, shape: &[usize], values: &[f64]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.0.push((name.to_string(), Dtype::F64, shape.to_vec(), bytes));
    }

    /// Numbers that differ from each other, exact in 16 bits.
    fn put_some(&mut self, name: &str, shape: &[usize]) {
        let count = shape.iter().product::<usize>();
        let values: Vec<f64> = (0..count).map(|n| (n % 13) as f64 / 8.0 - 0.75).collect();
        self.put(name, shape, &values);
    }

    /// An LSTM of hidden size 2 on 3 values a step, and a readout for 2 classes.
    fn small(prefix: &str, readout: &str) -> Self {
        let mut dict = Dict::default();
        dict.put_some(&format!("{prefix}weight_ih_l0"), &[8, 3]);
        dict.put_some(&format!("{prefix}weight_hh_l0"), &[8, 2]);
        dict.put_some(&format!("{prefix}bias_ih_l0"), &[8]);
        dict.put_some(&format!("{prefix}bias_hh_l0"), &[8]);
        dict.put_some(&format!("{readout}.weight"), &[2, 2]);
        dict.put_some(&format!("{readout}.bias"), &[2]);
        dict
    }

    fn without(mut self, name: &str) -> Self {
        self.0.retain(|(own, ..)| own != name);
        self
    }

    fn with(mut self, name: &str, shape: &[usize]) -> Self {
        self.put_some(name, shape);
        self
    }

    /// The same numbers in another type.
    fn in_type(mut self, kind: Dtype, convert: Encoder) -> Self {
        for (_, dtype, _, bytes) in &mut self.0 {
            *dtype = kind;
            let numbers = bytes
                .chunks_exact(8)
                .map(|word| f64::from_le_bytes(word.try_into().unwrap()));
            *bytes = numbers.flat_map(convert).collect();
        }
        self
    }

    fn save(&self) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.safetensors");
        let views = self
            .0
            .iter()
            .map(|(name, kind, shape, bytes)| (name, TensorView::new(*kind, shape.clone(), bytes).unwrap()));
        fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
        (folder, path)
    }

    fn read(&self, options: &ImportOptions, readout: Option<&str>) -> ernn::Result<SavedModel> {
        let (_folder, path) = self.save();
        torch::read(&path, options, readout).map(|imported| imported.model)
    }
}

/// The module of a golden case under a prefix, and a readout that shows its last states.
fn state_dict(case: &Case, prefix: &str) -> Dict {
    let mut dict = Dict::default();
    for name in case.description["parameters"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        dict.put(&format!("{prefix}{name}"), &case.shape(name), &case.values::<f64>(name));
    }
    let outputs = case.shape("output")[2];
    let identity: Vec<f64> = (0..outputs * outputs)
        .map(|at| f64::from(u8::from(at % (outputs + 1) == 0)))
        .collect();
    dict.put("head.weight", &[outputs, outputs], &identity);
    dict.put("head.bias", &[outputs], &vec![0.0; outputs]);
    dict
}

/// The sequences of a golden case, each cut at its own end.
fn sequences(case: &Case) -> Vec<Vec<f32>> {
    let (count, inputs) = (case.count("N"), case.count("d"));
    let values = case.values::<f32>("input");
    let lengths = case.description["lengths"].as_array().unwrap();
    let one = |(sequence, length): (usize, &serde_json::Value)| {
        let steps = 0..length.as_u64().unwrap() as usize;
        steps
            .flat_map(|step| &values[(step * count + sequence) * inputs..][..inputs])
            .copied()
            .collect()
    };
    lengths.iter().enumerate().map(one).collect()
}

/// Last states of the last layer, `[N, D directions]`.
fn last_states(case: &Case) -> Vec<f32> {
    let (count, hidden) = (case.count("N"), case.count("D"));
    let directions = case.shape("output")[2] / hidden;
    let values = case.values::<f32>("h_n");
    let last_layer = &values[values.len() - directions * count * hidden..];
    (0..count)
        .flat_map(|n| (0..directions).flat_map(move |dir| &last_layer[(dir * count + n) * hidden..][..hidden]))
        .copied()
        .collect()
}

/// Means of the outputs over each sequence's own steps, `[N, D directions]`.
fn mean_states(case: &Case) -> Vec<f32> {
    let (count, outputs) = (case.count("N"), case.shape("output")[2]);
    let values = case.values::<f64>("output");
    let lengths = case.description["lengths"].as_array().unwrap();
    let mean = |n: usize, unit: usize| {
        let steps = values.iter().skip(n * outputs + unit).step_by(count * outputs);
        (steps.sum::<f64>() / lengths[n].as_f64().unwrap()) as f32
    };
    (0..count)
        .flat_map(|n| (0..outputs).map(move |unit| (n, unit)))
        .map(|(n, unit)| mean(n, unit))
        .collect()
}

fn told(case: &Case) -> ImportOptions {
    let relu = case.text("activation") == "relu";
    ImportOptions {
        activation: relu.then_some(Activation::Relu),
        ..ImportOptions::default()
    }
}

#[test]
fn torchs_modules_compute_the_same_here() {
    let golden = Golden::open("torch_layers.safetensors");
    let mut kinds = Vec::new();
    for case in golden.cases() {
        let dict = state_dict(&case, "encoder.rnn.");
        let saved = dict.read(&told(&case), None).unwrap();
        let config = saved.model.config();
        assert_eq!(config.layers.len(), case.count("layers"), "{}", case.name());
        assert_eq!(config.layers[0].name(), case.text("cell"));
        assert_eq!(config.bidirectional, case.description["bidirectional"] == true);
        let inputs = sequences(&case);
        assert_close(case.name(), &logits(&saved, &inputs), &last_states(&case), 1e-5);
        let options = ImportOptions {
            pooling: Some(Pooling::Mean),
            ..told(&case)
        };
        let saved = dict.read(&options, None).unwrap();
        assert_close(case.name(), &logits(&saved, &inputs), &mean_states(&case), 1e-5);
        kinds.push(format!("{}-{}", case.text("cell"), case.text("activation")));
    }
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, ["gru-tanh", "lstm-tanh", "rnn-relu", "rnn-tanh"]);
}

#[test]
fn what_is_written_reads_to_the_same_bits() {
    let rnn = |activation| {
        CellConfig::Rnn(RnnConfig {
            hidden: 4,
            activation,
            ..RnnConfig::default()
        })
    };
    let cells = [
        rnn(Activation::Tanh),
        rnn(Activation::Relu),
        CellConfig::Lstm(LstmConfig::default()).with_hidden(4),
        CellConfig::Gru(GruConfig::default()).with_hidden(4),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exported.safetensors");
    for cell in cells {
        for (layers, bidirectional) in [(1, false), (1, true), (3, false), (2, true)] {
            let mut saved = drawn(vec![cell.clone(); layers], bidirectional);
            // Biases other than 0, one of them -0.
            for (index, value) in saved.model.parameters_mut().iter_mut().enumerate() {
                *value = if index % 7 == 3 {
                    -0.0
                } else {
                    *value + 0.01 * index as f32
                };
            }
            saved.normalization.mean = vec![0.5, -3.25, 1e-3];
            saved.normalization.scale = vec![2.0, 0.3, 0.0];
            let notes = torch::write(&path, &saved).unwrap();
            assert_eq!(notes.last().unwrap().contains("nonlinearity"), cell.name() == "rnn");
            assert!(notes[0].contains("normalization.mean"), "{notes:?}");
            let activation = match &cell {
                CellConfig::Rnn(rnn) => Some(rnn.activation),
                _ => None,
            };
            let options = ImportOptions {
                activation,
                ..ImportOptions::default()
            };
            let again = torch::read(&path, &options, None).unwrap();
            let noted = again
                .notes
                .iter()
                .any(|note| note.contains("(h_n), not the last output"));
            assert_eq!((noted, again.notes.len()), (bidirectional, usize::from(bidirectional)));
            assert_eq!(again.model.model.config(), saved.model.config());
            assert_eq!(bits(&again.model), bits(&saved), "{}", cell.name());
            assert_eq!(again.model.normalization, saved.normalization);
            assert_eq!(again.model.provenance.dataset, "torch state dict exported.safetensors");
            assert!(again.model.provenance.is_imported());
        }
    }
}

/// A readout of several statistics is as wide as they are; that it is one must be said on the way back.
#[test]
fn a_readout_of_statistics_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pooled.safetensors");
    for (pooling, words) in [
        (
            Pooling::MeanMax,
            "torch.cat([output.mean(time), output.amax(time)], -1)",
        ),
        (Pooling::MeanMaxLast, "output.amax(time), the last state]"),
        (
            Pooling::MeanStdMax,
            "(output.var(time, unbiased=False) + 2**-16).sqrt()",
        ),
    ] {
        for bidirectional in [false, true] {
            let mut saved = drawn(
                vec![CellConfig::Gru(GruConfig::default()).with_hidden(4)],
                bidirectional,
            );
            let config = ModelConfig {
                pooling,
                ..saved.model.config().clone()
            };
            saved.model = Model::new(config, 4).unwrap();
            let notes = torch::write(&path, &saved).unwrap();
            assert!(notes.iter().any(|note| note.contains(words)), "{notes:?}");
            let options = ImportOptions {
                pooling: Some(pooling),
                ..ImportOptions::default()
            };
            let again = torch::read(&path, &options, None).unwrap();
            assert_eq!(again.model.model.config(), saved.model.config());
            assert_eq!(bits(&again.model), bits(&saved));
            assert!(again.notes.iter().any(|note| note.contains(words)), "{:?}", again.notes);
            // As a readout of the last states it is too wide.
            let error = torch::read(&path, &ImportOptions::default(), None)
                .unwrap_err()
                .to_string();
            assert!(error.contains("shape [classes, "), "{error}");
        }
    }
}

#[test]
fn low_rank_is_multiplied_out() {
    let saved = drawn(
        vec![CellConfig::Lstm(LstmConfig {
            hidden: 6,
            rank: Rank::Low(2),
            input_rank: Rank::Low(1),
            ..LstmConfig::default()
        })],
        true,
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    torch::write(&path, &saved).unwrap();
    let again = torch::read(&path, &ImportOptions::default(), None).unwrap().model;
    assert!(again.model.parameters().len() > saved.model.parameters().len());
    let sequence: Vec<f32> = (0..30).map(|n| (n as f32).sin()).collect();
    let sequences = [sequence];
    assert_close("logits", &logits(&again, &sequences), &logits(&saved, &sequences), 1e-5);
}

#[test]
fn numbers_of_every_width() {
    let options = ImportOptions::default();
    let expected = bits(&Dict::small("", "fc").read(&options, None).unwrap());
    let half = |value: f64| {
        // The numbers of these tests are multiples of 1/8 below 2: exact in every type.
        let bits = (value as f32).to_bits();
        let exponent = (bits >> 23 & 255) as i32 - 127 + 15;
        let word = match value {
            0.0 => 0,
            _ => bits >> 16 & 0x8000 | (exponent as u32) << 10 | bits >> 13 & 1023,
        };
        (word as u16).to_le_bytes().to_vec()
    };
    let types: [(Dtype, Encoder); 3] = [
        (Dtype::F32, |value| (value as f32).to_le_bytes().to_vec()),
        (Dtype::BF16, |value| (value as f32).to_le_bytes()[2..].to_vec()),
        (Dtype::F16, half),
    ];
    for (kind, convert) in types {
        let saved = Dict::small("", "fc")
            .in_type(kind, convert)
            .read(&options, None)
            .unwrap();
        assert_eq!(bits(&saved), expected, "{kind}");
    }
    let whole = Dict::small("", "fc").in_type(Dtype::I32, |value| (value as i32).to_le_bytes().to_vec());
    says(
        whole.read(&options, None),
        &["numbers of type I32", "expected F64, F32, F16 or BF16"],
    );
}

#[test]
fn biases_may_be_absent_and_names_are_taken_over() {
    let dict = Dict::small("a.", "fc")
        .without("a.bias_ih_l0")
        .without("a.bias_hh_l0")
        .without("fc.bias");
    let names = |text: &str| Some(text.split(' ').map(String::from).collect());
    let options = ImportOptions {
        classes: names("no yes"),
        feature_names: names("x y z"),
        ..ImportOptions::default()
    };
    let saved = dict.read(&options, None).unwrap();
    assert_eq!(
        (saved.classes.join(","), saved.feature_names.join(",")),
        ("no,yes".into(), "x,y,z".into())
    );
    for name in ["layers.0.b", "readout.bias"] {
        let span = saved.model.spans().iter().find(|span| span.name == name).unwrap();
        assert!(saved.model.parameters()[span.range()].iter().all(|&value| value == 0.0));
    }
    let wrong = |classes| ImportOptions {
        classes: names(classes),
        ..ImportOptions::default()
    };
    says(
        dict.read(&wrong("a b c"), None),
        &["classes: found 3 names", "expected 2"],
    );
    says(dict.read(&wrong("a a"), None), &["classes: found `a` twice"]);
}

#[test]
fn the_readout_is_told_where_it_is_in_doubt() {
    let plain = ImportOptions::default();
    let two = Dict::small("", "fc").with("other.weight", &[4, 2]);
    says(
        two.read(&plain, None),
        &["several tensors", "fc, other", "--readout NAME"],
    );
    for name in ["other", "other.weight"] {
        assert_eq!(two.read(&plain, Some(name)).unwrap().model.config().classes, 4);
    }
    let (_folder, path) = two.save();
    let imported = torch::read(&path, &plain, Some("fc")).unwrap();
    assert_eq!(imported.notes, ["left out: other.weight"]);
    // A second layer behind the first: taking the first alone would compute something else.
    let deep = Dict::small("", "fc")
        .with("last.weight", &[2, 5])
        .with("last.bias", &[2]);
    says(
        deep.read(&plain, None),
        &["`last.bias`", "last.bias, last.weight", "--readout fc"],
    );
}

#[test]
fn refusals_when_reading() {
    let small = || Dict::small("lstm.", "fc");
    let swap = |name: &str, shape: &[usize]| small().without(name).with(name, shape);
    let plain = ImportOptions::default();
    for (dict, parts) in [
        (Dict::default(), ["found no tensor", "weight_ih_l0"]),
        (
            Dict::default().with("x", &[2]),
            ["found the tensors x", "expected the tensors of one torch.nn.RNN"],
        ),
        (
            small().with("gru.weight_ih_l0", &[2, 2]),
            ["several recurrent modules", "gru.weight_ih_l0"],
        ),
        (
            small().with("lstm.weight_hr_l0", &[2, 2]),
            ["lstm.weight_hr_l0", "proj_size"],
        ),
        (
            swap("lstm.weight_hh_l0", &[8, 3]),
            ["lstm.weight_hh_l0`: found shape [8, 3]", "4 (LSTM)"],
        ),
        (
            swap("lstm.weight_hh_l0", &[8]),
            ["lstm.weight_hh_l0`: found shape [8]", "[G D, D]"],
        ),
        (
            swap("lstm.weight_ih_l0", &[7, 3]),
            ["lstm.weight_ih_l0`: found shape [7, 3]", "expected shape [8, 3]"],
        ),
        (
            swap("lstm.bias_hh_l0", &[6]),
            ["lstm.bias_hh_l0`: found shape [6]", "expected shape [8]"],
        ),
        (
            small().without("lstm.bias_hh_l0"),
            ["lstm.bias_hh_l0`: found no such tensor", "shape [8]"],
        ),
        (
            small().without("lstm.weight_ih_l0"),
            ["lstm.weight_ih_l0`: found no such tensor", "[8, d]"],
        ),
        (
            small().with("lstm.weight_ih_l2", &[8, 2]),
            ["lstm.weight_ih_l1`: found no such tensor", "there is a layer 2"],
        ),
        (
            small().with("lstm.bias_ih_l0_reverse", &[8]),
            [
                "found fc.bias [2], fc.weight [2, 2]",
                "a readout: a tensor NAME.weight of shape [classes, 4]",
            ],
        ),
        (
            small().without("fc.weight").without("fc.bias"),
            ["no tensor beside", "[classes, 2]"],
        ),
        (
            swap("fc.weight", &[1, 2]),
            ["fc.weight`: found shape [1, 2]", "at least two classes"],
        ),
        (
            swap("fc.bias", &[3]),
            ["fc.bias`: found shape [3]", "expected shape [2]"],
        ),
        (
            small().with("normalization.mean", &[3]),
            ["normalization.scale`: found no such tensor", "shape [3]"],
        ),
    ] {
        says(dict.read(&plain, None), &["weights.safetensors", parts[0], parts[1]]);
    }
    let mut infinite = small().without("fc.bias");
    infinite.put("fc.bias", &[2], &[0.0, 1e39]);
    says(
        infinite.read(&plain, None),
        &["fc.bias`", "at index 1", "single precision"],
    );
    says(
        small().read(&plain, Some("head")),
        &["head.weight`: found no such tensor", "[classes, 2]"],
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pt");
    fs::write(&path, b"PK\x03\x04 a pickle").unwrap();
    says(
        torch::read(&path, &plain, None),
        &["model.pt", "save_file(module.state_dict(), file)"],
    );
}

#[test]
fn functions_that_torchs_modules_do_not_have() {
    let with = |activation, gate_activation| ImportOptions {
        activation,
        gate_activation,
        ..ImportOptions::default()
    };
    let lstm = Dict::small("", "fc");
    says(
        lstm.read(&with(Some(Activation::Relu), None), None),
        &["activation: found relu", "tanh, as torch's lstm has"],
    );
    let hard = Some(GateActivation::HardSigmoid);
    says(
        lstm.read(&with(None, hard), None),
        &["gate_activation: found hard-sigmoid", "sigmoid"],
    );
    assert!(
        lstm.read(&with(Some(Activation::Tanh), Some(GateActivation::Sigmoid)), None)
            .is_ok()
    );
    let mut rnn = Dict::default();
    rnn.put_some("weight_ih_l0", &[2, 3]);
    rnn.put_some("weight_hh_l0", &[2, 2]);
    rnn.put_some("fc.weight", &[2, 2]);
    says(
        rnn.read(&with(Some(Activation::Sigmoid), None), None),
        &["activation: found sigmoid", "tanh or relu"],
    );
    says(
        rnn.read(&with(None, hard), None),
        &["gate_activation: found hard-sigmoid", "no gate"],
    );
    let (_folder, path) = rnn.save();
    let imported = torch::read(&path, &ImportOptions::default(), None).unwrap();
    assert!(imported.notes[0].contains("taken as tanh"), "{:?}", imported.notes);
}

#[test]
fn refusals_when_writing() {
    let gru = |reset| {
        CellConfig::Gru(GruConfig {
            hidden: 4,
            reset,
            ..GruConfig::default()
        })
    };
    let lstm = |activation, gate_activation| {
        CellConfig::Lstm(LstmConfig {
            hidden: 4,
            activation,
            gate_activation,
            ..LstmConfig::default()
        })
    };
    let rnn = |activation| {
        CellConfig::Rnn(RnnConfig {
            hidden: 4,
            activation,
            ..RnnConfig::default()
        })
    };
    let sigmoid = GateActivation::Sigmoid;
    for (layers, parts) in [
        (
            vec![CellConfig::Ernn(ErnnConfig::default())],
            ["found ernn", "rnn, gru or lstm"],
        ),
        (
            vec![CellConfig::FastGrnn(FastGrnnConfig::default())],
            ["found fastgrnn", "rnn, gru or lstm"],
        ),
        (
            vec![gru(Reset::Before)],
            ["gru with the reset before the product", "the reset after it"],
        ),
        (
            vec![lstm(Activation::HardTanh, sigmoid)],
            ["lstm with activation hard-tanh", "activation tanh"],
        ),
        (
            vec![lstm(Activation::Tanh, GateActivation::HardSigmoid)],
            ["gate activation hard-sigmoid", "gate activation sigmoid"],
        ),
        (
            vec![rnn(Activation::Sigmoid)],
            ["rnn with activation sigmoid", "tanh or relu"],
        ),
        (
            vec![gru(Reset::After), lstm(Activation::Tanh, sigmoid)],
            ["layer 1: found lstm", "gru"],
        ),
        (
            vec![rnn(Activation::Relu), rnn(Activation::Tanh)],
            ["layer 1: found rnn with tanh", "rnn with relu"],
        ),
        (
            vec![rnn(Activation::Relu), rnn(Activation::Relu).with_hidden(5)],
            ["hidden size 5", "hidden size 4"],
        ),
    ] {
        says(torch::to_bytes(&drawn(layers, false)), &parts);
    }
}
