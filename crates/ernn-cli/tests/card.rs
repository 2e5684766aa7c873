//! The card of a model, with the real binary: what it says is what the report says.

mod support;

use serde_json::Value;
use support::{Place, easy_csv};

const TINY: &str = "--hidden 6 --rank 2 --epochs 3";

fn card(place: &Place, folder: &str) -> String {
    let text = place.text(&format!("{folder}/model-card.md"));
    assert!(!text.contains("NaN"), "{text}");
    text
}

fn holds(card: &str, parts: &[&str]) {
    for part in parts {
        assert!(card.contains(part), "no `{part}` in\n{card}");
    }
}

#[test]
fn a_card_says_what_the_report_says() {
    let place = Place::new();
    place.ok(&format!("train japanese-vowels {TINY} --seed 4 --out run"));
    let report: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    let card = card(&place, "run");
    let percent = |value: &Value, digits| format!("{:.digits$} %", 100.0 * value.as_f64().unwrap());
    holds(
        &card,
        &[
            "# Model card: japanese-vowels\n",
            "Task: the class of a sequence",
            "Cell: ernn, 1 layer of 6 hidden units\n",
            &format!(
                "{} parameters, {:.1} KB",
                report["parameters"],
                report["size_kb"].as_f64().unwrap()
            ),
            "Answers: one of 9 classes (1, 2, 3, 4, 5, 6, 7, 8, 9)",
            &format!(
                "Test part, read once after training (370 sequences): accuracy {}",
                percent(&report["accuracy"], 2)
            ),
            &format!("balanced accuracy {}", percent(&report["balanced_accuracy"], 1)),
            &format!("loss {:.4}", report["loss"].as_f64().unwrap()),
            &format!(
                "Validation part, which chose the epoch (54 sequences): accuracy {}",
                percent(&report["validation_accuracy"], 2)
            ),
            &format!(
                "after epoch {} of 3 epochs, the best on the validation part",
                report["best_epoch"]
            ),
            "| trained on | 216 |",
            "| validation | 54 |",
            "| test | 370 | 7 to 29 |",
            "| 1 | 24 | 6 | 31 |",
            "20 % of the training part, drawn by seed 4",
            "; 95 % interval ",
            "trained on sequences of 7 to 26 steps",
            "ernn predict RUN new.csv",
            &format!("Made by ernn {}", env!("CARGO_PKG_VERSION")),
        ],
    );
    for class in report["per_class"].as_array().unwrap() {
        let line = format!("| {} | {} |", class["name"].as_str().unwrap(), class["support"]);
        assert!(card.lines().any(|found| found.starts_with(&line)), "{line}");
    }
}

#[test]
fn equal_runs_have_equal_cards() {
    let place = Place::new();
    let train = format!("train japanese-vowels {TINY}");
    place.ok(&format!("{train} --threads 1 --out one"));
    place.ok(&format!("{train} --threads 2 --out two"));
    assert_eq!(card(&place, "one"), card(&place, "two"));
    // A run that was cut short says so until it has come to its end.
    let long = "train japanese-vowels --hidden 6 --rank 2 --epochs 60";
    place.ok(&format!("{long} --out whole"));
    let stopped = place
        .start_until(&format!("{long} --out stopped -v"), "epoch 2/")
        .interrupt();
    assert_eq!(stopped.code, Some(130), "{}", stopped.stderr);
    holds(
        &card(&place, "stopped"),
        &["The run was cut short", "| test, not read | 370 | | |", "flatter"],
    );
    place.ok("train --resume stopped");
    assert_eq!(card(&place, "stopped"), card(&place, "whole"));
}

#[test]
fn few_sequences_groups_and_numbers_are_among_the_limits() {
    let place = Place::new();
    let grouped = |series: usize| {
        let text = easy_csv(series).replace("series,step", "series,person,step");
        let person = |line: &str| match line.strip_prefix('s') {
            Some(rest) if rest.starts_with(|letter: char| letter.is_ascii_digit()) => {
                let (number, rest) = rest.split_once(',').unwrap();
                format!("s{number},p{},{rest}\n", number.parse::<usize>().unwrap() % 5)
            }
            _ => format!("{line}\n"),
        };
        text.lines().map(person).collect::<String>()
    };
    place.write("d/train.csv", grouped(30).replace("up", "u|p"));
    place.write("d/test.csv", grouped(10).replace("up", "u|p"));
    place.ok(&format!(
        "train d --group-column person --validation 0.2 {TINY} --out run"
    ));
    holds(
        &card(&place, "run"),
        &[
            "Classes with fewer than 20 sequences to learn from: down (",
            "u\\|p (",
            "It was trained on 4 groups; the test part has 5 groups, 4 of them among these",
            "whole groups drawn",
            "It names one of its classes for every sequence",
        ],
    );

    let number = easy_csv(40)
        .replace("label", "speed")
        .replace("up", "1.5")
        .replace("down", "-2");
    place.write("numbers.csv", number);
    place.ok(&format!(
        "train numbers.csv --target speed --validation 0.25 {TINY} --out numbers"
    ));
    let report: Value = serde_json::from_str(&place.text("numbers/result.json")).unwrap();
    let mae = ernn::evaluate::figures(report["numbers"]["mean_absolute_error"].as_f64().unwrap());
    holds(
        &card(&place, "numbers"),
        &[
            "Answers: the number `speed`, in the unit of the data",
            "It was trained on numbers from -2 to 1.5",
            "Validation part (10 sequences): RMSE ",
            &format!("MAE {mae}"),
            "There was no test part",
        ],
    );

    place.write("t.txt", "the cat sat on the mat\n".repeat(40));
    place.ok("train t.txt --epochs 1 --hidden 4 --out text");
    holds(
        &card(&place, "text"),
        &[
            "| trained on | 224 |",
            "Task: the next token of a text",
            "perplexity",
            "--generate 200",
            "vocabulary of 7",
        ],
    );
}

#[test]
fn folds_and_ensembles_have_cards() {
    let place = Place::new();
    let train = format!("train japanese-vowels {TINY}");
    place.ok(&format!("{train} --folds 3 --no-final --out alone"));
    let alone = card(&place, "alone");
    holds(
        &alone,
        &[
            "each fold has its own",
            "3 folds, each judged by a model that had not seen it (270 sequences in all)",
            "ernn predict RUN/folds/1",
        ],
    );
    assert!(!alone.contains("flatter"), "{alone}");
    holds(
        &card(&place, "alone/folds/2"),
        &["Test part, read once after training (90 sequences)"],
    );
    place.ok(&format!("{train} --folds 3 --out run"));
    holds(
        &card(&place, "run"),
        &[
            "3 folds, each judged",
            "each sequence counted for itself",
            "Test part, read once after training (370 sequences)",
        ],
    );
    place.ok(&format!("{train} --ensemble 2 --seed 7 --out several"));
    let several = card(&place, "several");
    holds(
        &several,
        &[
            "an ensemble of 2 whose answers are averaged",
            "seeds: 7, 8",
            "| trained on | 270 |",
        ],
    );
    holds(&card(&place, "several/member-2"), &["seed 8"]);
    place.ok("train japanese-vowels --auto --trials 2 --max-steps 20 --hidden 4 --out found");
    holds(&card(&place, "found"), &["The settings are the best of 2 trials"]);
}
