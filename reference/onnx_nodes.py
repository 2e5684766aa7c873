"""ONNX's own node tests of the operators RNN, GRU and LSTM, as golden values.

    pip install onnx==1.23.2 numpy safetensors
    python reference/onnx_nodes.py            # writes crates/ernn/tests/golden/onnx_nodes.safetensors

The package `onnx` (Apache-2.0) makes the tests of its standard anew; only their numbers are kept. Its weights are all alike, so that
the order of gates hardly shows: cases `drawn_..` have random weights and both resets, with outputs of its reference evaluator. Left
out: the LSTM with peepholes, which no cell here has. Layout of the file: README.md.
"""

import json
import pathlib
import warnings

import numpy as np
import onnx
import onnx.helper
import safetensors.numpy
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

OUT = pathlib.Path(__file__).resolve().parent.parent / "crates" / "ernn" / "tests" / "golden" / "onnx_nodes.safetensors"
OPERATORS = {"RNN": 1, "GRU": 3, "LSTM": 4}
INPUTS = ["X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"]
OUTPUTS = ["Y", "Y_h", "Y_c"]


def attributes(node):
    return {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}


def case(name, node, inputs, outputs):
    """Settings and tensors of a case; batches of layout 1 are turned to layout 0."""
    settings = attributes(node)
    batch_first = settings.get("layout", 0) == 1
    tensors = dict(zip([INPUTS[place] for place, given in enumerate(node.input) if given], inputs, strict=True))
    tensors |= dict(zip([OUTPUTS[place] for place, given in enumerate(node.output) if given], outputs, strict=True))
    if batch_first:
        turn = lambda role, value: np.moveaxis(value, 0, -2) if role.startswith("Y") else np.swapaxes(value, 0, 1)
        tensors |= {role: turn(role, tensors[role]) for role in ["X", *OUTPUTS] if role in tensors}
    direction = settings.get("direction", b"forward").decode()
    described = {"operator": node.op_type, "direction": direction, "D": settings["hidden_size"],
                 "linear_before_reset": settings.get("linear_before_reset", 0),
                 "T": tensors["X"].shape[0], "N": tensors["X"].shape[1], "d": tensors["X"].shape[2]}
    return name, described, {role: np.ascontiguousarray(value, np.float32) for role, value in tensors.items()}


def published():
    """The package's own tests; None stands for one that is left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = collect_testcases(None)
    for test in sorted(tests, key=lambda test: test.name):
        [node] = test.model.graph.node if len(test.model.graph.node) == 1 else [None]
        if node is None or node.op_type not in OPERATORS:
            continue
        [(inputs, outputs)] = test.data_sets
        if len(node.input) > 7 and node.input[7]:
            print(f"left out: {test.name}, which has peepholes")
            continue
        yield case(test.name, node, inputs, outputs)


def drawn():
    """Random weights, by the reference evaluator."""
    random = np.random.default_rng(1)
    draw = lambda *shape: random.normal(0, 0.6, shape).astype(np.float32)
    T, N, d, D = 5, 3, 4, 6
    for operator, reset in [("RNN", 0), ("LSTM", 0), ("GRU", 0), ("GRU", 1)]:
        for direction in ["forward", "bidirectional"]:
            dirs, rows = (2 if direction == "bidirectional" else 1), OPERATORS[operator] * D
            settings = {"hidden_size": D, "direction": direction} | ({"linear_before_reset": 1} if reset else {})
            wanted = OUTPUTS if operator == "LSTM" else OUTPUTS[:2]
            node = onnx.helper.make_node(operator, INPUTS[:4], wanted, **settings)
            inputs = [draw(T, N, d), draw(dirs, rows, d), draw(dirs, rows, D), draw(dirs, 2 * rows)]
            outputs = evaluate(node, inputs, wanted)
            if outputs is not None:
                suffix = "_linear_before_reset" if reset else ""
                yield case(f"drawn_{operator.lower()}{suffix}_{direction}", node, inputs, outputs)


def evaluate(node, inputs, wanted):
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph([node], "g", [value(name) for name in INPUTS[:4]], [value(name) for name in wanted])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    try:
        return ReferenceEvaluator(model).run(None, dict(zip(INPUTS, inputs)))
    except NotImplementedError as problem:
        print(f"left out: {node.op_type} {problem}")
        return None


def main():
    stored, cases = {}, []
    for name, settings, tensors in [*published(), *drawn()]:
        roles = {role: f"{name}/{role}" for role in tensors}
        stored |= {roles[role]: tensor for role, tensor in tensors.items()}
        cases.append({"name": name, **settings, "tensors": roles})
    metadata = {"cases": json.dumps(cases, separators=(",", ":")), "made_by": f"onnx_nodes.py, onnx {onnx.__version__}"}
    OUT.write_bytes(serialize(stored, metadata))
    print(f"{OUT.name}: {len(cases)} cases, {OUT.stat().st_size / 1000:.0f} kB: {', '.join(case['name'] for case in cases)}")


def serialize(tensors, metadata):
    """The bytes with a sorted header, so that a second run gives the same file."""
    content = safetensors.numpy.save(tensors, metadata)
    size = int.from_bytes(content[:8], "little")
    text = json.dumps(json.loads(content[8 : 8 + size]), sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[8 + size :]


if __name__ == "__main__":
    main()
