"""``import ernn`` brings nothing that is not needed."""

import subprocess
import sys


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_import_does_not_import_torch_scikit_learn_or_aeon():
    code = "import ernn, sys; print([name for name in ('torch', 'sklearn', 'aeon', 'scipy', 'pandas') if name in sys.modules])"
    assert run(code) == "[]"


def test_what_is_missing_is_named():
    code = """
import sys
for name in ('torch', 'sklearn', 'aeon'):
    sys.modules[name] = None
import ernn
for part in ('torch', 'SequenceClassifier', 'aeon'):
    try:
        getattr(ernn, part)
    except ImportError as error:
        print(error)
"""
    lines = run(code).splitlines()
    assert lines[0] == "ernn.torch needs PyTorch: pip install torch"
    assert lines[1] == "ernn.SequenceClassifier needs scikit-learn: pip install scikit-learn"
    assert len(lines) == 3


def test_unknown_names_are_refused():
    assert run("import ernn\ntry:\n    ernn.nothing\nexcept AttributeError as error:\n    print(error)") == (
        "module 'ernn' has no attribute 'nothing'"
    )
