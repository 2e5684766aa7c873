//! Whole runs of the real binary: the same bits, whatever happens on the way.

mod support;

use serde_json::Value;
use support::Place;

/// Small enough to be quick, with everything that draws random numbers switched on.
const SMALL: &str = "train japanese-vowels --hidden 16 --rank 4 --input-noise 0.3 --dropout 0.1 --batch-size 32";

fn model(place: &Place, folder: &str) -> Vec<u8> {
    place.read(&format!("{folder}/model.safetensors"))
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    let place = Place::new();
    for threads in 1..=3 {
        place.ok(&format!("{SMALL} --epochs 3 --threads {threads} --out t{threads}"));
    }
    place.ok(&format!("{SMALL} --epochs 3 --threads 2 --out again"));
    place.ok(&format!("{SMALL} --epochs 3 --seed 2 --out other"));
    assert!(model(&place, "t1") == model(&place, "t2"));
    assert!(model(&place, "t1") == model(&place, "t3"));
    assert!(model(&place, "t2") == model(&place, "again"));
    assert!(model(&place, "t1") != model(&place, "other"));
}

#[test]
fn five_epochs_and_five_more_are_ten() {
    let place = Place::new();
    place.ok(&format!("{SMALL} --epochs 10 --out whole"));
    place.ok(&format!("{SMALL} --epochs 5 --out halves"));
    place.ok("train --resume halves --epochs 10 --threads 1");
    assert!(model(&place, "whole") == model(&place, "halves"));
    assert_eq!(without_times(&place, "whole"), without_times(&place, "halves"));
    assert_eq!(place.text("whole/config.toml"), place.text("halves/config.toml"));
}

#[test]
fn a_killed_run_goes_on_to_the_same_bits() {
    let place = Place::new();
    place.ok(&format!("{SMALL} --epochs 40 --out whole"));
    for epoch in [1, 4, 17] {
        let out = format!("killed-{epoch}");
        let run = place.start_until(
            &format!("{SMALL} --epochs 40 --out {out} -v"),
            &format!("epoch {epoch}/"),
        );
        run.kill();
        place.ok(&format!("train --resume {out}"));
        assert!(
            model(&place, "whole") == model(&place, &out),
            "killed in epoch {}",
            epoch + 1
        );
        assert_eq!(without_times(&place, "whole"), without_times(&place, &out));
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_says_how_to_go_on() {
    let place = Place::new();
    place.ok(&format!("{SMALL} --epochs 60 --out whole"));
    let done = place
        .start_until(&format!("{SMALL} --epochs 60 --out stopped --json -v"), "epoch 2/")
        .interrupt();
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    assert!(done.stderr.contains("ernn train --resume stopped"), "{}", done.stderr);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["cut_short"], true);
    assert_eq!(report["ending"], "interrupted");
    assert_eq!(
        report["part"], "validation",
        "the test part is for runs that came to their end"
    );
    let saved: Value = serde_json::from_str(&place.text("stopped/result.json")).unwrap();
    assert_eq!(saved, report);

    place.ok("train --resume stopped");
    assert!(model(&place, "whole") == model(&place, "stopped"));
    assert_eq!(without_times(&place, "whole"), without_times(&place, "stopped"));
    let saved: Value = serde_json::from_str(&place.text("stopped/result.json")).unwrap();
    assert_eq!(saved["cut_short"], false);
    assert_eq!(saved["part"], "test");
}

#[test]
fn the_settings_file_repeats_the_run() {
    let place = Place::new();
    let flags = "--epochs 3 --seed 5 --clip-norm 0.5 --class-weights balanced --validation 0.3 --optimizer adamw --schedule cosine";
    place.ok(&format!("{SMALL} {flags} --out first"));
    place.ok("train --config first/config.toml --out second");
    assert!(model(&place, "first") == model(&place, "second"));
    assert_eq!(place.text("first/config.toml"), place.text("second/config.toml"));
    place.ok("train --config first/config.toml --seed 6 --out third");
    assert!(model(&place, "first") != model(&place, "third"));
    assert!(place.text("third/config.toml").contains("seed = 6"));
}

#[test]
fn evaluate_repeats_the_numbers_of_the_run() {
    let place = Place::new();
    let report = place.json(&format!("{SMALL} --epochs 4 --out run"));
    let test = place.json("evaluate run japanese-vowels");
    assert_eq!(test["part"], "test");
    assert_eq!(test["examples"], 370);
    for number in [
        "accuracy",
        "balanced_accuracy",
        "loss",
        "examples",
        "per_class",
        "confusion",
    ] {
        assert_eq!(report[number], test[number], "{number}");
    }
    let validation = place.json("evaluate run/model.safetensors japanese-vowels --part validation");
    assert_eq!(validation["accuracy"], report["validation_accuracy"]);
    assert_eq!(validation["examples"], 54);
    let train = place.json("evaluate run japanese-vowels --part train");
    assert_eq!(train["examples"], 270 - 54);
}

#[test]
fn predict_agrees_with_evaluate() {
    let place = Place::new();
    place.write("train.csv", support::easy_csv(60));
    place.write("new.csv", support::easy_csv(20));
    place.ok("train train.csv --epochs 5 --hidden 8 --rank 2 --out run");
    let evaluation = place.json("evaluate run new.csv");
    assert_eq!(evaluation["part"], "all");
    let csv = place.ok("predict run new.csv --digits 17").stdout;
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("sequence,class,p_down,p_up"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 20);
    assert_eq!(rows[3][0], "s3");
    let right = rows
        .iter()
        .enumerate()
        .filter(|(index, row)| row[1] == ["up", "down"][index % 2])
        .count();
    assert_eq!(evaluation["accuracy"], right as f64 / 20.0);
    let sum: f64 = rows[0][2..].iter().map(|text| text.parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-12);

    let json = place.ok("predict run new.csv --format json --digits 17").stdout;
    for (line, row) in json.lines().zip(&rows) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["class"], row[1]);
        assert_eq!(line["probabilities"]["up"].to_string(), row[3]);
    }
}

#[test]
fn a_sequence_is_classified_alike_alone_and_in_a_batch() {
    let place = Place::new();
    place.write("train.csv", support::easy_csv(60));
    place.ok("train train.csv --epochs 3 --hidden 8 --rank 2 --out run");
    let together = place.ok("predict run train.csv").stdout;
    for series in [0, 1, 2, 3, 4, 31] {
        let header = "series,step,x,y,label\n".to_string();
        let own = format!("s{series},");
        let alone: String = support::easy_csv(60)
            .lines()
            .filter(|line| line.starts_with(&own))
            .collect::<Vec<_>>()
            .join("\n");
        place.write("alone.csv", header + &alone + "\n");
        let line = place
            .ok("predict run alone.csv")
            .stdout
            .lines()
            .nth(1)
            .unwrap()
            .to_string();
        assert!(together.lines().any(|other| other == line), "{line}");
    }
}

#[test]
fn predict_reads_standard_input() {
    let place = Place::new();
    place.write("train.csv", support::easy_csv(40));
    place.ok("train train.csv --epochs 2 --hidden 8 --rank 2 --out run");
    let file = place.ok("predict run train.csv").stdout;
    let mut command = place.command("predict run -");
    command.stdin(std::fs::File::open(place.path("train.csv")).unwrap());
    let done = support::finish(command.output().unwrap());
    assert_eq!((done.code, done.stdout), (Some(0), file));
}

#[test]
fn retraining_uses_everything_and_resumes() {
    let place = Place::new();
    let report = place.json(&format!("{SMALL} --epochs 12 --retrain --out whole"));
    assert_eq!(report["ending"], "finished");
    let epochs: Vec<Value> = place
        .text("whole/metrics.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(epochs.len(), 12 + 12);
    assert_eq!(epochs[12]["phase"], "retrain");
    place
        .start_until(
            &format!("{SMALL} --epochs 12 --retrain --out killed"),
            "retraining, epoch 1/",
        )
        .kill();
    place.ok("train --resume killed");
    assert!(model(&place, "whole") == model(&place, "killed"));
}

/// The second pass has seen all sequences: none of them can validate the model.
#[test]
fn what_was_retrained_on_is_not_called_validation() {
    let place = Place::new();
    place.write("train.csv", support::easy_csv(40));
    let flags = "train train.csv --epochs 2 --hidden 8 --rank 2";
    let said = place.ok(&format!("{flags} --retrain --out again")).stdout;
    assert!(
        said.matches("\nretrained: the model is the last epoch of the second pass")
            .count()
            == 1
            && said.matches("retrained").count() == 1,
        "{said}"
    );
    let measured = place.json("evaluate again train.csv");
    assert_eq!(
        (&measured["part"], &measured["examples"]),
        (&"train".into(), &40.into())
    );
    place.fails(
        "evaluate again train.csv --part validation",
        1,
        &["train.csv: found no validation part: --retrain", "--part train or test"],
    );
    let said = place.ok("inspect again").stdout;
    assert!(said.contains("in the first pass; retrained: the last epoch"), "{said}");
    let done = place.ok("export again --to rust --format int8 --calibrate train.csv --out device");
    assert!(
        done.stderr.contains("accuracy on the train part (40 sequences)"),
        "{}",
        done.stderr
    );

    let said = place.ok(&format!("{flags} --out once")).stdout;
    assert!(!said.contains("first pass"), "{said}");
    assert_eq!(place.json("evaluate once train.csv")["part"], "validation");
}

/// Another seed would split anew, and validate with sequences that were trained on.
#[test]
fn a_run_does_not_go_on_with_other_settings() {
    let place = Place::new();
    place.ok(&format!("{SMALL} --epochs 2 --out run"));
    let settings = place.text("run/config.toml");
    for (old, new, parts) in [
        (
            "\nseed = 1\n",
            "\nseed = 2\n",
            ["training.seed: found 2, expected 1,", "checkpoint"],
        ),
        (
            "activation = \"relu\"",
            "activation = \"tanh\"",
            ["activation: found tanh, expected relu,", "checkpoint"],
        ),
        (
            "validation = 0.2",
            "validation = 0.4",
            ["training.validation: found 0.4, expected 0.2,", "checkpoint"],
        ),
    ] {
        assert!(settings.contains(old), "{settings}");
        place.write("run/config.toml", settings.replace(old, new));
        place.fails("train --resume run --epochs 3", 2, &parts);
    }
    place.write("run/config.toml", settings.replace("patience = 0", "patience = 9"));
    place.ok("train --resume run --epochs 3");
    place.ok("train --resume run --epochs 4");
}

/// Nothing is lost of a run that has no checkpoint.
#[test]
fn a_folder_of_a_run_that_came_to_no_checkpoint_is_used_again() {
    let place = Place::new();
    place.write("run/config.toml", "");
    place.write("run/metrics.jsonl", "");
    place.fails(
        "train --resume run",
        1,
        &["checkpoint.safetensors", "begin anew with --out run"],
    );
    place.ok(&format!("{SMALL} --epochs 1 --out run"));
    place.fails(&format!("{SMALL} --epochs 1 --out run"), 2, &["not empty", "--resume"]);
}

/// A text without parts validates with its end, and its defaults learn.
#[test]
fn a_text_of_ones_own_is_learned() {
    let place = Place::new();
    place.write("mine.txt", "the cow eats grass and the fox eats the hen\n".repeat(300));
    let done = place.ok("train mine.txt --out run");
    assert!(
        done.stderr.contains("2,640 tokens to train on, 660 to validate"),
        "{}",
        done.stderr
    );
    let report: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    let perplexity = report["perplexity"].as_f64().unwrap();
    assert!(report["part"] == "validation" && perplexity < 5.0, "{perplexity}");
    let again = place.json("evaluate run mine.txt");
    assert_eq!(again["loss"], report["loss"]);
}

#[test]
fn patience_ends_a_run_early() {
    let place = Place::new();
    let report = place.json(&format!(
        "{SMALL} --epochs 500 --learning-rate 1e-9 --patience 2 --out run"
    ));
    assert_eq!(report["ending"], "early-stopped");
    assert_eq!(report["cut_short"], false);
    assert_eq!(report["part"], "test");
    let (epochs, best) = (
        report["epochs"].as_u64().unwrap(),
        report["best_epoch"].as_u64().unwrap(),
    );
    assert_eq!(epochs, best + 2);
}

/// Settings and weights of the run that it begins with; a model that was thinned keeps its zeros.
#[test]
fn a_run_goes_on_from_another_ones_weights() {
    let place = Place::new();
    place.ok("train japanese-vowels --hidden 12 --sparsity 0.5 --epochs 9 --retrain false --out first");
    let report = place.json("train --from first --quantize int8 --epochs 2 --learning-rate 0.0001 --out tuned");
    let training = &report["settings"]["training"];
    assert_eq!(
        (&training["quantize"], &training["epochs"]),
        (&"int8".into(), &2.into())
    );
    assert_eq!(training["from"], "first/model.safetensors");
    let [before, after] =
        ["first", "tuned"].map(|run| place.json(&format!("inspect {run}"))["nonzero_parameters"].clone());
    assert!(before.is_u64() && before == after, "{before} {after}");
    // Two short epochs at a small rate: near where it began, far from where another run would.
    let accuracy = |run: &str| {
        place.json(&format!("evaluate {run} japanese-vowels"))["accuracy"]
            .as_f64()
            .unwrap()
    };
    assert!((accuracy("first") - accuracy("tuned")).abs() < 0.1);
    // The model keeps its rounding: what is measured later is what the run said, to the last bit.
    assert!(place.ok("inspect tuned").stdout.contains("rounded to int8"));
    assert!(!place.ok("inspect first").stdout.contains("rounded to int8"));
    let loss = place.json("evaluate tuned japanese-vowels")["loss"].clone();
    assert!(loss.is_f64() && loss == report["loss"], "{loss} {}", report["loss"]);
    assert!(place.text("tuned/config.toml").contains("quantize = \"int8\""));
    place.fails(
        "train --from first --hidden 9 --out other",
        2,
        &[
            "from: found first/model.safetensors (ernn 12, ",
            "expected a model of the network that is trained (ernn 9, ",
        ],
    );
    place.fails("train japanese-vowels --from nothing --out other", 1, &["nothing"]);
    place.fails(
        "train --from first --quantize int4 --out other",
        2,
        &["quantize: found int4", "`int8`"],
    );
}

#[test]
fn sparsity_leaves_exactly_so_many_entries() {
    let place = Place::new();
    let flags = "train japanese-vowels --sparsity 0.75 --epochs 30 --retrain";
    let report = place.json(&format!("{flags} --out whole"));
    assert_eq!(report["settings"]["training"]["sparsity"], 0.75);
    assert!(report["best_epoch"].as_u64().unwrap() > 20);
    let accuracy = report["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.9, "{accuracy}");

    let inspected = place.json("inspect whole");
    let (mut parameters, mut nonzero) = (0, 0);
    for tensor in inspected["tensors"].as_array().unwrap() {
        let sizes = tensor["shape"].as_array().unwrap().iter();
        let entries: u64 = sizes.map(|size| size.as_u64().unwrap()).product();
        let name = tensor["name"].as_str().unwrap();
        let kept = match name {
            "layers.0.W" | "layers.0.V" | "layers.0.H" => entries.div_ceil(4),
            _ => entries,
        };
        assert_eq!(tensor["nonzero"], kept, "{name}");
        parameters += entries;
        nonzero += kept;
    }
    assert_eq!((parameters, nonzero), (2467, 2467 - 3 * 64 * (12 + 8 + 8) / 4));
    for found in [&report, &inspected] {
        assert_eq!(found["parameters"], parameters);
        assert_eq!(found["nonzero_parameters"], nonzero);
        assert_eq!(found["size_kb"], 4.0 * nonzero as f64 / 1024.0);
    }
    let text = place.ok("inspect whole").stdout;
    for part in ["2,467 parameters, 1,123 nonzero, 4.4 KB", "192 of 768 nonzero"] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }

    for (number, line) in [
        "epoch 5/",
        "epoch 15/",
        "epoch 25/",
        "retraining, epoch 15/",
        "retraining, epoch 25/",
    ]
    .iter()
    .enumerate()
    {
        let out = format!("killed-{number}");
        place.start_until(&format!("{flags} --out {out} -v"), line).kill();
        place.ok(&format!("train --resume {out}"));
        assert!(model(&place, "whole") == model(&place, &out), "killed after {line}");
        assert_eq!(without_times(&place, "whole"), without_times(&place, &out));
    }
}

/// The lines of `metrics.jsonl` without wall times.
fn without_times(place: &Place, folder: &str) -> Vec<Value> {
    let text = place.text(&format!("{folder}/metrics.jsonl"));
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .map(|mut line: Value| {
            line.as_object_mut().unwrap().remove("seconds");
            line
        })
        .collect()
}

/// Nobody who asks for a small network has asked for the default's rank.
#[test]
fn a_size_below_the_default_rank_has_a_dense_matrix() {
    let place = Place::new();
    let small = "train japanese-vowels --epochs 1 --hidden 6";
    let rank = |flags: &str, out: &str| {
        let report = place.json(&format!("{small} {flags} --out {out}"));
        report["settings"]["model"]["layers"][0]["rank"].clone()
    };
    assert_eq!(rank("", "full"), "full");
    assert_eq!(rank("--rank 3", "low"), 3);
    place.fails(&format!("{small} --rank 8 --out other"), 2, &["rank: found 8"]);
}

#[test]
fn a_small_set_takes_as_many_steps_as_asked() {
    let place = Place::new();
    let flags = "train japanese-vowels --hidden 8 --rank 2 --batch-size 300 --min-steps 300 --validation 0 --steps per-iteration --eta 0.3 \
                 --input-noise 0.6 --pooling mean";
    let done = place.ok(&format!("{flags} --out run"));
    assert!(
        done.stderr.contains("no validation part\n300 epochs"),
        "{}",
        done.stderr
    );
    assert!(
        done.stdout
            .contains("no validation part: the model is the last of 300 epochs"),
        "{}",
        done.stdout
    );
    let report: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    assert_eq!(
        (&report["optimizer_steps"], &report["validated"]),
        (&300.into(), &false.into())
    );
    assert_eq!(report["part"], "test");
    assert!(place.text("run/config.toml").contains("min_steps = 300"));
    assert_eq!(place.text("run/metrics.jsonl").lines().count(), 150);
    place.ok("train --config run/config.toml --out again");
    assert!(model(&place, "run") == model(&place, "again"));
    // Who names epochs gets so many.
    place.ok("train --config run/config.toml --epochs 4 --out short");
    assert_eq!(place.text("short/metrics.jsonl").lines().count(), 4);
    assert!(!place.text("short/config.toml").contains("min_steps"));
    place.fails(
        "train --resume run --epochs 301",
        2,
        &["a run whose length is a number of steps ends with it"],
    );
    place.fails(
        &format!("{flags} --max-steps 200"),
        2,
        &["min_steps: found 300, expected at most max_steps, 200"],
    );
}

/// The floor of data of one's own is a default: a ceiling that is named goes before it.
#[test]
fn a_ceiling_lowers_a_floor_that_nobody_named() {
    let place = Place::new();
    place.write("mine.csv", support::easy_csv(24));
    let small = "train mine.csv --hidden 4 --rank 2 --max-steps 20 --validation 0";
    let report = place.json(&format!("{small} --out run"));
    assert_eq!(report["optimizer_steps"], 20);
    let training = &report["settings"]["training"];
    assert_eq!(
        (&training["min_steps"], &training["max_steps"]),
        (&20.into(), &20.into())
    );
    // Nor did anyone name it in the settings of a run.
    let report = place.json("train --config run/config.toml --max-steps 10");
    assert_eq!(report["optimizer_steps"], 10);
    let shown = place.ok(&format!("{small} --show")).stdout;
    assert!(shown.contains("max_steps = 20"), "{shown}");
    let compared = "compare mine.csv --cells rnn,ernn --iterations 1 --hidden 4 --rank 2 --seeds 1 --validation 0.2";
    place.json(&format!("{compared} --max-steps 20 --out cmp"));
    place.json(&format!("{compared} --vary max-steps=10,20 --out vary"));
    place.fails(
        &format!("{small} --min-steps 300"),
        2,
        &["min_steps: found 300, expected at most max_steps, 20"],
    );
}
