"""Plug-ins of others: real distributions on the path, sound and broken; none stops another."""

import itertools
import sys
import textwrap
from importlib.util import find_spec

import pytest

import momus
from momus.cli import main
from momus.cli.critics import all_critics_view
from momus.critic.registry import critic_class
from momus.errors import PluginError
from momus.plugins import COMMANDS, CRITICS, critic_names, registered

SOUND = """
    import numpy as np
    import momus

    class {cls}(momus.Critic[momus.Values]):
        '''Number of letters.'''
        name = "{name}"
        axis = "letters"

        def fit(self, real):
            self.mean_ = float(self.project(real).values.mean())
            return self

        def project(self, batch):
            return momus.Values(np.array([float(len(d.text)) for d in batch]))

        def log_prior(self, latents):
            return momus.LogPrior.of_vectors(-abs(latents.values - self.mean_) / 10 - np.log(20))
"""
BROKEN = {
    "import-error": ("import a_package_that_is_not_there", "Thing", "No module named 'a_package_that_is_not_there'"),
    "raises": ("raise RuntimeError('no licence key')", "Thing", "RuntimeError: no licence key"),
    "exits": ("import sys\nsys.exit('good bye')", "Thing", "SystemExit: good bye"),
    "syntax": ("def broken(:", "Thing", "SyntaxError"),
    "no-attribute": ("x = 1", "Thing", "has no attribute 'Thing'"),
    "wrong-type": ("class Thing:\n    name = 'wrong-type'", "Thing", "not a subclass of momus.Critic"),
    "function": ("def Thing():\n    pass", "Thing", "not a subclass of momus.Critic"),
    "other-name": (SOUND.format(cls="Thing", name="something"), "Thing", "calls itself 'something'"),
    "no-axis": (SOUND.format(cls="Thing", name="no-axis").replace('axis = "letters"', ""), "Thing", "does not say"),
    "malformed": ("x = 1", "Thing]]:", "cannot be imported"),
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a distribution with one plug-in, a critic by default, on the path."""

    def add(distribution, name, code, attribute="Thing", folder="site", group=CRITICS):
        site = tmp_path / folder
        module = f"{distribution}_{name}".replace("-", "_")
        info = site / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}:{attribute}\n")
        monkeypatch.syspath_prepend(str(site))

    return add


@pytest.fixture
def call(monkeypatch, capsys):
    """Run ``momus`` with these words: its exit code, and what it prints."""

    def run(*words):
        monkeypatch.setattr("sys.argv", ["momus", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


@pytest.fixture
def listed(call):
    """What ``momus critics`` prints, and its exit code."""
    return lambda: call("critics")


def row_of(output, name):
    """The cells of a critic's row, each joined where it goes over lines."""
    lines = [[cell.strip() for cell in x.split("│")] for x in output.splitlines() if "│" in x]
    (start,) = [i for i, cells in enumerate(lines) if cells[0] == name]
    rest = itertools.takewhile(lambda cells: not cells[0], lines[start + 1 :])
    return [" ".join(filter(None, parts)) for parts in zip(lines[start], *rest, strict=True)]


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_plugin_is_named_with_its_reason(kind, install, listed):
    code_text, attribute, reason = BROKEN[kind]
    install("their-package", kind, code_text, attribute)
    install("sound-package", "sound", SOUND.format(cls="Thing", name="sound"), folder="other")
    code, output = listed()
    assert code == 0, output
    _, _, owner, state = row_of(output, kind)
    assert owner == "their-package"
    assert state.startswith("broken: ")
    assert reason in state
    assert row_of(output, "sound")[-1] == "ready"
    assert row_of(output, "length")[-1] == "ready"
    assert "Traceback" not in output
    with pytest.raises(PluginError) as raised:
        critic_class(kind)
    assert raised.value.hint


def test_all_broken_plugins_stop_neither_each_other_nor_a_comparison(install, listed, monkeypatch):
    for i, (kind, (code_text, attribute, _)) in enumerate(BROKEN.items()):
        install(f"package-{i}", kind, code_text, attribute, folder=f"site-{i}")
    install("sound-package", "sound", SOUND.format(cls="Thing", name="sound"))
    code, output = listed()
    assert code == 0, output
    assert sum(row_of(output, kind)[-1].startswith("broken") for kind in BROKEN) == len(BROKEN)
    names = [*BROKEN, "length", "sound"]
    monkeypatch.setattr("momus.engine.chosen.critic_names", lambda: names)
    texts = [f"some words {'and more ' * (i % 7)}" for i in range(40)]
    found = momus.compare(texts, {"g": texts[:20]}, seed=0, permutations=99, resamples=99)
    assert {v.critic for v in found.verdicts} == {"length", "sound"}
    for kind in BROKEN:
        assert any(f"Left out: '{kind}' (" in w for w in found.warnings), kind
    with pytest.raises(PluginError):
        momus.compare(texts, {"g": texts[:20]}, critics=["length", "raises"])


def test_two_plugins_of_one_name_are_both_named(install, listed):
    for i in (1, 2):
        install(f"package-{i}", "twice", SOUND.format(cls="Thing", name="twice"), folder=f"site-{i}")
    code, output = listed()
    assert code == 0, output
    _, _, owner, state = row_of(output, "twice")
    assert owner == "package-1, package-2"
    assert "two plug-ins are called 'twice'" in state
    assert row_of(output, "length")[-1] == "ready"


def test_a_plugin_cannot_take_the_name_of_a_shipped_critic(install, listed):
    install("their-package", "length", SOUND.format(cls="Thing", name="length"))
    code, output = listed()
    assert code == 0, output
    _, _, owner, state = row_of(output, "length")
    assert owner == "momus-criticism, their-package"
    assert "two plug-ins are called 'length'" in state
    assert row_of(output, "unigram")[-1] == "ready"
    with pytest.raises(PluginError, match="'momus-criticism'") as raised:
        critic_class("length")
    assert "uninstall" in raised.value.hint


def test_a_sound_plugin_compares(install):
    install("sound-package", "sound", SOUND.format(cls="Thing", name="sound"))
    assert "sound" in critic_names()
    assert registered(CRITICS)["sound"][0].distribution == "sound-package"
    found = momus.compare(["a b c"] * 9 + ["d e"] * 9, {"g": ["a b c d e f g"] * 9}, critics=["sound"], seed=0)
    assert {v.critic for v in found.verdicts} == {"sound"}


def test_listing_imports_no_plugin(install):
    """Names are known without running anybody's code."""
    install("their-package", "raises", "raise RuntimeError")
    assert "raises" in critic_names()
    assert all_critics_view() is not None


GREET = """
    import typer

    def Thing(name: str, loud: bool = False) -> None:
        '''Greet somebody.

        Nothing else is done.
        '''
        print(name.upper() if loud else name)
"""
GROUP = """
    import typer

    Thing = typer.Typer(help="Count things\\n\\nof all kinds.")

    @Thing.command()
    def up(n: int) -> None:
        '''Count up.'''
        print(n + 1)

    @Thing.command()
    def down(n: int) -> None:
        '''Count down.'''
        print(n - 1)
"""
BROKEN_COMMANDS = {
    "import-error": (GREET.replace("typer", "a_package_that_is_not_there"), "Thing", "a_package_that_is_not_there"),
    "raises": (f"{GREET}\n    raise RuntimeError('no licence key')", "Thing", "RuntimeError: no licence key"),
    "exits": (f"{GREET}\n    raise SystemExit('good bye')", "Thing", "SystemExit: good bye"),
    "syntax": ("def broken(:", "Thing", "SyntaxError"),
    "no-attribute": ("x = 1", "Thing", "has no attribute 'Thing'"),
    "no-function": ("Thing = 3", "Thing", "is no command"),
    "odd-parameter": ("def Thing(x: int | str) -> None: 'Odd.'", "Thing", "is no command"),
    "malformed": ("x = 1", "Thing]]:", "cannot be imported"),
}


def help_line(output, name):
    """What ``momus --help`` says of a command, joined where it goes over lines."""
    rows = [line.strip("│ ") for line in output.splitlines() if line.startswith("│ ")]
    indented = [line[2:].rstrip("│ ") for line in output.splitlines() if line.startswith("│ ")]
    start = next(i for i, row in enumerate(rows) if row.split(" ")[0] == name)
    rest = itertools.takewhile(lambda line: line.startswith(" "), indented[start + 1 :])
    return " ".join([rows[start].removeprefix(name).strip(), *(line.strip() for line in rest)])


def test_commands_of_plugins_are_listed_without_import_and_called(install, call):
    install("their-package", "greet", GREET, group=COMMANDS)
    install("other-package", "count", GROUP, group=COMMANDS, folder="other")
    before = set(sys.modules)
    code, output = call("--help")
    assert code == 0
    assert help_line(output, "greet").startswith("From 'their-package' (")
    assert help_line(output, "count").startswith("From 'other-package' (")
    if find_spec("momus_people"):
        assert help_line(output, "study").endswith("a blinded study of a run, and read the answers. (momus-people)")
    assert not {n for n in set(sys.modules) - before if n.startswith(("their_", "other_", "momus_adapters"))}
    assert call("greet", "Ada", "--loud") == (0, "ADA\n")
    assert call("count", "up", "3") == (0, "4\n")
    code, output = call("greet", "--help")
    assert "Nothing else is done." in output


@pytest.mark.parametrize("kind", BROKEN_COMMANDS)
def test_a_broken_command_is_named_and_stops_no_other(kind, install, call):
    source, attribute, reason = BROKEN_COMMANDS[kind]
    install("their-package", kind, source, attribute, group=COMMANDS)
    install("sound-package", "greet", GREET, folder="other", group=COMMANDS)
    code, output = call("--help")
    assert code == 0, output
    assert "their-package" in help_line(output, kind)
    assert help_line(output, "greet").startswith("From 'sound-package' (")
    assert call("greet", "Ada") == (0, "Ada\n")
    code, output = call(kind, "--help")
    assert code == 6, output
    assert reason in output
    assert "'their-package'" in output
    assert "Traceback" not in output


def test_two_commands_of_one_name_are_an_error_when_called(install, call):
    for i in (1, 2):
        install(f"package-{i}", "twice", GREET, folder=f"site-{i}", group=COMMANDS)
    code, output = call("--help")
    assert code == 0
    line = help_line(output, "twice")
    assert "'package-1'" in line
    assert "'package-2'" in line
    code, output = call("twice", "Ada")
    assert code == 6
    assert "two plug-ins are called 'twice'" in output


def test_a_plugin_does_not_replace_a_command_of_momus(install, call):
    install("their-package", "show", GREET, group=COMMANDS)
    code, output = call("--help")
    assert code == 0
    assert output.count("Print the results of a finished run, or") == 1
    assert "'their-package'" in output
    code, output = call("show", "--help")
    assert code == 0
    assert "Nothing else is done." not in output


def test_an_unknown_command_is_compared_with_those_of_plugins(install, call):
    install("their-package", "greet", GREET, group=COMMANDS)
    code, output = call("gret")
    assert code == 2
    assert "Did you mean 'greet'" in output
