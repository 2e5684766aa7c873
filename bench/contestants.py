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
        if self.task == "kernel" and self.cell == "rnn":
            # Forward 2 D^2 + 2 D d; backward twice the recurrent part, and the gradient of W.
            return shape.T * BATCH * (6 * shape.D**2 + 4 * shape.D * shape.d)
        return None


def ernn(worker, threads, task, K=1, cell="ernn"):
    return Contestant(worker, threads, task, cell, K, low_rank=True)


CONTESTANTS = [
    Contestant("torch", 1, "train", "nn.RNN"),
    Contestant("torch", 1, "train", "nn.LSTM"),
    Contestant("torch", 1, "train", "nn.GRU"),
    ernn("torch", 1, "train"),
    ernn("torch", 1, "train", K=3),
    ernn("jax", 1, "train"),
    ernn("jax", 1, "train", K=3),
    ernn("rust", 1, "train"),
    ernn("rust", 1, "train", K=3),
    ernn("rust", 2, "train"),
    Contestant("rust", 1, "train", "rnn"),
    Contestant("rust", 2, "train", "rnn"),
    Contestant("rust", 1, "kernel", "rnn"),
    Contestant("rust", 2, "kernel", "rnn"),
    Contestant("torch", 1, "forward", "nn.RNN"),
    Contestant("torch", 1, "forward", "nn.LSTM"),
    ernn("jax", 1, "forward"),
    ernn("rust", 1, "forward"),
    Contestant("rust", 1, "forward", "rnn"),
    Contestant("torch", 1, "product", "matrix"),
    Contestant("torch", 2, "product", "matrix"),
]

# With --folded: what folding P U alone would give the others.
FOLDED = [ernn(worker, 1, "train", cell="ernn-folded") for worker in ["torch", "jax"]]

ERNN, RNN = ernn("rust", 1, "train"), Contestant("rust", 1, "train", "rnn")

# (slower, faster, the ratio asked for at HAR-2 shape)
RATIOS = [
    (Contestant("torch", 1, "train", "nn.RNN"), ERNN, 6.0),
    (ernn("torch", 1, "train"), ERNN, 12.0),
    (ernn("jax", 1, "train"), ERNN, 5.0),
    (ernn("torch", 1, "train", K=3), ernn("rust", 1, "train", K=3), None),
    (ernn("jax", 1, "train", K=3), ernn("rust", 1, "train", K=3), None),
    (Contestant("torch", 1, "train", "nn.LSTM"), ERNN, None),
    (Contestant("torch", 1, "train", "nn.GRU"), ERNN, None),
    (Contestant("torch", 1, "train", "nn.RNN"), RNN, 3.5),
    (ERNN, ernn("rust", 2, "train"), 1.7),
    (RNN, Contestant("rust", 2, "train", "rnn"), 1.7),
    (Contestant("torch", 1, "forward", "nn.RNN"), ernn("rust", 1, "forward"), 3.0),
    (Contestant("torch", 1, "forward", "nn.LSTM"), ernn("rust", 1, "forward"), 3.0),
    (Contestant("torch", 1, "forward", "nn.RNN"), Contestant("rust", 1, "forward", "rnn"), None),
]
