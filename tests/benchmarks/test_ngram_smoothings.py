"""Katz's back-off and the hierarchical Pitman–Yor model."""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from processes import pitman_yor
from scipy.special import gammaln

from momus.errors import UsageError
from momus.sequences import Sequences
from momus.sequences.ngram import Level, NGramModel

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))

from hierarchical_pitman_yor import PitmanYor, PitmanYorModel, Seating
from katz import Katz, good_turing

SMOOTHED = {"kneser-ney": NGramModel, "katz": Katz, "pitman-yor": PitmanYorModel}
V = 12


def zipfian(sequences: int = 60, length: int = 30, seed: int = 0) -> Sequences:
    """Sequences in which each id depends on the one before it."""
    rng = np.random.default_rng(seed)
    steps = np.minimum(rng.zipf(1.6, (sequences, length)) - 1, V - 2)
    return Sequences.of([np.cumsum(row) % V for row in steps])


@pytest.fixture(scope="module")
def models() -> dict[str, NGramModel]:
    return {name: model(3).fit(zipfian(), V) for name, model in SMOOTHED.items()}


@pytest.mark.parametrize("name", SMOOTHED)
def test_distributions_sum_to_one_and_agree_with_scores(models, name):
    model, held = models[name], zipfian(20, 15, seed=1)
    contexts = np.array(list(itertools.product(range(V + 2), range(V))))
    contexts = contexts[contexts[:, 0] != model.end]
    p = model.distributions(contexts)
    assert (p > 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    scores = model.score(held).log_probabilities
    framed, targets = model._framed(held)
    np.testing.assert_allclose(scores, np.log(model.distributions(framed)[np.arange(len(targets)), targets]))


def test_katz_equals_its_definition():
    text = zipfian(30, 20, seed=2)
    model = Katz(3).fit(text, V)
    # all n-grams of all orders by plain counting
    orders: list[dict[tuple[int, ...], Counter[int]]] = [defaultdict(Counter) for _ in range(3)]
    for i in range(len(text)):
        ids = [V + 1, V + 1, *text[i].tolist(), V]
        for t in range(2, len(ids)):
            for m in range(3):
                orders[m][tuple(ids[t - m : t])][ids[t]] += 1
    factors = []
    for m in range(3):
        counts = np.array([n for some in orders[m].values() for n in some.values()], dtype=float)
        factors.append(good_turing(counts))

    def seen(m: int, context: tuple[int, ...]) -> dict[int, float]:
        counts = orders[m][context]
        kept = {w: n * (factors[m][n] if n <= 5 else 1.0) for w, n in counts.items()}
        total = sum(counts.values())
        total += sum(kept.values()) >= total  # nothing discounted: one more count leaves something
        return {w: n / total for w, n in kept.items()}

    def p(word: int, context: tuple[int, ...]) -> float:
        m = len(context)
        if context not in orders[m]:
            return p(word, context[1:])
        known = seen(m, context)
        left = 1 - sum(known.values())
        if m == 0:
            return known.get(word, 0.0) + left / (V + 1)
        if word in known:
            return known[word]
        return left * p(word, context[1:]) / (1 - sum(p(w, context[1:]) for w in known))

    contexts = [(V + 1, V + 1), (V + 1, 3), (0, 0), (1, 3), (2, 9), (10, 4)]
    expected = [[p(w, c) for w in range(V + 1)] for c in contexts]
    np.testing.assert_allclose(model.distributions(np.array(contexts)), expected, rtol=1e-9)


def test_katz_normalises_a_context_after_which_every_word_was_seen():
    model = Katz(2).fit(Sequences.of([[0, 0, 1, 0, 1, 1], [0], [0, 1]]), 2)
    np.testing.assert_allclose(model.distributions(np.array([[0], [1], [3]])).sum(axis=1), 1)


def stirling(c: int, t: int, d: float) -> float:
    """Generalised Stirling numbers: seatings of c customers at t tables, each weighted by Π (1 − d)(2 − d) …."""
    if t == 0 or c == 0:
        return float(c == t == 0)
    return stirling(c - 1, t - 1, d) + (c - 1 - t * d) * stirling(c - 1, t, d) if t <= c else 0.0


def rising(start: float, step: float, n: int) -> float:
    return math.prod(start + i * step for i in range(n))


def exact_tables(counts: dict[tuple[int, int], int], d: tuple[float, float], s: tuple[float, float], size: int):
    """Expected numbers of tables of an order-2 model, by enumeration of all seatings of (context, word) counts."""
    dishes = list(counts)
    total, expected = 0.0, np.zeros(len(dishes))
    for tables in itertools.product(*(range(1, counts[k] + 1) for k in dishes)):
        weight = 1.0
        for context in {k[0] for k in dishes}:
            mine = [i for i, k in enumerate(dishes) if k[0] == context]
            n, t = sum(counts[dishes[i]] for i in mine), sum(tables[i] for i in mine)
            weight *= rising(s[1], d[1], t) / rising(s[1], 1, n)
            weight *= math.prod(stirling(counts[dishes[i]], tables[i], d[1]) for i in mine)
        below = Counter[int]()
        for k, t in zip(dishes, tables, strict=True):
            below[k[1]] += t
        for roots in itertools.product(*(range(1, n + 1) for n in below.values())):
            root = rising(s[0], d[0], sum(roots)) / rising(s[0], 1, sum(below.values()))
            root *= math.prod(stirling(n, t, d[0]) for n, t in zip(below.values(), roots, strict=True))
            total += weight * root / size ** sum(roots)
            expected += weight * root / size ** sum(roots) * np.array(tables)
    return expected / total


def test_gibbs_sampler_has_the_exact_posterior():
    counts = {(0, 0): 4, (0, 1): 2, (1, 0): 3, (2, 1): 3}
    d, s, size = (0.3, 0.6), (1.5, 0.7), 5
    exact = exact_tables(counts, d, s, size)
    keys = np.array(sorted(counts)).T
    seating = Seating(keys, np.array([counts[k] for k in sorted(counts)]), 2, 10, size, PitmanYor(0, 3, d, s)).fit()
    draws = []
    for _ in range(12_000):
        seating.sweep()
        draws.append(seating.orders[1].tables.copy())
        assert len(draws) > 3 or consistent(seating)
    error = np.std(draws, axis=0) / np.sqrt(len(draws) / 5)  # neighbouring sweeps are correlated
    np.testing.assert_array_less(np.abs(np.mean(draws, axis=0) - exact), 4 * error)
    assert consistent(seating)


def consistent(seating: Seating) -> bool:
    """Whether all sums and table sizes agree, and each table has a customer in the shorter context."""
    for m, r in enumerate(seating.orders):
        rows = np.array(r.restaurant)
        assert np.bincount(rows, r.customers).tolist() == r.all_customers
        assert np.bincount(rows, r.tables).tolist() == r.all_tables
        for i, sizes in r.sizes.items():
            assert len(sizes) == r.tables[i] > 1
            assert sum(sizes) == r.customers[i]
            assert min(sizes) > 0
        if m:
            below = seating.orders[m - 1]
            sent = np.bincount(np.array(r.parent), r.tables, len(below.customers))
            assert sent.tolist() == below.customers
    return True


def test_one_table_per_dish_without_strength_is_absolute_discounting():
    # Teh 2006: interpolated Kneser–Ney is the seating with one table per dish and θ = 0
    keys, counts = np.array([[0, 0, 1], [0, 1, 0]]), np.array([3, 2, 2])
    seating = Seating(keys, counts, 2, 10, 4, PitmanYor(0, 0, (0.4, 0.4), (1e-12, 1e-12)))
    top = seating.orders[1]
    top.customers, top.tables, top.all_customers, top.all_tables = [3, 2, 2], [1, 1, 1], [5, 2], [2, 1]
    level, expected = top.level(), Level.of(keys, counts.astype(float), 0.4)
    np.testing.assert_allclose(level.mass, expected.mass)
    np.testing.assert_allclose(level.weight, expected.weight)


def test_discount_and_strength_have_the_exact_posterior_and_recover_a_simulated_process():
    ids = pitman_yor(3000, 0.6, 1.0, seed=1)
    words, counts = np.unique(ids, return_counts=True)
    keys = np.stack([np.zeros_like(words), words]).astype(np.int64)
    # with a base distribution over a billion words, each word is one table, as in the simulated process
    seating = Seating(keys, counts, 1, 10**9, 10**9, PitmanYor(sweeps=0, seed=0)).fit()
    assert sum(seating.orders[0].tables) == len(words)
    draws = []
    for _ in range(2000):
        seating._sample_parameters()
        draws.append((seating.orders[0].discount, seating.orders[0].strength))
    # the posterior on a grid: uniform prior of d, exponential prior of θ, and the probability of the seating
    d, s = np.meshgrid(np.linspace(0.4, 0.8, 161), np.linspace(0.02, 12, 300), indexing="ij")
    log_p = -s + gammaln(s + 1) - gammaln(s + len(ids))
    for i in range(1, len(words)):
        log_p += np.log(s + d * i)
    for size, n in Counter(counts.tolist()).items():
        log_p += n * (gammaln(size - d) - gammaln(1 - d))
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    discount, strength = np.mean(draws[100:], axis=0)
    assert discount == pytest.approx((p * d).sum(), abs=0.004)
    assert strength == pytest.approx((p * s).sum(), abs=0.25)
    assert abs(discount - 0.6) < 3 * np.sqrt((p * d**2).sum() - (p * d).sum() ** 2)


def test_pitman_yor_predicts_better_than_without_its_hierarchy(models):
    held = zipfian(40, 30, seed=5)
    unigram = PitmanYorModel(1).fit(zipfian(), V)
    better = models["pitman-yor"].score(held).log_probabilities.mean()
    assert better > unigram.score(held).log_probabilities.mean() + 0.1


def test_equal_seeds_give_equal_models():
    once, again, other = (PitmanYorModel(2, PitmanYor(1, seed)).fit(zipfian(), V).levels for seed in (4, 4, 5))
    assert all(np.array_equal(a.mass, b.mass) for a, b in zip(once, again, strict=True))
    assert not all(np.array_equal(a.mass, b.mass) for a, b in zip(once, other, strict=True))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (PitmanYor(sweeps=-1), "sweeps is -1"),
        (PitmanYor(discounts=(0.5,)), "discounts has 1 values for order 2"),
        (PitmanYor(discounts=(0.5, 1.0)), "discounts must be in"),
        (PitmanYor(strengths=(0.5, 0.0)), "strengths above 0"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        PitmanYorModel(2, settings).fit(zipfian(2, 5), V)
