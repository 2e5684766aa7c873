//! The experiments of the repository, and every way in which a file is refused.

use std::path::Path;

use super::super::ExperimentFiles;
use super::*;
use crate::compare::{Varied, Vary};
use ernn::data::{Dataset, Part};

const SHARED: &str = r#"title = "Vowels"
place = 1
metric = "accuracy"
seeds = 2
rows = ["ernn", "rnn"]

[data]
source = "japanese-vowels"

[model]
pooling = "last"
dropout = 0.0
layer_dropout = 0.0
bidirectional = false

[training]
epochs = 3
batch_size = 30
learning_rate = 0.01
clip_norm = 1.0
validation = 0.2
class_weights = "none"
input_noise = 0.3
input_offset = 0.0
average = 0.99
sparsity = 0.0
patience = 0
optimizer = { kind = "adam" }
schedule = { kind = "constant" }

[quick]
limit = 90
epochs = 1
"#;

const ERNN: &str = r#"title = "ERNN(K=1)"
[paper]
accuracy = 95.0
[[model.layers]]
kind = "ernn"
hidden = 64
rank = 8
"#;

const RNN: &str = r#"title = "RNN"
[[model.layers]]
kind = "rnn"
hidden = 64
[training]
learning_rate = 0.001
"#;

fn read_texts(shared: &str, ernn: &str, rnn: &str) -> Result<Experiment> {
    read(
        Path::new("experiments"),
        "vowels",
        shared,
        &[("ernn", ernn), ("rnn", rnn)],
    )
}

#[test]
fn a_row_stands_over_what_all_share() {
    let experiment = read_texts(SHARED, ERNN, RNN).unwrap();
    let [ernn, rnn] = &experiment.rows[..] else {
        panic!("two rows")
    };
    assert_eq!((ernn.settings.cell(), rnn.settings.cell()), ("ernn", "rnn"));
    assert_eq!(ernn.settings.training.learning_rate, 0.01);
    assert_eq!(rnn.settings.training.learning_rate, 0.001);
    assert_eq!((ernn.paper.accuracy, rnn.paper.accuracy), (Some(95.0), None));
    assert_eq!(experiment.source(), "japanese-vowels");
}

/// Each case: which file is changed, what in it, where the error is, and what it says.
#[test]
fn refuses_with_file_line_found_and_expected() {
    let cases = [
        (
            "shared",
            "seeds = 2",
            "seeds = 0",
            "experiment.toml, line 4: found no seed",
        ),
        (
            "shared",
            "metric = \"accuracy\"",
            "metric = \"f1\"",
            "experiment.toml, line 3: found unknown variant `f1`, expected one of `accuracy`",
        ),
        (
            "shared",
            "place = 1",
            "plaice = 1",
            "experiment.toml, line 2: found unknown field `plaice`, expected one of `title`",
        ),
        (
            "shared",
            "\"rnn\"]",
            "\"elman\"]",
            "experiment.toml, line 5: found a file rnn.toml that is not among them",
        ),
        (
            "shared",
            "\"rnn\"]",
            "\"rnn\", \"gru\"]",
            "experiment.toml, line 5: found \"gru\", expected a file gru.toml",
        ),
        (
            "shared",
            "epochs = 3",
            "epocs = 3",
            "experiment.toml, line 17: found unknown field `epocs`, expected one of `seed`",
        ),
        (
            "shared",
            "epochs = 3",
            "epochs = 3\nseed = 1",
            "experiment.toml, line 18: found training.seed, expected no such setting",
        ),
        ("shared", "epochs = 3\n", "", "ernn.toml: found missing field `epochs`"),
        (
            "shared",
            "validation = 0.2",
            "validation = 2",
            "experiment.toml, line 21: found validation = 2, expected a part",
        ),
        ("shared", "limit = 90", "limit = 0", "experiment.toml, line 32: found 0"),
        (
            "rnn",
            "hidden = 64",
            "hiden = 64",
            "rnn.toml, line 4: found unknown field `hiden`, expected one of `hidden`",
        ),
        (
            "rnn",
            "hidden = 64",
            "hidden = \"big\"",
            "rnn.toml, line 4: found invalid type: string \"big\", expected usize",
        ),
        ("rnn", "title = \"RNN\"", "title = RNN", "rnn.toml, line 1: found"),
        (
            "ernn",
            "accuracy = 95.0",
            "perplexity = 95.0",
            "ernn.toml, line 3: found perplexity, expected a figure of what the experiment is judged by",
        ),
        (
            "ernn",
            "accuracy = 95.0",
            "acuracy = 95.0",
            "ernn.toml, line 3: found unknown field `acuracy`, expected one of `accuracy`",
        ),
    ];
    for (file, from, to, message) in cases {
        let changed = |name: &str, text: &str| {
            if name != file {
                return text.to_string();
            }
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        };
        let (shared, ernn, rnn) = (changed("shared", SHARED), changed("ernn", ERNN), changed("rnn", RNN));
        let error = read_texts(&shared, &ernn, &rnn).unwrap_err().to_string();
        let expected = format!("experiments/vowels/{message}");
        assert!(error.starts_with(&expected), "{error}\n{expected}");
        assert!(error.contains(", expected "), "{error}");
    }
}

const SEARCH: &str = r#"
[search]
seeds = 2
vary = { gamma = [1.0, 2.0], rank = [4, 8], learning_rate = [0.01, 0.001] }
"#;

fn names(row: &Row) -> Vec<&str> {
    row.search.vary.iter().map(|vary| &vary.name[..]).collect()
}

#[test]
fn a_row_is_searched_for_by_what_its_cell_has() {
    let rnn = format!("{RNN}[search]\nvary = {{ learning_rate = [0.1], activation = [\"relu\", \"tanh\"] }}\n");
    let experiment = read_texts(&format!("{SHARED}{SEARCH}"), ERNN, &rnn).unwrap();
    let [ernn, rnn] = &experiment.rows[..] else {
        panic!("two rows")
    };
    assert_eq!((ernn.search.seeds, rnn.search.seeds), (2, 2));
    assert_eq!(names(ernn), ["gamma", "learning_rate", "rank"]);
    assert_eq!(names(rnn), ["activation", "learning_rate", "rank"]);
    assert_eq!(rnn.search.vary[1].values, [Value::Float(0.1)]);
    let without = read_texts(SHARED, ERNN, RNN).unwrap();
    assert!(without.rows.iter().all(|row| row.search.vary.is_empty()));
}

#[test]
fn a_search_that_cannot_be_is_refused_with_its_line() {
    let cases = [
        (
            "rank = [4, 8]",
            "color = [4, 8]",
            "experiment.toml, line 37: found color, expected a setting",
        ),
        (
            "rank = [4, 8]",
            "seed = [4, 8]",
            "experiment.toml, line 37: found seed, expected a setting",
        ),
        (
            "rank = [4, 8]",
            "rank = []",
            "experiment.toml, line 37: found rank = [], expected a list of values",
        ),
        (
            "rank = [4, 8]",
            "rank = 4",
            "experiment.toml, line 37: found rank = 4, expected a list of values",
        ),
        (
            "[0.01, 0.001]",
            "[0.01, -1.0]",
            "experiment.toml, line 37: found learning_rate = [0.01, -1.0], expected ",
        ),
        (
            "[0.01, 0.001]",
            "[0.01, \"fast\"]",
            "experiment.toml, line 37: found learning_rate = ",
        ),
        (
            "[4, 8]",
            "[4, 800]",
            "experiment.toml, line 37: found rank = [4, 800], expected ",
        ),
        (
            "[0.01, 0.001]",
            "[0.01, 1e-2]",
            "experiment.toml, line 37: found learning_rate = [0.01, 0.01], 0.01 twice, expected each value once",
        ),
        (
            "seeds = 2",
            "seeds = 0",
            "experiment.toml, line 36: found seeds = 0, expected at least one",
        ),
        (
            "seeds = 2",
            "speeds = 2",
            "experiment.toml, line 36: found unknown field `speeds`",
        ),
    ];
    for (from, to, message) in cases {
        let shared = format!("{SHARED}{}", SEARCH.replace(from, to));
        let error = read_texts(&shared, ERNN, RNN).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("experiments/vowels/{message}")),
            "{error}\n{message}"
        );
    }
    let rnn = format!("{RNN}[search]\nvary = {{ rank = [4, 8], gamma = [1.0] }}\n");
    let error = read_texts(SHARED, ERNN, &rnn).unwrap_err().to_string();
    assert!(
        error.starts_with("experiments/vowels/rnn.toml, line 8: found gamma = [1.0], expected "),
        "{error}"
    );
}

/// A row whose settings its own search has not seen was not chosen by it.
#[test]
fn rows_have_settings_that_their_search_tries() {
    for experiment in experiments() {
        for row in experiment.rows.iter().filter(|row| !row.search.vary.is_empty()) {
            let tried = |vary: &Vary| {
                let mut values = vary.values.iter();
                values.any(|value| {
                    let mut settings = row.settings.clone();
                    let varied = Varied {
                        name: vary.name.clone(),
                        value: value.clone(),
                    };
                    varied.apply(&mut settings).unwrap();
                    settings == row.settings
                })
            };
            for vary in &row.search.vary {
                assert!(tried(vary), "{}/{}: {}", experiment.name, row.name, vary.name);
            }
        }
    }
}

/// `ernn train NAME` trains the row that its experiment names; only the protocol is its own.
#[test]
fn known_sets_are_trained_as_the_rows_that_their_experiments_name() {
    let mut named = 0;
    for experiment in experiments() {
        let Some(default) = &experiment.default else { continue };
        let row = experiment.rows.iter().find(|row| row.name == *default).unwrap();
        let mut settings = RunConfig::defaults(experiment.source());
        settings.training.retrain = false;
        settings.data = row.settings.data.clone();
        assert_eq!(settings, row.settings, "{}", experiment.name);
        named += 1;
    }
    assert!(named >= 14, "{named}");
    assert_eq!(
        RunConfig::defaults("har-6").model,
        RunConfig::defaults("known:har-2").model
    );
    let stray = SHARED.replace("[data]", "default = \"lstm\"\n[data]");
    let error = read_texts(&stray, ERNN, RNN).unwrap_err().to_string();
    assert!(
        error.starts_with("experiments/vowels/experiment.toml")
            && error.contains("found \"lstm\", expected one of the rows"),
        "{error}"
    );
}

fn experiments() -> Vec<Experiment> {
    ExperimentFiles::embedded().read().unwrap()
}

#[test]
fn every_row_of_the_papers_tables_is_there() {
    let experiments = experiments();
    let figures = |name: &str| -> usize {
        let experiment = experiments.iter().find(|experiment| experiment.name == name).unwrap();
        let metric = experiment.metric;
        experiment
            .rows
            .iter()
            .filter(|row| row.paper.figure(metric).is_some())
            .count()
    };
    let counts = [
        ("har-2", 11),
        ("dsa-19", 11),
        ("google-12", 11),
        ("google-30", 11),
        ("pixel-mnist", 10),
        ("yelp-5", 11),
        ("permuted-mnist", 4),
        ("noisy-mnist", 4),
        ("noisy-cifar", 4),
        ("har-2-sigmoid", 3),
        ("ptb-300", 7),
    ];
    for (name, count) in counts {
        assert_eq!(figures(name), count, "{name}");
    }
}

/// Values a step, classes and steps of the paper's data sets.
const SHAPES: [(&str, usize, usize, usize); 9] = [
    ("har-2", 9, 2, 128),
    ("har-2-sigmoid", 9, 2, 128),
    ("dsa-19", 45, 19, 125),
    ("google-12", 32, 12, 99),
    ("google-30", 32, 30, 99),
    ("pixel-mnist", 1, 10, 784),
    ("permuted-mnist", 1, 10, 784),
    ("noisy-mnist", 28, 10, 1000),
    ("noisy-cifar", 96, 10, 1000),
];

/// The paper counts some models with their readout and some without.
#[test]
fn models_are_as_large_as_the_papers() {
    for experiment in experiments() {
        let Some(&(_, features, classes, steps)) = SHAPES.iter().find(|shape| shape.0 == experiment.name) else {
            continue;
        };
        let mut train = Part::new(features);
        train.push(&vec![0.0; features * steps], Some(0), None);
        let dataset = Dataset {
            classes: (0..classes).map(|class| class.to_string()).collect(),
            train,
            ..Dataset::default()
        };
        // A row that the paper does not have has no size to meet.
        let ours = ["ernn-exact", "ernn-compressed"];
        for row in experiment.rows.iter().filter(|row| !ours.contains(&row.name.as_str())) {
            let settings = row.settings.resolved(&dataset);
            let spans = settings.model_for(&dataset).spans();
            let kilobytes = |readout: bool| {
                let counted = spans.iter().filter(|span| readout || !span.name.starts_with("readout"));
                counted.map(|span| span.len()).sum::<usize>() as f64 / 256.0
            };
            let paper = row.paper.kilobytes.unwrap();
            let near = |size: f64| (size / paper - 1.0).abs() < 0.07;
            let (with, without) = (kilobytes(true), kilobytes(false));
            let name = format!(
                "{}/{}: {without:.1} or {with:.1} KB, paper {paper}",
                experiment.name, row.name
            );
            // The paper's LSTM on the long sequences counts four readouts.
            let four = experiment.table.is_some() && row.name == "lstm" && paper > with;
            assert!(near(with) || near(without) || four && paper < 1.15 * with, "{name}");
        }
    }
}
