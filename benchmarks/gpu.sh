#!/usr/bin/env bash
# Measures the code that runs on a GPU, and its agreement with the CPU. From a checkout, without installation:
#   bash benchmarks/gpu.sh            (a GPU; under 10 minutes)
#   bash benchmarks/gpu.sh cpu        (the same code on a CPU, to check that it runs)
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH="core:critics:adapters${PYTHONPATH:+:$PYTHONPATH}" HF_HUB_OFFLINE=1
device="${1:-cuda}"
python="$(command -v python3)"
[ -x .venv/bin/python ] && python=.venv/bin/python
"$python" benchmarks/gpu.py --device "$device"
"$python" benchmarks/speed/hsmm.py --device "$device"
"$python" benchmarks/speed/scoring.py --device "$device"
