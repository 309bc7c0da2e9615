"""The tests of `on_a_device.py`, in a process of their own: they leave torch unfit to load models."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow  # half a minute: every critic on a device that is not there
def test_every_path_that_takes_a_device():
    tests = Path(__file__).with_name("on_a_device.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", str(tests)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]  # also 5: no test was found
