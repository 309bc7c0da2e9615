"""Extras: what plug-ins need, what is installed, and how the lack of it is told."""

import inspect
import json
import re
import runpy
import subprocess
import sys
import textwrap
from importlib import import_module
from importlib.metadata import EntryPoint, metadata, packages_distributions
from pathlib import Path

import pytest
import typer
from typer.main import get_group

import momus
from momus.cli.app import OWN, Commands, _summaries
from momus.cli.critics import all_critics_view
from momus.critic.registry import critic_class
from momus.errors import MissingExtraError
from momus.plugins import (
    ADAPTERS,
    COMMANDS,
    CRITICS,
    LISTING,
    MODULES,
    TRACKERS,
    Plugin,
    extra_of,
    missing_packages,
    registered,
)
from momus.version import DISTRIBUTION

CRITIC = """
    import a_package_that_is_not_there
"""


@pytest.fixture
def greedy(tmp_path, monkeypatch):
    """A distribution with a critic that needs its extra ``big``."""
    info = tmp_path / "greedy-1.0.dist-info"
    info.mkdir()
    (tmp_path / "greedy_critic.py").write_text(textwrap.dedent(CRITIC), encoding="utf-8")
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: greedy\nVersion: 1.0\nRequires-Dist: numpy\n"
        "Requires-Dist: no-such-package>=3; extra == 'big'\nRequires-Dist: numpy; extra == 'big'\n"
        "Requires-Dist: other-package; python_version < '3' and extra == 'big'\n"
        "Requires-Dist: greedy[big]; extra == 'everything'\nProvides-Extra: big\nProvides-Extra: everything\n"
    )
    (info / "entry_points.txt").write_text(
        "[momus.critics]\ngreedy = greedy_critic:Greedy [big]\n[momus.commands]\nmuch = greedy_critic:Much [big]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


def test_what_is_missing_is_read_from_metadata(greedy):
    assert missing_packages("greedy", "big") == ["no-such-package"]
    assert missing_packages("greedy", "everything") == ["no-such-package"]
    assert missing_packages("greedy", "small") == []
    assert missing_packages("no-such-distribution", "big") == []


def test_a_critic_without_its_extra_is_listed_and_refused(greedy):
    with pytest.raises(MissingExtraError, match="critic 'greedy' needs no-such-package") as raised:
        critic_class("greedy")
    assert raised.value.requirement == "greedy[big]"
    assert raised.value.hint == "pip install 'greedy[big]'"
    columns = [list(column.cells) for column in all_critics_view().columns]
    row = next(row for row in zip(*columns, strict=True) if row[0] == "greedy")
    assert row[-1] == r"needs greedy\[big]"


def test_a_command_without_its_extra_is_refused(greedy):
    with pytest.raises(MissingExtraError, match="command 'much' needs no-such-package"):
        Commands().get_command(None, "much")


def test_packages_say_of_their_plugins_what_their_classes_say():
    """Lists read these files; importing the plug-ins must lead to the same rows."""
    script = runpy.run_path(str(Path(__file__).parents[1] / "data" / "make_listing.py"))
    for package in script["PACKAGES"]:
        kept = json.loads(script["file_of"](package).read_text(encoding="utf-8"))
        assert kept == script["listing"](package), "if this is meant: python tests/data/make_listing.py"


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"momus.critics": 3}', '{"momus.critics": {"mine": []}}', "[" * 100_000]
)
def test_a_listing_that_cannot_be_read_says_nothing(content, tmp_path, monkeypatch):
    package = tmp_path / "listing_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    mine = Plugin.of_entry(EntryPoint("mine", "listing_of_mine:Mine", CRITICS), CRITICS)
    (package / LISTING).write_text('{"momus.critics": {"mine": {"axis": "x"}}}')
    assert mine.listed() == {"axis": "x"}
    (package / LISTING).write_text(content)
    assert mine.listed() == {}


def test_listing_critics_loads_neither_torch_nor_scipy():
    code = (
        "import sys; sys.argv = ['momus', 'critics']\nfrom momus.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*{n.partition('.')[0] for n in sys.modules} & {'torch', 'scipy', 'pandas', 'sklearn', 'momus_critics'})"
    )
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "which topics occur together" in listed
    assert listed.splitlines()[-1] == "", listed


def test_one_warning_names_it(greedy, monkeypatch):
    monkeypatch.setattr("momus.engine.chosen.critic_names", lambda: ["greedy", "length"])
    texts = [f"some words {'and more ' * (i % 7)}" for i in range(40)]
    found = momus.compare(texts, {"g": texts[:20]}, seed=0, permutations=99, resamples=99)
    (warning,) = [w for w in found.warnings if "greedy" in w]
    assert warning == "Left out, since packages are not installed: 'greedy' (pip install 'greedy[big]')."
    assert {v.critic for v in found.verdicts} == {"length"}


def test_extras_of_entry_points_exist():
    extras = set(metadata(DISTRIBUTION).get_all("Provides-Extra"))
    groups = (CRITICS, ADAPTERS, TRACKERS, COMMANDS)
    shipped = [p[0] for group in groups for p in registered(group).values() if p[0].distribution == DISTRIBUTION]
    named = {e for plugin in shipped for e in plugin.extras}
    assert {"torch", "coref", "http", "kenlm"} <= named <= extras
    assert set(MODULES.values()) <= extras


def test_modules_belong_to_their_extras():
    """For all of them that are installed here; ``tokenizers`` comes with transformers."""
    requirements = metadata(DISTRIBUTION).get_all("Requires-Dist")
    pattern = re.compile(r"^([\w.-]+).*extra == ['\"]([\w-]+)")
    pairs = {(m[1].replace(".", "-").lower(), m[2]) for m in map(pattern.match, requirements) if m}
    installed = packages_distributions()
    for module in set(MODULES) & set(installed) - {"tokenizers"}:
        names = {d.replace(".", "-").lower() for d in installed[module]}
        assert any((name, MODULES[module]) in pairs for name in names), module


def test_other_modules_are_faults():
    assert extra_of(ModuleNotFoundError("No module named 'numpyy'", name="numpyy")) is None


SHIPPED = {name: f"momus.cli.{place}" for name, (place, _) in OWN.items()}
SHIPPED |= {name: p[0].value for name, p in registered(COMMANDS).items() if p[0].distribution == DISTRIBUTION}


@pytest.mark.parametrize("name", SHIPPED)
def test_first_lines_are_those_of_the_commands(name):
    module, _, attribute = SHIPPED[name].partition(":")
    target = getattr(import_module(module), attribute)
    text = get_group(target).help if isinstance(target, typer.Typer) else inspect.getdoc(target)
    assert text.splitlines()[0].replace(r"\[", "[") == dict(_summaries())[name]
    built = Commands().get_command(None, name)
    assert built.name == name
    assert not {p.name for p in built.params} & {"install_completion", "show_completion"}
