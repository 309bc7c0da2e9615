"""Scripts of benchmarks that tests import; modules left out where a package is missing; the profile of Hypothesis."""

import sys
from importlib.util import find_spec
from pathlib import Path

from hypothesis import settings

BENCHMARKS = Path(__file__).parent / "benchmarks"
sys.path += [str(BENCHMARKS / "reproduce"), str(BENCHMARKS / "validity")]

# examples take as long as the machine is busy: their number is bounded, not their time
settings.register_profile("momus", deadline=None)
settings.load_profile("momus")

collect_ignore = [] if find_spec("inspect_ai") else ["examples/training/momus_training/inspect.py"]
