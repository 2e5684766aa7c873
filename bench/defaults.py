"""What `ernn` does with no flag, beside what a person would use instead, on small classified time series with official parts.

    bench/.defaults/bin/python bench/defaults.py --list
    bench/.defaults/bin/python bench/defaults.py --ernn target/release/ernn --seeds 3 --out bench/runs/NAME
    bench/.defaults/bin/python bench/defaults.py --table --out bench/runs/NAME

How it measures, and how to make the environment: bench/defaults.md.
"""

import argparse
import csv
import datetime
import fcntl
import importlib.metadata
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import defaults_report as report
import defaults_sets as sets

HERE = Path(__file__).parent
#: The defaults of ernn 0.1.0 for sequences of one's own, before they followed from the data.
OLD_DEFAULTS = ("--epochs 60 --pooling last --differences false --input-noise 0.1 --validation 0.2 --steps per-step --eta 0.01 "
                "--schedule step --halve-every 20")
#: Pairs of steps that DTW may look at, above which a set is left out.
DTW_LIMIT = 5e9
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}


class Contestant(NamedTuple):
    label: str
    kind: str               # ernn, or what defaults_models.py makes
    flags: str = ""
    packages: tuple = ()
    random: bool = True     # whether seeds differ


CONTESTANTS = [
    Contestant("ernn", "ernn"),
    Contestant("ernn-auto", "ernn", "--auto 60s"),
    Contestant("ernn-old", "ernn", OLD_DEFAULTS),
    Contestant("minirocket", "minirocket", packages=("aeon",)),
    Contestant("multirocket", "multirocket", packages=("aeon",)),
    Contestant("multirocket-hydra", "multirocket-hydra", packages=("aeon", "torch")),
    Contestant("dtw", "dtw", packages=("aeon",), random=False),
    Contestant("lstm", "lstm", packages=("torch",)),
    Contestant("gru", "gru", packages=("torch",)),
]


class Failed(Exception):
    """A job without a result, and why."""


def run_process(command, limit):
    """Standard output, standard error and the processor seconds of a process of its own."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=os.environ | ONE_THREAD)
        status, usage = awaited(process, time.monotonic() + limit)
        out.seek(0), err.seek(0)
        printed, said = out.read().decode(), err.read().decode()
    if status is None:
        raise Failed(f"stopped after {limit:g} s")
    if status:
        raise Failed(f"exit code {status}: {' '.join(said.split())[-300:]}")
    return printed, said, usage.ru_utime + usage.ru_stime


def awaited(process, deadline):
    """Exit code (none after the deadline) and resources. `Popen.wait` tells nothing about resources."""
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage
        if time.monotonic() > deadline:
            process.kill()
            process.returncode = os.waitstatus_to_exitcode(os.wait4(process.pid, 0)[1])
            return None, None
        time.sleep(0.05)


def run_ernn(contestant, folder, seed, folds, options):
    """Trains with the command, and predicts the test part once more for its time alone: both with reading the files and writing results."""
    with tempfile.TemporaryDirectory() as scratch:
        run = Path(scratch) / "run"
        command = [options.ernn, "train", folder, "--seed", seed, "--threads", 1, "--json", "--out", run, *shlex.split(contestant.flags)]
        command += ["--folds", folds, "--no-final"] if folds else []
        printed, said, trained = run_process([str(word) for word in command], options.timeout)
        result = json.loads(printed)
        predicted = None
        if not folds:
            test = folder / f"{folder.name}_TEST.ts"
            predicted = run_process([str(options.ernn), "predict", str(run), str(test)], options.timeout)[2]
    notes = [line for line in said.splitlines() if line.lower().startswith(("warning", "note"))]
    if result["part"] != ("folds" if folds else "test"):
        raise Failed(f"judged by the {result['part']} part")
    return {"accuracy": result["accuracy"], "size_kb": result["size_kb"], "train_cpu_s": trained, "predict_cpu_s": predicted,
            "notes": notes, "settings": result["settings"], "steps": result["optimizer_steps"]}


def run_package(contestant, folder, seed, folds, options):
    job = {"kind": contestant.kind, "train": str(folder / f"{folder.name}_TRAIN.ts"), "test": str(folder / f"{folder.name}_TEST.ts"),
           "seed": seed, "folds": folds}
    printed, _, _ = run_process([sys.executable, str(HERE / "defaults_models.py"), json.dumps(job)], options.timeout)
    return json.loads(printed.splitlines()[-1])


def missing(contestant, options):
    """Why a contestant cannot run, or nothing."""
    if contestant.kind == "ernn":
        if options.folds and "--auto" in contestant.flags:
            return "a search by folds reads the test part in the end"
        return "" if options.ernn else "no --ernn PATH"
    lacking = [package for package in contestant.packages if importlib.util.find_spec(package) is None]
    return f"{', '.join(lacking)} not installed" if lacking else ""


def version(contestant, options):
    if contestant.kind == "ernn":
        return subprocess.run([options.ernn, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return ", ".join(f"{package} {importlib.metadata.version(package)}" for package in contestant.packages)


class Results:
    """Rows in a CSV, all that is known of them in a JSON beside it. A row that is there is not computed again."""

    def __init__(self, out):
        self.csv, self.json = out.with_suffix(".csv"), out.with_suffix(".json")
        kept = json.loads(self.json.read_text()) if self.json.is_file() else {}
        self.rows, self.machine, self.skipped = kept.get("rows", []), kept.get("machine", {}), kept.get("skipped", {})

    def has(self, key, retry):
        """Also a row without a figure, unless those are tried again."""
        found = [row for row in self.rows if tuple(row[name] for name in report.KEY) == key]
        return bool(found) and not (retry and found[0]["accuracy"] is None)

    def check(self, contestant, now):
        """Rows of one contestant are of one version and of the same flags."""
        for row in self.rows:
            if row["contestant"] == contestant.label and (row["version"], row["flags"]) != (now, contestant.flags):
                sys.exit(f"{self.csv} has rows of {contestant.label} from {row['version']} with flags '{row['flags']}'; "
                         f"this is {now} with '{contestant.flags}': name another --out or --label")

    def add(self, row):
        """Several processes may share a file: what others have added meanwhile stays."""
        self.csv.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.csv.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            mine = tuple(row[name] for name in report.KEY)
            kept = json.loads(self.json.read_text())["rows"] if self.json.is_file() else []
            self.rows = [other for other in kept if tuple(other[name] for name in report.KEY) != mine] + [row]
            self.save()
        finally:
            os.close(folder)

    def save(self):
        head = json.dumps({"machine": self.machine, "skipped": self.skipped})[:-1]
        swap(self.json, head + ', "rows": [\n' + ",\n".join(json.dumps(row) for row in self.rows) + "\n]}\n")
        with open(self.csv.with_suffix(".part"), "w", newline="") as file:
            writer = csv.DictWriter(file, report.COLUMNS, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows({**row, **{n: round(row[n], 4) for n in report.FIGURES if row.get(n) is not None}} for row in self.rows)
        os.replace(self.csv.with_suffix(".part"), self.csv)


def swap(path, text):
    path.with_suffix(".part").write_text(text)
    os.replace(path.with_suffix(".part"), path)


def machine():
    facts = {"date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "processor": "unknown processor"}
    if os.path.exists("/proc/cpuinfo"):
        for line in open("/proc/cpuinfo"):
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                facts["processor"] = value.strip()
    return facts


def extent(name, folder):
    """What the tables say of a set."""
    train, test = (sets.read_ts(folder / f"{name}_{part}.ts") for part in ("TRAIN", "TEST"))
    lengths = [s.shape[1] for s in train.sequences], [s.shape[1] for s in test.sequences]
    return {"train": len(train.labels), "test": len(test.labels), "channels": len(train.sequences[0]), "classes": len(set(train.labels)),
            "shortest": min(lengths[0] + lengths[1]), "longest": max(lengths[0] + lengths[1]),
            "largest_class": max(Counter(train.labels).values()),
            "pairs": 2 * 0.1 * sum(lengths[0]) * sum(lengths[1]) * len(train.sequences[0])}


def work(options, contestants):
    results, runnable = Results(options.out), []
    results.machine = results.machine or machine()
    for contestant in contestants:
        reason = missing(contestant, options)
        if reason:
            print(f"skipped: {contestant.label}: {reason}", flush=True)
            results.skipped[contestant.label] = reason
        else:
            results.skipped.pop(contestant.label, None)
            runnable.append((contestant, version(contestant, options)))
            results.check(*runnable[-1])
    with tempfile.TemporaryDirectory() as prepared:
        for name in options.sets or sets.names(options.data):
            found = sets.find(name, options.data)
            if found is None:
                print(f"skipped: {name}: none of {', '.join(sets.SETS[name].packages) if name in sets.SETS else 'the folders'} has it", flush=True)
                continue
            folder = sets.prepare(name, found, prepared)
            facts = {"package": found.package, **extent(name, folder)}
            for contestant, now in runnable:
                for seed in range(1, options.seeds + 1 if contestant.random else 2):
                    one_row(results, options, contestant, now, name, folder, facts, seed)
    return results


#: The folders of an absolute path.
FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:'\",]+/)+")


def without_folders(value):
    """Texts in which absolute paths are names alone: folders of the machine that ran it are no part of a result."""
    if isinstance(value, str):
        return FOLDERS.sub("", value)
    if isinstance(value, dict):
        return {name: without_folders(inner) for name, inner in value.items()}
    return [without_folders(inner) for inner in value] if isinstance(value, list) else value


def one_row(results, options, contestant, now, name, folder, facts, seed):
    folds = min(options.folds, facts["largest_class"])
    protocol = f"folds-{folds}" if folds else "test"
    if results.has((name, contestant.label, protocol, seed), options.retry):
        return
    row = {"set": name, "contestant": contestant.label, "protocol": protocol, "seed": seed, "flags": contestant.flags, "version": now,
           "set_facts": facts, **dict.fromkeys(report.FIGURES), "why": ""}
    try:
        if contestant.kind == "dtw" and facts["pairs"] > options.dtw_limit:
            raise Failed(f"{facts['pairs']:.1e} pairs of steps")
        runner = run_ernn if contestant.kind == "ernn" else run_package
        row |= runner(contestant, folder, seed, folds, options)
    except Failed as failed:
        row["why"] = str(failed)
    row = without_folders(row)
    results.add(row)
    print(report.line(row), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ernn", type=Path, help="the command; without it its contestants are left out")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="these alone, in this order")
    parser.add_argument("--data", nargs="+", default=[], metavar="DIR", help="folders with further sets, NAME/NAME_TRAIN.ts and NAME/NAME_TEST.ts")
    parser.add_argument("--only", nargs="+", metavar="LABEL", help="these contestants alone")
    parser.add_argument("--extra", action="append", default=[], metavar="FLAGS", help="one more ernn with these flags, as --extra='--hidden 32'")
    parser.add_argument("--label", action="append", default=[], metavar="NAME", help="its name, one for each --extra")
    parser.add_argument("--seeds", type=int, default=3, metavar="N")
    parser.add_argument("--folds", type=int, default=0, metavar="K", help="judge by stratified folds of the training parts; the test parts are not used")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="of one training (default: %(default)s)")
    parser.add_argument("--dtw-limit", type=float, default=DTW_LIMIT, metavar="PAIRS", help="pairs of steps of a set for DTW (default: %(default)g)")
    parser.add_argument("--retry", action="store_true", help="try again what was stopped or failed")
    parser.add_argument("--out", type=Path, default=HERE / "runs" / f"{datetime.date.today().isoformat()}-defaults", metavar="NAME")
    parser.add_argument("--note", default="", metavar="TEXT", help="what the tables should say of this run, such as how the command was built")
    parser.add_argument("--table", action="store_true", help="run nothing, write and print the tables")
    parser.add_argument("--list", action="store_true", help="run nothing, print the sets, where they come from and the contestants")
    options = parser.parse_args()
    if len(options.label) != len(options.extra):
        parser.error("each --extra has its --label")
    if options.folds == 1 or options.folds < 0 or options.seeds < 1:
        parser.error("at least 2 folds and 1 seed")
    options.ernn = options.ernn and options.ernn.resolve()
    return options, chosen(parser, options)


def chosen(parser, options):
    extra = [Contestant(label, "ernn", flags) for label, flags in zip(options.label, options.extra)]
    known = {contestant.label: contestant for contestant in CONTESTANTS + extra}
    if len(known) < len(CONTESTANTS) + len(extra):
        parser.error("two contestants of one name")
    unknown = set(options.only or ()) - set(known)
    if unknown:
        parser.error(f"no contestant {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return [known[label] for label in options.only] if options.only else list(known.values())


def main():
    options, contestants = arguments()
    # Not `with_suffix` on a name with a dot in it.
    options.out = options.out.with_name(options.out.name.replace(".", "-"))
    if options.list:
        print(report.sources(options.data))
        for contestant in contestants:
            print(f"{contestant.label}: {missing(contestant, options) or version(contestant, options)} {contestant.flags}")
        return
    results = Results(options.out) if options.table else work(options, contestants)
    if options.note:
        results.machine["note"] = options.note
        results.save()
    text = report.tables(results.machine, results.rows, results.skipped)
    options.out.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
