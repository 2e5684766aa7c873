"""Who is measured on what: shapes, contestants, and the ratios that the project promises."""

from typing import NamedTuple

BATCH = 128
PRODUCT = 1024


class Shape(NamedTuple):
    """Steps, inputs a step, hidden size, rank of ERNN's U."""

    T: int
    d: int
    D: int
    r: int


SHAPES = {
    "har-2": Shape(128, 9, 80, 20),
    "google-12": Shape(99, 32, 100, 24),
    "pixel-mnist": Shape(784, 1, 128, 16),
    "long": Shape(1000, 9, 64, 16),
}


# Blocks of rows in the dense matrices of the cells whose kernel is timed.
GATES = {"rnn": 1, "gru": 3, "lstm": 4}


class Contestant(NamedTuple):
    """One row of a table: a worker process, a task, a cell."""

    worker: str
    threads: int
    task: str
    cell: str
    K: int = 1
    low_rank: bool = False

    def name(self):
        size = f" K={self.K}" if "ernn" in self.cell else ""
        rank = " low rank" if self.low_rank and "ernn" not in self.cell else ""
        threads = "" if self.threads == 1 else f", {self.threads} threads"
        return f"{self.task}: {self.worker} {self.cell}{size}{rank}{threads}"

    def request(self, shape):
        """The line to send, without the number of iterations."""
        if self.task == "product":
            return f"product matrix {PRODUCT} 0 0 0 0 0 {self.threads}"
        batch = 1 if self.task == "forward" else BATCH
        rank = shape.r if self.low_rank else 0
        numbers = [shape.T, shape.d, shape.D, rank, self.K, batch, self.threads]
        return " ".join([self.task, self.cell, *map(str, numbers)])

    def flops(self, shape):
        """Floating-point operations an iteration, where a fraction of the product's speed is asked for."""
        if self.task == "product":
            return 2 * PRODUCT**3
        if self.task == "kernel" and self.cell in GATES:
            # A gate: forward 2 D^2 + 2 D d; backward twice the recurrent part, and the gradient of W.
            return GATES[self.cell] * shape.T * BATCH * (6 * shape.D**2 + 4 * shape.D * shape.d)
        return None


class Ratio(NamedTuple):
    """How many times as long one contestant takes as another, and what is asked of that at HAR-2 shape."""

    slower: Contestant
    faster: Contestant
    at_least: float | None = None
    at_most: float | None = None

    def asked(self):
        bounds = [f"{word} {bound:g}" for word, bound in [("at least", self.at_least), ("at most", self.at_most)] if bound]
        return ", ".join(bounds)


def ernn(worker, threads, task, K=1, cell="ernn"):
    return Contestant(worker, threads, task, cell, K, low_rank=True)


def torch(task, cell):
    return Contestant("torch", 1, task, cell)


def rust(task, cell):
    return Contestant("rust", 1, task, cell)


PRODUCTS = [Contestant("torch", threads, "product", "matrix") for threads in [1, 2]]

LEAKY = [
    torch("train", "nn.RNN"),
    torch("train", "nn.LSTM"),
    torch("train", "nn.GRU"),
    ernn("torch", 1, "train"),
    ernn("torch", 1, "train", K=3),
    ernn("jax", 1, "train"),
    ernn("jax", 1, "train", K=3),
    ernn("rust", 1, "train"),
    ernn("rust", 1, "train", K=3),
    ernn("rust", 2, "train"),
    rust("train", "rnn"),
    Contestant("rust", 2, "train", "rnn"),
    rust("kernel", "rnn"),
    Contestant("rust", 2, "kernel", "rnn"),
    torch("forward", "nn.RNN"),
    torch("forward", "nn.LSTM"),
    ernn("jax", 1, "forward"),
    ernn("rust", 1, "forward"),
    rust("forward", "rnn"),
    *PRODUCTS,
]

# Ours, and the same cell in torch or torchrecurrent, where there is one.
COUNTERPARTS = {
    "lstm": "nn.LSTM",
    "gru": "nn.GRU",
    "fastrnn": "torchrecurrent.FastRNN",
    "fastgrnn": "torchrecurrent.FastGRNN",
    "ugrnn": "torchrecurrent.UGRNN",
    "antisymmetric": "torchrecurrent.AntisymmetricRNN",
    "gated-antisymmetric": "torchrecurrent.GatedAntisymmetricRNN",
    "spectral": None,
    "rnn": None,
}

GATED = [
    *(torch(task, theirs) for task in ["train", "forward"] for theirs in COUNTERPARTS.values() if theirs),
    *(rust(task, ours) for task in ["train", "forward"] for ours in COUNTERPARTS),
    rust("kernel", "lstm"),
    rust("kernel", "gru"),
    PRODUCTS[0],
]

# Cells in ONNX Runtime, and how many times as long as ours they are to take: operators of its own, or a Scan.
ONNX = dict.fromkeys(["rnn", "lstm", "gru", "spectral"], 1.2) | dict.fromkeys(
    ["ernn", "fastrnn", "fastgrnn", "ugrnn", "antisymmetric", "gated-antisymmetric"], 3.0)


def forward(worker, cell):
    return Contestant(worker, 1, "forward", cell, low_rank=cell == "ernn")


# What --group chooses from; in both: once.
GROUPS = {"all": list(dict.fromkeys([*LEAKY, *GATED])), "leaky": LEAKY, "gated": GATED,
          "onnx": [forward(worker, cell) for cell in ONNX for worker in ["onnx", "rust"]]}

# With --folded: what folding P U alone would give the others.
FOLDED = [ernn(worker, 1, "train", cell="ernn-folded") for worker in ["torch", "jax"]]

ERNN, RNN = ernn("rust", 1, "train"), rust("train", "rnn")


def beside(task, ours, at_least=None):
    """Our cell beside the same cell of others."""
    return Ratio(torch(task, COUNTERPARTS[ours]), rust(task, ours), at_least)


RATIOS = [
    Ratio(torch("train", "nn.RNN"), ERNN, 6.0),
    Ratio(ernn("torch", 1, "train"), ERNN, 12.0),
    Ratio(ernn("jax", 1, "train"), ERNN, 5.0),
    Ratio(ernn("torch", 1, "train", K=3), ernn("rust", 1, "train", K=3)),
    Ratio(ernn("jax", 1, "train", K=3), ernn("rust", 1, "train", K=3)),
    Ratio(torch("train", "nn.LSTM"), ERNN),
    Ratio(torch("train", "nn.GRU"), ERNN),
    Ratio(torch("train", "nn.RNN"), RNN, 3.5),
    Ratio(ERNN, ernn("rust", 2, "train"), 1.7),
    Ratio(RNN, Contestant("rust", 2, "train", "rnn"), 1.7),
    Ratio(torch("forward", "nn.RNN"), ernn("rust", 1, "forward"), 3.0),
    Ratio(torch("forward", "nn.LSTM"), ernn("rust", 1, "forward"), 3.0),
    Ratio(torch("forward", "nn.RNN"), rust("forward", "rnn")),
    beside("train", "lstm", 2.5),
    beside("train", "gru", 2.5),
    beside("train", "fastrnn", 6.0),
    beside("train", "fastgrnn", 6.0),
    beside("train", "ugrnn", 6.0),
    beside("train", "antisymmetric", 6.0),
    beside("train", "gated-antisymmetric"),
    # torch's LSTM forward is quick: 1.5 must be, 2 is the aim.
    beside("forward", "lstm", 1.5),
    beside("forward", "gru", 3.0),
    beside("forward", "fastrnn", 3.0),
    beside("forward", "fastgrnn", 3.0),
    beside("forward", "ugrnn", 3.0),
    beside("forward", "antisymmetric", 3.0),
    beside("forward", "gated-antisymmetric"),
    # Its reflections become one dense matrix a batch, and back: that may cost this much beside the scan.
    Ratio(rust("train", "spectral"), RNN, at_most=1.3),
    *(Ratio(forward("onnx", cell), forward("rust", cell), at_least) for cell, at_least in ONNX.items()),
]
