//! A stream in pieces with the state carried is the stream, bit for bit.

use ernn::Real;
use ernn::model::{LossOptions, Model, ModelConfig, Pooling, State, Workspace};

use crate::{
    CLASSES, INPUTS, LENGTHS, LONGEST, batch, bits, cell, config, configs, model, name, piece, sequences, whole,
};

/// Borders of the pieces.
const CUTS: [&[usize]; 4] = [
    &[12],
    &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    &[5, 10, 12],
    &[2, 3, 9, 12],
];

fn pieces_give_the_bits_of_the_whole<F: Real>() {
    let sequences = sequences::<F>(&LENGTHS);
    for config in configs() {
        let model = model::<F>(config);
        let mut workspace = Workspace::default();
        let mut expect = |to| {
            bits(
                &model
                    .logits(&piece(&sequences, 0, to), &mut Workspace::default())
                    .expect("logits"),
            )
        };
        let expected: Vec<_> = (0..=LONGEST).map(&mut expect).collect();
        assert_ne!(expected[LONGEST], expected[LONGEST - 1], "every step counts");
        for cuts in CUTS {
            let (mut state, mut from) = (State::default(), 0);
            for &to in cuts {
                let inputs = piece(&sequences, from, to);
                let found = model.advance(&inputs, &mut state, &mut workspace).expect("logits");
                let what = format!("{}, {cuts:?}, after {to} steps", name(model.config()));
                assert_eq!(bits(&found), expected[to], "{what}");
                assert_eq!(state.steps(), to);
                from = to;
            }
        }
    }
}

#[test]
fn pieces_give_the_bits_of_the_whole_f32() {
    pieces_give_the_bits_of_the_whole::<f32>();
}

#[test]
fn pieces_give_the_bits_of_the_whole_f64() {
    pieces_give_the_bits_of_the_whole::<f64>();
}

fn a_runner_goes_on_with_the_bits_of_the_whole<F: Real>() {
    let stream = &sequences::<F>(&[LONGEST])[0];
    for config in configs() {
        let model = model::<F>(config);
        let mut runner = model.runner();
        for chunk in [1, 3, 5, LONGEST] {
            for end in (0..LONGEST).step_by(chunk).map(|from| (from + chunk).min(LONGEST)) {
                let from = (end - 1) / chunk * chunk;
                let found = runner.push(&stream[from * INPUTS..end * INPUTS]).expect("logits");
                let so_far = whole(&[stream[..end * INPUTS].to_vec()]);
                let expected = model.logits(&so_far, &mut Workspace::default()).expect("logits");
                let what = format!("{}, {end} steps by {chunk}", name(model.config()));
                assert_eq!(bits(&found), bits(&expected), "{what}");
                let again = runner.push(&[]).expect("logits");
                assert_eq!(bits(&again), bits(&expected), "{what}, and none more");
            }
            // A whole sequence is another stream.
            let alone = runner.logits(&stream[..2 * INPUTS]);
            runner.reset();
            assert_eq!(bits(&runner.push(&stream[..2 * INPUTS]).expect("logits")), bits(&alone));
            runner.reset();
        }
    }
}

#[test]
fn a_runner_goes_on_with_the_bits_of_the_whole_f32() {
    a_runner_goes_on_with_the_bits_of_the_whole::<f32>();
}

#[test]
fn a_runner_goes_on_with_the_bits_of_the_whole_f64() {
    a_runner_goes_on_with_the_bits_of_the_whole::<f64>();
}

/// A copy of a state is a place to go back to, and a state of another batch in between is none of its business.
#[test]
fn a_state_stands_for_itself() {
    let sequences = sequences::<f64>(&LENGTHS);
    for config in configs() {
        let model = model::<f64>(config);
        let mut workspace = Workspace::default();
        let mut advance = |state: &mut State<f64>, from: usize, to: usize| {
            let logits = model.advance(&piece(&sequences, from, to), state, &mut workspace);
            bits(&logits.expect("logits"))
        };
        let mut state = State::default();
        advance(&mut state, 0, 4);
        let mut copy = state.clone();
        let first = advance(&mut state, 4, LONGEST);
        advance(&mut State::default(), 3, LONGEST);
        assert_eq!(advance(&mut copy, 4, LONGEST), first, "{}", name(model.config()));
    }
}

#[test]
fn a_bidirectional_model_refuses_pieces() {
    let of = |bidirectional| {
        model::<f64>(ModelConfig {
            bidirectional,
            ..config(vec![cell("gru", 5), cell("lstm", 4)], Pooling::MeanStdMax)
        })
    };
    let (model, sequences) = (of(true), sequences(&LENGTHS));
    let (batch, mut workspace) = (batch(&sequences), Workspace::default());
    let mut gradient = vec![0.0; model.parameters().len()];
    let options = LossOptions {
        tbptt: Some(LONGEST - 1),
        ..Default::default()
    };
    let texts = [
        model
            .advance(&batch.inputs, &mut State::default(), &mut workspace)
            .expect_err("an error"),
        model.runner().push(&sequences[0]).expect_err("an error"),
        model
            .loss_and_gradient(&batch, &options, &mut workspace, &mut gradient)
            .expect_err("an error"),
    ];
    for text in texts {
        let text = text.to_string();
        let start = "bidirectional: found true, expected a model of one direction";
        assert!(text.starts_with(start), "{text}");
    }
    // Whole sequences are no pieces.
    let logits = model.logits(&batch.inputs, &mut workspace).expect("logits");
    assert_eq!(bits(&model.runner().logits(&sequences[0])), bits(&logits[..CLASSES]));
}

#[test]
fn a_state_of_something_else_is_refused() {
    let sequences = sequences::<f64>(&LENGTHS);
    let models: [Model<f64>; 4] = [
        model(config(vec![cell("lstm", 5)], Pooling::Last)),
        model(config(vec![cell("rnn", 5)], Pooling::Last)),
        model(config(vec![cell("lstm", 5), cell("rnn", 5)], Pooling::Last)),
        model(config(vec![cell("lstm", 5)], Pooling::MeanMaxLast)),
    ];
    let (mut state, mut workspace) = (State::default(), Workspace::default());
    let inputs = piece(&sequences, 0, 3);
    models[0].advance(&inputs, &mut state, &mut workspace).expect("logits");
    for other in &models[1..] {
        let error = other
            .advance(&inputs, &mut state, &mut workspace)
            .expect_err("an error");
        assert!(
            error
                .to_string()
                .starts_with("state: found that of a model of other sizes"),
            "{error}"
        );
    }
    let fewer = piece(&sequences[..7], 3, 6);
    let error = models[0]
        .advance(&fewer, &mut state, &mut workspace)
        .expect_err("an error");
    assert_eq!(
        error.to_string(),
        "sequences: found 7, expected 19, as in the pieces before"
    );
}

#[test]
fn part_of_a_step_is_refused_and_changes_nothing() {
    let model: Model<f64> = model(config(vec![cell("lstm", 5)], Pooling::Last));
    let sequence = &sequences(&LENGTHS)[0];
    let mut runner = model.runner();
    runner.push(&sequence[..2 * INPUTS]).expect("logits");
    let error = runner.push(&sequence[..INPUTS + 1]).expect_err("an error").to_string();
    let expected = format!(
        "steps: found {} numbers, expected whole steps of {INPUTS} numbers",
        INPUTS + 1
    );
    assert_eq!(error, expected);
    let found = runner.push(&sequence[2 * INPUTS..]).expect("logits");
    assert_eq!(bits(&found), bits(&model.runner().logits(sequence)));
}
