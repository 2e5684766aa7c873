//! Tokens, targets at every step, and numbers: gradients by finite differences, windows of a text, and training to the end.

use ernn::batch::{Batch, Streams};
use ernn::cell::{CellConfig, ErnnConfig, Rank};
use ernn::data::{Dataset, Part, Task, View};
use ernn::evaluate;
use ernn::model::{Embedding, LossOptions, Model, ModelConfig, Pooling, State, Workspace};
use ernn::train::{self, EmbeddingSettings, Options, RunConfig};

const VOCABULARY: usize = 7;
const SIZE: usize = 4;

/// A smooth activation, so that finite differences step over no kink.
fn layer(kind: &str) -> CellConfig {
    match kind {
        "ernn" => CellConfig::Ernn(ErnnConfig {
            hidden: SIZE,
            rank: Rank::Low(2),
            activation: ernn::cell::Activation::Tanh,
            eta: 0.3,
            max_steps: 5,
            ..ErnnConfig::default()
        }),
        kind => CellConfig::of_kind(kind).unwrap().with_hidden(SIZE),
    }
}

fn config(task: Task, kinds: &[&str]) -> ModelConfig {
    let classes = match task {
        Task::Classification | Task::StepClassification | Task::MultiLabel => 3,
        Task::NextToken => VOCABULARY,
        Task::Regression | Task::StepRegression => 1,
    };
    ModelConfig {
        task,
        embedding: Some(Embedding {
            vocabulary: VOCABULARY,
            deviation: 0.7,
            tied: false,
        }),
        ..ModelConfig::new(SIZE, classes, kinds.iter().map(|kind| layer(kind)).collect())
    }
}

fn tokens(count: usize) -> Vec<u32> {
    (0..count as u32)
        .map(|place| (place * place + 3) % VOCABULARY as u32)
        .collect()
}

/// Three sequences, one of them of a single step, with targets for any task.
fn sequences(task: Task) -> Part {
    let mut part = Part::of_tokens(tokens(11), vec![0, 5, 6, 11], Vec::new());
    match task {
        Task::Classification => part.labels = vec![0, 2, 1],
        Task::StepClassification => part.step_labels = (0..11).map(|step| step % 3).collect(),
        Task::Regression => part.numbers = vec![0.5, -1.0, 2.0],
        Task::StepRegression => {
            part.step_numbers = (0..11)
                .map(|step| if step % 4 == 1 { f32::NAN } else { step as f32 / 4.0 })
                .collect();
        }
        Task::MultiLabel => part.indicators = vec![1, 0, 1, 0, 0, 0, 0, 1, 0],
        Task::NextToken => {}
    }
    part
}

fn batch(task: Task) -> Batch<f64> {
    let mut batch = Batch::new();
    match task {
        Task::NextToken => batch.fill_text(&tokens(17), &Streams::new(17, 3, 5), 0),
        _ => batch.fill(&View::of(&sequences(task)), &[0, 1, 2], None),
    }
    batch
}

fn finite_differences_agree(config: ModelConfig, options: &LossOptions<f64>) {
    let batch = batch(config.task);
    let mut model = Model::<f64>::new(config, 3).unwrap();
    let mut gradient = vec![0.0; model.parameters().len()];
    let mut workspace = Workspace::default();
    let mut loss_at = |model: &Model<f64>, gradient: &mut [f64]| {
        model
            .loss_and_gradient(&batch, options, &mut workspace, gradient)
            .unwrap()
            .0
    };
    loss_at(&model, &mut gradient);
    let mut unused = gradient.clone();
    for (index, &found) in gradient.iter().enumerate() {
        let value = model.parameters()[index];
        let mut moved = |to: f64| {
            model.parameters_mut()[index] = to;
            loss_at(&model, &mut unused)
        };
        let slope = (moved(value + 1e-5) - moved(value - 1e-5)) / 2e-5;
        model.parameters_mut()[index] = value;
        let error = (slope - found).abs();
        assert!(error < 1e-8, "parameter {index}: {slope} against {found}");
    }
    assert!(gradient.iter().any(|slope| slope.abs() > 1e-3));
}

const TASKS: [Task; 5] = [
    Task::Classification,
    Task::StepClassification,
    Task::NextToken,
    Task::Regression,
    Task::StepRegression,
];

#[test]
fn gradients_of_every_task() {
    for task in TASKS {
        for kinds in [&["ernn"][..], &["lstm"], &["gru", "rnn"]] {
            finite_differences_agree(config(task, kinds), &LossOptions::default());
        }
    }
}

#[test]
fn gradients_with_tied_weights_dropout_and_mean_states() {
    let dropping = LossOptions {
        dropout: Some((5, 1)),
        ..LossOptions::default()
    };
    for task in TASKS {
        let mut config = ModelConfig {
            dropout: 0.4,
            layer_dropout: 0.3,
            embedding_dropout: 0.3,
            pooling: Pooling::Mean,
            ..config(task, &["ernn", "fastgrnn"])
        };
        finite_differences_agree(config.clone(), &dropping);
        if task == Task::NextToken {
            config.embedding.as_mut().unwrap().tied = true;
            finite_differences_agree(config, &dropping);
        }
    }
}

#[test]
fn gradients_in_both_directions() {
    for task in [Task::Classification, Task::StepClassification, Task::Regression] {
        let config = ModelConfig {
            bidirectional: true,
            ..config(task, &["rnn", "ernn"])
        };
        finite_differences_agree(config, &LossOptions::default());
    }
}

/// A loss at each step, with the state carried over the pieces' borders: the losses are those of the whole.
#[test]
fn pieces_have_the_losses_of_the_whole() {
    let model = Model::<f64>::new(config(Task::StepClassification, &["ernn", "lstm"]), 1).unwrap();
    let batch = batch(Task::StepClassification);
    let mut gradient = vec![0.0; model.parameters().len()];
    let mut loss = |tbptt| {
        let options = LossOptions {
            tbptt,
            ..LossOptions::default()
        };
        let mut workspace = Workspace::default();
        model
            .loss_and_gradient(&batch, &options, &mut workspace, &mut gradient)
            .unwrap()
    };
    let whole = loss(None);
    let pieces = loss(Some(2));
    assert!((whole.0 - pieces.0).abs() < 1e-12 && whole.1 == pieces.1);
    let mean = |rows: Vec<f64>| rows.iter().sum::<f64>() / rows.len() as f64;
    let rows = model
        .step_losses(&batch, &mut State::default(), &mut Workspace::default())
        .unwrap();
    assert!((mean(rows.iter().map(|row| row.loss).collect()) - whole.0).abs() < 1e-12);
}

/// The state goes from window to window: losses of a text in windows are those of one long window, for a cell whose steps are alike.
#[test]
fn windows_of_a_text_are_one_text() {
    let model = Model::<f64>::new(config(Task::NextToken, &["gru"]), 2).unwrap();
    let text = tokens(40);
    let losses = |count: usize, window: usize| -> Vec<f64> {
        let streams = Streams::new(text.len(), count, window);
        let (mut batch, mut state, mut workspace) = (Batch::new(), State::default(), Workspace::default());
        let mut of_stream = vec![Vec::new(); count];
        for window in 0..streams.batches() {
            batch.fill_text(&text, &streams, window);
            let rows = model.step_losses(&batch, &mut state, &mut workspace).unwrap();
            for (stream, rows) in rows.chunks(rows.len() / count).enumerate() {
                of_stream[stream].extend(rows.iter().map(|row| row.loss));
            }
        }
        of_stream.concat()
    };
    let whole = losses(1, 39);
    assert_eq!(whole.len(), 39);
    for (a, b) in losses(1, 7).iter().zip(&whole) {
        assert!((a - b).abs() < 1e-12);
    }
    // A second stream begins with a state of zeros.
    let two = losses(2, 7);
    assert_eq!(two.len(), 38);
    assert!((two[5] - whole[5]).abs() < 1e-12 && (two[19] - whole[19]).abs() > 1e-6);
}

#[test]
fn what_does_not_fit_is_refused() {
    let model = Model::<f64>::new(config(Task::NextToken, &["gru"]), 2).unwrap();
    let mut gradient = vec![0.0; model.parameters().len()];
    let mut refuse = |batch: &Batch<f64>, state: &mut State<f64>| {
        let (options, mut workspace) = (LossOptions::default(), Workspace::default());
        let found = model.window_loss_and_gradient(batch, &options, state, &mut workspace, &mut gradient);
        found.unwrap_err().to_string()
    };
    let mut broken = batch(Task::NextToken);
    broken.tokens[3] = VOCABULARY as u32;
    let error = refuse(&broken, &mut State::default());
    assert_eq!(error, "token: found 7, expected one below 7");
    let mut fewer = batch(Task::NextToken);
    fewer.tokens.pop();
    assert!(refuse(&fewer, &mut State::default()).starts_with("tokens: found 14"));
    let error = refuse(&batch(Task::NextToken), &mut State::of_layers(vec![vec![0.0; 3]]));
    assert!(error.starts_with("state: found that of other streams"), "{error}");
    for wrong in [
        ModelConfig {
            bidirectional: true,
            ..config(Task::NextToken, &["gru"])
        },
        ModelConfig {
            classes: 3,
            quantiles: vec![0.1, 0.9],
            ..config(Task::Regression, &["gru"])
        },
        ModelConfig {
            embedding: None,
            ..config(Task::NextToken, &["gru"])
        },
    ] {
        assert!(Model::<f64>::new(wrong, 1).is_err());
    }
    let mut tied = config(Task::StepClassification, &["gru"]);
    tied.embedding.as_mut().unwrap().tied = true;
    let error = Model::<f64>::new(tied, 1).unwrap_err().to_string();
    assert!(error.starts_with("tied: found true"), "{error}");
}

/// A text of a period of five: after a few epochs the next token is no surprise.
fn periodic_text() -> Dataset {
    let text = |count: u32| {
        Part::of_tokens(
            (0..count).map(|place| [0, 1, 2, 1, 3][place as usize % 5]).collect(),
            vec![0, count as usize],
            Vec::new(),
        )
    };
    Dataset {
        name: "periodic".to_string(),
        feature_names: vec!["token".to_string()],
        vocabulary: ["a", "b", "c", "d"].map(String::from).to_vec(),
        task: Task::NextToken,
        train: text(900),
        validation: Some(text(101)),
        test: Some(text(76)),
        ..Dataset::default()
    }
}

fn settings(kind: &str) -> RunConfig {
    let mut config = RunConfig::defaults("periodic");
    config.change_cell(kind).unwrap();
    config.set_in_layers("hidden", &toml::Value::Integer(12)).unwrap();
    config.training.batch_size = 4;
    config.training.tbptt = 20;
    config.training.epochs = 8;
    config.training.average = 0.9;
    config
}

#[test]
fn a_periodic_text_is_learned_and_counted_to_the_last_token() {
    for (kind, tied) in [("ernn", false), ("gru", true)] {
        let mut config = settings(kind);
        config.training.epochs = 25;
        config.model.embedding = Some(EmbeddingSettings {
            tied,
            ..EmbeddingSettings::default()
        });
        if kind == "ernn" {
            config.set_in_layers("rank", &toml::Value::Integer(4)).unwrap();
        }
        let outcome = train::train(&periodic_text(), &config, &Options::default(), &mut ()).unwrap();
        let found = &outcome.report.evaluation;
        assert_eq!(found.examples, 75);
        assert!(found.perplexity.unwrap() < 1.15, "{kind} {:?}", found.perplexity);
        assert!((found.loss.exp() - found.perplexity.unwrap()).abs() < 1e-12);
        // The saved model gives the same.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        outcome.model.save(&path).unwrap();
        let loaded = ernn::checkpoint::SavedModel::load(&path).unwrap();
        let dataset = periodic_text();
        let again = evaluate::evaluate(&loaded, dataset.test.as_ref().unwrap()).unwrap();
        assert_eq!(&again, found);
        assert!(evaluate::predict(&loaded, dataset.test.as_ref().unwrap()).is_err());
    }
}

/// Stopped within a text, a run goes on with the state of its streams, to the same bits.
#[test]
fn a_text_run_goes_on_to_the_same_bits() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct StopAt(usize, Arc<AtomicBool>);
    impl train::Observer for StopAt {
        fn batch_done(&mut self, progress: &train::BatchProgress) {
            if progress.epoch == 2 && progress.batch == self.0 {
                self.1.store(true, Ordering::Relaxed);
            }
        }
    }
    let (dataset, config) = (periodic_text(), settings("lstm"));
    let whole = train::train(&dataset, &config, &Options::default(), &mut ()).unwrap();
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let options = Options {
        out: train::Out::At(path.clone()),
        ..Options::default()
    };
    train::train(&dataset, &config, &options, &mut StopAt(5, Arc::clone(&options.stop))).unwrap();
    let folder = train::RunFolder::open(&path).unwrap();
    let resumed = train::resume(&dataset, &config, folder, &Options::default(), &mut ()).unwrap();
    assert!(resumed.model.to_bytes() == whole.model.to_bytes());
}

#[test]
fn sums_of_two_values_are_learned() {
    let part = |count: usize, seed: usize| {
        let mut part = Part::new(1);
        for sequence in 0..count {
            let value = |place: usize| ((sequence * 31 + place * 17 + seed) % 101) as f32 / 101.0;
            part.push(&[value(0), value(1), value(2)], None, None);
            part.numbers.push(value(0) + value(2));
        }
        part
    };
    let dataset = Dataset {
        name: "sums".to_string(),
        feature_names: vec!["value".to_string()],
        task: Task::Regression,
        train: part(400, 0),
        test: Some(part(100, 7)),
        ..Dataset::default()
    };
    let mut config = settings("gru");
    config.training.tbptt = 0;
    config.training.epochs = 40;
    config.training.batch_size = 20;
    config.training.learning_rate = 1e-2;
    config.training.input_noise = 0.0;
    let found = train::train(&dataset, &config, &Options::default(), &mut ())
        .unwrap()
        .report
        .evaluation;
    // The numbers' variance is 0.17.
    assert!(found.mean_squared_error.unwrap() < 0.005, "{found:?}");
    assert_eq!((found.accuracy, found.examples), (None, 100));
}
