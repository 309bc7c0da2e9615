"""Scripts of the benchmarks that tests import; modules that are left out where a package is not installed."""

import sys
from importlib.util import find_spec
from pathlib import Path

BENCHMARKS = Path(__file__).parent / "benchmarks"
sys.path += [str(BENCHMARKS / "reproduce"), str(BENCHMARKS / "validity")]

collect_ignore = [] if find_spec("inspect_ai") else ["examples/training/momus_training/inspect.py"]
