"""One file format: models of the command here, and models of the classifier in the command."""

import csv
import io
import json
import pickle
import subprocess

import numpy as np
import pytest
from conftest import waves

import ernn

FLAGS = "--validation 0 --hidden 8 --rank 2 --epochs 8 --seed 0 --threads 1".split()


def run(command, *arguments):
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def archive(tmp_path):
    """The data in a file that both sides read."""
    X, y = waves()
    np.savez(tmp_path / "waves.npz", X=X, y=y)
    return tmp_path / "waves.npz", X, y


def probabilities(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return np.array([[float(value) for name, value in row.items() if name.startswith("p_")] for row in rows])


def test_a_run_of_the_command_is_loaded_and_says_the_same(command, archive, tmp_path):
    path, X, _ = archive
    run(command, "train", path, *FLAGS, "--out", tmp_path / "run")
    model = ernn.load(tmp_path / "run")
    said = probabilities(run(command, "predict", tmp_path / "run", path, "--digits", 17))
    np.testing.assert_array_equal(model.predict_proba(X), said)
    assert model.classes == ["0", "1"] and model.cells == ["ernn"]
    assert sum(tensor.size for tensor in model.tensors().values()) == model.parameter_count


def test_fit_and_the_command_train_the_same_bits(small, command, archive, tmp_path):
    path, X, y = archive
    run(command, "train", path, *FLAGS, "--out", tmp_path / "run")
    expected = ernn.load(tmp_path / "run").tensors()
    found = small.fit(X, y).model_.tensors()
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        np.testing.assert_array_equal(found[name], tensor)


def test_a_saved_classifier_is_read_by_the_command(small, command, archive, tmp_path):
    path, X, y = archive
    small.fit(X, y).save(tmp_path / "model.safetensors")
    said = probabilities(run(command, "predict", tmp_path / "model.safetensors", path, "--digits", 17))
    np.testing.assert_array_equal(small.predict_proba(X), said)
    accuracy = json.loads(run(command, "evaluate", tmp_path / "model.safetensors", path, "--part", "train", "--json"))
    assert accuracy["accuracy"] == small.score(X, y)


def test_fit_leaves_a_run_folder(small, command, tmp_path):
    X, y = waves()
    small.set_params(out=tmp_path / "run").fit(X, y)
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"config.toml", "model.safetensors", "metrics.jsonl", "result.json", "curves.svg"} <= names
    assert ernn.load(tmp_path / "run") == small.model_
    assert "ernn" in run(command, "inspect", tmp_path / "run")
    with pytest.raises(ValueError, match="not empty"):
        small.fit(X, y)


def test_a_classifier_from_a_file(small, tmp_path):
    from ernn import SequenceClassifier

    X, y = waves()
    small.fit(X, y + 7).save(tmp_path / "model.safetensors")
    again = SequenceClassifier.load(tmp_path / "model.safetensors")
    assert again.classes_.tolist() == [7, 8]
    np.testing.assert_array_equal(again.predict(X), small.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).predict(X), small.predict(X))
    model = ernn.load(tmp_path / "model.safetensors")
    assert model.predict(X).dtype == np.int64
    np.testing.assert_array_equal(model.predict(X), small.predict(X))


def test_labels_that_are_texts_come_back_from_a_file_as_texts(small, tmp_path):
    X, y = waves()
    for names in (["slow", "fast"], ["01", "2"]):
        labels = np.array(names)[y]
        small.fit(X, labels).save(tmp_path / f"{names[0]}.safetensors")
        found = ernn.load(tmp_path / f"{names[0]}.safetensors").predict(X)
        assert found.dtype.kind == "U"
        np.testing.assert_array_equal(found, small.predict(X))


def test_groups_are_split_as_the_command_splits_them(small, command, tmp_path):
    X, y = waves()
    people = np.array([f"person {(index // 3) % 7}" for index in range(len(y))])
    np.savez(tmp_path / "waves.npz", X=X, y=y, groups=people)
    run(command, "train", tmp_path / "waves.npz", *FLAGS, "--out", tmp_path / "run")
    expected = ernn.load(tmp_path / "run").tensors()
    found = small.fit(X, y, groups=people).model_.tensors()
    for name, tensor in expected.items():
        np.testing.assert_array_equal(found[name], tensor)


@pytest.mark.parametrize("settings", [{}, {"differences": True, "compress": True}])
def test_a_stream_says_what_the_sequence_says(small, settings):
    X, y = waves()
    small.set_params(**settings)
    stream = small.fit(X, y).stream()
    for steps in range(1, 5):
        name, found = stream.push(X[0, steps - 1])
        np.testing.assert_array_equal(found, small.predict_proba(X[:1, :steps])[0])
        assert name == small.predict(X[:1, :steps])[0] and type(name) is int
    assert stream.steps == 4
    stream.reset()
    np.testing.assert_array_equal(stream.push(X[0, 0])[1], small.predict_proba(X[:1, :1])[0])
    with pytest.raises(ValueError, match="found 1 values, expected 2"):
        stream.push([1.0])


def test_files_that_are_no_models_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot read"):
        ernn.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("no model")
    with pytest.raises(ValueError, match="expected"):
        ernn.load(tmp_path / "text")
    with pytest.raises(ValueError):
        ernn.Model(ernn._ernn.Model.from_bytes(b"junk"))


def test_models_are_pickled_and_compared(small):
    X, y = waves()
    model = small.fit(X, y).model_
    assert pickle.loads(pickle.dumps(model)) == model
    assert "ernn" in repr(model)


def test_export_to_c(small, tmp_path):
    X, y = waves()
    small.fit(X, y).model_.export_c(tmp_path / "device", name="waves")
    assert {path.name for path in (tmp_path / "device").iterdir()} >= {"waves.c", "waves.h"}
    with pytest.raises(OSError):
        small.model_.export_c(tmp_path / "device")


@pytest.mark.parametrize(
    ("flags", "parameters"),
    [
        ("--hidden 0", {"hidden": 0}),
        ("--rank 9", {"rank": 9}),
        ("--learning-rate 0", {"learning_rate": 0.0}),
        ("--cell elman", {"cell": "elman"}),
        ("--activation gelu", {"activation": "gelu"}),
        ("--reset after", {"cell_settings": {"reset": "after"}}),
        ("--bidirectional --tbptt 4", {"bidirectional": True, "tbptt": 4}),
        ("--optimizer sgd --learning-rate 1e6 --clip-norm 0 --validation 0",
         {"optimizer": "sgd", "learning_rate": 1e6, "clip_norm": 0.0, "validation": 0.0}),
    ],
)  # fmt: skip
def test_errors_have_the_words_of_the_command(small, command, archive, tmp_path, flags, parameters):
    path, X, y = archive
    arguments = [*FLAGS, "--out", tmp_path / "run"]
    named = [flag for flag in flags.split() if flag.startswith("--")]
    for flag in named:
        if flag in arguments:
            place = arguments.index(flag)
            del arguments[place : place + 2]
    done = subprocess.run([command, "train", path, *arguments, *flags.split()], capture_output=True, text=True)
    with pytest.raises((ValueError, ArithmeticError)) as caught:
        small.set_params(**parameters).fit(X, y)
    assert f"error: {caught.value}" in done.stderr.splitlines()
