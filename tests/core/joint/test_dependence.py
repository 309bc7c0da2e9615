"""Differences that depend on few documents: those that go with broken ones, and those that one document carries."""

import numpy as np
import pytest
from scipy import sparse

from momus import Corpus
from momus.critic.statistic import Statistic, kolmogorov_smirnov, mean, total_variation
from momus.inference import compare_rows
from momus.joint.axes import AxisRows
from momus.joint.dependence import dependences
from momus.runs.answer import Cell
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")
TVD = Statistic("tvd", "x", "distance", total_variation)
KS = Statistic("ks", "x", "distance", kolmogorov_smirnov)
FAULT = Statistic("loop_share", "f", "value", mean)


def rows_of(statistic, values):
    x = np.asarray(values, dtype=float)
    if statistic.kind == "value":
        return np.column_stack([x, np.ones(len(x))])
    return np.eye(17)[np.clip(np.round(x * 3).astype(int) + 8, 0, 16)]


def axis(critic, statistic, tables):
    scored = {name: np.ones(t.shape[0], bool) for name, t in tables.items()}
    return AxisRows(critic, critic, statistic, tables, scored, {})


def verdict_of(statistic, real, new, axes=20, leads=True):
    (result,) = compare_rows([statistic], {statistic.rows: real}, {statistic.rows: new}, axis=True, family=axes)
    p = result.p
    return Verdict(
        **{**vars(result), "p_in_axis": p, "p_axis": p},
        critic="x",
        axis="marks",
        unit="document",
        generated="new",
        unscored_real=0,
        unscored_generated=0,
        headline=leads,
        leads=leads,
        p_adjusted=min(axes * p, 1.0),
        p_axis_adjusted=min(axes * p, 1.0),
    )


def dependent(statistic, real, new, broken=None, axes=20, alone=""):
    """What the difference of two texts depends on; documents of the new one in ``broken`` have a fault."""
    tables = {"real": real, "new": new}
    verdict = verdict_of(statistic, real, new, axes)
    corpora = [
        Corpus.from_texts(["a"] * t.shape[0], [f"{n}{i}" for i in range(t.shape[0])], name=n) for n, t in tables.items()
    ]
    known = [axis("x", statistic, tables)]
    if broken is None:
        told = [("new", "faults", "loop_share", alone)] if alone else []
        return verdict.differs, dependences([verdict], known, corpora, told, Settings())
    has = np.isin(np.arange(len(new)), broken)
    flags = {"real": np.zeros(len(real)), "new": has}
    known.append(axis("faults", FAULT, {n: rows_of(FAULT, f) for n, f in flags.items()}))
    told = dependences([verdict], known, corpora, [("new", "faults", "loop_share", "")], Settings())
    return verdict.differs, told


@pytest.mark.parametrize("statistic", [MEAN, TVD, KS])
def test_a_difference_of_broken_documents_alone_goes_with_them(statistic):
    rng = np.random.default_rng(0)
    real, new = rng.normal(size=(2, 200))
    new[:70] += 2
    differs, told = dependent(statistic, rows_of(statistic, real), rows_of(statistic, new), broken=range(70))
    assert differs
    (dependence,) = told
    assert dependence.vanishes
    assert (dependence.critic, dependence.document) == ("x", "")
    assert abs(dependence.left) < 0.5


def test_rows_that_go_with_broken_documents_do_not_speak_for_an_axis_that_differs_without_them():
    rng = np.random.default_rng(0)
    real, new, others, longer = rng.normal(size=(4, 200))
    new[:70] += 2
    both = [("mean", {"real": real, "new": new}), ("second", {"real": others, "new": longer + 1})]
    known, verdicts = [], []
    for name, values in both:
        statistic = Statistic(name, name, "value", mean, effect="hedges_g")
        tables = {n: rows_of(statistic, x) for n, x in values.items()}
        known.append(axis("x", statistic, tables))
        verdicts.append(verdict_of(statistic, tables["real"], tables["new"], leads=name == "mean"))
    corpora = [Corpus.from_texts(["a"] * 200, [f"{n}{i}" for i in range(200)], name=n) for n in ("real", "new")]
    flags = {"real": np.zeros(200), "new": np.arange(200) < 70}
    known.append(axis("faults", FAULT, {n: rows_of(FAULT, f) for n, f in flags.items()}))
    (told,) = dependences(verdicts, known, corpora, [("new", "faults", "loop_share", "")], Settings())
    assert (told.rows, told.vanishes) == (("mean",), False)
    assert [Cell.of(verdicts, broken=rows).row.statistic for rows in ((), told.rows)] == ["mean", "second"]


def test_a_difference_of_all_documents_does_not():
    rng = np.random.default_rng(1)
    real, new = rng.normal(size=(2, 200))
    assert dependent(MEAN, rows_of(MEAN, real), rows_of(MEAN, new + 0.8), broken=range(70)) == (True, ())


def test_fewer_documents_alone_make_nothing_vanish():
    """Of 200 documents, 160 that are as others are broken: the rest is too few to tell a difference of that size."""
    rng = np.random.default_rng(2)
    real, new = rng.normal(size=(2, 200))
    new += 0.4 - (new.mean() - real.mean())
    differs, told = dependent(MEAN, rows_of(MEAN, real), rows_of(MEAN, new), broken=range(160))
    assert differs
    assert told == ()


def test_nothing_is_broken():
    rng = np.random.default_rng(3)
    real, new = rng.normal(size=(2, 200))
    new[:70] += 2
    assert dependent(MEAN, rows_of(MEAN, real), rows_of(MEAN, new)) == (True, ())


def test_one_document_that_moves_a_mean_beyond_its_certainty_is_no_finding():
    """The test is studentised: a value of 40 among others below 1 leaves nothing to carry."""
    rng = np.random.default_rng(4)
    real, new = rng.normal(size=(2, 200)) / 10
    new[7] = 40
    assert dependent(MEAN, rows_of(MEAN, real), rows_of(MEAN, new), axes=1) == (False, ())


def test_the_document_that_carries_a_mean_is_named():
    rng = np.random.default_rng(90)
    real, new = rng.integers(0, 4, size=(2, 8)).astype(float)
    new[3] = 6
    differs, told = dependent(MEAN, rows_of(MEAN, real), rows_of(MEAN, new), axes=1)
    assert differs
    assert [(d.document, d.vanishes) for d in told] == [("new3", True)]


def test_one_far_document_carries_no_distance_of_ranks():
    rng = np.random.default_rng(4)
    real, new = rng.normal(size=(2, 200))
    new += 0.6
    new[7] = 40
    assert dependent(KS, rows_of(KS, real), rows_of(KS, new)) == (True, ())


def counts(rng, n, first, width=500):
    """Documents of 300 signs of ``width`` kinds, of which the first has a share."""
    p = np.full(width, (1 - first) / (width - 1))
    p[0] = first
    return rng.multinomial(300, p, size=n).astype(float)


@pytest.mark.parametrize("wide", [False, True])
def test_the_document_that_carries_a_distance_is_named(wide):
    rng = np.random.default_rng(5)
    width = 500 if wide else 20
    real, new = counts(rng, 200, 0.02, width), counts(rng, 200, 0.03, width)
    assert dependent(TVD, sparse.csr_array(real), sparse.csr_array(new)) == (True, ())
    new[7, 0] += 9291
    differs, told = dependent(TVD, sparse.csr_array(real), sparse.csr_array(new))
    assert differs
    assert [(d.document, d.vanishes) for d in told] == [("new7", False)]
    assert told[0].left < 0.5


@pytest.mark.parametrize("alone", ["", "new3"])
def test_the_only_document_that_is_told_as_broken_is_set_aside(alone):
    rng = np.random.default_rng(50)
    real, new = rng.multinomial(30, [0.5, 0.3, 0.2], size=(2, 60)).astype(float)
    new[3] = 8 * new[3] + [200, 0, 0]
    differs, told = dependent(TVD, real, new, axes=1, alone=alone)
    assert differs
    assert [(d.document, d.vanishes) for d in told] == [("" if alone else "new3", True)]


def test_halves_of_one_text_name_none():
    rng, named = np.random.default_rng(6), 0
    values = rng.lognormal(5, 0.6, size=400)
    for _ in range(200):
        rng.shuffle(values)
        _, told = dependent(MEAN, rows_of(MEAN, values[:200]), rows_of(MEAN, values[200:]), axes=1)
        named += bool(told)
    assert named <= 2
