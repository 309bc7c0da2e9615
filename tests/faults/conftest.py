"""Fixtures of the fault suite: small texts on disk, and the command in a process of its own."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

MOMUS = [sys.executable, "-c", "from momus.cli import main; main()"]
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "dog", "ran", "all", "day", "rain", "fell"]


@pytest.fixture(scope="session")
def texts(tmp_path_factory) -> Path:
    """A folder with ``fit.jsonl``, ``real.jsonl`` and ``gen.jsonl`` of 24 documents each."""
    folder = tmp_path_factory.mktemp("texts")
    rng = random.Random(0)
    for name in ("fit", "real", "gen"):
        lines = [
            json.dumps({"id": f"{name}{i}", "text": " ".join(rng.choices(WORDS, k=rng.randint(5, 40)))})
            for i in range(24)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Undo that shells start background jobs with SIGINT ignored, which child processes would inherit."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def without_bytecode():
    """Write no compiled modules: Python would keep those that a limit on the size of files has cut."""
    sys.dont_write_bytecode = True


@pytest.fixture(scope="session")
def momus_process():
    """Start the command in a process of its own; keyword arguments are those of ``subprocess.Popen``."""
    started = []

    def start(*words, env=None, **options):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
        started.append(subprocess.Popen([*MOMUS, *map(os.fsencode, words)], env=environment, **options))
        return started[-1]

    yield start
    for process in started:
        process.kill()
