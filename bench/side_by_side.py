"""Side-by-side timings: every contestant in its own process, all of them in turn, round after round.

    bench/.venv/bin/python bench/side_by_side.py [--shapes har-2 google-12] [--group gated] [--only WORD ...] [--rounds 15]
                                              [--out bench/runs/NAME]

Writes NAME.json (every single measurement) and NAME.md (tables). What is measured and how: README.md.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import random
import subprocess
import sys

import contestants as field
import report

HERE = pathlib.Path(__file__).resolve().parent
# The time that a contestant gets a round; shorter steps are repeated, longer ones run once.
SLICE_MS = 100.0
WORKERS = ["torch", "jax", "onnx", "rust"]
# Settings of the surroundings that would slow a library down or speed it up behind our back.
UNSET = ["OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "MKL_DEBUG_CPU_TYPE", "LD_PRELOAD"]


class Worker:
    """A contestant process that answers one line a request."""

    def __init__(self, kind, threads, cores, binary, onnx):
        command = {
            "torch": [sys.executable, str(HERE / "torch_worker.py"), str(threads)],
            "jax": [sys.executable, str(HERE / "jax_worker.py")],
            "onnx": [sys.executable, str(HERE / "onnx_worker.py"), str(onnx)],
            "rust": [str(binary)],
        }[kind]
        pin = None
        if hasattr(os, "sched_setaffinity"):
            pin = lambda: os.sched_setaffinity(0, cores[:threads])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment(threads), preexec_fn=pin)
        self.about = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args} ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def environment(threads):
    """One thread means one thread for every library; idle threads sleep instead of stealing the next one's core."""
    env = {name: value for name, value in os.environ.items() if name not in UNSET}
    count = str(threads)
    env |= dict.fromkeys(["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"], count)
    env |= {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0", "MKL_DYNAMIC": "FALSE", "JAX_PLATFORMS": "cpu"}
    env["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'false' if threads == 1 else 'true'}"
    return env


class Team:
    """Worker processes, started on demand: one for every library and contestant, so that none keeps another's memory."""

    def __init__(self, arguments):
        self.arguments, self.workers, self.versions = arguments, {}, {}

    def worker(self, contestant):
        if contestant not in self.workers:
            worker = Worker(contestant.worker, contestant.threads, self.arguments.cores, self.arguments.binary,
                            self.arguments.onnx)
            self.workers[contestant] = worker
            self.versions[worker.about.get("name", contestant.worker)] = worker.about
        return self.workers[contestant]

    def close(self):
        for worker in self.workers.values():
            worker.close()
        self.workers.clear()


def measure_shape(name, arguments, versions):
    """Milliseconds of every contestant in every round; contestants that cannot run are named with the reason."""
    shape, team, skipped = field.SHAPES[name], Team(arguments), {}
    with contextlib.closing(team):
        iterations = {}
        for contestant in chosen(arguments):
            first = ask(team, contestant, shape, 1)
            if "error" in first:
                skipped[contestant.name()] = first["error"]
                continue
            iterations[contestant] = max(1, round(SLICE_MS / first["ms"]))
            print(f"  {contestant.name()}: {first['ms']:.2f} ms", file=sys.stderr)
        times = {contestant: [] for contestant in iterations}
        order = list(iterations)
        shuffle = random.Random(0)
        for _ in range(arguments.rounds):
            # A new order every round: nobody always runs after the one that empties the caches.
            shuffle.shuffle(order)
            for contestant in order:
                times[contestant].append(ask(team, contestant, shape, iterations[contestant])["ms"])
        versions.update(team.versions)
    return {"times": times, "skipped": skipped, "iterations": iterations}


def ask(team, contestant, shape, iterations):
    try:
        return team.worker(contestant).ask(f"{contestant.request(shape)} {iterations}")
    except (OSError, RuntimeError) as error:
        return {"error": str(error)}


def chosen(arguments):
    everyone = field.GROUPS[arguments.group] + (field.FOLDED if arguments.folded else [])
    named = lambda contestant: any(word.lower() in contestant.name().lower() for word in arguments.only)
    return [contestant for contestant in everyone
            if contestant.worker in arguments.workers and contestant.threads <= len(arguments.cores)
            and (not arguments.only or named(contestant))]


def machine():
    """What the figures were measured on."""
    facts = {"date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "load_before": os.getloadavg()}
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                facts["processor"] = value.strip()
            if key.strip() == "flags":
                facts["simd"] = [flag for flag in ["avx2", "fma", "avx512f"] if flag in value.split()]
    return facts


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", choices=field.SHAPES, default=list(field.SHAPES))
    parser.add_argument("--workers", nargs="+", choices=WORKERS, default=WORKERS)
    parser.add_argument("--group", choices=field.GROUPS, default="all", help="whom to measure")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="only contestants whose name contains a word")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folded", action="store_true", help="also torch and JAX with P U folded")
    parser.add_argument("--cores", type=int, nargs="+", help="cores to pin to; default: all that this process may use")
    parser.add_argument("--binary", type=pathlib.Path, default=HERE.parent / "target" / "release" / "ernn-bench")
    parser.add_argument("--onnx", type=pathlib.Path, default=HERE.parent / "target" / "onnx", help="folder that onnx_models.py has filled")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "runs" / datetime.date.today().isoformat())
    parsed = parser.parse_args()
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count()))
    parsed.cores = parsed.cores or usable[::-1]
    return parsed


def main():
    options = arguments()
    facts, versions, results = machine(), {}, {}
    for shape in options.shapes:
        print(shape, file=sys.stderr)
        results[shape] = measure_shape(shape, options, versions)
    facts |= {"load_after": os.getloadavg(), "versions": versions, "rounds": options.rounds}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.with_suffix(".json").write_text(report.as_json(facts, results))
    text = report.as_markdown(facts, results)
    options.out.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
