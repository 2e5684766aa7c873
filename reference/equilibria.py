"""Golden values of the ERNN at its equilibrium, by scipy's root finder and torch's autograd in float64.

    python reference/equilibria.py

writes crates/ernn/tests/golden/equilibria.safetensors; its layout: reference/README.md. For each step

    gamma z_k = phi(s P (U z_k + W x_k + b) - s P (W x_k + b) + P (W x_k + b))
    h_k       = z_k - h_{k-1} (sign "plus") or z_k + h_{k-1} (sign "minus")        U [D,D] or I + V [D,r] H [r,D]; P = U or I

is solved by `scipy.optimize.root` (MINPACK's hybrid method, a dense Jacobian by differences) from three starts, which must agree. `s` is
1, or for `contract` above 0 `min(1, contract gamma / |P U|)` with the Schatten norm of order 64, from numpy's singular values: it scales
the recurrent matrix P U alone. The gradient goes through z_k by the implicit function theorem, with a dense Jacobian of torch's
autograd; before anything is written it is held against 500 unrolled fixed-point steps.
"""

import itertools

import numpy
import scipy.optimize
import torch

import golden

DTYPE = torch.float64
PHI = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}


def matrices(p, s):
    """(factor P U, P): the recurrent matrix as it is used, and the projection."""
    identity = torch.eye(s["D"], dtype=DTYPE)
    u = p["U"] if "U" in p else identity + p["V"] @ p["H"]
    outer = {"U": u, "I": identity}[s["P"]]
    recurrent = outer @ u
    if s["contract"] > 0:
        values = torch.linalg.svdvals(recurrent)
        norm = (values**64).sum() ** (1 / 64)
        recurrent = recurrent * torch.clamp(s["contract"] * s["gamma"] / norm, max=1.0)
    return recurrent, outer


def transition(p, s, z, x):
    recurrent, outer = matrices(p, s)
    return PHI[s["activation"]](recurrent @ z + outer @ (p["W"] @ x + p["b"]))


def solve(p, s, x):
    """z by scipy."""

    def residual(z):
        return (transition(p, s, torch.tensor(z, dtype=DTYPE), x) - s["gamma"] * torch.tensor(z, dtype=DTYPE)).detach().numpy()

    found = []
    for start in [numpy.zeros(s["D"]), numpy.ones(s["D"]), -numpy.ones(s["D"])]:
        answer = scipy.optimize.root(residual, start, method="hybr", options={"xtol": 1e-14})
        assert abs(residual(answer.x)).max() < 1e-11, "scipy found no root"
        found.append(answer.x)
    assert max(abs(found[0] - other).max() for other in found) < 1e-9, "more than one equilibrium"
    return torch.tensor(found[0], dtype=DTYPE)


def implicit(p, s, x):
    """z with the gradient of the implicit function theorem."""
    z = solve(p, s, x)
    difference = lambda z: transition(p, s, z, x) - s["gamma"] * z
    jacobian = torch.autograd.functional.jacobian(difference, z).detach()
    return z - torch.linalg.solve(jacobian, difference(z))


def unrolled(p, s, x):
    z = torch.zeros(s["D"], dtype=DTYPE)
    for _ in range(500):
        z = transition(p, s, z, x) / s["gamma"]
    return z


def run(p, s, inputs, weights, step):
    """The states, and the gradients of sum(weights * states)."""
    leaves = {name: value.clone().requires_grad_(True) for name, value in {**p, "x": inputs}.items()}
    h, states = torch.zeros(s["D"], dtype=DTYPE), []
    for x in leaves["x"]:
        z = step(leaves, s, x)
        h = z - h if s["sign"] == "plus" else z + h
        states.append(h)
    states = torch.stack(states)
    (states * weights).sum().backward()
    return states.detach(), {name: leaf.grad for name, leaf in leaves.items()}


def make(index, structure, outer, activation, sign, contract):
    draw = numpy.random.default_rng(index)
    hidden, inputs, rank, steps = 7, 3, 2, 5
    tensor = lambda *shape, scale: torch.tensor(draw.normal(0, scale, shape), dtype=DTYPE)
    p = {"W": tensor(hidden, inputs, scale=0.5), "b": tensor(hidden, scale=0.3)}
    if structure == "dense":
        p["U"] = tensor(hidden, hidden, scale=0.5 if contract else 0.15)
    else:
        p["V"], p["H"] = tensor(hidden, rank, scale=0.4 if contract else 0.2), tensor(rank, hidden, scale=0.4 if contract else 0.2)
    s = {
        "structure": structure, "P": outer, "activation": activation, "sign": sign, "contract": contract,
        "gamma": 1.0 if contract or structure == "dense" else 2.5, "D": hidden, "d": inputs, "r": rank, "T": steps,
        "parameters": list(p),
    }
    x, weights = tensor(steps, inputs, scale=1.0), tensor(steps, hidden, scale=1.0)
    states, gradients = run(p, s, x, weights, implicit)
    plain, unrolled_gradients = run(p, s, x, weights, unrolled)
    assert abs(states - plain).max() < 1e-9
    for name, gradient in gradients.items():
        assert abs(gradient - unrolled_gradients[name]).max() < 1e-7, name
    tensors = {**p, "x": x, "weights": weights, "states": states}
    tensors.update({f"grad.{name}": gradient for name, gradient in gradients.items()})
    return golden.case(f"{structure}-{outer}-{activation}-{sign}-{contract}.f64", s, tensors)


if __name__ == "__main__":
    axes = itertools.product(["dense", "low-rank"], ["U", "I"], ["relu", "tanh", "sigmoid"], ["plus", "minus"], [0.0, 0.8])
    cases = [make(index, *choice) for index, choice in enumerate(axes) if index % 3 != 2]
    golden.write("equilibria.safetensors", cases, f"equilibria.py, scipy {scipy.__version__}")
