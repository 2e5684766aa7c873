"""Exported ONNX files in ONNX Runtime, at other lengths and batch sizes than they were exported with.

    pip install numpy onnx onnxruntime
    python reference/onnx_runtime.py FOLDER [--rtol 1e-5]

FOLDER holds pairs NAME.onnx and NAME.json, which tests write (`crates/ernn/tests/cell_suite/onnx.rs`, `crates/ernn-cli/tests/onnx.rs`):

    {"sequences": [[[x, ..d], ..steps], ..] or [[token, ..steps], ..],
     "output": "logits" | "probabilities" | "value",
     "expected": [[..C], ..] a sequence, of models with an output a step [[..steps C], ..]}

Each file is checked by the package onnx, and its sequences run one by one, in pairs, and all together; behind their ends stands what
must not count. Ends with status 1 if a number is further than `--rtol` (relative to the largest expected one, at least 1) from the
expected one.
"""

import argparse
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime


def session(path):
    """Checked, on one thread."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def padded(sequences, more, behind):
    """One array, some steps longer than the longest sequence."""
    longest = max(map(len, sequences)) + more
    tokens = np.ndim(sequences[0]) == 1
    shape = (len(sequences), longest) if tokens else (len(sequences), longest, len(sequences[0][0]))
    batch = np.full(shape, 0 if tokens else behind, np.int64 if tokens else np.float32)
    for row, sequence in zip(batch, sequences):
        row[: len(sequence)] = sequence
    return batch


def run(runtime, sequences, output, more, behind):
    """The output of each sequence, one flat list each; of every step, those up to its end."""
    lengths = np.array([len(sequence) for sequence in sequences], np.int32)
    name = runtime.get_inputs()[0].name
    [found] = runtime.run([output], {name: padded(sequences, more, behind), "sequence_lens": lengths})
    if found.ndim == 3:
        return [row[:length].ravel() for row, length in zip(found, lengths)]
    return list(found)


def batches(sequences):
    """Indices that go together, steps behind the longest, and what stands there."""
    everyone = range(len(sequences))
    for index in everyone:
        yield [index], 0, 0.0
        yield [index], 3, np.nan
    for index in everyone[:-1]:
        yield [index, index + 1], 1, -1e6
    yield everyone, 5, 1e6
    yield everyone[::-1], 0, np.nan


def largest_difference(path):
    """Relative to the largest expected number, at least 1; and how many batches were run."""
    case = json.loads(path.with_suffix(".json").read_text())
    runtime, worst, count = session(path), 0.0, 0
    sequences, expected = case["sequences"], [np.ravel(row) for row in case["expected"]]
    scale = max([1.0, *(np.abs(row).max() for row in expected)])
    for indices, more, behind in batches(sequences):
        found = run(runtime, [sequences[index] for index in indices], case["output"], more, behind)
        for index, row in zip(indices, found):
            difference = np.abs(row - expected[index]).max() / scale
            # Also what is no number.
            worst = max(worst, difference) if np.isfinite(difference) else np.inf
        count += 1
    return worst, count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rtol", type=float, default=1e-5)
    options = parser.parse_args()
    paths, failed = sorted(options.folder.glob("*.onnx")), []
    for path in paths:
        try:
            worst, count = largest_difference(path)
            text = f"{count} batches, largest difference {worst:.1e}"
            failed += [path.stem] if not worst <= options.rtol else []
        except Exception as problem:  # What the runtime refuses is a failure of this file; the others are run all the same.
            text = f"{type(problem).__name__}: {problem}"
            failed.append(path.stem)
        print(f"{path.stem}: {text}")
    print(f"{len(paths)} files in ONNX Runtime {onnxruntime.__version__}, {len(failed)} failed: {' '.join(failed)}")
    sys.exit(bool(failed) or not paths)


if __name__ == "__main__":
    main()
