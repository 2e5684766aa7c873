"""Golden values of the leaky family (RNN, FastRNN, AntisymmetricRNN, ERNN), by torch in float64.

    python reference/leaky_cells.py

writes crates/ernn/tests/golden/leaky_cells.safetensors; its layout: reference/README.md. States come from a plain loop over
time, one sequence at a time, written from the formulas; gradients from torch's autograd (recurrent.py). Before anything is
written, RNN is held against torch.nn.RNNCell, and FastRNN and AntisymmetricRNN against torchrecurrent, states and gradients.

    RNN              h_k = phi(W x_k + U h_{k-1} + b)                       U [D,D] or U1 [D,r] U2 [r,D]
    FastRNN          h_k = sigmoid(beta) h_{k-1} + sigmoid(alpha) phi(W x_k + U h_{k-1} + b)
    Antisymmetric    h_k = h_{k-1} + eps phi((Wh - Wh^T - gamma I) h_{k-1} + W x_k + b)     Wh [D,D] or A [D,r] B [r,D]
    ERNN             h^(0)   = h_{k-1} (start "previous") or 0 (start "zero")
                     z       = h^(i) + h_{k-1} (sign "plus") or h^(i) - h_{k-1} (sign "minus")
                     h^(i+1) = h^(i) + eta_i (phi(P (U z + W x_k + b)) - gamma z)           i = 0..K-1
                     h_k     = h^(K)                                        U [D,D] or I + V [D,r] H [r,D]; P = U or I

W [D,d], b [D], eta [K,T] (per step) or [K] (per iteration). All vectors are columns.
"""

import itertools

import torch
import torchrecurrent

import golden
import recurrent
from recurrent import DTYPE, PHI, Data, drawer, input_matrix, recurrent_matrix

RAGGED = [7, 1, 12, 5]
EQUAL = [12, 12, 12, 12]
ACTIVATIONS = ["relu", "tanh", "sigmoid"]


# ---- One step of each cell: (parameters, settings, x_k, h_{k-1}, k) -> h_k -------------------------------------------------


def rnn_step(p, s, x, h, k):
    return PHI[s["activation"]](input_matrix(p) @ x + recurrent_matrix(p) @ h + p["b"])


def fastrnn_step(p, s, x, h, k):
    return torch.sigmoid(p["beta"]) * h + torch.sigmoid(p["alpha"]) * rnn_step(p, s, x, h, k)


def antisymmetric_step(p, s, x, h, k):
    wh = p["Wh"] if "Wh" in p else p["A"] @ p["B"]
    matrix = wh - wh.T - s["gamma"] * torch.eye(s["D"], dtype=h.dtype)
    return h + s["epsilon"] * PHI[s["activation"]](matrix @ h + p["W"] @ x + p["b"])


def ernn_step(p, s, x, previous, k):
    identity = torch.eye(s["D"], dtype=previous.dtype)
    u = p["U"] if "U" in p else identity + p["V"] @ p["H"]
    outer = {"U": u, "I": identity}[s["P"]]
    direction = {"plus": 1.0, "minus": -1.0}[s["sign"]]
    h = {"previous": previous, "zero": torch.zeros_like(previous)}[s["start"]]
    for i in range(s["K"]):
        eta = p["eta"][i, k] if s["eta_kind"] == "step" else p["eta"][i]
        z = h + direction * previous
        h = h + eta * (PHI[s["activation"]](outer @ (u @ z + p["W"] @ x + p["b"])) - s["gamma"] * z)
    return h


STEP = {"rnn": rnn_step, "fastrnn": fastrnn_step, "antisymmetric": antisymmetric_step, "ernn": ernn_step}


# ---- Cases -----------------------------------------------------------------------------------------------------------------


def draw_parameters(cell, structure, data, settings, seed):
    """Values large enough that every term matters and every activation is left and right of its bend."""
    draw, d, D, r = drawer(seed), data.d, data.D, settings.get("r")
    p = {"W": 0.5 * draw(D, d), "b": 0.3 * draw(D)}
    if cell == "antisymmetric":
        p |= {"Wh": 0.6 * draw(D, D)} if structure == "dense" else {"A": draw(D, r), "B": 0.5 * draw(r, D)}
    elif cell == "ernn":
        scale = D ** -0.5
        p |= {"U": scale * draw(D, D)} if structure == "dense" else {"V": 0.7 * scale * draw(D, r), "H": 0.7 * scale * draw(r, D)}
        shape = (settings["K"], data.T) if settings["eta_kind"] == "step" else (settings["K"],)
        p["eta"] = (0.2 + 0.3 * torch.tanh(draw(*shape))) / (1 + settings["K"])
    else:
        p |= {"U": D ** -0.5 * draw(D, D)} if structure == "dense" else {"U1": 0.6 * draw(D, r), "U2": 0.6 * draw(r, D)}
    if cell == "fastrnn":
        p |= {"alpha": draw(1) - 0.5, "beta": draw(1) + 0.5}
    return p


def make_case(cell, structure, data, lengths, given, seed, **settings):
    """One case; `given` says whether the initial state is given or 0."""
    if structure == "low-rank":
        settings = {"r": 2, **settings}
    p = draw_parameters(cell, structure, data, settings, seed)
    settings = {"cell": cell, "structure": structure, **settings}
    others = {name: check(data, settings) for name, check in CHECKS.get((cell, structure, settings["activation"]), {}).items()}
    name = "_".join([cell, structure, settings["activation"], f"{seed:03}"])
    return recurrent.make_case(name, STEP[cell], p, settings, data, lengths, given, others)


# ---- Independent implementations -------------------------------------------------------------------------------------------


def as_torch_rnn(data, s):
    cell = torch.nn.RNNCell(data.d, data.D, nonlinearity=s["activation"], dtype=DTYPE)
    return with_names(cell, {"W": "weight_ih", "U": "weight_hh", "b": "bias_ih"})


def as_torchrecurrent_fastrnn(data, s):
    cell = torchrecurrent.FastRNNCell(data.d, data.D, nonlinearity=s["activation"], dtype=DTYPE)
    return with_names(cell, {"W": "weight_ih", "U": "weight_hh", "b": "bias_ih", "alpha": "alpha", "beta": "beta"})


def as_torchrecurrent_antisymmetric(data, s):
    cell = torchrecurrent.AntisymmetricRNNCell(
        data.d, data.D, nonlinearity=s["activation"], epsilon=s["epsilon"], gamma=s["gamma"], dtype=DTYPE)
    return with_names(cell, {"W": "weight_ih", "Wh": "weight_hh", "b": "bias_ih"})


def with_names(cell, names):
    """The module's step from our parameters; its second bias is 0."""
    theirs = lambda p: {name: p[role] for role, name in names.items()} | {"bias_hh": torch.zeros_like(p["b"])}
    return recurrent.module_step(cell, theirs)


CHECKS = {
    **{("rnn", "dense", phi): {"torch.nn.RNNCell": as_torch_rnn} for phi in ["relu", "tanh"]},
    **{("fastrnn", "dense", phi): {"torchrecurrent": as_torchrecurrent_fastrnn} for phi in ACTIVATIONS},
    **{("antisymmetric", "dense", phi): {"torchrecurrent": as_torchrecurrent_antisymmetric} for phi in ACTIVATIONS},
}


# ---- The table of cases ----------------------------------------------------------------------------------------------------


def simple_cells(data, seeds):
    """RNN, FastRNN, AntisymmetricRNN: dense and low rank, every activation."""
    for cell, structure, phi in itertools.product(["rnn", "fastrnn"], ["dense", "low-rank"], ACTIVATIONS):
        seed = next(seeds)
        yield make_case(cell, structure, data, RAGGED if seed % 3 else EQUAL, seed % 2 == 0, seed, activation=phi)
    for (structure, phi), gamma, epsilon in zip(
        [("dense", "tanh"), ("dense", "relu"), ("dense", "sigmoid"), ("low-rank", "tanh")],
        [0.1, 0.0, 0.01, 0.3], [0.5, 0.1, 1.0, 0.2]):
        seed = next(seeds)
        yield make_case("antisymmetric", structure, data, RAGGED, seed % 2 == 0, seed, activation=phi, gamma=gamma,
                        epsilon=epsilon)


def ernn_case(data, seeds, structure="low-rank", P="U", activation="relu", K=1, start="previous", sign="plus", eta="step",
              gamma=1.0, lengths=None, given=True, **more):
    return make_case("ernn", structure, data, lengths or RAGGED, given, next(seeds), P=P, activation=activation, K=K,
                     start=start, sign=sign, eta_kind=eta, gamma=gamma, **more)


def ernn_cells(data, seeds):
    """The default for every K; every structure with every start and sign, the other axes going round; every K and eta kind."""
    for K in [1, 3, 5]:
        yield ernn_case(data, seeds, K=K, lengths=EQUAL, given=False)
    structures = [("low-rank", "U"), ("dense", "U"), ("dense", "I"), ("low-rank", "I")]
    for m, (structure, P) in enumerate(structures):
        for i, j in itertools.product(range(2), range(2)):
            yield ernn_case(data, seeds, structure, P, start=["previous", "zero"][i], sign=["plus", "minus"][j],
                            activation=ACTIVATIONS[(2 * m + i + j) % 3], K=[1, 3, 5][(m + 2 * i + j) % 3],
                            eta=["step", "iteration"][(m + i) % 2], gamma=[1.0, 0.7][(m + i + j) % 2])
    # ReLU with gamma below 1 and many iterations would grow without bound.
    for K, phi, gamma in [(1, "tanh", 0.7), (3, "sigmoid", 0.7), (5, "relu", 1.0)]:
        yield ernn_case(data, seeds, activation=phi, K=K, eta="iteration", gamma=gamma)


def larger_cells(data, seeds):
    """Sizes beyond a register tile, more sequences than a lane block: where a kernel's edges lie."""
    lengths = [1 + (5 * n) % data.T for n in range(data.N)]
    yield make_case("rnn", "dense", data, lengths, True, next(seeds), activation="tanh")
    yield ernn_case(data, seeds, K=3, activation="tanh", lengths=lengths, r=5)


if __name__ == "__main__":
    torch.set_num_threads(1)
    small, large = Data("small", d=3, D=6, T=12, N=4, seed=100), Data("large", d=5, D=19, T=6, N=19, seed=101)
    seeds = itertools.count()
    cases = [*simple_cells(small, seeds), *ernn_cells(small, seeds), *larger_cells(large, seeds)]
    shared = {**small.tensors(memory=False), **large.tensors(memory=False)}
    golden.write("leaky_cells.safetensors", cases, "reference/leaky_cells.py", shared)
    print("equal to another implementation:", recurrent.checked)
    for entry in cases:
        s = entry["settings"]
        shown = [f"{key} {s[key]}" for key in ["P", "K", "start", "sign", "eta_kind", "gamma", "epsilon"] if key in s]
        print(f"  {entry['name']:34}{entry['own']['loss'].item():12.6f}  {', '.join(shown)}")
