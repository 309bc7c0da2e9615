"""Studies of distortion: perturbations and tables against literal computations, and a model whose errors are known."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))

from distortion_estimation import (
    Estimates,
    by_amount,
    by_length,
    by_probability,
    by_rank,
    error_slope,
    estimates,
    joint_histogram,
    mean_interval,
    perturbed,
    random_strings,
)
from distortion_study import draw_language, study

from momus.errors import MomusError
from momus.evidence import from_json, to_json
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel

RNG = np.random.default_rng(0)
STEPS = RNG.choice([1, 1, 1, 1, 1, 3, 0], (60, 9))
SEED = Sequences.of([(RNG.integers(0, 3) + np.cumsum(s[: RNG.integers(1, 9)])) % 8 for s in STEPS])


@pytest.fixture(scope="module")
def language():
    return NGramModel(3).fit(SEED, 8)


def edits(a, b):
    """The single perturbation that leads from a to b: its name, or None."""
    if len(b) == len(a) + 1 and any(b[:i] + b[i + 1 :] == a for i in range(len(b))):
        return "insert"
    if len(b) == len(a) - 1 and any(a[:i] + a[i + 1 :] == b for i in range(len(a))):
        return "delete"
    if len(a) != len(b):
        return None
    places = [i for i in range(len(a)) if a[i] != b[i]]
    if len(places) <= 1:
        return "substitute"  # or a swap of equal tokens
    i, j = (places[0], places[-1])
    return "swap" if len(places) == 2 and a[i] == b[j] and a[j] == b[i] else None


@given(st.lists(st.lists(st.integers(0, 5), max_size=7), min_size=1, max_size=6), st.integers(0, 1000))
@settings(max_examples=60)
def test_each_time_is_one_perturbation_of_each_sequence(rows, seed):
    before = [list(r) for r in rows]
    for after in perturbed(Sequences.of(rows), 6, 5, seed):
        now = [after[i].tolist() for i in range(len(after))]
        assert all(edits(a, b) is not None for a, b in zip(before, now, strict=True))
        assert all(0 <= t < 6 for r in now for t in r)
        before = now


def test_kinds_places_and_tokens_are_uniform():
    """χ² with a false-alarm rate of 1e-4 each; tokens are distinct, so that every kind can be read off."""
    n = 8000
    start = Sequences.of([[0, 1, 2, 3]] * n)
    (after,) = perturbed(start, 1000, 1, seed=3)
    now = [after[i].tolist() for i in range(n)]
    kinds = [edits([0, 1, 2, 3], x) for x in now]
    assert stats.chisquare([kinds.count(k) for k in ("swap", "delete", "insert", "substitute")]).pvalue > 1e-4
    gone = [({0, 1, 2, 3} - set(x)).pop() for x, k in zip(now, kinds, strict=True) if k == "delete"]
    assert stats.chisquare(np.bincount(gone, minlength=4)).pvalue > 1e-4
    pairs = [tuple(i for i in range(4) if x[i] != i) for x, k in zip(now, kinds, strict=True) if k == "swap"]
    counts = [pairs.count((i, j)) for i in range(4) for j in range(i + 1, 4)]
    assert stats.chisquare(counts).pvalue > 1e-4
    new = [next(t for t in x if t > 3) for x, k in zip(now, kinds, strict=True) if k == "insert" and max(x) > 3]
    assert stats.kstest(new, stats.randint(4, 1000).cdf).pvalue > 1e-4


def test_a_sequence_is_perturbed_alike_whatever_follows_it():
    few, many = (list(perturbed(SEED.take(np.arange(n)), 8, 4, seed=1)) for n in (3, 40))
    assert all(a[i].tolist() == b[i].tolist() for a, b in zip(few, many, strict=True) for i in range(3))


def test_random_strings_have_poisson_lengths_and_uniform_tokens():
    drawn = random_strings(4000, 7, seed=0)
    counts = np.bincount(drawn.lengths, minlength=22)[:22]
    theory = stats.poisson(10).pmf(np.arange(22)) * 4000
    assert (
        stats.chisquare([counts[:4].sum(), *counts[4:19]], [theory[:4].sum(), *theory[4:19]], sum_check=False).pvalue
        > 1e-4
    )
    assert stats.chisquare(np.bincount(drawn.ids)).pvalue > 1e-4


def test_tables_are_those_of_plain_loops():
    e = Estimates(RNG.normal(-30, 8, 900), RNG.normal(-31, 9, 900), RNG.integers(1, 12, 900))
    table = by_probability(e, bins=7)
    for row in table.itertuples():
        inside = [
            x
            for x, p in zip(e.errors, e.language, strict=True)
            if row.low <= p < row.high or p == row.high == e.language.max()
        ]
        assert (row.n, row.mean) == (len(inside), pytest.approx(np.mean(inside)))
        assert row.mean_low < row.mean < row.mean_high
    ranks = by_rank(e, bins=50)
    assert ranks["n"].tolist() == [18] * 50
    ordered = e.errors[np.argsort(e.language)].reshape(50, 18).mean(axis=1)
    np.testing.assert_allclose(ranks["mean"], ordered)
    lengths = by_length(e)
    assert lengths["n"].sum() == 900
    per_token = np.mean([error / n for error, n in zip(e.errors, e.lengths, strict=True)])
    np.testing.assert_allclose(lengths["expected"], lengths["length"] * per_token)
    counts, edges = joint_histogram(e)
    assert counts.sum() == 900
    assert counts[np.searchsorted(edges, e.language[0]) - 1, np.searchsorted(edges, e.model[0]) - 1] >= 1


def test_checkpoints_are_drawn_by_amount_and_rarity(language):
    """Errors of one half and then one tenth of −log p_L: slopes and means are known, and the chart shows them."""
    fresh = draw_language(language, 400, seed=0)
    last = estimates(language, NGramModel(2).fit(fresh, 8), fresh)
    curve = [
        (n, Estimates(last.language, last.language * (1 + share), last.lengths)) for n, share in ((10, 0.5), (90, 0.1))
    ]
    assert [round(v, 9) for _, e in curve for v in error_slope(e)] == [0.5] * 3 + [0.1] * 3
    table = by_amount(curve, groups=5)
    assert table["sequences"].tolist() == [10] * 5 + [90] * 5
    ordered = np.sort(last.language).reshape(5, 80).mean(axis=1)
    np.testing.assert_allclose(table["mean"], np.concatenate([0.5 * ordered, 0.1 * ordered]))
    found = study(language, NGramModel(2).fit(fresh, 8), fresh, 8, perturbations=1, some=50, checkpoints=curve)
    (chart,) = (e for e in found.evidence() if e.name == "amount")
    by_label = {s.label: s for s in chart.series}
    assert by_label["all"].x == [10, 90]
    np.testing.assert_allclose(by_label["all"].y, last.language.mean() * np.array([0.5, 0.1]))
    np.testing.assert_allclose(by_label["rarest fifth"].y, ordered[0] * np.array([0.5, 0.1]))
    np.testing.assert_allclose(by_label["commonest fifth"].y, ordered[-1] * np.array([0.5, 0.1]))
    bare = study(language, language, fresh, 8, perturbations=1, some=50)
    assert "amount" not in {e.name for e in bare.evidence()}
    with pytest.raises(MomusError, match="no checkpoints"):
        bare.amount()


def test_the_bootstrap_interval_covers():
    """Of 400 means of exponential samples, 95 % intervals hold 1; 0.92 to 0.975 leaves a false alarm of about 1e-3."""
    inside = 0
    for i in range(400):
        _, low, high = mean_interval(np.random.default_rng(i).exponential(size=80), resamples=1000)
        inside += low <= 1 <= high
    assert 0.915 <= inside / 400 <= 0.975


def test_a_true_model_makes_no_error_and_a_flat_one_the_expected(language):
    fresh = draw_language(language, 800, seed=0)
    assert np.abs(estimates(language, language, fresh).errors).max() < 1e-12
    uniform = NGramModel(1).fit(Sequences.of([[], *[[i] for i in range(8)]]), 8)
    found = study(language, uniform, fresh, 8, perturbations=5, some=300)
    by_name = {f.name: f for f in found.findings()}
    assert all(f.low <= f.estimate <= f.high for f in by_name.values())
    expected = uniform.score(fresh).totals.mean() - language.score(fresh).totals.mean()
    assert by_name["i"].estimate == pytest.approx(expected)
    assert by_name["i"].holds
    assert by_name["iii b"].holds
    for item in found.evidence():
        written = json.loads(json.dumps(to_json(item)))
        assert json.loads(json.dumps(to_json(from_json(written)))) == written, "equal data: 1 may become 1.0"


def test_the_language_is_sampled_at_its_temperature(language):
    """Mean log p of samples against that expected under the distribution itself, by importance weights of others."""
    for temperature in (0.7, 1.3):
        fresh = draw_language(language, 2000, seed=1, temperature=temperature)
        other = draw_language(language, 8000, seed=2)
        p, q = language.score(other, temperature=temperature).totals, language.score(other).totals
        weight = np.exp(p - q)
        expected = float((weight * p).sum() / weight.sum())
        mine = language.score(fresh, temperature=temperature).totals
        assert abs(mine.mean() - expected) < 0.15 * abs(expected)
