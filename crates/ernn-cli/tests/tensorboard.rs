//! `ernn train --tensorboard`, with the real binary.

mod support;

use serde_json::Value;
use support::Place;

const EVENTS: &str = "events.out.tfevents.ernn";
const RUN: &str = "train japanese-vowels --hidden 6 --rank 2";

/// The scalars of an event file: step, tag, value.
fn scalars(place: &Place, folder: &str) -> Vec<(u64, String, f32)> {
    let bytes = place.read(&format!("{folder}/{EVENTS}"));
    let (mut rest, mut found) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
        let (step, summary) = event(&rest[12..12 + length]);
        found.extend(summary.into_iter().map(|(tag, value)| (step, tag, value)));
        rest = &rest[16 + length..];
    }
    found
}

/// Step and scalars of an event, whose messages here are short enough for one byte of length or two.
fn event(bytes: &[u8]) -> (u64, Vec<(String, f32)>) {
    let (mut step, mut scalars, mut rest) = (0, Vec::new(), bytes);
    while let Some((&key, after)) = rest.split_first() {
        rest = after;
        match key {
            0x09 => rest = &rest[8..],
            0x10 => step = varint(&mut rest),
            0x1a => assert_eq!(take(&mut rest), b"brain.Event:2"),
            0x2a => {
                let mut summary = take(&mut rest);
                while let Some((0x0a, after)) = summary.split_first() {
                    summary = after;
                    let scalar = take(&mut summary);
                    let mut inner = &scalar[1..];
                    let tag = take(&mut inner).to_vec();
                    assert_eq!((scalar[0], inner[0]), (0x0a, 0x15));
                    scalars.push((
                        String::from_utf8(tag).unwrap(),
                        f32::from_le_bytes(inner[1..5].try_into().unwrap()),
                    ));
                }
            }
            key => panic!("{key}"),
        }
    }
    (step, scalars)
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
    let number = bytes[..=end]
        .iter()
        .rev()
        .fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f));
    *bytes = &bytes[end + 1..];
    number
}

fn take<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let length = varint(bytes) as usize;
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

#[test]
fn events_say_what_the_metrics_say() {
    let place = Place::new();
    place.ok(&format!("{RUN} --epochs 3 --tensorboard --out run"));
    let mut expected = Vec::new();
    for line in place.text("run/metrics.jsonl").lines() {
        let epoch: Value = serde_json::from_str(line).unwrap();
        for (tag, name) in [
            ("loss/train", "train_loss"),
            ("loss/validation", "validation_loss"),
            ("accuracy/validation", "validation_accuracy"),
            ("accuracy/train", "train_accuracy"),
            ("balanced_accuracy/validation", "validation_balanced_accuracy"),
            ("learning_rate", "learning_rate"),
            ("gradient_norm", "gradient_norm"),
        ] {
            expected.push((
                epoch["epoch"].as_u64().unwrap(),
                tag.to_string(),
                epoch[name].as_f64().unwrap() as f32,
            ));
        }
    }
    assert_eq!(expected.len(), 21);
    assert_eq!(scalars(&place, "run"), expected);
    // Nothing is written unasked, and the model is the same.
    place.ok(&format!("{RUN} --epochs 3 --out plain"));
    assert!(!place.path(&format!("plain/{EVENTS}")).exists());
    assert!(place.read("run/model.safetensors") == place.read("plain/model.safetensors"));
    place.fails(
        "train --resume run --tensorboard",
        2,
        &["found --tensorboard beside it"],
    );
}

#[test]
fn a_run_that_was_killed_goes_on_without_epochs_twice() {
    let place = Place::new();
    let long = format!("{RUN} --epochs 40 --tensorboard");
    place.ok(&format!("{long} --out whole"));
    place.start_until(&format!("{long} --out killed -v"), "epoch 5/").kill();
    place.ok("train --resume killed");
    assert_eq!(scalars(&place, "killed"), scalars(&place, "whole"));
    place.ok("train --resume killed --epochs 42");
    let last = scalars(&place, "killed").last().map(|(step, ..)| *step);
    assert_eq!(last, Some(42));
}

#[test]
fn passes_folds_and_members_are_told_apart() {
    let place = Place::new();
    place.ok(&format!("{RUN} --epochs 2 --retrain --tensorboard --out twice"));
    let tags: Vec<(u64, String)> = scalars(&place, "twice")
        .into_iter()
        .map(|(step, tag, _)| (step, tag))
        .collect();
    for tag in ["loss/train", "retrain/loss/train"] {
        let steps: Vec<u64> = tags
            .iter()
            .filter(|(_, found)| found == tag)
            .map(|(step, _)| *step)
            .collect();
        assert_eq!(steps, [1, 2], "{tag}");
    }
    place.ok(&format!(
        "{RUN} --epochs 2 --folds 3 --no-final --tensorboard --out folds"
    ));
    place.ok(&format!("{RUN} --epochs 2 --ensemble 2 --tensorboard --out several"));
    for folder in ["folds/folds/1", "folds/folds/3", "several/member-2"] {
        assert!(!scalars(&place, folder).is_empty(), "{folder}");
    }
    place.write("t.txt", "the cat sat on the mat\n".repeat(40));
    place.ok("train t.txt --epochs 2 --hidden 4 --tensorboard --out text");
    assert!(
        scalars(&place, "text")
            .iter()
            .any(|(_, tag, _)| tag == "perplexity/validation")
    );
}
