"""``import momus`` and ``momus --help`` load few modules, and nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "spacy", "pyro", "gensim", "sklearn", "matplotlib", "pandas", "scipy")
HELP = "import sys; sys.argv = ['momus', '--help']\nfrom momus.cli import main\ntry: main()\nexcept SystemExit: pass"
MOST = {"import momus": 40, HELP: 360}
"""Modules loaded beyond those of an empty interpreter, at most (31 and 300 when this was set)."""


def loaded(code):
    done = subprocess.run(
        [sys.executable, "-c", code + "\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def count(code):
    done = subprocess.run(
        [sys.executable, "-c", code + "\nimport sys; print(len(sys.modules))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("code", MOST)
def test_few_modules_are_loaded(code):
    assert 0 < count(code) - count("pass") <= MOST[code]


@pytest.mark.parametrize(
    "code",
    ["import momus", "import momus.cli.app", "import momus.plugins\nassert momus.plugins.critic_names()"],
    ids=["package", "commands", "plug-ins"],
)
def test_nothing_heavy_is_loaded(code):
    assert not loaded(code) & set(HEAVY)


def test_reading_and_contract_need_no_framework():
    found = loaded("import momus\nmomus.Critic, momus.Corpus, momus.read_corpus, momus.Values, momus.compare")
    assert not found & {"torch", "transformers", "spacy", "pyro", "gensim"}
