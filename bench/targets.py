"""Numbers to predict, beside ridge regression and extra trees on window statistics: what docs/results.md#numbers-to-predict says.

    python bench/targets.py make DSA_FOLDER leg.npz       # the turning of a leg out of the motion of the torso
    python bench/targets.py judge leg.npz                 # or NAME for NAME_TRAIN.ts and NAME_TEST.ts

Needs numpy and scikit-learn. DSA_FOLDER holds aXX/pY/sZZ.txt (UCI Daily and Sports Activities). Statistics of each channel, and of the length of each
triad: mean, deviation, ends, quartiles, mean absolute difference, crossings of the mean, energy in four bands. The strength of the
methods is chosen by cross-validation on the training part, with groups whole; the test part is read once.
"""

import pathlib
import sys

import numpy as np


def make(folder, out):
    X, y, groups = [], [], []
    for path in sorted(pathlib.Path(folder).glob("a*/p*/s*.txt")):
        steps = np.loadtxt(path, delimiter=",", dtype=np.float32)
        turning = steps[:, 30:33].astype(np.float64)  # gyroscope of the right leg
        X.append(steps[:, :6])  # acceleration and gyroscope of the torso
        y.append(np.sqrt((turning**2).sum(1).mean()))
        groups.append(int(path.parent.name[1:]))
    X, y, groups = np.array(X), np.array(y, dtype=np.float32), np.array(groups, dtype=np.int32)
    train = groups <= 4
    parts = {"train": train, "test": ~train}
    arrays = {"X": X, "y": y, "groups": groups}
    np.savez(out, **{f"{name}_{part}": array[chosen] for name, array in arrays.items() for part, chosen in parts.items()})


def statistics(x):
    if x.shape[1] % 3 == 0:
        lengths = [np.linalg.norm(x[:, first : first + 3], axis=1, keepdims=True) for first in range(0, x.shape[1], 3)]
        x = np.hstack([x, *lengths])
    centered = x - x.mean(0)
    power = np.abs(np.fft.rfft(centered, axis=0)) ** 2 / len(x)
    bands = [np.log1p(band.mean(0)) for band in np.array_split(power[1:], 4)]
    crossings = (centered[1:] * centered[:-1] < 0).mean(0)
    quartiles = np.quantile(x, [0.25, 0.5, 0.75], axis=0)
    ends = [x.mean(0), x.std(0), x.min(0), x.max(0)]
    return np.concatenate([*ends, *quartiles, np.abs(np.diff(x, axis=0)).mean(0), crossings, *bands])


def series(path):
    X, y = [], []
    for line in open(path):
        if line.strip() and line[0] not in "#@":
            *channels, target = line.strip().split(":")
            X.append(np.array([[float(value) for value in channel.split(",")] for channel in channels]).T)
            y.append(float(target))
    return X, np.array(y)


def judge(name):
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.linear_model import Ridge
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
    from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    groups = None
    if name.endswith(".npz"):
        data = np.load(name)
        train, y, groups, test, truth = (data[key] for key in ["X_train", "y_train", "groups_train", "X_test", "y_test"])
    else:
        (train, y), (test, truth) = series(f"{name}_TRAIN.ts"), series(f"{name}_TEST.ts")
    train, test = [np.array([statistics(x) for x in part]) for part in (train, test)]
    folds = KFold(5, shuffle=True, random_state=0) if groups is None else GroupKFold(min(5, len(set(groups))))
    methods = {
        "ridge": (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": 10.0 ** np.arange(-2, 6)}),
        "extra trees": (ExtraTreesRegressor(300, random_state=0), {"min_samples_leaf": [1, 3, 10]}),
    }
    said = {"always the mean of training": np.full(len(truth), y.mean())}
    for method, (model, grid) in methods.items():
        search = GridSearchCV(model, grid, cv=folds, scoring="neg_mean_squared_error").fit(train, y, groups=groups)
        said[f"{method} {search.best_params_}"] = search.predict(test)
    for method, found in said.items():
        errors = root_mean_squared_error(truth, found), mean_absolute_error(truth, found)
        print(f"{method}: RMSE {errors[0]:.4g}, MAE {errors[1]:.4g}, R2 {r2_score(truth, found):.3f}")


if __name__ == "__main__":
    {"make": make, "judge": judge}[sys.argv[1]](*sys.argv[2:])
