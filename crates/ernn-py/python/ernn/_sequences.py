"""Sequences in the forms that people have them in, as the arrays that the library takes.

========================================  =================================
``X``                                      meaning
========================================  =================================
array ``[N, T, d]``                        N sequences of T steps of d channels
array ``[N, T]``                           the same with one channel
list of N arrays ``[T_i, d]`` or ``[T_i]``  sequences of unequal length
========================================  =================================

With ``channels_first`` arrays are ``[N, d, T]`` and those of a list ``[d, T_i]``, as aeon has them.
"""

import os
from typing import Any, NamedTuple

import numpy as np


#: The class of a step that has none.
UNLABELLED = 2**32 - 1


class Arrays(NamedTuple):
    """All sequences in one array."""

    values: np.ndarray  #: float32 ``[steps of all sequences * features]``
    offsets: np.ndarray  #: int64 ``[N + 1]``, where each sequence starts, in steps
    features: int  #: channels

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def longest(self) -> int:
        """Steps of the longest sequence."""
        return int(np.diff(self.offsets).max(initial=0))


def gather(X: Any, channels_first: bool = False) -> Arrays:
    """Lays sequences out one after the other; raises ``ValueError`` or ``TypeError`` for what is no sequences."""
    if hasattr(X, "toarray") and not isinstance(X, np.ndarray):
        raise TypeError("X: found a sparse matrix, expected dense sequences")
    if isinstance(X, (list, tuple)):
        return _of_list(X, channels_first)
    array = np.asarray(X)
    if array.dtype == object and array.ndim == 1:
        return _of_list(list(array), channels_first)
    if array.ndim not in (2, 3):
        raise ValueError(
            f"X: found an array of {array.ndim} dimensions, expected [N, T, d], [N, T] or a list of arrays [T_i, d]. "
            "Reshape your data, for one sequence using X.reshape(1, -1)"
        )
    array = _numbers(array, "X")
    if 0 in array.shape:
        names = ("sample(s)", "feature(s)") if array.ndim == 2 else ("sample(s)", "step(s)", "feature(s)")
        what = names[array.shape.index(0)]
        raise ValueError(f"X: found array with 0 {what} (shape={array.shape}) while a minimum of 1 is required.")
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    elif channels_first:
        array = array.transpose(0, 2, 1)
    count, steps, features = array.shape
    offsets = np.arange(count + 1, dtype=np.int64) * steps
    return Arrays(np.ascontiguousarray(array).reshape(-1), offsets, features)


def _of_list(sequences: Any, channels_first: bool) -> Arrays:
    if len(sequences) == 0:
        raise ValueError("X: found no sequence, expected at least one")
    arrays = [_one(sequence, index, channels_first) for index, sequence in enumerate(sequences)]
    features = arrays[0].shape[1]
    for index, array in enumerate(arrays):
        if array.shape[1] != features:
            raise ValueError(
                f"X, sequence {index + 1}: found {array.shape[1]} channels, expected {features} as in the first sequence"
            )
    offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
    np.cumsum([len(array) for array in arrays], out=offsets[1:])
    values = np.concatenate([array.reshape(-1) for array in arrays])
    return Arrays(values, offsets, features)


def _one(sequence: Any, index: int, channels_first: bool) -> np.ndarray:
    name = f"X, sequence {index + 1}"
    try:
        array = np.asarray(sequence)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name}: found an array of {array.ndim} dimensions, expected [T, d] or [T]. Reshape your data"
        )
    array = _numbers(array, name)
    if array.ndim == 1:
        return array[:, np.newaxis]
    return array.T if channels_first else array


def _numbers(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind == "c":
        raise ValueError(f"{name}: Complex data not supported, expected real numbers")
    try:
        # What does not fit single precision becomes infinite, and is refused with its place.
        with np.errstate(over="ignore"):
            return array.astype(np.float32, copy=False)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: expected numbers; {error}") from None


def parted(values: np.ndarray, offsets: np.ndarray) -> Any:
    """``[steps of all, ...]`` by sequences: one array where all have the same length, else a list."""
    lengths = np.diff(offsets)
    if (lengths == lengths[0]).all():
        return values.reshape(len(lengths), lengths[0], *values.shape[1:])
    return np.split(values, offsets[1:-1])


def threads(n_jobs: int | None) -> int:
    """Threads to compute with: ``None`` or -1: all that this process may use."""
    if n_jobs is not None and (n_jobs < -1 or n_jobs == 0 or n_jobs > 1024):
        raise ValueError(f"n_jobs: found {n_jobs}, expected 1 to 1024, or -1 or None for all")
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
