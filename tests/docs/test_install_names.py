"""One way to install: every page and every message names the same distribution."""

import re
from pathlib import Path

import pytest

from momus.version import DISTRIBUTION, __version__, extra, install_command

ROOT = Path(__file__).parents[2]
ROOMS = ("README.md", "docs", "examples", "core", "critics", "adapters", "benchmarks", "tests")
PACKAGE = r"examples/(?:generating|people|preparing|training)"
PLACE = rf"(?:-e|--editable) (?:\.|{PACKAGE})(?![\w/\[])|-e '?(?:\.|{PACKAGE})\[[\w,]+\]"
WHEEL = r"(?:dist|wheels)/momus_criticism-"
RIGHT = re.compile(rf"pip install (?:{PLACE}|'momus-criticism\[[\w,]+\]'|{WHEEL})")


def pages():
    files = [ROOT / ROOMS[0], *(f for room in ROOMS[1:] for f in (ROOT / room).rglob("*"))]
    return [f for f in files if f.suffix in {".md", ".py", ".toml", ".ipynb", ".yml"} and f != Path(__file__)]


def wrong_names(text):
    """Mentions of Momus as a distribution that do not follow the one way."""
    commands = [m for m in re.finditer(r"pip install [^\n]*", text) if re.search(r"momus|install (-e )?'?\.", m[0])]
    return [m[0] for m in commands if not RIGHT.match(m[0])] + re.findall(r"(?<![-\w])momus\[[a-z,]+\]", text)


def test_every_page_and_message_names_the_one_distribution():
    wrong = {str(f.relative_to(ROOT)): wrong_names(f.read_text(encoding="utf-8")) for f in pages()}
    assert {file: names for file, names in wrong.items() if names} == {}


@pytest.mark.parametrize(
    "text",
    ["pip install momus", "pip install momus-criticism", "pip install 'momus[torch]'", "momus[ray]", "pip install ."],
)
def test_another_name_is_found(text):
    assert wrong_names(text)


def test_the_project_file_has_the_name_and_asks_for_its_own_extras():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'name = "{DISTRIBUTION}"' in project
    assert "momus[" not in project
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_hints_know_a_checkout_from_a_wheel(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert install_command(extra("torch")) == "pip install -e '.[torch]'"
    monkeypatch.chdir(tmp_path)
    assert install_command(extra("torch")) == f"pip install -e '{ROOT}[torch]'"
    monkeypatch.setattr("momus.version.__file__", str(tmp_path / "site-packages" / "momus" / "version.py"))
    assert install_command(extra("torch", "pyro")) == "pip install 'momus-criticism[torch,pyro]'"
