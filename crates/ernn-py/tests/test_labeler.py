"""A class for each step."""

import numpy as np
import pytest
from ernn import SequenceClassifier, SequenceLabeler, SequenceRegressor
from sklearn.base import clone


def bouts(count=24, steps=30, seed=0):
    """Sequences ``[count, steps, 2]`` whose level changes from time to time; the label says whether it is high."""
    random = np.random.default_rng(seed)
    y = np.repeat(random.integers(0, 2, (count, steps // 10)), 10, axis=1)
    X = y[..., None] * np.array([1.0, -1.0]) + 0.3 * random.normal(size=(count, steps, 2))
    return X.astype(np.float32), np.array(["low", "high"])[y]


def small(**more):
    return SequenceLabeler(hidden=8, rank=2, random_state=1, n_jobs=1, **more)


def test_every_step_has_a_label_and_probabilities(tmp_path):
    X, y = bouts()
    labeler = small().fit(X, y)
    assert labeler.classes_.tolist() == ["high", "low"] and labeler.n_features_in_ == 2
    assert labeler.predict(X).shape == y.shape
    proba = labeler.predict_proba(X)
    assert proba.shape == (*y.shape, 2) and np.allclose(proba.sum(axis=-1), 1)
    assert labeler.score(X, y) > 0.9
    assert labeler.report_["segments"]["segments"] > 0
    labeler.save(tmp_path / "model.safetensors")
    again = SequenceLabeler.load(tmp_path / "model.safetensors")
    assert (again.predict(X) == labeler.predict(X)).all()
    with pytest.raises(ValueError, match="expected one of numbers"):
        SequenceRegressor.load(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="found a model of step-classification, expected one of classes or labels"):
        SequenceClassifier.load(tmp_path / "model.safetensors")


def test_unequal_lengths_come_back_as_lists():
    X, y = bouts()
    X, y = [x[: 20 + index % 7] for index, x in enumerate(X)], [row[: 20 + index % 7] for index, row in enumerate(y)]
    labeler = small().fit(X, y)
    said = labeler.predict(X)
    assert [len(row) for row in said] == [len(row) for row in y]
    assert labeler.predict_proba(X)[3].shape == (23, 2)
    assert labeler.score(X, y) == pytest.approx(np.mean(np.concatenate(said) == np.concatenate(y)))


def test_nothing_is_learned_from_steps_without_a_label():
    X, y = bouts()
    some = y.astype(object)
    some[:, ::3] = None
    other = X.copy()
    labeler = small().fit(X, some)
    assert labeler.classes_.tolist() == ["high", "low"]
    assert labeler.score(X, y) > 0.9
    numbers = np.where(some == "high", 1.0, np.where(some == "low", 0.0, np.nan)).astype(float)
    same = small().fit(other, numbers)
    # Classes are sorted: high, low and 0, 1 are the other way round.
    assert same.classes_.tolist() == [0.0, 1.0]
    assert same.score(X, numbers) > 0.9


def test_what_does_not_fit_is_refused():
    X, y = bouts(4)
    with pytest.raises(ValueError, match="found labels of 3 sequences, expected 4"):
        small().fit(X, y[:3])
    with pytest.raises(ValueError, match=r"y, sequence 1: found shape \(29,\), expected \(30,\)"):
        small().fit(X, y[:, 1:])
    with pytest.raises(ValueError, match="no step with a label"):
        small().fit(X, np.full(y.shape, np.nan))
    with pytest.raises(ValueError, match="requires y"):
        small().fit(X, None)


def test_its_parameters_are_those_of_the_classifier_but_for_sequences():
    of_sequences = {"pooling", "class_weight", "teacher", "teacher_weight", "teacher_temperature"}
    own, others = set(SequenceLabeler().get_params()), set(SequenceClassifier().get_params())
    assert others - own == of_sequences and own - others == {"smooth"}
    labeler = clone(small(smooth=False, layers=2))
    assert labeler.get_params()["layers"] == 2 and labeler.smooth is False
    assert "smooth=False" in repr(labeler)
    with pytest.raises(TypeError):
        SequenceLabeler(pooling="mean")


def test_smoothing_is_a_choice():
    X, y = bouts()
    settings = [small(smooth=smooth).fit(X, y).report_["settings"]["training"] for smooth in (None, False)]
    assert settings[0]["smooth"] is True and not settings[1].get("smooth", False)
