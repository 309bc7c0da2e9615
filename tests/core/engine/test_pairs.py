"""Pairs of generated texts: each tested as the one with the other, at less cost where there are many."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from tests.verdicts import changed

import momus
import momus.engine.run_critic as run_critic
from momus.progress import Silent
from momus.report.words.joint import PAIRS as MOST
from momus.report.words.joint import pair_rows, pair_sentences
from momus.verdicts.table import adjust, floor_warnings

OPTIONS = {"critics": ["unigram"], "permutations": 199, "resamples": 19, "reporter": Silent()}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A text to fit on, a real and three generated texts."""
    folder, rng = tmp_path_factory.mktemp("pairs"), np.random.default_rng(6)
    words = np.array([f"w{i}" for i in range(200)])
    for name, n, power in (("fit", 60, 1.0), ("real", 130, 1.0), ("a", 130, 1.0), ("b", 130, 1.05), ("c", 130, 1.6)):
        p = 1 / np.arange(2, 202) ** power
        lines = [" ".join(rng.choice(words, rng.integers(20, 40), p=p / p.sum())) for _ in range(n)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    return {name: folder / f"{name}.jsonl" for name in ("fit", "real", *"abc")}


def compared(texts, real="real", generated="abc", **options):
    sides = texts[real], {name: texts[name] for name in generated}
    return momus.compare(*sides, fit=texts["fit"], **OPTIONS, **options)


@pytest.fixture(scope="module")
def pairs(texts):
    """The pairs of the generated texts."""
    return compared(texts, pairwise=True).pairs


def test_pairs_of_few_texts_are_tested_as_each_with_the_other(texts, pairs):
    assert [(v.reference, v.generated) for v in pairs] == list(combinations("abc", 2))
    assert {v.generated for v in pairs if v.differs} == {"c"}
    single = compared(texts, "a", "c")
    (same,) = (w for w in single.verdicts if w.statistic == pairs[1].statistic)
    assert pairs[1].generated_value == pytest.approx(same.generated_value, rel=1e-12)
    assert pairs[1].effect == pytest.approx(same.effect, rel=1e-9)
    assert pairs[1].method.permutations >= same.method.permutations, "more axes need more relabellings"
    for row in (pairs[1], same):  # none reaches the observed distance
        assert row.p == pytest.approx(row.method.floor) == pytest.approx(1 / (row.method.permutations + 1))


@pytest.mark.slow
@pytest.mark.parametrize("large", [False, True])
def test_many_pairs_are_tested_at_less_cost_and_say_the_same(texts, pairs, monkeypatch, large):
    monkeypatch.setattr(run_critic, "MANY", 2)
    monkeypatch.setattr(run_critic, "MANY_PAIRS", replace(run_critic.MANY_PAIRS, above=60, most=70))
    if large:
        monkeypatch.setattr("momus.engine.large.LARGE", 0)
        monkeypatch.setattr("momus.engine.scoring.PART_DOCUMENTS", 50)
    cheap = compared(texts, pairwise=True, jobs=1).pairs
    for one, other in zip(pairs, cheap, strict=True):
        assert (one.reference, one.generated, one.statistic) == (other.reference, other.generated, other.statistic)
        assert one.method.block == 1 < other.method.block
        assert one.generated_value == pytest.approx(other.generated_value, rel=1e-12)
        assert one.differs == other.differs
        assert other.p == pytest.approx(one.p, abs=0.2)


def test_pairs_that_no_relabelling_could_tell_apart_are_warned_of(pairs):
    least = [changed(v, **dict.fromkeys(("p", "p_axis", "p_in_axis"), v.method.floor)) for v in pairs if v.leads]
    many = adjust(least * 100, "holm")
    (warning,) = floor_warnings(many, "holm", pairs=True)
    assert warning.startswith("No axis of a pair of generated texts can differ")
    assert "multiplicity='bh'" in warning
    assert not floor_warnings(adjust(many, "bh"), "bh", pairs=True)


def test_of_many_pairs_the_largest_differences_are_shown(pairs):
    assert pair_rows(pairs) == list(pairs)
    assert not pair_sentences(pairs)
    many = adjust([changed(v, effect=(v.effect or 0) * (1 + i)) for i in range(MOST) for v in pairs], "none")
    shown = pair_rows(many)
    assert len(shown) == MOST < len(many)
    differing = [v.gap or 0.0 for v in many if v.differs]
    assert [v.gap for v in shown] == sorted(differing, reverse=True)[:MOST]
    assert f"{MOST} of {len(many):,} rows are shown" in pair_sentences(many)[0]
    assert f"{len(differing):,} of {len(many):,} pairs differ" in pair_sentences(many)[1]
