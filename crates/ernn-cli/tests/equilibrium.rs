//! The exact ERNN through the real binary: solvers, what is said about them, and the numbers that they leave.

mod support;

use serde_json::Value;
use support::Place;

const TINY: &str = "train japanese-vowels --epochs 3 --hidden 12 --rank 3 --threads 1 --json";

fn trained(place: &Place, flags: &str, out: &str) -> (Value, String) {
    let done = place.ok(&format!("{TINY} {flags} --out {out}"));
    (serde_json::from_str(&done.stdout).unwrap(), done.stderr)
}

#[test]
fn every_solver_finds_the_same_equilibria() {
    let place = Place::new();
    let losses: Vec<f64> = ["fixed-point", "anderson", "newton"]
        .iter()
        .map(|solver| {
            let (report, notes) = trained(&place, &format!("--solver {solver} --contract 0.8"), solver);
            let found = &report["equilibria"];
            assert_eq!(found["not_found"], 0, "{solver}");
            assert_eq!(found["steps"], 5687, "each step of the test part");
            assert!(found["largest_residual"].as_f64().unwrap() < 1e-4);
            assert!(notes.contains("turns the sign of all before it"), "{notes}");
            assert!(!notes.contains("nothing bounds"), "{notes}");
            report["loss"].as_f64().unwrap()
        })
        .collect();
    assert!(
        (losses[0] - losses[2]).abs() < 1e-3 && (losses[1] - losses[2]).abs() < 1e-3,
        "{losses:?}"
    );
}

#[test]
fn steps_without_an_equilibrium_are_counted_and_said() {
    let place = Place::new();
    let done = place.ok(&format!("{} --solver newton --out run", TINY.replace(" --json", "")));
    assert!(
        done.stderr.contains("warning: nothing bounds the norm of P U"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("of the equilibria not found"), "{}", done.stderr);
    assert!(done.stdout.contains("not found, "), "{}", done.stdout);
    let metrics = place.text("run/metrics.jsonl");
    let epoch: Value = serde_json::from_str(metrics.lines().next().unwrap()).unwrap();
    assert!(epoch["equilibria"]["not_found"].as_u64().unwrap() > 0, "{epoch}");
    let inspected = place.ok("inspect run").stdout;
    assert!(
        inspected.contains("solver newton") && inspected.contains("nothing bounds"),
        "{inspected}"
    );
    assert!(!inspected.contains("layers.0.eta"), "no step sizes: {inspected}");
}

#[test]
fn an_exact_model_predicts_what_it_was_measured_by_and_resumes_to_the_same_bits() {
    let place = Place::new();
    let flags = "--solver newton --contract 0.9 --sign minus";
    let (report, notes) = trained(&place, flags, "whole");
    assert!(notes.contains("order of the inputs does not matter"), "{notes}");
    let evaluated: Value = serde_json::from_str(&place.ok("evaluate whole japanese-vowels --json").stdout).unwrap();
    assert_eq!(evaluated["loss"], report["loss"]);
    assert_eq!(evaluated["equilibria"], report["equilibria"]);
    place.ok(&format!("{TINY} {flags} --out cut").replace("--epochs 3", "--epochs 1"));
    place.ok("train --resume cut --epochs 3 --threads 2");
    assert_eq!(
        place.read("whole/model.safetensors").len(),
        place.read("cut/model.safetensors").len()
    );
    let line = |name: &str| -> Vec<Value> {
        let lines = place.text(name);
        let mut lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.iter_mut().for_each(|line| line["seconds"] = Value::Null);
        lines
    };
    assert_eq!(line("whole/metrics.jsonl"), line("cut/metrics.jsonl"));
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let place = Place::new();
    for (flags, said) in [
        ("--solver broyden", "solver: "),
        (
            "--solver newton --gradient unrolled",
            "gradient: found unrolled, expected implicit or one-step",
        ),
        ("--solver newton --gamma 0", "gamma: found 0, expected a number above 0"),
        (
            "--contract 1",
            "contract: found 1, expected 0 (off), or a number above 0 and below 1",
        ),
        ("--solver newton --max-iterations 0", "max_iterations: found 0"),
        ("--solver newton --tolerance=-1", "tolerance: found -1"),
        (
            "--cell lstm --solver newton",
            "solver: found newton, expected no such setting for the cell lstm",
        ),
    ] {
        let done = place.run(&format!("{TINY} {flags} --out run"));
        assert_ne!(done.code, Some(0), "{flags}");
        assert!(done.stderr.contains(said), "{flags}: {}", done.stderr);
        assert!(!place.path("run").exists(), "{flags}");
    }
}
