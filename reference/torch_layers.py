"""Golden values of stacked and bidirectional layers: torch.nn.RNN, LSTM and GRU in float64.

    python reference/torch_layers.py

writes crates/ernn/tests/golden/torch_layers.safetensors; its layout: reference/README.md. Each model runs on packed sequences
of ragged lengths and on the whole batch unpacked, from an initial state of 0. Before anything is written, the packed results
are held against each sequence alone: the second direction starts at a sequence's own end, not at the batch's.
"""

import itertools

import torch

import golden
from recurrent import DTYPE, drawer

INPUTS, HIDDEN, STEPS = 3, 5, 6
LENGTHS = [4, 6, 1, 3]
MODULES = {
    "rnn_tanh": lambda **shape: torch.nn.RNN(INPUTS, HIDDEN, nonlinearity="tanh", dtype=DTYPE, **shape),
    "rnn_relu": lambda **shape: torch.nn.RNN(INPUTS, HIDDEN, nonlinearity="relu", dtype=DTYPE, **shape),
    "lstm": lambda **shape: torch.nn.LSTM(INPUTS, HIDDEN, dtype=DTYPE, **shape),
    "gru": lambda **shape: torch.nn.GRU(INPUTS, HIDDEN, dtype=DTYPE, **shape),
}


def outputs(module, x, lengths):
    """Output [T, N, D dirs], zero behind the end of a sequence, and the last states by name; lengths None: unpacked."""
    if lengths is None:
        output, last = module(x)
    else:
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        output, last = module(packed)
        output, _ = torch.nn.utils.rnn.pad_packed_sequence(output, total_length=len(x))
    return {"output": output} | dict(zip(["h_n", "c_n"], last if isinstance(last, tuple) else [last]))


def alone(module, x, lengths):
    """The same, each sequence in a batch of its own."""
    runs = [outputs(module, x[:length, n : n + 1], None) for n, length in enumerate(lengths)]
    pad = lambda output: torch.nn.functional.pad(output, (0, 0, 0, 0, 0, len(x) - len(output)))
    return {name: torch.cat([pad(run[name]) if name == "output" else run[name] for run in runs], dim=1) for name in runs[0]}


def loss_and_gradients(run, module, x, lengths, weights):
    """Values, the sum of all values times their weights, and its gradient for the parameters and the input."""
    leaf = x.clone().requires_grad_()
    values = run(module, leaf, lengths)
    loss = sum((weights[name] * value).sum() for name, value in values.items())
    parameters = dict(module.named_parameters())
    found = torch.autograd.grad(loss, [*parameters.values(), leaf])
    return values, loss, dict(zip([*parameters, "input"], found))


def make_module(kind, layers, bidirectional, seed):
    module, draw = MODULES[kind](num_layers=layers, bidirectional=bidirectional), drawer(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * draw(*parameter.shape))
    return module


def size_name(layers, bidirectional):
    return f"{layers}_bidirectional" if bidirectional else str(layers)


def draw_weights(draw, sequences, layers, bidirectional):
    """Weights of the loss for models of one size, which share them."""
    directions = 1 + bidirectional
    last = lambda: 2.0 * draw(layers * directions, sequences, HIDDEN)
    return {"output": draw(STEPS, sequences, directions * HIDDEN), "h_n": last(), "c_n": last()}


def make_cases(kind, size, x, weights, seed):
    """The packed and the unpacked case of one model, and its parameters, which both share."""
    module, name = make_module(kind, *size, seed), f"{kind}_{size_name(*size)}"
    shared = {parameter: f"{name}/{parameter}" for parameter in module.state_dict()} | {"input": "input"}
    cell, _, phi = kind.partition("_")
    cases = []
    for packed in [True, False]:
        lengths = LENGTHS if packed else [STEPS] * len(LENGTHS)
        values, loss, found = loss_and_gradients(outputs, module, x, lengths if packed else None, weights)
        if packed:
            check_alone(module, x, lengths, weights, values, found)
        settings = {"cell": cell, "activation": phi or "tanh", "layers": size[0], "bidirectional": size[1], "packed": packed,
                    "d": INPUTS, "D": HIDDEN, "T": STEPS, "N": len(LENGTHS), "lengths": lengths,
                    "parameters": list(module.state_dict())}
        loss_roles = {f"loss.{role}": f"loss.{role}/{size_name(*size)}" for role in values}
        tensors = {**values, "loss": loss.reshape(1), **{f"grad.{role}": gradient for role, gradient in found.items()}}
        cases.append(golden.case(f"{name}_{'packed' if packed else 'unpacked'}", settings, tensors, shared | loss_roles))
    return cases, {f"{name}/{parameter}": value for parameter, value in module.state_dict().items()}


def check_alone(module, x, lengths, weights, values, found):
    expected_values, _, expected = loss_and_gradients(alone, module, x, lengths, weights)
    for actual, wanted in [(values, expected_values), (found, expected)]:
        for name, tensor in actual.items():
            torch.testing.assert_close(tensor, wanted[name], rtol=1e-12, atol=1e-12, msg=f"{name} of a sequence alone")


if __name__ == "__main__":
    torch.set_num_threads(1)
    draw, sizes = drawer(300), list(itertools.product([1, 2], [False, True]))
    x = draw(STEPS, len(LENGTHS), INPUTS)
    weights = {size: draw_weights(draw, len(LENGTHS), *size) for size in sizes}
    shared, cases = {"input": x}, []
    for size, of_size in weights.items():
        shared |= {f"loss.{role}/{size_name(*size)}": tensor for role, tensor in of_size.items()}
    for seed, (kind, size) in enumerate(itertools.product(MODULES, sizes), start=301):
        of_model, parameters = make_cases(kind, size, x, weights[size], seed)
        cases, shared = cases + of_model, shared | parameters
    golden.write("torch_layers.safetensors", cases, "reference/torch_layers.py", shared)
    for entry in cases:
        print(f"  {entry['name']:34}{entry['own']['loss'].item():12.6f}")
