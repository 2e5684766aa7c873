"""Streams without an end from Python: the windows of the estimator, and events."""

import numpy as np
import pytest

import ernn


def windows_of(random, count, kind, steps=20):
    """Windows that swing softly (0) or hard (1)."""
    time = np.arange(steps)
    return [np.sin(0.9 * time + random.uniform(0, 6))[:, None] * (0.1, 1.0)[kind] + 0.02 * random.normal(size=(steps, 1)) for _ in range(count)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    random = np.random.default_rng(0)
    X = np.array(windows_of(random, 40, 0) + windows_of(random, 40, 1), dtype=np.float32)
    y = np.array(["rest"] * 40 + ["move"] * 40)
    fitted = ernn.SequenceClassifier(hidden=8, min_steps=200, random_state=0).fit(X, y)
    path = tmp_path_factory.mktemp("listener") / "model.safetensors"
    fitted.save(path)
    return ernn.load(path)


def stream():
    random = np.random.default_rng(1)
    return np.concatenate(windows_of(random, 5, 0) + windows_of(random, 5, 1) + windows_of(random, 5, 0)).astype(np.float32)


def test_each_window_says_what_the_model_says_of_it(model):
    steps = stream()
    listener = model.listener(20, 5)
    heard = [said for said in map(listener.push, steps) if said]
    assert [said.step for said in heard] == list(range(20, len(steps) + 1, 5))
    for said in heard[::7]:
        window = steps[said.step - 20 : said.step][None]
        assert said.label == model.predict(window)[0]
        np.testing.assert_allclose(said.probabilities, model.predict_proba(window)[0], atol=1e-5)
    assert heard[0].end is None and listener.sample_rate is None


def test_an_event_begins_and_ends(model):
    listener = model.listener(20, 5, background=["rest"], average=2, on=0.7, off=0.4)
    changes = [(said.step, said.event, said.change) for said in map(listener.push, stream()) if said and said.change]
    assert [change for _, _, change in changes] == ["begins", "ends"]
    (begun, event, _), (ended, nothing, _) = changes
    assert event == "move" and nothing is None
    assert 100 < begun <= 130 and 200 < ended <= 235
    listener.reset()
    again = [(said.step, said.event, said.change) for said in map(listener.push, stream()) if said and said.change]
    assert again == changes


def test_what_does_not_fit_is_refused(model):
    with pytest.raises(ValueError, match="steps of a window"):
        model.listener()
    with pytest.raises(ValueError, match="hop: found 30"):
        model.listener(20, 30)
    with pytest.raises(ValueError, match="background: found bark"):
        model.listener(20, background=["bark"])
    with pytest.raises(ValueError, match="not trained on recordings of sound"):
        model.listener(20).hear(np.zeros(10, dtype=np.int16))
    with pytest.raises(ValueError, match="beyond 16 bits"):
        model.listener(20).hear(np.array([70_000]))
