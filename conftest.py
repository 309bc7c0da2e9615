"""Scripts of benchmarks that tests import, and the profile of Hypothesis."""

import sys
from pathlib import Path

from hypothesis import settings

BENCHMARKS = Path(__file__).parent / "benchmarks"
sys.path += [str(BENCHMARKS / "reproduce"), str(BENCHMARKS / "validity")]

# examples take as long as the machine is busy: their number is bounded, not their time
settings.register_profile("momus", deadline=None)
settings.load_profile("momus")
