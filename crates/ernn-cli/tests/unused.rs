//! A flag that cannot apply is refused: nobody is to believe that it did something.

mod support;

use support::{Place, case, easy_csv};

#[test]
fn flags_of_reading_that_do_not_go_with_the_data() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.write("story.txt", "a b c d e f g h\n".repeat(40));
    place.write("texts.csv", "text,label\ngood,1\nbad,0\n".repeat(10));
    for (arguments, flag, why) in [
        (
            "train.csv --length 5",
            "--length",
            "train.csv, a table of numbers; it is for adding and copy-memory",
        ),
        ("train.csv --features 3", "--features", "arrays of two dimensions"),
        ("train.csv --tokens words", "--tokens", "a running text"),
        ("train.csv --vocabulary 5", "--vocabulary", "text"),
        ("train.csv --words 5", "--words", "--text-column"),
        ("train.csv --invalid-text replace", "--invalid-text", "text"),
        ("train.csv --data-seed 2", "--data-seed", "known sets that are drawn"),
        ("train.csv --noise fixed", "--noise", "noisy"),
        ("train.csv --split segments", "--split", "dsa-19"),
        ("train.csv --sequences 5", "--sequences", "adding and copy-memory"),
        ("train.csv --group-pattern {group}", "--group-pattern", "recordings"),
        ("digits --length 5", "--length", "digits, a known data set"),
        ("digits --data-seed 2", "--data-seed", "drawn"),
        ("digits --text-column text", "--text-column", "texts of your own"),
        ("digits --ignore a", "--ignore", "tables of your own"),
        ("digits --labels classes", "--labels", "data of your own"),
        ("story.txt --window 5", "--window", "recordings of your own"),
        ("story.txt --missing zero", "--missing", "story.txt, a running text"),
        ("story.txt --words 5", "--words", "--text-column"),
        (
            "texts.csv --text-column text --tokens words",
            "--tokens",
            "texts.csv, texts with classes",
        ),
    ] {
        for command in ["train", "data info"] {
            place.fails(
                &format!("{command} {arguments}"),
                2,
                &[&format!("{flag} does not go with"), why],
            );
        }
    }
    place.ok("data info adding-30 --sequences 20 --data-seed 3");
    place.ok("data info story.txt --tokens characters --vocabulary 9");
    place.ok("data info texts.csv --text-column text --words 5");
    if let Some(path) = case("labels_from_one.npy") {
        let path = path.display();
        place.ok(&format!("data info {path} --features 3"));
        place.fails(
            &format!("data info {path} --features 3 --length 3"),
            2,
            &["--length", "arrays of numbers"],
        );
    }
}

#[test]
fn flags_of_network_and_training_that_do_not_go_with_the_data() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.write("data/train.csv", easy_csv(40));
    place.write("data/val.csv", easy_csv(20));
    place.write("story.txt", "a b c d e f g h\n".repeat(40));
    for (arguments, flag) in [
        ("train.csv --embedding 5", "--embedding"),
        ("train.csv --embedding-dropout 0.5", "--embedding-dropout"),
        ("train.csv --tied", "--tied"),
        ("train.csv --layer-dropout 0.5", "--layer-dropout"),
        ("train.csv --tolerance 0.1", "--tolerance"),
        ("train.csv --max-iterations 5", "--max-iterations"),
        ("train.csv --gradient one-step", "--gradient"),
        ("train.csv --solver newton --iterations 3", "--iterations"),
        ("train.csv --solver newton --eta 0.1", "--eta"),
        ("data --validation 0.3", "--validation"),
        ("story.txt --pooling mean", "--pooling"),
        ("story.txt --class-weights balanced", "--class-weights"),
        ("story.txt --input-noise 0.1", "--input-noise"),
        ("story.txt --input-rotation 0.1", "--input-rotation"),
        ("story.txt --input-crop 0.1", "--input-crop"),
        ("story.txt --input-shift 0.1", "--input-shift"),
        ("story.txt --input-warp 0.1", "--input-warp"),
        ("story.txt --input-mask-steps 0.1", "--input-mask-steps"),
        ("story.txt --input-mask-channels 0.1", "--input-mask-channels"),
    ] {
        let done = place.fails(
            &format!("train {arguments} --out run"),
            2,
            &[&format!("{flag} does not go with")],
        );
        assert!(!place.path("run").exists(), "{}", done.stderr);
        place.fails(
            &format!("train {arguments} --show"),
            2,
            &[&format!("{flag} does not go with")],
        );
    }
    place.fails(
        "train train.csv --cell lstm --iterations 3",
        2,
        &["iterations", "no such setting for the cell lstm"],
    );
    place.fails("compare train.csv --draw 3", 2, &["--draw: found 3"]);
    place.fails("compare train.csv --embedding 3", 2, &["--embedding does not go with"]);
    place.ok("train train.csv --layers 2 --layer-dropout 0.5 --epochs 1 --hidden 4 --rank 2");
}

#[test]
fn flags_of_prediction_that_do_not_go_with_the_model() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok("train train.csv --epochs 1 --hidden 4 --rank 2 --out run");
    for flag in [
        "--features 3",
        "--text-column text",
        "--words 3",
        "--invalid-text replace",
    ] {
        let name = flag.split(' ').next().unwrap();
        place.fails(
            &format!("predict run train.csv {flag}"),
            2,
            &[&format!("{name} does not go with train.csv")],
        );
    }
    place.fails("export run --to onnx --out m.onnx --missing zero", 2, &["--calibrate"]);
    place.fails(
        "evaluate run train.csv --length 4",
        2,
        &["--length does not go with train.csv"],
    );
    place.ok("predict run train.csv --missing zero");
}

/// What is shown can be trained: `--show` refuses what training refuses, with the same words.
#[test]
fn show_refuses_what_training_refuses() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.write("story.txt", "a b c d e f g h\n".repeat(40));
    for arguments in [
        "train.csv --folds 100",
        "train.csv --folds groups",
        "train.csv --ensemble 1",
        "train.csv --ensemble 2 --seed 9223372036854775807",
        "train.csv --teacher nowhere",
        "train.csv --magnitudes --triads a,b,c",
        "train.csv --input-rotation 1",
        "train.csv --threads 0",
        "train.csv --from nowhere",
        "train.csv --auto --trials 0",
        "train.csv --auto --budget-kb 0.001",
        "story.txt --folds 3",
        "story.txt --tied --embedding 3 --hidden 8",
    ] {
        let trained = place.run(&format!("train {arguments}"));
        assert!(matches!(trained.code, Some(1 | 2)), "{arguments}: {}", trained.stderr);
        let shown = place.run(&format!("train {arguments} --show"));
        assert_eq!(
            shown.code, trained.code,
            "{arguments}: {}{}",
            shown.stdout, shown.stderr
        );
        assert_eq!(shown.stdout, "", "{arguments}");
        let error = |text: &str| text.lines().rfind(|line| line.starts_with("error: ")).map(String::from);
        assert_eq!(error(&shown.stderr), error(&trained.stderr), "{arguments}");
        assert!(error(&shown.stderr).is_some(), "{arguments}: {}", shown.stderr);
    }
}
