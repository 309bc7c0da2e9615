"""Sums of counts by unit, part by part, and tables that are kept."""

import numpy as np
import pytest
from scipy import sparse

import momus
import momus.rows.store as row_store
import momus.rows.stored as sums_of_counts
from momus.critic import Counted
from momus.critic.registry import make_critics
from momus.engine.scoring import score_parts
from momus.rows.store import StoredText
from momus.rows.stored import Sums


def parts_of(rng, numbers):
    """Three tables of 40 documents over other items, and what stands in them by label."""
    parts, names = [], [f"w{i}" for i in range(60)]
    for start in (0, 20, 10):
        matrix = sparse.csr_array(rng.poisson(0.4, (40, 30)).astype(float))
        labels = np.arange(start, start + 30) if numbers else names[start : start + 30][::-1]
        parts.append(Counted(matrix, labels))
    return parts


@pytest.mark.parametrize("numbers", [True, False])
def test_sums_are_those_of_a_plain_loop(monkeypatch, numbers):
    monkeypatch.setattr(sums_of_counts, "MERGED", 500)
    rng = np.random.default_rng(3)
    sums, expected = Sums(15), {}
    for part in parts_of(rng, numbers):
        units, weights = rng.integers(-1, 15, 40), rng.random(40)
        sums.add(part, units, weights)
        for i, j, x in zip(*sparse.find(part.matrix), strict=True):
            if units[i] >= 0:
                at = int(units[i]), part.labels[j]
                expected[at] = expected.get(at, 0.0) + weights[i] * x
    found = sums.result()
    assert found.matrix.shape == (15, 50)
    assert not numbers or (np.diff(found.labels) > 0).all()
    values = {(int(i), found.labels[j]): x for i, j, x in zip(*sparse.find(found.matrix), strict=True)}
    assert values.keys() == expected.keys()
    assert all(np.isclose(values[at], x, rtol=1e-12) for at, x in expected.items())


def test_without_documents_there_are_no_columns():
    assert Sums(4).result().matrix.shape == (4, 0)


def test_kept_tables_are_bounded_and_made_again(tmp_path, monkeypatch):
    """The tables that were used last stay in memory; others are summed again, to the same table."""
    rng = np.random.default_rng(5)
    lines = [" ".join(rng.choice([f"w{i}" for i in range(40)], 20)) for _ in range(60)]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    make_critics(["unigram"])[0].fit(momus.read_corpus(tmp_path / "a.txt", fmt="lines")).save(tmp_path / "unigram")
    options = momus.reading.ReadingOptions(fmt="lines")
    score_parts([tmp_path / "unigram"], [tmp_path / "a.txt"], tmp_path / "rows", part_size=25, reading=options)
    text, read = StoredText(tmp_path / "rows", "a"), []
    parts = text.counts
    monkeypatch.setattr(text, "counts", lambda *which: read.append(which) or parts(*which))

    def summed(units):
        return text.summed("unigram", "aggregated_posterior", np.arange(60) % units, units, np.ones(60))

    first = summed(3)
    assert summed(3) is first
    assert len(read) == 1
    monkeypatch.setattr(row_store, "KEPT_BYTES", 1)
    summed(4)
    again = summed(3)
    assert len(read) == 3, "the first table was dropped, and made again"
    assert again is not first
    assert (again.matrix != first.matrix).nnz == 0
    assert again.labels == first.labels
