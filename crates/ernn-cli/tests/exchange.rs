//! Models to other programs and back, with the real binary.

mod support;

use std::fs;

use support::{Place, easy_csv};

/// A folder with a data set and a model of this cell trained on it, in `run`.
fn trained(cell: &str) -> Place {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok(&format!(
        "train train.csv --epochs 1 --hidden 6 --cell {cell} --pooling last --differences false --out run"
    ));
    place
}

/// Exports, imports, and compares what the two models say about the data, to the last digit.
fn there_and_back(cell: &str, program: &str, flags: &str) -> Place {
    let place = trained(cell);
    let exported = place.ok(&format!("export run --to {program} --out exported"));
    assert_eq!(exported.stdout, "exported\n");
    assert!(exported.stderr.contains("note: "), "{}", exported.stderr);
    let names = "--classes down,up --feature-names x,y";
    let done = place.ok(&format!(
        "import exported --from {program} --out back.safetensors {flags} {names}"
    ));
    assert!(done.stdout.starts_with("back.safetensors: "), "{}", done.stdout);
    let [ours, theirs] =
        ["run", "back.safetensors"].map(|model| place.ok(&format!("predict {model} train.csv --digits 17")).stdout);
    assert_eq!(ours, theirs, "{cell}");
    let [ours, theirs] = ["run", "back.safetensors"].map(|model| place.json(&format!("inspect {model}")));
    for part in ["tensors", "normalization", "classes", "feature_names"] {
        assert_eq!(ours[part], theirs[part], "{part}");
    }
    place
}

#[test]
fn a_model_goes_to_torch_and_back() {
    let place = there_and_back("gru --rank full", "torch", "");
    let text = place.ok("inspect back.safetensors").stdout;
    assert!(
        text.contains("imported from: torch state dict exported, by ernn"),
        "{text}"
    );
    assert!(!text.contains("settings of the run"), "{text}");
    there_and_back("lstm --rank full --layers 2", "torch", "");
    let done = there_and_back("rnn --rank full --activation relu", "torch", "--activation relu");
    done.fails(
        "import exported --from torch --out named.safetensors --classes up,",
        2,
        &["classes: found ``, expected names without blanks around them"],
    );
    let done = done.ok("import exported --from torch --out guessed.safetensors");
    assert!(
        done.stderr.contains("note: the file does not say the nonlinearity"),
        "{}",
        done.stderr
    );
    assert!(
        done.stdout
            .contains("guessed.safetensors: rnn 6, 2 values a step, 2 classes, "),
        "{}",
        done.stdout
    );
}

#[test]
fn a_model_goes_to_edgeml_and_back() {
    there_and_back("fastgrnn --rank 2", "edgeml", "");
    there_and_back("fastrnn --rank 2 --activation relu", "edgeml", "--activation relu");
    there_and_back(
        "lstm --rank full --activation hard-tanh",
        "edgeml",
        "--activation quantTanh --edgeml-flavor pytorch",
    );
}

#[test]
fn an_imported_model_is_evaluated_like_any() {
    let place = there_and_back("fastrnn --rank full --activation tanh", "edgeml", "");
    place.write("test.csv", easy_csv(10));
    let found = place.json("evaluate back.safetensors test.csv");
    assert_eq!((&found["part"], &found["examples"]), (&"all".into(), &10.into()));
    // A folder with a validation part of its own: there is no run to split as.
    for part in ["train", "val"] {
        place.write(&format!("parts/{part}.csv"), easy_csv(10));
    }
    assert_eq!(place.json("evaluate back.safetensors parts")["part"], "validation");
    // Class names that the data does not have are refused as for any model.
    place.ok("import exported --from edgeml --out other.safetensors");
    place.fails("evaluate other.safetensors test.csv", 1, &["up"]);
}

#[test]
fn nothing_is_overwritten() {
    let place = trained("fastrnn --rank full");
    place.write("taken", "mine");
    place.ok("export run --to edgeml --out folder");
    let parts = [
        "--out: found taken, where something lies already",
        "nothing is overwritten",
    ];
    for arguments in [
        "export run --to edgeml --out taken",
        "export run --to torch --out taken",
        "import folder --from edgeml --out taken",
    ] {
        place.fails(arguments, 2, &parts);
    }
    assert_eq!(place.text("taken"), "mine");
    place.fails(
        "export run --to edgeml --out taken/folder",
        1,
        &["taken", "cannot create"],
    );
}

#[test]
fn refusals_name_file_tensor_and_shapes() {
    let place = trained("fastrnn --rank full");
    place.fails(
        "export run --to torch --out a",
        2,
        &["cell: found fastrnn", "expected rnn, gru or lstm"],
    );
    assert!(!place.path("a").exists());
    place.ok("export run --to edgeml --out folder");
    fs::copy(place.path("folder/FC.npy"), place.path("folder/U.npy")).unwrap();
    let parts = ["folder/U.npy: found shape [6, 2], expected shape [6, 6]"];
    place.fails("import folder --from edgeml --out a", 1, &parts);
    fs::remove_file(place.path("folder/B.npy")).unwrap();
    place.fails(
        "import folder --from edgeml --out a",
        1,
        &["folder/B.npy: found no such file"],
    );
    place.fails("import folder --from torch --out a", 1, &["folder: cannot read"]);
    place.fails("import nowhere --from edgeml --out a", 1, &["nowhere: found no folder"]);
    place.write("model.pt", "PK a pickle");
    place.fails(
        "import model.pt --from torch --out a",
        1,
        &["model.pt: found", "safetensors.torch.save_file"],
    );
    let ours = "import run/model.safetensors --from torch --out a";
    place.fails(ours, 1, &["found the tensors layers.0.", "weight_ih_l0"]);
    assert!(!place.path("a").exists());
}

#[test]
fn a_run_becomes_one_file_which_is_a_model() {
    let place = trained("fastrnn --rank full");
    place.ok("export run --to safetensors --out one.safetensors");
    assert_eq!(place.read("one.safetensors"), place.read("run/model.safetensors"));
    place.ok("inspect one.safetensors");
    place.fails(
        "export run --to safetensors --out one.safetensors",
        2,
        &["nothing is overwritten"],
    );
}

#[test]
fn flags_that_do_not_fit() {
    let place = Place::new();
    for (flags, part) in [
        ("--from edgeml --readout fc", "--readout is for --from torch alone"),
        (
            "--from torch --edgeml-flavor pytorch",
            "--edgeml-flavor is for --from edgeml alone",
        ),
        (
            "--from torch --no-normalization",
            "--no-normalization is for --from edgeml alone",
        ),
        ("--from keras", "torch, edgeml"),
        ("--from edgeml --edgeml-flavor jax", "tensorflow, pytorch"),
        ("--from edgeml --gate-activation tanh", "`sigmoid` or `hard-sigmoid`"),
        ("--from edgeml --activation step", "unknown variant `step`"),
        (
            "--from edgeml --gate-activation quantSigm4",
            "quantSigm4, (x + 2) / 4 between 0 and 1, is not supported",
        ),
    ] {
        place.fails(&format!("import x --out a {flags}"), 2, &[part]);
    }
    place.fails("export run --to c89 --out a", 2, &["torch, edgeml"]);
    place.fails("export run --to torch", 2, &["--out"]);
    place.fails("import x --out a", 2, &["--from"]);
}
