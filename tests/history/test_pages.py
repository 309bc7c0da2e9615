"""The page of a history: every run in order of time, limits, changes of inputs, hostile names; and the fixture."""

import json
import re
import shutil

import pytest
from tests.history.conftest import corpus
from typer.testing import CliRunner

from momus.cli.app import app
from momus.errors import StoreError
from momus.history.rules import Limit
from momus.history.timeline import read_timeline, render_history, write_history
from momus.runs.manifest import write_manifest

pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def folder(runs, tmp_path_factory):
    """Three runs, out of alphabetical order, and a folder that holds a damaged one."""
    path = tmp_path_factory.mktemp("history")
    for i, name in enumerate(("near", "same", "long")):
        shutil.copytree(runs.folder / name, path / "deep" / f"{9 - i}-{name}")
        record = path / "deep" / f"{9 - i}-{name}" / "run.json"
        content = json.loads(record.read_text())
        content["started"] = f"2026-01-0{i + 1}T00:00:00+00:00"
        record.write_text(json.dumps(content))
        write_manifest(record.parent)
    (path / "broken").mkdir()
    (path / "broken" / "run.json").write_text("{")
    return path


def test_runs_are_in_order_of_time_with_the_numbers_of_their_verdicts(folder, runs):
    from momus.history.kept import KeptRun

    found = read_timeline(folder, (Limit("length", 0.5),))
    assert [r.name for r in found.runs] == ["deep/9-near", "deep/8-same", "deep/7-long"]
    assert len(found.skipped) == 1
    length = next(line for line in found.lines if line.critic == "length")
    assert (length.limit, length.bands, length.corpus) == (0.5, True, "")
    v = KeptRun.read(runs.folder / "long").speaking("model")["length"]
    assert length.points[2].value == v.gap
    assert (length.points[2].low, length.points[2].high) == pytest.approx(v.gap_interval)
    assert [bool(r.changed) for r in found.runs] == [False, False, False]


def test_the_page_shows_each_axis_the_limit_and_the_run_that_breaks_it(folder):
    page = render_history(read_timeline(folder, (Limit("length", 0.5),)))
    assert re.search(r'class="answer">Beyond human variation in the last run: \w+ on \d of \d', page)
    assert page.count("<svg") == 3
    assert "length of documents: above its limit in deep/7-long" in page
    assert page.index("length of documents") < page.index("vocabulary"), "broken limits come first"
    assert ">limit</text>" in page
    assert "<strong>Left out.</strong>" in page
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page), "nothing from elsewhere"
    assert "default-src 'none'" in page
    script = re.search(r"script-src '(sha256-[^']+)'", page).group(1)
    from momus.report.html import digest

    assert digest(re.search(r"<script>(.*?)</script>", page, flags=re.DOTALL).group(1)) == script


def test_changed_inputs_are_marked(runs, tmp_path):
    shutil.copytree(runs.folder / "near", tmp_path / "a")
    run = runs.make("seed-7", corpus("g", 60, 3), seed=7)
    shutil.copytree(run, tmp_path / "b")
    found = read_timeline(tmp_path)
    assert [c.kind for c in found.runs[1].changed] == ["seed"]
    assert 'stroke-dasharray="1 3"' in render_history(found)


def test_names_are_escaped_everywhere(runs, tmp_path):
    name = '<img src=x onerror="alert(1)">'
    for i in range(2):
        options = {"critics": ["length"], "seed": i}
        run = runs.make(f"evil-{i}", {name: corpus("g", 60, 3), "b": corpus("h", 60, 4)}, **options)
        shutil.copytree(run, tmp_path / f"<b>{i}")
    page = render_history(read_timeline(tmp_path))
    assert "<img" not in page
    assert "<b>" not in page
    assert "&lt;img" in page


def test_a_folder_without_runs_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="no run below this folder"):
        read_timeline(tmp_path)
    with pytest.raises(StoreError, match="no such folder"):
        read_timeline(tmp_path / "none")


def test_command_line(folder, tmp_path):
    done = CliRunner().invoke(app, ["history", str(folder), "--out", str(tmp_path / "h.html"), "--max", "length=1.5"])
    assert done.exit_code == 0
    assert (tmp_path / "h.html").read_text().startswith("<!DOCTYPE html>")
    data = json.loads(CliRunner().invoke(app, ["history", str(folder), "--json"]).output)
    assert len(data["runs"]) == 3
    assert not (folder / "history.html").exists(), "--json alone writes no page"
    with pytest.raises(StoreError, match="is a folder, not a file"):
        write_history(read_timeline(folder), tmp_path)


TESTS = """
def test_passes(momus_gate):
    assert momus_gate({same!r}, baseline={near!r}).passed

def test_fails(momus_gate):
    momus_gate({long!r}, baseline={near!r})

def test_adds(momus_gate):
    momus_gate({same!r}, baseline={near!r}, max={{"length": 0.0001}}, strict=True)
"""


def test_the_fixture_gates_by_the_rules_of_the_project(runs, pytester):
    pytester.makefile(".toml", **{"momus-gate": "max-worse = 0.5"})
    pytester.makeconftest('pytest_plugins = ["momus_adapters.pytest_gate"]')
    names = {name: str(runs.folder / name) for name in ("near", "same", "long")}
    pytester.makepyfile(TESTS.format(**names))
    done = pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=2)
    shown = done.stdout.str()
    assert "length of documents (length) of 'model'" in shown
    assert "Traceback" not in shown
