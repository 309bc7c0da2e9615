"""What a user mistypes or breaks is named, with a way out; nothing is ignored in silence."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from momus.cli.app import app
from momus.errors import MomusError, StoreError, UsageError


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
    for folder in (texts / "run", texts / "run" / "critics" / "length"):
        error = run("compare", "-f", folder, "-r", texts / "real.jsonl", "-g", f"g={texts / 'made.jsonl'}").exception
        assert "is a folder of Momus" in str(error)
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


def generate(texts, *options, model="2-gram"):
    return run("generate", model, "--fit", texts / "fit.jsonl", "-n", 3, "-o", texts / "out.jsonl", *options)


def test_a_run_is_not_resumed_with_another_model(texts):
    assert generate(texts).exit_code == 0
    other = run("generate", "2-gram", "--fit", texts / "made.jsonl", "-n", 3, "-o", texts / "out.jsonl", "--resume")
    assert "another state of the model" in str(other.exception)
    assert generate(texts, "--resume").exit_code == 0


@pytest.mark.parametrize("option", [("--window", 9), ("--precision", "float32"), ("--end", "."), ("--chat",)])
def test_options_that_a_model_does_not_take(texts, option):
    assert option[0] in str(generate(texts, *option).exception)


def test_an_output_that_is_no_file(texts):
    (texts / "folder").mkdir()
    (texts / "file").write_text("x", encoding="utf-8")
    for out in (texts / "folder", texts / "file" / "x.jsonl"):
        result = run("generate", "2-gram", "--fit", texts / "fit.jsonl", "-o", out, "--overwrite")
        assert isinstance(result.exception, MomusError)


def test_prompts_keep_their_ids_and_lines_are_documents(texts):
    (texts / "p.jsonl").write_text('{"prompt_id": "x", "text": "the"}\n', encoding="utf-8")
    (texts / "fit.txt").write_text("the sun\nthe moon\n" * 20, encoding="utf-8")
    out = texts / "o.jsonl"
    assert run("generate", "2-gram", "--fit", texts / "fit.txt", "-p", texts / "p.jsonl", "-o", out).exit_code == 0
    row = json.loads(out.read_text(encoding="utf-8"))
    assert row["prompt_id"] == "x"
    assert row["text"] in ("sun", "moon")
