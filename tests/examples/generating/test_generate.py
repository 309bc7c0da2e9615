"""``momus generate``: files, and resuming after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from momus import read_corpus
from momus.cli.app import app
from momus.errors import MomusError


def run(*args):
    return CliRunner().invoke(app, ["generate", *map(str, args)])


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def same(one, other):
    """Equal documents; log-probabilities up to what single precision leaves."""
    p = [[d.pop("log_probability") for d in some] for some in (one, other)]
    return one == other and p[0] == pytest.approx(p[1], abs=0.01)


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "prompts.txt"
    path.write_text("the cat\na dog ran all day\nrain\n", encoding="utf-8")
    return path


def test_documents_carry_what_made_them(causal_lm, prompts, tmp_path):
    out = tmp_path / "nucleus.jsonl"
    result = run(causal_lm, "-d", "nucleus", "--top-p", 0.8, "-p", prompts, "-n", 2, "-o", out, "--longest", 12)
    assert result.exit_code == 0, result.output
    found = lines(out)
    assert [f["id"].rsplit("/", 1)[1] for f in found] == ["1", "1", "1", "2", "2", "2"]
    assert len({f["prompt_id"] for f in found}) == 3
    assert len({f["seed"] for f in found}) == 6
    assert found[0]["decoding"] == {"method": "nucleus", "temperature": 1.0, "top_p": 0.8, "longest": 12}
    assert all(f["tokens"] <= 12 and f["log_probability"] < 0 for f in found)
    assert len(read_corpus(str(out))) == 6
    assert read_corpus(str(out)).prompts == [f["prompt_id"] for f in found]


def test_the_batch_changes_nothing_and_the_prompt_can_be_kept(causal_lm, prompts, tmp_path):
    found = []
    for batch in (1, 6):
        out = tmp_path / f"{batch}.jsonl"
        assert run(causal_lm, "-p", prompts, "-n", 3, "-o", out, "--longest", 30, "--batch", batch).exit_code == 0
        found.append(lines(out))
    assert same(*found)
    out = tmp_path / "kept.jsonl"
    assert run(causal_lm, "-p", prompts, "-o", out, "--longest", 5, "--keep-prompt").exit_code == 0
    assert [f["text"].startswith(p) for f, p in zip(lines(out), ["the cat", "a dog", "rain"], strict=True)] == [
        True
    ] * 3


def test_ngram_models_are_fitted_on_text(prompts, tmp_path):
    fit = tmp_path / "fit.txt"
    fit.write_text("the cat sat\nthe dog ran all day\na dog sat\nrain fell\n" * 3, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    assert run("2-gram", "--fit", fit, "-n", 20, "-o", out).exit_code == 0
    assert len(lines(out)) == 20
    assert {f["prompt_id"] for f in lines(out)} == {None}
    refused = run("2-gram", "-n", 2, "-o", tmp_path / "x.jsonl")
    assert isinstance(refused.exception, MomusError)
    assert "--fit" in str(refused.exception)


@pytest.mark.slow
def test_a_killed_run_loses_doubles_and_changes_nothing(causal_lm, tmp_path):
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    options = ["-n", "200", "--longest", "20", "--batch", "11", "--seed", "5"]
    assert run(causal_lm, *options, "-o", whole).exit_code == 0
    command = [sys.executable, "-m", "momus", "generate", causal_lm, *options, "-o", str(killed)]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (killed.exists() and killed.read_bytes().count(b"\n") >= 40):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = killed.read_bytes().count(b"\n")
    assert 40 <= before < 200
    with killed.open("ab") as file:
        file.write(b'{"id": "half a li')  # what a kill in the middle of a write leaves
    assert isinstance(run(causal_lm, *options, "-o", killed).exception, MomusError)
    result = run(causal_lm, *options, "-o", killed, "--resume")
    assert result.exit_code == 0
    assert f"({before} already there)" in result.output
    assert same(lines(killed), lines(whole))


def test_another_run_is_not_resumed(causal_lm, tmp_path):
    out = tmp_path / "out.jsonl"
    assert run(causal_lm, "-n", 2, "--longest", 4, "-o", out).exit_code == 0
    for change in (["--longest", 4, "--seed", 9], ["--longest", 4, "-d", "nucleus"], ["--longest", 5]):
        result = run(causal_lm, "-n", 2, *change, "-o", out, "--resume")
        assert "was started with another" in str(result.exception)
    out.write_text("no json\n" + out.read_text(encoding="utf-8"), encoding="utf-8")
    assert "line 1" in str(run(causal_lm, "-n", 2, "--longest", 4, "-o", out, "--resume").exception)
    edited = out.read_bytes()
    assert "as Momus wrote it" in str(run(causal_lm, "-n", 2, "--longest", 4, "-o", out, "--overwrite").exception)
    assert out.read_bytes() == edited
    out.write_text(edited.decode("utf-8").removeprefix("no json\n"), encoding="utf-8")
    assert run(causal_lm, "-n", 2, "--longest", 4, "-o", out, "--overwrite").exit_code == 0
