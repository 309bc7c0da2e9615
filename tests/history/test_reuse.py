"""A run that takes its critics from another gives the verdicts of a fresh one, and fits nothing."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.history.conftest import corpus

import momus
from momus import Corpus
from momus.engine.reuse import Reuse
from momus.errors import StoreError, UsageError
from momus.runs.kept import read_kept_texts, read_scores, write_scores
from momus.runs.manifest import write_manifest

CRITICS = ["length", "unigram", "sections", "type-token", "heaps"]


def seconds(run):
    return json.loads((run / "run.json").read_text())["seconds"]


@pytest.fixture(scope="module")
def sectioned(make_sectioned):
    return {
        name: make_sectioned(n, seed, name=name) for name, n, seed in (("fit", 60, 1), ("real", 40, 2), ("g", 40, 3))
    }


@pytest.fixture(scope="module")
def first(sectioned, tmp_path_factory):
    folder = tmp_path_factory.mktemp("first") / "run"
    other = Corpus.from_texts(["some other text of a few words"] * 12, name="h")
    momus.compare(sectioned["real"], {"h": other}, fit=sectioned["fit"], critics=CRITICS, out=folder, permutations=99)
    return folder


@pytest.mark.slow
def test_verdicts_equal_those_of_a_fresh_run_and_nothing_is_fitted(sectioned, first, tmp_path):
    made = {}
    for name, source in (("fresh", None), ("reused", first)):
        made[name] = momus.compare(
            sectioned["real"],
            {"g": sectioned["g"]},
            fit=sectioned["fit"],
            critics=CRITICS,
            out=tmp_path / name,
            permutations=99,
            reuse=source,
        )
    assert [v.row() for v in made["fresh"].verdicts] == [v.row() for v in made["reused"].verdicts]
    assert len({v.critic for v in made["reused"].verdicts}) == len(CRITICS)
    assert "fitting" in seconds(tmp_path / "fresh")
    assert "fitting" not in seconds(tmp_path / "reused")
    assert "loading" in seconds(tmp_path / "reused")
    assert not [w for w in made["reused"].warnings if "fitted again" in w]
    for fresh, reused in zip(made["fresh"].results, made["reused"].results, strict=True):
        assert fresh.to_json() == reused.to_json(), "evidence, outliers and notes too"


def test_the_real_text_is_scored_once(sectioned, first, monkeypatch):
    from momus_critics.length import Length

    scored = []
    inner = Length.score
    monkeypatch.setattr(Length, "score", lambda self, c, **o: scored.append((c.name, len(c))) or inner(self, c, **o))
    options = {"fit": sectioned["fit"], "critics": ["length"], "permutations": 99}
    momus.compare(sectioned["real"], {"g": sectioned["g"]}, reuse=first, **options)
    assert not [n for name, n in scored if name == "real"]
    scored.clear()
    shuffled = sectioned["real"].take(np.arange(len(sectioned["real"]))[::-1])
    momus.compare(shuffled, {"g": sectioned["g"]}, reuse=first, **options)
    assert not [n for name, n in scored if name == "real"], "texts are compared in an order of their content"
    fewer = sectioned["real"].take(np.arange(39))
    momus.compare(fewer, {"g": sectioned["g"]}, reuse=first, **options)
    assert ("real", 39) in scored


def test_what_differs_is_fitted_again_and_named(runs):
    from momus_critics.length import Length

    found = momus.compare(
        runs.real,
        {"g": corpus("g", 60, 9)},
        fit=runs.fit,
        critics=[Length(bins=7), "heaps"],
        permutations=99,
        reuse=runs.folder / "near",
    )
    said = " ".join(found.warnings)
    assert "'length' was fitted again: its parameters differ from" in said
    assert "in bins" in said
    assert "'heaps' was fitted again" in said
    assert "has no such critic" in said
    found = momus.compare(
        runs.real,
        {"g": corpus("g", 60, 9)},
        fit=corpus("fit", 80, 77),
        critics=["length"],
        permutations=99,
        reuse=runs.folder / "near",
    )
    assert any("fitted it on another text" in w for w in found.warnings)


def test_without_fit_there_is_an_error_that_says_so(runs):
    with pytest.raises(UsageError, match="fitted on a separate text") as error:
        momus.compare(runs.real, {"g": runs.real}, reuse=runs.folder / "near")
    assert "fit=" in error.value.hint


def test_kept_texts_are_those_of_the_corpora(runs):
    kept = read_kept_texts(runs.folder / "near")
    assert kept.prompts["real"] == runs.real.sorted().prompts
    assert kept.ids["model"] == corpus("g", 60, 3).sorted().ids
    assert (kept.hashes["real"] == runs.real.sorted().hashes).all()
    with pytest.raises(StoreError, match="not readable"):
        read_kept_texts(runs.folder)


def test_scores_come_back_as_they_were(sectioned, tmp_path):
    from momus_critics.sections import Sections
    from momus_critics.unigram import Unigram

    for critic in (Unigram(), Sections(min_count=2)):
        scores = critic.fit(sectioned["fit"]).score(sectioned["real"])
        assert write_scores(scores, sectioned["real"], tmp_path)
        again = read_scores(tmp_path, sectioned["real"])
        assert list(again.ids) == list(scores.ids)
        assert np.array_equal(again.nll, scores.nll, equal_nan=True)
        for key, rows in scores.test_rows().items():
            other = again.test_rows()[key]
            if hasattr(rows, "matrix"):
                assert list(rows.labels) == list(other.labels)
                rows, other = rows.matrix.toarray(), other.matrix.toarray()
            assert np.array_equal(rows, other)
        assert again.summary.counts == scores.summary.counts
        assert all(np.array_equal(again.summary.arrays[k], v) for k, v in scores.summary.arrays.items())


@pytest.mark.parametrize("damage", ["cut", "another table", "no text"])
def test_damaged_scores_are_an_error_and_scored_again(runs, tmp_path, damage):
    run = tmp_path / "run"
    shutil.copytree(runs.folder / "near", run)
    path = run / "critics" / "length" / "real.parquet"
    if damage == "another table":
        pq.write_table(pa.table({"a": [1]}), path)
    else:
        path.write_bytes(path.read_bytes()[: 300 if damage == "cut" else 0])
    with pytest.raises(StoreError, match=r"real\.parquet: "):
        read_scores(run / "critics" / "length", runs.real)
    options = {"fit": runs.fit, "critics": ["length"], "permutations": 99, "reuse": run}
    with pytest.raises(StoreError, match="not what the run wrote"):
        momus.compare(runs.real, {"g": runs.real}, **options)
    if damage != "another table":  # of which the manifest cannot count the rows
        return
    write_manifest(run)
    found = momus.compare(runs.real, {"g": runs.real}, **options)
    assert any("scored again under 'length'" in w for w in found.warnings)


def test_a_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(StoreError, match=r"no run\.json"):
        Reuse(tmp_path)
