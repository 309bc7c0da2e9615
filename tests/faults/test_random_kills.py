"""Commands are killed by SIGKILL at random moments: run again they give the same result, and readers show no other."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_path = Path(__file__).with_name("test_crash_points.py")
_spec = importlib.util.spec_from_file_location("faults_points", _path)
assert _spec is not None
assert _spec.loader is not None
points = importlib.util.module_from_spec(_spec)
sys.modules["faults_points"] = points
_spec.loader.exec_module(points)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork")

KILLS = 15
"""Kills of each command in the slow run: 360 of 24 commands."""


@pytest.fixture(scope="module")
def folder(texts, tmp_path_factory):
    """A folder with texts and finished runs."""
    return points.Place.made(tmp_path_factory.mktemp("kills"), texts).more().folder


def killed(name, kills, folder):
    """Kill a command so often; return how many kills met it while it ran."""
    script, environment = Path(__file__).with_name("kills.py"), {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(script), name, str(kills), "0", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    print(f"{name}: {counts}")
    assert counts["kills"] == kills
    return counts["met"]


@pytest.mark.slow
@pytest.mark.parametrize("name", points.CASES)
def test_killed_at_random(name, folder):
    assert killed(name, KILLS, folder) >= KILLS // 3, "most kills meet a command that runs"
