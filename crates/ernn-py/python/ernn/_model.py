"""Trained models: what ``ernn train`` leaves behind, and what the classifier holds."""

import os
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _ernn
from ._sequences import Arrays, gather, parted, threads

PathLike = Union[str, "os.PathLike[str]"]

# The task of models whose labels do not exclude each other.
MULTI_LABEL = "multi-label"
# The task of models that say numbers at each step.
STEP_NUMBERS = "step-regression"


class Model:
    """A trained model, ready for raw (not normalized) sequences. See :func:`load`."""

    def __init__(self, native: _ernn.Model):
        self._native = native

    @property
    def classes(self) -> List[str]:
        """Class names in the order of the probabilities."""
        return self._native.classes

    @property
    def feature_names(self) -> List[str]:
        """Names of the channels."""
        return self._native.feature_names

    @property
    def cells(self) -> List[str]:
        """Kind of each layer, e.g. ``["ernn"]``."""
        return self._native.cells

    @property
    def parameter_count(self) -> int:
        """Numbers in the model."""
        return self._native.parameter_count

    @property
    def settings(self) -> str:
        """The complete settings of its run in TOML, as ``config.toml``; empty for a model that another program trained."""
        return self._native.settings

    def tensors(self) -> Dict[str, np.ndarray]:
        """Copies of its tensors (float32) by their names in the file, e.g. ``layers.0.W`` and ``readout.weight``."""
        return self._native.tensors()

    def predict_proba(
        self, X: Any, *, channels_first: bool = False, missing: Optional[str] = None, n_jobs: Optional[int] = None
    ) -> np.ndarray:
        """Probabilities ``[N, classes]`` (float64) of sequences ``X``: ``[N, T, d]``, ``[N, T]`` or a list of ``[T_i, d]``. Where several
        labels can hold, each has its own, and they do not sum to 1.

        ``missing`` is ``"refuse"``, ``"interpolate"``, ``"previous"`` or ``"zero"``; by default what the model's run did.
        """
        if self._native.task == MULTI_LABEL:
            return self._native.predict_labels(self._gathered(X, channels_first), missing, threads(n_jobs))
        return self._predict(X, channels_first, missing, n_jobs)[1]

    def predict(
        self, X: Any, *, channels_first: bool = False, missing: Optional[str] = None, n_jobs: Optional[int] = None
    ) -> np.ndarray:
        """Labels ``[N]`` of the likeliest classes: integers if all class names are, else the names; of a model of numbers the numbers
        (float32), of numbers of steps ``[N, T]``, or a list of ``[T_i]`` where lengths differ; where several labels can hold 0 or 1 for each, ``[N, labels]``. Arguments as :meth:`predict_proba`.
        """
        if self._native.task == "regression":
            sequences = self._gathered(X, channels_first)
            return self._native.predict_numbers(sequences, missing, threads(n_jobs)).reshape(len(sequences), *shape_of_numbers(self._native))
        if self._native.task == STEP_NUMBERS:
            return step_numbers(self._native, self._gathered(X, channels_first), missing, threads(n_jobs))
        if self._native.task == MULTI_LABEL:
            probabilities = self.predict_proba(X, channels_first=channels_first, missing=missing, n_jobs=n_jobs)
            return (probabilities >= 0.5).astype(np.int64)
        return labels_of(self.classes)[self._predict(X, channels_first, missing, n_jobs)[0]]

    def _predict(
        self, X: Any, channels_first: bool, missing: Optional[str], n_jobs: Optional[int]
    ) -> Tuple[np.ndarray, np.ndarray]:
        return self._native.predict(self._gathered(X, channels_first), missing, threads(n_jobs))

    def _gathered(self, X: Any, channels_first: bool) -> Arrays:
        sequences = gather(X, channels_first)
        note = self._native.length_note(sequences.longest)
        if note:
            warnings.warn(note, stacklevel=4)
        return sequences

    def stream(self) -> "Stream":
        """A stream at its beginning: steps go in one by one, probabilities come out."""
        return Stream(self)

    def listener(
        self, window: Optional[int] = None, hop: Optional[int] = None, *, average: Optional[int] = None, on: Optional[float] = None,
        off: Optional[float] = None, least: Optional[int] = None, rest: Optional[int] = None, background: Optional[List[str]] = None
    ) -> "Listener":
        """A stream without an end at its beginning: a model of classes of sequences reads windows of ``window`` steps, of which one begins
        every ``hop`` steps (a quarter of the window), and tells events.

        An event begins where the mean probability of the last ``average`` windows is at least ``on`` in ``least`` of them in a row, and ends
        where it falls below ``off``; then ``rest`` windows pass before another begins. Classes of ``background`` are no events. What is not
        given is as ``ernn evaluate MODEL DATA --stream --false-alarms N`` has chosen, if it has.
        """
        return Listener(self, self._native.listener(window, hop, average, on, off, least, rest, background))

    def save(self, path: PathLike) -> None:
        """Writes a model file (``.safetensors``) that the command reads: ``ernn predict``, ``evaluate``, ``export``, ..."""
        self._native.save(os.fspath(path))

    def export_c(self, path: PathLike, name: str = "ernn") -> Optional[str]:
        """Writes a new folder with the model as C99 in single precision, compared with this library before it is there.

        ``name`` is the beginning of all names in it. Returns the compiler that has compiled it and run its self-test, or
        ``None`` where there is none. For eight-bit numbers use ``ernn export --to c --format int8``.
        """
        return self._native.export("c", os.fspath(path), name)

    def __reduce__(self):
        return Model, (self._native,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._native.to_bytes() == other._native.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        cells = ", ".join(self.cells)
        return f"<ernn.Model: {cells}, {self.parameter_count} parameters, {len(self.classes)} classes>"


class Stream:
    """A model that reads steps as they come; memory does not grow. Made by :meth:`Model.stream`.

    After each step it says, to the bit, what the model says about the whole sequence up to there.
    """

    def __init__(self, model: Model):
        self._labels = labels_of(model.classes).tolist()
        self._stream = model._native.stream()
        self._says_numbers = model._native.task in ("regression", STEP_NUMBERS)
        self._shape = shape_of_numbers(model._native)
        self._says_labels = model._native.task == MULTI_LABEL

    @property
    def steps(self) -> int:
        """Steps since the beginning."""
        return self._stream.steps

    def push(self, step: Any) -> Any:
        """One step of raw values ``[d]``; gives the likeliest class after it, as :meth:`Model.predict` does, and the probabilities
        ``[classes]``; of a model of numbers the number; where several labels can hold a list of those found, and the probabilities.
        """
        values = np.ascontiguousarray(step, dtype=np.float32).reshape(-1)
        if self._says_numbers:
            numbers = self._stream.push_numbers(values)
            return np.reshape(numbers, self._shape).astype(np.float32) if self._shape else numbers[0]
        if self._says_labels:
            shares = self._stream.push_labels(values)
            return [label for label, share in zip(self._labels, shares) if share >= 0.5], shares
        number, probabilities = self._stream.push(values)
        label = self._labels[number] if self._labels else str(number)
        return label, probabilities

    def reset(self) -> None:
        """The next step is a first one."""
        self._stream.reset()


class Heard(NamedTuple):
    """What a window of a stream gave, see :meth:`Model.listener`."""

    #: The last step of the window, from 1.
    step: int
    #: When it ends, in seconds; ``None`` of a model that does not read sound.
    end: Optional[float]
    #: The likeliest class of the window, as :meth:`Model.predict` says it.
    label: Any
    #: Its probabilities ``[classes]``.
    probabilities: np.ndarray
    #: The class whose event is under way, or ``None``.
    event: Any
    #: ``"begins"`` or ``"ends"`` where an event does with this window, else ``None``.
    change: Optional[str]


class Listener:
    """A model that listens to a stream without an end; memory does not grow. Made by :meth:`Model.listener`."""

    def __init__(self, model: Model, native: _ernn.Listener):
        self._labels = labels_of(model.classes).tolist()
        self._native = native

    @property
    def sample_rate(self) -> Optional[int]:
        """Samples of sound a second that :meth:`hear` takes; ``None`` of a model that does not read sound."""
        return self._native.sample_rate

    def push(self, step: Any) -> Optional[Heard]:
        """One step of raw values ``[d]``; gives what the window says that ends with it, or ``None``."""
        window = self._native.push(np.ascontiguousarray(step, dtype=np.float32).reshape(-1))
        return None if window is None else self._heard(window)

    def hear(self, samples: Any) -> List[Heard]:
        """Samples of sound, whole numbers of 16 bits at :attr:`sample_rate` or floats from -1 to 1; gives what the windows say that end
        with them."""
        samples = np.asarray(samples)
        if samples.dtype.kind == "f":
            samples = np.clip(np.rint(samples * 32768.0), -32768, 32767)
        elif samples.size and not (-32768 <= samples.min() and samples.max() <= 32767):
            raise ValueError(f"samples: found {samples.dtype} beyond 16 bits, expected -32768 to 32767, or floats from -1 to 1")
        return [self._heard(window) for window in self._native.hear(np.ascontiguousarray(samples, dtype=np.int16).reshape(-1))]

    def reset(self) -> None:
        """The next step, or sample, is a first one."""
        self._native.reset()

    def _heard(self, window: Tuple[int, int, np.ndarray, Optional[int], Optional[str]]) -> Heard:
        step, number, probabilities, event, change = window
        label = lambda place: self._labels[place] if self._labels else str(place)
        return Heard(step, self._native.end_of(step), label(number), probabilities, None if event is None else label(event), change)


def labels_of(names: List[str]) -> np.ndarray:
    """The labels of a model file: integers if all class names are, else the names."""
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return np.asarray(names)
    same = [str(number) for number in numbers] == list(names)
    try:
        return np.asarray(numbers if same else names, dtype=np.int64 if same and numbers else None)
    except OverflowError:
        return np.asarray(names)


def load(path: PathLike) -> Model:
    """Reads a model file, or the model in the run folder of ``ernn train``.

    Raises ``FileNotFoundError``, ``OSError``, or ``ValueError`` if it is not a model.
    """
    return Model(_ernn.Model.load(os.fspath(path)))


def shape_of_numbers(native: Any) -> Tuple[int, ...]:
    """The shape of the numbers that a model of numbers says of a sequence: none of one number, else targets, quantiles, or both."""
    targets, quantiles = native.numbers
    return ((targets,) if targets > 1 else ()) + ((len(quantiles),) if quantiles else ())


def step_numbers(native: Any, sequences: Arrays, missing: Optional[str], threads_: int) -> Any:
    """The numbers that a model of numbers of steps says: an array ``[N, T, ...]``, or a list of arrays ``[T_i, ...]``."""
    found = native.predict_step_numbers(sequences, missing, threads_)
    return parted(found.reshape(sequences.offsets[-1], *shape_of_numbers(native)), sequences.offsets)
