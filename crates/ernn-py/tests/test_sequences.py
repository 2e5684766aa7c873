"""The forms that sequences come in, and what is refused."""

import numpy as np
import pytest

from ernn._sequences import gather, threads


def layout(found):
    return found.values.tolist(), found.offsets.tolist(), found.features


def test_all_forms_of_the_same_sequences_are_alike():
    X = np.arange(12.0).reshape(2, 3, 2)
    expected = (list(range(12)), [0, 3, 6], 2)
    forms = [X, X.astype(np.float32), X.astype(int), list(X), X.tolist(), np.asfortranarray(X)]
    for form in forms:
        assert layout(gather(form)) == expected
    for form in (X.transpose(0, 2, 1), [x.T for x in X]):
        assert layout(gather(form, channels_first=True)) == expected


def test_two_dimensions_are_sequences_of_one_channel():
    assert layout(gather(np.arange(6.0).reshape(2, 3))) == ([0, 1, 2, 3, 4, 5], [0, 3, 6], 1)
    assert layout(gather([[1, 2], [3]])) == ([1, 2, 3], [0, 2, 3], 1)


def test_sequences_of_unequal_length():
    sequences = [np.ones((2, 3)), np.zeros((1, 3))]
    expected = ([1] * 6 + [0] * 3, [0, 2, 3], 3)
    assert layout(gather(sequences)) == expected
    objects = np.empty(2, dtype=object)
    objects[:] = sequences
    assert layout(gather(objects)) == expected


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros(3), "1 dimensions"),
        (np.zeros((1, 2, 3, 4)), "4 dimensions"),
        (np.zeros((0, 3, 1)), r"0 sample\(s\)"),
        (np.zeros((3, 0, 1)), r"0 step\(s\)"),
        (np.zeros((3, 2, 0)), r"0 feature\(s\)"),
        ([], "no sequence"),
        ([np.zeros((2, 3)), np.zeros((2, 2))], "sequence 2: found 2 channels, expected 3"),
        (np.zeros((2, 3), dtype=complex), "Complex"),
        (np.array([["a", "b"]]), "expected numbers"),
        ([[[1, 2], [3]]], "sequence 1"),
    ],
)
def test_what_is_no_sequences_is_refused(X, words):
    with pytest.raises((ValueError, TypeError), match=words):
        gather(X)


def test_threads():
    assert threads(3) == 3
    assert threads(None) == threads(-1) >= 1
    for wrong in (0, -2, 5000):
        with pytest.raises(ValueError, match="n_jobs"):
            threads(wrong)
