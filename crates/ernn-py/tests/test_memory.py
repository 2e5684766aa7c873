"""Memory does not grow with the number of fits."""

import resource
import sys

import pytest
from conftest import waves


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_flat_over_a_thousand_fits(small):
    X, y = waves(20, steps=6)
    small.set_params(epochs=1, hidden=4, rank=1)
    for _ in range(100):
        small.fit(X, y).predict(X)
    before = resident()
    for _ in range(900):
        small.fit(X, y).predict(X)
    # A leak of a model, of a data set or of a thread's buffers a fit would be more.
    assert resident() - before < 900 * 2048
