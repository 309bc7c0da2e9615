"""A run folder shows one whole run, whatever happens while it is written, and refuses to show a damaged one."""

import json
import os
import random
import shutil

import pytest

import momus
from momus.comparison import read_comparison
from momus.errors import MomusError, StoreError
from momus.runs.folder import RunFolder
from momus.runs.manifest import MANIFEST, NEXT, READY, check_manifest

QUICK = {"permutations": 99, "resamples": 99, "critics": ["length"]}


def texts(n, seed, mean):
    rng = random.Random(seed)
    words = ["the", "of", "rain", "house", "hill", "town", "and", "river", "light"]
    return [" ".join(rng.choices(words, k=rng.randint(mean - 5, mean + 5))) for _ in range(n)]


FIT, REAL = texts(30, 0, 20), texts(24, 1, 20)
VERSIONS = {"first": texts(24, 2, 20), "second": texts(24, 3, 28)}


def run(out, version, **options):
    return momus.compare(REAL, {"model": VERSIONS[version]}, fit=FIT, out=out, **{**QUICK, **options})


def shown(out):
    """What a reader sees of a run: its verdicts and outliers."""
    comparison = read_comparison(out)
    outliers = [[(o.id, o.value) for o in r.outliers] for r in comparison.results]
    return json.dumps([[v.row() for v in comparison.verdicts], outliers], sort_keys=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for version in VERSIONS:
        run(folder / version, version)
    return folder


class Killed(BaseException):
    """Ends the process at one point, as far as anything in it can tell."""


def kill_at(monkeypatch, point):
    """End the run at the ``point``-th change of a name in the file system; return the counter."""
    count = [0]

    def wrap(name):
        change = getattr(os, name)

        def killed(*args, **kwargs):
            count[0] += 1
            if count[0] == point:
                raise Killed
            return change(*args, **kwargs)

        monkeypatch.setattr(os, name, killed)

    for name in ("replace", "rename", "unlink"):
        wrap(name)
    return count


def overwritten(runs, tmp_path, monkeypatch, point):
    """Overwrite the first run by the second one, killed at a point; return the number of points that were passed."""
    out = tmp_path / "run"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(runs / "first", out)
    with monkeypatch.context() as patch:
        count = kill_at(patch, point)
        try:
            run(out, "second", overwrite=True)
        except Killed:
            pass
        finally:
            passed = count[0]
    RunFolder(out).lock.path.unlink(missing_ok=True)
    return out, passed


@pytest.mark.slow
def test_a_run_killed_at_any_point_shows_one_whole_run(runs, tmp_path, monkeypatch):
    whole = {shown(runs / version) for version in VERSIONS}
    _, points = overwritten(runs, tmp_path, monkeypatch, -1)
    assert points > 15
    seen = set()
    for point in range(1, points + 1):
        out, _ = overwritten(runs, tmp_path, monkeypatch, point)
        found = shown(out)
        assert found in whole, f"killed at point {point}"
        seen.add(found)
        assert not (out / READY).exists()
    assert seen == whole, "some points lie before the publication and some after"


@pytest.mark.parametrize("point", [5, 9])
def test_a_killed_run_is_resumed_to_the_same_result(runs, tmp_path, monkeypatch, point):
    out, _ = overwritten(runs, tmp_path, monkeypatch, point)
    assert (out / NEXT).exists()
    run(out, "second", resume=True)
    assert shown(out) == shown(runs / "second")
    assert not (out / NEXT).exists()


def test_files_of_the_earlier_run_do_not_stay(runs, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(runs / "first", out)
    (out / "notes.txt").write_text("mine")
    momus.compare(
        REAL, {"model": VERSIONS["second"]}, fit=FIT, out=out, overwrite=True, **{**QUICK, "critics": ["length"]}
    )
    assert sorted(p.name for p in (out / "critics").iterdir()) == ["length"]
    assert (out / "notes.txt").read_text() == "mine", "files of the user stay"
    check_manifest(out)


def corrupted(path, kind, rng):
    content = bytearray(path.read_bytes())
    if kind == "cut":
        content = content[: rng.randrange(len(content))]
    elif kind == "flip":
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif kind == "line":
        content = b"".join(bytes(content).splitlines(keepends=True)[:-1])
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("kind", ["cut", "flip", "line", "missing", "swapped"])
def test_a_damaged_file_is_refused(runs, tmp_path, kind):
    rng = random.Random(kind)
    names = [*json.loads((runs / "first" / MANIFEST).read_text())["files"], MANIFEST]
    for name in names:
        out = tmp_path / "run"
        shutil.copytree(runs / "first", out)
        before = (out / name).read_bytes()
        if kind == "missing":
            (out / name).unlink()
        elif kind == "swapped":
            shutil.copy(runs / "second" / name, out / name)
        else:
            corrupted(out / name, kind, rng)
        same = (out / name).exists() and (out / name).read_bytes() == before
        if not same and not (name == MANIFEST and _equal_content(out / name, before)):
            with pytest.raises(StoreError) as error:
                read_comparison(out)
            assert error.value.hint, name
        shutil.rmtree(out)


def _equal_content(path, before):
    """Whether a manifest says the same, though its white space or number of rows may differ."""
    try:
        one, other = json.loads(path.read_bytes()), json.loads(before)
    except (OSError, ValueError):
        return False
    checked = [{k: (e.get("bytes"), e.get("sha256")) for k, e in c.get("files", {}).items()} for c in (one, other)]
    return checked[0] == checked[1] and one.get("format") == other["format"]


@pytest.mark.slow
def test_a_thousand_corruptions_show_nothing_wrong(runs, tmp_path):
    rng, names = random.Random(0), [*json.loads((runs / "first" / MANIFEST).read_text())["files"], MANIFEST]
    right, refused = shown(runs / "first"), 0
    for _ in range(1000):
        out = tmp_path / "run"
        shutil.copytree(runs / "first", out)
        corrupted(out / rng.choice(names), rng.choice(["cut", "flip", "line"]), rng)
        try:
            assert shown(out) == right
        except MomusError:
            refused += 1
        shutil.rmtree(out)
    assert refused > 900


def test_a_report_may_be_edited_or_missing(runs, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(runs / "first", out)
    (out / "report.html").write_text("edited")
    assert shown(out) == shown(runs / "first")
    (out / "report.html").unlink()
    assert shown(out) == shown(runs / "first")


def test_a_run_of_another_format_is_refused_with_words(runs, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(runs / "first", out)
    manifest = json.loads((out / MANIFEST).read_text())
    (out / MANIFEST).write_text(json.dumps({**manifest, "format": 99}))
    with pytest.raises(StoreError, match="format 99"):
        read_comparison(out)


@pytest.mark.parametrize("name", ["../elsewhere", "/etc/passwd", ""])
def test_a_manifest_cannot_name_files_elsewhere(runs, tmp_path, name):
    out = tmp_path / "run"
    shutil.copytree(runs / "first", out)
    manifest = json.loads((out / MANIFEST).read_text())
    manifest["files"][name] = {"bytes": 0, "sha256": ""}
    (out / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="no path inside the folder"):
        read_comparison(out)
