"""The classifier: what it learns, its settings, its errors."""

import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import SMALL, ragged, waves

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ernn
from ernn import SequenceClassifier


def test_it_learns(small):
    X, y = waves(120)
    test, labels = waves(60, seed=1)
    small.set_params(epochs=30).fit(X, y)
    assert small.score(test, labels) > 0.9
    probabilities = small.predict_proba(test)
    assert probabilities.shape == (60, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(small.predict(test), small.classes_[probabilities.argmax(axis=1)])
    assert small.n_iter_ == 30 == len(small.history_) == small.report_["epochs"]


def test_sequences_of_unequal_length_and_labels_that_are_texts(small):
    X, y = ragged()
    names = np.array(["slow", "fast"])[y]
    small.fit(X, names)
    assert small.classes_.tolist() == ["fast", "slow"] == small.model_.classes
    assert set(small.predict(X)) <= {"fast", "slow"}
    alone = [small.predict_proba([x])[0] for x in X]
    np.testing.assert_array_equal(small.predict_proba(X), alone)


def test_derived_channels_belong_to_the_model(small, tmp_path):
    X, y = waves()
    X = np.concatenate([X, X[:, :, :1]], axis=2)
    small.set_params(differences=True, compress=True, magnitudes=True, triads="3,1,2").fit(X, y)
    transforms = {"differences": True, "compress": True, "magnitudes": True, "triads": "3,1,2"}
    assert small.report_["settings"]["model"]["transforms"] == transforms
    assert small.n_features_in_ == 3 == len(small.model_.feature_names)
    small.save(tmp_path / "model.safetensors")
    again = SequenceClassifier.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba(X), small.predict_proba(X))
    with pytest.raises(ValueError, match="triads: found 9, expected one of the channels"):
        clone(small).set_params(triads="3,1,9").fit(X, y)


def test_channels_first_is_the_same_data(small):
    X, y = waves()
    expected = small.fit(X, y).predict_proba(X)
    turned = clone(small).set_params(channels_first=True)
    np.testing.assert_array_equal(turned.fit(X.transpose(0, 2, 1), y).predict_proba(X.transpose(0, 2, 1)), expected)


def test_the_same_seed_gives_the_same_bits_with_any_number_of_threads(small):
    X, y = waves()
    first = small.fit(X, y).model_
    assert clone(small).set_params(n_jobs=3).fit(X, y).model_ == first
    assert clone(small).set_params(random_state=1).fit(X, y).model_ != first


def test_a_random_state_of_numpy_is_drawn_from(small):
    X, y = waves()
    models = [clone(small).set_params(random_state=np.random.RandomState(5)).fit(X, y).model_ for _ in range(2)]
    assert models[0] == models[1]
    small.set_params(random_state=None).fit(X, y)


def test_pickle_and_clone(small):
    X, y = waves()
    small.fit(X, y)
    again = pickle.loads(pickle.dumps(small))
    np.testing.assert_array_equal(again.predict_proba(X), small.predict_proba(X))
    assert again.model_ == small.model_
    fresh = clone(small)
    assert not hasattr(fresh, "model_") and fresh.get_params() == small.get_params()


def test_pipeline_search_and_cross_validation(small):
    X, y = waves()
    pipeline = make_pipeline(FunctionTransformer(lambda X: 2 * X), small)
    assert len(cross_val_score(pipeline, X, y, cv=3)) == 3
    search = GridSearchCV(small.set_params(epochs=2), {"cell": ["rnn", "gru"], "hidden": [4, 6]}, cv=2)
    search = search.set_params(estimator__rank=None).fit(X, y)
    assert search.best_estimator_.model_.cells[0] in ("rnn", "gru")


@pytest.mark.parametrize("cell", "ernn rnn fastrnn fastgrnn ugrnn gru lstm antisymmetric spectral deep-transition".split())
def test_every_cell(cell):
    X, y = waves(30)
    found = SequenceClassifier(cell, hidden=16, layers=2, bidirectional=True, epochs=2, random_state=0).fit(X, y)
    assert found.model_.cells == [cell, cell]


def test_settings_reach_the_run(small):
    X, y = waves()
    small.set_params(
        schedule="cosine", optimizer="adamw", weight_decay=0.01, pooling="mean", cell_settings={"eta": 0.03}, batch_size=20,
        class_weight="balanced", patience=4, tbptt=8,
    )  # fmt: skip
    settings = small.fit(X, y).report_["settings"]
    training, layer = settings["training"], settings["model"]["layers"][0]
    assert training["schedule"] == {"kind": "cosine", "epochs": 8, "floor": 0.0}
    assert training["optimizer"]["kind"] == "adamw" and training["optimizer"]["weight_decay"] == 0.01
    assert (training["batch_size"], training["patience"], training["tbptt"]) == (20, 4, 8)
    assert training["class_weights"] == "balanced" and settings["model"]["pooling"] == "mean"
    assert (layer["eta"], layer["hidden"], layer["rank"]) == (0.03, 8, 2)


def test_every_setting_of_the_command_is_an_argument_or_a_setting_of_cells():
    of_cells = (
        "input_rank gate_activation start sign steps eta reset reflections radius widths gamma epsilon solver gradient tolerance "
        "relative_tolerance max_iterations contract projection"
    )
    of_text = "tied embedding embedding_dropout"
    other_names = "seed class_weights"
    of_numbers = "loss quantiles"
    of_steps = "smooth"
    # A classifier of scikit-learn answers with one of its classes.
    of_answers = "unknown"
    elsewhere = set(f"{of_cells} {of_text} {other_names} {of_numbers} {of_steps} {of_answers}".split())
    assert set(ernn._ernn.Settings.names()) - set(SequenceClassifier().get_params()) == elsewhere


def test_probabilities_are_calibrated_by_the_validation_part(small):
    X, y = waves(200)
    plain = clone(small).set_params(validation=0.4, calibrate=False).fit(X, y)
    own = clone(small).set_params(validation=0.4, calibrate=True).fit(X, y)
    assert own.report_["settings"]["training"]["calibrate"]
    assert (own.predict(X) == plain.predict(X)).all()
    assert not (own.predict_proba(X) == plain.predict_proba(X)).all()


def test_a_teacher_is_learned_from(small, tmp_path):
    X, y = waves()
    small.fit(X, y).save(tmp_path / "teacher.safetensors")
    student = clone(small).set_params(hidden=4, teacher=[tmp_path / "teacher.safetensors"], teacher_weight=0.25).fit(X, y)
    teacher = student.report_["settings"]["training"]["teacher"]
    assert teacher["weight"] == 0.25 and teacher["runs"] == [str(tmp_path / "teacher.safetensors")]
    with pytest.raises(ValueError, match="teacher_weight: found 0.3, expected none: it goes with a teacher alone"):
        clone(small).set_params(teacher_weight=0.3).fit(X, y)


@pytest.mark.parametrize("pooling", ["mean-max", "mean-max-last", "mean-std-max"])
def test_every_pooling_learns_and_streams(small, pooling):
    X, y = waves()
    small.set_params(pooling=pooling, epochs=20)
    found = small.fit(X, y)
    assert found.report_["settings"]["model"]["pooling"] == pooling
    assert found.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"hidden": 0}, "hidden: found 0, expected a number from 1 to 65536"),
        ({"rank": 9}, "rank: found 9, expected full or a number from 1 to the hidden size, 8"),
        ({"epochs": 0}, "epochs: found 0, expected 1 to 100000000"),
        ({"learning_rate": -1.0}, "learning_rate: found -1, expected a number above 0"),
        ({"validation": 1.0}, "validation: found 1, expected a part of the training sequences"),
        ({"cell": "transformer"}, "transformer"),
        ({"activation": "gelu"}, "activation: found gelu, expected"),
        ({"pooling": "max"}, "pooling: found max, expected"),
        ({"cell_settings": {"reset": "after"}}, "reset: found after, expected no such setting for the cell ernn"),
        ({"schedule": "never"}, "schedule: found never, expected step, cosine or constant"),
        ({"optimizer": "lion"}, "optimizer: found lion, expected adam, adamw or sgd"),
        ({"missing": "drop"}, "missing: found drop, expected"),
        ({"class_weight": "heavy"}, "class_weight: found heavy"),
        ({"epochs": 1.5}, "epochs: found 1.5"),
        ({"epochs": object()}, "epochs: found a value of type object"),
    ],
)
def test_settings_out_of_range_are_refused_in_the_commands_words(small, parameters, words):
    X, y = waves()
    with pytest.raises((ValueError, TypeError)) as caught:
        small.set_params(**parameters).fit(X, y)
    assert words in str(caught.value)
    assert not hasattr(small, "model_")


def test_missing_values_are_refused_with_their_place_or_filled(small):
    X, y = waves()
    X[3, 5, 1] = np.nan
    with pytest.raises(ValueError, match=r"X, sequence 4, step 6, channel 2 \(NaN\): the first of 1 missing values"):
        small.fit(X, y)
    small.set_params(missing="interpolate").fit(X, y)
    filled = X.copy()
    filled[3, 5, 1] = (X[3, 4, 1] + X[3, 6, 1]) / 2
    np.testing.assert_allclose(small.predict_proba(X), small.predict_proba(filled), rtol=1e-5)


def test_infinite_values_and_lonely_classes_are_refused(small):
    X, y = waves()
    with pytest.raises(ValueError, match=r"found 1 class \(0\), expected at least 2"):
        small.fit(X, np.zeros(len(y)))
    X[0, 0, 0] = np.inf
    with pytest.raises(ValueError, match="infinite"):
        small.fit(X, y)


def test_a_model_that_cannot_fit_is_an_error_and_no_end(small):
    X, y = waves(10)
    with pytest.raises(MemoryError, match="found a need of .*--hidden"):
        clone(small).set_params(hidden=65_536, rank="full", layers=16).fit(X, y)
    with pytest.raises(ValueError, match="hidden: found 1099511627776, expected a number from 1 to 65536"):
        clone(small).set_params(hidden=1 << 40).fit(X, y)
    assert small.fit(X, y).classes_.size == 2


def test_training_that_diverges_says_where(small):
    X, y = waves()
    small.set_params(optimizer="sgd", learning_rate=1e6, clip_norm=0.0, validation=0.0, epochs=100)
    with pytest.raises(ernn.DivergedError, match="epoch 1, batch"):
        small.fit(X, y)


def test_sequences_of_weight_zero_do_not_count(small):
    X, y = waves()
    mostly_wrong = np.where(np.arange(len(y)) % 3 == 0, y, 1 - y)
    small.set_params(validation=0.0, epochs=40)
    weights = (mostly_wrong == y).astype(float)
    assert (clone(small).fit(X, mostly_wrong).predict(X) == y).mean() < 0.4
    assert (clone(small).fit(X, mostly_wrong, sample_weight=weights).predict(X) == y).mean() > 0.9


def test_equal_weights_are_no_weights(small):
    X, y = waves()
    plain = small.fit(X, y).model_.tensors()
    weighted = clone(small).fit(X, y, sample_weight=np.ones(len(y))).model_.tensors()
    by_class = clone(small).set_params(class_weight={0: 1.0, 1: 1.0}).fit(X, y).model_.tensors()
    for name, tensor in plain.items():
        np.testing.assert_array_equal(tensor, weighted[name])
        np.testing.assert_array_equal(tensor, by_class[name])


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.float32, "U4"])
def test_labels_keep_their_type(small, kind):
    X, y = waves()
    y = (y + 3).astype(kind)
    small.set_params(epochs=2).fit(X, y)
    assert small.classes_.dtype == small.predict(X).dtype == y.dtype
    assert pickle.loads(pickle.dumps(small)).predict(X).dtype == y.dtype


def test_groups_stay_on_one_side_of_the_split(small):
    X, y = waves()
    # Each half of the sequences is a group: one of them is all that can be trained on.
    halves = (np.arange(len(y)) >= 20).astype(int)
    small.set_params(epochs=2, validation=0.2)
    report = small.fit(X, y, groups=halves).report_
    assert report["examples"] in (20, 40)
    assert clone(small).fit(X, y, groups=[[name] for name in halves]).model_ == small.model_
    names = np.array(["b", "a"], dtype=object)[halves]
    assert clone(small).fit(X, y, groups=names).model_ == small.model_
    assert clone(small).fit(X, y).model_ != small.model_


@pytest.mark.parametrize(
    ("groups", "words"),
    [([1, 2], r"groups: found shape \(2,\), expected \(60,\)"), (np.ones((60, 2)), "one group a sequence"),
     ([None] + [1] * 59, "found no group for sequence 1"), ([1.0] * 59 + [np.nan], "found no group for sequence 60"),
     ([1] * 60, "all sequences belong to one group")],
)  # fmt: skip
def test_groups_that_cannot_be_used_are_refused(small, groups, words):
    X, y = waves()
    with pytest.raises(ValueError, match=words):
        small.set_params(validation=0.2).fit(X, y, groups=groups)


@pytest.mark.parametrize(
    ("weights", "words"),
    [([1.0], "expected"), (np.full(60, -1.0), "weight of sequence 1: found -1"), (np.zeros(60), "all zero"),
     (np.full(60, np.nan), "weight of sequence 1: found NaN")],
)  # fmt: skip
def test_weights_out_of_range_are_refused(small, weights, words):
    X, y = waves()
    with pytest.raises(ValueError, match=words):
        small.fit(X, y, sample_weight=weights)


def test_progress_is_called_after_each_epoch_and_may_stop_the_run(small, capsys):
    X, y = waves()
    seen = []
    small.set_params(progress=seen.append, verbose=1).fit(X, y)
    assert [record["epoch"] for record in seen] == list(range(1, 9)) and seen == small.history_
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9 and lines[1].startswith("epoch 1: loss ")

    def stop(record):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        clone(small).set_params(progress=stop, epochs=100_000).fit(X, y)


def test_ctrl_c_stops_training():
    X, y = waves()
    endless = SequenceClassifier(**{**SMALL, "epochs": 10_000_000})
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.fit(X, y)
    timer.join()


def test_other_threads_run_while_training():
    X, y = waves()
    done = threading.Event()
    counted = []

    def count():
        while not done.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.perf_counter()
    SequenceClassifier(**{**SMALL, "epochs": 300}).fit(X, y)
    ended = time.perf_counter()
    done.set()
    thread.join()
    assert sum(began < moment < ended for moment in counted) > 3


def test_longer_sequences_than_learned_from_are_noted(small):
    X, y = waves()
    small.set_params(cell_settings={"steps": "per-step"}).fit(X[:, :8], y)
    with pytest.warns(UserWarning, match="learned step sizes for 8"):
        small.model_.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small.model_.predict(X[:, :8])
