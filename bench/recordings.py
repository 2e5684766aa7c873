"""From log files to answers, beside scikit-learn on statistics of windows.

    python3 bench/recordings.py logs DSA_FOLDER LOGS     # persons' logs out of the Daily and Sports Activities data
    ernn train LOGS FLAGS --out RUN                      # the flags are printed
    python3 bench/recordings.py judge LOGS               # what a person would use instead (numpy, scikit-learn)

A log is what a phone at the right wrist would write: acceleration and turning rate at about 25 Hz in bouts of a minute, the time in
milliseconds with jitter, one row in a hundred lost, a pause of a second between bouts, and no label for a second on each side of it. Persons
1 to 6 are the training part, 7 and 8 the test part.
"""

import sys
from pathlib import Path

import numpy as np

RATE, WINDOW, HOP, BOUT = 25, 125, 63, 12
NAMES = ["ax", "ay", "az", "gx", "gy", "gz"]
COLUMNS = range(9, 15)
FLAGS = "--time t_ms --rate 25 --window 5s --hop 2.5s --group person --label activity"


def bouts(folder, person, random):
    """A minute of an activity after the other, in an order of the person's own."""
    order = [(activity, part) for activity in range(1, 20) for part in range(60 // BOUT)]
    random.shuffle(order)
    for activity, part in order:
        files = [folder / f"a{activity:02}/p{person}/s{BOUT * part + 1 + k:02}.txt" for k in range(BOUT)]
        yield activity, np.concatenate([np.loadtxt(file, delimiter=",", usecols=COLUMNS) for file in files])


def write_logs(folder, logs):
    for person in range(1, 9):
        random = np.random.default_rng(person)
        path = logs / ("train" if person <= 6 else "test") / f"person_{person}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        time = 1_700_000_000_000 + 86_400_000 * person
        with path.open("w") as file:
            print("t_ms", *NAMES, "person", "activity", sep=",", file=file)
            for activity, rows in bouts(folder, person, random):
                for row, values in enumerate(rows):
                    time += 40
                    if random.random() < 0.01:
                        continue
                    border = row < RATE or row >= len(rows) - RATE
                    label = "" if border else f"a{activity:02}"
                    cells = ",".join(f"{value:.4f}" for value in values)
                    print(f"{time + random.integers(0, 12)},{cells},p{person},{label}", file=file)
                time += 1000
    print(f"ernn train {logs} {FLAGS}")


def read(path):
    """Windows on a grid and their labels, as `ernn` cuts them: no gap in one, a label for two thirds."""
    import csv

    with path.open() as file:
        table = list(csv.DictReader(file))
    time = np.array([float(row["t_ms"]) for row in table]) / 1000
    values = np.array([[float(row[name]) for name in NAMES] for row in table])
    labels = np.array([row["activity"] for row in table])
    found, classes = [], []
    for piece in np.split(np.arange(len(time)), np.flatnonzero(np.diff(time) > 5 / RATE) + 1):
        grid = np.arange(time[piece[0]], time[piece[-1]] + 1e-6, 1 / RATE)
        even = np.stack([np.interp(grid, time[piece], values[piece, channel]) for channel in range(len(NAMES))], 1)
        nearest = piece[np.searchsorted((time[piece][1:] + time[piece][:-1]) / 2, grid)]
        for start in range(0, len(grid) - WINDOW + 1, HOP if "train" in path.parts else 2 * HOP):
            names, counts = np.unique(labels[nearest[start : start + WINDOW]], return_counts=True)
            best = counts.argmax()
            if names[best] and counts[best] >= 2 / 3 * WINDOW:
                found.append(even[start : start + WINDOW])
                classes.append(names[best])
    return np.array(found), np.array(classes)


def statistics(windows):
    spectrum = np.abs(np.fft.rfft(windows - windows.mean(1, keepdims=True), axis=1))
    parts = [windows.mean(1), windows.std(1), windows.min(1), windows.max(1), *np.quantile(windows, [0.25, 0.5, 0.75], axis=1)]
    parts += [np.abs(np.diff(windows, axis=1)).mean(1), spectrum.argmax(1), np.log1p(spectrum[:, 1:13]).reshape(len(windows), -1)]
    return np.concatenate(parts, 1)


def judge(logs):
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    part = lambda name: [np.concatenate(both) for both in zip(*(read(path) for path in sorted((logs / name).glob("*.csv"))))]
    (train, classes), (test, truth) = part("train"), part("test")
    print(f"{len(train)} windows to train on, {len(test)} to judge")
    train, test = statistics(train), statistics(test)
    for name, model in [
        ("random forest, 500 trees", RandomForestClassifier(500, random_state=1)),
        ("extra trees, 500", ExtraTreesClassifier(500, random_state=1)),
        ("logistic regression", make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))),
    ]:
        model.fit(train, classes)
        print(f"{name}: {100 * model.score(test, truth):.2f} %")


if __name__ == "__main__":
    if sys.argv[1] == "logs":
        write_logs(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        judge(Path(sys.argv[2]))
