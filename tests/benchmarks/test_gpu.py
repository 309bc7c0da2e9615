"""`benchmarks/gpu.sh` from a bare checkout, without the packages that an image for GPUs lacks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = """
import os, sys
from importlib.machinery import PathFinder

HIDDEN = {"zstandard", "py3langid", "pyro", "gensim", "kenlm", "spacy", "plotly", "httpx", "ray", "lingua", "icu4py"}
GIVEN = [os.path.abspath(place) for place in os.environ["PYTHONPATH"].split(os.pathsep) if place]


class Bare:
    def find_spec(name, path=None, target=None):
        top = name.partition(".")[0]
        if top in HIDDEN:
            return None
        return PathFinder.find_spec(name, GIVEN if top.startswith("momus") and path is None else path)

    def find_distributions(*options):
        return (d for d in PathFinder.find_distributions(*options) if not d.metadata["Name"].startswith("momus"))


sys.meta_path[sys.meta_path.index(PathFinder)] = Bare
"""
"""Neither the hidden packages nor an installed Momus: its packages are those that PYTHONPATH gives."""


@pytest.fixture
def environment(tmp_path):
    """Variables of a shell without an installed Momus, whose Python lacks packages."""
    (tmp_path / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MOMUS_DATA")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PYTHONPATH": str(tmp_path), "PATH": path, "OMP_NUM_THREADS": "1"}


def run(environment, *arguments):
    return subprocess.run(
        ["bash", str(ROOT / "benchmarks" / "gpu.sh"), *arguments],
        env=environment,
        cwd=environment["PYTHONPATH"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_environment_lacks_what_it_should(environment):
    code = """if True:
        import importlib.metadata, importlib.util, numpy
        hidden = ("zstandard", "pyro", "momus", "momus_generating")
        assert not any(map(importlib.util.find_spec, hidden))
        assert not any(d.metadata["Name"].startswith("momus") for d in importlib.metadata.distributions())
    """
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=environment["PYTHONPATH"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_it_starts_from_a_bare_checkout(environment):
    done = run(environment, "cpu", "hsmm", "language_model", "gibbs", "relabelling")
    assert done.returncode == 0, done.stdout + done.stderr
    for stage in ("HSMM, both passes", "language model, sample", "Gibbs posterior", "relabelling"):
        assert f"| {stage}" in done.stdout
    assert "| topics" not in done.stdout
    assert "FAILED" not in done.stdout


@pytest.mark.slow
def test_all_stages_pass_from_a_bare_checkout(environment):
    done = run(environment, "cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n| ") == 20


@pytest.mark.slow
def test_an_unknown_stage_is_refused(environment):
    done = run(environment, "cpu", "wings")
    assert done.returncode == 2
    assert "'relabelling'" in done.stderr
