"""Digests of the code of critics: which edits count for which critic, and which code cannot be recognised."""

import json
import linecache
import os
import shutil
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from momus.critic.registry import critic_class, named
from momus.critic.source import UNKNOWN, is_outdated, source_change, source_digest

CRITIC = """
import momus
{imports}

class Mine(momus.Critic[object]):
    name = "{name}"
    axis = "an axis"

    def fit(self, real):
        return self

    def project(self, batch):
        return []

    def log_prior(self, z):
        return []
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of a critic, with modules around it; its name is its own, since modules stay imported."""
    name = f"package_{tmp_path.name.replace('-', '_')}"
    imports = (
        f"from .inner import (  # a comment\n    first,\n)\nfrom . import second\nimport json, beside_{name}, numpy"
    )
    files = {
        f"{name}/__init__.py": "",
        f"{name}/critic.py": CRITIC.format(name=name.replace("_", "-"), imports=imports) + "WORDS = 'words.txt'\n",
        f"{name}/words.txt": "a b",
        f"{name}/notes.txt": "not named",
        f"{name}/second.py": "def later():\n    from .inner.lazy import x\n",
        f"{name}/other_critic.py": "",
        f"{name}/inner/__init__.py": "first = 1\n",
        f"{name}/inner/lazy.py": "x = 1\n",
        f"beside_{name}.py": "",
        "not_imported.py": "",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    for module in [m for m in sys.modules if m.partition(".")[0] in (name, f"beside_{name}")]:
        del sys.modules[module]


COUNTED = {
    "critic.py": True,
    "inner/lazy.py": True,
    "words.txt": True,
    "../beside_NAME.py": True,
    "notes.txt": False,
    "other_critic.py": True,
    "../not_imported.py": False,
}


QUICK = ("critic.py", "words.txt", "notes.txt")


@pytest.mark.parametrize(
    ("edited", "counts"),
    [pytest.param(*item, id=item[0], marks=[pytest.mark.slow] * (item[0] not in QUICK)) for item in COUNTED.items()],
)
def test_its_package_what_that_imports_and_names_count_and_nothing_else(package, tmp_path, edited, counts):
    critic = critic_class(named(f"{package}.critic:Mine"))()
    before = source_digest(critic)
    assert not before["critic"].startswith(UNKNOWN)
    time.sleep(0.02)  # the clock of files is coarser
    edited = edited.replace("NAME", package)
    (tmp_path / package / edited).write_text((tmp_path / package / edited).read_text() + "\n")
    assert source_digest(critic) == before, "it is that of the code in memory"
    again = critic_class(named(f"{package}.critic:Mine"))()
    if edited == "words.txt":  # read when the critic likes
        assert source_digest(again) == before
    else:
        assert (source_digest(again) != before) == counts
        assert source_digest(again)["core"] == before["core"]
    assert (in_another_process(f"{package}.critic:Mine", tmp_path) != before) == counts


def in_another_process(*critics, python=None):
    code = (
        "import sys, json; from momus.critic.registry import critic_class, named;"
        "from momus.critic.source import source_digest;"
        "print(json.dumps([source_digest(critic_class(named(c))()) for c in sys.argv[1:]]))"
    )
    *critics, place = critics
    places = (place, *(python or ()), os.environ.get("PYTHONPATH"))
    path = os.pathsep.join(str(p) for p in places if p)
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code, *critics], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found if len(found) > 1 else found[0]


def test_critics_that_ship_change_together_and_core_changes_all(tmp_path):
    critics = ["momus_critics.length:Length", "momus_critics.unigram:Unigram"]
    here = Path(__file__).parents[3]
    for name in ("core/momus", "critics/momus_critics"):
        shutil.copytree(here / name, tmp_path / Path(name).name, ignore=shutil.ignore_patterns("__pycache__"))
    before = in_another_process(*critics, tmp_path)
    with (tmp_path / "momus_critics" / "register" / "words.toml").open("a") as file:
        file.write("# a comment\n")
    after = in_another_process(*critics, tmp_path)
    assert all(a["core"] == b["core"] and a["critic"] != b["critic"] for a, b in zip(after, before, strict=True))
    with (tmp_path / "momus" / "text" / "words.py").open("a") as file:
        file.write("# a comment\n")
    last = in_another_process(*critics, tmp_path)
    assert all(a["core"] != b["core"] and a["critic"] == b["critic"] for a, b in zip(last, after, strict=True))
    assert source_change(after[1], last[1]) == "the code of Momus has changed since"


def test_an_adapter_that_a_parameter_names_counts():
    from momus_critics.sections import Sections

    plain, named_one = Sections(), Sections(posterior="transformers")
    assert source_digest(plain)["critic"] != source_digest(named_one)["critic"]
    assert source_digest(named_one) == source_digest(Sections(posterior="transformers"))


def test_a_file_is_the_same_in_another_folder(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(CRITIC.format(name="of-a-file", imports=""))
    one, two = (source_digest(critic_class(named(f"{tmp_path / f}/mine.py:Mine"))()) for f in ("one", "two"))
    assert one == two
    assert not one["critic"].startswith(UNKNOWN)


def typed(text, name):
    """Run a cell, as a notebook does."""
    space = {"__name__": "__main__"}
    lines = text.splitlines(keepends=True)
    if name != "<stdin>":
        linecache.cache[name] = (len(text), None, lines, name)
    exec(compile(text, name, "exec"), space)
    return space["Mine"]()


def test_a_critic_of_a_notebook_is_known_by_its_cell_and_one_without_text_is_not():
    text = CRITIC.format(name="of-a-cell", imports="")
    first, same, other = typed(text, "<cell 1>"), typed(text, "<cell 2>"), typed(text + "\n", "<cell 3>")
    assert source_digest(first) == source_digest(same) != source_digest(other)
    lost = typed(text, "<stdin>")
    assert source_digest(lost) == source_digest(lost), "it is the same code in this process"
    assert source_digest(lost)["critic"].startswith(UNKNOWN)
    assert "cannot be recognised" in source_change(source_digest(typed(text, "<stdin>")), source_digest(lost))


def test_code_that_is_older_than_its_file_is_not_recognised(package, tmp_path):
    critic = import_module(f"{package}.critic").Mine()
    time.sleep(0.02)
    (tmp_path / package / "second.py").write_text("changed = 1\n")
    assert is_outdated(type(critic))
    assert source_digest(critic)["critic"].startswith(UNKNOWN), "memory holds the code before"


def test_nothing_is_imported_and_little_time_passes():
    code = """
import sys, time
from momus.plugins import critic_names
from momus.critic.registry import critic_class
from momus.critic.source import source_digest
made = [critic_class(name)() for name in critic_names() if name in ("length", "sections", "layout", "register")]
before = set(sys.modules)
start = time.process_time()
for critic in made: source_digest(critic)
print(time.process_time() - start, sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, _, imported = done.stdout.strip().partition(" ")
    assert imported == "[]"
    assert float(seconds) < 1.0
