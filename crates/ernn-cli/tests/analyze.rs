//! `ernn analyze` through the real binary: numbers, pictures and a page, on built-in data.

mod support;

use serde_json::Value;
use support::Place;
use support::browser::{DESK, PHONE, chromium, layout, screenshot};

const LITTLE: &str = "--epochs 2 --hidden 6 --threads 1";

fn trained(flags: &str) -> Place {
    let place = Place::new();
    place.ok(&format!("train japanese-vowels {LITTLE} {flags} --out run"));
    place
}

/// A page that needs nothing else, and drawings that are drawings.
fn check_files(place: &Place, folder: &str, page: &str, drawings: &[&str], charts: usize) {
    let html = place.text(&format!("{folder}/{page}"));
    for outside in ["http://", "https://", "<script", "<link", "@import", "url(", "<img"] {
        let found = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(outside), "{outside}");
    }
    for drawing in drawings {
        let svg = place.text(&format!("{folder}/{drawing}.svg"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{drawing}");
        assert!(
            svg.contains("<polyline") || svg.contains("<rect class=\"bar\"") || svg.contains("none found"),
            "{drawing}"
        );
        assert!(!svg.contains("NaN"), "{drawing}");
    }
    assert_eq!(html.matches("role=\"img\"").count(), charts);
}

fn number(value: &Value, path: &str) -> f64 {
    value
        .pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no number at {path}"))
}

#[test]
fn an_ernn_is_measured_from_gradients_to_iterations() {
    let place = trained("--rank 2 --iterations 3");
    let done = place.ok("analyze run japanese-vowels --samples 4 --accuracy-samples 40 --out out");
    for part in [
        "validation part of japanese-vowels: 4 sequences",
        "gradients",
        "the theorem's condition held",
        "(as trained)",
        "analysis.html",
    ] {
        assert!(done.stdout.contains(part), "no `{part}` in {}", done.stdout);
    }
    // What little it has learned has few equilibria, and so no accuracy at them.
    let skipped: Vec<&str> = done.stdout.lines().filter(|line| line.starts_with("skipped")).collect();
    assert!(
        skipped
            .iter()
            .all(|line| line.starts_with("skipped: iterations at the equilibrium: only ")),
        "{skipped:?}"
    );
    let drawings = [
        "layer-1-gradients",
        "layer-1-spectrum",
        "layer-1-residuals",
        "layer-1-equilibria",
        "layer-1-steps",
        "iterations",
    ];
    check_files(&place, "out", "analysis.html", &drawings, 9);
    let found: Value = serde_json::from_str(&place.text("out/analysis.json")).unwrap();
    assert_eq!(found["part"], "validation");
    // Near +I, whatever little it has learned: 2 M - I.
    assert!(number(&found, "/layers/0/gradients/norms/0/from_identity/high") < 0.5);
    assert!(number(&found, "/layers/0/gradients/norms/0/from_alternating/low") > 1.0);
    assert_eq!(number(&found, "/layers/0/steps/by_iteration/2/iteration"), 3.0);
    assert_eq!(number(&found, "/layers/0/residuals/iterations"), 3.0);
    assert_eq!(
        found["layers"][0]["residuals"]["after"].as_array().unwrap().len(),
        3 + 50 + 1
    );
    let tried: Vec<f64> = found["iterations"]["tried"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tried| number(tried, "/iterations"))
        .collect();
    assert_eq!(tried, [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0]);
}

#[test]
fn the_accuracy_as_trained_is_that_of_evaluate() {
    let place = trained("--rank 2 --iterations 2");
    let measured = place.json("evaluate run japanese-vowels --part validation");
    let found = place.json("analyze run japanese-vowels --samples 1");
    let own = found["iterations"]["tried"]
        .as_array()
        .unwrap()
        .iter()
        .find(|tried| tried["iterations"] == 2)
        .unwrap();
    assert_eq!(
        (own["repeated"].as_f64(), own["finer"].as_f64()),
        (measured["accuracy"].as_f64(), measured["accuracy"].as_f64())
    );
    assert!(place.path("analysis/analysis.html").exists(), "the default folder");
}

#[test]
fn sections_that_make_no_sense_are_named() {
    let place = trained("--cell lstm --layers 2 --bidirectional");
    let done = place.ok("analyze run japanese-vowels --samples 2 --part test");
    for part in [
        "test part",
        "Layer 2: lstm, 6 units",
        "skipped: layer 1, spectrum: a step of this cell, lstm, is no Euler step",
        "skipped: layer 2, residuals",
        "skipped: layer 1, steps: this cell, lstm, learns no step sizes",
        "skipped: the second direction",
        "skipped: iterations: no cell of the model has an inner iteration",
    ] {
        assert!(done.stdout.contains(part), "no `{part}` in {}", done.stdout);
    }
    check_files(
        &place,
        "analysis",
        "analysis.html",
        &["layer-1-gradients", "layer-2-gradients"],
        4,
    );
    assert!(place.text("analysis/analysis.html").contains("Not measured"));
    let found: Value = serde_json::from_str(&place.text("analysis/analysis.json")).unwrap();
    assert_eq!(number(&found, "/layers/1/gradients/state"), 12.0);
}

#[test]
fn a_contracted_model_at_equilibrium_turns_the_gradient_around_exactly() {
    let place = trained("--rank 2 --solver newton --contract 0.9");
    let found = place.json("analyze run japanese-vowels --samples 4 --out out");
    let norms = found["layers"][0]["gradients"]["norms"].as_array().unwrap();
    assert!(norms.len() > 10);
    for at in norms {
        assert!(number(at, "/from_alternating/high") < 1e-10, "{at}");
    }
    // A contraction: one equilibrium at every step, which draws its surroundings in.
    assert_eq!(number(&found, "/layers/0/equilibria/found"), 1.0);
    assert_eq!(number(&found, "/layers/0/spectrum/all_below_zero"), 1.0);
    let skipped: Vec<&str> = found["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| entry["section"].as_str())
        .collect();
    assert_eq!(skipped, ["residuals", "steps", "iterations"]);
}

#[test]
fn the_same_seed_gives_the_same_files_and_another_one_others() {
    let place = trained("--cell rnn");
    let read = |folder: &str, seed: u64| {
        place.ok(&format!(
            "analyze run japanese-vowels --samples 2 --seed {seed} --out {folder}"
        ));
        place.text(&format!("{folder}/layer-1-gradients.svg"))
    };
    let first = read("a", 1);
    assert_eq!(first, read("b", 1));
    assert_eq!(first, read("a", 1), "an older analysis is replaced");
    assert_ne!(first, read("c", 2));
}

#[test]
fn wrong_inputs_are_refused_with_what_was_expected() {
    let place = trained("--cell rnn");
    place.write("mine/analysis.json", "{}");
    place.write("other.csv", support::easy_csv(6));
    for (arguments, code, part) in [
        ("analyze run", 2, "<DATA>"),
        ("analyze", 2, "<MODEL>"),
        ("analyze nowhere japanese-vowels", 1, "nowhere"),
        ("analyze run nothing", 1, "nothing"),
        ("analyze run other.csv", 1, "is not among the known labels"),
        ("analyze run japanese-vowels --samples 0", 2, "--samples: found 0"),
        (
            "analyze run japanese-vowels --accuracy-samples 0",
            2,
            "--accuracy-samples: found 0",
        ),
        (
            "analyze run japanese-vowels --part nothing",
            2,
            "possible values: test, validation, train",
        ),
        (
            "analyze run japanese-vowels --out mine",
            2,
            "--out: found mine, which holds other things",
        ),
        ("analyze phase --steps 0", 2, "steps: found 0"),
        ("analyze phase --eta 2", 2, "eta: found 2"),
        ("analyze phase --variance=-1", 2, "variance"),
        ("analyze phase --out mine", 2, "--out: found mine"),
    ] {
        place.fails(arguments, code, &[part]);
    }
    assert!(
        !place.path("analysis").exists(),
        "nothing is written before all is well"
    );
    assert_eq!(place.text("mine/analysis.json"), "{}");
}

#[test]
fn the_phase_space_of_six_cells_is_drawn() {
    let place = Place::new();
    let done = place.ok("analyze phase --steps 60");
    assert_eq!(done.stdout, "phase/phase.json\nphase/phase.svg\nphase/phase.html\n");
    check_files(&place, "phase", "phase.html", &["phase"], 6);
    let svg = place.text("phase/phase.svg");
    assert!(svg.contains(">the last state</text>"));
    for name in ["RNN", "FastRNN", "ERNN, K = 1", "ERNN, K = 5", "ERNN at equilibrium"] {
        assert!(svg.contains(&format!(">{name}</text>")), "no panel {name}");
    }
    let found = place.json("analyze phase --steps 60");
    assert_eq!(found["paths"].as_array().unwrap().len(), 6);
    assert_eq!(found["paths"][5]["states"].as_array().unwrap().len(), 60);
}

#[test]
fn a_browser_shows_the_pages_on_phone_and_desk_in_light_and_dark() {
    let Some(browser) = chromium() else {
        return;
    };
    let place = trained("--rank 2 --iterations 3");
    place.ok("analyze run japanese-vowels --samples 2 --accuracy-samples 20 --out out");
    place.ok("analyze phase --steps 60 --out phase");
    for page in ["out/analysis.html", "phase/phase.html"] {
        for size in [PHONE, DESK] {
            let [light, dark] = [false, true].map(|dark| screenshot(&browser, &place, size, dark, page));
            for picture in [&light, &dark] {
                assert!(picture.ink() > 0.01 && picture.colors() > 30, "{page}: blank");
            }
            assert_eq!((light.paper(), dark.paper()), ([255, 255, 255], [13, 17, 23]));
            let found = layout(&browser, &place, size, page, "");
            found.check(page);
            assert!(size == PHONE || found.cut_boxes == 0.0, "{page}: {found:?}");
        }
    }
}
