//! What training changes about sequences, with the real binary.

mod support;

use std::fmt::Write as _;

use support::Place;

const ALL: &str = "--input-rotation 0.3 --input-crop 0.2 --input-shift 0.1 --input-warp 0.2 --input-mask-steps 0.2 --input-mask-channels 0.4";

/// A long table of sequences of unequal length with a triad and one channel more.
fn motion(count: usize) -> String {
    let mut text = String::from("series,label,ax,ay,az,heat\n");
    for series in 0..count {
        for step in 0..15 + series % 4 {
            let place = (step * (1 + series % 2)) as f64 * 0.4 + series as f64;
            let _ = writeln!(
                text,
                "s{series},c{},{:.4},{:.4},{:.4},{step}",
                series % 2,
                place.sin(),
                place.cos(),
                0.5 * (2.0 * place).sin()
            );
        }
    }
    text
}

fn place() -> Place {
    let place = Place::new();
    place.write("motion.csv", motion(40));
    place
}

#[test]
fn draws_are_the_same_for_any_number_of_threads_and_after_a_stop() {
    let place = place();
    let small = format!("train motion.csv --hidden 6 --rank 2 --batch-size 8 {ALL}");
    place.ok(&format!("{small} --epochs 6 --threads 1 --out one"));
    place.ok(&format!("{small} --epochs 6 --threads 3 --out three"));
    let model = |folder: &str| place.read(&format!("{folder}/model.safetensors"));
    assert!(model("one") == model("three"));
    place.ok(&format!("{small} --epochs 3 --out resumed"));
    place.ok("train --resume resumed --epochs 6");
    // The schedule of three epochs is that of the first three of six.
    assert!(model("one") == model("resumed"));
    place.ok("train --config one/config.toml --out again");
    assert!(model("one") == model("again"));
}

#[test]
fn each_changes_the_training_and_none_the_evaluation() {
    let place = place();
    let small = "train motion.csv --hidden 6 --rank 2 --epochs 2 --input-noise 0";
    place.ok(&format!("{small} --out plain"));
    let plain = place.read("plain/model.safetensors");
    let flags: Vec<&str> = ALL.split(" --").map(|flag| flag.trim_start_matches("--")).collect();
    for (number, flag) in flags.iter().enumerate() {
        place.ok(&format!("{small} --{flag} --out run{number}"));
        assert!(place.read(&format!("run{number}/model.safetensors")) != plain, "{flag}");
    }
    let predicted = |_| place.ok("predict run0 motion.csv").stdout;
    assert_eq!(predicted(0), predicted(1));
}

#[test]
fn a_rotation_that_turns_test_sequences_is_learned_to_be_ignored() {
    let place = Place::new();
    // The class is how fast a vector turns, whichever way the sensor sits; the training part has one way.
    let rows = |count: usize, turned: bool| {
        let mut text = String::from("series,label,ax,ay,az\n");
        for series in 0..count {
            let (class, pace) = if series % 2 == 0 { ("slow", 0.3) } else { ("fast", 0.6) };
            for step in 0..24 {
                let angle = pace * step as f64 + series as f64;
                let (x, y) = (angle.sin(), angle.cos());
                let (x, y, z) = if turned { (0.0, x, y) } else { (x, y, 0.0) };
                let _ = writeln!(text, "s{series},{class},{x:.4},{y:.4},{z:.4}");
            }
        }
        text
    };
    place.write("data/train.csv", rows(40, false));
    place.write("data/test.csv", rows(40, true));
    let accuracy = |flags: &str| {
        let report = place.json(&format!("train data --hidden 16 --rank 4 --min-steps 400 {flags}"));
        report["accuracy"].as_f64().unwrap()
    };
    let turned = accuracy("--input-rotation 2");
    assert!(turned > 0.9, "{turned}");
}

#[test]
fn what_cannot_be_changed_is_refused() {
    let place = place();
    place.write("two.csv", motion(20).replace("ax,ay,az,heat", "a,b,c,heat"));
    for (arguments, parts) in [
        (
            "two.csv --input-rotation 0.1",
            ["input_rotation: found 0.1 for the channels a, b, c, heat", "--triads"],
        ),
        (
            "motion.csv --input-rotation -1",
            ["input_rotation: found -1", "0 to 10"],
        ),
        ("motion.csv --input-crop 1", ["input_crop: found 1", "not including, 1"]),
        (
            "motion.csv --input-mask-steps 2",
            ["input_mask_steps: found 2", "not including, 1"],
        ),
    ] {
        place.fails(&format!("train {arguments} --epochs 1 --out run"), 2, &parts);
    }
    place.ok("train two.csv --input-rotation 0.1 --triads a,b,c --epochs 1 --hidden 4 --rank 2 --out run");
}
