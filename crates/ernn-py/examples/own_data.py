# %% [markdown]
# # Your own sequences
# Sequences of unequal length as a list of arrays `[T_i, d]`, labels of any kind, a model in the command's file format.

# %%
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import ernn

# %% [markdown]
# Two gestures of three channels, 20 to 40 steps long: a circle drawn to the left or to the right, somewhere in space.

# %%
random = np.random.default_rng(0)


def gesture(to_the_left):
    angle = np.linspace(0, 2 * np.pi, random.integers(20, 41)) * (1 if to_the_left else -1) + random.uniform(0, 6)
    circle = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    return circle + 0.3 * random.normal(size=3) + 0.1 * random.normal(size=circle.shape)


names = np.array(["right", "left"])
turns = random.integers(0, 2, 400)
X = [gesture(turn) for turn in turns]
y = names[turns]

# %% [markdown]
# Training keeps a fifth of the sequences to choose the best epoch with.

# %%
model = ernn.SequenceClassifier(hidden=32, rank=8, epochs=40, random_state=0)
model.fit(X[:300], y[:300])
print(f"accuracy on 100 others: {model.score(X[300:], y[300:]):.2f}")
print("probabilities of", model.classes_, model.predict_proba(X[300:301])[0].round(3))
assert model.score(X[300:], y[300:]) > 0.9

# %% [markdown]
# The file is the command's: `ernn predict model.safetensors new.csv`, `ernn inspect model.safetensors`, ...

# %%
path = Path(mkdtemp()) / "model.safetensors"
model.save(path)
again = ernn.load(path)
print(again)

# %% [markdown]
# Step by step, as they come from a sensor: what the model makes of all steps so far.

# %%
stream = again.stream()
for step in X[300]:
    said, probabilities = stream.push(step)
print(f"after {stream.steps} steps: {said}, {probabilities.max():.2f}")
assert said == again.predict(X[300:301])[0]
