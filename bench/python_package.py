"""Times the Python package: import, `fit` beside the command, and torch layers beside torch's own.

    python bench/python_package.py import
    python bench/python_package.py fit [--command target/release/ernn] [--rounds 5]
    python bench/python_package.py layers [--rounds 20] [--threads 2]

Contestants take turns round by round, so that what else the machine does falls on all of them; quoted are medians and the ratio of
each round. Layers: forward, loss, backward and step of Adam for one batch at the shape of HAR-2.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS, BATCH, FEATURES, HIDDEN, RANK = 128, 128, 9, 80, 20


def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def show(name, times, beside=None):
    line = f"{name:28} {1000 * statistics.median(times):9.2f} ms"
    if beside is not None:
        line += f"   {statistics.median(other / own for own, other in zip(times, beside)):5.2f} x"
    print(line, flush=True)


def time_import(arguments):
    code = "import time; began = time.perf_counter(); import {}; print(time.perf_counter() - began)"
    times = {"numpy": [], "ernn": []}
    for _ in range(arguments.rounds):
        for name in times:
            done = subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=True)
            times[name].append(float(done.stdout))
    for name, found in times.items():
        show(f"import {name}", found)


def time_fit(arguments):
    """Training time as the run itself reports it, and the whole of `fit` and of the command."""
    import numpy as np

    import ernn

    random = np.random.default_rng(0)
    y = np.arange(2000) % 6
    X = random.normal(size=(2000, STEPS, FEATURES)).astype(np.float32) + 0.1 * y[:, None, None]
    times = {name: [] for name in ("fit, epochs", "command, epochs", "fit, all", "command, all")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y)
        flags = f"--hidden {HIDDEN} --rank {RANK} --epochs {arguments.epochs} --seed 1 --batch-size {BATCH} --threads {arguments.threads}"
        settings = dict(hidden=HIDDEN, rank=RANK, epochs=arguments.epochs, random_state=1, batch_size=BATCH)
        for number in range(arguments.rounds):
            model = ernn.SequenceClassifier(**settings, n_jobs=arguments.threads)
            times["fit, all"].append(seconds(lambda: model.fit(X, y)))
            times["fit, epochs"].append(model.report_["train_seconds"])
            command = [arguments.command, "train", path, *flags.split(), "--json", "--out", f"{folder}/{number}"]
            run = lambda: json.loads(subprocess.run(command, capture_output=True, check=True).stdout)  # noqa: E731
            began = time.perf_counter()
            report = run()
            times["command, all"].append(time.perf_counter() - began)
            times["command, epochs"].append(report["train_seconds"])
    for kind in ("epochs", "all"):
        show(f"command, {kind}", times[f"command, {kind}"])
        show(f"fit, {kind}", times[f"fit, {kind}"], times[f"command, {kind}"])


def time_layers(arguments):
    import torch
    from torch import nn

    import ernn.torch

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    layers = {
        "torch.nn.RNN": nn.RNN(FEATURES, HIDDEN, nonlinearity="tanh"),
        "ernn.torch.ERNN, rank 20": ernn.torch.ERNN(FEATURES, HIDDEN, rank=RANK),
        "ernn.torch.RNN": ernn.torch.RNN(FEATURES, HIDDEN),
        "torch.nn.LSTM": nn.LSTM(FEATURES, HIDDEN),
        "ernn.torch.LSTM": ernn.torch.LSTM(FEATURES, HIDDEN),
        "torch.nn.GRU": nn.GRU(FEATURES, HIDDEN),
        "ernn.torch.GRU": ernn.torch.GRU(FEATURES, HIDDEN),
    }
    input = torch.randn(STEPS, BATCH, FEATURES)
    target = torch.randint(0, 2, (BATCH,))
    steps = {name: training_step(layer, input, target, arguments.pooling) for name, layer in layers.items()}
    times = {name: [] for name in layers}
    for number in range(arguments.rounds + 3):
        for name, step in steps.items():
            found = seconds(step)
            if number >= 3:
                times[name].append(found)
    for kind in ("RNN", "LSTM", "GRU"):
        show(f"torch.nn.{kind}", times[f"torch.nn.{kind}"])
        for name, found in times.items():
            if name.startswith("ernn") and (f".{kind}" in name or (kind == "RNN" and "ERNN" in name)):
                show(name, found, times[f"torch.nn.{kind}"])


def training_step(layer, input, target, pooling):
    from torch import nn, optim

    readout = nn.Linear(HIDDEN, 2)
    optimizer = optim.Adam([*layer.parameters(), *readout.parameters()], lr=1e-3)

    def step():
        optimizer.zero_grad()
        output, _ = layer(input)
        pooled = output[-1] if pooling == "last" else output.mean(dim=0)
        nn.functional.cross_entropy(readout(pooled), target).backward()
        optimizer.step()

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["import", "fit", "layers"])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--pooling", choices=["last", "mean"], default="mean")
    parser.add_argument("--command", default="target/release/ernn")
    arguments = parser.parse_args()
    {"import": time_import, "fit": time_fit, "layers": time_layers}[arguments.what](arguments)


if __name__ == "__main__":
    main()
