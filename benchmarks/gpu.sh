#!/usr/bin/env bash
# Measures the code that runs on a GPU, and its agreement with the CPU, as a table. From a checkout, without installation:
#   bash benchmarks/gpu.sh            (a GPU)
#   bash benchmarks/gpu.sh cpu        (the same code at small sizes on a CPU, to check that it runs)
#   bash benchmarks/gpu.sh cuda gibbs topics    (some of the stages)
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH="core:critics:adapters:examples/generating${PYTHONPATH:+:$PYTHONPATH}" HF_HUB_OFFLINE=1
python="$(command -v python3)"
[ -x .venv/bin/python ] && python=.venv/bin/python
exec "$python" benchmarks/gpu.py --device "${1:-cuda}" "${@:2}"
