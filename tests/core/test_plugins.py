"""Plug-ins of others: real distributions on the path, sound and broken; none stops another."""

import itertools
import textwrap

import pytest

import momus
from momus.cli import main
from momus.cli.catalogue import all_critics_view
from momus.critic.registry import critic_class
from momus.errors import PluginError
from momus.plugins import CRITICS, critic_names, registered

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
    """Put a distribution with one critic on the path."""

    def add(distribution, name, code, attribute="Thing", folder="site"):
        site = tmp_path / folder
        module = f"{distribution}_{name}".replace("-", "_")
        info = site / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[momus.critics]\n{name} = {module}:{attribute}\n")
        monkeypatch.syspath_prepend(str(site))

    return add


@pytest.fixture
def listed(monkeypatch, capsys):
    """What ``momus critics`` prints, and its exit code."""

    def call():
        monkeypatch.setattr("sys.argv", ["momus", "critics"])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call


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
        assert any(f"'{kind}' was left out" in w for w in found.warnings), kind
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
    assert owner == "momus, their-package"
    assert "two plug-ins are called 'length'" in state
    assert row_of(output, "unigram")[-1] == "ready"
    with pytest.raises(PluginError, match="'momus'") as raised:
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
