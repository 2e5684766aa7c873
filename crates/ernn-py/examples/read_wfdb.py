# %% [markdown]
# # A record of PhysioNet
# `wfdb` reads the records of PhysioNet (`.hea`, `.dat`, `.atr`). Here rhythm annotations, each of which holds until the next one, become
# the label of each row.

# %%
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import wfdb

import ernn

# %% [markdown]
# Test data: two records of 100 Hz, whose rhythm changes every ten seconds.

# %%
random = np.random.default_rng(0)
folder = Path(mkdtemp())
RATE = 100
for record in ["rec1", "rec2"]:
    at = np.arange(120 * RATE)
    fast = at // (10 * RATE) % 2
    phase = np.cumsum(np.where(fast, 0.03, 0.01))
    signal = (np.exp(-40 * (phase % 1 - 0.5) ** 2) + 0.05 * random.normal(size=at.size))[:, None]
    wfdb.wrsamp(record, fs=RATE, units=["mV"], sig_name=["II"], p_signal=signal, fmt=["16"], write_dir=str(folder))
    begins = at[:: 10 * RATE]
    rhythms = ["(SVTA" if fast[begin] else "(N" for begin in begins]
    wfdb.wrann(record, "atr", begins, symbol=["+"] * len(begins), aux_note=rhythms, write_dir=str(folder))

# %% [markdown]
# `ernn train records --window 2s --rate 100` reads the same files.

# %%
records = folder / "records"
records.mkdir()
for path in sorted(folder.glob("*.hea")):
    name = str(path.with_suffix(""))
    record = wfdb.rdrecord(name)
    notes = wfdb.rdann(name, "atr")
    labels = np.full(record.sig_len, "", dtype="U8")
    for begin, rhythm in zip(notes.sample, notes.aux_note):
        if rhythm.startswith("("):
            labels[begin:] = rhythm.strip("(\x00")
    np.savez(records / path.stem, X=record.p_signal, y=labels, channels=np.array(record.sig_name))

# %%
w = ernn.windows(records, window="2s", rate=record.fs)
model = ernn.SequenceClassifier(hidden=16, rank=4, epochs=30, pooling="mean", random_state=0)
train = w.groups == "rec1"
model.fit(w.X[train], w.y[train])
print(f"accuracy on the other record: {model.score(w.X[~train], w.y[~train]):.2f}")
assert model.score(w.X[~train], w.y[~train]) > 0.9
