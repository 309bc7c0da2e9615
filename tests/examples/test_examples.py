"""The examples run, at small settings, and write what they say."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from momus import Corpus

FOLDER = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(FOLDER))


def run(name, out, *more):
    return importlib.import_module(name).main(["--out", str(out), *map(str, more)])


@pytest.mark.slow
def test_compare_decoders(tmp_path):
    found = run("compare_decoders", tmp_path, "--most", 40, "--permutations", 99)
    assert {v.critic for v in found.verdicts} == set(importlib.import_module("compare_decoders").CRITICS)
    assert (tmp_path / "effects.svg").read_text().lstrip().startswith("<?xml")
    assert (tmp_path / "run" / "report.html").exists()


def test_outliers(tmp_path, capsys):
    frame = run("outliers", tmp_path, "--most", 100, "--top", 2)
    assert set(frame["corpus"]) == {"real", "generated"}
    ranked = pd.read_csv(tmp_path / "outliers.csv")["per_step"].dropna()
    assert ranked.is_monotonic_decreasing
    assert "95 % interval" in capsys.readouterr().out
    assert (tmp_path / "explained.txt").read_text().count("nats by the best repair") == 4


@pytest.mark.slow
def test_own_critic(tmp_path, capsys):
    found = run("own_critic", tmp_path, "--permutations", 199)
    printed = capsys.readouterr().out
    assert ", 0 failed" in printed
    (verdict,) = [v for v in found.verdicts if v.headline]
    assert verdict.p < 0.05
    assert (tmp_path / "turns.svg").exists()


def test_a_critic_of_ones_own_counts_turns():
    turns = importlib.import_module("own_critic").Turns()
    z = turns.project(Corpus.from_texts(['He came.\n\n"Yes," he said.\n“No.”']))
    assert z.states.tolist() == [0, 1, 1]
    assert turns.pairs(z)[0].tolist() == [[0, 1, 0], [0, 1, 1], [1, 0, 0]]


@pytest.mark.slow
def test_watch_training(tmp_path):
    pytest.importorskip("accelerate", reason="the Trainer of transformers needs accelerate")
    frame = run("watch_training", tmp_path, "--steps", 6, "--every", 3, "--size", 60)
    assert sorted(set(frame["step"])) == [0, 3, 6]
    assert len(pd.read_csv(tmp_path / "history.csv")) == len(frame)
    assert (tmp_path / "training.svg").exists()


@pytest.mark.parametrize("name", ["compare_decoders", "outliers", "own_critic", "watch_training"])
def test_each_says_what_it_does(name):
    assert importlib.import_module(name).__doc__.split("\n")[2] == f"    python examples/{name}.py --out folder"
    assert f"`{name}.py`" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_an_error_is_no_traceback(tmp_path):
    command = [sys.executable, str(FOLDER / "outliers.py"), "--out", str(tmp_path), "--most", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "→" in done.stderr
