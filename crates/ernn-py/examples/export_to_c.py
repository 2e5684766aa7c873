# %% [markdown]
# # From Python to a microcontroller
# A trained model becomes a folder of C99 without a library, an allocation or an operating system.

# %%
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import ernn

# %%
random = np.random.default_rng(0)
y = np.arange(200) % 2
time = np.linspace(0, 2 * np.pi, 24)
X = np.sin((1 + y[:, None]) * time + random.uniform(0, 6, (200, 1))) + 0.1 * random.normal(size=(200, 24))
model = ernn.SequenceClassifier(hidden=16, rank=4, epochs=20, random_state=0).fit(X, y)

# %% [markdown]
# Before anything is written, the code's arithmetic is compared with the library's; where there is a C compiler, the code is compiled
# and its self-test run.

# %%
folder = Path(mkdtemp()) / "wave-model"
compiler = model.model_.export_c(folder, name="wave_model")
print("compiled with", compiler)
for path in sorted(folder.iterdir()):
    print(f"{path.name}: {path.stat().st_size} bytes")

# %% [markdown]
# Eight-bit numbers need data for their ranges: `ernn export --to c --format int8 --calibrate data.csv model.safetensors out`.
