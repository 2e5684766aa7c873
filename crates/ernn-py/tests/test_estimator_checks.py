"""scikit-learn's own checks of estimators, and why some of them do not apply."""

import pytest

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn 1.6 is not installed")

from sklearn.utils.estimator_checks import parametrize_with_checks

from ernn import SequenceClassifier

#: The checks give arrays [samples, features]; to this classifier each row is a sequence of one channel.
A_ROW_IS_A_SEQUENCE = "a row is a sequence of one channel: its length may change, and its channels are not its columns"
A_FEW_BATCHES = "the training of a network is not a function of the weighted set of samples: batches, split and seed stand between"

EXCEPTIONS = {
    # Fails in its last lines alone, which ask for an error where sequences are shorter than those of `fit`.
    "check_classifiers_train": A_ROW_IS_A_SEQUENCE,
    "check_n_features_in": A_ROW_IS_A_SEQUENCE,
    "check_n_features_in_after_fitting": A_ROW_IS_A_SEQUENCE,
    "check_sample_weight_equivalence_on_dense_data": A_FEW_BATCHES,
}


@parametrize_with_checks(
    [SequenceClassifier(hidden=8, rank=4, epochs=40, validation=0.0, random_state=0, n_jobs=1)],
    expected_failed_checks=lambda estimator: EXCEPTIONS,
)
def test_of_scikit_learn(estimator, check):
    check(estimator)
