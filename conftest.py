"""Scripts of benchmarks that tests import, and the profile of Hypothesis."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

BENCHMARKS = Path(__file__).parent / "benchmarks"
sys.path += [str(BENCHMARKS / "reproduce"), str(BENCHMARKS / "validity")]

# examples take as long as the machine is busy: their number is bounded, not their time
settings.register_profile("momus", deadline=None)
settings.load_profile("momus")


def pytest_configure(config: pytest.Config) -> None:
    """Keep compiled code beside its source, unless pytest is told to keep nothing (``-p no:cacheprovider``).

    Each process that a test starts, and each that collects tests, would else compile all of it again.
    """
    if config.pluginmanager.has_plugin("cacheprovider"):
        sys.dont_write_bytecode = False
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
