//! How a layer behaves as a Burn module.

mod cases;

use burn::module::{Module, ModuleVisitor, Param, ParamGroup};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{DType, Device, Tensor, TensorData};
use ernn::cell::{CellConfig, Rank};
use ernn_burn::{ErnnConfig, GruConfig, LstmConfig, Parameter, Recurrent, RecurrentConfig, RnnConfig, Sequences};

use crate::cases::{cases, draw};

const INPUTS: usize = 3;
const HIDDEN: usize = 6;

fn graph() -> Device {
    Device::flex().autodiff()
}

fn input(batch: usize, steps: usize, device: &Device) -> Tensor<3> {
    let values: Vec<f32> = draw(1, batch * steps * INPUTS)
        .iter()
        .map(|&value| value as f32)
        .collect();
    Tensor::from_data(TensorData::new(values, [batch, steps, INPUTS]), device)
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn ernn() -> Recurrent {
    let config = ErnnConfig::new(INPUTS, HIDDEN)
        .with_rank(Rank::Low(2))
        .with_max_steps(9);
    config.init(&graph())
}

/// The paths under which Burn knows a module's parameters.
#[derive(Default)]
struct Paths {
    path: Vec<String>,
    found: Vec<String>,
}

impl ModuleVisitor for Paths {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, _: &Param<Tensor<D>>) {
        self.found.push(self.path.join("."));
    }
}

#[test]
fn parameters_stand_under_the_names_of_the_formula() {
    let mut paths = Paths::default();
    ernn().visit(&mut paths);
    paths.found.sort();
    let expected = ["H", "V", "W", "b", "eta"].map(|name| format!("parameters.{name}"));
    assert_eq!(paths.found, expected);
}

#[test]
fn the_count_is_the_librarys() {
    for case in cases(HIDDEN) {
        let layer = RecurrentConfig::new(INPUTS, case.cell.clone()).init(&graph());
        assert_eq!(layer.num_params(), case.cell.parameter_count(INPUTS), "{}", case.name);
    }
}

#[test]
fn initial_values_depend_on_the_devices_seed_alone() {
    let device = Device::flex();
    let draw = |seed| {
        device.seed(seed);
        LstmConfig::new(INPUTS, HIDDEN).init(&device).parameters.values()
    };
    let first = draw(3);
    assert_eq!(first, draw(3));
    assert_ne!(first, draw(4));
    // Torch's order of gates; the forget gate's bias starts at 1.
    let layer = LstmConfig::new(INPUTS, HIDDEN).init(&device);
    let Some(Parameter::Vector(bias)) = layer.parameters.find("b") else {
        panic!("no vector b")
    };
    assert_eq!(numbers(bias.val())[HIDDEN..2 * HIDDEN], [1.0; HIDDEN]);
}

#[test]
fn all_ways_through_a_layer_give_the_same_states() {
    for case in cases(HIDDEN) {
        let layer = case.layer(INPUTS, &graph(), DType::F32);
        let input = input(5, 4, &graph());
        let (states, last) = layer.forward(input.clone(), None);
        assert_eq!(states.dims(), [5, 4, HIDDEN]);
        assert_eq!(last.dims(), [5, layer.d_state()]);
        let (states, last) = (numbers(states), numbers(last));
        assert_eq!(numbers(layer.states(input.clone())), states, "{}", case.name);
        assert_eq!(numbers(layer.last(input.clone())), last, "{}", case.name);
        let whole = Sequences::new(input.clone()).with_lengths([4; 5]);
        let (again, last_again) = layer.run(whole);
        assert_eq!(
            (numbers(again), numbers(last_again)),
            (states.clone(), last),
            "{}",
            case.name
        );
        // Without a graph.
        let inferred = layer.valid().states(input.without_autodiff());
        assert!(!inferred.is_autodiff());
        assert_eq!(numbers(inferred), states, "{}", case.name);
    }
}

#[test]
fn a_sequence_in_two_pieces_is_the_sequence() {
    for case in cases(HIDDEN) {
        let layer = case.layer(INPUTS, &graph(), DType::F32);
        let input = input(3, 7, &graph());
        let (whole, last) = layer.forward(input.clone(), None);
        let (first, state) = layer.forward(input.clone().narrow(1, 0, 4), None);
        let rest = Sequences::new(input.narrow(1, 4, 3))
            .with_state(state)
            .with_first_step(4);
        let (second, state) = layer.run(rest);
        let pieces = Tensor::cat(vec![first, second], 1);
        assert_eq!(numbers(pieces), numbers(whole), "{}", case.name);
        assert_eq!(numbers(state), numbers(last), "{}", case.name);
    }
}

#[test]
fn a_sequence_of_no_steps_keeps_its_state() {
    let layer = ernn();
    let state: Tensor<2> = input(2, 2, &graph()).reshape([2, HIDDEN]);
    let sequences = Sequences::new(input(2, 5, &graph()))
        .with_lengths([0, 5])
        .with_state(state.clone());
    let last = numbers(layer.last(sequences));
    let state = numbers(state);
    assert_eq!(last[..HIDDEN], state[..HIDDEN]);
    assert_ne!(last[HIDDEN..], state[HIDDEN..]);
}

#[test]
fn steps_may_come_first() {
    let device = graph();
    let config = RecurrentConfig::from(&GruConfig::new(INPUTS, HIDDEN));
    let values: Vec<f32> = draw(1, config.cell.parameter_count(INPUTS))
        .iter()
        .map(|&value| value as f32)
        .collect();
    let layer = config.with_values(&values, &device).unwrap();
    let turned = config.with_batch_first(false).with_values(&values, &device).unwrap();
    let input = input(5, 4, &device);
    let (states, last) = layer.forward(input.clone(), None);
    let (turned_states, turned_last) = turned.forward(input.swap_dims(0, 1), None);
    assert_eq!(turned_states.dims(), [4, 5, HIDDEN]);
    assert_eq!(numbers(turned_states.swap_dims(0, 1)), numbers(states));
    assert_eq!(numbers(turned_last), numbers(last));
}

#[test]
fn passes_that_live_side_by_side_do_not_mix() {
    let layer = ernn();
    let inputs = [input(3, 4, &graph()), input(7, 9, &graph())].map(Tensor::require_grad);
    let alone = inputs.clone().map(|input| {
        let gradients = layer.last(input.clone()).sum().backward();
        numbers(input.grad(&gradients).unwrap())
    });
    let losses = inputs.clone().map(|input| layer.last(input).sum());
    let together: Vec<Vec<f32>> = losses
        .into_iter()
        .zip(&inputs)
        .map(|(loss, input)| numbers(input.grad(&loss.backward()).unwrap()))
        .collect();
    assert_eq!(together, alone);
}

#[test]
fn a_frozen_layer_passes_its_gradient_on() {
    let layer = ernn().no_grad();
    let input = input(3, 4, &graph()).require_grad();
    let gradients = layer.last(input.clone()).sum().backward();
    assert!(
        numbers(input.grad(&gradients).unwrap())
            .iter()
            .any(|&value| value != 0.0)
    );
    assert!(GradientsParams::from_grads(gradients, &layer).is_empty());
}

#[test]
fn an_optimizer_changes_the_group_that_it_is_given() {
    let layer = ernn();
    let before = layer.parameters.values();
    let loss = layer.last(input(3, 4, &graph())).powi_scalar(2).sum();
    let gradients = GradientsParams::from_grads(loss.backward(), &layer);
    let step_sizes = layer.parameters.find("eta").expect("step sizes").id();
    let group = ParamGroup::from_predicate("parameters.eta");
    let frozen = layer.set_require_grad_group(group, false);
    let mut optimizer = AdamConfig::new().init();
    let mut gradients = gradients;
    assert!(gradients.remove::<2>(step_sizes).is_some());
    let layer = optimizer.step(0.1, frozen, gradients);
    let after = layer.parameters.values();
    // The step sizes are the last tensor.
    let rest = before.len() - 9;
    assert!(
        before[..rest]
            .iter()
            .zip(&after[..rest])
            .all(|(before, after)| before != after)
    );
    assert_eq!(before[rest..], after[rest..]);
}

#[test]
fn records_hold_the_parameters() {
    let (layer, other) = (ernn(), ernn());
    let expected = numbers(layer.states(input(2, 3, &graph())));
    assert_ne!(numbers(other.states(input(2, 3, &graph()))), expected);
    let loaded = other.load_record(layer.into_record());
    assert_eq!(numbers(loaded.states(input(2, 3, &graph()))), expected);
}

#[test]
fn configurations_read_again() {
    use burn::config::Config;
    let config = ErnnConfig::new(INPUTS, HIDDEN)
        .with_rank(Rank::Low(2))
        .with_iterations(3);
    let text = serde_json::to_string(&config).unwrap();
    let again = ErnnConfig::load_binary(text.as_bytes()).unwrap();
    let [first, second] = [&config, &again].map(|config| RecurrentConfig::from(config).cell);
    assert_eq!(first, second);
    assert!(matches!(first, CellConfig::Ernn(cell) if cell.iterations == 3 && cell.hidden == HIDDEN));
}

#[test]
fn settings_that_contradict_each_other_are_an_error() {
    let rank = RnnConfig::new(INPUTS, HIDDEN).with_rank(Rank::Low(HIDDEN + 1));
    let error = RecurrentConfig::from(&rank).try_init(&graph()).unwrap_err().to_string();
    assert_eq!(
        error,
        "rank: found 7, expected full or a number from 1 to the hidden size, 6"
    );
    let none = RecurrentConfig::from(&RnnConfig::new(0, HIDDEN));
    let error = none.try_init(&graph()).unwrap_err().to_string();
    assert_eq!(error, "d_input: found 0, expected at least 1");
    let few = RecurrentConfig::from(&RnnConfig::new(INPUTS, HIDDEN));
    let error = few.with_values(&[1.0], &graph()).unwrap_err().to_string();
    assert_eq!(error, "parameters of the cell rnn: found 1 numbers, expected 60");
}

#[test]
#[should_panic(expected = "input: found [2, 5, 4], expected [batch, steps, 3]")]
fn inputs_of_another_size_are_refused() {
    ernn().forward(Tensor::zeros([2, 5, 4], &graph()), None);
}

#[test]
#[should_panic(expected = "state: found [1, 6], expected [2, 6]")]
fn states_of_another_batch_are_refused() {
    ernn().forward(input(2, 5, &graph()), Some(Tensor::zeros([1, 6], &graph())));
}

#[test]
#[should_panic(expected = "lengths: found 6, expected at most 5, the steps of the input")]
fn lengths_beyond_the_steps_are_refused() {
    ernn().last(Sequences::new(input(2, 5, &graph())).with_lengths([5, 6]));
}

#[test]
#[should_panic(expected = "parameters: found numbers of F32, expected F64, as the input's")]
fn two_types_of_numbers_are_refused() {
    ernn().last(input(2, 5, &graph()).cast(DType::F64));
}

#[test]
#[should_panic(expected = "input: found numbers of BF16, expected F32 or F64")]
fn numbers_that_the_kernels_do_not_know_are_refused() {
    let layer = cases(HIDDEN)[0].layer(INPUTS, &graph(), DType::BF16);
    layer.last(input(2, 5, &graph()).cast(DType::BF16));
}
