"""The models that `--group onnx` runs: each cell at a shape of the benchmarks, barely trained on random sequences and exported.

    bench/.venv/bin/python bench/onnx_models.py [--shapes har-2] [--ernn target/release/ernn] [--out target/onnx]

Trained or not, a model of a shape takes the same time. Writes OUT/SHAPE-CELL.onnx.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import contestants as field
from worker import CLASSES

HERE = pathlib.Path(__file__).resolve().parent


def sequences(shape):
    """Two of each class, uniform in +-1, as a long CSV."""
    draw = random.Random(1)
    names = ",".join(f"x{feature}" for feature in range(shape.d))
    lines = [f"series,step,{names},label"]
    for series in range(2 * CLASSES):
        for step in range(shape.T):
            values = ",".join(f"{draw.uniform(-1, 1):.4f}" for _ in range(shape.d))
            lines.append(f"{series},{step},{values},c{series % CLASSES}")
    return "\n".join(lines) + "\n"


def flags(cell, shape):
    """As `ernn-bench` builds the cell: dense but for ERNN, RNN with ReLU, everything else the cell's own."""
    return {"ernn": ["--rank", str(shape.r)], "rnn": ["--rank", "full", "--activation", "relu"], "spectral": []}.get(
        cell, ["--rank", "full"])


def export(ernn, folder, name, cell, out):
    shape, run = field.SHAPES[name], pathlib.Path(folder) / cell
    call = lambda *words: subprocess.run([str(ernn), *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, text=True).stderr
    call("train", f"{folder}/data.csv", "--epochs", 1, "--cell", cell, "--hidden", shape.D, *flags(cell, shape), "--out", run)
    out.unlink(missing_ok=True)
    return call("export", run, "--to", "onnx", "--out", out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", choices=field.SHAPES, default=["har-2"])
    parser.add_argument("--ernn", type=pathlib.Path, default=HERE.parent / "target" / "release" / "ernn")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parent / "target" / "onnx")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.shapes:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "data.csv").write_text(sequences(field.SHAPES[name]))
            for cell in field.ONNX:
                print(f"{name} {cell}", file=sys.stderr)
                print(export(options.ernn, folder, name, cell, options.out / f"{name}-{cell}.onnx"), file=sys.stderr)


if __name__ == "__main__":
    main()
