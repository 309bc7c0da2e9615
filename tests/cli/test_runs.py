"""Where runs go without a name, how the newest is found, and what the commands print about a run."""

import json
import os
import re
import webbrowser
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from momus.cli.app import app
from momus.cli.printing import RUNS, new_run, run_folder, slug
from momus.errors import FittingError, StoreError, UsageError


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture
def texts(tmp_path):
    for name, word in (("fit", "sun"), ("real", "sun"), ("made", "moon")):
        rows = [
            {"text": f"the {word} rose over hill number {i} " * (1 + i % 4), "prompt_id": str(i)} for i in range(40)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path


def compare(texts, *options, name="made"):
    files = ["-f", texts / "fit.jsonl", "-r", texts / "real.jsonl", "-g", f"{name}={texts / 'made.jsonl'}"]
    return run("compare", *files, "-c", "length,unigram", "--permutations", 99, "--resamples", 99, *options)


def test_a_run_without_a_name_says_where_it_is(texts):
    done = compare(texts)
    assert done.exit_code == 0, done.output
    (folder,) = RUNS.iterdir()
    assert re.fullmatch(r"\d{8}-\d{6}-made", folder.name)
    assert done.stdout.splitlines()[-1] == f"Report: {folder / 'report.html'}"
    assert done.stdout.splitlines()[-2] == f"Details: momus show {folder} --all"
    assert (folder / "report.html").is_file()
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert re.findall(r"^critic (\d) of 2: ", done.stderr, re.MULTILINE) == ["1", "2"]


def test_no_out_keeps_nothing_and_quiet_says_nothing(texts):
    done = compare(texts, "--no-out", "--quiet")
    assert done.exit_code == 0, done.output
    assert not RUNS.exists()
    assert "Report" not in done.stdout
    assert done.stderr == ""


def test_a_failed_run_leaves_no_folder(texts):
    (texts / "fit.jsonl").write_text('{"text": ""}\n', encoding="utf-8")
    assert isinstance(compare(texts).exception, FittingError)
    assert not RUNS.exists() or not list(RUNS.iterdir())


@pytest.mark.parametrize(
    "options", [("--resume",), ("--overwrite",), ("--no-out", "--out", "x"), ("--json", "--latex")]
)
def test_options_that_contradict_each_other(texts, options):
    assert isinstance(compare(texts, *options).exception, UsageError)
    assert not RUNS.exists()


def test_json_is_all_that_is_on_standard_output(texts):
    done = compare(texts, "--json")
    content = json.loads(done.stdout)
    assert {v["critic"] for v in content["verdicts"]} == {"length", "unigram"}
    assert content["answer"]["corpora"][0]["generated"] == "made"
    assert "Report:" in done.stderr


def test_show_prints_what_compare_printed(texts):
    first = compare(texts, "--out", texts / "run")
    assert run("show", texts / "run").stdout == first.stdout
    assert run("show", texts / "run", "--json").stdout.startswith("{")
    assert "| axis | made |" in run("show", texts / "run", "--markdown").stdout
    assert r"\toprule" in run("show", texts / "run", "--latex").stdout
    every = run("show", texts / "run", "--all").stdout
    assert "mean_length" in every


def test_names_of_corpora_are_no_paths(texts):
    done = compare(texts, "--no-out", name="../../[red]x")
    assert done.exit_code == 0, done.output
    assert "[red]x" in done.stdout
    path = new_run(["../../etc", "a b/c", "\x1b[31m\n"], datetime(2026, 1, 2, 3, 4, 5))
    assert path == RUNS / "20260102-030405-etc-a-b-c-31m"
    assert len(slug(["long" * 50])) == 40
    assert slug(["...", "/"]) == ""


def test_two_runs_in_one_second_get_two_folders():
    now = datetime(2026, 1, 2, 3, 4, 5)
    first = new_run(["a"], now)
    first.mkdir(parents=True)
    assert new_run(["a"], now) == Path(f"{first}-2")


def test_the_newest_run_is_the_default(texts):
    assert isinstance(run("show", "--html").exception, UsageError)
    for i, name in enumerate(("one", "two")):
        assert compare(texts, "--out", RUNS / name).exit_code == 0
        os.utime(RUNS / name / "run.json", (1000 - i, 1000 - i))
    (RUNS / "unfinished").mkdir()
    assert run_folder(None) == RUNS / "one"
    assert run("show", "--html").stdout.strip() == f"Report: {RUNS / 'one' / 'report.html'}"
    assert run("outliers", "-c", "length", "--top", 1).exit_code == 0


def test_open_starts_a_browser(texts, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: bool(opened.append(url)) or len(opened) == 1)
    assert compare(texts, "--out", texts / "run").exit_code == 0
    report = texts / "run" / "report.html"
    assert run("open", texts / "run").stdout == f"Report: {report}\n"
    assert opened == [report.resolve().as_uri()]
    assert "open this file yourself" in run("open", texts / "run").stderr
    assert run("open", texts / "run", "--print").stdout == f"{report}\n"
    assert len(opened) == 2
    report.unlink()
    assert isinstance(run("open", texts / "run").exception, StoreError)


def test_help_fits_80_columns():
    for command in ("compare", "show", "open", "outliers", "filter", "fit"):
        text = run(command, "--help").stdout
        assert max(len(line.rstrip()) for line in text.splitlines()) <= 80, command
