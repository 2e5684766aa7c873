#!/usr/bin/env python3
"""What whole numbers cost: every model of a folder exported as int8, with states of 16 and of 8 bits.

    bench/int8_table.py ERNN FOLDER DATASET [ARGUMENT...]

ERNN is the command, FOLDER holds runs (`ernn compare` or `ernn reproduce` make one, a folder a row, with `seed-1` in each), DATASET calibrates and
its test part is what the accuracies are of. More arguments (`--data-dir DIR`) go to `ernn export`. Prints a table in Markdown: bytes of
tables in flash, accuracy in f32 and in whole numbers, RAM of one stream with its scratch, numbers that did not fit.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ACCURACY = re.compile(r"([\d.]+) % in f32, ([\d.]+) % in int8 \(([-+][\d.]+) points\)")
MEMORY = re.compile(r"flash: (\d+) bytes of tables.*RAM: (\d+) bytes a stream, (\d+) bytes of scratch")
SATURATIONS = re.compile(r"saturations on [^:]*: (\d+) numbers")


def export(command: str, run: Path, state: str, dataset: str, arguments: list[str]) -> list[str] | str:
    """The figures of one export, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--to", "c", "--format", "int8", "--state", state, "--calibrate", dataset, "--out", f"{folder}/c"]
        done = subprocess.run([command, "export", run, *flags, *arguments], capture_output=True, text=True)
    text = done.stdout + done.stderr
    if done.returncode != 0:
        return text.strip().splitlines()[-1]
    accuracy, memory, saturations = (pattern.search(text) for pattern in (ACCURACY, MEMORY, SATURATIONS))
    if not (accuracy and memory and saturations):
        sys.exit(f"{run}: found no accuracy, memory or saturations in what the command printed:\n{text}")
    flash, stream, scratch = map(int, memory.groups())
    return [f"{flash:,}", *accuracy.groups(), f"{stream + scratch:,}", f"{int(saturations.group(1)):,}"]


def main() -> None:
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    command, folder, dataset, *arguments = sys.argv[1:]
    runs = sorted(path.parent for path in Path(folder).glob("*/seed-1/model.safetensors"))
    if not runs:
        sys.exit(f"{folder}: found no */seed-1/model.safetensors")
    print("| | tables, bytes | f32, % | states of 16 bits, % | | RAM, bytes | did not fit | states of 8 bits, % | | RAM, bytes | did not fit |")
    print("|---|" + "---:|" * 10)
    for run in runs:
        wide, narrow = (export(command, run, state, dataset, arguments) for state in ("int16", "int8"))
        if isinstance(wide, str) or isinstance(narrow, str):
            print(f"| {run.parent.name} | {wide if isinstance(wide, str) else narrow} |", flush=True)
            continue
        print(f"| {run.parent.name} | {' | '.join(wide + narrow[2:])} |", flush=True)


if __name__ == "__main__":
    main()
