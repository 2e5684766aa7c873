"""What the tests share: small data, and the command where it has been built."""

import os
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[3]


def waves(count=60, steps=16, channels=2, classes=2, seed=0):
    """Sequences ``[count, steps, channels]`` of noise and a wave whose frequency is the class; labels from 0."""
    random = np.random.default_rng(seed)
    y = np.arange(count) % classes
    time = np.linspace(0, 2 * np.pi, steps)
    X = np.sin((y[:, None, None] + 1) * time[None, :, None] + random.uniform(0, 1, (count, 1, channels)))
    return (X + 0.1 * random.normal(size=X.shape)).astype(np.float32), y


def ragged(count=40, seed=0):
    """The same as a list of sequences ``[T_i, 2]`` of unequal length."""
    X, y = waves(count, seed=seed)
    random = np.random.default_rng(seed)
    return [x[: random.integers(8, 17)] for x in X], y


#: A model that trains in a moment.
SMALL = {"hidden": 8, "rank": 2, "epochs": 8, "random_state": 0, "n_jobs": 1}


@pytest.fixture
def small():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    import ernn

    return ernn.SequenceClassifier(**SMALL)


@pytest.fixture(scope="session")
def command():
    """The binary ``ernn``: ERNN_BINARY, or the newest one that cargo has built."""
    named = os.environ.get("ERNN_BINARY")
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    found = [Path(named)] if named else [target / profile / "ernn" for profile in ("debug", "release")]
    found = sorted((path for path in found if path.is_file()), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.skip("the command is not built (cargo build -p ernn-cli)")
    return str(found[-1])
