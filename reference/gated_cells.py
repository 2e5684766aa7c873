"""Golden values of the gated cells, the spectral RNN, ERNN with layers inside, and what came later to simpler cells; by torch
in float64.

    python reference/gated_cells.py

writes crates/ernn/tests/golden/gated_cells.safetensors; its layout: reference/README.md. Made as in leaky_cells.py: a plain
loop over time from the formulas, gradients by autograd (recurrent.py). Before anything is written, states and gradients are
held against torch.nn.LSTMCell and GRUCell, torchrecurrent's cells, torch.linalg.householder_product and torch.nn.Sequential,
wherever those offer the same functions.

    LSTM              i, f, g, o = rows of W x + U h + b;  c' = sigma(f) c + sigma(i) phi(g);  h' = sigma(o) phi(c')
    GRU               r, z, n = rows of W x + b and of U h;  h' = (1 - z) n + z h,  r and z by sigma of the sums, and
      reset "after"     n = phi(W_n x + b[n] + r (U_n h + b_n))
      reset "before"    n = phi(W_n x + b[n] + U_n (r h))
    UGRNN             z, c = rows of W x + U h + b;  h' = sigma(z) h + (1 - sigma(z)) phi(c)
    FastGRNN          p = W x + U h;  z = sigma(p + b_z);  c = phi(p + b_h)
                      h' = z h + (sigmoid(zeta) (1 - z) + sigmoid(nu)) c
    Gated antisymm.   p = (Wh - Wh^T - gamma I) h;  z, c = rows of W x + b;  h' = h + epsilon sigma(p + z) phi(p + c)
    Spectral          h' = phi(R h + W x + b),  R = Q_u diag(s) Q_v^T,  s = 1 + 2 radius (sigmoid(p) - 1/2)
                      Q = H_0 H_1 ... H_{n-1},  H_i = I - 2 v v^T / (v^T v),  v = row i of Hu or Hv with its first i entries 0
    Deep ERNN         as ERNN in leaky_cells.py, with f(z) = a_L for phi(P (U z + W x + b)):
                      a_1 = phi(U z + W x + b),  a_j = phi(U_j a_{j-1} + b_j)

With S gates: W [S D,d] or W1 [S D,rw] W2 [rw,d]; U [S D,D] or U1 [S D,r] U2 [r,D]; b [S D]; gates one after the other in the
order given above. Hu, Hv [n,D], p [D]. Deep ERNN: U [w_1,D], W [w_1,d], b [w_1], U_j [w_j,w_{j-1}], b_j [w_j], w_L = D.
sigma is the gates' activation, phi the other one. All vectors are columns.
"""

import itertools

import torch
import torchrecurrent

import golden
import leaky_cells
import recurrent
from recurrent import DTYPE, PHI, Data, drawer, input_matrix, recurrent_matrix

RAGGED = [5, 1, 7, 3]
EQUAL = [7, 7, 7, 7]
GATES = {"lstm": 4, "gru": 3, "ugrnn": 2, "fastgrnn": 1, "rnn": 1, "fastrnn": 1}


# ---- One step of each cell: (parameters, settings, x_k, the state's vectors, k) -> new state -------------------------------


def functions(s):
    """sigma and phi."""
    return PHI[s["gate_activation"]], PHI[s["activation"]]


def lstm_step(p, s, x, h, c, k):
    sigma, phi = functions(s)
    i, f, g, o = (input_matrix(p) @ x + recurrent_matrix(p) @ h + p["b"]).chunk(4)
    c = sigma(f) * c + sigma(i) * phi(g)
    return sigma(o) * phi(c), c


def gru_step(p, s, x, h, k):
    (sigma, phi), u = functions(s), recurrent_matrix(p)
    u_r, u_z, u_n = u.chunk(3)
    r, z, n = (input_matrix(p) @ x + p["b"]).chunk(3)
    r, z = sigma(r + u_r @ h), sigma(z + u_z @ h)
    n = phi(n + (r * (u_n @ h + p["b_n"]) if s["reset"] == "after" else u_n @ (r * h)))
    return (1 - z) * n + z * h


def ugrnn_step(p, s, x, h, k):
    sigma, phi = functions(s)
    z, c = (input_matrix(p) @ x + recurrent_matrix(p) @ h + p["b"]).chunk(2)
    return sigma(z) * h + (1 - sigma(z)) * phi(c)


def fastgrnn_step(p, s, x, h, k):
    sigma, phi = functions(s)
    shared = input_matrix(p) @ x + recurrent_matrix(p) @ h
    z, c = sigma(shared + p["b_z"]), phi(shared + p["b_h"])
    return z * h + (torch.sigmoid(p["zeta"]) * (1 - z) + torch.sigmoid(p["nu"])) * c


def gated_antisymmetric_step(p, s, x, h, k):
    sigma, phi = functions(s)
    wh = p["Wh"] if "Wh" in p else p["A"] @ p["B"]
    shared = (wh - wh.T - s["gamma"] * torch.eye(s["D"], dtype=h.dtype)) @ h
    z, c = (p["W"] @ x + p["b"]).chunk(2)
    return h + s["epsilon"] * sigma(shared + z) * phi(shared + c)


def reflections(vectors):
    """The product of the Householder reflections of the rows; the first i entries of row i count as 0."""
    identity = product = torch.eye(vectors.shape[1], dtype=vectors.dtype)
    for i, row in enumerate(vectors):
        v = torch.cat([torch.zeros(i, dtype=row.dtype), row[i:]])
        product = product @ (identity - 2 * torch.outer(v, v) / (v @ v))
    return product


def singular_values(p, s):
    return 1 + 2 * s["radius"] * (torch.sigmoid(p["p"]) - 0.5)


def spectral_step(p, s, x, h, k):
    matrix = reflections(p["Hu"]) @ torch.diag(singular_values(p, s)) @ reflections(p["Hv"]).T
    return PHI[s["activation"]](matrix @ h + p["W"] @ x + p["b"])


def deep_ernn_step(p, s, x, previous, k):
    phi = PHI[s["activation"]]
    direction = {"plus": 1.0, "minus": -1.0}[s["sign"]]
    h = {"previous": previous, "zero": torch.zeros_like(previous)}[s["start"]]
    for i in range(s["K"]):
        eta = p["eta"][i, k] if s["eta_kind"] == "step" else p["eta"][i]
        z = h + direction * previous
        f = phi(p["U"] @ z + p["W"] @ x + p["b"])
        for layer in range(2, len(s["widths"]) + 2):
            f = phi(p[f"U_{layer}"] @ f + p[f"b_{layer}"])
        h = h + eta * (f - s["gamma"] * z)
    return h


STEP = leaky_cells.STEP | {
    "lstm": lstm_step, "gru": gru_step, "ugrnn": ugrnn_step, "fastgrnn": fastgrnn_step,
    "gated-antisymmetric": gated_antisymmetric_step, "spectral": spectral_step, "deep-ernn": deep_ernn_step}


# ---- Cases -----------------------------------------------------------------------------------------------------------------


def factors(draw, names, rows, columns, rank, scale):
    """A matrix, or two factors if there is a rank."""
    if rank is None:
        return {names[0]: scale * draw(rows, columns)}
    return {names[1]: 0.6 * draw(rows, rank), names[2]: 0.6 * draw(rank, columns)}


def draw_parameters(cell, data, s, seed):
    """Values large enough that every term matters and every activation is left and right of its bends."""
    draw, d, D = drawer(seed), data.d, data.D
    if cell in GATES:
        rows = GATES[cell] * D
        p = factors(draw, ["W", "W1", "W2"], rows, d, s.get("input_r"), 0.5)
        p |= factors(draw, ["U", "U1", "U2"], rows, D, s.get("r"), D**-0.5)
        p |= {"b_z": 0.3 * draw(D), "b_h": 0.3 * draw(D)} if cell == "fastgrnn" else {"b": 0.3 * draw(rows)}
        if s.get("reset") == "after":
            p["b_n"] = 0.5 * draw(D)
        scalars = {"fastgrnn": ["zeta", "nu"], "fastrnn": ["alpha", "beta"]}.get(cell, [])
        return p | {name: draw(1) for name in scalars}
    if cell == "gated-antisymmetric":
        p = {"W": 0.5 * draw(2 * D, d), "b": 0.3 * draw(2 * D)}
        return p | factors(draw, ["Wh", "A", "B"], D, D, s.get("r"), 0.6)
    if cell == "spectral":
        n = s["reflections"]
        # The entries that do not count are drawn, too: to use them would be seen.
        return {"W": 0.5 * draw(D, d), "b": 0.3 * draw(D), "Hu": draw(n, D), "Hv": draw(n, D), "p": draw(D)}
    if cell == "deep-ernn":
        widths = [*s["widths"], D]
        p = {"W": 0.5 * draw(widths[0], d), "b": 0.3 * draw(widths[0]), "U": D**-0.5 * draw(widths[0], D)}
        for layer, (width, below) in enumerate(zip(widths[1:], widths), start=2):
            p |= {f"U_{layer}": below**-0.5 * draw(width, below), f"b_{layer}": 0.3 * draw(width)}
        shape = (s["K"], data.T) if s["eta_kind"] == "step" else (s["K"],)
        return p | {"eta": (0.2 + 0.3 * torch.tanh(draw(*shape))) / (1 + s["K"])}
    return leaky_cells.draw_parameters(cell, s["structure"], data, s, seed)


def make_case(cell, data, seed, lengths=None, given=None, **settings):
    """One case; lengths and whether the initial state is given go round, unless said."""
    structure = {} if cell in ("spectral", "deep-ernn") else {"structure": "low-rank" if "r" in settings else "dense"}
    settings = {"cell": cell, **structure, **settings}
    p = draw_parameters(cell, data, settings, seed)
    lengths = lengths or (RAGGED if seed % 3 else EQUAL)
    name = "_".join([cell, *structure.values(), settings["activation"], f"{seed:03}"])
    return recurrent.make_case(name, STEP[cell], p, settings, data, lengths, seed % 2 == 0 if given is None else given,
                               others(cell, data, settings), memory=cell == "lstm")


# ---- Independent implementations -------------------------------------------------------------------------------------------


class HardSigmoid(torch.nn.Module):
    """For torchrecurrent; torch's own Hardsigmoid has another slope."""

    def forward(self, a):
        return torch.nn.functional.hardtanh(a) / 2 + 0.5


def others(cell, data, s):
    """Implementations by others of this case (name -> step); empty where none computes the same function."""
    sizes, phi = {"input_size": data.d, "hidden_size": data.D, "dtype": DTYPE}, s["activation"]
    usual = s.get("gate_activation") == "sigmoid" and phi == "tanh"
    if cell == "lstm" and usual:
        return {"torch.nn.LSTMCell": recurrent.module_step(torch.nn.LSTMCell(**sizes), split_bias)}
    if cell == "gru" and usual and s["reset"] == "after":
        return {"torch.nn.GRUCell": recurrent.module_step(torch.nn.GRUCell(**sizes), gru_biases)}
    if cell == "rnn" and phi in ("tanh", "relu"):
        return {"torch.nn.RNNCell": recurrent.module_step(torch.nn.RNNCell(nonlinearity=phi, **sizes), split_bias)}
    if cell == "ugrnn" and usual:
        return {"torchrecurrent.UGRNNCell": recurrent.module_step(torchrecurrent.UGRNNCell(**sizes), candidate_first)}
    if cell == "fastgrnn" and phi == "tanh":
        # Its `nonlinearity` is the gate's; the candidate's is always tanh.
        module = torchrecurrent.FastGRNNCell(nonlinearity=module_of(s["gate_activation"]), **sizes)
        return {"torchrecurrent.FastGRNNCell": recurrent.module_step(module, fastgrnn_tensors)}
    if cell == "fastrnn":
        module = torchrecurrent.FastRNNCell(nonlinearity=module_of(phi), **sizes)
        scalars = lambda p: {name: p[name] for name in ["alpha", "beta"]}
        return {"torchrecurrent.FastRNNCell": recurrent.module_step(module, lambda p: split_bias(p) | scalars(p))}
    if cell == "gated-antisymmetric" and usual:
        module = torchrecurrent.GatedAntisymmetricRNNCell(epsilon=s["epsilon"], gamma=s["gamma"], **sizes)
        return {"torchrecurrent.GatedAntisymmetricRNNCell": recurrent.module_step(module, antisymmetric_tensors)}
    if cell == "antisymmetric":
        module = torchrecurrent.AntisymmetricRNNCell(
            nonlinearity=module_of(phi), epsilon=s["epsilon"], gamma=s["gamma"], **sizes)
        return {"torchrecurrent.AntisymmetricRNNCell": recurrent.module_step(module, antisymmetric_tensors)}
    if cell == "spectral":
        return {"torch.linalg.householder_product": recurrent.bind(spectral_by_linalg, s)}
    if cell == "deep-ernn":
        # Without further layers it is the ERNN of leaky_cells.py with a dense U and P = I.
        plain = {"leaky_cells.py": recurrent.bind(leaky_cells.ernn_step, {**s, "P": "I", "D": data.D})}
        return {"torch.nn.Sequential": recurrent.bind(deep_ernn_by_layers(data, s), s)} | ({} if s["widths"] else plain)
    return {}


def module_of(phi):
    modules = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh, "sigmoid": torch.nn.Sigmoid, "hard-tanh": torch.nn.Hardtanh}
    return (modules | {"hard-sigmoid": HardSigmoid})[phi]()


def matrices(p):
    return {"weight_ih": input_matrix(p), "weight_hh": recurrent_matrix(p)}


def split_bias(p):
    """b is the sum of their two biases."""
    return matrices(p) | {"bias_ih": 0.25 * p["b"], "bias_hh": 0.75 * p["b"]}


def gru_biases(p):
    """Of the candidate's two biases the reset gate scales one, b_n; of the others only the sum counts."""
    gates, candidate = p["b"].tensor_split([2 * len(p["b_n"])])
    return matrices(p) | {"bias_ih": torch.cat([0.25 * gates, candidate]), "bias_hh": torch.cat([0.75 * gates, p["b_n"]])}


def candidate_first(p):
    """The other order of gate and candidate."""
    return {name: torch.cat(value.chunk(2)[::-1]) for name, value in split_bias(p).items()}


def fastgrnn_tensors(p):
    bias = torch.cat([p["b_z"], p["b_h"]])
    return matrices(p) | {"bias_ih": 0.25 * bias, "bias_hh": 0.75 * bias, "zeta": p["zeta"], "nu": p["nu"]}


def antisymmetric_tensors(p):
    """Their second bias is not ours: in the gated cell it goes to the candidate alone."""
    wh = p["Wh"] if "Wh" in p else p["A"] @ p["B"]
    return {"weight_ih": p["W"], "weight_hh": wh, "bias_ih": p["b"], "bias_hh": torch.zeros(len(wh), dtype=wh.dtype)}


def spectral_by_linalg(p, s, x, h, k):
    """LAPACK's form of the reflections: vectors of which entry i is 1, and their factors 2 / v^T v."""

    def orthogonal(vectors):
        D, rows = vectors.shape[1], vectors.triu()
        rows = rows / rows.diagonal().unsqueeze(1)
        columns = torch.nn.functional.pad(rows.T, (0, D - len(rows)))
        factors = torch.nn.functional.pad(2 / rows.square().sum(dim=1), (0, D - len(rows)))
        return torch.linalg.householder_product(columns, factors)

    # sigmoid(p) - 1/2 = tanh(p / 2) / 2
    matrix = (orthogonal(p["Hu"]) * (1 + s["radius"] * torch.tanh(p["p"] / 2))) @ orthogonal(p["Hv"]).T
    return PHI[s["activation"]](matrix @ h + p["W"] @ x + p["b"])


def deep_ernn_by_layers(data, s):
    """f as torch's layers, the first over z and x together; Euler's steps on z itself."""
    phi, sizes = s["activation"], [data.D + data.d, *s["widths"], data.D]
    layers = [[torch.nn.Linear(below, width, dtype=DTYPE), module_of(phi)] for below, width in itertools.pairwise(sizes)]
    network = torch.nn.Sequential(*itertools.chain(*layers))

    def step(p, s, x, previous, k):
        tensors = {"0.weight": torch.cat([p["U"], p["W"]], dim=1), "0.bias": p["b"]}
        for layer in range(1, len(sizes) - 1):
            tensors |= {f"{2 * layer}.weight": p[f"U_{layer + 1}"], f"{2 * layer}.bias": p[f"b_{layer + 1}"]}
        etas = p["eta"][:, k] if s["eta_kind"] == "step" else p["eta"]
        offset = previous if s["sign"] == "plus" else -previous
        z = offset + (previous if s["start"] == "previous" else 0)
        # z = h + offset differs from h by a constant, so its steps are the same.
        for eta in etas:
            f = torch.func.functional_call(network, tensors, torch.cat([z, x]).unsqueeze(0)).squeeze(0)
            z = (1 - eta * s["gamma"]) * z + eta * f
        return z - offset

    return step


def check_reset_before(data):
    """With a diagonal U_n the reset may stand before or after the product: then torch.nn.GRUCell without b_n is the same."""
    draw, D, s = drawer(1000), data.D, {"reset": "before", "gate_activation": "sigmoid", "activation": "tanh"}
    p = {"W": 0.5 * draw(3 * D, data.d), "b": 0.3 * draw(3 * D), "U_gates": D**-0.5 * draw(2 * D, D), "diagonal": draw(D)}
    values = {**p, **data.inputs(given=True, memory=False)}
    full = lambda p: {"W": p["W"], "b": p["b"], "U": torch.cat([p["U_gates"], torch.diag(p["diagonal"])])}
    ours = lambda p, x, state, k: (gru_step(full(p), s, x, *state, k),)
    without = lambda p: gru_biases(full(p) | {"b_n": torch.zeros(D, dtype=DTYPE)})
    module = recurrent.module_step(torch.nn.GRUCell(data.d, D, dtype=DTYPE), without)
    states, _, found = recurrent.gradients(ours, values, RAGGED, data.weights)
    recurrent.check_against("torch.nn.GRUCell, reset before", module, (states, found), values, RAGGED, data.weights)


def check_singular_values(cases):
    for entry in cases:
        s, p = entry["settings"], entry["own"]
        if s["cell"] == "spectral":
            matrix = reflections(p["Hu"]) @ torch.diag(singular_values(p, s)) @ reflections(p["Hv"]).T
            expected = singular_values(p, s).sort(descending=True).values
            torch.testing.assert_close(torch.linalg.svdvals(matrix), expected, rtol=1e-12, atol=1e-12)
            assert (expected - 1).abs().max() < s["radius"]


# ---- The table of cases ----------------------------------------------------------------------------------------------------

# Rank of U, rank of W, sigma, phi.
GATED = [
    (None, None, "sigmoid", "tanh"),
    (3, None, "sigmoid", "tanh"),
    (None, 2, "hard-sigmoid", "tanh"),
    (3, 2, "sigmoid", "tanh"),
    (None, None, "hard-sigmoid", "hard-tanh"),
    (3, 2, "hard-sigmoid", "hard-tanh"),
    (None, None, "sigmoid", "relu"),
]


def ranks(r, input_r):
    return {name: rank for name, rank in [("r", r), ("input_r", input_r)] if rank is not None}


def gated_cells(data, seeds):
    """Every cell with ranks and activations as in the table."""
    cells = [("lstm", {}), ("gru", {"reset": "after"}), ("gru", {"reset": "before"}), ("ugrnn", {}), ("fastgrnn", {})]
    for (cell, more), (r, input_r, sigma, phi) in itertools.product(cells, GATED):
        yield make_case(cell, data, next(seeds), **more, **ranks(r, input_r), gate_activation=sigma, activation=phi)


def gated_antisymmetric_cells(data, seeds):
    gammas, epsilons = [0.1, 0.0, 0.3, 0.01, 0.2, 0.1, 0.3], [0.5, 1.0, 0.2, 0.7, 0.5, 1.0, 0.1]
    for (r, _, sigma, phi), gamma, epsilon in zip(GATED, gammas, epsilons, strict=True):
        yield make_case("gated-antisymmetric", data, next(seeds), **ranks(r, None), gate_activation=sigma, activation=phi,
                        gamma=gamma, epsilon=epsilon)


def spectral_cells(data, seeds):
    """Few reflections, and as many as units: the last of those only turns a sign."""
    shapes = [("relu", 1, 0.3), ("relu", 2, 0.01), ("relu", 3, 0.5), ("tanh", 3, 0.3), ("hard-tanh", data.D, 0.5)]
    for phi, n, radius in shapes:
        yield make_case("spectral", data, next(seeds), activation=phi, reflections=n, radius=radius)


def deep_ernn_cells(data, seeds):
    """Every depth with every start and sign; K, activation, eta kind and gamma go round."""
    phis = ["relu", "tanh", "sigmoid", "hard-tanh"]
    for m, widths in enumerate([[], [5], [6, 4]]):
        for i, j in itertools.product(range(2), range(2)):
            yield make_case("deep-ernn", data, next(seeds), activation=phis[(m + 2 * i + j) % 4], widths=widths,
                            K=[1, 3][(m + i + j) % 2], start=["previous", "zero"][i], sign=["plus", "minus"][j],
                            eta_kind=["step", "iteration"][(m + j) % 2], gamma=[1.0, 0.7][(m + i) % 2])


def simple_cells(data, seeds):
    """What leaky_cells.py lacks: W of low rank, hard activations."""
    for cell in ["rnn", "fastrnn"]:
        for r, input_r, phi in [(None, 2, "tanh"), (3, 2, "tanh"), (None, None, "hard-tanh"), (None, 2, "hard-sigmoid")]:
            yield make_case(cell, data, next(seeds), **ranks(r, input_r), activation=phi)
    yield make_case("antisymmetric", data, next(seeds), activation="hard-tanh", gamma=0.1, epsilon=0.5)
    yield make_case("ernn", data, next(seeds), r=2, P="U", activation="hard-tanh", K=3, start="previous", sign="plus",
                    eta_kind="step", gamma=1.0)


def larger_cells(data, seeds):
    """Sizes beyond a register tile, more sequences than a lane block: where a kernel's edges lie."""
    lengths = [1 + (3 * n) % data.T for n in range(data.N)]
    usual = {"lengths": lengths, "given": True, "gate_activation": "sigmoid", "activation": "tanh"}
    yield make_case("lstm", data, next(seeds), **usual)
    yield make_case("gru", data, next(seeds), reset="before", **usual)
    yield make_case("fastgrnn", data, next(seeds), r=5, input_r=3, **usual)


if __name__ == "__main__":
    torch.set_num_threads(1)
    small, large = Data("small", d=3, D=6, T=7, N=4, seed=200), Data("large", d=5, D=13, T=4, N=19, seed=201)
    seeds = itertools.count()
    kinds = [gated_cells, gated_antisymmetric_cells, spectral_cells, deep_ernn_cells, simple_cells]
    cases = [*itertools.chain(*(kind(small, seeds) for kind in kinds)), *larger_cells(large, seeds)]
    check_reset_before(small)
    check_singular_values(cases)
    shared = {**small.tensors(memory=True), **large.tensors(memory=True)}
    golden.write("gated_cells.safetensors", cases, "reference/gated_cells.py", shared)
    print("equal to another implementation:", recurrent.checked)
    for entry in cases:
        s = entry["settings"]
        hidden = ["cell", "structure", "activation", "d", "D", "T", "N", "lengths", "parameters", "h0_given"]
        shown = [f"{key} {value}" for key, value in s.items() if key not in hidden]
        print(f"  {entry['name']:40}{entry['own']['loss'].item():12.6f}  {', '.join(shown)}")
