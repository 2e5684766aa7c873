//! `ernn predict` on new data, with the real binary.

mod support;

use ernn::checkpoint::SavedModel;
use ernn::model::Model;
use support::{Done, Place, easy_csv, finish, wav};

/// A model of two channels and two classes in `run`.
fn trained(flags: &str) -> Place {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok(&format!("train train.csv --epochs 2 --hidden 6 {flags} --out run"));
    place
}

/// What a command makes of these bytes on its stdin.
fn fed(place: &Place, arguments: &str, input: &str) -> Done {
    place.piped(arguments, input.as_bytes())
}

/// Of a stream that must be refused: the message.
fn refused(place: &Place, arguments: &str, input: &str, part: &str) -> Done {
    let done = fed(place, arguments, input);
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains(part), "no `{part}` in {}", done.stderr);
    done
}

/// The model with all parameters so large that its outputs are infinite.
fn overflow(place: &Place) {
    let mut saved = SavedModel::load(&place.path("run")).unwrap();
    let parameters = vec![3e38; saved.model.parameters().len()];
    saved.model = Model::from_parameters(saved.model.config().clone(), parameters).unwrap();
    saved.save(&place.path("large.safetensors")).unwrap();
}

#[test]
fn what_is_no_number_is_refused_with_its_sequence_or_step() {
    let place = trained("--cell rnn");
    overflow(&place);
    let output = "found an output of";
    let sequence = format!("sequence s0 of 3 steps: {output}");
    let done = place.fails(
        "predict large.safetensors train.csv",
        1,
        &[&sequence, "expected finite numbers"],
    );
    let lines: Vec<&str> = done.stdout.lines().skip(1).collect();
    assert!(
        lines.len() == 40 && lines.iter().all(|line| line.ends_with(",,,")),
        "{}",
        done.stdout
    );
    let sequence = format!("steps: {output}");
    place.fails("evaluate large.safetensors train.csv", 1, &[&sequence]);
    let step = format!("standard input, line 2: step 1: {output}");
    let done = refused(&place, "predict large.safetensors --stream", "\n1,1\n1,1\n", &step);
    assert_eq!(done.stdout, "step,class,p_down,p_up\n");
}

/// The lines after the header.
fn rows(done: &Done) -> Vec<&str> {
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    done.stdout.lines().skip(1).collect()
}

#[test]
fn a_stream_fills_what_is_missing_without_looking_ahead() {
    let place = trained("--cell rnn");
    let said = |flags: &str, lines: &str| fed(&place, &format!("predict run --stream {flags}"), lines);
    let (zero, previous) = (
        said("--missing zero", ",2\n"),
        said("--missing previous", "1,2\n?,NaN\n"),
    );
    assert_eq!(rows(&zero), rows(&said("", "0,2\n")));
    assert_eq!(rows(&previous), rows(&said("", "1,2\n1,2\n")));
    let place = trained("--cell rnn --missing previous");
    let inherited = fed(&place, "predict run --stream", "1,2\n,3\n");
    assert_eq!(
        rows(&inherited),
        rows(&fed(&place, "predict run --stream", "1,2\n1,3\n"))
    );
    refused(
        &place,
        "predict run --stream",
        "1,2\n\n,3\n",
        "line 3: value 1: found a missing value (``), expected one before it",
    );
    place.fails(
        "predict run --stream --missing interpolate",
        2,
        &["needs the next value", "previous or zero"],
    );
    let place = trained("--cell rnn --missing interpolate");
    refused(
        &place,
        "predict run --stream",
        "1,2\n,3\n",
        "line 2: value 1: found a missing value (``), expected a number: the model's way",
    );
}

#[test]
fn a_blank_is_a_character_and_a_word_outside_the_vocabulary_is_unknown() {
    let place = Place::new();
    place.write("train.txt", "a b a b a b\nb a b a b a\n".repeat(30));
    let train = "train train.txt --epochs 1 --hidden 4";
    place.ok(&format!("{train} --tokens characters --out characters"));
    let said = fed(&place, "predict characters --stream", "a\n \nb\n\na\n");
    let steps: Vec<&str> = rows(&said).iter().map(|row| row.split(',').next().unwrap()).collect();
    assert_eq!(steps, ["1", "2", "3", "1"]);
    place.ok(&format!("{train} --vocabulary 3 --out words"));
    for (model, other) in [("words", "zebra\n"), ("characters", "z\n")] {
        let command = format!("predict {model} --stream");
        let [outside, unknown] = [other, "<unk>\n"].map(|line| fed(&place, &command, line));
        assert_eq!(rows(&outside), rows(&unknown), "{model}");
    }
}

/// A place with a model of reviews in `run`.
fn reviews() -> Place {
    let place = Place::new();
    let mut table = String::from("text,label\n");
    for number in 0..40 {
        let (word, label) = if number % 2 == 0 {
            ("good", "glad")
        } else {
            ("bad", "sad")
        };
        table += &format!("\"{word}, {word} food {number}\",{label}\n");
    }
    place.write("reviews.csv", table);
    place.ok("train reviews.csv --text-column text --epochs 60 --learning-rate 0.02 --hidden 8 --embedding 8 --words 3 --out run");
    place
}

#[test]
fn texts_are_read_with_the_words_of_the_model_and_need_no_labels() {
    let place = reviews();
    let texts = [
        "GOOD, good soup",
        "bad bad",
        "",
        "good good good bad bad bad bad bad bad",
    ];
    place.write("new.txt", texts.join("\n") + "\n");
    place.write(
        "new.csv",
        format!(
            "id,text\n1,\"{}\"\n2,{}\n3,{}\n4,{}\n",
            texts[0], texts[1], texts[2], texts[3]
        ),
    );
    place.write("new.tsv", format!("body\n{}\n", texts[..2].join("\n")));
    place.write(
        "new.jsonl",
        texts.map(|text| format!("{{\"text\":\"{text}\"}}\n")).concat(),
    );
    let said = place.ok("predict run new.txt");
    let all = rows(&said);
    let classes: Vec<&str> = all.iter().map(|row| row.split(',').nth(1).unwrap()).collect();
    assert_eq!(
        (classes[0], classes[1], classes[3], all.len()),
        ("glad", "sad", "glad", 4)
    );
    assert_eq!(said.stdout, place.ok("predict run new.csv").stdout);
    assert_eq!(said.stdout, place.ok("predict run new.jsonl").stdout);
    assert_eq!(said.stdout, fed(&place, "predict run -", &place.text("new.txt")).stdout);
    assert_eq!(rows(&place.ok("predict run new.tsv --text-column body")), all[..2]);
    let labelled = place.ok("predict run reviews.csv");
    assert_eq!(rows(&labelled).iter().filter(|row| row.contains(",glad,")).count(), 20);
    place.fails(
        "predict run new.tsv",
        1,
        &["new.tsv, line 1: found the columns body, expected one named \"text\""],
    );
    place.fails("predict run new.wav", 1, &["new.wav"]);
}

/// A tone as a WAVE file: one channel, 16 bits, 16,000 samples a second.
fn tone(hertz: f64, samples: u32) -> Vec<u8> {
    let value = |sample| (f64::from(sample) * hertz * std::f64::consts::TAU / 16_000.0).sin() * 9_000.0;
    wav(
        16_000,
        &(0..samples).map(|sample| value(sample) as i16).collect::<Vec<_>>(),
    )
}

#[test]
fn recordings_are_heard_as_in_training() {
    let place = Place::new();
    for (folder, count) in [("words", 12), ("new", 5)] {
        for number in 0..count {
            let samples = 1_600 + 160 * number;
            place.write(
                &format!("{folder}/low/{number}.wav"),
                tone(300.0 + f64::from(number), samples),
            );
            place.write(
                &format!("{folder}/high/{number}.wav"),
                tone(3_000.0 + f64::from(number), samples),
            );
        }
    }
    let run = |arguments: &str| {
        let mut command = place.command(arguments);
        let done = finish(command.env("XDG_CACHE_HOME", place.path("cache")).output().unwrap());
        assert_eq!(done.code, Some(0), "ernn {arguments}\n{}", done.stderr);
        done
    };
    run("train words --cell rnn --epochs 2 --hidden 4 --out run");
    let said = run("predict run new");
    let count = |class: &str, called: &str| {
        let row = |row: &&&str| row.starts_with(&format!("new/{class}/")) && row.contains(&format!(".wav,{called},"));
        rows(&said).iter().filter(row).count() as u64
    };
    let found: serde_json::Value = serde_json::from_str(&run("evaluate run new --json").stdout).unwrap();
    let classes = ["high", "low"];
    let counted = classes.map(|class| classes.map(|called| count(class, called)));
    assert_eq!(found["confusion"], serde_json::json!(counted));
    assert_eq!(counted.iter().flatten().sum::<u64>(), 10);
    let alone = run("predict run new/low/3.wav");
    assert!(rows(&said).contains(&rows(&alone)[0]), "{}", alone.stdout);
    place.write("none/readme", "");
    place.fails(
        "predict run none",
        1,
        &["none: found no recording, expected at least one .wav"],
    );
    place.write("train.csv", easy_csv(40));
    place.ok("train train.csv --epochs 1 --hidden 4 --out numbers");
    place.fails(
        "predict numbers new",
        1,
        &["new: found a recording or a folder, expected a file of sequences with 2 values a step"],
    );
}

#[test]
fn a_regression_model_gives_numbers() {
    let place = Place::new();
    place.ok("train adding --length 10 --sequences 60 --epochs 1 --hidden 4 --out run");
    place.write("new.csv", "series,step,value,mark\na,0,0.5,1\na,1,0.25,1\nb,0,0.5,0\n");
    let said = place.ok("predict run new.csv");
    assert!(said.stdout.starts_with("sequence,value\na,"), "{}", said.stdout);
    let stream = fed(&place, "predict run --stream", "0.5,1\n0.25,1\n\n0.5,0\n");
    let last = |row: &str| row.rsplit(',').next().unwrap().to_string();
    let (whole, steps) = (rows(&said), rows(&stream));
    assert_eq!(
        whole.iter().map(|row| last(row)).collect::<Vec<_>>(),
        [last(steps[1]), last(steps[2])]
    );
    let json = place.ok("predict run new.csv --format json").stdout;
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    let value = first["value"].as_f64().map(|value| value as f32);
    assert_eq!(
        (first["sequence"].as_str(), value),
        (Some("a"), last(whole[0]).parse().ok())
    );
}

#[test]
fn no_flag_is_listed_that_can_do_nothing() {
    let place = Place::new();
    let help = place.ok("predict --help").stdout;
    for flag in [
        "--length",
        "--split",
        "--noise",
        "--sequences",
        "--data-seed",
        "--data-dir",
        "--vocabulary",
    ] {
        assert!(!help.contains(flag), "{flag} in {help}");
    }
    for flag in ["--missing", "--text-column", "--words", "--features"] {
        assert!(help.contains(flag), "no {flag} in {help}");
    }
    place.fails("predict run --stream --words 3", 2, &["cannot be used with"]);
}

#[test]
fn what_is_not_sure_is_unknown() {
    let place = Place::new();
    place.write("train.csv", easy_csv(200));
    place.ok("train train.csv --epochs 2 --hidden 6 --validation 0.3 --unknown 0.5 --out run");
    let least = place.json("inspect run")["decision"]["unknown_below"].as_f64().unwrap();
    let done = place.ok("predict run train.csv --digits 9");
    let mut unknown = 0;
    for row in rows(&done) {
        let cells: Vec<&str> = row.split(',').collect();
        let best = cells[2..]
            .iter()
            .map(|cell| cell.parse::<f64>().unwrap())
            .fold(0.0, f64::max);
        assert!(
            (cells[1] == "unknown") == (best < least) || (best - least).abs() < 1e-8,
            "{row}, {least}"
        );
        unknown += usize::from(cells[1] == "unknown");
    }
    assert!(unknown > 20, "{unknown}");
    let metrics = place.json("evaluate run train.csv --part train");
    assert!(metrics["unknown"]["examples"].as_u64().unwrap() > 20, "{metrics}");
    place.fails(
        "train train.csv --unknown 0.1 --validation 0 --out no",
        2,
        &["--unknown: found no sequences to learn it from", "--folds 5"],
    );
    place.write("unknown.csv", easy_csv(200).replace("up", "unknown"));
    place.fails(
        "train unknown.csv --unknown 0.1 --out no",
        2,
        &["--unknown", "a class is called"],
    );
    assert!(!place.path("no").exists());
    place.fails("train train.csv --unknown 0.1 --ensemble 2 --out no", 2, &["--unknown"]);
    place.fails(
        "train train.csv --unknown 1.5 --out no",
        2,
        &["unknown", "1.5", "a share"],
    );
}
