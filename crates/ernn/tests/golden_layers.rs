//! Stacked and bidirectional layers give what torch's own modules give, on packed sequences and on whole batches.
//!
//! States come from a [`Model`] with torch's parameters in its layout. The loss of the golden file looks at the last states of every
//! layer, which no readout does: its gradient goes back through the folded cells, joined here as torch joins them.

mod support;

use ernn::cell::{Activation, CellConfig, Folded, FoldedGradient, GruConfig, LstmConfig, Piece, RnnConfig};
use ernn::model::{Model, ModelConfig, Workspace};
use ernn::{Isa, Panels, Real};
use ernn_kernels::{StateGradient, Trace};
use support::{Case, Golden, assert_close};

fn cell(case: &Case) -> CellConfig {
    let hidden = case.count("D");
    match (case.text("cell"), case.text("activation")) {
        ("rnn", activation) => CellConfig::Rnn(RnnConfig {
            hidden,
            activation: match activation {
                "tanh" => Activation::Tanh,
                "relu" => Activation::Relu,
                other => panic!("activation {other}"),
            },
            ..Default::default()
        }),
        ("lstm", "tanh") => CellConfig::Lstm(LstmConfig {
            hidden,
            ..Default::default()
        }),
        ("gru", "tanh") => CellConfig::Gru(GruConfig {
            hidden,
            ..Default::default()
        }),
        other => panic!("cell {other:?}"),
    }
}

fn directions(case: &Case) -> usize {
    1 + usize::from(case.description["bidirectional"].as_bool().expect("yes or no"))
}

/// The end of torch's names of the tensors of each cell; the directions of a layer follow each other.
fn suffixes(case: &Case) -> Vec<String> {
    let of_layer = |layer| [format!("_l{layer}"), format!("_l{layer}_reverse")];
    let layers = 0..case.count("layers");
    layers
        .flat_map(|layer| of_layer(layer).into_iter().take(directions(case)))
        .collect()
}

/// The parameters of one cell from torch's: one bias for two, but for the GRU's candidate.
fn from_torch<F: Real>(case: &Case, suffix: &str) -> Vec<F> {
    let get = |name: &str| case.values::<F>(&format!("{name}{suffix}"));
    let (mut bias, other) = (get("bias_ih"), get("bias_hh"));
    let joined = match case.text("cell") {
        "gru" => bias.len() / 3 * 2,
        _ => bias.len(),
    };
    bias.iter_mut()
        .zip(&other[..joined])
        .for_each(|(to, &value)| *to += value);
    [&get("weight_ih"), &get("weight_hh"), &bias, &other[joined..]]
        .map(Vec::from)
        .concat()
}

/// The gradient of one cell's parameters; that of a joined bias is the gradient of either of torch's.
fn gradient_from_torch<F: Real>(case: &Case, suffix: &str) -> Vec<F> {
    let get = |name: &str| case.values::<F>(&format!("grad.{name}{suffix}"));
    let other = get("bias_hh");
    let own = match case.text("cell") {
        "gru" => &other[other.len() / 3 * 2..],
        _ => &[],
    };
    [&get("weight_ih"), &get("weight_hh"), &get("bias_ih"), own]
        .map(Vec::from)
        .concat()
}

/// A batch `[T, sequences, features]`.
#[derive(Clone, Copy)]
struct Shape<'a> {
    steps: usize,
    lengths: &'a [usize],
}

impl Shape<'_> {
    /// Calls with each sequence and step that there is, and the step's place when the sequence is read from its end.
    fn each_step(self, mut call: impl FnMut(usize, usize)) {
        let sequences = self.lengths.len();
        for (sequence, &length) in self.lengths.iter().enumerate() {
            (0..length).for_each(|step| call(step * sequences + sequence, (length - 1 - step) * sequences + sequence));
        }
    }

    /// Each sequence from its last step to its first.
    fn turned<F: Real>(self, values: &[F], features: usize) -> Vec<F> {
        let mut out = vec![F::ZERO; values.len()];
        self.each_step(|row, turned| {
            out[turned * features..][..features].copy_from_slice(&values[row * features..][..features]);
        });
        out
    }

    fn panels<F: Real>(self, isa: Isa, values: &[F], features: usize) -> Panels<F> {
        Panels::from_time_major(isa, values, self.steps, features, self.lengths)
    }

    /// Time-major values over all steps of the batch, also those that no sequence has.
    fn unpacked<F: Real>(self, panels: &Panels<F>) -> Vec<F> {
        let mut values = panels.to_time_major();
        values.resize(self.steps * self.lengths.len() * panels.features(), F::ZERO);
        values
    }
}

/// Some columns of rows of `width`.
fn columns<F: Real>(values: &[F], width: usize, from: usize, count: usize) -> Vec<F> {
    let rows = values.chunks_exact(width);
    rows.flat_map(|row| &row[from..from + count]).copied().collect()
}

/// A cell that has run over a layer's input.
struct Run<F: Real> {
    input: Panels<F>,
    trace: Trace<F>,
    folded: Folded<F>,
}

fn case_agrees<F: Real>(case: &Case, isa: Isa, tolerance: f64) {
    let (inputs, hidden, ways) = (case.count("d"), case.count("D"), directions(case));
    let (cell, lengths, suffixes) = (cell(case), case.lengths(), suffixes(case));
    let (sequences, steps) = (lengths.len(), case.count("T"));
    let shape = Shape {
        steps,
        lengths: &lengths,
    };
    let check = |role: &str, actual: &[F], expected: &[F]| {
        assert_close(&format!("{isa:?}, {} {role}", case.name()), actual, expected, tolerance);
    };
    let own: Vec<Vec<F>> = suffixes.iter().map(|suffix| from_torch(case, suffix)).collect();
    let config = ModelConfig {
        bidirectional: ways == 2,
        ..ModelConfig::new(inputs, 2, vec![cell.clone(); case.count("layers")])
    };
    let readout = vec![F::ONE; 2 * (ways * hidden + 1)];
    let model = Model::from_parameters(config, [own.concat(), readout].concat()).expect("torch's parameters fit");
    let x = case.values::<F>("input");
    let input = shape.panels(isa, &x, inputs);
    let layers = model.states(&input, &mut Workspace::default()).expect("states");
    let output = &layers.last().expect("a layer").all;
    check("output", &shape.unpacked(output), &case.values("output"));
    let last = layers.iter().flat_map(|layer| &layer.last);
    let width = if case.has("c_n") { 2 * hidden } else { hidden };
    let last: Vec<F> = last.flatten().copied().collect();
    check("h_n", &columns(&last, width, 0, hidden), &case.values("h_n"));
    if case.has("c_n") {
        check("c_n", &columns(&last, width, hidden, hidden), &case.values("c_n"));
    }

    // Forwards again, cell by cell, on what the model says that each layer reads.
    let input_size = |place: usize| if place < ways { inputs } else { ways * hidden };
    let mut runs: Vec<Run<F>> = Vec::new();
    for (place, parameters) in own.iter().enumerate() {
        let values = match place / ways {
            0 => x.clone(),
            layer => shape.unpacked(&layers[layer - 1].all),
        };
        let width = input_size(place);
        let values = if place % ways == 1 {
            shape.turned(&values, width)
        } else {
            values
        };
        let (input, folded) = (shape.panels(isa, &values, width), cell.fold(width, parameters));
        let mut trace = Trace::default();
        folded.forward(whole(&input), &mut trace);
        runs.push(Run { input, trace, folded });
    }
    let mut at_output = case.values::<F>("loss.output");
    let of_cell = |values: &[F], place: usize| values[place * sequences * hidden..][..sequences * hidden].to_vec();
    for layer in (0..case.count("layers")).rev() {
        let width = input_size(layer * ways);
        let mut at_input = vec![F::ZERO; steps * sequences * width];
        for way in 0..ways {
            let place = layer * ways + way;
            let Run { input, trace, folded } = &mut runs[place];
            let all = columns(&at_output, ways * hidden, way * hidden, hidden);
            let all = if way == 1 { shape.turned(&all, hidden) } else { all };
            let memory = case.has("loss.c_n").then(|| of_cell(&case.values("loss.c_n"), place));
            let states = StateGradient {
                last: Some(&of_cell(&case.values("loss.h_n"), place)),
                last_memory: memory.as_deref(),
                all: Some(&shape.panels(isa, &all, hidden)),
                rows: None,
            };
            let (mut gradient, mut at_x) = (FoldedGradient::default(), Panels::new(isa, 1, &[]));
            folded.backward(whole(input), trace, states, &mut gradient, Some(&mut at_x), None);
            let mut found = vec![F::ZERO; own[place].len()];
            cell.unfold(width, &own[place], &gradient, &mut found);
            let suffix = &suffixes[place];
            check(
                &format!("gradients{suffix}"),
                &found,
                &gradient_from_torch(case, suffix),
            );
            let at_x = shape.unpacked(&at_x);
            let at_x = if way == 1 { shape.turned(&at_x, width) } else { at_x };
            at_input.iter_mut().zip(at_x).for_each(|(sum, value)| *sum += value);
        }
        at_output = at_input;
    }
    check("grad.input", &at_output, &case.values("grad.input"));
}

/// A piece that is all of the batch.
fn whole<F: Real>(input: &Panels<F>) -> Piece<'_, F> {
    Piece {
        input,
        initial: None,
        first_step: 0,
    }
}

fn layers_agree<F: Real>(tolerance: f64) {
    let golden = Golden::open("torch_layers.safetensors");
    let mut count = 0;
    for case in golden.cases() {
        count += 1;
        Isa::available()
            .into_iter()
            .for_each(|isa| case_agrees::<F>(&case, isa, tolerance));
    }
    assert_eq!(count, 32, "cases of the golden file");
}

#[test]
fn layers_equal_torch_in_f64() {
    layers_agree::<f64>(1e-11);
}

#[test]
fn layers_equal_torch_in_f32() {
    layers_agree::<f32>(1e-4);
}
