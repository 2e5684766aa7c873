//! Every way to be refused: exit code and message of the real binary.
//!
//! 2: arguments or settings; 1: a file, the data or the training.

mod support;

use std::fs;

use support::{Place, easy_csv};

/// A folder with a small data set, `train.csv`.
fn place() -> Place {
    let place = Place::new();
    place.write("train.csv", easy_csv(60));
    place
}

/// The same with a trained model in `run`.
fn trained() -> Place {
    let place = place();
    place.ok("train train.csv --epochs 2 --hidden 8 --rank 2 --out run");
    place
}

#[test]
fn arguments_that_do_not_parse() {
    let place = place();
    for (arguments, part) in [
        ("", "Usage"),
        ("trian", "unrecognized subcommand"),
        ("train train.csv --hiden 3", "--hidden"),
        (
            "train train.csv --hidden many",
            "--hidden: found many, expected a whole number, 0 or more",
        ),
        (
            "train train.csv --epochs -3",
            "--epochs: found -3, expected a whole number, 0 or more",
        ),
        (
            "train train.csv --epochs 1.5",
            "--epochs: found 1.5, expected a whole number",
        ),
        (
            "predict run x.csv --digits 40",
            "--digits: found 40, expected a whole number from 1 to 17",
        ),
        (
            "compare train.csv --seeds two",
            "--seeds: found two, expected a whole number",
        ),
        ("train train.csv --eta small", "--eta: found small, expected a number"),
        ("train train.csv --seed x", "--seed: found x, expected a whole number"),
        (
            "train train.csv --sparsity much",
            "--sparsity: found much, expected a number",
        ),
        (
            "train train.csv --missing drop",
            "expected one of `refuse`, `interpolate`, `previous`, `zero`",
        ),
        ("train train.csv --class-weights some", "expected `none` or `balanced`"),
        (
            "train train.csv --pooling max",
            "expected one of `last`, `mean`, `mean-max`, `mean-max-last`, `mean-std-max`",
        ),
        ("train train.csv --out a --resume b", "cannot be used with"),
        ("predict run x.csv --format xml", "csv, json"),
        ("evaluate run x --part half", "test, validation, train"),
        ("data", "Usage"),
    ] {
        place.fails(arguments, 2, &[part]);
    }
}

#[test]
fn settings_out_of_range() {
    let place = place();
    for (flags, parts) in [
        ("--hidden 0", ["hidden", "found 0"]),
        ("--rank 0", ["rank", "found 0"]),
        ("--rank 65", ["rank", "65"]),
        ("--rank some", ["rank", "found some"]),
        ("--iterations 0", ["iterations", "found 0"]),
        ("--activation step", ["activation", "found step"]),
        ("--start here", ["start", "found here"]),
        ("--sign times", ["sign", "found times"]),
        ("--steps all", ["steps", "found all"]),
        ("--projection none", ["projection", "found none"]),
        ("--eta nan", ["eta: found NaN", "expected a number from 0 to 1000"]),
        ("--eta -0.1", ["eta: found -0.1", "expected a number from 0 to 1000"]),
        ("--eta 1e30", ["eta: found 1", "expected a number from 0 to 1000"]),
        (
            "--cell deep-transition --eta 1e4",
            ["eta: found 10000", "expected a number from 0 to 1000"],
        ),
        ("--gamma inf", ["gamma: found inf", "expected"]),
        (
            "--gamma 1e30",
            ["gamma: found 1", "expected a number from 0 to 1000000"],
        ),
        (
            "--cell antisymmetric --epsilon 1e30",
            ["epsilon: found 1", "above 0, at most 1000000"],
        ),
        (
            "--cell elman",
            ["cell: found elman", "expected ernn, rnn, fastrnn, fastgrnn"],
        ),
        (
            "--cell lstm --input-rank 0",
            ["input_rank: found 0", "full or a number from 1 to the hidden size"],
        ),
        (
            "--cell lstm --gate-activation tanh",
            ["gate_activation: found tanh", "expected"],
        ),
        ("--cell gru --reset never", ["reset: found never", "expected"]),
        (
            "--cell spectral --reflections 99",
            ["reflections: found 99", "expected 0 (a quarter of the hidden size)"],
        ),
        (
            "--cell spectral --radius 1",
            ["radius: found 1", "expected a number from 0 up to"],
        ),
        (
            "--cell deep-transition --widths 8,0",
            ["widths: found 0", "numbers from 1"],
        ),
        (
            "--cell ernn --reset after",
            ["reset: found after", "no such setting for the cell ernn"],
        ),
        (
            "--layer-dropout 1",
            ["layer_dropout: found 1", "expected a number from 0"],
        ),
        (
            "--bidirectional --tbptt 5",
            ["tbptt: found 5", "expected 0 for a bidirectional model"],
        ),
        ("--layers 0", ["layers: found 0", "expected 1 to 64"]),
        ("--dropout 1", ["dropout: found 1", "expected a number from 0"]),
        ("--epochs 0", ["epochs: found 0", "expected 1 to 100000000"]),
        (
            "--epochs 99999999999",
            ["epochs: found 99999999999", "expected 1 to 100000000"],
        ),
        ("--batch-size 0", ["batch_size: found 0", "expected 1 to 1048576"]),
        (
            "--batch-size 9999999999",
            ["batch_size: found 9999999999", "expected 1 to 1048576"],
        ),
        (
            "--min-steps 9999999999999",
            ["min_steps: found 9999999999999", "expected 0 (no floor) to 100000000"],
        ),
        (
            "--max-steps 9999999999999",
            ["max_steps: found 9999999999999", "expected 0 (no ceiling) to 100000000"],
        ),
        (
            "--learning-rate 0",
            ["learning_rate: found 0", "expected a number above 0"],
        ),
        (
            "--learning-rate 1e30",
            ["learning_rate: found 1", "above 0, at most 1000000"],
        ),
        (
            "--learning-rate nan",
            ["learning_rate: found NaN", "expected a number above 0"],
        ),
        ("--clip-norm=-1", ["clip_norm: found -1", "or 0 for no limit"]),
        (
            "--validation 1",
            ["validation: found 1", "expected a part of the training sequences"],
        ),
        (
            "--input-noise=-0.1",
            ["input_noise: found -0.1", "expected a standard deviation"],
        ),
        (
            "--input-noise 1e30",
            ["input_noise: found 1", "expected a standard deviation, 0 to 1000000"],
        ),
        ("--sparsity 1", ["sparsity: found 1", "expected a share of zeros"]),
        ("--sparsity=-0.5", ["sparsity: found -0.5", "expected a share of zeros"]),
        ("--sparsity nan", ["sparsity: found NaN", "expected a share of zeros"]),
        ("--weight-decay=-1", ["weight_decay: found -1", "expected 0 to 1000000"]),
        ("--threads 0", ["--threads: found 0", "expected 1 to 1024"]),
        (
            "--seed 18446744073709551615",
            ["--seed: found 18446744073709551615", "expected a smaller whole number"],
        ),
        (
            "--optimizer lion",
            ["optimizer: found lion", "expected adam, adamw or sgd"],
        ),
        (
            "--momentum 0.9",
            ["momentum: found 0.9", "a setting of the optimizer sgd alone"],
        ),
        (
            "--optimizer sgd --momentum 1",
            ["momentum: found 1", "expected a number from 0"],
        ),
        (
            "--schedule never",
            ["schedule: found never", "expected step, cosine or constant"],
        ),
        (
            "--schedule cosine --halve-every 3",
            ["halve_every: found 3", "does not go with the schedule cosine"],
        ),
        (
            "--cell rnn --iterations 3",
            ["iterations: found 3", "no such setting for the cell rnn"],
        ),
    ] {
        place.fails(&format!("train train.csv {flags} --out run"), 2, &parts);
        assert!(
            !place.path("run").exists(),
            "{flags}: no folder for a run that did not start"
        );
    }
    place.fails("train", 2, &["no DATA"]);
}

#[test]
fn settings_files() {
    let place = place();
    place.ok("train train.csv --epochs 1 --hidden 8 --rank 2 --out run");
    let good = place.text("run/config.toml");
    let change = |from: &str, to: &str| {
        assert!(good.contains(from), "no {from} in {good}");
        good.replacen(from, to, 1)
    };
    for (text, parts) in [
        ("a = = 1".to_string(), ["c.toml, line 1", "settings of a run in TOML"]),
        ("[training]\nepochs = 1".to_string(), ["c.toml", "no data.source"]),
        (change("epochs = 1", "epoch = 1"), ["unknown field `epoch`", "`epochs`"]),
        (
            change("epochs = 1", "epochs = 'one'"),
            ["invalid type", "training.epochs"],
        ),
        (
            change("sparsity = 0.0", "sparsity = 'none'"),
            ["invalid type", "training.sparsity"],
        ),
        (change("[training]", "[train]"), ["unknown field `train`", "`training`"]),
        (change("hidden = 8", "hiden = 8"), ["unknown field `hiden`", "c.toml"]),
        (
            change("kind = \"ernn\"", "kind = \"elman\""),
            ["unknown variant `elman`", "c.toml"],
        ),
        (
            change("kind = \"adam\"", "kind = \"lion\""),
            ["unknown variant `lion`", "`adam`"],
        ),
    ] {
        place.write("c.toml", text);
        place.fails("train --config c.toml --out new", 1, &parts);
    }
    place.write("c.toml", change("epochs = 1", "epochs = 0"));
    place.fails("train --config c.toml --out new", 2, &["epochs: found 0"]);
    place.fails("train --config none.toml", 1, &["none.toml: cannot read"]);
    // What a file leaves out has the default of the data set.
    place.write(
        "c.toml",
        "[data]\nsource = 'train.csv'\n[training]\nepochs = 1\n[[model.layers]]\nkind = 'rnn'\nhidden = 4\n",
    );
    let report = place.json("train --config c.toml --out new");
    assert_eq!(report["settings"]["model"]["layers"][0]["hidden"], 4);
    assert_eq!(report["cell"], "rnn");
}

#[test]
fn a_run_never_overwrites_another() {
    let place = trained();
    let before = place.read("run/model.safetensors");
    place.fails(
        "train train.csv --out run",
        2,
        &[
            "--out: found run, which is not empty",
            "`ernn train --resume run`",
            "remove the folder to begin anew",
        ],
    );
    assert!(before == place.read("run/model.safetensors"));
    place.fails(
        "train train.csv --out train.csv",
        2,
        &["--out: found train.csv, which is a file"],
    );
    fs::create_dir(place.path("empty")).unwrap();
    place.ok("train train.csv --epochs 1 --hidden 8 --rank 2 --out empty");
}

#[test]
fn runs_that_cannot_be_resumed() {
    let place = trained();
    place.fails("train --resume nowhere", 1, &["nowhere: found no config.toml"]);
    fs::create_dir(place.path("empty")).unwrap();
    place.fails("train --resume empty", 1, &["empty: found no config.toml"]);
    for (flags, named) in [
        ("--hidden 9", "--hidden"),
        ("--hidden 9 --batch-size 4 --epochs 3", "--batch-size, --hidden"),
        ("--folds 3", "--folds"),
        ("--auto", "--auto"),
        ("--missing zero", "--missing"),
        ("train.csv", "DATA"),
    ] {
        let expected =
            format!("--resume goes on with the settings of the run: found {named} beside it, expected --epochs");
        place.fails(&format!("train --resume run {flags}"), 2, &[&expected]);
    }
    place.fails(
        "train --resume run --epochs 1",
        2,
        &["epochs: found 1, expected at least the 2 of the run"],
    );

    let checkpoint = place.read("run/checkpoint.safetensors");
    place.write("run/checkpoint.safetensors", &checkpoint[..checkpoint.len() - 5]);
    place.fails(
        "train --resume run",
        1,
        &["run/checkpoint.safetensors: found", "whole and undamaged"],
    );
    place.write("run/checkpoint.safetensors", place.read("run/model.safetensors"));
    place.fails(
        "train --resume run",
        1,
        &["found an ernn-model file, expected an ernn-checkpoint file"],
    );
    place.write("run/checkpoint.safetensors", &checkpoint);

    place.write("train.csv", easy_csv(61));
    place.fails(
        "train --resume run --epochs 3",
        1,
        &["found other sequences or labels than when the run started"],
    );
    fs::remove_file(place.path("train.csv")).unwrap();
    place.fails("train --resume run --epochs 3", 1, &["train.csv"]);

    place.write("train.csv", easy_csv(60));
    place.ok("train train.csv --epochs 2 --schedule cosine --hidden 8 --rank 2 --out cosine");
    place.fails(
        "train --resume cosine --epochs 3",
        2,
        &["a cosine schedule ends with the run"],
    );
    place.ok("train train.csv --epochs 2 --sparsity 0.5 --hidden 8 --rank 2 --out sparse");
    place.fails(
        "train --resume sparse --epochs 3",
        2,
        &["epochs: found 3, expected 2: the thirds of a run with sparsity end with it"],
    );
    place.ok("train --resume sparse --epochs 2");
}

#[test]
fn data_that_is_not_there_or_of_no_use() {
    let place = trained();
    for verb in ["train", "data info", "evaluate run"] {
        place.fails(&format!("{verb} nowhere.csv"), 1, &["nowhere.csv", "`ernn data list`"]);
        place.fails(
            &format!("{verb} har-2"),
            1,
            &["har-2", "--data-dir", "ERNN_DATA_DIR", "https://"],
        );
    }
    place.fails("predict run nowhere.csv", 1, &["nowhere.csv: cannot read"]);
    place.fails(
        "predict run digits",
        2,
        &["digits: found the name of a known data set, expected a file"],
    );
    place.write("sheet.xlsx", "x");
    place.fails("train sheet.xlsx", 1, &["sheet.xlsx", ".csv"]);
    place.write("one.csv", "series,x,label\na,1,up\nb,2,up\n");
    place.fails("train one.csv", 1, &["one.csv", "found 1 class (up)"]);
    place.write("unlabelled.csv", "series,step,x,y\na,0,1,2\n");
    place.fails("train unlabelled.csv", 1, &["unlabelled.csv", "without labels"]);
    place.fails("evaluate run unlabelled.csv", 1, &["0 labels for 1 sequences"]);
    place.ok("predict run unlabelled.csv");
    place.write("wide.csv", "series,step,x,label\na,0,1,up\n");
    place.fails(
        "evaluate run wide.csv",
        1,
        &["found 1 values a step, expected 2 (x, y)"],
    );
    place.fails("predict run wide.csv", 1, &["found 1 values a step, expected 2 (x, y)"]);
    place.write("new.csv", "series,step,x,y,label\na,0,1,2,up\nb,0,1,2,left\n");
    place.fails("evaluate run new.csv", 1, &["left", "down, up"]);
    place.fails("evaluate run train.csv --part test", 1, &["found no test part"]);
    place.fails("evaluate run one.csv --part validation", 1, &["one.csv"]);
}

#[test]
fn models_that_cannot_be_used() {
    let place = trained();
    let model = place.read("run/model.safetensors");
    let last = model.len() - 1;
    let mut flipped = model.clone();
    flipped[last] ^= 1;
    place.write("cut.safetensors", &model[..last]);
    place.write("flipped.safetensors", &flipped);
    place.write("text.safetensors", "this is no model");
    place.write("empty.safetensors", "");
    let newer = String::from_utf8_lossy(&model).contains("\"version\":\"1\"");
    assert!(newer);
    let at = model
        .windows(13)
        .position(|window| window == b"\"version\":\"1\"")
        .unwrap();
    let mut newer = model.clone();
    newer[at + 11] = b'7';
    place.write("newer.safetensors", &newer);
    for verb in ["inspect FILE", "evaluate FILE train.csv", "predict FILE train.csv"] {
        for (file, part) in [
            (
                "nowhere",
                "nowhere: no run folder or model file of this name; there are ",
            ),
            ("cut.safetensors", "expected an ernn-model file, whole and undamaged"),
            ("flipped.safetensors", "a checksum that does not fit the content"),
            ("text.safetensors", "expected an ernn-model file"),
            ("empty.safetensors", "found 0 bytes"),
            ("newer.safetensors", "found ernn-model version 7, expected version 1"),
            (
                "run/checkpoint.safetensors",
                "found an ernn-checkpoint file, expected an ernn-model file",
            ),
        ] {
            place.fails(&verb.replace("FILE", file), 1, &[part, file]);
        }
    }
    fs::create_dir(place.path("empty")).unwrap();
    place.fails(
        "inspect empty",
        1,
        &[
            "empty: a folder without model.safetensors, expected a run folder or a model file; there are ",
            "run",
        ],
    );
}

#[test]
fn training_that_diverges_says_where() {
    let place = place();
    let flags = "--epochs 200 --hidden 8 --rank 2 --learning-rate 1e6 --clip-norm 0 --validation 0 --optimizer sgd";
    let done = place.fails(
        &format!("train train.csv {flags} --out run --json"),
        1,
        &["epoch ", ", batch ", "is not finite", "--learning-rate"],
    );
    assert_eq!(done.stdout, "");
    // No epoch came to its end.
    assert!(!done.stderr.contains("hint:"), "{}", done.stderr);
    let report: serde_json::Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    assert_eq!(report["ending"], "diverged");
    assert_eq!(report["cut_short"], true);
    assert!(report["error"].as_str().unwrap().contains("is not finite"));
    assert!(place.path("run/checkpoint.safetensors").is_file());
    place.ok("predict run train.csv");
}

/// No step was taken, so smaller steps are no remedy, and no epoch is kept.
#[test]
fn a_first_batch_that_diverges_says_what_can_help() {
    let place = place();
    let done = place.fails(
        "train train.csv --hidden 8 --rank 2 --iterations 100 --eta 1000 --out run",
        1,
        &["epoch 1, batch 1: ", "--activation tanh", "--eta", "--cell"],
    );
    for wrong in ["--learning-rate", "hint:"] {
        assert!(!done.stderr.contains(wrong), "{}", done.stderr);
    }
    // Nothing of worth is there: the same folder takes another run, and keeps nothing of the first.
    place.ok("train train.csv --hidden 8 --rank 2 --epochs 1 --out run");
    let report: serde_json::Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    assert_eq!(report["ending"], "finished");
    place.fails(
        "train train.csv --hidden 8 --rank 2 --epochs 1 --out run",
        2,
        &["which is not empty"],
    );
    // What somebody has put beside a failed start stays.
    place.fails(
        "train train.csv --hidden 8 --rank 2 --iterations 100 --eta 1000 --out other",
        1,
        &[],
    );
    place.write("other/notes.txt", "mine");
    place.fails("train train.csv --epochs 1 --out other", 2, &["which is not empty"]);
}
