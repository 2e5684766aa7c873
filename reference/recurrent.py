"""What the golden scripts of the cells share: inputs, a plain loop over time, gradients by autograd, the checks of a case.

A cell is a function `step(p, settings, x_k, *state, k)` of its parameters by name, one sequence and one step at a time; it
gives the new state: `h`, or `(h, c)` where the cell has two vectors. Other implementations are steps of the same parameters,
so that their gradients arrive at ours and everything can be compared. All vectors are columns.
"""

import torch

import golden

DTYPE = torch.float64
PHI = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "hard-tanh": lambda a: a.clamp(-1, 1),
    "hard-sigmoid": lambda a: ((a + 1) / 2).clamp(0, 1),
}
# Comparisons with another implementation that held, by its name.
checked = {}


def drawer(seed):
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(*shape, generator=generator, dtype=DTYPE)


def recurrent_matrix(p):
    return p["U"] if "U" in p else p["U1"] @ p["U2"]


def input_matrix(p):
    return p["W"] if "W" in p else p["W1"] @ p["W2"]


# ---- Inputs ----------------------------------------------------------------------------------------------------------------


class Data:
    """Inputs and loss weights of one size, shared by all cases of that size."""

    def __init__(self, name, d, D, T, N, seed):
        self.name, self.d, self.D, self.T, self.N = name, d, D, T, N
        draw = drawer(seed)
        self.x, self.starts = draw(T, N, d), {"h0": 0.7 * draw(N, D)}
        self.zero_start = torch.zeros(N, D, dtype=DTYPE)
        self.weights = {"states": draw(T, N, D), "last": 2.0 * draw(N, D)}
        # Last, so that the others are the same whether or not a cell has a second state vector.
        self.starts["c0"], self.weights["last_c"] = 0.7 * draw(N, D), 2.0 * draw(N, D)

    def inputs(self, given, memory):
        """x and the initial state, which is 0 unless it is given; `memory`: c0, too."""
        return {"x": self.x} | {name: self.starts[name] if given else self.zero_start for name in start_names(memory)}

    def roles(self, given, memory):
        """Roles of a case -> names in the file."""
        stored = {"x": "x"} | {name: name if given else "h0_zero" for name in start_names(memory)}
        stored |= {role: role for role in weight_roles(memory)}
        return {role: f"{self.name}/{name}" for role, name in stored.items()}

    def tensors(self, memory):
        """What is stored of this data; `memory`: also what only cells with a second state vector use."""
        values = {"x": self.x, **{name: self.starts[name] for name in start_names(memory)}, "h0_zero": self.zero_start}
        values |= {role: self.weights[role.removeprefix("loss.")] for role in weight_roles(memory)}
        return {f"{self.name}/{name}": value for name, value in values.items()}


def start_names(memory):
    return ["h0", "c0"] if memory else ["h0"]


def weight_roles(memory):
    return ["loss.states", "loss.last"] + (["loss.last_c"] if memory else [])


# ---- States and gradients --------------------------------------------------------------------------------------------------


def bind(step, settings):
    """A cell's step with its settings, from a tuple of state vectors to a tuple."""
    return lambda p, x, state, k: as_tuple(step(p, settings, x, *state, k))


def as_tuple(state):
    return state if isinstance(state, tuple) else (state,)


def run(step, lengths, x, start):
    """For each state vector: its states [T, N, D], zero behind the end of a sequence, and its last states [N, D]."""
    columns, last = [], []
    for n, length in enumerate(lengths):
        state, states = tuple(vector[n] for vector in start), []
        for k in range(length):
            state = step(x[k, n], state, k)
            states.append(state)
        last.append(state)
        states += [tuple(torch.zeros_like(vector) for vector in state)] * (x.shape[0] - length)
        columns.append([torch.stack(vectors) for vectors in zip(*states)])
    return [torch.stack(vectors, dim=1) for vectors in zip(*columns)], [torch.stack(vectors) for vectors in zip(*last)]


def weighted_loss(states, last, weights):
    """What is behind the end of a sequence is 0 in the states, so it counts nothing. Of c, only the last one counts."""
    loss = (weights["states"] * states[0]).sum() + (weights["last"] * last[0]).sum()
    return loss + (weights["last_c"] * last[1]).sum() if len(last) > 1 else loss


def gradients(step, values, lengths, weights):
    """States of each state vector, the loss, and its gradient for every parameter, x and the initial state."""
    leaves = {name: value.clone().requires_grad_() for name, value in values.items()}
    start = [leaves[name] for name in start_names("c0" in leaves)]
    states, last = run(lambda x, state, k: step(leaves, x, state, k), lengths, leaves["x"], start)
    loss = weighted_loss(states, last, weights)
    return states, loss, dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values()))))


def make_case(name, step, p, settings, data, lengths, given, others=None, memory=False):
    """One case; `given` says whether the initial state is given or 0. `others`: other implementations (name -> step)."""
    described = {**settings, "d": data.d, "D": data.D, "T": data.T, "N": data.N, "lengths": lengths, "h0_given": given,
                 "parameters": list(p)}
    step, values = bind(step, described), {**p, **data.inputs(given, memory)}
    states, loss, found = gradients(step, values, lengths, data.weights)
    assert states[0].abs().max() < 50, f"{name} blows up"
    for other_name, other in (others or {}).items():
        check_against(f"{other_name} for {name}", other, (states, found), values, lengths, data.weights)
        checked[other_name] = checked.get(other_name, 0) + 1
    check_f32(name, step, (states, found), values, lengths, data.weights)
    tensors = {**p, "states": states[0]} | ({"states.c": states[1]} if memory else {})
    tensors |= {"loss": loss.reshape(1), **{f"grad.{role}": gradient for role, gradient in found.items()}}
    return golden.case(name, described, tensors, data.roles(given, memory))


# ---- Other implementations -------------------------------------------------------------------------------------------------


def module_step(cell, theirs):
    """A step of a module whose tensors `theirs(p)` are functions of our parameters."""

    def step(p, x, state, k):
        rows = tuple(vector.unsqueeze(0) for vector in state)
        new = torch.func.functional_call(cell, theirs(p), (x.unsqueeze(0), rows if len(rows) > 1 else rows[0]))
        return tuple(vector.squeeze(0) for vector in as_tuple(new))

    return step


def check_against(name, other, ours, values, lengths, weights):
    """Asserts that another implementation gives the same states and gradients."""
    expected_states, expected = ours
    states, _, found = gradients(other, values, lengths, weights)
    for vector, expected_vector in zip(states, expected_states, strict=True):
        torch.testing.assert_close(vector, expected_vector, rtol=1e-12, atol=1e-12, msg=f"{name}: states")
    for role, gradient in found.items():
        torch.testing.assert_close(gradient, expected[role], rtol=1e-11, atol=1e-12, msg=f"{name}: gradient of {role}")


def check_f32(name, step, ours, values, lengths, weights):
    """In f32 the case must be the same within the tests' tolerance: no value may lie so near a bend that rounding decides."""
    narrow = lambda tensors: {role: tensor.float() for role, tensor in tensors.items()}
    states, _, found = gradients(step, narrow(values), lengths, narrow(weights))
    pairs = [*zip(states, ours[0]), *((found[role], ours[1][role]) for role in found)]
    for actual, expected in pairs:
        error = ((actual - expected).abs() / expected.abs().clamp(min=1)).max()
        assert error < 3e-5, f"{name}: f32 is {error:.1e} off"
