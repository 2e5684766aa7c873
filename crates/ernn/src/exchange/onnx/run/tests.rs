//! The operators against the specification's own numbers: ONNX's node tests (`reference/onnx_nodes.py`).

use std::rc::Rc;

use safetensors::SafeTensors;
use serde_json::Value as Json;

use super::{Array, Attribute, Call, Node, Numbers, recurrent};

const GOLDEN: &[u8] = include_bytes!("../../../../tests/golden/onnx_nodes.safetensors");

fn array(tensors: &SafeTensors, name: &Json) -> Option<Array> {
    let view = tensors.tensor(name.as_str()?).unwrap();
    let values = view.data().as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
    Some(Array::floats(view.shape(), values.collect()))
}

fn node(case: &Json) -> Node {
    let text = |name: &str| Attribute::Text(case[name].as_str().unwrap().to_string());
    Node {
        operator: case["operator"].as_str().unwrap().to_string(),
        name: String::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        attributes: vec![
            ("direction".to_string(), text("direction")),
            (
                "linear_before_reset".to_string(),
                Attribute::Integer(case["linear_before_reset"].as_i64().unwrap()),
            ),
        ],
    }
}

#[test]
fn recurrent_operators_give_what_the_node_tests_expect() {
    let tensors = SafeTensors::deserialize(GOLDEN).unwrap();
    let (_, header) = SafeTensors::read_metadata(GOLDEN).unwrap();
    let cases: Vec<Json> = serde_json::from_str(&header.metadata().as_ref().unwrap()["cases"]).unwrap();
    for case in &cases {
        let roles = &case["tensors"];
        let inputs = ["X", "W", "R", "B"].map(|role| array(&tensors, &roles[role]));
        let inputs: Vec<_> = inputs.into_iter().flatten().map(Rc::new).collect();
        let node = node(case);
        let call = Call {
            node: &node,
            inputs: &inputs,
        };
        let outputs = recurrent::run(&call).unwrap();
        for (role, found) in ["Y", "Y_h", "Y_c"].iter().zip(outputs) {
            let Some(expected) = array(&tensors, &roles[role]) else {
                continue;
            };
            assert_eq!(found.shape, expected.shape, "{} {role}", case["name"]);
            let pairs = found.as_floats().unwrap().iter().zip(expected.as_floats().unwrap());
            for (found, expected) in pairs {
                assert!(
                    (found - expected).abs() < 1e-6,
                    "{} {role}: {found}, expected {expected}",
                    case["name"]
                );
            }
        }
    }
    assert_eq!(cases.len(), 25);
}

/// One operator with these inputs.
fn call(operator: &str, inputs: &[Array], attributes: &[(&str, Attribute)], outputs: usize) -> Vec<Array> {
    let names: Vec<String> = (0..inputs.len()).map(|place| format!("i{place}")).collect();
    let node = Node {
        operator: operator.to_string(),
        name: String::new(),
        inputs: names.clone(),
        outputs: vec![String::new(); outputs],
        attributes: attributes
            .iter()
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect(),
    };
    let scope = names
        .iter()
        .map(String::as_str)
        .zip(inputs.iter().cloned().map(Rc::new))
        .collect();
    let found = super::run_node(&node, &scope).unwrap();
    found.iter().map(|value| value.as_ref().clone()).collect()
}

#[test]
fn shapes_and_places_are_those_of_the_specification() {
    let x = Array::floats(&[2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let turned = call(
        "Transpose",
        std::slice::from_ref(&x),
        &[("perm", Attribute::Integers(vec![1, 0]))],
        1,
    );
    assert_eq!(turned[0], Array::floats(&[3, 2], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let axis = |axis| [("axis", Attribute::Integer(axis))];
    let parts = call("Split", std::slice::from_ref(&x), &axis(-1), 3);
    assert_eq!(parts[1], Array::floats(&[2, 1], vec![2.0, 5.0]));
    let joined = call("Concat", &[parts[2].clone(), parts[0].clone()], &axis(1), 1);
    assert_eq!(joined[0], Array::floats(&[2, 2], vec![3.0, 1.0, 6.0, 4.0]));
    let row = Array::floats(&[3], vec![10.0, 20.0, 30.0]);
    let sum = call("Add", &[row.clone(), x.clone()], &[], 1);
    assert_eq!(sum[0], Array::floats(&[2, 3], vec![11.0, 22.0, 33.0, 14.0, 25.0, 36.0]));
    let places = Array::integers(&[2, 1], vec![1, 0]);
    let rows = call("Gather", &[x.clone(), places], &[], 1);
    assert_eq!(rows[0], Array::floats(&[2, 1, 3], vec![4.0, 5.0, 6.0, 1.0, 2.0, 3.0]));
    let shape = Array::integers(&[3], vec![0, 1, -1]);
    assert_eq!(call("Reshape", &[x.clone(), shape], &[], 1)[0].shape, [2, 1, 3]);
    let column = Array {
        shape: vec![2, 1],
        numbers: Numbers::Bools(vec![true, false]),
    };
    let zero = Array::floats(&[], vec![0.0]);
    let chosen = call("Where", &[column, x.clone(), zero], &[], 1);
    assert_eq!(chosen[0], Array::floats(&[2, 3], vec![1.0, 2.0, 3.0, 0.0, 0.0, 0.0]));
    let weight = Array::floats(&[1, 3], vec![1.0, 0.0, -1.0]);
    let addend = Array::floats(&[1], vec![0.5]);
    let product = call("Gemm", &[x, weight, addend], &[("transB", Attribute::Integer(1))], 1);
    assert_eq!(product[0], Array::floats(&[2, 1], vec![-1.5, -1.5]));
}

/// The example of the specification's page on ReverseSequence, time first.
#[test]
fn sequences_are_turned_at_their_own_length() {
    let x = Array::floats(
        &[4, 4],
        (0..16).map(|index| (index % 4 * 4 + index / 4) as f32).collect(),
    );
    let lengths = Array::integers(&[4], vec![4, 3, 2, 1]);
    let axes = [
        ("time_axis", Attribute::Integer(0)),
        ("batch_axis", Attribute::Integer(1)),
    ];
    let found = call("ReverseSequence", &[x, lengths], &axes, 1).remove(0);
    let expected = [3, 6, 9, 12, 2, 5, 8, 13, 1, 4, 10, 14, 0, 7, 11, 15];
    assert_eq!(found.as_floats().unwrap(), expected.map(|value| value as f32));
}
