"""aeon's own checks, and its benchmarking on top of the classifier."""

import numpy as np
import pytest

pytest.importorskip("aeon", reason="aeon is not installed")

from aeon.benchmarking.resampling import stratified_resample_data
from aeon.testing.estimator_checking import parametrize_with_checks
from conftest import ragged, waves

from ernn import SequenceClassifier
from ernn.aeon import ErnnClassifier


@parametrize_with_checks([ErnnClassifier], use_first_parameter_set=True)
def test_of_aeon(check):
    check()


SETTINGS = {"hidden": 8, "rank": 2, "epochs": 30}


def test_it_is_the_same_classifier():
    X, y = waves()
    turned = X.transpose(0, 2, 1)
    found = ErnnClassifier(settings=SETTINGS, random_state=0).fit(turned, y)
    expected = SequenceClassifier(**SETTINGS, random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(turned), expected.predict_proba(X))


def test_series_of_unequal_length():
    X, y = ragged()
    series = [x.T for x in X]
    found = ErnnClassifier(settings=SETTINGS, random_state=0).fit(series, y)
    assert found.predict(series).shape == (len(y),)


def test_a_resampled_benchmark():
    X, y = waves(120)
    X = X.transpose(0, 2, 1)
    scores = []
    for resample in range(3):
        train, labels, test, truth = stratified_resample_data(X[:60], y[:60], X[60:], y[60:], random_state=resample)
        scores.append(ErnnClassifier(settings=SETTINGS, random_state=resample, n_jobs=2).fit(train, labels).score(test, truth))
    assert np.mean(scores) > 0.8
