"""The engine is killed, cut off and starved of disk: nothing is lost, nothing is doubled, no byte differs."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import momus
from momus.critic.registry import make_critics
from momus.engine.scoring import score_parts
from momus.errors import StoreError
from momus.rows.folder import RowFolder
from momus.rows.store import StoredText

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fork, SIGKILL and /proc")
WORDS = ["the", "of", "rain", "house", "hill", "town", "and", "river", "light"]


@pytest.fixture
def place(tmp_path):
    """A fitted critic, a text to fit on, and two texts of 15 and 5 parts."""
    rng = random.Random(0)
    for name, n in (("fit", 80), ("real", 300), ("a", 100)):
        lines = [json.dumps({"text": " ".join(rng.choices(WORDS, k=rng.randint(5, 200)))}) for _ in range(n)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    critic = make_critics(["unigram"])[0].fit(momus.read_corpus(tmp_path / "real.jsonl"))
    critic.save(tmp_path / "critic")
    return tmp_path


def killed(place, what, alone, drivers, workers, seed=0):
    script = Path(__file__).with_name("row_kills.py")
    command = [sys.executable, str(script), what, *map(str, (alone, drivers, workers, seed)), str(place)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    met = json.loads(done.stdout.splitlines()[-1])
    print(what, met)
    return met


@pytest.mark.slow
def test_a_killed_run_is_resumed_to_the_same_files(place):
    assert killed(place, "compare", alone=1, drivers=0, workers=0)["drivers"] == 1
    killed(place, "score", alone=1, drivers=0, workers=0)


@pytest.mark.slow
def test_random_kills_lose_and_double_nothing(place):
    """Fifteen drivers and ten workers, of comparisons and of scoring."""
    met = [
        killed(place, "score", alone=4, drivers=3, workers=4),
        killed(place, "compare", alone=4, drivers=4, workers=6),
    ]
    assert sum(m["drivers"] for m in met) >= 8, "most kills meet a command that runs"
    assert sum(m["workers"] for m in met) >= 5


@pytest.mark.parametrize("limit", [300, pytest.param(None, marks=pytest.mark.slow)])
def test_a_full_disk_stops_with_words_and_is_resumed(place, limit):
    """The system itself refuses writes beyond a size: that of the manifest, or one that some parts exceed."""
    import resource

    lines = (place / "real.jsonl").read_text().splitlines(keepends=True)
    (place / "few.jsonl").write_text("".join(lines[:100]))
    critics, texts, out = [place / "critic"], [place / "few.jsonl"], place / "out"
    score_parts(critics, texts, place / "whole", part_size=5)
    folder = RowFolder(place / "whole")
    sizes = [max(p.stat().st_size for p in (folder.rows(i), folder.record(i))) for i in range(20)]
    assert sizes[0] < max(sizes), "the first part fits, and a later one does not"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit or sizes[0], before[1]))
    try:
        with pytest.raises(StoreError, match="cannot be written"):
            score_parts(critics, texts, out, part_size=5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(out.rglob("*.part"))
    run = score_parts(critics, texts, out, part_size=5, resume=True)
    assert (run.kept > 0) == (limit is None)
    assert run.documents == 100
    assert files(out) == files(place / "whole")
    assert len(StoredText(out, "real")) == 100


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_two_runs_of_one_folder_exclude_each_other(place):
    with (
        RowFolder(place / "out").locked(),
        pytest.raises(StoreError, match="in use"),
    ):
        score_parts([place / "critic"], [place / "real.jsonl"], place / "out")
