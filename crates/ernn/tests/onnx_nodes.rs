//! ONNX's own node tests of RNN, GRU and LSTM, run by the cells here (`reference/onnx_nodes.py`).
//!
//! ```text
//! ONNX: W [dirs,G D,d], R [dirs,G D,D], B [dirs,2 G D] = [Wb, Rb]; gates of the LSTM i, o, f, c, of the GRU z, r, h
//! here: gates i, f, g, o and r, z, n; b = Wb + Rb, but the n of a GRU with linear_before_reset has b[n] = Wb, b_n = Rb
//! ```

mod support;

use std::collections::BTreeMap;

use ernn::cell::{Activation, CellConfig, GruConfig, LstmConfig, Piece, Reset, RnnConfig};
use ernn::{Isa, Panels};
use ernn_kernels::Trace;
use support::{Case, Golden, assert_close};

/// The cell of an operator, and where its gates stand there.
fn cell(case: &Case) -> (CellConfig, &'static [usize]) {
    let hidden = case.count("D");
    match (case.text("operator"), case.count("linear_before_reset")) {
        ("RNN", _) => {
            let activation = Activation::Tanh;
            let rnn = RnnConfig {
                hidden,
                activation,
                ..Default::default()
            };
            (CellConfig::Rnn(rnn), &[0])
        }
        ("LSTM", _) => (
            CellConfig::Lstm(LstmConfig {
                hidden,
                ..Default::default()
            }),
            &[0, 2, 3, 1],
        ),
        ("GRU", before) => {
            let reset = if before == 1 { Reset::After } else { Reset::Before };
            (
                CellConfig::Gru(GruConfig {
                    hidden,
                    reset,
                    ..Default::default()
                }),
                &[1, 0, 2],
            )
        }
        (other, _) => panic!("operator {other}"),
    }
}

/// The numbers of one direction, gates in our order.
fn gates(case: &Case, role: &str, direction: usize, parts: usize, order: &[usize]) -> Vec<Vec<f32>> {
    let values: Vec<f32> = case.values(role);
    let own = values.len() / case.shape(role)[0];
    let part = own / parts;
    let group = part / order.len();
    let own = &values[direction * own..(direction + 1) * own];
    let reordered = |part: &[f32]| {
        order
            .iter()
            .flat_map(|&gate| part[gate * group..][..group].to_vec())
            .collect()
    };
    own.chunks_exact(part).map(reordered).collect()
}

/// W, U, b (and b_n) one after the other, as the cell has them.
fn parameters(case: &Case, cell: &CellConfig, order: &[usize], direction: usize) -> Vec<f32> {
    let hidden = case.count("D");
    let mut parameters = [
        gates(case, "W", direction, 1, order).concat(),
        gates(case, "R", direction, 1, order).concat(),
    ]
    .concat();
    let biases = if case.has("B") {
        gates(case, "B", direction, 2, order)
    } else {
        vec![vec![0.0; order.len() * hidden]; 2]
    };
    let apart = matches!(cell, CellConfig::Gru(gru) if gru.reset == Reset::After);
    let shared = if apart { 2 * hidden } else { order.len() * hidden };
    let mut b = biases[0].clone();
    b[..shared]
        .iter_mut()
        .zip(&biases[1])
        .for_each(|(sum, bias)| *sum += bias);
    parameters.extend(b);
    parameters.extend(&biases[1][shared..]);
    parameters
}

/// Steps in the other order, `[T,N,width]`.
fn turned(values: &[f32], steps: usize) -> Vec<f32> {
    let rows = values.chunks_exact(values.len() / steps);
    rows.rev().flatten().copied().collect()
}

/// The states of one direction are those that ONNX expects.
fn direction_agrees(case: &Case, isa: Isa, direction: usize, reverse: bool) {
    let (steps, batch, inputs, hidden) = (case.count("T"), case.count("N"), case.count("d"), case.count("D"));
    let (cell, order) = cell(case);
    let parameters = parameters(case, &cell, order, direction);
    let x: Vec<f32> = case.values("X");
    let x = if reverse { turned(&x, steps) } else { x };
    let input = Panels::from_time_major(isa, &x, steps, inputs, &vec![steps; batch]);
    let piece = Piece {
        input: &input,
        initial: None,
        first_step: 0,
    };
    let mut trace = Trace::default();
    cell.fold(inputs, &parameters).infer(piece, &mut trace);
    let what = |role: &str| format!("{isa:?}, {}, direction {direction}: {role}", case.name());
    if case.has("Y") {
        let states = trace.states().to_time_major();
        let states = if reverse { turned(&states, steps) } else { states };
        let all: Vec<f32> = case.values("Y");
        let directions = all.len() / states.len();
        let rows = all.chunks_exact(batch * hidden).skip(direction).step_by(directions);
        assert_close(&what("Y"), &states, &rows.flatten().copied().collect::<Vec<_>>(), 2e-6);
    }
    let last = trace.last_state();
    let own = last.len() / batch;
    for (role, from) in [("Y_h", 0), ("Y_c", hidden)] {
        if case.has(role) {
            let found: Vec<f32> = last
                .chunks_exact(own)
                .flat_map(|row| row[from..from + hidden].to_vec())
                .collect();
            let expected: Vec<f32> = case.values(role);
            assert_close(
                &what(role),
                &found,
                &expected[direction * batch * hidden..][..batch * hidden],
                2e-6,
            );
        }
    }
}

#[test]
fn cells_give_what_the_node_tests_of_onnx_expect() {
    let golden = Golden::open("onnx_nodes.safetensors");
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for case in golden.cases() {
        assert!(!case.has("initial_h") && !case.has("sequence_lens"), "{}", case.name());
        let directions: &[bool] = match case.text("direction") {
            "forward" => &[false],
            "reverse" => &[true],
            _ => &[false, true],
        };
        for isa in Isa::available() {
            for (direction, &reverse) in directions.iter().enumerate() {
                direction_agrees(&case, isa, direction, reverse);
            }
        }
        *seen.entry(case.text("operator").to_string()).or_default() += 1;
    }
    let expected = [("GRU", 10), ("LSTM", 7), ("RNN", 8)].map(|(name, count)| (name.to_string(), count));
    assert_eq!(seen, BTreeMap::from(expected));
}
