"""What a user mistypes or breaks is named, with a way out; nothing is ignored in silence."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from momus.cli.app import app
from momus.errors import StoreError, UsageError


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture
def texts(tmp_path):
    for name, word in (("fit", "sun"), ("real", "sun"), ("made", "moon")):
        rows = [{"text": f"the {word} rose over hill number {i} " * (1 + i % 4)} for i in range(30)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path


def compare(texts, *options):
    files = ["-f", texts / "fit.jsonl", "-r", texts / "real.jsonl", "-g", f"made={texts / 'made.jsonl'}"]
    return run("compare", *files, "--permutations", 99, "--resamples", 99, *options)


def test_a_table_of_no_critic(texts):
    (texts / "c.toml").write_text("[lenght]\nbins = 5\n", encoding="utf-8")
    error = compare(texts, "-c", "length", "--config", texts / "c.toml").exception
    assert isinstance(error, UsageError)
    assert "did you mean [length]" in str(error)


@pytest.mark.parametrize(("critic", "parameter"), [("pcfg", "treebank"), ("distortion", "language")])
def test_a_critic_that_wants_a_configuration(texts, critic, parameter):
    error = compare(texts, "-c", critic).exception
    assert isinstance(error, UsageError)
    assert f"[{critic}] with {parameter}" in str(error)


def test_folders_of_momus_are_no_texts(texts):
    assert compare(texts, "-c", "length", "-o", texts / "run").exit_code == 0
    assert run("fit", "length", "unigram", "-f", texts / "real.jsonl", "-o", texts / "fitted").exit_code == 0
    of_run = ("", "critics", "critics/length", "critics/length/critic.json", "run.json", "documents.parquet")
    for place in (*(texts / "run" / name for name in of_run), texts / "fitted"):
        error = run("compare", "-f", place, "-r", texts / "real.jsonl", "-g", f"g={texts / 'made.jsonl'}").exception
        assert "belongs to a folder of Momus" in str(error), place
        assert "--field" not in str(error)


def test_all_critics_of_a_run_score_a_text(texts):
    assert compare(texts, "-c", "length,unigram", "-o", texts / "run").exit_code == 0
    scored = run("score", texts / "run", texts / "made.jsonl")
    assert scored.exit_code == 0, scored.exception
    assert [line.partition(":")[0] for line in scored.stdout.splitlines()] == ["length", "unigram"]
    refused = run("score", texts / "run", texts / "made.jsonl", "-o", texts / "rows.csv").exception
    assert "a file takes the rows of one" in str(refused)
    assert not (texts / "rows.csv").exists()


def test_pairs_where_there_are_none(texts):
    assert "no pairs" in str(compare(texts, "-c", "length", "--paired").exception)


def test_negative_seeds(texts):
    assert compare(texts, "-c", "length", "--seed", -1).exit_code == 2


def test_too_few_permutations_to_alarm(texts):
    files = ["-f", texts / "fit.jsonl", "-r", texts / "real.jsonl", "-c", "length", "-o", texts / "cal"]
    error = run("calibrate", *files, "--alpha", 0.001, "--permutations", 19).exception
    assert isinstance(error, UsageError)
    assert "999 or more" in str(error)


@pytest.mark.parametrize("damage", ["gone", "cut", "empty record"])
def test_damaged_runs(texts, damage):
    assert compare(texts, "-c", "length", "-o", texts / "run").exit_code == 0
    table = texts / "run" / "documents.parquet"
    if damage == "gone":
        table.unlink()
    elif damage == "cut":
        table.write_bytes(table.read_bytes()[:100])
    else:
        (texts / "run" / "run.json").write_text("{}", encoding="utf-8")
    assert isinstance(run("outliers", texts / "run", "-c", "length").exception, StoreError)
