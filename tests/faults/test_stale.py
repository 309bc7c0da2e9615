"""What is kept is used only for the text that it was made of: contents decide, not names, sizes, times or places."""

import json
import os
import random
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import momus
from momus.critic.registry import make_critics
from momus.engine.scoring import OtherPlanError, score_parts
from momus.errors import ReadingError, StoreError
from momus.outliers.filtering import filter_text
from momus.reading import ReadingOptions
from momus.reading.parts import cut, list_inputs, read_part
from momus.rows.store import StoredText

WORDS = ["rain", "town", "hill", "wood", "lake", "rock"]


def records(n, seed, low=5, high=40):
    rng = random.Random(seed)
    return [{"id": f"d{i}", "text": " ".join(rng.choices(WORDS, k=rng.randint(low, high)))} for i in range(n)]


def write(path, rows):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=10, compression="none", write_statistics=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def replace_text(path, number, **changes):
    """Another text of the same size and time under the same name, as archives and ``cp -p`` leave it."""
    before = path.stat()
    data = path.read_bytes()
    start = data.index(b"rain", int(len(data) * number))
    path.write_bytes(data[:start] + b"lake" + data[start + 4 :])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    return path


@pytest.fixture(scope="module")
def critics(tmp_path_factory):
    folder = tmp_path_factory.mktemp("critics")
    corpus = momus.read_corpus(write(folder / "fit.jsonl", records(60, 9)))
    found = []
    for name in ("length", "unigram"):
        (critic,) = make_critics([name])
        critic.fit(corpus).save(folder / name)
        found.append(folder / name)
    return found


def _scored(run):
    return sum(d.documents for d in run.done[run.kept :])


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".json"])
@pytest.mark.parametrize("at", [0.1, 0.8])
def test_another_text_of_the_same_size_and_time_is_noticed(suffix, at, critics, tmp_path):
    rows = records(40, 1)
    path = write(tmp_path / f"a{suffix}", rows)
    if suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    score_parts(critics, [path], tmp_path / "rows", part_size=10)
    os.utime(path)  # another time, and the same text
    assert not _scored(score_parts(critics, [path], tmp_path / "rows", resume=True))
    replace_text(path, at)
    with pytest.raises(OtherPlanError):
        score_parts(critics, [path], tmp_path / "rows", resume=True)
    files, _ = list_inputs([str(path)], ReadingOptions())
    file, parts = cut(files[0], 10, 1 << 20, "utf-8")
    replace_text(path, at)
    with pytest.raises(ReadingError, match="changed while it was read"):
        [read_part(file, part, ReadingOptions()) for part in parts]


def test_a_repeated_filter_reads_the_text_that_is_there(critics, tmp_path):
    real, new = write(tmp_path / "real.jsonl", records(60, 2)), write(tmp_path / "new.jsonl", records(30, 3))
    out = [tmp_path / "keep.jsonl", tmp_path / "drop.jsonl", tmp_path / "scores"]
    filter_text([new], critics, [real], *out)
    replace_text(new, 0.5)
    for path in out[:2]:
        path.unlink()
    with pytest.raises(StoreError, match="the content of"):
        filter_text([new], critics, [real], *out)
    filter_text([new], critics, [real], *out, overwrite=True)
    kept = [line for path in out[:2] for line in path.read_text(encoding="utf-8").splitlines()]
    assert sorted(kept) == sorted(new.read_text(encoding="utf-8").splitlines())


def test_parts_that_were_exchanged_with_their_records_are_noticed(critics, tmp_path):
    path = write(tmp_path / "a.jsonl", records(30, 4))
    rows = tmp_path / "rows"
    score_parts(critics, [path], rows, part_size=10)
    assert len(StoredText(rows, "a")) == 30
    for pattern in ("parts/{}.parquet", "records/{}.json"):
        one, other = (rows / pattern.format(n) for n in ("00000", "00001"))
        shutil.move(one, tmp_path / "x")
        shutil.move(other, one)
        shutil.move(tmp_path / "x", other)
    with pytest.raises(StoreError, match="2 of 3 parts are missing or damaged"):
        StoredText(rows, "a")
    assert _scored(score_parts(critics, [path], rows, resume=True)) == 20
    assert len(StoredText(rows, "a")) == 30


def test_a_resumed_comparison_scores_the_text_that_is_there(tmp_path):
    paths = {
        name: write(tmp_path / f"{name}.jsonl", records(30, seed)) for seed, name in enumerate(("fit", "real", "g"))
    }
    options = {"critics": ["unigram"], "permutations": 99, "resamples": 0, "fit": paths["fit"]}

    def values(out, **more):
        found = momus.compare(paths["real"], {"g": paths["g"]}, out=tmp_path / out, **options, **more)
        return [(v.generated_value, v.p) for v in found.verdicts]

    before = values("run")
    replace_text(paths["g"], 0.5)
    assert values("run", resume=True) == values("fresh") != before


@pytest.mark.parametrize("kind", ["ids", "groups", "prompts", "none"])
def test_comparisons_of_stored_rows_do_not_depend_on_the_order_of_documents(kind, critics, tmp_path):
    found = []
    for turn in ("forth", "back"):
        folders = []
        for seed, name in enumerate(("real", "g")):
            rows = records(40, seed, high=40 - 6 * seed)
            for i, row in enumerate(rows):
                row |= {"groups": {"group_id": f"a{i % 13}"}, "prompts": {"prompt_id": f"p{i % 20}"}}.get(kind, {})
                if kind == "none":
                    del row["id"]
            path = write(tmp_path / f"{turn}-{name}.jsonl", rows if turn == "forth" else rows[::-1])
            folders.append(tmp_path / f"{turn}-{name}")
            score_parts(critics, [path], folders[-1], part_size=7 if turn == "forth" else 11)
        run = momus.compare(folders[0], {"g": folders[1]}, permutations=99, resamples=29)
        keys = ("p", "p_adjusted", "low", "high", "effect")
        found.append({(v.critic, v.statistic): [getattr(v, k) or 0.0 for k in keys] for v in run.verdicts})
    for key, values in found[0].items():
        assert values == pytest.approx(found[1][key], rel=1e-9), key
