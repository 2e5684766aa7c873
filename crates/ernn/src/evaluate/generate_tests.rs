use super::*;
use crate::cell::CellConfig;
use crate::checkpoint::Provenance;
use crate::data::{Derivation, Normalization};
use crate::model::{Embedding, Model, ModelConfig};

/// A model of these tokens, with random parameters.
fn text_model(tokens: &[&str]) -> SavedModel {
    let config = ModelConfig {
        task: Task::NextToken,
        embedding: Some(Embedding {
            vocabulary: tokens.len(),
            deviation: 1.0,
            tied: false,
        }),
        ..ModelConfig::new(
            4,
            tokens.len(),
            vec![CellConfig::of_kind("gru").unwrap().with_hidden(6)],
        )
    };
    SavedModel {
        model: Model::new(config, 5).unwrap(),
        derivation: Derivation::default(),
        decision: Default::default(),
        normalization: Normalization::identity(4),
        classes: Vec::new(),
        vocabulary: tokens.iter().map(ToString::to_string).collect(),
        feature_names: vec!["token".to_string()],
        provenance: Provenance::default(),
    }
}

/// The same, but it always gives these logits.
fn always(tokens: &[&str], logits: &[f32]) -> SavedModel {
    let mut saved = text_model(tokens);
    let mut parameters = vec![0.0; saved.model.parameters().len()];
    let spans = saved.model.spans();
    let bias = spans.iter().find(|span| span.name == "readout.bias").unwrap();
    parameters[bias.range()].copy_from_slice(logits);
    saved.model = Model::from_parameters(saved.model.config().clone(), parameters).unwrap();
    saved
}

fn text(saved: &SavedModel, sampling: Sampling, count: usize) -> Vec<NextToken> {
    let mut generator = Generator::new(saved, sampling).unwrap();
    generator.read(&[1]).unwrap();
    (0..count).map(|_| generator.write().unwrap()).collect()
}

fn sampling(temperature: f64, top_k: Option<usize>) -> Sampling {
    Sampling {
        temperature,
        top_k,
        seed: 3,
    }
}

const TOKENS: [&str; 4] = [UNKNOWN, "a", "b", "c"];

#[test]
fn tokens_are_as_frequent_as_temperature_and_top_k_say() {
    let logits = [5.0, 1.0, 0.5, -1.0_f32];
    let saved = always(&TOKENS, &logits);
    for (temperature, top_k) in [
        (1.0, None),
        (0.5, None),
        (3.0, None),
        (1.0, Some(2)),
        (2.0, Some(1)),
        (1.0, Some(9)),
    ] {
        let drawn = text(&saved, sampling(temperature, top_k), 4000);
        let kept = 1..4.min(1 + top_k.unwrap_or(3));
        let weight = |token: usize| (f64::from(logits[token]) / temperature).exp();
        let sum: f64 = kept.clone().map(weight).sum();
        for token in 0..4 {
            let expected = if kept.contains(&token) {
                weight(token) / sum
            } else {
                0.0
            };
            let found = drawn.iter().filter(|next| next.token as usize == token).count() as f64 / 4000.0;
            // Four standard deviations.
            let margin = 4.0 * (expected * (1.0 - expected) / 4000.0).sqrt();
            assert!(
                (found - expected).abs() <= margin,
                "{temperature} {top_k:?}: {token}: {found} {expected}"
            );
        }
        // The model's own probability, whatever it was drawn with.
        let all: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
        let first = drawn[0];
        let own = f64::from(logits[first.token as usize]).exp() / all;
        assert!((first.probability - own).abs() < 1e-6, "{first:?} {own}");
    }
}

#[test]
fn temperature_0_takes_the_first_of_the_likeliest_that_is_known() {
    let saved = always(&TOKENS, &[9.0, 1.0, 2.0, 2.0]);
    assert!(text(&saved, sampling(0.0, None), 20).iter().all(|next| next.token == 2));
}

#[test]
fn a_text_is_what_its_stream_says_step_by_step() {
    let saved = text_model(&TOKENS);
    let written = text(&saved, sampling(0.0, None), 30);
    let mut stream = Stream::new(&saved).unwrap();
    stream.push_token(1).unwrap();
    for next in &written {
        let expected = stream.prediction().unwrap();
        assert_eq!(next.probability, expected.probabilities[next.token as usize]);
        let known = stream.logits()[1..].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        assert_eq!(stream.logits()[next.token as usize], known);
        stream.push_token(next.token).unwrap();
    }
}

#[test]
fn a_seed_is_a_text() {
    let saved = text_model(&TOKENS);
    let with_seed = |seed| {
        text(
            &saved,
            Sampling {
                seed,
                ..sampling(1.0, None)
            },
            40,
        )
    };
    assert_eq!(with_seed(1), with_seed(1));
    assert_ne!(with_seed(1), with_seed(2));
    // What is read in between does not change how the next one is drawn.
    let even = always(&TOKENS, &[0.0; 4]);
    let mut generator = Generator::new(&even, sampling(1.0, None)).unwrap();
    generator.read(&[1]).unwrap();
    let first = generator.write().unwrap();
    generator.read(&[2, 3]).unwrap();
    let plain = text(&even, sampling(1.0, None), 2);
    assert_eq!([first, generator.write().unwrap()], [plain[0], plain[1]]);
}

#[test]
fn what_cannot_write_is_refused() {
    let saved = text_model(&TOKENS);
    let refused = |saved: &SavedModel, sampling: Sampling| Generator::new(saved, sampling).unwrap_err().to_string();
    assert_eq!(
        refused(&saved, sampling(-0.5, None)),
        "temperature: found -0.5, expected a number, 0 or more"
    );
    assert!(refused(&saved, sampling(f64::NAN, None)).starts_with("temperature: found NaN"));
    assert_eq!(
        refused(&saved, sampling(1.0, Some(0))),
        "top-k: found 0, expected at least 1"
    );
    let mut classes = saved.clone();
    let config = ModelConfig {
        task: Task::Classification,
        ..saved.model.config().clone()
    };
    classes.model = Model::from_parameters(config, saved.model.parameters().to_vec()).unwrap();
    assert!(refused(&classes, Sampling::default()).contains("trained on running text"));
    let error = Generator::new(&saved, Sampling::default())
        .unwrap()
        .write()
        .unwrap_err();
    assert!(error.to_string().contains("found no token"), "{error}");
}
