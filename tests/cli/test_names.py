"""Names of commands and options: old ones name the new ones, help has panels, and words after `critics` name one."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from momus.cli import help as renamed
from momus.cli.app import OWN, PANELS, Commands, app
from momus.cli.help import PANELS as OPTION_PANELS
from momus.cli.help import READING
from momus.errors import UsageError

ROOT = Path(__file__).parents[2]


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def options_of(command):
    shown = run(command, "--help-all").stdout + run(command, "--help").stdout
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", shown))


@pytest.mark.parametrize("name", renamed.PACKAGES)
def test_a_command_of_a_package_that_is_missing_names_its_folder(name, monkeypatch):
    folder = renamed.PACKAGES[name]
    assert f"\n{name} = " in (ROOT / "examples" / folder / "pyproject.toml").read_text("utf-8")
    monkeypatch.setattr("momus.cli.app.registered", lambda *_: {})
    error = run(name, "x").exception
    assert isinstance(error, UsageError)
    assert f"pip install -e examples/{folder}" in error.hint


def test_every_command_of_momus_is_in_one_panel():
    text = run("--help").stdout
    for panel in PANELS:
        assert f"─ {panel} ─" in text
    shown = re.findall(r"^│ (\S+) ", text, re.M)
    commands = [name for name in shown if not name.startswith("-")]
    assert len(commands) == len(set(commands))
    assert {name for names in PANELS.values() for name in names} == {*OWN} <= {*commands}


@pytest.mark.parametrize("command", ["compare", "fit", "score", "filter", "calibrate", "prepare"])
def test_options_for_reading_files_are_shown_on_demand(command):
    short, long = run(command, "--help").stdout, run(command, "--help-all").stdout
    assert READING not in short
    assert "--encoding" not in short
    assert READING in long
    assert "--encoding" in long
    panels = [line.split("─ ")[1].split(" ─")[0] for line in long.splitlines() if line.startswith("╭")]
    assert [p for p in panels if p in OPTION_PANELS] == [p for p in OPTION_PANELS if p in panels]


def test_critics_lists_shows_and_has_commands():
    assert "section order" in run("critics").stdout
    assert "In a configuration file" in run("critics", "length").stdout
    assert "new" in run("critics", "--help").stdout
    assert run("critics", "new").exit_code == 2
    assert "package.module:Class" in run("critics", "check", "--help").stdout
    assert run("critics", "no-such").exception.hint


def test_several_critics_are_fitted_into_folders_of_one(tmp_path):
    text = tmp_path / "real.jsonl"
    text.write_text("".join(f'{{"text": "a b c {"d " * (i % 5)}"}}\n' for i in range(30)))
    done = run("fit", "length", "unigram", "-f", text, "-o", tmp_path / "fitted", "-q")
    assert done.exit_code == 0, done.exception
    assert sorted(p.name for p in (tmp_path / "fitted").iterdir()) == ["length", "unigram"]
    scored = run("score", tmp_path / "fitted", text, "-o", tmp_path / "rows", "-q", "-j", 1)
    assert scored.exit_code == 0, scored.exception
    assert "unigram: Latent NLL" in scored.stdout
    assert "length: Latent NLL" in scored.stdout


def test_panels_of_options_hold_what_there_is():
    commands = [Commands().get_command(None, name) for name in OWN if name != "critics"]
    reading = [c for c in commands if any(p.name == "fmt" for p in c.params)]
    names = {p.name for c in reading for p in c.params if p.param_type_name == "option"}
    held = {name for panel in OPTION_PANELS.values() for name in panel}
    assert held <= names, "an option of a panel is gone"
    compare = {p.name for p in Commands().get_command(None, "compare").params}
    assert compare <= {*held, "help_all"}, "an option of compare has no panel"
