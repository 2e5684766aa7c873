# %% [markdown]
# # A night in EDF+
# `pyedflib` reads EDF and BDF. The annotations of a night (sleep stages, events) have a beginning, a length and a text: exactly what
# `ernn` takes as a file of events.

# %%
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pyedflib

import ernn

# %% [markdown]
# Test data: two nights of two channels at 64 Hz, with a stage every 30 seconds.

# %%
random = np.random.default_rng(0)
folder = Path(mkdtemp())
RATE, EPOCHS = 64, 40
for night in ["night_1", "night_2"]:
    deep = random.integers(0, 2, EPOCHS)
    at = np.arange(EPOCHS * 30 * RATE) / RATE
    wave = np.sin(2 * np.pi * at * np.where(deep.repeat(30 * RATE), 1.5, 9.0))
    names = ["EEG Fpz-Cz", "EEG Pz-Oz"]
    signals = [50 * wave + random.normal(size=at.size), 40 * wave + random.normal(size=at.size)]
    with pyedflib.EdfWriter(str(folder / f"{night}.edf"), 2, file_type=pyedflib.FILETYPE_EDFPLUS) as file:
        file.setSignalHeaders(
            [
                {"label": name, "dimension": "uV", "sample_frequency": RATE, "physical_max": 500, "physical_min": -500}
                | {"digital_max": 32767, "digital_min": -32768, "transducer": "", "prefilter": ""}
                for name in names
            ]
        )
        file.writeSamples(signals)
        for epoch, is_deep in enumerate(deep):
            file.writeAnnotation(30 * epoch, 30, "deep" if is_deep else "awake")

# %% [markdown]
# Channels of one rate become the columns of `X`. `ernn train nights --window 30s --rate 64 --labels events.csv` is the same.

# %%
nights = folder / "nights"
nights.mkdir()
with open(folder / "events.csv", "w") as events:
    print("recording,start,duration,label", file=events)
    for path in sorted(folder.glob("*.edf")):
        with pyedflib.EdfReader(str(path)) as file:
            X = np.stack([file.readSignal(channel) for channel in range(file.signals_in_file)], axis=1)
            rate = file.getSampleFrequency(0)
            np.savez(nights / path.stem, X=X.astype(np.float32), channels=np.array(file.getSignalLabels()))
            for start, duration, text in zip(*file.readAnnotations()):
                print(path.stem, start, duration, text, sep=",", file=events)

# %%
w = ernn.windows(nights, window="30s", rate=rate, events=folder / "events.csv")
model = ernn.SequenceClassifier(hidden=16, rank=4, epochs=20, pooling="mean", random_state=0)
train = w.groups == "night_1"
model.fit(w.X[train], w.y[train])
print(f"accuracy on the other night: {model.score(w.X[~train], w.y[~train]):.2f}")
assert model.score(w.X[~train], w.y[~train]) > 0.9
