# `just` alone lists the recipes. CI runs those of `just check`, test-sets, test-python and test-burn: green here is green there.

export RUSTDOCFLAGS := "-D warnings"

_list:
    @just --list --unsorted

# Everything that must hold before a commit is merged; the quick checks first, the tests last
check: fmt-check deny clippy doc test

# Formatting, without changing anything
fmt-check:
    cargo fmt --all --check

# Lints of every target: library, command, tests, benches (so benches compile, too)
clippy:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# The documentation of the libraries; the command is documented by its --help
doc:
    cargo doc --workspace --exclude ernn-cli --no-deps --locked

# Licenses, banned crates, sources of the dependencies
deny:
    cargo deny --locked check licenses bans sources

# The README's test command: unit tests, integration tests on the real binary, doctests
test:
    cargo test --locked

# Kernels, cells and streams once more on each instruction set of this machine that is not its best, which `test` has run
test-sets:
    #!/usr/bin/env bash
    set -euo pipefail
    best=$(cargo run --quiet --locked -- --version | sed 's/.* //')
    for isa in avx2 portable; do
        [ "$isa" != "$best" ] || continue
        export ERNN_ISA=$isa
        if ! cargo run --quiet --locked -- data list >/dev/null 2>&1; then
            echo "skipped: $isa, which this machine lacks"
            continue
        fi
        echo "ERNN_ISA=$isa"
        cargo test --locked --lib --test leaky --test gated --test deep --test equilibrium --test rows --test softmax \
            --test cell_suite --test streams --test training
    done

# The Python package, built into .venv, and its tests; those of torch and aeon say `skipped` where these are not installed
test-python:
    test -d .venv || python3 -m venv .venv
    .venv/bin/python -m pip install --quiet "maturin>=1.9,<2" "pytest>=8" "scikit-learn>=1.6"
    cd crates/ernn-py && VIRTUAL_ENV="$PWD/../../.venv" ../../.venv/bin/maturin develop --quiet --locked
    .venv/bin/python -m pytest --quiet -ra crates/ernn-py/tests

# The reader of Parquet, which the default build leaves out; not part of CI, whose time it would take
test-parquet:
    cargo clippy -p ernn -p ernn-cli --features parquet --all-targets --locked -- -D warnings
    cargo test --locked -p ernn --features parquet --lib parquet
    cargo test --locked -p ernn-cli --features parquet --test formats

# The same with torch and aeon: 5 GB of wheels the first time
test-torch:
    test -d .venv || python3 -m venv .venv
    .venv/bin/python -m pip install --quiet torch aeon
    just test-python

# The Burn modules, a workspace of its own, and their example
test-burn:
    cd crates/ernn-burn && cargo test --locked
    cd crates/ernn-burn && cargo run --quiet --locked --example japanese_vowels -- target/japanese-vowels

# Formatting, lints and licenses of the Burn modules; not part of CI, whose time it would take
check-burn:
    cd crates/ernn-burn && cargo fmt --check && cargo deny --locked check licenses bans sources
    cd crates/ernn-burn && cargo clippy --all-targets --locked -- -D warnings

# Formats all Rust code
fmt:
    cargo fmt --all

# Known security advisories of the dependencies; needs the network
advisories:
    cargo deny --locked check advisories

# Criterion benches of the kernels: all, or those whose name holds a word
bench *filter:
    cargo bench -p ernn-kernels --bench leaky --bench gated -- {{ filter }}

# The exact ERNN, all steps side by side, on one thread and on all
bench-equilibrium:
    cargo bench -p ernn-kernels --bench equilibrium

# Makes the golden values again with torch, in .venv; the files must not change
golden:
    test -d .venv || python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --requirement reference/requirements.txt
    .venv/bin/python reference/head_and_optimizers.py
    .venv/bin/python reference/leaky_cells.py
    .venv/bin/python reference/gated_cells.py
    .venv/bin/python reference/torch_layers.py
    .venv/bin/python reference/edgeml_models.py
    .venv/bin/python reference/equilibria.py
    git diff --stat -- crates/ernn/tests/golden

# Timings beside torch and JAX in one interleaved run; 5 GB of wheels the first time
bench-side-by-side *arguments:
    test -d bench/.venv || bench/setup.sh
    cargo build --release --locked -p ernn-bench
    bench/.venv/bin/python bench/side_by_side.py {{ arguments }}
