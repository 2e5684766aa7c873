# %% [markdown]
# # A log of MATLAB
# `scipy.io` reads `.mat` files up to version 7.2; those of version 7.3 are HDF5 (`read_hdf5.py`). An `.npz` of the same arrays is what
# `ernn.windows` and the command read: `ernn train logs --time t --rate 50 --window 1s`.

# %%
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from scipy.io import loadmat, savemat

import ernn

# %% [markdown]
# Test data, as `save("anna.mat", "t", "acc", "activity")` leaves it: times, three channels, a word for each row.

# %%
random = np.random.default_rng(0)
folder = Path(mkdtemp())
for person in ["anna", "ben", "cleo"]:
    row = np.arange(3000)
    runs = row // 250 % 2
    acc = np.sin(row * np.where(runs, 0.7, 0.2))[:, None] + 0.1 * random.normal(size=(len(row), 3))
    words = np.where(runs, "run", "walk").astype(object)
    savemat(folder / f"{person}.mat", {"t": row[:, None] / 50, "acc": acc, "activity": words[:, None]})

# %% [markdown]
# A vector of MATLAB has two dimensions; texts come in a cell array, an array of one text in each place.

# %%
logs = folder / "logs"
logs.mkdir()
for path in sorted(folder.glob("*.mat")):
    mat = loadmat(path)
    labels = np.array([str(cell.item()) for cell in mat["activity"].ravel()])
    np.savez(logs / path.stem, X=mat["acc"], t=mat["t"].ravel(), y=labels, channels=np.array(["ax", "ay", "az"]))

# %%
w = ernn.windows(logs, window="1s", time="t", rate=50)
model = ernn.SequenceClassifier(hidden=16, rank=4, epochs=20, random_state=0)
train = w.groups != "cleo"
model.fit(w.X[train], w.y[train])
print(f"accuracy on a person who was not seen: {model.score(w.X[~train], w.y[~train]):.2f}")
assert model.score(w.X[~train], w.y[~train]) > 0.9
