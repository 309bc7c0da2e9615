"""``import momus`` and ``momus --help`` are quick, and load nothing heavy."""

import subprocess
import sys
import time

import pytest

HEAVY = ("torch", "transformers", "spacy", "pyro", "gensim", "sklearn", "matplotlib", "pandas", "scipy")
IMPORT_SECONDS, HELP_SECONDS = 0.4, 0.6
TRIES = 5


def fastest(code, *arguments):
    """Seconds of the fastest of some runs: other programs can only slow one down."""
    taken = []
    for _ in range(TRIES):
        begun = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
        taken.append(time.perf_counter() - begun)
        assert done.returncode == 0, done.stderr
    return min(taken), done.stdout


def loaded(code):
    done = subprocess.run(
        [sys.executable, "-c", code + "\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_import_is_quick():
    seconds, _ = fastest("import momus")
    empty, _ = fastest("pass")
    assert seconds - empty < IMPORT_SECONDS


def test_help_is_quick():
    seconds, printed = fastest("from momus.cli import main; main()", "--help")
    assert "compare" in printed
    assert seconds < HELP_SECONDS


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
