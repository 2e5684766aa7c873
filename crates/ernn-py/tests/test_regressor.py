"""The regressor: numbers in their own unit, whatever it is; what the command trains, to the bit."""

import pickle

import numpy as np
import pytest
from conftest import SMALL, ragged, waves

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import ernn
from ernn import SequenceClassifier, SequenceRegressor


def hertz(count=120, seed=0):
    """Waves ``[count, 20, 1]``, and how fast they are."""
    random = np.random.default_rng(seed)
    y = random.uniform(5, 15, count)
    time = np.arange(20)
    X = np.sin(0.0628 * y[:, None] * time + random.uniform(0, 0.5, (count, 1)))
    return X[:, :, None].astype(np.float32), y


def small(**parameters):
    return SequenceRegressor(**{**SMALL, "cell": "gru", "epochs": 60, "learning_rate": 0.02, "input_noise": 0.0, **parameters})


def test_it_learns_numbers_in_their_unit():
    (X, y), (test, truth) = hertz(), hertz(60, seed=1)
    plain = small().fit(X, y)
    assert plain.score(test, truth) > 0.9
    other = small().fit(X, 1000 * y - 1e5)
    np.testing.assert_allclose(other.predict(test), 1000 * plain.predict(test) - 1e5, atol=5)
    numbers = plain.report_["numbers"]
    assert numbers["r2"] > 0.9 and abs(numbers["always_mean"]["answer"] - y.mean()) < 1
    assert plain.predict(test).dtype == np.float32


@pytest.mark.parametrize("loss", ["mse", "mae", "huber"])
def test_each_loss_and_every_form_of_sequences(loss):
    X, y = ragged()
    model = small(loss=loss, epochs=3).fit(X, y + 0.5)
    np.testing.assert_array_equal(model.predict(X), [model.predict([x])[0] for x in X])
    assert model.report_["settings"]["training"].get("loss", "mse") == loss


def test_files_copies_and_streams(tmp_path):
    X, y = hertz(40)
    model = small(epochs=3).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    expected = model.predict(X)
    for other in (SequenceRegressor.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X), expected)
    np.testing.assert_array_equal(ernn.load(tmp_path / "model.safetensors").predict(X), expected)
    stream = model.stream()
    said = [stream.push(step) for step in X[0]]
    assert np.float32(said[-1]) == expected[0]
    waves_, labels = waves()
    SequenceClassifier(**SMALL).fit(waves_, labels).save(tmp_path / "classes.safetensors")
    with pytest.raises(ValueError, match="a model of classification"):
        SequenceRegressor.load(tmp_path / "classes.safetensors")


def test_groups_and_cross_validation():
    X, y = hertz(40)
    people = np.arange(40) % 5
    assert small(epochs=3, validation=0.2).fit(X, y, groups=people).report_["part"] == "validation"
    assert len(cross_val_score(clone(small(epochs=2)), X, y, cv=3)) == 3


def test_what_is_no_number_is_refused():
    X, y = hertz(10)
    with pytest.raises(ValueError, match="NaN"):
        small().fit(X, np.where(np.arange(10) == 3, np.nan, y))
    with pytest.raises(ValueError, match="expected numbers that differ"):
        small().fit(X, np.ones(10))
    with pytest.raises(ValueError, match="requires y to be passed"):
        small().fit(X, None)
    with pytest.raises(ValueError, match="huber"):
        small(loss="squared").fit(X, y)


def test_every_setting_of_the_command_is_an_argument_of_one_of_the_estimators():
    of_classes = {"calibrate", "class_weight", "teacher", "teacher_weight", "teacher_temperature"}
    assert set(SequenceClassifier().get_params()) - set(SequenceRegressor().get_params()) == of_classes
    assert set(SequenceRegressor().get_params()) - set(SequenceClassifier().get_params()) == {"loss", "quantiles", "each_step"}


A_ROW_IS_A_SEQUENCE = "a row is a sequence of one channel: its length may change, and its channels are not its columns"
EXCEPTIONS = {
    "check_n_features_in": A_ROW_IS_A_SEQUENCE,
    "check_n_features_in_after_fitting": A_ROW_IS_A_SEQUENCE,
}


@parametrize_with_checks(
    # The checks' numbers hang on single columns, here single steps: a gate and the last state find them.
    [
        SequenceRegressor(
            "gru", hidden=16, pooling="last", epochs=150, learning_rate=0.02, validation=0.0, input_noise=0.0, random_state=0, n_jobs=1
        )
    ],
    expected_failed_checks=lambda estimator: EXCEPTIONS,
)
def test_of_scikit_learn(estimator, check):
    check(estimator)


def test_quantiles_rise_and_have_an_axis():
    X, y = hertz()
    model = small(quantiles=[0.1, 0.5, 0.9], epochs=3).fit(X, y)
    found = model.predict(X)
    assert found.shape == (len(y), 3) and (np.diff(found, axis=1) >= 0).all()
    assert model.score(X, y) == r2_score(y, found[:, 1])
    assert model.report_["numbers"]["quantiles"]["quantiles"] == [0.1, 0.5, 0.9]
    with pytest.raises(ValueError, match="each larger than the one before"):
        small(quantiles=(0.9, 0.1)).fit(X, y)


def test_several_numbers_have_their_units():
    X, y = hertz()
    both = np.stack([y, 10000 - 100 * y], axis=1)
    model = small(epochs=3).fit(X, both)
    found = model.predict(X)
    assert found.shape == both.shape and found[:, 1].mean() > 10 * np.abs(found[:, 0]).max()
    assert model.score(X, both) == pytest.approx(r2_score(both, found))
    quantiles = small(epochs=2, quantiles=[0.2, 0.8]).fit(X, both).predict(X)
    assert quantiles.shape == (len(y), 2, 2)


def slow(count=60, seed=0):
    """Noise ``[count, 30, 2]`` and a slow mean of its first channel at each step, which every fourth step lacks."""
    X = np.random.default_rng(seed).normal(size=(count, 30, 2)).astype(np.float32)
    y = np.zeros((count, 30))
    for step in range(30):
        y[:, step] = 0.6 * (y[:, step - 1] if step else 0) + 0.4 * X[:, step, 0]
    y = 300 + 40 * y
    y[:, 3::4] = np.nan
    return X, y


def test_numbers_of_steps(tmp_path):
    (X, y), (test, truth) = slow(), slow(20, seed=1)
    model = small(each_step=True, epochs=40).fit(X, y)
    assert model.score(test, truth) > 0.9 and model.report_["numbers"]["of_steps"]
    said = model.predict(test)
    assert said.shape == (20, 30) and said.dtype == np.float32
    known = ~np.isnan(truth)
    assert model.score(test, truth) == pytest.approx(r2_score(truth[known], said[known]))
    half = model.score(test, truth, sample_weight=[1] * 10 + [0] * 10)
    assert half == pytest.approx(r2_score(truth[:10][known[:10]], said[:10][known[:10]]))
    stream = model.stream()
    np.testing.assert_allclose([stream.push(step) for step in test[0]], said[0], rtol=1e-6)
    model.save(tmp_path / "model.safetensors")
    again = SequenceRegressor.load(tmp_path / "model.safetensors")
    assert again.each_step
    np.testing.assert_array_equal(again.predict(test), said)
    np.testing.assert_array_equal(ernn.load(tmp_path / "model.safetensors").predict(test), said)


def test_several_numbers_of_steps_of_unequal_lengths():
    X, y = slow()
    lists = [x[: 10 + index % 5] for index, x in enumerate(X)]
    numbers = [np.stack([row, 2 * row - 1], 1)[: len(x)] for row, x in zip(y, lists)]
    model = small(each_step=True, epochs=3, quantiles=[0.1, 0.9]).fit(lists, numbers)
    said = model.predict(lists)
    assert [one.shape for one in said[:6]] == [(10 + index % 5, 2, 2) for index in range(6)]
    assert (said[0][..., 0] <= said[0][..., 1]).all()
    with pytest.raises(ValueError, match=r"y, sequence 2: found shape \(10, 2\), expected \(11,\)"):
        model.fit(lists, [row[:10] for row in numbers])
    with pytest.raises(ValueError, match="no step with a number"):
        model.fit(lists, [np.full(len(x), np.nan) for x in lists])
    with pytest.raises(ValueError, match="y, sequence 1: expected numbers"):
        model.fit(lists, [["a"] * len(x) for x in lists])
