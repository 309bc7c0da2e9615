"""Extras: what plug-ins need, what is installed, and how the lack of it is told."""

import inspect
import re
import subprocess
import sys
import textwrap
from importlib import import_module
from importlib.metadata import metadata, packages_distributions

import pytest
import typer
from typer.main import get_group

import momus
from momus.cli.app import OWN, Commands, _summaries
from momus.cli.critics import _axis_and_state, _imported_axis_and_state, all_critics_view
from momus.cli.declared import Declared, declared
from momus.critic.registry import critic_class
from momus.errors import MissingExtraError
from momus.plugins import ADAPTERS, COMMANDS, CRITICS, MODULES, TRACKERS, extra_of, missing_packages, registered
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


def test_the_source_says_of_each_critic_what_its_class_says():
    """The list reads sources; importing them must lead to the same rows."""
    adapters = registered(ADAPTERS)
    for name, plugins in registered(CRITICS).items():
        if plugins[0].distribution == DISTRIBUTION:
            assert declared(plugins[0].value) is not None, name
            imported = _imported_axis_and_state(name, plugins[0], adapters)
            if not imported[1].startswith(f"needs {DISTRIBUTION}["):
                assert _axis_and_state(name, plugins, adapters) == imported


def test_axis_and_defaults_are_found_through_imports_and_bases(tmp_path, monkeypatch):
    package = tmp_path / "axes_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("from axes_of_mine.inner import Mine as Yours\n1 / 0\n")
    (package / "inner.py").write_text(
        "class Base(Generic[Z]):\n    axis: str = 'mine'\n    def __init__(self, a, b=1, *, c='x', d=None): ...\n"
        "class Mine(Base[int]):\n    name = 'mine'\nclass Bare: ...\nclass Loop(Loop): ...\n"
    )
    (package / "broken.py").write_text("class (")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert declared("axes_of_mine:Yours") == Declared("mine", {"c": "x"})
    for unknown in ("axes_of_mine.inner:Bare", "axes_of_mine.inner:Loop", "axes_of_mine.broken:X", "no_module:X"):
        assert declared(unknown) is None


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
    assert {"torch", "pyro", "coref", "http", "kenlm"} <= named <= extras
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
