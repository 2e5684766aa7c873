"""Several labels at once: y of 0 and 1 in two dimensions, as scikit-learn's multilabel-indicator format has it."""

import pickle

import numpy as np
import pytest
from conftest import SMALL

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.metrics import average_precision_score

import ernn
from ernn import SequenceClassifier


def weather(count=120, seed=0):
    """Two channels ``[count, 8, 2]``; a label holds where its channel lies high."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, (count, 2))
    X = random.normal(0, 0.3, (count, 8, 2)) + y[:, None, :]
    return X.astype(np.float32), y


def small(**parameters):
    return SequenceClassifier(**{**SMALL, "epochs": 20, "learning_rate": 0.02, **parameters})


def test_it_learns_labels_that_do_not_exclude_each_other(tmp_path):
    (X, y), (test, truth) = weather(), weather(60, seed=1)
    model = small().fit(X, y)
    probabilities, called = model.predict_proba(test), model.predict(test)
    assert probabilities.shape == called.shape == (60, 2) and called.dtype == y.dtype
    np.testing.assert_array_equal(called, (probabilities >= 0.5).astype(int))
    assert model.score(test, truth) > 0.9 and average_precision_score(truth, probabilities) > 0.95
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.report_["labels"]["mean_average_precision"] > 0.9

    model.save(tmp_path / "model.safetensors")
    for again in (SequenceClassifier.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(test), probabilities)
        np.testing.assert_array_equal(again.predict(test), called)
    loaded = ernn.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(test), called)
    stream = loaded.stream()
    for step in test[0]:
        labels, shares = stream.push(step)
    np.testing.assert_array_equal(shares, probabilities[0])
    assert labels == [label for label in (0, 1) if called[0, label]]


def test_balanced_weights_and_threads():
    X, y = weather()
    one, many = (small(epochs=2, n_jobs=jobs, class_weight="balanced").fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(X), many.predict_proba(X))
    assert (small(epochs=2).fit(X, y).predict_proba(X) != one.predict_proba(X)).any()


def test_weights_of_sequences_are_refused():
    X, y = weather(20)
    with pytest.raises(ValueError, match="sample_weight: found weights, expected none"):
        small().fit(X, y, sample_weight=np.ones(20))
    with pytest.raises(ValueError, match="class_weight: found .*, expected balanced or None"):
        small(class_weight={0: 1.0, 1: 2.0}).fit(X, y)
