#!/usr/bin/env bash
# Makes bench/.venv with torch, torchrecurrent and JAX. Takes 5 GB of disk and some minutes.
#   bench/setup.sh [python]
set -euo pipefail
cd "$(dirname "$0")"
"${1:-python3}" -m venv .venv
.venv/bin/python -m pip install --quiet --upgrade pip
.venv/bin/python -m pip install --quiet -r requirements.txt
.venv/bin/python -c "import torch, jax, torchrecurrent; print('torch', torch.__version__, 'jax', jax.__version__)"
