"""Logs cut into windows."""

import io

import ernn
import numpy as np
import pytest
from ernn import SequenceClassifier, SequenceLabeler


def table(person, rows=400, seed=0):
    """Columns of a log at 50 rows a second whose activity changes every two seconds."""
    random = np.random.default_rng(seed + person)
    kind = (np.arange(rows) // 100) % 2
    wave = np.sin(np.arange(rows) * np.where(kind, 0.7, 0.2)) + 0.1 * random.normal(size=rows)
    return {
        "t": np.arange(rows) / 50.0 + 1000.0 * person,
        "ax": wave.astype(np.float32),
        "ay": random.normal(size=rows).astype(np.float32),
        "person": np.array([f"p{person}"] * rows),
        "activity": np.array(["walk", "run"])[kind],
    }


def csv(columns):
    text = io.StringIO()
    print(*columns, sep=",", file=text)
    for row in zip(*columns.values()):
        print(*row, sep=",", file=text)
    return text.getvalue()


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    for person in range(4):
        (folder / f"{person}.csv").write_text(csv(table(person)))
    return folder


FLAGS = {"window": "1s", "time": "t", "rate": 50, "group": "person", "label": "activity"}


def test_a_folder_of_logs_becomes_windows_to_learn_from(logs):
    found = ernn.windows(logs, hop="500ms", **FLAGS)
    assert found.X.shape == (len(found.y), 50, 2) and found.X.dtype == np.float32
    assert found.channels == ["ax", "ay"]
    assert set(found.y.tolist()) == {"walk", "run"} and set(found.groups) == {"p0", "p1", "p2", "p3"}
    assert found.start[0] == "0" and found.names[0].startswith("0/") and len(found.end) == len(found.y)
    classifier = SequenceClassifier(hidden=8, rank=2, epochs=40, random_state=1, n_jobs=1)
    train = found.groups != "p3"
    classifier.fit(found.X[train], found.y[train], groups=found.groups[train])
    assert classifier.score(found.X[~train], found.y[~train]) > 0.8


def test_a_data_frame_is_cut_as_its_file(logs):
    pandas = pytest.importorskip("pandas")
    path = logs / "0.csv"
    found, expected = ernn.windows(pandas.read_csv(path), **FLAGS), ernn.windows(path, **FLAGS)
    assert (found.X == expected.X).all() and (found.y == expected.y).all() and (found.start == expected.start).all()


def test_a_class_for_each_step(logs):
    found = ernn.windows(logs, steps=True, **FLAGS)
    assert found.y.shape == found.X.shape[:2] and set(found.y.ravel()) == {"walk", "run"}
    labeler = SequenceLabeler(hidden=8, rank=2, epochs=5, random_state=1, n_jobs=1).fit(found.X, found.y, groups=found.groups)
    assert labeler.predict(found.X).shape == found.y.shape


def test_numbers_events_and_no_labels(logs):
    found = ernn.windows(logs, window="1s", time="t", rate=50, target="ay", ignore=["activity"], group="person")
    assert found.y.dtype == np.float32 and found.channels == ["ax"]
    plain = ernn.windows(logs, window="1s", time="t", rate=50, ignore=["activity"], group="person")
    assert plain.y is None and len(plain.X) == 32
    events = logs.parent / "events.csv"
    events.write_text("recording,start,end,label\n0,0,4,early\n0,4,8,late\n")
    some = ernn.windows(logs, window="1s", time="t", rate=50, ignore=["activity"], group="person", events=events)
    assert set(some.y.tolist()) == {"early", "late"}


def test_what_does_not_fit_is_refused(logs):
    with pytest.raises(ValueError, match="0.csv"):
        ernn.windows(logs, **{**FLAGS, "time": "clock"})
    with pytest.raises(ValueError, match="1 parsec.*expected a whole number of steps"):
        ernn.windows(logs, **{**FLAGS, "window": "1 parsec"})
    with pytest.raises(FileNotFoundError):
        ernn.windows(logs / "none.csv", **FLAGS)
    with pytest.raises(ValueError, match="the longest piece"):
        ernn.windows(logs, **{**FLAGS, "window": "1h"})
