"""Calibration by group: whole groups are split, relabelled and counted."""

import json

import numpy as np
import pytest
from scipy import stats

from momus import Corpus, MomusError
from momus.calibration import CalibrationPlan, calibrate
from momus.calibration.cells import RandomSplits, SplitCell, measure
from momus.calibration.plan import SplitUnits

WORDS = [f"w{i}" for i in range(60)]


def authors(n, each, seed, name="real"):
    """Documents whose length depends on their author."""
    rng = np.random.default_rng(seed)
    mean = np.exp(rng.normal(3, 0.5, n))
    texts = [" ".join(rng.choice(WORDS, 3 + rng.poisson(m))) for m in mean for _ in range(each)]
    names = [f"author {i // each}" for i in range(n * each)]
    return Corpus.from_texts(
        texts, ids=[f"{name} {i}" for i in range(n * each)], prompts=names, groups=names, name=name
    )


FIT = authors(20, 3, seed=9, name="fit")


@pytest.mark.slow
def test_by_group_keeps_the_level_that_splits_of_documents_cannot_check():
    corpus = authors(40, 4, seed=1)
    options = {"fit": FIT, "critics": ["length"], "defects": (), "splits": 200, "permutations": 199, "seed": 2}
    (cell,) = calibrate(corpus, sizes=[(12, 12)], by="group", **options).cells
    assert (cell.n_real, cell.n_generated, cell.usable, cell.tested) == (12, 12, 40, 200)
    assert stats.binomtest(cell.alarms(0.05), 200, 0.05).pvalue > 1e-3
    (same,) = calibrate(corpus, sizes=[(12, 12)], by="prompt", **options).cells
    assert same.p == cell.p, "prompts and groups are the same here"
    scattered = corpus.take(np.random.default_rng(0).permutation(len(corpus)))
    (again,) = calibrate(scattered, sizes=[(12, 12)], by="group", **options).cells
    assert again.p == cell.p, "the order of documents changes nothing"


def test_no_group_is_on_both_sides_and_none_is_split():
    names = ["b", "a", None, "a", "b", "c", "d"]
    units = SplitUnits.of(names, [f"x {i}" for i in range(7)])
    seen = []

    class Judge:
        statistic, repeatable = "x", True
        usable = np.array([True] * 6 + [False])

        def test(self, real, generated, groups=None):
            seen.append((real.tolist(), generated.tolist(), [g.tolist() for g in groups]))
            return 0.5, "x", 0.0

    cell = measure(SplitCell("c", "x", "none", 0.0, 2, 2), RandomSplits(Judge(), (2, 2), 0, units=units), 50)
    assert (cell.usable, cell.tested) == (4, 50), "group d has no usable document"
    for real, generated, groups in seen:
        for rows, numbers in zip((real, generated), groups, strict=True):
            assert set(numbers) == {0, 1}
            for name in ("a", "b"):
                whole = {i for i, n in enumerate(names) if n == name}
                assert whole <= set(rows) or not whole & set(rows)
        assert not set(real) & set(generated)


def test_laws_are_calibrated_by_group():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 300)) for _ in range(48)]
    long = Corpus.from_texts(texts, ids=[f"x {i}" for i in range(48)], groups=[f"n{i // 3}" for i in range(48)])
    (cell,) = calibrate(long, fit=long, critics=["heaps"], defects=(), splits=20, sizes=[(5, 8)], by="group").cells
    assert cell.tested == 20
    assert cell.usable == 16


def test_cells_by_group_are_kept_apart(tmp_path):
    corpus = authors(12, 3, seed=3)
    options = {"fit": FIT, "critics": ["length"], "defects": (), "splits": 20, "sizes": [(4, 4)], "out": tmp_path / "c"}
    by_document = calibrate(corpus, **options)
    by_group = calibrate(corpus, by="group", **options)
    assert by_document.cells != by_group.cells
    assert len(list((tmp_path / "c" / "cells" / "length").glob("*.json"))) == 2
    text = str(by_group)
    assert "groups a side" in text
    assert "split by group, whole groups relabelled" in text
    assert json.loads((tmp_path / "c" / "calibration.json").read_text())["plan"]["by"] == "group"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "author"}, "by is 'author'"),
        ({"by": "group", "sizes": [(10, 10)]}, "needs 20 groups, but the held-out text has 12"),
        ({"by": "group", "sizes": [(1, 3)]}, "at least two groups"),
    ],
)
def test_wrong_use(options, message):
    with pytest.raises(MomusError, match=message):
        calibrate(authors(12, 3, seed=3), fit=FIT, critics=["length"], **options)


def test_a_text_without_groups_cannot_be_split_by_them():
    plain = Corpus.from_texts(["a b c"] * 30, ids=[f"x{i}" for i in range(30)])
    with pytest.raises(MomusError, match="no document of 'real' has a group"):
        calibrate(plain, fit=FIT, critics=["length"], by="group")


def test_plan_counts_documents_unless_asked():
    assert (CalibrationPlan().units, CalibrationPlan(by="prompt").units) == ("documents", "prompts")
