# %% [markdown]
# # A log in HDF5
# `h5py` reads `.h5` files, and `.mat` files of version 7.3. Its data sets are arrays on the disk; `[:]` reads one.

# %%
from pathlib import Path
from tempfile import mkdtemp

import h5py
import numpy as np

import ernn

# %% [markdown]
# Test data: a group for each recording, with its rate and its person as attributes.

# %%
random = np.random.default_rng(0)
folder = Path(mkdtemp())
with h5py.File(folder / "machines.h5", "w") as file:
    for number in range(4):
        row = np.arange(4000)
        worn = row // 500 % 2
        group = file.create_group(f"run_{number}")
        group["vibration"] = np.sin(row * 0.5)[:, None] * (1 + worn[:, None]) + 0.1 * random.normal(size=(len(row), 2))
        group["worn"] = worn
        group.attrs["rate"] = 100.0
        group.attrs["machine"] = f"m{number // 2}"

# %% [markdown]
# A recording a file, as `ernn train runs --window 0.5s --rate 100` reads them. MATLAB's files have rows and columns turned: `.T`.

# %%
runs = folder / "runs"
runs.mkdir()
with h5py.File(folder / "machines.h5") as file:
    rate = next(iter(file.values())).attrs["rate"]
    for name, group in file.items():
        states = np.array(["new", "worn"])[group["worn"][:]]
        np.savez(runs / name, X=group["vibration"][:], y=states, groups=group.attrs["machine"])

# %%
w = ernn.windows(runs, window=int(rate / 2))
model = ernn.SequenceClassifier(hidden=16, rank=4, epochs=20, random_state=0)
train = w.groups == "m0"
model.fit(w.X[train], w.y[train])
print(f"accuracy on the other machine: {model.score(w.X[~train], w.y[~train]):.2f}")
assert model.score(w.X[~train], w.y[~train]) > 0.9
