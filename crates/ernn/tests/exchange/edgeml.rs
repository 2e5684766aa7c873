//! EdgeML's folders: golden ones compute the same here, drawn models there and back, refusals.

use std::fs;
use std::path::Path;

use ernn::cell::{
    Activation, CellConfig, FastGrnnConfig, FastRnnConfig, GateActivation, GruConfig, LstmConfig, Rank, Reset,
    RnnConfig, UgrnnConfig,
};
use ernn::checkpoint::SavedModel;
use ernn::exchange::edgeml::{self, Flavor};
use ernn::exchange::{ImportOptions, Imported};
use ernn::model::{Model, ModelConfig, Pooling};
use tempfile::TempDir;

use crate::support::{Case, Golden, assert_close};
use crate::{bits, drawn, logits, says};

/// An `.npy` file as NumPy writes it; Fortran order and the other byte order where asked for.
fn npy(shape: &[usize], values: &[f64], odd: bool) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let (descr, order) = if odd { (">f4", "True") } else { ("<f8", "False") };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sizes}), }}\n");
    let numbers: Vec<u8> = match (odd, shape) {
        (false, _) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        (true, &[rows, columns]) => (0..columns)
            .flat_map(|column| (0..rows).map(move |row| values[row * columns + column]))
            .flat_map(|value| (value as f32).to_be_bytes())
            .collect(),
        (true, _) => values.iter().flat_map(|&value| (value as f32).to_be_bytes()).collect(),
    };
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &numbers].concat()
}

fn write(folder: &Path, name: &str, shape: &[usize], values: &[f64]) {
    fs::write(folder.join(format!("{name}.npy")), npy(shape, values, false)).unwrap();
}

/// What is done to a folder before it is read.
type Damage<'a> = &'a dyn Fn(&Path);

/// The folder of a golden case.
fn folder(case: &Case, odd: bool) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in case.description["files"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        // Statistics are double-precision numbers.
        let odd = odd && !["mean", "std"].contains(&name);
        let bytes = npy(&case.shape(name), &case.values::<f64>(name), odd);
        fs::write(folder.path().join(format!("{name}.npy")), bytes).unwrap();
    }
    folder
}

fn sequences(case: &Case) -> Vec<Vec<f32>> {
    let values = case.values::<f32>("input");
    let sequences = values.chunks_exact(case.count("T") * case.count("d"));
    sequences.map(<[f32]>::to_vec).collect()
}

fn told(case: &Case) -> ImportOptions {
    let activation = match case.text("update") {
        "tanh" => None,
        "relu" => Some(Activation::Relu),
        "sigmoid" => Some(Activation::Sigmoid),
        "quantTanh" => Some(Activation::HardTanh),
        other => panic!("{other}"),
    };
    let hard = case.text("gate") == "quantSigm" && case.text("cell") != "FastRNN";
    ImportOptions {
        activation,
        gate_activation: hard.then_some(GateActivation::HardSigmoid),
        ..ImportOptions::default()
    }
}

fn flavor(case: &Case) -> Flavor {
    match case.text("flavor") {
        "tensorflow" => Flavor::TensorFlow,
        _ => Flavor::PyTorch,
    }
}

fn read(folder: &Path) -> ernn::Result<Imported> {
    edgeml::read(folder, &ImportOptions::default(), Some(Flavor::PyTorch), true)
}

/// The golden case of this name.
fn with_case<T>(name: &str, use_it: impl FnOnce(&Case) -> T) -> T {
    let golden = Golden::open("edgeml_models.safetensors");
    let case = golden.cases().find(|case| case.name() == name).unwrap();
    use_it(&case)
}

/// The folder of the golden case of this name.
fn folder_of(name: &str) -> TempDir {
    with_case(name, |case| folder(case, false))
}

#[test]
fn edgemls_cells_compute_the_same_here() {
    let golden = Golden::open("edgeml_models.safetensors");
    let mut cells = Vec::new();
    for case in golden.cases() {
        let mut models = Vec::new();
        for odd in [false, true] {
            let folder = folder(&case, odd);
            let imported = edgeml::read(folder.path(), &told(&case), Some(flavor(&case)), true).unwrap();
            let transposed = imported.notes.iter().any(|note| note.contains("are transposed"));
            assert_eq!(transposed, case.description["transposed"] == true, "{}", case.name());
            let logits = logits(&imported.model, &sequences(&case));
            assert_close(case.name(), &logits, &case.values::<f32>("logits"), 1e-5);
            models.push(bits(&imported.model));
        }
        assert_eq!(models[0], models[1], "{}", case.name());
        cells.push(case.text("cell").to_string());
    }
    cells.sort();
    cells.dedup();
    assert_eq!(cells, ["FastGRNN", "FastRNN", "GRU", "LSTM", "UGRNN"]);
}

#[test]
fn what_is_assumed_is_said() {
    let read =
        |name: &str, options: &ImportOptions| edgeml::read(folder_of(name).path(), options, None, true).unwrap().notes;
    let both = "no file says the nonlinearities: taken the update's as tanh (--activation), the gates' as sigmoid (--gate-activation)";
    let nothing = ImportOptions::default();
    assert_eq!(read("GRU_low_low", &nothing), [both]);
    let told = ImportOptions {
        activation: Some(Activation::Tanh),
        ..ImportOptions::default()
    };
    assert_eq!(
        read("GRU_low_low", &told),
        ["no file says the nonlinearities: taken the gates' as sigmoid (--gate-activation)"]
    );
}

#[test]
fn low_rank_stays_low_rank() {
    let folder = folder_of("GRU_low_low");
    let model = read(folder.path()).unwrap().model.model;
    let CellConfig::Gru(gru) = &model.config().layers[0] else {
        panic!("{:?}", model.config())
    };
    assert_eq!(
        (gru.input_rank, gru.rank, gru.reset),
        (Rank::Low(2), Rank::Low(3), Reset::Before)
    );
}

#[test]
fn an_lstms_version_has_to_be_told() {
    with_case("LSTM_full_full_tensorflow", |case| {
        let folder = folder(case, false);
        let parts = ["--edgeml-flavor: found none", "tensorflow or pytorch"];
        says(edgeml::read(folder.path(), &told(case), None, true), &parts);
        let wrong = edgeml::read(folder.path(), &told(case), Some(Flavor::PyTorch), true).unwrap();
        let found = logits(&wrong.model, &sequences(case));
        let expected = case.values::<f32>("logits");
        assert!(
            found
                .iter()
                .zip(&expected)
                .any(|(found, expected)| (found - expected).abs() > 0.01)
        );
    });
}

/// All cells that EdgeML has, of hidden size 4.
fn cells(rank: Rank, input_rank: Rank) -> Vec<CellConfig> {
    let (hidden, activation, gate_activation) = (4, Activation::HardTanh, GateActivation::HardSigmoid);
    vec![
        CellConfig::FastRnn(FastRnnConfig {
            hidden,
            rank,
            input_rank,
            activation,
            ..FastRnnConfig::default()
        }),
        CellConfig::FastGrnn(FastGrnnConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
            ..FastGrnnConfig::default()
        }),
        CellConfig::Ugrnn(UgrnnConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
        }),
        CellConfig::Gru(GruConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
            reset: Reset::Before,
        }),
        CellConfig::Lstm(LstmConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
        }),
    ]
}

fn export(saved: &SavedModel) -> ernn::Result<(TempDir, Vec<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let notes = edgeml::write(&folder.path().join("cell"), saved)?;
    Ok((folder, notes))
}

#[test]
fn what_is_written_reads_to_the_same_bits() {
    for (rank, input_rank) in [
        (Rank::Full, Rank::Full),
        (Rank::Low(2), Rank::Low(3)),
        (Rank::Low(1), Rank::Full),
        (Rank::Full, Rank::Low(1)),
    ] {
        for cell in cells(rank, input_rank) {
            let mut saved = drawn(vec![cell.clone()], false);
            for (index, value) in saved.model.parameters_mut().iter_mut().enumerate() {
                *value += 0.01 * index as f32;
            }
            saved.normalization.mean = vec![0.5, -3.25, 1e-3];
            saved.normalization.scale = vec![2.0, 0.3, 0.0];
            let (folder, notes) = export(&saved).unwrap();
            assert!(notes[0].contains("update nonlinearity quantTanh"), "{notes:?}");
            let options = ImportOptions {
                activation: Some(Activation::HardTanh),
                gate_activation: (cell.name() != "fastrnn").then_some(GateActivation::HardSigmoid),
                ..ImportOptions::default()
            };
            let path = folder.path().join("cell");
            let again = edgeml::read(&path, &options, Some(Flavor::PyTorch), true).unwrap();
            assert_eq!(again.notes, [""; 0]);
            assert_eq!(again.model.model.config(), saved.model.config());
            assert_eq!(bits(&again.model), bits(&saved), "{}", cell.name());
            assert_eq!(again.model.normalization, saved.normalization);
            assert_eq!(again.model.provenance.dataset, "EdgeML folder cell");
            // Nothing is overwritten, and nothing is left behind.
            says(
                edgeml::write(&path, &saved),
                &["cell: cannot write", "lies there already"],
            );
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}

#[test]
fn files_are_as_numpy_writes_them() {
    let saved = drawn(vec![cells(Rank::Low(2), Rank::Full).remove(0)], false);
    let (folder, _) = export(&saved).unwrap();
    for (name, shape) in [
        ("W", "(3, 4)"),
        ("U1", "(4, 2)"),
        ("U2", "(2, 4)"),
        ("B", "(1, 4)"),
        ("alpha", "(1, 1)"),
        ("FC", "(4, 2)"),
        ("FCbias", "(2,)"),
    ] {
        let bytes = fs::read(folder.path().join(format!("cell/{name}.npy"))).unwrap();
        let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00v\x00", "{name}");
        assert_eq!(bytes[10..128], *format!("{text:<117}\n").as_bytes(), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path().join("cell")).unwrap().count(), 8);
}

#[test]
fn a_rank_above_the_units_is_multiplied_out() {
    let golden = folder_of("FastRNN_full_full");
    let expected = read(golden.path()).unwrap().model;
    let folder = folder_of("FastRNN_full_full");
    fs::remove_file(folder.path().join("U.npy")).unwrap();
    // U = [U, 0] [1; 0] with an inner size of 7.
    let find = |name: &str| {
        expected
            .model
            .spans()
            .iter()
            .find(|span| span.name == name)
            .unwrap()
            .range()
    };
    let ours = &expected.model.parameters()[find("layers.0.U")];
    let first: Vec<f64> = (0..35)
        .map(|at| (at / 7, at % 7))
        .map(|(row, column)| {
            if column < 5 {
                f64::from(ours[column * 5 + row])
            } else {
                0.5
            }
        })
        .collect();
    let second: Vec<f64> = (0..35).map(|at| f64::from(u8::from(at / 5 == at % 5))).collect();
    write(folder.path(), "U1", &[5, 7], &first);
    write(folder.path(), "U2", &[7, 5], &second);
    let found = read(folder.path()).unwrap();
    assert_eq!(bits(&found.model), bits(&expected));
    assert!(found.notes[0].contains("a rank of 7 with 5 units"), "{:?}", found.notes);
}

#[test]
fn transposed_files_are_known_by_their_shapes() {
    // Square and of full rank, both ways fit: the usual one is taken, and said.
    let saved = drawn(vec![cells(Rank::Full, Rank::Full).remove(1).with_hidden(3)], false);
    let (folder, _) = export(&saved).unwrap();
    let imported = read(&folder.path().join("cell")).unwrap();
    assert_eq!(bits(&imported.model), bits(&saved));
    assert!(
        imported.notes[0].contains("taken as the usual one"),
        "{:?}",
        imported.notes
    );
    // Other cells were never transposed.
    let other = folder_of("FastRNN_full_full");
    write(other.path(), "W", &[5, 3], &[0.0; 15]);
    says(
        read(other.path()),
        &["W.npy: found shape [5, 3]", "expected shape [d, 5]"],
    );
    // One matrix this way and one the other is no layout.
    let mixed = folder_of("FastGRNN_transposed_low_low");
    write(mixed.path(), "U1", &[5, 2], &[0.0; 10]);
    write(mixed.path(), "U2", &[2, 5], &[0.0; 10]);
    says(
        read(mixed.path()),
        &["W2.npy: found shape [5, 2]", "expected shape [3, 5]"],
    );
}

#[test]
fn statistics_are_used_where_they_are_one_a_channel() {
    let normalized = |change: &dyn Fn(&Path)| {
        let folder = folder_of("FastGRNN_normalized");
        change(folder.path());
        folder
    };
    let plain = normalized(&|_| ());
    let used = read(plain.path()).unwrap().model.normalization;
    assert_ne!(used.mean, [0.0; 3]);
    let unused = edgeml::read(plain.path(), &ImportOptions::default(), None, false).unwrap();
    assert_eq!(unused.model.normalization, ernn::data::Normalization::identity(3));
    let cases: [(Damage, [&str; 2]); 6] = [
        (
            &|path| {
                let mut mean: Vec<f64> = used.mean.repeat(2).iter().map(|&value| f64::from(value)).collect();
                mean[4] = 9.0;
                write(path, "mean", &[6], &mean);
            },
            ["mean.npy: found", "for channel 2 at step 1 and 9 at step 2"],
        ),
        (
            &|path| write(path, "std", &[7], &[1.0; 7]),
            ["std.npy: found 7 numbers", "a multiple of 3"],
        ),
        (
            &|path| write(path, "std", &[3], &[1.0, 0.0, 1.0]),
            ["std.npy: found 0 for channel 2", "a number above 0"],
        ),
        (
            &|path| write(path, "std", &[3], &[1.0, f64::NAN, 1.0]),
            ["std.npy", "NaN"],
        ),
        (
            &|path| write(path, "mean", &[3], &[1.0, 1e300, 1.0]),
            ["mean.npy", "for channel 2"],
        ),
        (
            &|path| fs::remove_file(path.join("std.npy")).unwrap(),
            ["std.npy: found no such file", "a vector"],
        ),
    ];
    for (change, parts) in cases {
        let folder = normalized(change);
        says(read(folder.path()), &parts);
        assert!(edgeml::read(folder.path(), &ImportOptions::default(), None, false).is_ok());
    }
}

#[test]
fn refusals_when_reading() {
    let remove = |path: &Path, names: &[&str]| {
        names
            .iter()
            .for_each(|name| fs::remove_file(path.join(format!("{name}.npy"))).unwrap());
    };
    let cases: [(&str, Damage, [&str; 2]); 16] = [
        // Old folders without biases: the file is named, and no cell is taken for another.
        (
            "FastRNN_full_full",
            &|path| remove(path, &["B"]),
            ["B.npy: found no such file", "a vector"],
        ),
        (
            "GRU_full_full",
            &|path| remove(path, &["Br"]),
            ["Br.npy: found no such file", "[1, 5]"],
        ),
        (
            "GRU_full_full",
            &|path| remove(path, &["Br", "Bg", "Bh"]),
            ["Bh.npy: found no such file", "a vector"],
        ),
        (
            "LSTM_low_low_pytorch",
            &|path| remove(path, &["Bf", "Bi", "Bc"]),
            ["Bi.npy: found no such file", "[1, 5]"],
        ),
        (
            "UGRNN_full_full",
            &|path| remove(path, &["Bh"]),
            ["Bh.npy: found no such file", "a vector"],
        ),
        (
            "FastGRNN_full_full",
            &|path| remove(path, &["nu"]),
            ["nu.npy: found no such file", "one number"],
        ),
        (
            "UGRNN_full_full",
            &|path| remove(path, &["FC"]),
            ["FC.npy: found no such file", "[5, classes]"],
        ),
        (
            "UGRNN_full_full",
            &|path| remove(path, &["FCbias"]),
            ["FCbias.npy: found no such file", "[4]"],
        ),
        // One scalar makes it a FastGRNN, whose W1 and W2 are the factors of one matrix.
        (
            "UGRNN_full_full",
            &|path| write(path, "zeta", &[1, 1], &[0.0]),
            ["W2.npy: found shape [3, 5]", "[5, 5]"],
        ),
        (
            "UGRNN_full_full",
            &|path| write(path, "Br", &[1, 5], &[0.0; 5]),
            ["W3.npy: found no such file", "[3, 5]"],
        ),
        (
            "FastRNN_full_full",
            &|path| write(path, "Bf", &[1, 5], &[0.0; 5]),
            ["alpha.npy and Bf.npy", "one cell"],
        ),
        (
            "UGRNN_full_full",
            &|path| write(path, "W2", &[2, 5], &[0.0; 10]),
            ["W2.npy: found shape [2, 5]", "[3, 5]"],
        ),
        (
            "UGRNN_low_full",
            &|path| write(path, "W2", &[3, 5], &[0.0; 15]),
            ["W2.npy: found shape [3, 5]", "[2, 5]"],
        ),
        (
            "UGRNN_full_low",
            &|path| write(path, "U", &[4, 3], &[0.0; 12]),
            ["U.npy: found shape [4, 3]", "[5, rank]"],
        ),
        (
            "FastRNN_full_low",
            &|path| write(path, "U", &[5, 5], &[0.0; 25]),
            ["both U.npy and its factors", "one or the other"],
        ),
        (
            "FastRNN_full_full",
            &|path| write(path, "alpha", &[1, 2], &[0.0; 2]),
            ["alpha.npy: found shape [1, 2]", "one number"],
        ),
    ];
    for (name, change, parts) in cases {
        let folder = folder_of(name);
        change(folder.path());
        says(read(folder.path()), &parts);
    }
    let folder = folder_of("UGRNN_full_full");
    write(folder.path(), "W1", &[3, 5], &[f64::NAN; 15]);
    says(
        read(folder.path()),
        &["W1.npy: found NaN at index 0", "single precision"],
    );
    fs::write(folder.path().join("W1.npy"), b"no array").unwrap();
    says(read(folder.path()), &["W1.npy", "an .npy file"]);
    let empty = tempfile::tempdir().unwrap();
    says(read(empty.path()), &["found none of them", "zeta.npy (FastGRNN)"]);
    says(
        read(&empty.path().join("x")),
        &["found no folder", "a folder of EdgeML's .npy files"],
    );
    let gate = ImportOptions {
        gate_activation: Some(GateActivation::Sigmoid),
        ..ImportOptions::default()
    };
    let folder = folder_of("FastRNN_full_full");
    says(
        edgeml::read(folder.path(), &gate, None, true),
        &["gate_activation: found sigmoid", "fastrnn has no gate"],
    );
}

#[test]
fn refusals_when_writing() {
    let rnn = CellConfig::Rnn(RnnConfig::default());
    let after = CellConfig::Gru(GruConfig::default());
    let lstm = CellConfig::Lstm(LstmConfig::default());
    for (layers, bidirectional, parts) in [
        (vec![rnn], false, ["cell: found rnn", "EdgeML has no others"]),
        (
            vec![after],
            false,
            ["gru with the reset after the product", "the reset before it"],
        ),
        (
            vec![lstm.clone(), lstm.clone()],
            false,
            ["layers: found 2", "expected 1"],
        ),
        (vec![lstm.clone()], true, ["bidirectional: found true", "forwards"]),
    ] {
        says(export(&drawn(layers, bidirectional)), &parts);
    }
    let mut saved = drawn(vec![lstm], false);
    let config = ModelConfig {
        pooling: Pooling::Mean,
        ..saved.model.config().clone()
    };
    saved.model = Model::new(config, 1).unwrap();
    says(export(&saved), &["pooling: found mean", "last state"]);
}
