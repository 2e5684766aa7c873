"""The examples run from their first line to their last."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NEEDS = {
    "own_data": ["sklearn"],
    "grid_search": ["sklearn"],
    "torch_layer": ["torch"],
    "export_to_c": ["sklearn"],
    "read_mat": ["sklearn", "scipy"],
    "read_hdf5": ["sklearn", "h5py"],
    "read_edf": ["sklearn", "pyedflib"],
    "read_wfdb": ["sklearn", "wfdb"],
}


def test_each_example_is_known():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_example(name, tmp_path):
    for module in NEEDS[name]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
