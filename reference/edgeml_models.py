"""Golden values of EdgeML's cells: tiny folders of their files, with inputs and logits, from the formulas in numpy.

    python reference/edgeml_models.py

writes crates/ernn/tests/golden/edgeml_models.safetensors; its layout: reference/README.md. Vectors are rows, as in EdgeML: a
matrix is [inputs, outputs], and a product is x @ W. The folders hold single-precision numbers; states and logits are computed
in double precision from them.

    FastRNN    c = u(x W + h U + B);  h' = sigmoid(beta) h + sigmoid(alpha) c
    FastGRNN   z = g(x W + h U + Bg);  c = u(x W + h U + Bh);  h' = z h + (sigmoid(zeta) (1 - z) + sigmoid(nu)) c
    UGRNN      z = g(1, Bg);  c = u(2, Bh);  h' = z h + (1 - z) c
    GRU        r = g(1, Br);  z = g(2, Bg);  c = u(x W3 + (r h) U3 + Bh);  h' = z h + (1 - z) c
    LSTM       f, i = g(1, Bf), g(2, Bi) (TensorFlow) or g(2, Bf), g(1, Bi) (PyTorch)
               c' = f c + i u(3, Bc);  h' = g(4, Bo) u(c')
    all        logits = h_T FC + FCbias

(k, b) is x Wk + h Uk + b; of low rank x W Wk + h U Uk + b, W and U shared by all k. A matrix without a number is W1 W2 (U1 U2).
"""

import itertools

import numpy as np
import torch

import golden

d, D, C, T, N, RW, RU = 3, 5, 4, 7, 6, 2, 3
sigmoid = lambda a: 1 / (1 + np.exp(-a))
UPDATE = {"tanh": np.tanh, "relu": lambda a: np.maximum(a, 0), "quantTanh": lambda a: np.clip(a, -1, 1), "sigmoid": sigmoid}
GATE = {"sigmoid": sigmoid, "quantSigm": lambda a: np.clip((a + 1) / 2, 0, 1)}
# Number of matrices W (and U), and names of the biases and scalars.
CELLS = {
    "FastRNN": (0, ["B"], ["alpha", "beta"]),
    "FastGRNN": (0, ["Bg", "Bh"], ["zeta", "nu"]),
    "UGRNN": (2, ["Bg", "Bh"], []),
    "GRU": (3, ["Br", "Bg", "Bh"], []),
    "LSTM": (4, ["Bf", "Bi", "Bc", "Bo"], []),
}


def draw_files(rng, cell, low_w, low_u, inputs):
    """The arrays of a folder by the names of its files."""
    count, biases, scalars = CELLS[cell]
    draw = lambda *shape: (0.8 * rng.standard_normal(shape)).astype(np.float32)
    files = {}
    for letter, rows, rank in [("W", inputs, RW if low_w else None), ("U", D, RU if low_u else None)]:
        if count == 0 and rank is None:
            files[letter] = draw(rows, D)
        elif count == 0:
            files[f"{letter}1"], files[f"{letter}2"] = draw(rows, rank), draw(rank, D)
        else:
            if rank is not None:
                files[letter] = draw(rows, rank)
            files |= {f"{letter}{k}": draw(rank or rows, D) for k in range(1, count + 1)}
    files |= {name: draw(1, D) for name in biases} | {name: draw(1, 1) for name in scalars}
    return files | {"FC": draw(D, C), "FCbias": draw(C)}


def logits(cell, files, flavor, u, g, x):
    """Logits [N, C] of inputs [N, T, d]."""
    p = {name: value.astype(np.float64) for name, value in files.items()}

    def product(letter, k, v):
        if k is None:
            return v @ p[letter] if letter in p else v @ p[f"{letter}1"] @ p[f"{letter}2"]
        return (v @ p[letter] if letter in p else v) @ p[f"{letter}{k}"]

    h = c = np.zeros((len(x), D))
    for t in range(x.shape[1]):
        a = lambda k: product("W", k, x[:, t]) + product("U", k, h)
        if cell == "FastRNN":
            h = sigmoid(p["beta"]) * h + sigmoid(p["alpha"]) * u(a(None) + p["B"])
        elif cell == "FastGRNN":
            z, new = g(a(None) + p["Bg"]), u(a(None) + p["Bh"])
            h = z * h + (sigmoid(p["zeta"]) * (1 - z) + sigmoid(p["nu"])) * new
        elif cell == "UGRNN":
            z, new = g(a(1) + p["Bg"]), u(a(2) + p["Bh"])
            h = z * h + (1 - z) * new
        elif cell == "GRU":
            r, z = g(a(1) + p["Br"]), g(a(2) + p["Bg"])
            new = u(product("W", 3, x[:, t]) + product("U", 3, r * h) + p["Bh"])
            h = z * h + (1 - z) * new
        elif cell == "LSTM":
            of_f, of_i = (1, 2) if flavor == "tensorflow" else (2, 1)
            f, i = g(a(of_f) + p["Bf"]), g(a(of_i) + p["Bi"])
            c = f * c + i * u(a(3) + p["Bc"])
            h = g(a(4) + p["Bo"]) * u(c)
    return h @ p["FC"] + p["FCbias"]


def make_case(name, seed, cell, low_w, low_u, u, g, flavor="pytorch", transposed=False, normalized=False, inputs=d):
    rng = np.random.default_rng(seed)
    files = draw_files(rng, cell, low_w, low_u, inputs)
    x = rng.standard_normal((N, T, inputs)).astype(np.float32)
    seen = x.astype(np.float64)
    if normalized:
        mean, std = rng.standard_normal(inputs), rng.uniform(0.5, 2, inputs)
        files |= {"mean": np.tile(mean, T), "std": np.tile(std, T)}
        seen = (seen - mean) / std
    values = logits(cell, files, flavor, UPDATE[u], GATE[g], seen)
    if transposed:
        files |= {name: files[name].T for name in ["W", "W1", "W2", "U", "U1", "U2"] if name in files}
    settings = {"cell": cell, "flavor": flavor, "update": u, "gate": g, "transposed": transposed, "d": inputs, "D": D, "C": C,
                "T": T, "N": N, "files": list(files)}
    tensors = files | {"input": x, "logits": values}
    return golden.case(name, settings, {role: torch.from_numpy(np.array(value, order="C")) for role, value in tensors.items()})


if __name__ == "__main__":
    cases, seeds = [], itertools.count(400)
    functions = itertools.cycle([("tanh", "sigmoid"), ("quantTanh", "quantSigm"), ("relu", "sigmoid"), ("tanh", "quantSigm"),
                                 ("sigmoid", "sigmoid")])
    ranks = {False: "full", True: "low"}
    for cell, low_w, low_u in itertools.product(CELLS, [False, True], [False, True]):
        for flavor in ["tensorflow", "pytorch"] if cell == "LSTM" else ["pytorch"]:
            u, g = next(functions)
            name = f"{cell}_{ranks[low_w]}_{ranks[low_u]}" + (f"_{flavor}" if cell == "LSTM" else "")
            cases.append(make_case(name, next(seeds), cell, low_w, low_u, u, g, flavor))
    for low_w, low_u in itertools.product([False, True], [False, True]):
        name = f"FastGRNN_transposed_{ranks[low_w]}_{ranks[low_u]}"
        cases.append(make_case(name, next(seeds), "FastGRNN", low_w, low_u, "tanh", "sigmoid", transposed=True))
    last = ["FastGRNN", False, True, "tanh", "sigmoid"]
    cases.append(make_case("FastGRNN_transposed_square_low", next(seeds), *last, transposed=True, inputs=D))
    cases.append(make_case("FastGRNN_normalized", next(seeds), *last, normalized=True))
    golden.write("edgeml_models.safetensors", cases, "reference/edgeml_models.py")
    for entry in cases:
        print(f"  {entry['name']:34}{entry['own']['logits'].abs().mean():10.4f}")
