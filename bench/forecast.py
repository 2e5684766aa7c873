"""Temperatures of the next days in Seattle: the data as two tables for `ernn train --horizon`, and what needs no network.

    pip install vega_datasets scikit-learn
    python bench/forecast.py make FOLDER     # train.csv (2012 to 2014) and test.csv (2015)
    python bench/forecast.py judge FOLDER    # the last value, and ridge regression on the window

The data is seattle-weather of the Vega data sets (NOAA, public domain), a row per day. Every window of 30 days of test.csv that 3 days
follow is judged: all of them, as `--keep-overlap --hop 1` does. The strength of the ridge is chosen by leave-one-out on train.csv.
"""

import sys
from pathlib import Path

import numpy as np

WINDOW, HORIZON = 30, 3
CHANNELS = ["precipitation", "temp_max", "temp_min", "wind"]
TARGET = CHANNELS.index("temp_max")


def make(folder):
    from vega_datasets import data

    table = data.seattle_weather()
    folder.mkdir(parents=True, exist_ok=True)
    for name, years in {"train": {2012, 2013, 2014}, "test": {2015}}.items():
        own = table[table["date"].dt.year.isin(years)]
        rows = zip(own["date"].dt.strftime("%Y-%m-%dT%H:%M:%S"), *(own[channel] for channel in CHANNELS))
        lines = [",".join(["date", *CHANNELS])] + [",".join(map(str, row)) for row in rows]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def windows(path):
    values = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(1, 1 + len(CHANNELS)))
    ends = range(WINDOW, len(values) - HORIZON + 1)
    inputs = np.array([values[end - WINDOW : end] for end in ends])
    return inputs, np.array([values[end : end + HORIZON, TARGET] for end in ends])


def judge(folder):
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    (inputs, targets), (later, truth) = windows(folder / "train.csv"), windows(folder / "test.csv")
    flat = lambda values: values.reshape(len(values), -1)
    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(0, 5, 21))).fit(flat(inputs), targets)
    for name, said in {
        "the mean of train.csv": np.broadcast_to(targets.mean(axis=0), truth.shape),
        "the last value": np.repeat(later[:, -1:, TARGET], HORIZON, axis=1),
        "ridge": ridge.predict(flat(later)),
    }.items():
        errors = said - truth
        by_day = " ".join(f"{error:.2f}" for error in np.abs(errors).mean(axis=0))
        print(f"{name}: RMSE {np.sqrt((errors**2).mean()):.3f}, MAE {np.abs(errors).mean():.3f} (by day {by_day}), {len(truth)} windows")


if len(sys.argv) != 3 or sys.argv[1] not in ("make", "judge"):
    raise SystemExit(__doc__)
{"make": make, "judge": judge}[sys.argv[1]](Path(sys.argv[2]))
