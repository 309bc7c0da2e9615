"""The worked example: the gate finds the regression in the fourth of five versions, and names its axis."""

import contextlib
import importlib.util
import io
import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from momus.cli.app import app
from momus.history.rules import Limit, read_rules

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "gate"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("five_versions", FOLDER / "five_versions.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def ran(example, tmp_path_factory):
    """The output folder, the outcomes by version, and what was printed."""
    out, printed = tmp_path_factory.mktemp("five"), io.StringIO()
    with contextlib.redirect_stdout(printed):
        results = example.main(["--out", str(out), "--documents", "100"])
    return out, results, printed.getvalue()


@pytest.mark.slow
def test_the_gate_finds_the_fourth_version_and_names_the_axis(ran):
    out, results, printed = ran
    assert {name: r is None or r.passed for name, r in results.items()} == {
        **dict.fromkeys(("v1", "v2", "v3", "v5"), True),
        "v4": False,
    }
    assert results["v4"].baseline.endswith("v3")
    assert results["v5"].baseline.endswith("v3"), "a version that failed is no baseline"
    worse = {c.critic: c for c in results["v4"].failed if c.rule == "max-worse"}
    assert max(worse, key=lambda critic: worse[critic].value) == "length"
    assert "heaps" not in worse, "the growth of the vocabulary is as before"
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- five versions -->\n```text\n(.*?)```", page, flags=re.DOTALL).group(1)
    assert shown == printed, "the page shows another output: paste that of --documents 100"
    for version in ("v2", "v5"):
        seconds = json.loads((out / "runs" / version / "run.json").read_text())["seconds"]
        assert "fitting" not in seconds


@pytest.mark.slow
def test_diff_of_the_versions_says_what_changed(ran):
    out, *_ = ran
    done = CliRunner().invoke(app, ["diff", str(out / "runs" / "v3"), str(out / "runs" / "v4")])
    said = " ".join(done.output.split())
    assert "v4 is farther from real text than v3" in said
    assert "Significantly farther on length of documents" in said


def test_the_rules_and_the_workflow_can_be_used():
    rules = read_rules(FOLDER / "momus-gate.toml")
    assert rules.max == (Limit("length", 2.0),)
    assert rules.max_worse == (Limit("*", 0.5),)
    assert rules.baseline == "runs/main"
    from yaml import safe_load

    workflow = safe_load((FOLDER / "momus-gate.yml").read_text(encoding="utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["gate"]["steps"] if "run" in step]
    for command in commands:
        words = command.split()
        if words[0] == "momus":
            options = {w for w in words if w.startswith("--")}
            shown = CliRunner().invoke(app, [words[1], "--help"], terminal_width=200).output
            assert all(option in shown for option in options), command
