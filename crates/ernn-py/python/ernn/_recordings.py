"""Logs, minutes or hours of rows, as windows: the same that the command ``ernn train`` would be trained on."""

import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _ernn
from ._model import PathLike
from ._sequences import UNLABELLED, parted

Span = Union[int, str]


class Windows(NamedTuple):
    """Windows of recordings. All arrays have an entry a window."""

    X: Any  #: float32 ``[N, T, d]``; a list of arrays ``[T_i, d]`` where lengths differ
    y: Any  #: labels ``[N]`` (texts) or numbers ``[N]``; labels of steps ``[N, T]``, ``None`` where there is none; ``None`` without labels
    groups: Optional[np.ndarray]  #: the person or recording of each window ``[N]`` (texts): what no split may divide
    start: Optional[np.ndarray]  #: when each begins, as the data writes times (texts)
    end: Optional[np.ndarray]  #: when each ends
    names: np.ndarray  #: what each is called: ``recording/number``
    channels: List[str]  #: names of the channels
    notes: List[str]  #: what was found and what was left out, a sentence each


def windows(
    data: Any,
    window: Optional[Span] = None,
    *,
    time: Optional[str] = None,
    time_unit: Optional[str] = None,
    rate: Optional[float] = None,
    hop: Optional[Span] = None,
    max_gap: Optional[Span] = None,
    label: Optional[str] = None,
    target: Optional[str] = None,
    events: Optional[PathLike] = None,
    steps: bool = False,
    purity: Optional[float] = None,
    label_at: Optional[str] = None,
    group: Optional[str] = None,
    series: Optional[str] = None,
    channels: Sequence[str] = (),
    ignore: Sequence[str] = (),
    missing: str = "refuse",
) -> Windows:
    """Cuts recordings into windows.

    Parameters
    ----------
    data : path or DataFrame
        A table, arrays (``.npz``), JSON lines, a ``.wav``, or a folder of such files; or a pandas or polars DataFrame with a row a step.
    window : int or str
        Length of a window, in rows or time: ``128``, ``"2.56s"``, ``"250ms"``. Without it each recording, between gaps, is one sequence.
    time, time_unit, rate, hop, max_gap, purity, label_at
        As the command's flags ``--time``, ``--time-unit``, ``--rate``, ``--hop``, ``--max-gap``, ``--purity`` and ``--label-at``.
    label, target, events
        The column with labels, or with numbers to predict, or a file of events (start, end, label).
    steps : bool
        Whether each step has a class, or with ``target`` a number (``--task steps``).
    group, series : str
        The column with the person, and that with the name of the recording.
    channels, ignore : list of str
        Columns that are channels (all others, by default), and columns that are not read.
    missing : str
        What to do about missing values: ``refuse``, ``interpolate``, ``previous`` or ``zero``.

    Windows that overlap are all there. ``groups`` keeps what belongs together on one side of a split:
    ``cross_val_score(SequenceClassifier(), w.X, w.y, groups=w.groups, cv=GroupKFold())``.
    """
    recordings: Dict[str, Any] = {
        "time_column": time, "time_unit": time_unit, "rate": None if rate is None else float(rate), "hop": _span(hop),
        "max_gap": _span(max_gap), "purity": None if purity is None else float(purity), "aim": "steps" if steps else None,
        "label_at": label_at, "events": None if events is None else os.fspath(events),
    }  # fmt: skip
    options: Dict[str, Any] = {
        "window": _span(window), "group_column": group, "series_column": series, "target": target,
        "channels": list(channels) or None, "ignore": list(ignore) or None, "recordings": _given(recordings) or None,
    }  # fmt: skip
    path, table = (None, _csv(data)) if hasattr(data, "columns") else (os.fspath(data), None)
    return _windows(_ernn.windows(path, table, _given(options), label, missing))


def _given(options: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _span(span: Optional[Span]) -> Any:
    return None if span is None else str(span)


def _csv(frame: Any) -> str:
    """A DataFrame as the text of a table; numbers read back to the same bits."""
    if hasattr(frame, "write_csv"):
        return frame.write_csv()
    return frame.to_csv(index=False)


def _windows(found: Dict[str, Any]) -> Windows:
    offsets = found["offsets"]
    times = np.array(found["times"], dtype=object).reshape(-1, 2)
    groups = found["groups"]
    names = np.array(found["group_names"], dtype=object)
    return Windows(
        X=parted(found["values"], offsets),
        y=_answers(found, offsets),
        groups=names[groups] if len(groups) and len(names) else None,
        start=times[:, 0] if len(times) else None,
        end=times[:, 1] if len(times) else None,
        names=np.array(found["names"], dtype=object),
        channels=found["channels"],
        notes=found["notes"],
    )


def _answers(found: Dict[str, Any], offsets: np.ndarray) -> Any:
    classes = np.array(found["classes"], dtype=object)
    if len(found["numbers"]):
        return found["numbers"]
    if len(found["labels"]):
        return classes[found["labels"]].astype(str)
    if len(found["step_numbers"]):
        return parted(found["step_numbers"], offsets)
    steps = found["step_labels"]
    if not len(steps):
        return None
    texts = np.append(classes, None)
    return parted(texts[np.where(steps == UNLABELLED, len(classes), steps)], offsets)
