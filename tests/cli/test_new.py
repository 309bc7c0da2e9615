"""``momus critics new``: the package that it writes works at once, and is found once it is installed."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from momus.cli import main
from momus.cli.new import LONGEST, Kind, write_critic

LONG = "x" * 20 + "-" + "y" * (LONGEST - 21)


def execute(*arguments, folder):
    """Run a Python module in a process of its own; returns its exit code and all output."""
    environment = {**os.environ, "COLUMNS": "150", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def momus(*arguments, folder, path=None):
    """Run ``momus`` where the packages of a folder are installed as well."""
    more = "" if path is None else f"import site; site.addsitedir({str(path)!r}); "
    return execute("-c", more + "from momus.cli import main; main()", *arguments, folder=folder)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new")
    code, output = momus("critics", "new", "mine", folder=folder)
    assert code == 0, output
    return folder / "mine"


@pytest.fixture(scope="module")
def site(package, tmp_path_factory):
    """A throw-away folder for packages, with the package installed for editing."""
    site = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    code, output = execute("-m", "pip", "install", *options, "--target", site, "-e", package, folder=package)
    assert code == 0, output
    return site


def test_it_writes_a_package(package):
    found = sorted(str(p.relative_to(package)) for p in package.rglob("*") if p.is_file() and p.suffix != ".pyc")
    expected = [
        "README.md",
        "momus_mine/__init__.py",
        "momus_mine/py.typed",
        "pyproject.toml",
        "tests/test_critic.py",
    ]
    assert [f for f in found if "cache" not in f] == expected
    assert "{{" not in "".join((package / f).read_text() for f in expected)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_whole(kind, tmp_path):
    written = write_critic("mine", tmp_path / "mine", kind)
    assert sorted(p.name for p in written) == [
        "README.md",
        "__init__.py",
        "py.typed",
        "pyproject.toml",
        "test_critic.py",
    ]
    for path in written:
        text = path.read_text()
        assert "{{" not in text
        assert "{%" not in text
        if path.suffix == ".py":
            compile(text, str(path), "exec")
    code, output = execute("-m", "ruff", "check", "--no-cache", ".", folder=tmp_path / "mine")
    assert code == 0, output
    code, output = execute("-m", "ruff", "format", "--no-cache", "--check", ".", folder=tmp_path / "mine")
    assert code == 0, output


@pytest.mark.slow
@pytest.mark.parametrize("kind", Kind)
def test_its_own_tests_pass(kind, tmp_path):
    write_critic("mine", tmp_path, kind)
    code, output = execute("-m", "pytest", "-p", "no:cacheprovider", folder=tmp_path)
    assert code == 0, output
    assert "passed" in output
    assert "failed" not in output


@pytest.mark.slow
def test_its_tests_can_fail(package, tmp_path):
    """A critic that depends on the batch is caught by the tests that were written beside it."""
    folder = tmp_path / "broken"
    write_critic("broken", folder)
    source = folder / "momus_broken" / "__init__.py"
    text = source.read_text()
    wrong = text.replace("words / max(sentences, 1) for", "words / max(sentences, 1) + len(batch) for")
    assert wrong != text
    source.write_text(wrong)
    code, output = execute("-m", "pytest", "-p", "no:cacheprovider", folder=folder)
    assert code == 1
    assert "batch_size_changes_nothing" in output


def changed(name, folder, *replacements):
    """Write the package, make changes to its critic, and run its own tests."""
    write_critic(name, folder)
    source = folder / f"momus_{name}" / "__init__.py"
    text = source.read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    source.write_text(text)
    return execute("-m", "pytest", "-p", "no:cacheprovider", "-k", "not conformance", folder=folder)


@pytest.mark.slow
def test_its_tests_ask_for_examples_of_another_question(tmp_path):
    """A critic that asks something else does not pass by tests of the length of sentences."""
    asks = ("Are sentences as long as in real text?", "Do people swear?")
    code, output = changed("swears", tmp_path / "swears", asks)
    assert code == 1
    assert "replace the examples above" in output
    assert "1 failed, 3 passed" in output


@pytest.mark.slow
def test_its_tests_find_a_critic_that_does_not_see_what_it_claims(tmp_path):
    sees = ("words / max(sentences, 1) for", "words / max(words, 1) for")
    code, output = changed("blind", tmp_path / "blind", sees)
    assert code == 1
    for name in ("test_known_values", "test_wrong_text_is_told_apart", "test_real_text_is_not_told_apart"):
        assert f"FAILED tests/test_critic.py::{name}" in output
    assert "nothing to compare" in output


@pytest.mark.slow
@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("name", ["mine", "a", "none", LONG])
def test_ruff_and_mypy_are_content(name, kind, tmp_path):
    write_critic(name, tmp_path / name, kind)
    for command in (["ruff", "check", "--no-cache", "."], ["ruff", "format", "--no-cache", "--check", "."]):
        code, output = execute("-m", *command, folder=tmp_path / name)
        assert code == 0, output
    if name == "mine":  # ten seconds without a cache; what differs between names is no matter of types
        code, output = execute("-m", "mypy", folder=tmp_path / name)
        assert code == 0, output


@pytest.mark.slow
def test_check(package):
    code, output = momus("critics", "check", "momus_mine:Mine", folder=package)
    assert code == 0, output
    assert "0 failed" in output


@pytest.mark.slow
def test_once_installed_it_is_listed_and_compares(package, site, tmp_path):
    code, output = momus("critics", folder=tmp_path, path=site)
    assert code == 0, output
    line = next(x for x in output.splitlines() if x.startswith("mine "))
    assert "momus-mine" in line
    assert line.rstrip().endswith("ready")
    code, output = momus("critics", "mine", folder=tmp_path, path=site)
    assert code == 0, output
    assert "least_sd = 0.01" in output
    short = "A few words. And a few more. "
    long = "This is a sentence that goes on and on until it ends after some twenty words or so have been said. "
    (tmp_path / "real.txt").write_text("\n".join(short * (2 + i % 4) + long * (i % 3) for i in range(80)))
    (tmp_path / "made.txt").write_text("\n".join(long * (1 + i % 4) for i in range(40)))
    few = ["--permutations", "999", "--resamples", "199"]
    files = ["--real", "real.txt", "--generated", "made=made.txt", "--format", "lines", "--out", "run"]
    code, output = momus("compare", "--critics", "mine", *files, *few, folder=tmp_path, path=site)
    assert code == 0, output
    assert "length of sentences" in output
    assert "beyond human variation" in output
    assert (tmp_path / "run" / "critics" / "mine" / "critic.json").exists()
    code, output = momus("critics", "new", "mine", folder=tmp_path, path=site)
    assert code == 2
    assert "from 'momus-mine'" in output


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["momus", "critics", "new", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call


@pytest.mark.parametrize(
    ("name", "fragments"),
    [
        ("MyCritic", ["lower case", "'my-critic'"]),
        ("my_critic", ["'my-critic'"]),
        ("two words", ["'two-words'"]),
        ("-", ["'my-critic'"]),
        ("a--b", ["'a-b'"]),
        ("9lives", ["begin with a letter"]),
        ("../evil", ["'evil'"]),
        ("naïve", ["lower case"]),
        ("", ["cannot be the name"]),
        ("x" * 41, ["too long", "40"]),
        ("length", ["'length' already", "'momus-criticism'"]),
        ("critics", ["'momus_critics' is installed already"]),
    ],
)
def test_bad_names_are_refused(name, fragments, run, tmp_path):
    code, output = run("--", name)
    assert code == 2, output
    assert "→" in output
    assert "Traceback" not in output
    for fragment in fragments:
        assert fragment in output
    assert not list(tmp_path.iterdir())


def test_folders_in_use_are_refused(run, tmp_path):
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "thesis.tex").write_text("x")
    code, output = run("mine", "--out", "used")
    assert (code, "not empty" in output) == (2, True)
    assert [p.name for p in (tmp_path / "used").iterdir()] == ["thesis.tex"]
    (tmp_path / "file").write_text("x")
    code, output = run("mine", "--out", "file")
    assert (code, "is a file" in output) == (2, True)
    code, output = run("mine", "--out", "file/inside")
    assert (code, "cannot be written" in output) == (2, True)
    (tmp_path / "empty").mkdir()
    assert run("mine", "--out", "empty")[0] == 0
    assert Path("empty/pyproject.toml").exists()


def test_templates_go_with_the_wheel(tmp_path):
    root = Path(__file__).parents[2]
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    code, output = execute("-m", "pip", "wheel", *options, "--wheel-dir", tmp_path, root, folder=tmp_path)
    assert code == 0, output
    (wheel,) = tmp_path.glob("momus_criticism-*.whl")
    held = [n for n in zipfile.ZipFile(wheel).namelist() if n.startswith("momus/scaffold/")]
    assert sorted(held) == sorted(
        str(p.relative_to(root / "core")) for p in (root / "core" / "momus" / "scaffold").rglob("*.j2")
    )
    assert len(held) == 15
